//! Percentiles of latency from the histograms in results, with as many points as a curve needs.

use std::sync::LazyLock;

use indexmap::{IndexMap, IndexSet};
use rayon::prelude::*;
use serde::Serialize;
use storebench_core::measure::latency::{BUCKETS, longest_of, occurrences};

use super::cells::Row;

/// The quantiles of a curve, without those that need more operations.
const QUANTILES: [f64; 13] =
    [0.0, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9995, 0.9999, 0.99999, 1.0];

/// Steps of a latency's natural logarithm: one is 1 %, a third of what three digits tell apart at worst.
const STEPS: f64 = 100.0;

/// Curves of all cells, over all trials of each cell.
#[derive(Debug, Serialize)]
pub struct Percentiles {
    quantiles: [f64; 13],
    steps: f64,
    /// By operation, then by cell. The first number is the natural logarithm of nanoseconds in `steps`, each
    /// further one the difference to the one before it, for the quantiles from the first on; the last one is always that of
    /// the longest. Empty without a histogram.
    curves: IndexMap<String, Vec<Vec<i32>>>,
    unreadable: usize,
}

impl Percentiles {
    pub fn new(rows: &[Row<'_>], operations: &IndexSet<String>) -> Percentiles {
        let mut curves = IndexMap::new();
        let mut unreadable = 0;
        for operation in operations {
            let cell_curves: Vec<Curve> = rows.par_iter().map(|row| curve(row, operation)).collect();
            unreadable += cell_curves.iter().map(|curve| curve.unreadable).sum::<usize>();
            curves.insert(operation.clone(), cell_curves.into_iter().map(|curve| curve.points).collect());
        }
        Percentiles { quantiles: QUANTILES, steps: STEPS, curves, unreadable }
    }
}

#[derive(Debug, Default)]
struct Curve {
    points: Vec<i32>,
    unreadable: usize,
}

fn curve(row: &Row<'_>, operation: &str) -> Curve {
    let mut unreadable = 0;
    let mut counts = Counts::default();
    for measured in row.entries.iter().filter_map(|entry| entry.trial.ok()) {
        let Some(operation) = measured.operation(operation).filter(|operation| operation.count > 0) else {
            continue;
        };
        match occurrences(&operation.latency.histogram) {
            Ok(occurrences) => counts.add(&occurrences),
            Err(_) => unreadable += 1,
        }
    }
    Curve { points: counts.points(), unreadable }
}

static STEP_OF_BUCKET: LazyLock<Vec<u16>> = LazyLock::new(|| (0..BUCKETS).map(step_of).collect());

fn step_of(bucket: u16) -> u16 {
    ((longest_of(bucket).max(1) as f64).ln() * STEPS).round() as u16
}

#[derive(Debug, Default)]
struct Counts {
    by_step: Vec<u64>,
    total: u64,
}

impl Counts {
    fn add(&mut self, occurrences: &[(u16, u64)]) {
        let Some((last, _)) = occurrences.last() else { return };
        let steps = usize::from(STEP_OF_BUCKET[usize::from(*last)]) + 1;
        self.by_step.resize(self.by_step.len().max(steps), 0);
        for (bucket, count) in occurrences {
            self.by_step[usize::from(STEP_OF_BUCKET[usize::from(*bucket)])] += count;
            self.total += count;
        }
    }

    fn points(&self) -> Vec<i32> {
        if self.total == 0 {
            return Vec::new();
        }
        // A quantile nearer to 1 than a single operation's share would only repeat the longest.
        let last_quantile = 1.0 - 1.0 / self.total as f64;
        let inner = QUANTILES.into_iter().filter(|quantile| *quantile < 1.0 && *quantile <= last_quantile);
        let (mut step, mut passed) = (0, 0);
        let mut find_step = |quantile: f64| {
            let wanted = ((quantile * self.total as f64).ceil() as u64).max(1);
            while let Some(count) = self.by_step.get(step).filter(|count| passed + **count < wanted) {
                passed += count;
                step += 1;
            }
            step as i32
        };
        let steps: Vec<i32> = inner.chain([1.0]).map(&mut find_step).collect();
        let previous = std::iter::once(0).chain(steps.iter().copied());
        steps.iter().zip(previous).map(|(step, previous)| step - previous).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_is_within_a_percent_of_the_truth() {
        // Buckets that hold 1, 2, 3, ... thousands of nanoseconds, in two halves as from two trials.
        let bucket = |ns: u64| (0..BUCKETS).find(|bucket| longest_of(*bucket) >= ns).unwrap();
        let buckets: Vec<(u16, u64)> = (1..=1000).map(|number| (bucket(number * 1000), 1)).collect();
        let (odd, even): (Vec<_>, Vec<_>) = buckets.chunks(2).map(|pair| (pair[0], pair[1])).unzip();
        let mut counts = Counts::default();
        counts.add(&odd);
        counts.add(&even);
        let mut step = 0;
        let ns: Vec<f64> = counts
            .points()
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
        assert_eq!(Counts::default().points(), Vec::<i32>::new());
    }
}
