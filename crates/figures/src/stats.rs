//! Summaries of a figure over trials, and comparisons of two stores. Pure.
//!
//! Uncertainty travels with its value ([`Estimate`]). An interval that can't exist is `None`, never made up. Intervals
//! are about trials: the figure of one trial is one observation, however many operations are behind it.

pub mod cliff;
mod resolution;
mod scatter;
pub mod trend;
pub mod unpaired;

use std::collections::{BTreeMap, HashMap};
use std::sync::{LazyLock, PoisonError, RwLock};

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

pub use self::resolution::{Resolution, Scale};
pub use self::scatter::Scatter;

/// The confidence that intervals aim at.
pub const CONFIDENCE: f64 = 0.95;

/// From this many shared blocks on, their own interval decides whether two stores differ; with fewer, [`Few`](crate::judge::standing::Few). From this many
/// trials on, a mean has an interval; two have their range ([`Interval::is_range`]).
pub const MIN_BLOCKS: usize = 3;

/// The confidence of a range of fewer than [`MIN_BLOCKS`] observations: the median is between two with this probability.
const RANGE_CONFIDENCE: f64 = 0.5;

/// Without an interval, figures within this share of the best are too close to call (as in paper 000's scripts).
pub const THRESHOLD: f64 = 0.05;

/// Which direction of a figure is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// Less is better.
    Lower,
    /// More is better.
    Higher,
    /// Neither: the figure only describes.
    Neither,
}

/// A value with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// The point estimate.
    pub value: f64,
    /// The interval, if any.
    pub interval: Option<Interval>,
}

/// A confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The actual confidence under its assumptions: [`CONFIDENCE`]; more if it allows for further
    /// comparisons or looks; a little less if the number of trials allows no more; half for a range.
    pub confidence: f64,
}

impl Interval {
    /// Whether a value is within, ends included.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Whether it is the range of too few observations for a useful interval.
    pub fn is_range(&self) -> bool {
        self.confidence <= RANGE_CONFIDENCE
    }

    /// The smallest and the greatest of few values; `None` without values.
    fn range(values: impl Iterator<Item = f64> + Clone) -> Option<Interval> {
        let low = values.clone().reduce(f64::min)?;
        Some(Interval { low, high: values.reduce(f64::max)?, confidence: RANGE_CONFIDENCE })
    }
}

/// Which mean a [`Summary`] holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MeanKind {
    /// The geometric mean: every observation is positive, and ratios matter.
    Geometric,
    /// The arithmetic mean: an observation is zero or negative, so ratios are undefined.
    Arithmetic,
}

/// A figure over trials.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Summary {
    /// The number of observations.
    pub trials: usize,
    /// Which mean [`Summary::mean`] is.
    pub mean_kind: MeanKind,
    /// The mean, with Student's t-interval (for the geometric mean: of the logarithms); for two trials with their range.
    pub mean: Estimate,
    /// The median, with the interval by interpolated order statistics; from five trials on.
    pub median: Estimate,
}

impl Summary {
    /// Summarises observations; `None` if there are none, or one isn't finite.
    pub fn from_values(values: &[f64]) -> Option<Summary> {
        Summary::at_confidence(values, CONFIDENCE)
    }

    /// Summarises a figure by block.
    pub fn from_series<K>(series: &Series<K>) -> Option<Summary> {
        Summary::from_values(&series.values().copied().collect::<Vec<_>>())
    }

    /// The summary with the mean's interval at another confidence.
    pub fn at_confidence(values: &[f64], confidence: f64) -> Option<Summary> {
        if values.is_empty() || values.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let (mean_kind, mean) = mean_at(values, confidence)?;
        Some(Summary { trials: values.len(), mean_kind, mean, median: median(values)? })
    }
}

/// Only the mean of [`Summary::from_values`], for callers that need a million of them.
pub fn mean(values: &[f64]) -> Option<(MeanKind, Estimate)> {
    if values.iter().any(|value| !value.is_finite()) { None } else { mean_at(values, CONFIDENCE) }
}

fn mean_at(values: &[f64], confidence: f64) -> Option<(MeanKind, Estimate)> {
    match geometric_mean_at(values, confidence) {
        Some(mean) => Some((MeanKind::Geometric, mean)),
        None => Some((MeanKind::Arithmetic, arithmetic_mean_at(values, confidence)?)),
    }
}

/// Cached quantiles by degrees of freedom; reports ask for the same few again and again.
static QUANTILES: LazyLock<Vec<f64>> =
    LazyLock::new(|| (1..=64).map(|degrees| t_quantile_exact(f64::from(degrees), CONFIDENCE)).collect());

/// The same at other confidences and for fractional degrees, by the bits of both, as needed.
static OTHER_QUANTILES: LazyLock<RwLock<HashMap<(u64, u64), f64>>> = LazyLock::new(RwLock::default);

/// The quantile of Student's t distribution that is the half-width factor of a two-sided interval: 97.5 % for 95 %.
pub fn t_quantile(degrees: usize, confidence: f64) -> f64 {
    let cached = QUANTILES.get(degrees.wrapping_sub(1)).filter(|_| confidence == CONFIDENCE);
    cached.copied().unwrap_or_else(|| fractional_t_quantile(degrees as f64, confidence))
}

/// The same for fractional degrees of freedom.
fn fractional_t_quantile(degrees: f64, confidence: f64) -> f64 {
    let key = (degrees.to_bits(), confidence.to_bits());
    // A lock poisoned by a panic is never left half written.
    let cached = OTHER_QUANTILES.read().unwrap_or_else(PoisonError::into_inner).get(&key).copied();
    cached.unwrap_or_else(|| {
        let quantile = t_quantile_exact(degrees, confidence);
        OTHER_QUANTILES.write().unwrap_or_else(PoisonError::into_inner).insert(key, quantile);
        quantile
    })
}

fn t_quantile_exact(degrees: f64, confidence: f64) -> f64 {
    match StudentsT::new(0.0, 1.0, degrees) {
        Ok(distribution) => distribution.inverse_cdf(0.5 + confidence / 2.0),
        Err(_) => f64::INFINITY,
    }
}

/// The arithmetic mean with Student's t-interval, which is exact for normal observations; for two observations with their
/// range. `None` without observations.
fn arithmetic_mean_at(values: &[f64], confidence: f64) -> Option<Estimate> {
    let n = values.len();
    if n == 0 {
        return None;
    }
    if let Some(exact) = mean_of_equal(values, confidence) {
        return Some(exact);
    }
    let mean = values.iter().sum::<f64>() / n as f64;
    let interval = match n {
        1 => None,
        few if few < MIN_BLOCKS => Interval::range(values.iter().copied()),
        _ => {
            let half = t_quantile(n - 1, confidence) * standard_error(values, mean);
            Some(Interval { low: mean - half, high: mean + half, confidence })
        }
    };
    Some(Estimate { value: mean, interval })
}

/// The chance of a mean this far above zero if the true one is zero, by its standard error and that error's degrees of freedom.
pub fn one_sided_p(mean: f64, error: f64, degrees: f64) -> f64 {
    if error == 0.0 {
        return if mean > 0.0 { 0.0 } else { 1.0 };
    }
    StudentsT::new(0.0, 1.0, degrees).map_or(1.0, |t| t.sf(mean / error))
}

/// The standard error of the mean of at least two observations.
pub fn standard_error(values: &[f64], mean: f64) -> f64 {
    let n = values.len() as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (n - 1.0) / n).sqrt()
}

/// The geometric mean with Student's t-interval on the logarithms, which is exact for log-normal observations; for two
/// observations with their range. `None` without observations, or if one isn't positive.
pub fn geometric_mean(values: &[f64]) -> Option<Estimate> {
    geometric_mean_at(values, CONFIDENCE)
}

fn geometric_mean_at(values: &[f64], confidence: f64) -> Option<Estimate> {
    if values.iter().any(|value| *value <= 0.0) {
        return None;
    }
    if let Some(exact) = mean_of_equal(values, confidence) {
        return Some(exact);
    }
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let mean = arithmetic_mean_at(&logs, confidence).map(exp);
    // The range of few values uses the values themselves, as their logarithms would add a rounding error.
    let range = Interval::range(values.iter().copied());
    mean.map(|mean| match mean.interval {
        Some(interval) if interval.is_range() => Estimate { interval: range, ..mean },
        _ => mean,
    })
}

/// Any mean of equal observations is their value, without the rounding error of sums and logarithms.
fn mean_of_equal(values: &[f64], confidence: f64) -> Option<Estimate> {
    let value = *values.first().filter(|first| values.iter().all(|value| value == *first))?;
    let confidence = if values.len() < MIN_BLOCKS { RANGE_CONFIDENCE } else { confidence };
    let interval = Interval { low: value, high: value, confidence };
    Some(Estimate { value, interval: (values.len() >= 2).then_some(interval) })
}

fn exp(logs: Estimate) -> Estimate {
    let interval = logs.interval.map(|i| Interval { low: i.low.exp(), high: i.high.exp(), ..i });
    Estimate { value: logs.value.exp(), interval }
}

/// The value below which a share of the values lies; `None` without values.
pub fn quantile(values: &[u64], share: f64) -> Option<u64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let last = sorted.len().checked_sub(1)?;
    sorted.get((last as f64 * share).round() as usize).copied()
}

/// The median with the interval by interpolated order statistics (Hettmansperger and Sheather, 1986), which assumes
/// nothing about the distribution except continuity. With five observations it is their whole range, whose confidence
/// is 93.75 %; with fewer there is none. `None` without observations.
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
    // Terms of the binomial distribution (n, 1/2), each from the one before; as logarithms, so that none underflows.
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
    let interpolate = |start: f64, end: f64| start + weight * (end - start);
    Interval {
        low: interpolate(sorted[k - 1], sorted[k]),
        high: interpolate(sorted[n - k], sorted[n - k - 1]),
        confidence: CONFIDENCE,
    }
}

/// One store's figure, by block. The key identifies block and run.
pub type Series<K> = BTreeMap<K, f64>;

/// The ratio of two stores' figures.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Ratio {
    /// Blocks in which both have a figure.
    pub blocks: usize,
    /// The geometric mean of `a / b` over those blocks, with Student's t-interval on the logarithms; for two with the range.
    pub ratio: Estimate,
}

impl Ratio {
    /// A ratio with these ends and number of blocks.
    pub fn with_ends(value: f64, low: f64, high: f64, blocks: usize) -> Ratio {
        let interval = Some(Interval { low, high, confidence: CONFIDENCE });
        Ratio { blocks, ratio: Estimate { value, interval } }
    }
}

/// Compares `a` with `b`, paired by block, so that effects of a block on both cancel out. `None` if they share no block, or
/// a figure in a shared block isn't positive and has no ratio.
pub fn compare<K: Ord>(a: &Series<K>, b: &Series<K>) -> Option<Ratio> {
    compare_at(a, b, CONFIDENCE)
}

/// The comparison with an interval at another confidence.
pub fn compare_at<K: Ord>(a: &Series<K>, b: &Series<K>, confidence: f64) -> Option<Ratio> {
    ratio_at(&ratios(a, b)?, confidence)
}

/// The ratios `a / b` of the shared blocks; `None` if one is undefined.
pub fn ratios<K: Ord>(a: &Series<K>, b: &Series<K>) -> Option<Vec<f64>> {
    let pairs = a.iter().filter_map(|(block, a)| b.get(block).map(|b| (*a, *b)));
    pairs.map(|(a, b)| (a > 0.0 && b > 0.0).then_some(a / b)).collect()
}

pub fn ratio_at(ratios: &[f64], confidence: f64) -> Option<Ratio> {
    geometric_mean_at(ratios, confidence).map(|ratio| Ratio { blocks: ratios.len(), ratio })
}

#[cfg(test)]
mod tests {
    use storebench_samples::normal;

    use super::*;

    fn arithmetic_mean(values: &[f64]) -> Option<Estimate> {
        arithmetic_mean_at(values, CONFIDENCE)
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
                        // The common noise is far larger than the difference.
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
            let computed = t_quantile(degrees, CONFIDENCE);
            assert!((computed - quantile).abs() < 1e-6, "{degrees}: {computed}");
        }
    }

    #[test]
    fn intervals_that_cannot_exist_are_absent() {
        assert_eq!(Summary::from_values(&[]), None);
        assert_eq!(Summary::from_values(&[1.0, f64::NAN]), None);
        let single = Summary::from_values(&[4.0]).unwrap();
        assert_eq!((single.mean.value, single.mean.interval, single.median.interval), (4.0, None, None));
        let four = Summary::from_values(&[1.0, 2.0, 4.0, 8.0]).unwrap();
        assert!(four.mean.interval.is_some() && four.median.interval.is_none());
        assert_eq!(four.median.value, 3.0);
        let five = median(&[5.0, 1.0, 3.0, 2.0, 4.0]).unwrap().interval.unwrap();
        assert_eq!((five.low, five.high, five.confidence), (1.0, 5.0, 0.9375));
    }

    #[test]
    fn two_observations_have_a_range_and_no_interval() {
        // Student's t would give a mean between 7e-50 and 4e54.
        for mean in [geometric_mean(&[1.0, 25_000.0]).unwrap(), arithmetic_mean(&[25_000.0, 1.0]).unwrap()] {
            let range = mean.interval.unwrap();
            assert_eq!((range.low, range.high, range.confidence), (1.0, 25_000.0, 0.5));
            assert!(range.is_range());
        }
        assert!(geometric_mean(&[3.0, 3.0]).unwrap().interval.unwrap().is_range());
        assert!(!geometric_mean(&[3.0, 3.0, 4.0]).unwrap().interval.unwrap().is_range());
        let pair = |ns: f64| Series::from([(0, 1.0), (1, ns)]);
        let range = compare(&pair(8.0), &pair(2.0)).unwrap().ratio.interval.unwrap();
        assert_eq!((range.low, range.high, range.is_range()), (1.0, 4.0, true));
    }

    #[test]
    fn order_statistics_interpolate_between_the_neighbours() {
        // n = 10: [2nd, 9th] has 97.85 %, [3rd, 8th] 89.06 %; by hand: share 0.3244, weight 8 * 0.3244 / (2 + 6 * 0.3244).
        let sorted: Vec<f64> = (1..=10).map(f64::from).collect();
        let interval = order_statistics(&sorted);
        assert!((order_confidences(10)[1] - 0.978_515_6).abs() < 1e-6);
        assert!((interval.low - 2.6577).abs() < 1e-3 && (interval.low + interval.high - 11.0).abs() < 1e-9);
        // Of thousands: the normal approximation, 5000.5 and 98 on either side.
        let interval = order_statistics(&(1..=10_000).map(f64::from).collect::<Vec<_>>());
        assert!((interval.low - 4902.5).abs() < 1.0 && (interval.high - 5098.5).abs() < 1.0, "{interval:?}");
    }

    #[test]
    fn zeros_make_the_mean_arithmetic() {
        let summary = Summary::from_values(&[0.0, 2.0, 4.0]).unwrap();
        assert_eq!((summary.mean_kind, summary.mean.value), (MeanKind::Arithmetic, 2.0));
        let summary = Summary::from_values(&[1.0, 100.0]).unwrap();
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
}
