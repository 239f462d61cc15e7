//! The range that a figure or a ratio must be in: `1.5..`, `..10µs`, `80%..100%`.

use std::fmt;
use std::str::FromStr;

use storebench_model::units::as_text;

use crate::column::Unit;
use crate::stats::{Interval, THRESHOLD};

use super::verdict::Outcome;

/// A range with at least one end, both included.
#[derive(Debug, Clone, PartialEq)]
pub struct Bounds {
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// The kind of quantity that the ends are written as.
    kind: Kind,
    /// The text in the plan.
    text: String,
}

/// How it is decided whether a value is within a range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BoundsRule {
    Interval(Interval),
    /// By a distance of [`THRESHOLD`] from the ends, or of a quarter of a narrower range: a leaning of few trials.
    Threshold,
    /// Undecidable: too few trials.
    Nothing,
}

/// A kind of quantity, by how it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Number,
    Share,
    Time,
    Size,
}

/// The units that may follow a number, each with its kind and the factor to the columns' unit.
const UNITS: [(&str, Kind, f64); 11] = [
    ("", Kind::Number, 1.0),
    ("%", Kind::Share, 0.01),
    ("ns", Kind::Time, 1.0),
    ("us", Kind::Time, 1e3),
    ("µs", Kind::Time, 1e3),
    ("ms", Kind::Time, 1e6),
    ("s", Kind::Time, 1e9),
    ("B", Kind::Size, 1.0),
    ("KiB", Kind::Size, 1024.0),
    ("MiB", Kind::Size, 1048576.0),
    ("GiB", Kind::Size, 1073741824.0),
];

fn quantity(text: &str) -> Option<(f64, Kind)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_').unwrap_or(text.len());
    let number: f64 = text[..end].replace('_', "").parse().ok()?;
    let unit = text[end..].trim();
    let (_, kind, factor) = UNITS.into_iter().find(|(name, ..)| *name == unit)?;
    Some((number * factor, kind))
}

impl FromStr for Bounds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let message =
            || format!("{text:?} is not a range: write it like 1.5.., ..10µs, 0.9..1.1 or 80%..100%");
        let (low, high) = text.split_once("..").ok_or_else(message)?;
        let end = |text: &str| match text.trim() {
            "" => Ok(None),
            text => quantity(text).map(Some).ok_or_else(message),
        };
        let (low, high) = (end(low)?, end(high)?);
        let kind = match (low, high) {
            (Some((_, low)), Some((_, high))) if low == high => low,
            (Some((_, kind)), None) | (None, Some((_, kind))) => kind,
            _ => return Err(message()),
        };
        let (low, high) = (low.map(|(value, _)| value), high.map(|(value, _)| value));
        if low.zip(high).is_some_and(|(low, high)| high < low) {
            return Err(format!("the range {text:?} is empty: its first end is above its second"));
        }
        Ok(Bounds { low, high, kind, text: text.to_owned() })
    }
}

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

as_text!(Bounds);

impl Bounds {
    /// From 1 to `factor`.
    pub fn up_to(factor: f64) -> Bounds {
        Bounds { low: None, high: Some(factor), kind: Kind::Number, text: format!("..{factor}") }
    }

    /// Whether values of a column can be compared with it.
    pub fn fits(&self, unit: Unit) -> bool {
        match self.kind {
            Kind::Number => matches!(unit, Unit::Count | Unit::Share | Unit::PerSecond),
            Kind::Share => unit == Unit::Share,
            Kind::Time => unit == Unit::Nanoseconds,
            Kind::Size => matches!(unit, Unit::Bytes | Unit::BytesPerSecond),
        }
    }

    pub fn fits_ratios(&self) -> bool {
        matches!(self.kind, Kind::Number | Kind::Share)
    }

    /// The factor between values that a threshold can't separate.
    fn margin(&self) -> f64 {
        let widest = 1.0 + THRESHOLD;
        let width = self.low.zip(self.high).map(|(low, high)| high / low);
        width.filter(|width| *width >= 1.0).map_or(widest, |width| width.powf(0.25).min(widest))
    }

    /// Whether a value is within the range: with all of its interval, with none of it, or unknown.
    pub fn judge(&self, value: f64, rule: BoundsRule) -> Outcome {
        let (low, high) = match rule {
            BoundsRule::Interval(interval) => (interval.low, interval.high),
            BoundsRule::Threshold => (value / self.margin(), value * self.margin()),
            BoundsRule::Nothing => return Outcome::Close,
        };
        let is_above = |end: f64| self.low.is_none_or(|low| end >= low);
        let is_below = |end: f64| self.high.is_none_or(|high| end <= high);
        match (is_above(low) && is_below(high), is_above(high) && is_below(low)) {
            (true, _) => Outcome::Agrees,
            (false, true) => Outcome::Close,
            (false, false) => Outcome::Disagrees,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(text: &str) -> Bounds {
        text.parse().unwrap()
    }

    #[test]
    fn ranges_are_read_and_written() {
        for (text, low, high) in [
            ("1.5..", Some(1.5), None),
            ("..10µs", None, Some(10_000.0)),
            ("80%..100%", Some(0.8), Some(1.0)),
            ("1KiB..2 KiB", Some(1024.0), Some(2048.0)),
            ("0..1_000", Some(0.0), Some(1000.0)),
        ] {
            let range = bounds(text);
            assert_eq!((range.low, range.high, range.to_string()), (low, high, text.into()));
        }
        for text in ["", "..", "1", "1..x", "1%..2", "2..1", "-1..", "1.. ..2", "1e3.."] {
            assert!(text.parse::<Bounds>().is_err(), "{text}");
        }
    }

    #[test]
    fn units_must_fit() {
        assert!(bounds("1ms..").fits(Unit::Nanoseconds) && !bounds("1ms..").fits(Unit::Share));
        assert!(bounds("100%..").fits(Unit::Share) && bounds("1..").fits(Unit::Share));
        assert!(!bounds("1..").fits(Unit::Nanoseconds) && !bounds("1B..").fits_ratios());
    }

    #[test]
    fn an_interval_decides_where_there_is_one() {
        let interval = |low, high| BoundsRule::Interval(Interval { low, high, confidence: 0.95 });
        let at_least = bounds("1..");
        assert_eq!(at_least.judge(1.03, interval(1.0, 1.06)), Outcome::Agrees);
        assert_eq!(at_least.judge(1.03, interval(0.99, 1.07)), Outcome::Close);
        assert_eq!(at_least.judge(0.9, interval(0.85, 0.99)), Outcome::Disagrees);
        let between = bounds("0.9..1.1");
        assert_eq!(between.judge(1.0, interval(0.8, 1.3)), Outcome::Close);
        assert_eq!(between.judge(1.3, interval(1.2, 1.4)), Outcome::Disagrees);
    }

    #[test]
    fn otherwise_a_twentieth_of_the_value_does() {
        let at_least = bounds("1..");
        assert_eq!(at_least.judge(1.06, BoundsRule::Threshold), Outcome::Agrees);
        assert_eq!(at_least.judge(1.03, BoundsRule::Threshold), Outcome::Close);
        assert_eq!(at_least.judge(0.96, BoundsRule::Threshold), Outcome::Close);
        assert_eq!(at_least.judge(0.94, BoundsRule::Threshold), Outcome::Disagrees);
        assert_eq!(bounds("..2").judge(1.9, BoundsRule::Threshold), Outcome::Agrees);
        assert_eq!(bounds("..2").judge(1.0, BoundsRule::Nothing), Outcome::Close);
        // A range that is narrower than two twentieths can be met, too.
        let narrow = bounds("1..1.04");
        let outcomes = [1.02, 1.035, 1.06].map(|value| narrow.judge(value, BoundsRule::Threshold));
        assert_eq!(outcomes, [Outcome::Agrees, Outcome::Close, Outcome::Disagrees]);
        assert_eq!(bounds("0..0").judge(0.0, BoundsRule::Threshold), Outcome::Agrees);
    }
}
