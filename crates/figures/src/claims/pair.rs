//! Compares two figures: their ratio, which is better, and whether the trials can tell.

use super::bounds::{Bounds, BoundsRule};
use super::verdict::Outcome;
use crate::judge::Rule;
use crate::judge::standing::{FewBlocksRule, Standing, Terms, decide_on};
use crate::stats::{self, Better, Estimate, Interval, Resolution, Series, Summary, THRESHOLD};

/// The outcome of a check: settled by intervals, or a leaning of the trials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CheckOutcome {
    pub settled: Outcome,
    pub leaning: Outcome,
}

impl CheckOutcome {
    /// A needed figure is missing.
    pub const MISSING: CheckOutcome = CheckOutcome { settled: Outcome::Missing, leaning: Outcome::Missing };

    /// Judges on terms; if that settles nothing, as few trials lean. If other programs took the processors, nothing is settled.
    pub fn judge(terms: Terms, judge: impl Fn(Terms) -> Outcome) -> CheckOutcome {
        let settled = match judge(terms) {
            Outcome::Agrees | Outcome::Disagrees if terms.crowded => Outcome::Close,
            outcome => outcome,
        };
        let leaning = match settled {
            Outcome::Close => judge(Terms { few: FewBlocksRule::Threshold, crowded: false, ..terms }),
            outcome => outcome,
        };
        CheckOutcome { settled, leaning }
    }
}

/// The ratio of one figure to another, and how it is judged.
pub(super) struct JudgedRatio {
    pub ratio: Estimate,
    pub rule: BoundsRule,
}

/// `a` over `b`, paired by block; without a common block, the ratio of their means. `None` if one is missing or zero.
pub(super) fn find_ratio<K: Ord + Clone>(a: &Series<K>, b: &Series<K>, terms: Terms) -> Option<JudgedRatio> {
    let without_interval =
        if terms.few == FewBlocksRule::Threshold { BoundsRule::Threshold } else { BoundsRule::Nothing };
    let pair = [a.clone(), b.clone()];
    // The clock's resolution decides which is better, not the ratio.
    let standings = decide_on(&pair, Better::Lower, Terms { resolution: Resolution::default(), ..terms });
    if let [best, Standing { times_worse: Some(worse), verdict, .. }] = standings.as_slice() {
        let ratio = if best.index == 1 { worse.ratio } else { inverse(worse.ratio) };
        let rule = match (verdict.rule(), ratio.interval) {
            (Some(Rule::Interval | Rule::Scatter), Some(interval)) => BoundsRule::Interval(interval),
            _ => without_interval,
        };
        return Some(JudgedRatio { ratio, rule });
    }
    let (a, b) = (mean(a)?.value, mean(b)?.value);
    let ratio = Estimate { value: a / b, interval: None };
    (a > 0.0 && b > 0.0).then_some(JudgedRatio { ratio, rule: without_interval })
}

/// Whether a ratio lies within a range; open without a ratio.
pub(super) fn judge_ratio(times: Option<JudgedRatio>, range: &Bounds) -> Outcome {
    times.map_or(Outcome::Missing, |times| range.judge(times.ratio.value, times.rule))
}

fn inverse(ratio: Estimate) -> Estimate {
    let interval = ratio.interval.map(|i| Interval { low: 1.0 / i.high, high: 1.0 / i.low, ..i });
    Estimate { value: 1.0 / ratio.value, interval }
}

/// Whether `a` is better than `b`: not where the interval of their ratio lies within [`THRESHOLD`] and has no better one.
pub(super) fn compare<K: Ord + Clone>(a: &Series<K>, b: &Series<K>, better: Better, terms: Terms) -> Outcome {
    let standings = decide_on(&[a.clone(), b.clone()], better, terms);
    let [best, worse] = standings.as_slice() else { return Outcome::Missing };
    let interval = || worse.times_worse?.ratio.interval;
    let has_interval = matches!(worse.verdict.rule(), Some(Rule::Interval | Rule::Scatter));
    match best.index {
        _ if worse.verdict.wins() => match interval().filter(|_| has_interval) {
            Some(interval) if interval.high <= 1.0 + THRESHOLD => Outcome::Disagrees,
            _ => Outcome::Close,
        },
        0 => Outcome::Agrees,
        _ => Outcome::Disagrees,
    }
}

pub(super) fn mean<K>(series: &Series<K>) -> Option<Estimate> {
    let values: Vec<f64> = series.values().copied().collect();
    stats::mean(&values).map(|(_, mean)| from_zero(&values, mean))
}

/// Student's interval of counts, nearly all of which are 0, begins below 0: no mean of such is there.
fn from_zero(values: &[f64], mean: Estimate) -> Estimate {
    let lowest = if values.iter().all(|value| *value >= 0.0) { 0.0 } else { f64::NEG_INFINITY };
    let interval = mean.interval.map(|interval| Interval { low: interval.low.max(lowest), ..interval });
    Estimate { interval, ..mean }
}

/// A figure's mean, and how it is judged on these terms.
pub(super) fn mean_on<K>(series: &Series<K>, terms: Terms) -> Option<(Estimate, BoundsRule)> {
    let values: Vec<f64> = series.values().copied().collect();
    let mean = from_zero(&values, Summary::at_confidence(&values, terms.confidence)?.mean);
    let rule = match mean.interval.filter(|interval| !interval.is_range()) {
        Some(interval) => BoundsRule::Interval(interval),
        None if terms.few == FewBlocksRule::Threshold => BoundsRule::Threshold,
        None => BoundsRule::Nothing,
    };
    Some((mean, rule))
}

pub(super) fn worst_outcome(outcomes: impl IntoIterator<Item = Outcome>) -> Outcome {
    let order = [Outcome::Disagrees, Outcome::Missing, Outcome::Close, Outcome::Agrees];
    first_present(order, outcomes).unwrap_or(Outcome::Missing)
}

pub(super) fn best_outcome(outcomes: impl IntoIterator<Item = Outcome>) -> Outcome {
    let order = [Outcome::Agrees, Outcome::Missing, Outcome::Close, Outcome::Disagrees];
    first_present(order, outcomes).unwrap_or(Outcome::Disagrees)
}

fn first_present(order: [Outcome; 4], outcomes: impl IntoIterator<Item = Outcome>) -> Option<Outcome> {
    let outcomes = Vec::from_iter(outcomes);
    order.into_iter().find(|outcome| outcomes.contains(outcome))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(values: &[f64]) -> Series<usize> {
        values.iter().copied().enumerate().collect()
    }

    fn settled() -> Terms {
        Terms::default()
    }

    #[test]
    fn one_store_of_several_is_enough_and_one_that_is_close_may_be_it() {
        let [agrees, disagrees] = [Outcome::Agrees, Outcome::Disagrees];
        for (outcomes, expected) in [
            (vec![disagrees, agrees], agrees),
            (vec![disagrees, Outcome::Close], Outcome::Close),
            (vec![Outcome::Close, Outcome::Missing], Outcome::Missing),
            (vec![disagrees, disagrees], disagrees),
            (vec![], disagrees),
        ] {
            assert_eq!(best_outcome(outcomes.clone()), expected, "{outcomes:?}");
        }
    }

    #[test]
    fn a_ratio_is_the_same_whichever_figure_is_the_greater() {
        let (a, b) = (series(&[2.0, 2.02, 1.98]), series(&[1.0, 1.0, 1.0]));
        let (up, down) = (find_ratio(&a, &b, settled()).unwrap(), find_ratio(&b, &a, settled()).unwrap());
        let (value, inverse) = (up.ratio.value, down.ratio.value);
        assert!((value - 2.0).abs() < 0.01 && (value * inverse - 1.0).abs() < 1e-9);
        let (BoundsRule::Interval(up), BoundsRule::Interval(down)) = (up.rule, down.rule) else {
            panic!("three blocks have an interval")
        };
        assert!(up.low < 2.0 && 2.0 < up.high && (up.low * down.high - 1.0).abs() < 1e-9);
        let direct = stats::compare(&a, &b).unwrap().ratio.interval.unwrap();
        assert!((direct.low - up.low).abs() < 1e-9 && (direct.high - up.high).abs() < 1e-9);
    }

    #[test]
    fn one_trial_leans_and_settles_nothing() {
        let (a, b) = (series(&[1.0]), series(&[9.0]));
        let outcome = CheckOutcome::judge(settled(), |terms| compare(&a, &b, Better::Lower, terms));
        assert_eq!(outcome, CheckOutcome { settled: Outcome::Close, leaning: Outcome::Agrees });
        assert_eq!(find_ratio(&a, &b, settled()).unwrap().rule, BoundsRule::Nothing);
        assert_eq!(mean_on(&a, settled()).unwrap().1, BoundsRule::Nothing);
        let (zero, one) = (series(&[0.0]), series(&[1.0]));
        assert_eq!(compare(&zero, &one, Better::Lower, settled()), Outcome::Close);
        let (zero, one) = (series(&[0.0; 3]), series(&[1.0; 3]));
        assert_eq!(compare(&zero, &one, Better::Lower, settled()), Outcome::Agrees);
        let crowded = Terms { crowded: true, ..settled() };
        let outcome = CheckOutcome::judge(crowded, |terms| compare(&zero, &one, Better::Lower, terms));
        assert_eq!(outcome, CheckOutcome { settled: Outcome::Close, leaning: Outcome::Agrees });
    }

    #[test]
    fn what_is_surely_within_the_threshold_is_not_ahead() {
        let (a, b) = (series(&[1.0, 1.01, 0.99, 1.0]), series(&[1.005, 1.0, 1.0, 0.995]));
        assert_eq!(compare(&a, &b, Better::Lower, settled()), Outcome::Disagrees);
        assert_eq!(compare(&b, &a, Better::Lower, settled()), Outcome::Disagrees);
        let (a, b) = (series(&[1.0, 1.1, 0.9, 1.0]), series(&[1.05, 1.0, 1.0, 0.95]));
        assert_eq!(compare(&a, &b, Better::Lower, settled()), Outcome::Close);
    }

    #[test]
    fn a_mean_of_what_is_never_negative_has_no_interval_below_0() {
        let lowest = |values: &[f64]| match mean_on(&series(values), settled()).unwrap().1 {
            BoundsRule::Interval(interval) => interval.low,
            other => panic!("{other:?}"),
        };
        assert_eq!(lowest(&[0.0, 0.0, 0.01, 0.0]), 0.0);
        assert_eq!(mean(&series(&[0.0, 0.0, 0.01, 0.0])).unwrap().interval.unwrap().low, 0.0);
        assert!(lowest(&[0.0, 0.0, -0.01, 0.0]) < -0.01);
    }
}
