//! Checks figures that follow from others of the same result (counts, extremes, means, deviations and percentiles from the histogram),
//! and impossible combinations.

use hdrhistogram::Histogram;
use storebench_core::measure::latency;
use storebench_core::result::{OperationResult, TrialResult};
use storebench_core::units::with_commas;
use storebench_host::run::Run;

/// The relative difference that rounding can make between a written and a computed mean.
const ROUNDING: f64 = 1e-9;

/// The relative difference between a deviation and a histogram's: buckets are a thousandth wide.
const NEAR: f64 = 0.01;

/// The number of operations checked, and a sentence for each wrong figure.
pub fn find_wrong(run: &Run) -> (usize, Vec<String>) {
    let (mut checked, mut wrong) = (0, Vec::new());
    for trial in &run.trials {
        for one in trial.ok().into_iter().flat_map(|measured| &measured.operations) {
            let of = || format!("{} of {}, block {}", one.operation, trial.cell.id(), trial.block);
            let mut fault = contradiction(one, sessions(trial));
            if !one.latency.histogram.is_empty() {
                checked += 1;
                fault = fault.or_else(|| unlike_histogram(one));
            }
            wrong.extend(fault.map(|fault| format!("{}: {fault}", of())));
        }
    }
    (checked, wrong)
}

/// The sessions over which an operation's time is summed; `None` if unknown, as with several machines.
fn sessions(trial: &TrialResult) -> Option<u64> {
    let is_alone = trial.ok()?.clients.is_empty();
    is_alone.then(|| trial.cell.threads().into())
}

/// The first impossible figure of an operation, whatever its histogram.
fn contradiction(one: &OperationResult, sessions: Option<u64>) -> Option<String> {
    let share = one.harness_share.filter(|share| !(0.0..=1.0).contains(share));
    let share = share.map(|share| format!("harness_share is {share}, and a share is from 0 to 1"));
    // Only in a closed loop, for which alone the harness's share is known: otherwise operations wait for their turn, as a part of their latency.
    let most_ns =
        sessions.filter(|_| one.harness_share.is_some()).map(|sessions| one.wall_ns.saturating_mul(sessions));
    let wall = most_ns.filter(|most| one.sum_ns > *most).map(|_| {
        format!(
            "wall_ns is {}, and its operations took {}",
            with_commas(one.wall_ns),
            with_commas(one.sum_ns)
        )
    });
    let calls = one.counters.as_ref().filter(|counters| !counters.syncs_by_call.is_empty());
    let syncs = calls.and_then(|counters| {
        let (said, sum) = (counters.syncs?, counters.syncs_by_call.values().sum::<u64>());
        (said != sum)
            .then(|| format!("syncs is {}, and its calls add up to {}", with_commas(said), with_commas(sum)))
    });
    share.or(wall).or(syncs)
}

/// The first figure of an operation that contradicts its histogram and sum.
fn unlike_histogram(one: &OperationResult) -> Option<String> {
    let histogram = match latency::decode(&one.latency.histogram) {
        Ok(histogram) => histogram,
        Err(why) => return Some(why),
    };
    let differs = |(name, said, follows): (&str, u64, u64)| {
        (said != follows)
            .then(|| format!("{name} is {}, and {} follows", with_commas(said), with_commas(follows)))
    };
    figures(one, &histogram)
        .into_iter()
        .find_map(differs)
        .or_else(|| mean(one, histogram.len()))
        .or_else(|| deviation(one, &histogram))
}

fn figures<'n>(one: &OperationResult, histogram: &Histogram<u64>) -> Vec<(&'n str, u64, u64)> {
    let quantile = |q| latency::quantile(histogram, q, one.latency.min_ns, one.latency.max_ns);
    let extreme = |exact: u64, there: u64| match histogram.equivalent(exact.min(histogram.high()), there) {
        true => exact,
        false => there,
    };
    vec![
        ("count", one.count, histogram.len()),
        ("min_ns", one.latency.min_ns, extreme(one.latency.min_ns, histogram.min())),
        ("max_ns", one.latency.max_ns, extreme(one.latency.max_ns, histogram.max())),
        ("p50_ns", one.latency.p50_ns, quantile(0.5)),
        ("p90_ns", one.latency.p90_ns, quantile(0.9)),
        ("p99_ns", one.latency.p99_ns, quantile(0.99)),
        ("p999_ns", one.latency.p999_ns, quantile(0.999)),
    ]
}

/// The mean must be the sum over the count.
fn mean(one: &OperationResult, count: u64) -> Option<String> {
    let follows = one.sum_ns as f64 / count.max(1) as f64;
    let off = (one.latency.mean_ns - follows).abs();
    (off > ROUNDING * follows).then(|| format!("mean_ns is {}, and {follows} follows", one.latency.mean_ns))
}

/// The deviation is computed from the latencies themselves; a histogram, with three digits of each, gives nearly the same.
fn deviation(one: &OperationResult, histogram: &Histogram<u64>) -> Option<String> {
    let (said, follows) = (one.latency.stdev_ns, histogram.stdev());
    let near = NEAR * (one.latency.mean_ns + follows);
    let is_near = (said - follows).abs() <= near;
    (one.latency.max_ns <= histogram.high() && !is_near)
        .then(|| format!("stdev_ns is {said}, and about {follows} follows"))
}
