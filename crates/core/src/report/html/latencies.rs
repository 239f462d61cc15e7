//! Percentiles of latency, from the histograms that results hold, with as many points as a curve needs.

use std::panic::resume_unwind;
use std::thread;

use indexmap::{IndexMap, IndexSet};
use serde::Serialize;

use super::cells::Row;
use crate::measure::latency::occurrences;

/// The quantiles of a curve. Those that an operation was not timed often enough for are left out.
const QUANTILES: [f64; 13] =
    [0.0, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9995, 0.9999, 0.99999, 1.0];

/// Steps of a latency's natural logarithm: one is 1 %, a third of what three digits tell apart at worst.
const STEPS: f64 = 100.0;

/// Curves of all cells, all of a cell's trials taken together.
#[derive(Debug, Serialize)]
pub struct Percentiles {
    quantiles: [f64; 13],
    steps: f64,
    /// By operation, then by the cells' numbers. The first number is the natural logarithm of nanoseconds in `steps`, each
    /// further one the difference to the one before it, for the quantiles from the first on; the last one is always that of
    /// the longest. Empty where there is no histogram.
    curves: IndexMap<String, Vec<Vec<i32>>>,
    /// Histograms that could not be read.
    unreadable: usize,
}

impl Percentiles {
    /// Reads all histograms, on all processors.
    pub fn new(rows: &[Row<'_>], operations: &IndexSet<String>) -> Percentiles {
        let workers = thread::available_parallelism().map_or(1, usize::from);
        let share = rows.len().div_ceil(workers).max(1);
        let mut curves = IndexMap::new();
        let mut unreadable = 0;
        for operation in operations {
            let parts: Vec<Vec<Curve>> = thread::scope(|scope| {
                let read = |part| scope.spawn(move || curves_of(part, operation));
                let handles: Vec<_> = rows.chunks(share).map(read).collect();
                handles
                    .into_iter()
                    .map(|handle| handle.join().unwrap_or_else(|panic| resume_unwind(panic)))
                    .collect()
            });
            let all: Vec<Curve> = parts.into_iter().flatten().collect();
            unreadable += all.iter().map(|curve| curve.unreadable).sum::<usize>();
            curves.insert(operation.clone(), all.into_iter().map(|curve| curve.points).collect());
        }
        Percentiles { quantiles: QUANTILES, steps: STEPS, curves, unreadable }
    }
}

#[derive(Debug, Default)]
struct Curve {
    points: Vec<i32>,
    unreadable: usize,
}

fn curves_of(rows: &[Row<'_>], operation: &str) -> Vec<Curve> {
    rows.iter().map(|row| curve(row, operation)).collect()
}

fn curve(row: &Row<'_>, operation: &str) -> Curve {
    let mut curve = Curve::default();
    let mut all: Vec<(u64, u64)> = Vec::new();
    for measured in row.entries.iter().filter_map(|entry| entry.trial.ok()) {
        let Some(operation) = measured.operation(operation).filter(|operation| operation.count > 0) else {
            continue;
        };
        match occurrences(&operation.latency.histogram) {
            Ok(found) => all.extend(found),
            Err(_) => curve.unreadable += 1,
        }
    }
    // Each trial's are in order already, which this sort makes use of.
    all.sort();
    curve.points = points(&all);
    curve
}

/// The points of a curve from how often each latency occurs, the shortest first.
fn points(occurrences: &[(u64, u64)]) -> Vec<i32> {
    let total: u64 = occurrences.iter().map(|(_, count)| count).sum();
    let Some((longest, _)) = occurrences.last() else { return Vec::new() };
    // A quantile nearer to 1 than one operation's share would only repeat the longest.
    let told_apart = 1.0 - 1.0 / total as f64;
    let inner = QUANTILES.into_iter().filter(|quantile| *quantile < 1.0 && *quantile <= told_apart);
    let (mut rest, mut passed) = (occurrences.iter().peekable(), 0);
    let mut at = |quantile: f64| {
        let wanted = ((quantile * total as f64).ceil() as u64).max(1);
        while let Some((ns, count)) = rest.peek() {
            if passed + count >= wanted {
                return *ns;
            }
            passed += count;
            rest.next();
        }
        *longest
    };
    let mut values: Vec<u64> = inner.map(&mut at).collect();
    values.push(*longest);
    let mut before = 0;
    let difference = |ns: u64| {
        let step = ((ns.max(1) as f64).ln() * STEPS).round() as i32;
        step - std::mem::replace(&mut before, step)
    };
    values.into_iter().map(difference).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_is_within_a_percent_of_the_truth() {
        let occurrences: Vec<(u64, u64)> = (1..=1000).map(|number| (number * 1000, 1)).collect();
        let mut step = 0;
        let ns: Vec<f64> = points(&occurrences)
            .into_iter()
            .map(|difference| {
                step += difference;
                (f64::from(step) / STEPS).exp()
            })
            .collect();
        // 1,000 operations: up to 99.9 %, then the longest.
        let truths = [1e3, 250e3, 500e3, 750e3, 900e3, 950e3, 990e3, 995e3, 999e3, 1000e3];
        assert_eq!(ns.len(), truths.len());
        for (ns, truth) in ns.iter().zip(truths) {
            assert!((ns / truth - 1.0).abs() < 0.011, "{ns} for {truth}");
        }
    }
}
