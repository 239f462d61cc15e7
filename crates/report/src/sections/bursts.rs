//! The bursts that each store can take.

use storebench_figures::column::{P99, Unit};
use storebench_figures::stats::{median, quantile};
use storebench_model::result::{Burst, Measurements};

use super::store_rows::{self, Row};
use crate::section::{Cell, Column, ColumnRole, Section, Shape};

pub const SECTION: Section = Section {
    name: "bursts",
    title: "Bursts: ten times the load for a short time",
    link: "Bursts",
    shapes: &[&BURSTS],
    blocks: |merged| store_rows::blocks(merged, (&BURSTS, LEGEND), rows),
    ..Section::ABOVE
};

const BURSTS: Shape = Shape {
    name: "bursts",
    columns: &[
        Column::text("hardware"),
        Column::text("title").role(ColumnRole::Group, ""),
        Column::text("store").role(ColumnRole::Line, ""),
        Column::real("load", Unit::Share).role(ColumnRole::Line, "load"),
        Column::integer("trials"),
        Column::real("steps", Unit::PerSecond).role(ColumnRole::Line, "steps"),
        Column::real(P99.id, P99.unit).role(ColumnRole::Line, P99.title),
        Column::integer("burst").role(ColumnRole::Line, "burst of"),
        Column::integer("within_10_ms").role(ColumnRole::Line, "in 10 ms"),
        Column::integer("within_100_ms").role(ColumnRole::Line, "in 100 ms"),
        Column::real("longest", Unit::Nanoseconds).role(ColumnRole::Line, "longest"),
        Column::real("recovered", Unit::Nanoseconds).role(ColumnRole::Line, "free after"),
        Column::integer("not_recovered"),
        Column::integer("in_pause"),
        Column::integer("left_out"),
    ],
};

const LEGEND: &str = "\
When a set had been written many times over, steps came by a schedule, whether or not those before had ended: evenly, at the load as a share of the \
speed that the store had shown in the last five tenths; then ten times as many, for a 60th of the time; evenly again; none, for a sixth of \
the time; and evenly again. Latency counts from the moment at which a step was to begin, so that it has the waiting. p99: of all steps. in \
10 ms, in 100 ms: the steps of the burst before the first that took longer. longest: in the burst or between it and the pause. free \
after: from the burst's end until a step did not wait for those before it; in the pause: only once no more steps came, in some trial; without a \
value where that did not come in some trial before all steps were done. At 90 % of its speed a store has a tenth of its time for what waits, \
so most are not free before the pause. Medians over trials. Pauses and their causes are told in the section on pauses.";

fn rows(trials: &[&Measurements]) -> Vec<Row> {
    by_load(trials).iter().map(|bursts| cells(bursts)).collect()
}

pub(super) fn by_load<'m>(trials: &[&'m Measurements]) -> Vec<Vec<&'m Burst>> {
    let loads = trials.iter().map(|measured| measured.bursts.len()).max().unwrap_or(0);
    let bursts_at = |load| trials.iter().filter_map(|measured| measured.bursts.get(load)).collect();
    (0..loads).map(bursts_at).collect()
}

/// The load as a share of the store's own speed, in the median over trials.
pub(super) fn load(bursts: &[&Burst]) -> Option<f64> {
    let shares: Vec<f64> = bursts.iter().map(|burst| burst.percent / 100.0).collect();
    Some(median(&shares)?.value)
}

fn cells(bursts: &[&Burst]) -> Row {
    let median = |read: &dyn Fn(&Burst) -> u64| {
        let values: Vec<u64> = bursts.iter().map(|burst| read(burst)).collect();
        quantile(&values, 0.5)
    };
    let whole = |read: &dyn Fn(&Burst) -> u64| Cell::or_none(median(read), Cell::count);
    let real = |read: &dyn Fn(&Burst) -> u64| Cell::or_none(median(read), |value| Cell::real(value as f64));
    let not_recovered = bursts.iter().filter(|burst| burst.recovered_ns.is_none()).count();
    let recovered =
        if not_recovered == 0 { real(&|burst| burst.recovered_ns.unwrap_or(0)) } else { Cell::none() };
    let in_pause = bursts.iter().filter(|burst| burst.in_pause).count();
    let recovered =
        if not_recovered == 0 && in_pause > 0 { recovered.with_text("in the pause") } else { recovered };
    vec![
        ("load", Cell::or_none(load(bursts), Cell::real)),
        ("trials", Cell::from_count(bursts.len())),
        ("steps", real(&|burst| burst.per_second.round() as u64)),
        (P99.id, real(&|burst| P99.latency_value(&burst.latency).unwrap_or_default())),
        ("burst", whole(&|burst| burst.steps)),
        ("within_10_ms", whole(&|burst| burst.within_10_ms)),
        ("within_100_ms", whole(&|burst| burst.within_100_ms)),
        ("longest", real(&|burst| burst.longest_ns)),
        ("recovered", recovered),
        ("not_recovered", Cell::from_count(not_recovered)),
        ("in_pause", Cell::from_count(in_pause)),
        ("left_out", whole(&|burst| burst.left_out)),
    ]
}
