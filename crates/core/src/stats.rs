//! Summaries of a figure over trials, comparisons of two stores, and the choice of a cell's winners. Pure.
//!
//! Uncertainty travels with its value ([`Estimate`]). An interval that can't exist is absent, never made up. Intervals
//! speak of trials: the figure of one trial is one observation, however many operations are behind it.

pub mod unpaired;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// The confidence that intervals aim at.
pub const CONFIDENCE: f64 = 0.95;

/// From this many shared blocks on, an interval decides whether two stores differ; with fewer, [`THRESHOLD`].
pub const MIN_BLOCKS: usize = 3;

/// Where no interval exists, figures within this share of the best are too close to call (as in paper 000's scripts).
pub const THRESHOLD: f64 = 0.05;

/// Which direction of a figure is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// Less is better.
    Lower,
    /// More is better.
    Higher,
    /// Neither: the figure describes, and nothing wins by it.
    Neither,
}

/// A value with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// The point estimate.
    pub value: f64,
    /// The interval, where one exists.
    pub interval: Option<Interval>,
}

/// A confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// The confidence that it really has under its assumptions: [`CONFIDENCE`], or a little less where the number of
    /// trials allows no more.
    pub confidence: f64,
}

impl Interval {
    /// Whether a value lies within, ends included.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// Which mean a [`Summary`] holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MeanKind {
    /// The geometric mean: every observation is positive, and differences are thought of as ratios.
    Geometric,
    /// The arithmetic mean: an observation is zero or negative, so that ratios make no sense.
    Arithmetic,
}

/// A figure over trials.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Summary {
    /// Number of observations.
    pub trials: usize,
    /// Which mean [`Summary::mean`] is.
    pub mean_kind: MeanKind,
    /// The mean, with Student's t-interval (for the geometric mean: of the logarithms); from two trials on.
    pub mean: Estimate,
    /// The median, with the interval by interpolated order statistics; from five trials on.
    pub median: Estimate,
}

impl Summary {
    /// Summarises observations; `None` if there are none, or one isn't finite.
    pub fn of(values: &[f64]) -> Option<Summary> {
        Summary::at(values, CONFIDENCE)
    }

    /// The same, with the mean's interval at another confidence.
    pub fn at(values: &[f64], confidence: f64) -> Option<Summary> {
        if values.is_empty() || values.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let (mean_kind, mean) = mean_at(values, confidence)?;
        Some(Summary { trials: values.len(), mean_kind, mean, median: median(values)? })
    }
}

/// The mean alone of what [`Summary::of`] tells, for those who need it a million times.
pub fn mean(values: &[f64]) -> Option<(MeanKind, Estimate)> {
    if values.iter().any(|value| !value.is_finite()) { None } else { mean_at(values, CONFIDENCE) }
}

fn mean_at(values: &[f64], confidence: f64) -> Option<(MeanKind, Estimate)> {
    match geometric_mean_at(values, confidence) {
        Some(mean) => Some((MeanKind::Geometric, mean)),
        None => Some((MeanKind::Arithmetic, arithmetic_mean_at(values, confidence)?)),
    }
}

/// Degrees of freedom whose quantile is kept; reports ask for the same few again and again.
static QUANTILES: LazyLock<Vec<f64>> =
    LazyLock::new(|| (1..=64).map(|degrees| t_quantile_exact(degrees, CONFIDENCE)).collect());

/// The quantile of Student's t distribution that is the half-width factor of a two-sided interval: of 97.5 % for 95 %.
fn t_quantile(degrees: usize, confidence: f64) -> f64 {
    match QUANTILES.get(degrees.wrapping_sub(1)).filter(|_| confidence == CONFIDENCE) {
        Some(quantile) => *quantile,
        None => t_quantile_exact(degrees, confidence),
    }
}

fn t_quantile_exact(degrees: usize, confidence: f64) -> f64 {
    match StudentsT::new(0.0, 1.0, degrees as f64) {
        Ok(distribution) => distribution.inverse_cdf(0.5 + confidence / 2.0),
        Err(_) => f64::INFINITY,
    }
}

/// The arithmetic mean with Student's t-interval (from two observations on), which is exact for normal observations.
/// `None` without observations.
pub fn arithmetic_mean(values: &[f64]) -> Option<Estimate> {
    arithmetic_mean_at(values, CONFIDENCE)
}

fn arithmetic_mean_at(values: &[f64], confidence: f64) -> Option<Estimate> {
    let n = values.len();
    if n == 0 {
        return None;
    }
    if let Some(exact) = all_alike(values, confidence) {
        return Some(exact);
    }
    let mean = values.iter().sum::<f64>() / n as f64;
    let interval = (n >= 2).then(|| {
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let half = t_quantile(n - 1, confidence) * (squares / (n - 1) as f64 / n as f64).sqrt();
        Interval { low: mean - half, high: mean + half, confidence }
    });
    Some(Estimate { value: mean, interval })
}

/// The geometric mean with Student's t-interval on the logarithms, which is exact for log-normal observations.
/// `None` without observations, or if one isn't positive.
pub fn geometric_mean(values: &[f64]) -> Option<Estimate> {
    geometric_mean_at(values, CONFIDENCE)
}

fn geometric_mean_at(values: &[f64], confidence: f64) -> Option<Estimate> {
    if values.iter().any(|value| *value <= 0.0) {
        return None;
    }
    if let Some(exact) = all_alike(values, confidence) {
        return Some(exact);
    }
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    arithmetic_mean_at(&logs, confidence).map(exp)
}

/// Any mean of equal observations is their value, which sums and logarithms would miss by a rounding error.
fn all_alike(values: &[f64], confidence: f64) -> Option<Estimate> {
    let value = *values.first().filter(|first| values.iter().all(|value| value == *first))?;
    let interval = Interval { low: value, high: value, confidence };
    Some(Estimate { value, interval: (values.len() >= 2).then_some(interval) })
}

fn exp(logs: Estimate) -> Estimate {
    let interval = logs.interval.map(|i| Interval { low: i.low.exp(), high: i.high.exp(), ..i });
    Estimate { value: logs.value.exp(), interval }
}

/// The median with the interval by interpolated order statistics (Hettmansperger and Sheather, 1986), which assumes
/// nothing about the distribution but a continuous one. With five observations it is their whole range, whose confidence
/// is 93.75 %; with fewer there is none worth the name. `None` without observations.
pub fn median(values: &[f64]) -> Option<Estimate> {
    let n = values.len();
    if n == 0 {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let value = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0;
    Some(Estimate { value, interval: (n >= 5).then(|| order_statistics(&sorted)) })
}

/// Confidences of the intervals from the k-th smallest to the k-th largest of n, for k = 1, 2, ... up to the middle.
fn order_confidences(n: usize) -> Vec<f64> {
    // Terms of the binomial distribution (n, 1/2), each from the one before; as logarithms, so that none is lost as too small.
    let mut ln_term = n as f64 * 0.5f64.ln();
    let mut below = 0.0;
    let mut confidences = Vec::new();
    for k in 1..=n / 2 {
        below += ln_term.exp();
        confidences.push(1.0 - 2.0 * below);
        ln_term += ((n - k + 1) as f64 / k as f64).ln();
    }
    confidences
}

/// The median's interval from at least five sorted observations.
fn order_statistics(sorted: &[f64]) -> Interval {
    let n = sorted.len();
    let confidences = order_confidences(n);
    let wide_enough = confidences.iter().take_while(|confidence| **confidence >= CONFIDENCE).count();
    if wide_enough == 0 {
        return Interval { low: sorted[0], high: sorted[n - 1], confidence: confidences[0] };
    }
    let k = wide_enough;
    let (outer, inner) = (confidences[k - 1], confidences.get(k).copied().unwrap_or(0.0));
    let share = (outer - CONFIDENCE) / (outer - inner);
    let rest = (n - k) as f64 * share;
    let weight = rest / (k as f64 + (n as f64 - 2.0 * k as f64) * share);
    let between = |from: f64, to: f64| from + weight * (to - from);
    Interval {
        low: between(sorted[k - 1], sorted[k]),
        high: between(sorted[n - k], sorted[n - k - 1]),
        confidence: CONFIDENCE,
    }
}

/// One store's figure, by block. The key says which block, and of which run.
pub type Series<K> = BTreeMap<K, f64>;

/// The ratio of two stores' figures.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Ratio {
    /// Blocks in which both have a figure.
    pub blocks: usize,
    /// The geometric mean of `a / b` over those blocks, with Student's t-interval on the logarithms (from two blocks on).
    pub ratio: Estimate,
}

/// Compares `a` with `b`, paired by block, so that what a block did to both cancels out. `None` if they share no block, or
/// a figure in a shared block isn't positive and has no ratio.
pub fn compare<K: Ord>(a: &Series<K>, b: &Series<K>) -> Option<Ratio> {
    compare_at(a, b, CONFIDENCE)
}

/// The same, with an interval at another confidence.
pub fn compare_at<K: Ord>(a: &Series<K>, b: &Series<K>, confidence: f64) -> Option<Ratio> {
    let pairs = a.iter().filter_map(|(block, a)| b.get(block).map(|b| (*a, *b)));
    let ratios: Option<Vec<f64>> = pairs.map(|(a, b)| (a > 0.0 && b > 0.0).then_some(a / b)).collect();
    let ratios = ratios?;
    geometric_mean_at(&ratios, confidence).map(|ratio| Ratio { blocks: ratios.len(), ratio })
}

/// By what rule it was said whether a store is too close to call with the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Rule {
    /// There are at least [`MIN_BLOCKS`] shared blocks: whether the interval of the ratio to the best includes 1.
    Interval,
    /// There are fewer, or no ratio: whether the ratio, or where there is none the figure, is within [`THRESHOLD`] of the
    /// best's.
    Threshold,
}

/// How one store stands to the best.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Standing {
    /// The store's position in the list given to [`decide`].
    pub index: usize,
    /// Its figure over trials.
    pub figure: Summary,
    /// How many times worse than the best it is: over 1 is worse, whichever direction is better. Absent for the best
    /// itself and where there is no ratio.
    pub times_worse: Option<Ratio>,
    /// Whether it is the best, or too close to call with it.
    pub wins: bool,
    /// What decided that; absent for the best itself.
    pub rule: Option<Rule>,
}

/// Ranks stores by a figure and says which are too close to call with the best. The best comes first, then the others by
/// their figure ([`Summary::mean`]); stores without a figure are left out. Empty for [`Better::Neither`].
pub fn decide<K: Ord>(stores: &[Series<K>], better: Better) -> Vec<Standing> {
    decide_at(stores, better, CONFIDENCE)
}

/// The same, by intervals at another confidence.
pub fn decide_at<K: Ord>(stores: &[Series<K>], better: Better, confidence: f64) -> Vec<Standing> {
    if better == Better::Neither {
        return Vec::new();
    }
    let mut standings: Vec<Standing> =
        stores.iter().enumerate().filter_map(|(i, s)| unranked(i, s)).collect();
    standings.sort_by(|a, b| {
        let order = a.figure.mean.value.total_cmp(&b.figure.mean.value);
        if better == Better::Lower { order } else { order.reverse() }
    });
    let Some((best, others)) = standings.split_first_mut() else { return standings };
    best.wins = true;
    for other in others {
        let (worse, good) = match better {
            Better::Higher => (&stores[best.index], &stores[other.index]),
            Better::Lower | Better::Neither => (&stores[other.index], &stores[best.index]),
        };
        other.times_worse = compare_at(worse, good, confidence);
        let interval = other.times_worse.filter(|r| r.blocks >= MIN_BLOCKS).and_then(|r| r.ratio.interval);
        (other.wins, other.rule) = match interval {
            Some(interval) => (interval.low <= 1.0, Some(Rule::Interval)),
            None => {
                // Where a trial is missing, means are of other blocks than those that both ran in.
                let wins = match other.times_worse {
                    Some(times) => times.ratio.value <= 1.0 + THRESHOLD,
                    None => within_threshold(best.figure.mean.value, other.figure.mean.value, better),
                };
                (wins, Some(Rule::Threshold))
            }
        };
    }
    standings
}

fn unranked<K>(index: usize, series: &Series<K>) -> Option<Standing> {
    let values: Vec<f64> = series.values().copied().collect();
    let figure = Summary::of(&values)?;
    Some(Standing { index, figure, times_worse: None, wins: false, rule: None })
}

fn within_threshold(best: f64, other: f64, better: Better) -> bool {
    match better {
        Better::Higher => best <= other * (1.0 + THRESHOLD),
        Better::Lower | Better::Neither => other <= best * (1.0 + THRESHOLD),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A draw from the standard normal distribution (G. Box and M. Muller, 1958).
    pub fn normal(random: &mut fastrand::Rng) -> f64 {
        let radius = (-2.0 * (1.0 - random.f64()).ln()).sqrt();
        radius * (std::f64::consts::TAU * random.f64()).cos()
    }

    /// The share of simulated samples of size `n` whose interval contains the truth.
    fn coverage(
        n: usize,
        truth: f64,
        draw: fn(&mut fastrand::Rng) -> f64,
        estimate: fn(&[f64]) -> Option<Estimate>,
    ) -> f64 {
        let mut random = fastrand::Rng::with_seed(n as u64);
        let rounds = 20_000;
        let hits = (0..rounds)
            .filter(|_| {
                let sample: Vec<f64> = (0..n).map(|_| draw(&mut random)).collect();
                estimate(&sample).unwrap().interval.unwrap().contains(truth)
            })
            .count();
        hits as f64 / f64::from(rounds)
    }

    #[test]
    fn intervals_cover_what_they_say() {
        let ordinary: fn(&mut fastrand::Rng) -> f64 = |random| 100.0 + 7.0 * normal(random);
        let skewed: fn(&mut fastrand::Rng) -> f64 = |random| (3.0 + 0.8 * normal(random)).exp();
        let e3 = 3f64.exp();
        for n in [5, 10, 20] {
            let shares = [
                ("arithmetic mean, normal", coverage(n, 100.0, ordinary, arithmetic_mean)),
                ("median, normal", coverage(n, 100.0, ordinary, median)),
                ("geometric mean, log-normal", coverage(n, e3, skewed, geometric_mean)),
                ("median, log-normal", coverage(n, e3, skewed, median)),
            ];
            for (name, share) in shares {
                assert!((0.93..=0.97).contains(&share), "{name}, {n} trials: {share}");
            }
        }
    }

    #[test]
    fn a_ratio_covers_its_truth_whatever_blocks_do() {
        let mut random = fastrand::Rng::with_seed(9);
        for n in [3, 5, 10, 20] {
            let rounds = 10_000;
            let hits = (0..rounds)
                .filter(|_| {
                    let (mut a, mut b) = (Series::new(), Series::new());
                    for block in 0..n {
                        // What both suffer is far larger than what differs.
                        let weather = 2.0 * normal(&mut random);
                        a.insert(block, (weather + 0.1 * normal(&mut random)).exp() * 1.5);
                        b.insert(block, (weather + 0.1 * normal(&mut random)).exp());
                    }
                    compare(&a, &b).unwrap().ratio.interval.unwrap().contains(1.5)
                })
                .count();
            let share = hits as f64 / f64::from(rounds);
            assert!((0.93..=0.97).contains(&share), "{n} blocks: {share}");
        }
    }

    #[test]
    fn quantiles_are_the_tables() {
        for (degrees, quantile) in [
            (1, 12.7062047),
            (2, 4.3026527),
            (4, 2.7764451),
            (9, 2.2621572),
            (19, 2.0930241),
            (99, 1.9842169),
        ] {
            let found = t_quantile(degrees, CONFIDENCE);
            assert!((found - quantile).abs() < 1e-6, "{degrees}: {found}");
        }
    }

    #[test]
    fn a_higher_confidence_takes_a_wider_interval() {
        // The 99.5 % quantile with two degrees of freedom is 9.9248, from tables.
        assert!((t_quantile(2, 0.99) - 9.924_843).abs() < 1e-5);
        let stores = [series(&[1.0, 1.0, 1.0]), series(&[1.1, 1.2, 1.15])];
        assert_eq!(winners(&decide(&stores, Better::Lower)), [0]);
        let standings = decide_at(&stores, Better::Lower, 0.999);
        assert_eq!(winners(&standings), [0, 1]);
        assert_eq!(standings[1].times_worse.unwrap().ratio.interval.unwrap().confidence, 0.999);
        let summary = Summary::at(&[1.0, 2.0, 3.0], 0.999).unwrap().mean.interval.unwrap();
        assert_eq!(summary.confidence, 0.999);
        assert!(summary.high > Summary::of(&[1.0, 2.0, 3.0]).unwrap().mean.interval.unwrap().high);
    }

    #[test]
    fn intervals_that_cannot_exist_are_absent() {
        assert_eq!(Summary::of(&[]), None);
        assert_eq!(Summary::of(&[1.0, f64::NAN]), None);
        let one = Summary::of(&[4.0]).unwrap();
        assert_eq!((one.mean.value, one.mean.interval, one.median.interval), (4.0, None, None));
        let four = Summary::of(&[1.0, 2.0, 4.0, 8.0]).unwrap();
        assert!(four.mean.interval.is_some() && four.median.interval.is_none());
        assert_eq!(four.median.value, 3.0);
        let five = median(&[5.0, 1.0, 3.0, 2.0, 4.0]).unwrap().interval.unwrap();
        assert_eq!((five.low, five.high, five.confidence), (1.0, 5.0, 0.9375));
    }

    #[test]
    fn order_statistics_interpolate_between_the_neighbours() {
        // n = 10: [2nd, 9th] has 97.85 %, [3rd, 8th] 89.06 %; by hand: share 0.3244, weight 8 * 0.3244 / (2 + 6 * 0.3244).
        let sorted: Vec<f64> = (1..=10).map(f64::from).collect();
        let interval = order_statistics(&sorted);
        assert!((order_confidences(10)[1] - 0.978_515_6).abs() < 1e-6);
        assert!((interval.low - 2.6577).abs() < 1e-3 && (interval.low + interval.high - 11.0).abs() < 1e-9);
    }

    #[test]
    fn the_median_of_thousands_has_an_interval_too() {
        let sorted: Vec<f64> = (1..=10_000).map(f64::from).collect();
        let interval = order_statistics(&sorted);
        // The normal approximation: 5000.5 and 98 on either side.
        assert!((interval.low - 4902.5).abs() < 1.0 && (interval.high - 5098.5).abs() < 1.0, "{interval:?}");
    }

    #[test]
    fn a_store_that_is_better_where_both_ran_is_not_called_worse() {
        // The second lacks the block in which both would have been quick.
        let first = Series::from([(0, 10.0), (1, 50.0), (2, 50.0)]);
        let second = Series::from([(1, 45.0), (2, 45.0)]);
        let standings = decide(&[first, second], Better::Lower);
        assert_eq!((standings[0].index, standings[1].rule), (0, Some(Rule::Threshold)));
        assert!(standings[1].times_worse.unwrap().ratio.value < 1.0 && standings[1].wins);
    }

    #[test]
    fn zeros_make_the_mean_arithmetic() {
        let summary = Summary::of(&[0.0, 2.0, 4.0]).unwrap();
        assert_eq!((summary.mean_kind, summary.mean.value), (MeanKind::Arithmetic, 2.0));
        let summary = Summary::of(&[1.0, 100.0]).unwrap();
        assert_eq!(summary.mean_kind, MeanKind::Geometric);
        assert!((summary.mean.value - 10.0).abs() < 1e-9);
    }

    #[test]
    fn equal_observations_have_no_spread() {
        for mean in [arithmetic_mean(&[0.3; 7]).unwrap(), geometric_mean(&[0.3; 7]).unwrap()] {
            let interval = mean.interval.unwrap();
            assert_eq!((mean.value, interval.low, interval.high), (0.3, 0.3, 0.3));
        }
    }

    fn series(values: &[f64]) -> Series<usize> {
        values.iter().copied().enumerate().collect()
    }

    fn winners(standings: &[Standing]) -> Vec<usize> {
        standings.iter().filter(|standing| standing.wins).map(|standing| standing.index).collect()
    }

    #[test]
    fn only_shared_blocks_are_compared() {
        let a: Series<u32> = [(0, 2.0), (1, 4.0), (7, 1000.0)].into();
        let b: Series<u32> = [(0, 1.0), (1, 2.0), (2, 9.0)].into();
        let ratio = compare(&a, &b).unwrap();
        assert_eq!(ratio.blocks, 2);
        assert!((ratio.ratio.value - 2.0).abs() < 1e-12);
        assert!(compare(&a, &[(5, 1.0)].into()).is_none());
        assert!(compare(&a, &[(0, 0.0)].into()).is_none());
    }

    #[test]
    fn three_blocks_decide_by_interval_where_pairs_agree() {
        // The second is always 3 % slower, though blocks differ a hundredfold; the third varies too much to tell.
        let stores = [series(&[1.0, 10.0, 100.0]), series(&[1.03, 10.31, 102.9]), series(&[0.5, 30.0, 80.0])];
        let standings = decide(&stores, Better::Lower);
        assert_eq!(winners(&standings), [0, 2]);
        assert!(standings[1..].iter().all(|standing| standing.rule == Some(Rule::Interval)));
    }

    #[test]
    fn fewer_blocks_decide_by_threshold() {
        let stores = [series(&[1.06]), series(&[1.0]), series(&[1.05]), series(&[])];
        let standings = decide(&stores, Better::Lower);
        assert_eq!(winners(&standings), [1, 2]);
        assert_eq!(standings.len(), 3);
        assert!(standings[1..].iter().all(|standing| standing.rule == Some(Rule::Threshold)));
        assert_eq!(standings[0].rule, None);
        let higher = decide(&stores, Better::Higher);
        assert_eq!(winners(&higher), [0, 2]);
        assert!(higher[2].times_worse.unwrap().ratio.value > 1.0);
    }

    #[test]
    fn nothing_wins_by_a_figure_without_a_direction() {
        assert!(decide(&[series(&[1.0])], Better::Neither).is_empty());
        assert!(decide::<u32>(&[], Better::Lower).is_empty());
    }

    #[test]
    fn a_figure_of_zero_is_decided_by_threshold() {
        let standings = decide(&[series(&[0.0; 4]), series(&[1.0; 4])], Better::Lower);
        assert_eq!(winners(&standings), [0]);
        assert_eq!(standings[1].rule, Some(Rule::Threshold));
    }
}
