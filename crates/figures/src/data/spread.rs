//! The reach of a figure, in words: `[1.20, 3.40]` is an interval, `(1.20..3.40)` the range of too few observations for one.

use crate::stats::Interval;

/// An interval with ends further apart than this factor says nothing, and would only be long.
const MAX_WIDTH: f64 = 1e6;

/// The reach of a figure; `None` if it is unknown, or both ends are equal.
pub fn text(interval: Option<Interval>, format_value: impl Fn(f64) -> String) -> Option<String> {
    let interval = interval?;
    let Interval { low, high, .. } = interval;
    Some(match () {
        () if interval.is_range() && low == high => return None,
        () if interval.is_range() => format!("({}..{})", format_value(low), format_value(high)),
        () if low >= 0.0 && high > MAX_WIDTH * low => "[too wide to say]".to_owned(),
        () => format!("[{}, {}]", format_value(low), format_value(high)),
    })
}

/// The interval in words that follow a figure; empty if there is none.
pub fn describe_after(interval: Option<Interval>, format_value: impl Fn(f64) -> String) -> String {
    text(interval, format_value).map_or_else(String::new, |reach| format!(" {reach}"))
}

/// The legend of ranges and intervals, shown once in a report.
pub const LEGEND: &str = "[a, b] is a 95 % interval; (a..b) is the range of too few trials for one.";

#[cfg(test)]
mod tests {
    use storebench_model::units::{rough_ns, three_digits};

    use super::*;
    use crate::stats::{Summary, geometric_mean};

    #[test]
    fn two_are_a_range_and_three_an_interval() {
        let text_of = |values: &[f64]| text(geometric_mean(values).unwrap().interval, rough_ns);
        assert_eq!(text_of(&[1_000.0, 25_000.0]).unwrap(), "(1.00 µs..25.0 µs)");
        assert_eq!(text_of(&[1_000.0, 1_000.0, 1_100.0]).unwrap(), "[900 ns, 1.18 µs]");
        assert_eq!((text_of(&[5.0]), text_of(&[5.0, 5.0])), (None, None));
        assert_eq!(text_of(&[5.0, 5.0, 5.0]).unwrap(), "[5.00 ns, 5.00 ns]");
    }

    #[test]
    fn what_is_absurdly_wide_is_not_written_out() {
        let wild = Summary::from_values(&[1.0, 1e9, 1e9]).unwrap().mean.interval;
        assert_eq!(text(wild, three_digits).unwrap(), "[too wide to say]");
        // Two equally distant values are shown as they are.
        let two = Summary::from_values(&[1.0, 1e9]).unwrap().mean.interval;
        assert_eq!(text(two, rough_ns).unwrap(), "(1.00 ns..1.00 s)");
    }
}
