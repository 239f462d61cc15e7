//! Other calls while a store reclaimed space.

use storebench_figures::column::Unit;
use storebench_model::result::{CallStatistics, ConcurrentCalls, Measurements, ReclaimResult};

use super::store_rows::{self, Row};
use crate::section::{Cell, Column, ColumnRole, Section, Shape};

pub const SECTION: Section = Section {
    name: "space_reclaim_concurrent",
    title: "Space reclaim during other work: what calls took meanwhile",
    link: "Space reclaim during work",
    shapes: &[&CALLS],
    blocks: |merged| store_rows::blocks(merged, (&CALLS, LEGEND), rows),
    ..Section::ABOVE
};

const CALLS: Shape = Shape {
    name: "space_reclaim_concurrent",
    columns: &[
        Column::text("hardware"),
        Column::text("title").role(ColumnRole::Group, ""),
        Column::text("store").role(ColumnRole::Line, ""),
        Column::text("by"),
        Column::integer("trials"),
        Column::real("took", Unit::Nanoseconds).role(ColumnRole::Line, "took"),
        Column::integer("reads").role(ColumnRole::Line, "reads"),
        Column::real("read_longest", Unit::Nanoseconds).role(ColumnRole::Line, "longest read"),
        Column::real("read_before", Unit::Nanoseconds).role(ColumnRole::Line, "before"),
        Column::integer("writes").role(ColumnRole::Line, "writes"),
        Column::real("write_longest", Unit::Nanoseconds).role(ColumnRole::Line, "longest write"),
        Column::real("write_before", Unit::Nanoseconds).role(ColumnRole::Line, "before that"),
        Column::text("refused").role(ColumnRole::Line, "refused"),
    ],
};

const LEGEND: &str = "\
While the engine reclaimed space, one thread read records that were left and another overwrote others of them, each a millisecond after its last \
call. took: the median time of that. reads, writes: the calls that were under way meanwhile, in all trials, and the longest of them. A call that took \
about as long may have waited for its end. before, before that: the longest of some 100 reads and 100 writes per trial just before. \
refused: a call that the engine answered with an error; its thread made no other meanwhile, and afterwards it was done.";

fn rows(trials: &[&Measurements]) -> Vec<Row> {
    let results: Vec<(&ReclaimResult, &ConcurrentCalls)> =
        trials.iter().filter_map(|measured| concurrent_calls(measured)).collect();
    let Some((first, _)) = results.first() else { return Vec::new() };
    let calls = |read: fn(&ConcurrentCalls) -> CallStatistics| {
        results.iter().map(|(_, calls)| read(calls)).fold(CallStatistics::default(), CallStatistics::plus)
    };
    let (reads, writes) = (calls(|trial| trial.reads), calls(|trial| trial.writes));
    let longest = |calls: CallStatistics| {
        Cell::or_none((calls.count > 0).then_some(calls.longest_ns), |ns| Cell::real(ns as f64))
    };
    let took: Vec<u64> = results.iter().map(|(compacted, _)| compacted.took_ns).collect();
    let refused: Vec<&str> = results.iter().filter_map(|(_, calls)| calls.refused.as_deref()).collect();
    let refused = refused.first().map(|first| match results.len() {
        1 => (*first).to_owned(),
        trials => format!("in {} of {trials} trials: {first}", refused.len()),
    });
    vec![vec![
        ("by", Cell::text(&first.by)),
        ("trials", Cell::from_count(results.len())),
        ("took", Cell::quantile(&took, 0.5)),
        ("reads", Cell::count(reads.count)),
        ("read_longest", longest(reads)),
        ("read_before", longest(calls(|trial| trial.reads_before))),
        ("writes", Cell::count(writes.count)),
        ("write_longest", longest(writes)),
        ("write_before", longest(calls(|trial| trial.writes_before))),
        ("refused", Cell::or_none(refused.as_deref(), Cell::text)),
    ]]
}

fn concurrent_calls(measured: &Measurements) -> Option<(&ReclaimResult, &ConcurrentCalls)> {
    let compacted = measured.space_reclaim.as_ref()?.compacted.as_ref()?;
    Some((compacted, compacted.meanwhile.as_ref()?))
}
