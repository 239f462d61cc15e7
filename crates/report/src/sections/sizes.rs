//! Data against memory: where the throughput of stores falls, and by how much. The page's charts of it are below the filters.

use storebench_figures::column::{MEAN_LATENCY, P99, Unit};
use storebench_figures::data::merge::Merged;
use storebench_figures::data::readable::Readable;
use storebench_figures::data::sizes::words::{LEGEND, cliff, falls_by, sentences, size};
use storebench_figures::data::sizes::{AtSize, Fall, Sizes, StoreFalls, sizes};
use storebench_figures::stats::Summary;
use storebench_figures::stats::cliff::Cliff;

use crate::section::{Block, Cell, Column, ColumnRole, FoldState, Section, Shape, Table, Visibility};

pub const SECTION: Section = Section {
    name: "sizes",
    title: "Data against memory: where throughput falls",
    link: "Data / memory",
    shapes: &[&SIZES],
    blocks,
    ..Section::ABOVE
};

const SIZES: Shape = Shape {
    name: "sizes",
    columns: &[
        Column::text("hardware"),
        Column::text("title"),
        Column::text("store").role(ColumnRole::Line, ""),
        Column::text("operation"),
        Column::real("data_over_memory", Unit::Count).role(ColumnRole::Across, ""),
        Column::integer("trials"),
        Column::estimate("throughput", Unit::PerSecond).role(ColumnRole::Spread, ""),
        Column::estimate(MEAN_LATENCY.id, MEAN_LATENCY.unit),
        Column::estimate(P99.id, P99.unit),
        Column::text("cliff").role(ColumnRole::Line, "cliff"),
        Column::real("cliff_low", Unit::Count),
        Column::real("cliff_high", Unit::Count),
        Column::estimate("kept", Unit::Count).role(ColumnRole::Line, "falls by"),
        Column::integer("falls_last"),
        Column::integer("falls_least"),
    ],
};

fn blocks(merged: &Merged<'_>) -> Vec<Block> {
    let groups = sizes(merged);
    if groups.is_empty() {
        return Vec::new();
    }
    let fold = |(number, sizes): (usize, &Sizes)| {
        Block::fold(sizes.name(), FoldState::Part(number), sizes_blocks(sizes, &merged.readable))
    };
    let parts = groups.iter().enumerate().map(fold);
    parts.chain([Block::Note(LEGEND.to_owned())]).collect()
}

/// The store that falls last and the one that falls least, a line for each group and position.
pub fn answer(merged: &Merged<'_>) -> Vec<String> {
    let answer_line = |sizes: &Sizes| {
        let lines = sentences(sizes, sizes.headline()?, &merged.readable);
        (!lines.is_empty()).then(|| format!("{}: {}", sizes.name(), lines.join(" ")))
    };
    sizes(merged).iter().filter_map(answer_line).collect()
}

fn sizes_blocks(sizes: &Sizes, readable: &Readable) -> Vec<Block> {
    let mut blocks = Vec::new();
    let headline = sizes.headline().map(|first| &first.operation);
    for falls in &sizes.operations {
        let text = sentences(sizes, falls, readable).join(" ");
        let contents = vec![Block::Table(table(sizes, falls, readable)), Block::Note(text)];
        if Some(&falls.operation) == headline {
            blocks.extend(contents);
        } else {
            blocks.push(Block::fold(&falls.operation, FoldState::Closer, contents));
        }
    }
    blocks
}

fn table(sizes: &Sizes, falls: &StoreFalls, readable: &Readable) -> Table {
    let ends = [sizes.inside, sizes.outside];
    let mut table = Table::new(&SIZES).with_columns(ends.into_iter().flatten().map(name_size).collect());
    for fall in &falls.stores {
        for size in &fall.sizes {
            let visibility =
                if ends.contains(&Some(size.times)) { Visibility::Always } else { Visibility::InFiles };
            table.push(visibility, row(sizes, falls, (fall, readable), size));
        }
    }
    table
}

fn name_size(times: f64) -> String {
    format!("at {}", size(times))
}

fn row(
    sizes: &Sizes,
    falls: &StoreFalls,
    (fall, readable): (&Fall, &Readable),
    point: &AtSize,
) -> Vec<(&'static str, Cell)> {
    let mean =
        |summary: &Option<Summary>| Cell::or_none(summary.as_ref(), |summary| Cell::estimate(summary.mean));
    let (kind, [low, high]) = match fall.cliff {
        Cliff::At { low, high } => ("at", [Some(low), Some(high)]),
        Cliff::None => ("none", [None; 2]),
        Cliff::Unknown => ("unknown", [None; 2]),
    };
    let (kept, per_second) = (fall.kept.as_ref(), point.per_second.mean);
    vec![
        ("hardware", Cell::text(&sizes.hardware)),
        ("title", Cell::text(&sizes.title)),
        ("store", Cell::store(&fall.store, readable.name(&fall.store))),
        ("operation", Cell::text(&falls.operation)),
        ("data_over_memory", Cell::real(point.times).with_text(name_size(point.times))),
        ("trials", Cell::from_count(point.per_second.trials)),
        ("throughput", Cell::estimate(per_second).with_text(Unit::PerSecond.show(per_second.value))),
        (MEAN_LATENCY.id, mean(&point.latency_ns)),
        (P99.id, mean(&point.p99_ns)),
        ("cliff", Cell::text(kind).with_text(cliff(fall.cliff))),
        ("cliff_low", Cell::or_none(low, Cell::real)),
        ("cliff_high", Cell::or_none(high, Cell::real)),
        ("kept", Cell::or_none(kept, |kept| Cell::estimate(kept.ratio).with_text(falls_by(kept)))),
        ("falls_last", Cell::boolean(fall.falls_last)),
        ("falls_least", Cell::boolean(fall.falls_least)),
    ]
}
