//! Checks figures that follow from others of the same result, such as percentiles from the histogram, and impossible combinations.

use hdrhistogram::Histogram;
use storebench_core::measure::latency;
use storebench_host::run::Run;
use storebench_model::result::{OperationResult, TrialResult};
use storebench_model::units::with_commas;

/// The relative difference that rounding can make between a written and a computed mean.
const ROUNDING: f64 = 1e-9;

/// The relative difference between a deviation and a histogram's: buckets are a thousandth wide.
const NEAR: f64 = 0.01;

/// The number of operations checked, and a sentence for each wrong figure.
pub fn find_wrong(run: &Run) -> (usize, Vec<String>) {
    let (mut checked, mut wrong) = (0, Vec::new());
    for trial in &run.trials {
        for operation in trial.ok().into_iter().flat_map(|measured| &measured.operations) {
            let label = || format!("{} of {}, block {}", operation.operation, trial.cell.id(), trial.block);
            let mut fault = find_contradiction(operation, sessions(trial));
            if !operation.latency.histogram.is_empty() {
                checked += 1;
                fault = fault.or_else(|| find_difference(operation));
            }
            wrong.extend(fault.map(|fault| format!("{}: {fault}", label())));
        }
    }
    (checked, wrong)
}

/// The sessions over which an operation's time is summed; `None` if unknown, as with several machines.
fn sessions(trial: &TrialResult) -> Option<u64> {
    let is_alone = trial.ok()?.clients.is_empty();
    is_alone.then(|| trial.cell.threads().into())
}

fn find_contradiction(operation: &OperationResult, sessions: Option<u64>) -> Option<String> {
    let share = operation.harness_share.filter(|share| !(0.0..=1.0).contains(share));
    let share = share.map(|share| format!("harness_share is {share}, and a share is from 0 to 1"));
    // Only in a closed loop, for which alone the harness's share is known: otherwise operations wait for their turn, as a part of their latency.
    let max_ns = sessions
        .filter(|_| operation.harness_share.is_some())
        .map(|sessions| operation.wall_ns.saturating_mul(sessions));
    let wall = max_ns.filter(|max| operation.sum_ns > *max).map(|_| {
        let [wall, sum] = [operation.wall_ns, operation.sum_ns].map(with_commas);
        format!("wall_ns is {wall}, and its operations took {sum}")
    });
    let calls = operation.counters.as_ref().filter(|counters| !counters.syncs_by_call.is_empty());
    let syncs = calls.and_then(|counters| {
        let (written, sum) = (counters.syncs?, counters.syncs_by_call.values().sum::<u64>());
        (written != sum).then(|| {
            format!("syncs is {}, and its calls add up to {}", with_commas(written), with_commas(sum))
        })
    });
    share.or(wall).or(syncs)
}

fn find_difference(operation: &OperationResult) -> Option<String> {
    let histogram = match latency::decode(&operation.latency.histogram) {
        Ok(histogram) => histogram,
        Err(why) => return Some(why),
    };
    let differs = |(name, written, computed): (&str, u64, u64)| {
        (written != computed)
            .then(|| format!("{name} is {}, and {} follows", with_commas(written), with_commas(computed)))
    };
    let difference = figures(operation, &histogram).into_iter().find_map(differs);
    let difference = difference.or_else(|| check_mean(operation, histogram.len()));
    difference.or_else(|| check_deviation(operation, &histogram))
}

fn figures<'n>(operation: &OperationResult, histogram: &Histogram<u64>) -> Vec<(&'n str, u64, u64)> {
    let quantile = |q| latency::quantile(histogram, q, operation.latency.min_ns, operation.latency.max_ns);
    let extreme = |exact: u64, bucket: u64| match histogram.equivalent(exact.min(histogram.high()), bucket) {
        true => exact,
        false => bucket,
    };
    vec![
        ("count", operation.count, histogram.len()),
        ("min_ns", operation.latency.min_ns, extreme(operation.latency.min_ns, histogram.min())),
        ("max_ns", operation.latency.max_ns, extreme(operation.latency.max_ns, histogram.max())),
        ("p50_ns", operation.latency.p50_ns, quantile(0.5)),
        ("p90_ns", operation.latency.p90_ns, quantile(0.9)),
        ("p99_ns", operation.latency.p99_ns, quantile(0.99)),
        ("p999_ns", operation.latency.p999_ns, quantile(0.999)),
    ]
}

fn check_mean(operation: &OperationResult, count: u64) -> Option<String> {
    let computed = operation.sum_ns as f64 / count.max(1) as f64;
    let error = (operation.latency.mean_ns - computed).abs();
    (error > ROUNDING * computed)
        .then(|| format!("mean_ns is {}, and {computed} follows", operation.latency.mean_ns))
}

/// The deviation is computed from the latencies themselves; a histogram, with three digits of each, gives nearly the same.
fn check_deviation(operation: &OperationResult, histogram: &Histogram<u64>) -> Option<String> {
    let (written, computed) = (operation.latency.stdev_ns, histogram.stdev());
    let tolerance = NEAR * (operation.latency.mean_ns + computed);
    let is_near = (written - computed).abs() <= tolerance;
    (operation.latency.max_ns <= histogram.high() && !is_near)
        .then(|| format!("stdev_ns is {written}, and about {computed} follows"))
}
