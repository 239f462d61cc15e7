//! Detects a noisy machine: single trials far off their cell's others, and blocks that drift. Nothing is dropped because of them.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use storebench_host::run::Run;
use storebench_model::cell::Cell;
use storebench_model::result::TrialResult;
use storebench_model::units::three_digits;

use crate::stats::{Estimate, geometric_mean, median};

/// A trial that is far off the others of its cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Outlier {
    pub cell: String,
    pub block: u32,
    /// The operation with the largest distance.
    pub operation: String,
    /// Its mean latency over the median of the cell's trials.
    pub times: f64,
}

/// A drift in words: `12 % slower`; as a factor if percents read badly: `3.20x slower`.
pub fn describe_drift(times: f64) -> String {
    match times {
        times if times >= 2.0 => format!("{}x slower", three_digits(times)),
        times if times > 1.0 => format!("{:.0} % slower", (times - 1.0) * 100.0),
        times => format!("{:.0} % faster", (1.0 - times) * 100.0),
    }
}

/// The trials of a cell that are needed to detect an outlier.
const MIN_TRIALS: usize = 4;
/// An outlier is slower or faster than the median by at least this factor, ...
const OUTLIER_FACTOR: f64 = 1.5;
/// ... and this many deviations away, by a normal distribution of the same median absolute deviation.
const DEVIATIONS: f64 = 5.0;
/// The factor from the median absolute deviation of a normal distribution to its standard deviation.
const NORMAL_FACTOR: f64 = 1.4826;
/// A smaller drift is not mentioned.
const MIN_DRIFT: f64 = 0.05;

/// Mean latencies of a cell's operation, by block.
type Latencies = BTreeMap<u32, f64>;

fn by_cell_and_operation(run: &Run) -> IndexMap<(&Cell, &str), Latencies> {
    let mut latencies: IndexMap<_, Latencies> = IndexMap::new();
    for (trial, measured) in run.trials.iter().filter_map(|trial: &TrialResult| Some((trial, trial.ok()?))) {
        for operation in measured.operations.iter().filter(|operation| operation.latency.mean_ns > 0.0) {
            let key = (&trial.cell, operation.operation.as_str());
            latencies.entry(key).or_default().insert(trial.block, operation.latency.mean_ns);
        }
    }
    latencies
}

/// Trials far off, with the farthest operation of each, the farthest first.
pub fn outliers(run: &Run) -> Vec<Outlier> {
    let mut outliers: BTreeMap<(String, u32), Outlier> = BTreeMap::new();
    for ((cell, operation), latencies) in by_cell_and_operation(run) {
        for (block, times) in far_blocks(&latencies) {
            let outlier = Outlier { cell: cell.id(), block, operation: operation.to_owned(), times };
            let farthest = outliers.entry((cell.id(), block)).or_insert_with(|| outlier.clone());
            if distance(outlier.times) > distance(farthest.times) {
                *farthest = outlier;
            }
        }
    }
    let mut outliers: Vec<Outlier> = outliers.into_values().collect();
    outliers.sort_by(|a, b| distance(b.times).total_cmp(&distance(a.times)));
    outliers
}

fn distance(times: f64) -> f64 {
    times.ln().abs()
}

fn far_blocks(latencies: &Latencies) -> Vec<(u32, f64)> {
    if latencies.len() < MIN_TRIALS {
        return Vec::new();
    }
    let median = |values: &[f64]| median(values).map_or(0.0, |median| median.value);
    let logs: Vec<f64> = latencies.values().map(|latency| latency.ln()).collect();
    let middle = median(&logs);
    let deviation = NORMAL_FACTOR * median(&logs.iter().map(|log| (log - middle).abs()).collect::<Vec<_>>());
    let is_far = |off: f64| off.abs() >= OUTLIER_FACTOR.ln() && off.abs() > DEVIATIONS * deviation;
    let distances = latencies.iter().map(|(block, latency)| (*block, latency.ln() - middle));
    distances.filter(|(_, off)| is_far(*off)).map(|(block, off)| (block, off.exp())).collect()
}

/// The mean latency of the second half of a run's blocks over that of the first: the geometric mean over cells and operations. `None` if
/// its interval includes 1, or it is too near to 1 to mention.
pub fn drift(run: &Run) -> Option<Estimate> {
    let last = run.trials.iter().map(|trial| trial.block).max().filter(|last| *last >= 3)?;
    let half = last.div_ceil(2);
    // One ratio for each cell: its operations are from one trial, and not independent.
    let mut by_cell: IndexMap<&Cell, Vec<f64>> = IndexMap::new();
    for ((cell, _), latencies) in by_cell_and_operation(run) {
        let half_mean = |late: bool| {
            let values = latencies.iter().filter(|(block, _)| (**block >= half) == late);
            geometric_mean(&values.map(|(_, value)| *value).collect::<Vec<_>>())
        };
        if let (Some(early), Some(late)) = (half_mean(false), half_mean(true)) {
            by_cell.entry(cell).or_default().push(late.value / early.value);
        }
    }
    let ratios: Vec<f64> =
        by_cell.values().filter_map(|ratios| Some(geometric_mean(ratios)?.value)).collect();
    let times = geometric_mean(&ratios)?;
    let is_certain = times.interval.is_some_and(|interval| !interval.is_range() && !interval.contains(1.0));
    (is_certain && (times.value - 1.0).abs() > MIN_DRIFT).then_some(times)
}

#[cfg(test)]
mod tests {
    use storebench_model::units::CountRange;
    use storebench_samples::{Sample, blocks};

    use super::*;

    /// Blocks of some cells whose latency is `ns` times the block's factor, with a little separate noise.
    fn run(factors: &[f64]) -> Run {
        let sample = |block: usize, cell: u64| {
            let noise = 1.0 + 0.01 * ((block as u64 * 7 + cell * 3) % 5) as f64;
            let records = CountRange::starting_at(100 * (cell + 1));
            Sample::new("lmdb").records(records).ns(1000.0 * factors[block] * noise)
        };
        let samples: Vec<Vec<Sample>> =
            (0..factors.len()).map(|block| (0..8).map(|cell| sample(block, cell)).collect()).collect();
        blocks("box", &samples)
    }

    #[test]
    fn a_drift_is_never_an_absurd_share() {
        assert_eq!(
            [0.5, 1.25, 141_860.0].map(describe_drift),
            ["50 % faster", "25 % slower", "141,860x slower"]
        );
    }

    #[test]
    fn steady_runs_have_neither_outliers_nor_drift() {
        let run = run(&[1.0; 6]);
        assert_eq!((outliers(&run), drift(&run)), (vec![], None));
    }

    #[test]
    fn a_disturbed_trial_is_named() {
        let mut run = run(&[1.0; 6]);
        let disturbed = run.trials.iter_mut().find(|trial| trial.block == 3).unwrap();
        let cell = disturbed.cell.id();
        for operation in &mut disturbed.measured.as_mut().unwrap().operations {
            operation.latency.mean_ns *= if operation.operation == "get" { 4.0 } else { 2.0 };
        }
        let outliers = outliers(&run);
        assert_eq!(outliers.len(), 1);
        assert_eq!((&outliers[0].cell, outliers[0].block, outliers[0].operation.as_str()), (&cell, 3, "get"));
        assert!((3.8..4.2).contains(&outliers[0].times));
    }

    #[test]
    fn a_machine_that_slows_down_is_seen_and_one_odd_block_is_no_drift_alone() {
        let slower = drift(&run(&[1.0, 1.03, 1.08, 1.2, 1.25, 1.3])).unwrap();
        assert!((1.15..1.25).contains(&slower.value), "{slower:?}");
        assert_eq!(drift(&run(&[1.0, 1.2])), None, "two blocks can't decide");
    }
}
