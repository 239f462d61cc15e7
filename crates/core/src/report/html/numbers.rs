//! Numbers as the page carries them: rounded to the digits that are shown, so that they compress.

use serde::Serialize;

use crate::stats::{MeanKind, Summary};

/// Significant digits of a figure; reports show three, and a fourth and fifth keep a second rounding from being seen.
const DIGITS: usize = 5;

/// Significant digits of an uncertainty.
const UNCERTAINTY_DIGITS: usize = 3;

/// One figure of every cell, by the cells' numbers.
#[derive(Debug, Default, Serialize)]
pub struct Figures {
    /// The mean; `null` where there is none.
    mean: Vec<Option<f64>>,
    /// How far its interval reaches; `null` where there is none. Positive, `s`: a geometric mean `m`, whose interval is
    /// from `m / (1 + s)` to `m * (1 + s)`. Negative, `-h`: an arithmetic mean, whose interval is from `m - h` to `m + h`.
    /// Zero: no spread.
    spread: Vec<Option<f64>>,
}

impl Figures {
    /// Adds the next cell's.
    pub fn push(&mut self, summary: Option<Summary>) {
        self.mean.push(summary.map(|summary| rounded(summary.mean.value, DIGITS)));
        self.spread.push(summary.and_then(|summary| spread(&summary)));
    }

    /// Whether no cell has one.
    pub fn is_empty(&self) -> bool {
        self.mean.iter().all(Option::is_none)
    }
}

fn spread(summary: &Summary) -> Option<f64> {
    let interval = summary.mean.interval?;
    let spread = match summary.mean_kind {
        MeanKind::Geometric => interval.high / summary.mean.value - 1.0,
        MeanKind::Arithmetic => summary.mean.value - interval.high,
    };
    Some(rounded(spread, UNCERTAINTY_DIGITS))
}

/// A number to so many significant digits.
pub fn rounded(value: f64, digits: usize) -> f64 {
    format!("{value:.*e}", digits.saturating_sub(1)).parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_can_be_computed_from_its_spread() {
        let geometric = Summary::of(&[100.0, 150.0, 120.0]).unwrap();
        let interval = geometric.mean.interval.unwrap();
        let s = spread(&geometric).unwrap();
        let (low, high) = (geometric.mean.value / (1.0 + s), geometric.mean.value * (1.0 + s));
        assert!((low / interval.low - 1.0).abs() < 0.01 && (high / interval.high - 1.0).abs() < 0.01);
        let arithmetic = Summary::of(&[0.0, 2.0, 4.0]).unwrap();
        let half = -spread(&arithmetic).unwrap();
        assert!((2.0 + half - arithmetic.mean.interval.unwrap().high).abs() < 0.01);
        assert_eq!(spread(&Summary::of(&[1.0]).unwrap()), None);
        assert_eq!(spread(&Summary::of(&[3.0, 3.0]).unwrap()), Some(0.0));
    }

    #[test]
    fn rounding_keeps_significant_digits() {
        assert_eq!(rounded(1_234_567.0, 5), 1_234_600.0);
        assert_eq!(rounded(0.000_123_456, 3), 0.000_123);
        assert_eq!(rounded(0.0, 3), 0.0);
    }
}
