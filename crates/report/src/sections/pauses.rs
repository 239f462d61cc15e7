//! The pauses of each store, and its engine's background work during them.

use storebench_figures::column::Unit;
use storebench_model::result::{Measurements, Pauses, UpkeepCount};

use super::bursts::{by_load, load};
use super::store_rows::{self, Row};
use crate::section::{Cell, Column, ColumnRole, Section, Shape};

pub const SECTION: Section = Section {
    name: "pauses",
    title: "Pauses, and the work that the engine did for itself",
    link: "Pauses",
    shapes: &[&PAUSES],
    blocks: |merged| store_rows::blocks(merged, (&PAUSES, LEGEND), rows),
    ..Section::ABOVE
};

const PAUSES: Shape = Shape {
    name: "pauses",
    columns: &[
        Column::text("hardware"),
        Column::text("title").role(ColumnRole::Group, ""),
        Column::text("store").role(ColumnRole::Line, ""),
        Column::text("during").role(ColumnRole::Line, "when"),
        Column::integer("trials"),
        Column::integer("calls"),
        Column::integer("pauses"),
        Column::text("by_call").role(ColumnRole::Line, "pauses"),
        Column::text("work").role(ColumnRole::Line, "own work"),
        Column::real("longest", Unit::Nanoseconds).role(ColumnRole::Line, "longest"),
        Column::real("of_time", Unit::Share).role(ColumnRole::Line, "of the time"),
        Column::real("in_syncs", Unit::Share).role(ColumnRole::Line, "in syncs"),
        Column::real("after", Unit::Share).role(ColumnRole::Line, "found"),
        Column::real("by_chance", Unit::Share).role(ColumnRole::Line, "by chance"),
        Column::real("otherwise", Unit::Share),
        Column::integer("samples_after"),
        Column::integer("samples_otherwise"),
    ],
};

const LEGEND: &str = "\
A pause is a call that took longer than 10 ms; those of all trials together, by the call. when: in the ten tenths, or while steps came by a \
schedule, with a burst at so much of the store's speed. of the time: the pauses \
over all calls. in syncs: the part of the pauses in which the calling thread was in a sync. own work: what the engine tells that it does for \
itself. found: the share of samples, each right after a pause, that found it done since the sample before, or under way. by chance: the share that \
would find it if it were as frequent then as in the samples without a pause. Work that is found no more often than by chance explains no pause, \
and one that is found more often need not be its cause. A store that does not tell has none.";

fn rows(trials: &[&Measurements]) -> Vec<Row> {
    let tenths = trials.iter().filter_map(|measured| measured.pauses.as_ref());
    let mut rows = time_rows("tenths", tenths.collect());
    for bursts in by_load(trials) {
        let when = load(&bursts).map(|load| format!("burst {}", Unit::Share.show(load))).unwrap_or_default();
        rows.extend(time_rows(&when, bursts.iter().filter_map(|burst| burst.pauses.as_ref()).collect()));
    }
    rows
}

/// A row for each kind of work during a pause, or a single one; none for a store without pauses.
fn time_rows(when: &str, pauses: Vec<&Pauses>) -> Vec<Row> {
    let trials = pauses.len();
    let total = pauses.into_iter().cloned().reduce(Pauses::plus).filter(|total| total.count() > 0);
    let Some(total) = total else { return Vec::new() };
    let head = || [("during", Cell::text(when))].into_iter().chain(pause_cells(trials, &total));
    let mut work: Vec<_> = total.upkeep.iter().filter(|work| work.after > 0).collect();
    work.sort_by_key(|work| std::cmp::Reverse(work.after));
    if work.is_empty() {
        return vec![head().collect()];
    }
    work.iter().map(|work| head().chain(work_row(&total, work)).collect()).collect()
}

fn pause_cells(trials: usize, pauses: &Pauses) -> Row {
    let share = |part: u64, whole: u64| Cell::real(part as f64 / whole.max(1) as f64);
    vec![
        ("trials", Cell::from_count(trials)),
        ("calls", Cell::count(pauses.calls)),
        ("pauses", Cell::count(pauses.count())),
        ("by_call", Cell::text(by_call(pauses))),
        ("longest", Cell::real(pauses.longest_ns as f64)),
        ("of_time", share(pauses.total_ns, pauses.calls_ns)),
        ("in_syncs", Cell::or_none(pauses.sync_ns, |sync_ns| share(sync_ns, pauses.total_ns))),
    ]
}

/// `scan 243, update 3`, the most frequent first.
fn by_call(pauses: &Pauses) -> String {
    let mut calls: Vec<(&String, &u64)> = pauses.by_call.iter().collect();
    calls.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    calls.iter().map(|(call, count)| format!("{call} {count}")).collect::<Vec<_>>().join(", ")
}

fn work_row(pauses: &Pauses, work: &UpkeepCount) -> Row {
    let share = |part: u64, whole: u64| {
        Cell::or_none((whole > 0).then_some(whole), |whole| Cell::real(part as f64 / whole as f64))
    };
    vec![
        ("work", Cell::text(&work.work)),
        ("after", share(work.after, pauses.after.count)),
        ("by_chance", Cell::or_none(pauses.chance_share(work), Cell::real)),
        ("otherwise", share(work.otherwise, pauses.otherwise.count)),
        ("samples_after", Cell::count(pauses.after.count)),
        ("samples_otherwise", Cell::count(pauses.otherwise.count)),
    ]
}
