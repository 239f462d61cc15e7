//! Finds the two sizes between which a figure falls.
//!
//! The steepest step of the curve, in logarithms, must be steeper than the rest of it by Student's t over the blocks, at a level that
//! allows for each step that might be the steepest (Bonferroni). This needs three sizes and three blocks.

use serde::Serialize;

use super::{CONFIDENCE, MIN_BLOCKS, Series, THRESHOLD, arithmetic_mean_at};

/// The shape of a curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "shape", rename_all = "kebab-case")]
pub enum Cliff {
    Unknown,
    /// No step is steeper than the rest, or the fall is within [`THRESHOLD`].
    None,
    At {
        low: f64,
        high: f64,
    },
}

/// A figure by size: sizes above zero, rising; figures above zero, by block.
pub type Curve<K> = [(f64, Series<K>)];

/// The shape of a curve of a figure of which more is better.
pub fn find<K: Ord + Copy>(curve: &Curve<K>) -> Cliff {
    let is_usable = |value: f64| value > 0.0 && value.is_finite();
    if !curve.iter().all(|(size, series)| is_usable(*size) && series.values().all(|value| is_usable(*value)))
    {
        return Cliff::Unknown;
    }
    let points: Vec<&(f64, Series<K>)> = curve.iter().filter(|(_, series)| !series.is_empty()).collect();
    let [(_, first), _, _, ..] = points.as_slice() else { return Cliff::Unknown };
    let is_complete = |block: &&K| points.iter().all(|(_, series)| series.contains_key(block));
    // The logarithms of the figures of each complete block.
    let logs = |block: &K| points.iter().map(|(_, series)| series[block].ln()).collect();
    let blocks: Vec<Vec<f64>> = first.keys().filter(is_complete).map(logs).collect();
    if blocks.len() < MIN_BLOCKS {
        return Cliff::Unknown;
    }
    let steps: Vec<f64> = points.windows(2).map(|pair| (pair[1].0 / pair[0].0).ln()).collect();
    let fall = |step: usize| blocks.iter().map(|y| y[step + 1] - y[step]).sum::<f64>() / blocks.len() as f64;
    let slopes = (0..steps.len()).map(|step| (fall(step) / steps[step], step));
    let Some((_, step)) = slopes.min_by(|a, b| a.0.total_cmp(&b.0)) else { return Cliff::Unknown };
    let (step_width, other_widths) = (steps[step], steps.iter().sum::<f64>() - steps[step]);
    let excess_slope = |y: &Vec<f64>| {
        let (fall, total) = (y[step + 1] - y[step], y[y.len() - 1] - y[0]);
        fall / step_width - (total - fall) / other_widths
    };
    let differences: Vec<f64> = blocks.iter().map(excess_slope).collect();
    let level = 2.0 * (1.0 - CONFIDENCE) / steps.len() as f64;
    let interval = arithmetic_mean_at(&differences, 1.0 - level).and_then(|mean| mean.interval);
    let is_steeper = interval.is_some_and(|interval| interval.high < 0.0);
    match is_steeper && -fall(step) > THRESHOLD.ln_1p() {
        true => Cliff::At { low: points[step].0, high: points[step + 1].0 },
        false => Cliff::None,
    }
}

#[cfg(test)]
mod tests {
    use storebench_samples::normal;

    use super::*;

    /// A curve from `level`, the logarithm of the figure as a function of the size's, with the noise of figures and of whole blocks.
    fn noisy_curve(
        sizes: &[f64],
        blocks: u32,
        random: &mut fastrand::Rng,
        level: impl Fn(f64) -> f64,
    ) -> Vec<(f64, Series<u32>)> {
        let block_effects: Vec<f64> = (0..blocks).map(|_| 0.3 * normal(random)).collect();
        let mut figure = |size: f64, block: u32| {
            let noise = block_effects[block as usize] + 0.05 * normal(random);
            (8.0 + level(size.ln()) + noise).exp()
        };
        let at = |size: &f64| (*size, (0..blocks).map(|block| (block, figure(*size, block))).collect());
        sizes.iter().map(at).collect()
    }

    const SIZES: [f64; 6] = [0.25, 0.5, 0.75, 1.25, 2.5, 4.0];

    #[test]
    fn the_sizes_around_the_fall_are_found() {
        let mut random = fastrand::Rng::with_seed(5);
        for sizes in [&SIZES[2..5], &SIZES] {
            let fell = noisy_curve(sizes, 4, &mut random, |x| if x > 0.1 { -1.6 - 0.1 * x } else { 0.0 });
            assert_eq!(find(&fell), Cliff::At { low: 0.75, high: 1.25 });
            let level = noisy_curve(sizes, 4, &mut random, |_| 0.0);
            assert_eq!(find(&level), Cliff::None);
        }
        let later = noisy_curve(&SIZES[2..5], 3, &mut random, |x| -2.0 * (x - 0.3).max(0.0));
        assert_eq!(find(&later), Cliff::At { low: 1.25, high: 2.5 });
    }

    #[test]
    fn a_line_has_no_cliff_but_by_chance() {
        let mut random = fastrand::Rng::with_seed(3);
        for (sizes, blocks) in [(&SIZES[..], 3), (&SIZES[2..5], 5)] {
            let cliffs = (0..400).filter(|_| {
                let curve = noisy_curve(sizes, blocks, &mut random, |x| -0.5 * x);
                matches!(find(&curve), Cliff::At { .. })
            });
            let share = cliffs.count() as f64 / 400.0;
            assert!(share < 0.08, "{} sizes: {share}", sizes.len());
        }
    }

    #[test]
    fn too_little_says_nothing() {
        let mut random = fastrand::Rng::with_seed(6);
        let falls = |x: f64| -2.0 * x.max(0.0);
        for (sizes, blocks) in [(&SIZES[..2], 5), (&SIZES[..3], 2), (&SIZES[..0], 3)] {
            let curve = noisy_curve(sizes, blocks, &mut random, falls);
            assert_eq!(find(&curve), Cliff::Unknown, "{} sizes, {blocks} blocks", sizes.len());
        }
        let mut odd = noisy_curve(&SIZES, 3, &mut random, falls);
        odd[3].1.insert(0, 0.0);
        assert_eq!(find(&odd), Cliff::Unknown);
    }
}
