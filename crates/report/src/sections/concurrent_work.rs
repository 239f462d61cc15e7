//! Backups and large batches that ran during the steps of a set's life.

use storebench_figures::column::Unit;
use storebench_model::result::{CallStatistics, ConcurrentWork, Measurements};

use super::store_rows::{self, Row};
use crate::section::{Cell, Column, ColumnRole, Section, Shape};

pub const SECTION: Section = Section {
    name: "concurrent_work",
    title: "Backups and large batches during the steps",
    link: "Concurrent work",
    shapes: &[&CONCURRENT_WORK],
    blocks: |merged| store_rows::blocks(merged, (&CONCURRENT_WORK, LEGEND), rows),
    ..Section::ABOVE
};

const CONCURRENT_WORK: Shape = Shape {
    name: "concurrent_work",
    columns: &[
        Column::text("hardware"),
        Column::text("title").role(ColumnRole::Group, ""),
        Column::text("store").role(ColumnRole::Line, ""),
        Column::text("work").role(ColumnRole::Line, "work"),
        Column::integer("trials"),
        Column::real("took", Unit::Nanoseconds).role(ColumnRole::Line, "took"),
        Column::real("took_most", Unit::Nanoseconds).role(ColumnRole::Line, "at most"),
        Column::real("during_steps", Unit::Share).role(ColumnRole::Line, "during steps"),
        Column::real("backup", Unit::Bytes).role(ColumnRole::Line, "backup"),
        Column::integer("calls").role(ColumnRole::Line, "calls"),
        Column::real("longest", Unit::Nanoseconds).role(ColumnRole::Line, "longest"),
        Column::real("longest_otherwise", Unit::Nanoseconds).role(ColumnRole::Line, "otherwise"),
    ],
};

const LEGEND: &str = "\
Once in each tenth the engine made a backup in its own way, from the begin of the steps on, or another thread inserted a tenth as many records \
in one batch, and removed them again. took: the median of the times that the backup or the batch took, and the longest. during steps: the part of that \
in which steps were going on, too; a backup that takes longer than a tenth's steps goes on alone. backup: the space of its files. calls: those \
of the steps that were under way at the same time, in all trials; longest: the longest of them; otherwise: the longest of all others.";

fn rows(trials: &[&Measurements]) -> Vec<Row> {
    let works: Vec<&ConcurrentWork> =
        trials.iter().filter_map(|measured| measured.concurrent_work.as_ref()).collect();
    let Some(first) = works.first() else { return Vec::new() };
    let collect = |values: fn(&ConcurrentWork) -> &Vec<u64>| -> Vec<u64> {
        works.iter().flat_map(|work| values(work)).copied().collect()
    };
    let took = collect(|work| &work.took_ns);
    let during_steps: u64 = collect(|work| &work.during_steps_ns).iter().sum();
    let calls = |read: fn(&ConcurrentWork) -> CallStatistics| {
        works.iter().map(|work| read(work)).fold(CallStatistics::default(), CallStatistics::plus)
    };
    let (during, otherwise) = (calls(|work| work.during), calls(|work| work.otherwise));
    let longest = |calls: CallStatistics| {
        Cell::or_none((calls.count > 0).then_some(calls.longest_ns), |ns| Cell::real(ns as f64))
    };
    vec![vec![
        ("work", Cell::text(&first.by)),
        ("trials", Cell::from_count(works.len())),
        ("took", Cell::quantile(&took, 0.5)),
        ("took_most", Cell::quantile(&took, 1.0)),
        ("during_steps", Cell::real(during_steps as f64 / took.iter().sum::<u64>().max(1) as f64)),
        ("backup", Cell::quantile(&collect(|work| &work.bytes), 0.5)),
        ("calls", Cell::count(during.count)),
        ("longest", longest(during)),
        ("longest_otherwise", longest(otherwise)),
    ]]
}
