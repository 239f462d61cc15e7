//! The cost of a background load for each store.

use indexmap::IndexSet;
use storebench_figures::column::Unit;
use storebench_figures::data::merge::Merged;
use storebench_figures::data::names::join_parts;
use storebench_figures::data::slowdown::{Slowdown, Slowdowns, slowdowns};
use storebench_figures::data::spread;
use storebench_figures::stats::MIN_BLOCKS;
use storebench_model::units::{rough_ns, three_digits, with_commas};

use crate::section::{Block, Cell, Column, ColumnRole, PagePosition, Section, Shape, Table, Visibility};

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
    let groups = slowdowns(merged);
    if groups.is_empty() {
        return Vec::new();
    }
    let all_slowdowns = || groups.iter().flat_map(|group| &group.slowdowns);
    let operations: IndexSet<&str> = all_slowdowns().map(|slowdown| slowdown.operation.as_str()).collect();
    let mut table = Table::new(&SLOWDOWNS).with_columns(operations.into_iter().map(str::to_owned).collect());
    for group in &groups {
        for store_slowdowns in group.slowdowns.chunk_by(|a, b| a.store == b.store) {
            let cells = store_slowdowns.iter().map(|slowdown| slowdown.found.cells).max().unwrap_or(0);
            store_slowdowns
                .iter()
                .for_each(|slowdown| table.push(Visibility::Always, row(group, slowdown, cells)));
        }
    }
    let note = format!(
        "Geometric means over the cells that were measured both ways. × says how many times longer operations take, paired by \
         block, with a 95 % interval from {MIN_BLOCKS} blocks on."
    );
    vec![Block::Table(table), Block::Note(note)]
}

/// A store at an operation; `most` is the largest number of cells of an operation.
fn row(group: &Slowdowns, slowdown: &Slowdown, most: usize) -> Vec<(&'static str, Cell)> {
    let effect = &slowdown.found;
    let ratio = &effect.ratio.ratio;
    let times =
        format!("×{}{}", three_digits(ratio.value), spread::describe_after(ratio.interval, three_digits));
    let latencies = format!("{} → {}", rough_ns(effect.undisturbed_ns), rough_ns(effect.disturbed_ns));
    vec![
        ("hardware", Cell::text(&group.hardware)),
        ("title", Cell::text(&group.title).with_text(join_parts([group.hardware.as_str(), &group.title]))),
        ("background", Cell::text(&group.background)),
        ("store", Cell::store(&slowdown.store, &slowdown.store)),
        ("cells", Cell::from_count(effect.cells).with_text(with_commas(most as u64))),
        ("operation", Cell::text(&slowdown.operation)),
        ("blocks", Cell::from_count(effect.ratio.blocks)),
        ("undisturbed", Cell::real(effect.undisturbed_ns).with_text(latencies)),
        ("disturbed", Cell::real(effect.disturbed_ns)),
        ("times", Cell::estimate(effect.ratio.ratio).with_text(times)),
    ]
}
