//! The pauses of each store, and the work that its engine did for itself meanwhile.

use storebench_core::result::{Measured, Pauses, Upkeep};

use super::of_stores::{self, Row};
use crate::column::Unit;
use crate::data::merge::Merged;
use crate::section::{Block, Cell, Column, Place, Section, Shape, Stands};

/// The section.
pub const SECTION: Section = Section {
    name: "pauses",
    title: "Pauses, and what the engine did meanwhile",
    link: "Pauses",
    stands: Stands::Above,
    at_end: true,
    shapes: &[&PAUSES],
    blocks,
};

const PAUSES: Shape = Shape {
    name: "pauses",
    columns: &[
        Column::text("hardware"),
        Column::text("title").at(Place::Group, ""),
        Column::text("store").at(Place::Line, ""),
        Column::whole("trials"),
        Column::whole("calls"),
        Column::whole("pauses").at(Place::Line, "pauses"),
        Column::real("longest", Unit::Nanoseconds).at(Place::Line, "longest"),
        Column::real("of_time", Unit::Share).at(Place::Line, "of the time"),
        Column::real("in_syncs", Unit::Share).at(Place::Line, "in syncs"),
        Column::text("work").at(Place::Line, "the engine's work"),
        Column::real("after", Unit::Share).at(Place::Line, "in pauses"),
        Column::real("otherwise", Unit::Share).at(Place::Line, "otherwise"),
        Column::whole("looks_after"),
        Column::whole("looks_otherwise"),
    ],
};

const LEGEND: &str = "\
A pause is a call that took longer than 10 ms; those of all trials together. of the time: the pauses over all calls. in syncs: the part of \
the pauses in which the calling thread was in a sync. the engine's work: what the engine tells that it does for itself; in pauses: the \
share of looks right after a pause that found it done, begun or ended since the look before; otherwise: the share of the looks without a \
pause, some 10 ms apart. Work that is as frequent otherwise explains no pause. A store that does not tell has none.";

fn blocks(merged: &Merged<'_>) -> Vec<Block> {
    of_stores::blocks(merged, (&PAUSES, LEGEND), rows)
}

/// A row for each kind of work that was seen in a pause, or a single one; none of a store without pauses.
fn rows(trials: &[&Measured]) -> Vec<Row> {
    let seen = || trials.iter().filter_map(|measured| measured.pauses.clone());
    let Some(all) = seen().reduce(Pauses::plus).filter(|all| all.count > 0) else { return Vec::new() };
    let trials = seen().count();
    let mut work: Vec<_> = all.upkeep.iter().filter(|work| work.after > 0).collect();
    work.sort_by_key(|work| std::cmp::Reverse(work.after));
    if work.is_empty() {
        return vec![head(trials, &all)];
    }
    work.iter().map(|work| head(trials, &all).into_iter().chain(of_work(&all, work)).collect()).collect()
}

fn head(trials: usize, all: &Pauses) -> Row {
    let share = |part: u64, of: u64| Cell::real(part as f64 / of.max(1) as f64);
    vec![
        ("trials", Cell::whole(trials)),
        ("calls", Cell::count(all.calls)),
        ("pauses", Cell::count(all.count)),
        ("longest", Cell::real(all.longest_ns as f64)),
        ("of_time", share(all.total_ns, all.calls_ns)),
        ("in_syncs", Cell::or_none(all.sync_ns, |sync_ns| share(sync_ns, all.total_ns))),
    ]
}

fn of_work(all: &Pauses, work: &Upkeep) -> Row {
    let share =
        |part: u64, of: u64| Cell::or_none((of > 0).then_some(of), |of| Cell::real(part as f64 / of as f64));
    vec![
        ("work", Cell::text(&work.work)),
        ("after", share(work.after, all.looks_after)),
        ("otherwise", share(work.otherwise, all.looks_otherwise)),
        ("looks_after", Cell::count(all.looks_after)),
        ("looks_otherwise", Cell::count(all.looks_otherwise)),
    ]
}
