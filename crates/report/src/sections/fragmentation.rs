//! Scans and files of an aged set.

use storebench_figures::column::Unit;
use storebench_figures::stats::quantile;
use storebench_model::result::{FilePieces, Fragmentation, Measurements};

use super::store_rows::{self, Row};
use crate::section::{Cell, Column, ColumnRole, Section, Shape};

pub const SECTION: Section = Section {
    name: "fragmentation",
    title: "Fragmentation: scans and files of an aged set",
    link: "Fragmentation",
    shapes: &[&FRAGMENTATION],
    blocks: |merged| store_rows::blocks(merged, (&FRAGMENTATION, LEGEND), rows),
    ..Section::ABOVE
};

const FRAGMENTATION: Shape = Shape {
    name: "fragmentation",
    columns: &[
        Column::text("hardware"),
        Column::text("title").role(ColumnRole::Group, ""),
        Column::text("store").role(ColumnRole::Line, ""),
        Column::integer("trials"),
        Column::real("fresh_scan", Unit::Nanoseconds).role(ColumnRole::Line, "scan, fresh"),
        Column::real("aged_scan", Unit::Nanoseconds).role(ColumnRole::Line, "scan, aged"),
        Column::real("times", Unit::Count).role(ColumnRole::Line, "times as long"),
        Column::integer("files").role(ColumnRole::Line, "files"),
        Column::integer("pieces").role(ColumnRole::Line, "pieces"),
    ],
};

const LEGEND: &str = "\
scan: reading all records in their order, after they were loaded and after they had been written many times over; medians of three in each \
trial, and over trials. A store without order has none. files, pieces: the files that have a place on the disk once the store is closed, \
and in how many pieces they lie there, as the file system tells it; one without values does not tell. Of a store in memory, or elsewhere, \
there are none.";

fn rows(trials: &[&Measurements]) -> Vec<Row> {
    let results: Vec<&Fragmentation> =
        trials.iter().filter_map(|measured| measured.fragmentation.as_ref()).collect();
    let has_values = |result: &&Fragmentation| result.pieces.is_some() || !result.aged_scans_ns.is_empty();
    if results.iter().any(has_values) { vec![cells(&results)] } else { Vec::new() }
}

fn cells(results: &[&Fragmentation]) -> Row {
    let scan = |read: fn(&Fragmentation) -> &Vec<u64>| {
        let medians: Vec<u64> = results.iter().filter_map(|result| quantile(read(result), 0.5)).collect();
        quantile(&medians, 0.5).map(|ns| ns as f64)
    };
    let pieces = |read: fn(&FilePieces) -> u64| {
        let counts: Vec<u64> =
            results.iter().filter_map(|result| Some(read(result.pieces.as_ref()?))).collect();
        Cell::or_none(quantile(&counts, 0.5), Cell::count)
    };
    let (fresh, aged) = (scan(|result| &result.fresh_scans_ns), scan(|result| &result.aged_scans_ns));
    let times = aged.zip(fresh.filter(|ns| *ns > 0.0)).map(|(aged, fresh)| aged / fresh);
    vec![
        ("trials", Cell::from_count(results.len())),
        ("fresh_scan", Cell::or_none(fresh, Cell::real)),
        ("aged_scan", Cell::or_none(aged, Cell::real)),
        ("times", Cell::or_none(times, Cell::real)),
        ("files", pieces(|pieces| pieces.files)),
        ("pieces", pieces(|pieces| pieces.pieces)),
    ]
}
