//! Numbers in the page's data: rounded to the digits that are shown, so that they compress.

use serde::Serialize;

use storebench_figures::stats::{self, Estimate, MIN_BLOCKS, MeanKind};

/// Significant digits of a figure; reports show three, and a fourth and fifth hide the second rounding.
const DIGITS: i32 = 5;

const UNCERTAINTY_DIGITS: i32 = 3;

#[derive(Debug, Default, Serialize)]
pub struct Figures {
    mean: Vec<Option<f64>>,
    /// The reach of its interval; `null` without one. Positive, `s`: a geometric mean `m`, whose interval is
    /// from `m / (1 + s)` to `m * (1 + s)`. Negative, `-h`: an arithmetic mean, whose interval is from `m - h` to `m + h`.
    /// Zero: no spread. For two trials it is their range.
    spread: Vec<Option<f64>>,
    /// Cells of which only two trials have this figure, though more succeeded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fewer: Vec<usize>,
}

impl Figures {
    /// Adds the next cell's figure, given its trials' values and the number of its successful trials.
    pub fn push(&mut self, values: &[f64], succeeded: usize) {
        let mean = stats::mean(values);
        if values.len() < MIN_BLOCKS && succeeded >= MIN_BLOCKS {
            self.fewer.push(self.mean.len());
        }
        self.mean.push(mean.map(|(_, mean)| rounded(mean.value, DIGITS)));
        self.spread.push(mean.and_then(|(kind, mean)| spread(kind, &mean)));
    }

    pub fn is_empty(&self) -> bool {
        self.mean.iter().all(Option::is_none)
    }
}

fn spread(kind: MeanKind, mean: &Estimate) -> Option<f64> {
    let interval = mean.interval?;
    let spread = match kind {
        MeanKind::Geometric => interval.high / mean.value - 1.0,
        MeanKind::Arithmetic => mean.value - interval.high,
    };
    Some(rounded(spread, UNCERTAINTY_DIGITS))
}

/// Powers of ten up to this one are exact: a whole number times or over one is nearest to the decimal fraction of the same digits.
const EXACT_POWERS: i32 = 22;

pub fn rounded(value: f64, digits: i32) -> f64 {
    if value == 0.0 {
        return value;
    }
    let places = digits - 1 - value.abs().log10().floor() as i32;
    let power = 10_f64.powi(places.abs());
    match places {
        0..=EXACT_POWERS => (value * power).round() / power,
        places if (-EXACT_POWERS..0).contains(&places) => (value / power).round() * power,
        // Beyond any figure of a report.
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_can_be_computed_from_its_spread() {
        let spread = |values: &[f64]| stats::mean(values).and_then(|(kind, mean)| spread(kind, &mean));
        let values = [100.0, 150.0, 120.0];
        let (_, geometric) = stats::mean(&values).unwrap();
        let interval = geometric.interval.unwrap();
        let s = spread(&values).unwrap();
        let (low, high) = (geometric.value / (1.0 + s), geometric.value * (1.0 + s));
        assert!((low / interval.low - 1.0).abs() < 0.01 && (high / interval.high - 1.0).abs() < 0.01);
        let values = [0.0, 2.0, 4.0];
        let (_, arithmetic) = stats::mean(&values).unwrap();
        let half = -spread(&values).unwrap();
        assert!((2.0 + half - arithmetic.interval.unwrap().high).abs() < 0.01);
        assert_eq!(spread(&[1.0]), None);
        assert_eq!(spread(&[3.0, 3.0]), Some(0.0));
    }

    #[test]
    fn rounding_keeps_significant_digits() {
        assert_eq!(rounded(1_234_567.0, 5), 1_234_600.0);
        assert_eq!(rounded(0.000_123_456, 3), 0.000_123);
        assert_eq!((rounded(0.0, 3), rounded(-0.129_99, 3), rounded(9.9999, 3)), (0.0, -0.13, 10.0));
        assert!(rounded(f64::NAN, 3).is_nan() && rounded(f64::INFINITY, 3).is_infinite());
        let mut random = fastrand::Rng::with_seed(3);
        for _ in 0..10_000 {
            let value = (random.f64() + 0.1) * 10_f64.powi(random.i32(-12..15));
            let text = rounded(value, 5).to_string();
            let digits = text.trim_start_matches(['0', '.']).trim_end_matches('0').replace('.', "");
            assert!(digits.trim_end_matches('0').len() <= 5, "{value} became {text}");
            assert!((rounded(value, 5) / value - 1.0).abs() <= 0.5e-4, "{value} became {text}");
        }
    }
}
