//! Whether consecutive figures go up or down: Kendall's test (Mann, Econometrica 13, 1945), with the slope by the median of all
//! slopes (Sen, JASA 63, 1968). Several series, such as trials, are tested together by the sums of their statistics and of their variances,
//! as seasons are (Hirsch, Slack and Smith, Water Resources Research 18, 1982).

/// The two-sided normal quantile of 5 %.
const TWO_SIDED: f64 = 1.96;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trend {
    /// The change per step: the median of the slopes between all pairs of a series.
    pub per_step: f64,
    /// Whether the test finds a trend, at 5 %.
    pub is_told: bool,
}

impl Trend {
    /// The trend of series of the same figure; `None` if none has two values.
    pub fn from_series(series: &[Vec<f64>]) -> Option<Trend> {
        let mut slopes: Vec<f64> =
            series.iter().flat_map(|values| pairs(values)).map(|(steps, rise)| rise / steps).collect();
        slopes.sort_by(f64::total_cmp);
        let (low, high) = (slopes.get(slopes.len().saturating_sub(1) / 2)?, slopes.get(slopes.len() / 2)?);
        let tests = series.iter().map(|values| kendall(values));
        let (sum, variance) = tests.fold((0.0, 0.0), |total, next| (total.0 + next.0, total.1 + next.1));
        // Corrected for continuity.
        let distance = (sum.abs() - 1.0).max(0.0) / variance.max(f64::MIN_POSITIVE).sqrt();
        Some(Trend { per_step: (low + high) / 2.0, is_told: distance > TWO_SIDED })
    }
}

/// The distance in steps and in value of each value from each earlier one.
fn pairs(values: &[f64]) -> impl Iterator<Item = (f64, f64)> {
    let later_values = move |start: usize| {
        let later = values[start + 1..].iter().enumerate();
        later.map(move |(step, value)| (step as f64 + 1.0, value - values[start]))
    };
    (0..values.len()).flat_map(later_values)
}

/// Kendall's statistic, and its variance without a trend; equal values lower it.
fn kendall(values: &[f64]) -> (f64, f64) {
    let sum = pairs(values).map(|(_, rise)| if rise == 0.0 { 0.0 } else { rise.signum() }).sum();
    let variance_term = |count: f64| count * (count - 1.0) * (2.0 * count + 5.0) / 18.0;
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let ties: f64 =
        sorted.chunk_by(|value, next| value == next).map(|tie| variance_term(tie.len() as f64)).sum();
    (sum, variance_term(values.len() as f64) - ties)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leak_has_its_size_and_is_told() {
        let leak: Vec<f64> = (0..5).map(|step| 100.0 + f64::from(step)).collect();
        let told = Trend::from_series(std::slice::from_ref(&leak));
        assert_eq!(told, Some(Trend { per_step: 1.0, is_told: true }));
        // A trend that is hidden by noise in one trial shows in three.
        let noisy =
            |noise: [f64; 5]| leak.iter().zip(noise).map(|(value, noise)| value + noise).collect::<Vec<_>>();
        let trials =
            [[0.0, 1.5, 0.0, 0.0, 0.0], [0.0, 0.0, 1.5, 0.0, 0.0], [1.5, 0.0, 0.0, 0.0, 0.0]].map(noisy);
        assert!(!Trend::from_series(&trials[..1]).unwrap().is_told);
        let together = Trend::from_series(&trials).unwrap();
        assert!(together.is_told && (together.per_step - 1.0).abs() < 0.2, "{together:?}");
    }

    #[test]
    fn what_stays_or_comes_and_goes_has_none() {
        assert_eq!(Trend::from_series(&[vec![7.0; 5]]), Some(Trend { per_step: 0.0, is_told: false }));
        assert!(!Trend::from_series(&[vec![1.0, 3.0, 2.0, 4.0, 3.0]]).unwrap().is_told);
        assert_eq!(Trend::from_series(&[vec![1.0], Vec::new()]), None);
    }

    /// Among series without a trend at most one in twenty is reported.
    #[test]
    fn chance_alone_is_seldom_told() {
        let mut random = fastrand::Rng::with_seed(32);
        for trials in [1, 3] {
            let mut draw =
                || (0..trials).map(|_| (0..5).map(|_| random.f64()).collect()).collect::<Vec<Vec<f64>>>();
            let trends = (0..4_000).filter(|_| Trend::from_series(&draw()).unwrap().is_told);
            let count = trends.count();
            assert!((20..=240).contains(&count), "{count} of 4,000 with {trials} trials");
        }
    }
}
