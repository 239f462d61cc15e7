//! Figures that can be computed from others of the same result: counts, extremes, means and percentiles from the histogram.

use hdrhistogram::Histogram;
use storebench_core::measure::latency;
use storebench_core::result::{OperationResult, Run};
use storebench_core::units::grouped;

/// The difference that rounding can make between a mean as it is written and as it is computed, as a share.
const ROUNDING: f64 = 1e-9;

/// The number of operations that were looked at, and a sentence for each that has a figure which does not follow.
pub fn wrong(run: &Run) -> (usize, Vec<String>) {
    let (mut checked, mut wrong) = (0, Vec::new());
    for trial in &run.trials {
        for one in trial.ok().into_iter().flat_map(|measured| &measured.operations) {
            if one.latency.histogram.is_empty() {
                continue;
            }
            checked += 1;
            let of = || format!("{} of {}, block {}", one.operation, trial.cell.id(), trial.block);
            wrong.extend(fault(one).map(|fault| format!("{}: {fault}", of())));
        }
    }
    (checked, wrong)
}

/// The first figure of an operation that does not follow from its histogram and its sum.
fn fault(one: &OperationResult) -> Option<String> {
    let histogram = match latency::decode(&one.latency.histogram) {
        Ok(histogram) => histogram,
        Err(why) => return Some(why),
    };
    let differs = |(name, said, follows): (&str, u64, u64)| {
        (said != follows).then(|| format!("{name} is {}, and {} follows", grouped(said), grouped(follows)))
    };
    figures(one, &histogram).into_iter().find_map(differs).or_else(|| mean(one, histogram.len()))
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
