//! The space that each store reclaims after most of its records are removed.

use storebench_figures::column::Unit;
use storebench_model::result::{Measurements, SpaceReclaim};

use super::store_rows::{self, Row};
use crate::section::{Cell, Column, ColumnRole, Section, Shape};

pub const SECTION: Section = Section {
    name: "space_reclaim",
    title: "Space reclaim: files after most records were removed",
    link: "Space reclaim",
    shapes: &[&SPACE_RECLAIM],
    blocks: |merged| store_rows::blocks(merged, (&SPACE_RECLAIM, LEGEND), rows),
    ..Section::ABOVE
};

const SPACE_RECLAIM: Shape = Shape {
    name: "space_reclaim",
    columns: &[
        Column::text("hardware"),
        Column::text("title").role(ColumnRole::Group, ""),
        Column::text("store").role(ColumnRole::Line, ""),
        Column::integer("trials"),
        Column::real("values", Unit::Bytes).role(ColumnRole::Line, "values left"),
        Column::real("full", Unit::Bytes).role(ColumnRole::Line, "files before"),
        Column::real("removed", Unit::Bytes).role(ColumnRole::Line, "removed"),
        Column::real("compacted", Unit::Bytes).role(ColumnRole::Line, "reclaimed"),
        Column::real("peak", Unit::Bytes).role(ColumnRole::Line, "most meanwhile"),
        Column::real("took", Unit::Nanoseconds).role(ColumnRole::Line, "took"),
        Column::text("by").role(ColumnRole::Line, "by"),
    ],
};

const LEGEND: &str = "\
When a set had been written many times over, nine tenths of its records were removed: the oldest of a queue, of other sets nine of ten. Then \
the engine reclaimed space in its own way, while nobody worked on it or, if that is said, during other work. files before, removed, reclaimed: the space of all files on \
disk while the store was closed, before, after the records were removed, and at last. most meanwhile: the most that was seen during \
that; the files were looked at every few milliseconds. Medians over trials. A store without a value in the last four has no such \
call, or is a server that was running before.";

fn rows(trials: &[&Measurements]) -> Vec<Row> {
    let results: Vec<(&Measurements, &SpaceReclaim)> =
        trials.iter().filter_map(|measured| Some((*measured, measured.space_reclaim.as_ref()?))).collect();
    if results.is_empty() { Vec::new() } else { vec![cells(&results)] }
}

fn cells(results: &[(&Measurements, &SpaceReclaim)]) -> Row {
    let median = |read: &dyn Fn(&Measurements, &SpaceReclaim) -> Option<u64>| {
        let values: Vec<u64> =
            results.iter().filter_map(|(measured, reclaim)| read(measured, reclaim)).collect();
        Cell::quantile(&values, 0.5)
    };
    // Unknown for a server that was running before.
    let files = |read: &dyn Fn(&SpaceReclaim) -> Option<u64>| {
        median(&|measured, reclaim| measured.known_disk().and_then(|_| read(reclaim)))
    };
    let method = results.iter().find_map(|(_, reclaim)| Some(reclaim.compacted.as_ref()?.by.as_str()));
    vec![
        ("trials", Cell::from_count(results.len())),
        ("values", median(&|_, reclaim| Some(reclaim.value_bytes))),
        ("full", median(&|measured, _| measured.known_disk().map(|disk| disk.allocated_bytes))),
        ("removed", files(&|reclaim| Some(reclaim.disk.allocated_bytes))),
        ("compacted", files(&|reclaim| Some(reclaim.compacted.as_ref()?.disk.allocated_bytes))),
        ("peak", files(&|reclaim| Some(reclaim.compacted.as_ref()?.peak_bytes))),
        ("took", median(&|_, reclaim| Some(reclaim.compacted.as_ref()?.took_ns))),
        ("by", Cell::or_none(method, Cell::text)),
    ]
}
