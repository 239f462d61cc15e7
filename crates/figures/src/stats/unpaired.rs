//! Compares two independent sets of trials: the ratio of their figures, its certainty, and which of many changes to believe.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::{CONFIDENCE, Estimate, Interval, MIN_BLOCKS, RANGE_CONFIDENCE};

/// The error rate of marks of significance: the chance that anything is marked if nothing has changed.
pub const LEVEL: f64 = 0.05;

/// The observations that each side needs for a significant change.
pub const MIN_OBSERVATIONS: usize = MIN_BLOCKS;

/// If neither side varies, values that chance separates no more often than this have changed: from five observations on each side on.
pub const RARE: f64 = 0.002;

/// The change of a figure from one set of observations to another.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Change {
    /// The second set's geometric mean over the first's, with an interval from [`MIN_OBSERVATIONS`] on each side on. With two
    /// on a side: the least and the greatest ratio of any two.
    pub ratio: Estimate,
    /// The probability of a change at least as large if nothing changed, for this figure alone; `None` with fewer
    /// than [`MIN_OBSERVATIONS`] on either side, and if neither side varies.
    pub p: Option<f64>,
    /// If neither side varies, an upper bound on the probability that different values separate like this by chance.
    pub constant: Option<f64>,
    /// The standard error of the logarithm and its degrees of freedom, if there is a test.
    #[serde(skip)]
    spread: Option<(f64, f64)>,
}

impl Change {
    /// Whether neither side varies, and each has enough observations for a difference to count.
    pub fn is_exact(&self) -> bool {
        self.constant.is_some_and(|chance| chance <= RARE)
    }

    /// The smallest increase of the second set that a test at this level would detect, as a share, given the scatter of these
    /// observations; `None` if there is none.
    pub fn detectable(&self, level: f64) -> Option<f64> {
        let (error, degrees) = self.spread?;
        let distribution = StudentsT::new(0.0, 1.0, degrees).ok()?;
        Some((distribution.inverse_cdf(1.0 - level / 2.0) * error).exp_m1())
    }
}

/// Compares two sets of observations by Welch's t-test on their logarithms (Welch, 1947; degrees of freedom after
/// Satterthwaite, 1946): exact for log-normal observations of equal spread, close if the spreads differ. `None` if a
/// set is empty, or an observation isn't a positive number, so that no ratio exists.
pub fn change(base: &[f64], new: &[f64]) -> Option<Change> {
    let (base, new) = (Logs::from_values(base)?, Logs::from_values(new)?);
    let difference = new.mean - base.mean;
    let has_test = base.count.min(new.count) >= MIN_OBSERVATIONS;
    if base.count.min(new.count) < 2 {
        let ratio = Estimate { value: difference.exp(), interval: None };
        return Some(Change { ratio, p: None, constant: None, spread: None });
    }
    if base.variance == 0.0 && new.variance == 0.0 {
        // The values themselves, as logarithms would add a rounding error.
        let value = new.first / base.first;
        let interval = Interval { low: value, high: value, confidence: CONFIDENCE };
        let constant = Some(chance_of_separation(base.count, new.count));
        let ratio = Estimate { value, interval: Some(interval) };
        return Some(Change { ratio, p: None, constant, spread: None });
    }
    let (a, b) = (base.variance / base.count as f64, new.variance / new.count as f64);
    let degrees = (a + b).powi(2) / (a * a / (base.count - 1) as f64 + b * b / (new.count - 1) as f64);
    let error = (a + b).sqrt();
    let distribution = StudentsT::new(0.0, 1.0, degrees).ok()?;
    let half = distribution.inverse_cdf(0.5 + CONFIDENCE / 2.0) * error;
    let (low, high) = ((difference - half).exp(), (difference + half).exp());
    let interval = match has_test {
        true => Interval { low, high, confidence: CONFIDENCE },
        false => Interval {
            low: (new.least - base.greatest).exp(),
            high: (new.greatest - base.least).exp(),
            confidence: RANGE_CONFIDENCE,
        },
    };
    let p = (2.0 * distribution.sf((difference / error).abs())).min(1.0);
    let ratio = Estimate { value: difference.exp(), interval: Some(interval) };
    let spread = has_test.then_some((error, degrees));
    Some(Change { ratio, p: has_test.then_some(p), constant: None, spread })
}

/// The ratio of two counts of the same work, second over first: 1 if both are zero, infinite if only the first is.
pub fn ratio_of_pair((base, new): (f64, f64)) -> f64 {
    if base == new {
        return 1.0;
    }
    // A ratio that is the same in all pairs must not seem to vary by a rounding error.
    (new / base * 1e12).round() / 1e12
}

/// The change from the ratios of pairs: the t-test on their logarithms, which is that of [`change`] against sides that never vary.
/// `None` if there is none, or only some pairs have a zero on a side.
pub fn change_of_ratios(ratios: &[f64]) -> Option<Change> {
    let (first, count) = (*ratios.first()?, ratios.len());
    if first > 0.0 && first.is_finite() {
        return change(&vec![1.0; count], ratios);
    }
    if ratios.iter().any(|ratio| *ratio != first) {
        return None;
    }
    let several = count > 1;
    let interval = several.then_some(Interval { low: first, high: first, confidence: CONFIDENCE });
    let constant = several.then(|| chance_of_separation(count, count));
    Some(Change { ratio: Estimate { value: first, interval }, p: None, constant, spread: None })
}

/// The sums for one side.
struct Logs {
    count: usize,
    first: f64,
    least: f64,
    greatest: f64,
    mean: f64,
    /// Exactly zero if all observations are equal.
    variance: f64,
}

impl Logs {
    fn from_values(values: &[f64]) -> Option<Logs> {
        let first = *values.first()?;
        if values.iter().any(|value| !(value.is_finite() && *value > 0.0)) {
            return None;
        }
        let count = values.len();
        let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
        let least = logs.iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if values.iter().all(|value| *value == first) {
            return Some(Logs { count, first, least, greatest, mean: first.ln(), variance: 0.0 });
        }
        let mean = logs.iter().sum::<f64>() / count as f64;
        let squares: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
        Some(Logs { count, first, least, greatest, mean, variance: squares / (count - 1) as f64 })
    }
}

/// A bound on the probability that all of one side have one value and all of the other side another, if both sides
/// draw from the same few values: for figures that hardly vary, such as sizes of files, for which a t-test would be certain
/// without evidence. The worst case has two values; of `a + b` draws, the first `a` are of one and the rest of the other.
fn chance_of_separation(a: usize, b: usize) -> f64 {
    let (a, b) = (a as f64, b as f64);
    // The largest value of q^a (1-q)^b, once for each order.
    2.0 * (a / (a + b)).powf(a) * (b / (a + b)).powf(b)
}

/// Adjusts probabilities for their number by Holm's step-down procedure (Holm, 1979). Marking those that are then at most
/// `level` marks any true null hypothesis with a probability of at most `level`, however they depend on each other.
pub fn holm(probabilities: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    order.sort_by(|a, b| probabilities[*a].total_cmp(&probabilities[*b]));
    let mut adjusted = vec![0.0; probabilities.len()];
    let mut so_far = 0.0_f64;
    for (rank, index) in order.into_iter().enumerate() {
        let remaining = (probabilities.len() - rank) as f64;
        so_far = so_far.max((remaining * probabilities[index]).min(1.0));
        adjusted[index] = so_far;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use storebench_samples::normal;

    use super::*;

    fn draw(random: &mut fastrand::Rng, count: usize, middle: f64, spread: f64) -> Vec<f64> {
        (0..count).map(|_| middle * (spread * normal(random)).exp()).collect()
    }

    #[test]
    fn intervals_cover_what_they_say_and_chances_are_what_they_are() {
        for (base, new, spread) in
            [(3, 3, 0.1), (5, 5, 0.1), (5, 5, 0.3), (10, 10, 0.1), (5, 10, 0.1), (10, 5, 0.3), (20, 20, 0.05)]
        {
            let mut random = fastrand::Rng::with_seed(base * 100 + new);
            let rounds = 20_000;
            let (mut covered, mut rare) = (0, 0);
            for _ in 0..rounds {
                let a = draw(&mut random, base as usize, 100.0, 0.1);
                let b = draw(&mut random, new as usize, 150.0, spread);
                let c = draw(&mut random, new as usize, 100.0, spread);
                covered += u32::from(change(&a, &b).unwrap().ratio.interval.unwrap().contains(1.5));
                rare += u32::from(change(&a, &c).unwrap().p.unwrap() <= 0.01);
            }
            let (covered, rare) =
                (f64::from(covered) / f64::from(rounds), f64::from(rare) / f64::from(rounds));
            assert!((0.935..=0.98).contains(&covered), "{base} and {new}, {spread}: {covered}");
            assert!((0.002..=0.016).contains(&rare), "{base} and {new}, {spread}: {rare}");
        }
    }

    #[test]
    fn far_tails_are_no_fatter_than_said() {
        // The level of a mark among two hundred figures. If spreads differ threefold, it occurs up to twice as often.
        for (count, spread, limit) in
            [(3, 0.1, 1.0), (5, 0.1, 1.0), (5, 0.3, 3.0), (10, 0.1, 1.15), (10, 0.3, 3.0)]
        {
            let mut random = fastrand::Rng::with_seed(count as u64);
            let rounds = 200_000;
            let rare = (0..rounds).filter(|_| {
                let a = draw(&mut random, count, 100.0, 0.1);
                let b = draw(&mut random, count, 100.0, spread);
                change(&a, &b).unwrap().p.unwrap() <= LEVEL / 200.0
            });
            let times = rare.count() as f64 / f64::from(rounds) / (LEVEL / 200.0);
            assert!(times > 0.1 && times <= limit, "{count} and {count}, {spread}: {times}");
        }
    }

    #[test]
    fn a_known_case_comes_out_as_by_hand() {
        // Logarithms 0, 1, 2 and 2, 3, 5, 6: means 1 and 4, variances 1 and 10/3; error 1.0801, t 2.7775, 4.742 degrees,
        // of which the density was integrated step by step.
        let exp = |logs: &[f64]| logs.iter().map(|log| log.exp()).collect::<Vec<_>>();
        let result = change(&exp(&[0.0, 1.0, 2.0]), &exp(&[2.0, 3.0, 5.0, 6.0])).unwrap();
        assert!((result.ratio.value - 3f64.exp()).abs() < 1e-9);
        let interval = result.ratio.interval.unwrap();
        assert!((interval.high.ln() + interval.low.ln() - 6.0).abs() < 1e-9);
        let p = result.p.unwrap();
        assert!((p - 0.041_347_366).abs() < 1e-8, "{p}");
        let half = (interval.high.ln() - interval.low.ln()) / 2.0 / (1.0_f64 / 3.0 + 10.0 / 12.0).sqrt();
        assert!((half - 2.613_22).abs() < 1e-3, "{half}");
    }

    #[test]
    fn what_is_unlikely_is_told_to_many_digits() {
        let (base, new) = ([1.0, 1.01, 0.99, 1.0, 1.005], [5.0, 5.01, 4.99, 5.0, 5.005]);
        let p = change(&base, &new).unwrap().p.unwrap();
        assert!(p > 0.0 && p < 1e-10, "{p:e}");
    }

    #[test]
    fn few_observations_claim_nothing() {
        assert_eq!(change(&[1.0], &[2.0]).unwrap().ratio, Estimate { value: 2.0, interval: None });
        let two = change(&[1.0, 1.1], &[2.0, 2.1, 2.2]).unwrap();
        assert!(two.ratio.interval.is_some() && two.p.is_none());
        let range = two.ratio.interval.unwrap();
        assert!(range.is_range() && (range.low - 2.0 / 1.1).abs() < 1e-9 && (range.high - 2.2).abs() < 1e-9);
        assert!(change(&[1.0, 1.1, 1.0], &[2.0; 3]).unwrap().p.is_some());
        for (a, b) in [(vec![], vec![1.0]), (vec![0.0, 1.0], vec![1.0]), (vec![1.0], vec![f64::NAN])] {
            assert_eq!(change(&a, &b), None);
        }
    }

    #[test]
    fn what_never_varies_is_exact_from_five_on() {
        let equal = change(&[0.3; 5], &[0.3; 5]).unwrap();
        assert_eq!((equal.ratio.value, equal.p, equal.is_exact()), (1.0, None, true));
        let doubled = change(&[4096.0; 5], &[8192.0; 5]).unwrap();
        assert_eq!((doubled.ratio.value, doubled.p, doubled.is_exact()), (2.0, None, true));
        // Two values, equally likely: 2 * 2^-5 * 2^-5.
        assert!((doubled.constant.unwrap() - 2.0 / 1024.0).abs() < 1e-12);
        // Ten fair draws of each side separate like this about once in half a million times.
        assert!(change(&[1.0; 10], &[2.0; 10]).unwrap().constant.unwrap() < 2e-6);
        assert!(!change(&[1.0; 4], &[2.0; 5]).unwrap().is_exact());
        let varies = change(&[4096.0, 4096.0, 4096.0, 4096.0, 8192.0], &[8192.0; 5]).unwrap();
        assert!(varies.p.is_some() && varies.constant.is_none());
    }

    #[test]
    fn holms_adjustment_is_the_papers() {
        let adjusted = holm(&[0.01, 0.04, 0.03, 0.005]);
        let expected = [0.03, 0.06, 0.06, 0.02];
        assert!(adjusted.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{adjusted:?}");
        assert_eq!(holm(&[0.7, 0.8]), [1.0, 1.0]);
        assert!(holm(&[]).is_empty());
    }
}
