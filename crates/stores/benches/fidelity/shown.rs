//! The printed report.

use std::ops::RangeInclusive;

use storebench_figures::stats::{Estimate, geometric_mean};

use crate::pair::{COMPARED, Measured, OperationTime};
use crate::{Bench, CACHE_BYTES, RECORDS};

/// Ratios outside are marked.
const AIM: RangeInclusive<f64> = 0.97..=1.03;

pub fn heading(bench: &Bench) {
    println!(
        "{RECORDS} records, {} pairs, caches of {} MiB; clock: {}, {:.1} ns a reading",
        bench.pairs,
        CACHE_BYTES >> 20,
        bench.clock.kind(),
        bench.clock.cost_ns()
    );
    println!(
        "{:12} {:>6} {:7} {:>11} {:>11}   {:>23}   {:>23}   {:>23}",
        "store",
        "value",
        "",
        "storebench",
        "direct",
        "storebench / direct",
        "not clocked one by one",
        "by wall time"
    );
}

pub fn rows(name: &str, bytes: u64, measured: &Measured) {
    for (operation, pairs) in COMPARED.into_iter().zip(measured) {
        row(name, bytes, operation.name(), pairs, |time| Some(time.clocked_ns));
    }
}

/// A row: `figure` of both sides, and the ratios. Without `figure` there is only wall time.
pub fn row(
    name: &str,
    bytes: u64,
    operation: &str,
    pairs: &[(OperationTime, OperationTime)],
    figure: fn(&OperationTime) -> Option<f64>,
) {
    let ratio = |time: fn(&OperationTime) -> Option<f64>| -> Option<Estimate> {
        let ratios: Option<Vec<f64>> =
            pairs.iter().map(|(ours, theirs)| Some(time(theirs)? / time(ours)?)).collect();
        geometric_mean(&ratios?)
    };
    let mean = |times: Option<Vec<f64>>| times.and_then(|times| geometric_mean(&times));
    let per_s = |estimate: Option<Estimate>| {
        estimate.map_or_else(String::new, |time| format!("{:.0}/s", 1e9 / time.value))
    };
    let whole: fn(&OperationTime) -> Option<f64> = |time| Some(time.whole_ns);
    let time = if pairs.iter().all(|(ours, _)| figure(ours).is_some()) { figure } else { whole };
    let ours = per_s(mean(pairs.iter().map(|(ours, _)| time(ours)).collect()));
    let theirs = per_s(mean(pairs.iter().map(|(_, theirs)| time(theirs)).collect()));
    let shown = ratio(figure);
    let together = shown.and_then(|_| ratio(|time| Some(time.calls_ns)));
    let mark = if shown.is_some_and(|shown| !AIM.contains(&shown.value)) { '!' } else { ' ' };
    println!(
        "{name:12} {bytes:>4} B {operation:7} {ours:>11} {theirs:>11}  {:>23}{mark}  {:>23}   {:>23}",
        estimate(shown),
        estimate(together),
        estimate(ratio(whole))
    );
}

fn estimate(estimate: Option<Estimate>) -> String {
    match estimate {
        None => String::new(),
        Some(Estimate { value, interval: None }) => format!("{value:.3}"),
        Some(Estimate { value, interval: Some(interval) }) => {
            format!("{value:.3} [{:.3}, {:.3}]", interval.low, interval.high)
        }
    }
}

pub fn footing() {
    println!();
    println!(
        "Ratios: geometric means over pairs, with 95 % intervals. Operations per second: as a report shows them, and those of a"
    );
    println!(
        "direct loop that reads the clock around each call, too. Not clocked one by one: a direct loop that reads it around"
    );
    println!("128 calls. By wall time: with all that the loops do besides.");
    println!("! outside {:.2} to {:.2}: docs/fairness.md says why.", AIM.start(), AIM.end());
}
