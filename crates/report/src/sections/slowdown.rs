//! The cost of a background load for each store.

use indexmap::IndexSet;
use storebench_core::units::{rough_ns, three_digits};

use crate::column::Unit;
use crate::data::merge::Merged;
use crate::data::names::join_parts;
use crate::data::slowdown::{Slowdown, Slowdowns, slowdowns};
use crate::data::spread;
use crate::section::{Block, Cell, Column, ColumnRole, PagePosition, Section, Shape, Table, Visibility};
use crate::stats::MIN_BLOCKS;

pub const SECTION: Section = Section {
    name: "load",
    title: "What a load in the background costs: mean latency without and with it",
    link: "Load",
    stands: PagePosition::Within,
    at_end: true,
    shapes: &[&SLOWDOWNS],
    blocks,
};

const SLOWDOWNS: Shape = Shape {
    name: "slowdowns",
    columns: &[
        Column::text("hardware"),
        Column::text("title").role(ColumnRole::Group, ""),
        Column::text("background"),
        Column::text("store").role(ColumnRole::Line, ""),
        Column::integer("cells").role(ColumnRole::Line, "cells"),
        Column::text("operation").role(ColumnRole::Across, ""),
        Column::integer("blocks"),
        Column::real("undisturbed", Unit::Nanoseconds).role(ColumnRole::Spread, ""),
        Column::real("disturbed", Unit::Nanoseconds),
        Column::estimate("times", Unit::Count).role(ColumnRole::Spread, ""),
    ],
};

fn blocks(merged: &Merged<'_>) -> Vec<Block> {
    let all = slowdowns(merged);
    if all.is_empty() {
        return Vec::new();
    }
    let each = || all.iter().flat_map(|one| &one.slowdowns);
    let operations: IndexSet<&str> = each().map(|slowdown| slowdown.operation.as_str()).collect();
    let mut table = Table::new(&SLOWDOWNS).with_columns(operations.into_iter().map(str::to_owned).collect());
    for one in &all {
        for of_store in one.slowdowns.chunk_by(|a, b| a.store == b.store) {
            let cells = of_store.iter().map(|slowdown| slowdown.found.cells).max().unwrap_or(0);
            of_store.iter().for_each(|slowdown| table.push(Visibility::Always, row(one, slowdown, cells)));
        }
    }
    let note = format!(
        "Geometric means over the cells that were measured both ways. × says how many times longer operations take, paired by \
         block, with a 95 % interval from {MIN_BLOCKS} blocks on."
    );
    vec![Block::Table(table), Block::Note(note)]
}

/// A store at an operation; `most` is the largest number of cells of an operation.
fn row(one: &Slowdowns, slowdown: &Slowdown, most: usize) -> Vec<(&'static str, Cell)> {
    let found = &slowdown.found;
    let ratio = &found.ratio.ratio;
    let times =
        format!("×{}{}", three_digits(ratio.value), spread::describe_after(ratio.interval, three_digits));
    let latencies = format!("{} → {}", rough_ns(found.undisturbed_ns), rough_ns(found.disturbed_ns));
    vec![
        ("hardware", Cell::text(&one.hardware)),
        ("title", Cell::text(&one.title).with_text(join_parts([one.hardware.as_str(), &one.title]))),
        ("background", Cell::text(&one.background)),
        ("store", Cell::store(&slowdown.store, &slowdown.store)),
        ("cells", Cell::from_count(found.cells).with_text(storebench_core::units::with_commas(most as u64))),
        ("operation", Cell::text(&slowdown.operation)),
        ("blocks", Cell::from_count(found.ratio.blocks)),
        ("undisturbed", Cell::real(found.undisturbed_ns).with_text(latencies)),
        ("disturbed", Cell::real(found.disturbed_ns)),
        ("times", Cell::estimate(found.ratio.ratio).with_text(times)),
    ]
}
