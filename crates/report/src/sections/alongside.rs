//! Backups and large batches that went on beside the steps of a set's life.

use storebench_core::result::{Alongside, Measured};

use super::of_stores::{self, Row};
use crate::column::Unit;
use crate::data::merge::Merged;
use crate::section::{Block, Cell, Column, Place, Section, Shape, Stands};
use crate::stats::quantile;

/// The section.
pub const SECTION: Section = Section {
    name: "alongside",
    title: "Backups and large batches beside the steps",
    link: "Alongside",
    stands: Stands::Above,
    at_end: true,
    shapes: &[&ALONGSIDE],
    blocks,
};

const ALONGSIDE: Shape = Shape {
    name: "alongside",
    columns: &[
        Column::text("hardware"),
        Column::text("title").at(Place::Group, ""),
        Column::text("store").at(Place::Line, ""),
        Column::text("work").at(Place::Line, "work"),
        Column::whole("trials"),
        Column::real("took", Unit::Nanoseconds).at(Place::Line, "took"),
        Column::real("took_most", Unit::Nanoseconds).at(Place::Line, "at most"),
        Column::real("backup", Unit::Bytes).at(Place::Line, "the backup"),
        Column::real("longest", Unit::Nanoseconds).at(Place::Line, "longest call"),
    ],
};

const LEGEND: &str = "\
Once in each tenth, from its begin on, the engine made a backup in its own way while the steps went on, or another thread inserted a tenth as \
many records in one batch and removed them again. took: the median of the times that the backup or the batch took, and the longest. the \
backup: the space of its files. longest call: of the steps, in all tenths; its median over trials.";

fn blocks(merged: &Merged<'_>) -> Vec<Block> {
    of_stores::blocks(merged, (&ALONGSIDE, LEGEND), rows)
}

fn rows(trials: &[&Measured]) -> Vec<Row> {
    let all: Vec<&Alongside> = trials.iter().filter_map(|measured| measured.alongside.as_ref()).collect();
    let Some(first) = all.first() else { return Vec::new() };
    let of = |values: fn(&Alongside) -> &Vec<u64>| -> Vec<u64> {
        all.iter().flat_map(|one| values(one)).copied().collect()
    };
    let took = of(|one| &one.took_ns);
    let longest = |measured: &&Measured| {
        measured.rounds.iter().filter_map(|round| Some(round.operations.first()?.latency.max_ns)).max()
    };
    let longest: Vec<u64> = trials.iter().filter_map(longest).collect();
    let real = |value: Option<u64>| Cell::or_none(value, |value| Cell::real(value as f64));
    vec![vec![
        ("work", Cell::text(&first.by)),
        ("trials", Cell::whole(all.len())),
        ("took", real(quantile(&took, 0.5))),
        ("took_most", real(took.iter().copied().max())),
        ("backup", real(quantile(&of(|one| &one.bytes), 0.5))),
        ("longest", real(quantile(&longest, 0.5))),
    ]]
}
