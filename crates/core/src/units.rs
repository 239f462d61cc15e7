//! Quantities as people write them: sizes, counts, durations, and half-open ranges of them.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::shown::quoted;

const BINARY: [(&str, u64); 5] =
    [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)];

/// Reads a size in bytes: `512`, `512B`, `4KiB`, `10GiB`; also `4k`, `10G`, which are binary too.
///
/// # Errors
/// A sentence that says what a size looks like.
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    let (number, unit) = split_unit(text);
    let factor = match unit {
        "" | "b" | "B" => 1,
        "k" | "K" | "KiB" | "kib" => 1 << 10,
        "m" | "M" | "MiB" | "mib" => 1 << 20,
        "g" | "G" | "GiB" | "gib" => 1 << 30,
        "t" | "T" | "TiB" | "tib" => 1 << 40,
        _ => return Err(format!("{} is not a size: write it like 512B, 4KiB, 1MiB or 10GiB", quoted(text))),
    };
    scaled(number, factor)
        .ok_or_else(|| format!("{} is not a size: write it like 512B, 4KiB, 1MiB or 10GiB", quoted(text)))
}

/// Reads a count: `1000`, `1_000`, `100k`, `1M` (decimal).
///
/// # Errors
/// A sentence that says what a count looks like.
pub fn parse_count(text: &str) -> Result<u64, String> {
    let (number, unit) = split_unit(text);
    let factor = match unit {
        "" => 1,
        "k" | "K" => 1_000,
        "m" | "M" => 1_000_000,
        _ => return Err(format!("{} is not a count: write it like 1000, 100k or 1M", quoted(text))),
    };
    scaled(number, factor)
        .ok_or_else(|| format!("{} is not a count: write it like 1000, 100k or 1M", quoted(text)))
}

/// Reads a duration: `30s`, `10m`, `2h`, `500ms`.
///
/// # Errors
/// A sentence that says what a duration looks like.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = split_unit(text);
    let seconds = match unit {
        "ms" => 0.001,
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(format!("{} is not a duration: write it like 500ms, 30s, 10m or 2h", quoted(text))),
    };
    number
        .replace('_', "")
        .parse::<f64>()
        .ok()
        .and_then(|value| Duration::try_from_secs_f64(value * seconds).ok())
        .ok_or_else(|| format!("{} is not a duration: write it like 500ms, 30s, 10m or 2h", quoted(text)))
}

fn split_unit(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    (text[..end].trim(), text[end..].trim())
}

fn scaled(number: &str, factor: u64) -> Option<u64> {
    let digits = number.replace('_', "");
    match digits.parse::<u64>() {
        Ok(whole) => whole.checked_mul(factor),
        Err(_) => {
            let value = digits.parse::<f64>().ok()? * factor as f64;
            (value.is_finite() && value >= 0.0 && value < u64::MAX as f64 && !digits.is_empty())
                .then_some(value.round() as u64)
        }
    }
}

/// Writes a size so that [`parse_bytes`] reads the same number back: `1KiB`, `1536B`.
pub fn exact_bytes(bytes: u64) -> String {
    let (unit, factor) = BINARY
        .into_iter()
        .find(|(_, factor)| bytes >= *factor && bytes.is_multiple_of(*factor))
        .unwrap_or(("B", 1));
    format!("{}{unit}", bytes / factor)
}

/// Writes a size for people, to three digits: `1.46 MiB`; whole below 1 KiB: `12 B`.
pub fn rough_bytes(bytes: f64) -> String {
    if bytes < 1024.0 {
        return format!("{bytes:.0} B");
    }
    let (unit, factor) = BINARY.into_iter().find(|(_, factor)| bytes >= *factor as f64).unwrap_or(("B", 1));
    format!("{} {unit}", three_digits(bytes / factor as f64))
}

/// Writes a time for people, to three digits: `870 ns`, `1.25 µs`, `12.0 ms`, `3.50 s`.
pub fn rough_ns(ns: f64) -> String {
    let (unit, factor) = match ns.abs() {
        x if x < 1e3 => ("ns", 1.0),
        x if x < 1e6 => ("µs", 1e3),
        x if x < 1e9 => ("ms", 1e6),
        _ => ("s", 1e9),
    };
    format!("{} {unit}", three_digits(ns / factor))
}

/// Writes a duration for people: `42 s`, `3 min 20 s`, `2 h 05 min`.
pub fn rough_duration(duration: Duration) -> String {
    match duration.as_secs() {
        0 => rough_ns(duration.as_nanos() as f64),
        seconds @ 1..60 => format!("{seconds} s"),
        seconds @ 60..3600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        seconds => format!("{} h {:02} min", seconds / 3600, seconds % 3600 / 60),
    }
}

/// Writes a count with thousands separated: `1,000,000`.
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Writes a number with three significant digits, without an exponent: `0.0123`, `1.23`, `12.3`, `1,230`.
pub fn three_digits(value: f64) -> String {
    let magnitude = if value == 0.0 { 0 } else { value.abs().log10().floor() as i32 };
    match magnitude {
        3.. => grouped_signed(value),
        2 => format!("{value:.0}"),
        1 => format!("{value:.1}"),
        0 => format!("{value:.2}"),
        small => format!("{value:.*}", (2 - small).clamp(2, 9) as usize),
    }
}

fn grouped_signed(value: f64) -> String {
    let sign = if value < 0.0 { "-" } else { "" };
    format!("{sign}{}", grouped(value.abs().round() as u64))
}

/// A half-open range of record sizes in bytes: at least `from`, less than `to`. A single size `n` is `n..n+1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SizeRange {
    /// The smallest size, in bytes; at least 1.
    pub from: u64,
    /// The first size that is too large, in bytes.
    pub to: u64,
}

impl SizeRange {
    /// The mean of a size drawn uniformly from the range.
    pub fn mean(self) -> f64 {
        (self.from + self.to - 1) as f64 / 2.0
    }
}

impl fmt::Display for SizeRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.to == self.from + 1 {
            f.pad(&exact_bytes(self.from))
        } else {
            f.pad(&format!("{}..{}", exact_bytes(self.from), exact_bytes(self.to)))
        }
    }
}

impl FromStr for SizeRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (from, to) = match text.split_once("..") {
            Some((from, to)) => (parse_bytes(from)?, parse_bytes(to)?),
            None => {
                let size = parse_bytes(text)?;
                (size, size.saturating_add(1))
            }
        };
        if from == 0 {
            return Err(format!("the record size {} starts at 0: values have at least 1 byte", quoted(text)));
        }
        if to <= from {
            return Err(format!(
                "the record size {} is empty: write FROM..TO with FROM less than TO, like 1KiB..10KiB",
                quoted(text)
            ));
        }
        Ok(SizeRange { from, to })
    }
}

/// The most records that a cell can have.
pub const MOST_RECORDS: u64 = u32::MAX as u64;

/// How many records a cell works on: it starts with `from` and never has more than `to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CountRange {
    /// The number loaded before the first operation; at least 1.
    pub from: u64,
    /// The number that inserts never pass.
    pub to: u64,
}

impl CountRange {
    /// The upper bound where only the lower is given: as in the paper, five times up to 10,000 records, 50,000 more above.
    pub fn starting_at(from: u64) -> CountRange {
        CountRange { from, to: if from <= 10_000 { from * 5 } else { from.saturating_add(50_000) } }
    }
}

impl fmt::Display for CountRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}..{}", self.from, self.to))
    }
}

impl FromStr for CountRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let range = match text.split_once("..") {
            Some((from, to)) => CountRange { from: parse_count(from)?, to: parse_count(to)? },
            None => CountRange::starting_at(parse_count(text)?),
        };
        if range.to > MOST_RECORDS {
            return Err(format!(
                "the record count {} is too large: at most {}",
                quoted(text),
                grouped(MOST_RECORDS)
            ));
        }
        if range.from == 0 || range.to <= range.from {
            return Err(format!(
                "the record count {} is empty: write FROM..TO with 0 < FROM < TO, like 1000..5000",
                quoted(text)
            ));
        }
        Ok(range)
    }
}

/// A share, written as `5%`.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Percent(pub f64);

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", self.0)
    }
}

impl FromStr for Percent {
    type Err = String;
    fn from_str(text: &str) -> std::result::Result<Self, String> {
        text.strip_suffix('%')
            .and_then(|number| number.trim().parse().ok())
            .filter(|share: &f64| *share > 0.0 && *share <= 100.0)
            .map(Percent)
            .ok_or_else(|| {
                format!("{} is not a share: write it like 5%, more than 0% and at most 100%", quoted(text))
            })
    }
}

/// A size in bytes, written as people do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
pub struct Bytes(pub u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&exact_bytes(self.0))
    }
}

impl FromStr for Bytes {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        parse_bytes(text).map(Bytes)
    }
}

/// A duration, written as people do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
pub struct Period(pub Duration);

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}ms", self.0.as_millis())
    }
}

impl FromStr for Period {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        parse_duration(text).map(Period)
    }
}

/// Serialises a type as the text that people write: by its `Display`, and back by its `FromStr`.
#[doc(hidden)]
#[macro_export]
macro_rules! as_text {
    ($type:ty) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(
                deserializer: D,
            ) -> std::result::Result<Self, D::Error> {
                let text = <String as serde::Deserialize>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}
#[doc(inline)]
pub use as_text;

as_text!(Bytes);
as_text!(Period);
as_text!(SizeRange);
as_text!(CountRange);
as_text!(Percent);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_written() {
        for (text, bytes) in
            [("1B", 1), ("512", 512), ("4KiB", 4096), ("1.5KiB", 1536), ("10 GiB", 10 << 30), ("2M", 2 << 20)]
        {
            assert_eq!(parse_bytes(text), Ok(bytes), "{text}");
            assert_eq!(parse_bytes(&exact_bytes(bytes)), Ok(bytes));
        }
        for text in ["", "KiB", "4KB", "-1", "4 bananas", "99999999999TiB"] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
        assert_eq!(parse_count("1_000"), Ok(1000));
        assert_eq!(parse_count("1.5M"), Ok(1_500_000));
        assert_eq!(parse_duration("1.5m"), Ok(Duration::from_secs(90)));
        assert!(parse_duration("90").is_err());
    }

    #[test]
    fn ranges_are_half_open_and_not_empty() {
        assert_eq!("1KiB..10KiB".parse(), Ok(SizeRange { from: 1024, to: 10240 }));
        assert_eq!("100".parse(), Ok(SizeRange { from: 100, to: 101 }));
        assert_eq!(SizeRange { from: 1, to: 1024 }.mean(), 512.0);
        assert!("0..10".parse::<SizeRange>().is_err());
        assert!("10..10".parse::<SizeRange>().is_err());
        assert_eq!("1000".parse(), Ok(CountRange { from: 1000, to: 5000 }));
        assert_eq!("100k".parse(), Ok(CountRange { from: 100_000, to: 150_000 }));
        assert!("0".parse::<CountRange>().is_err());
        assert!("18446744073709551615".parse::<CountRange>().unwrap_err().contains("at most 4,294,967,295"));
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!(rough_ns(870.0), "870 ns");
        assert_eq!(rough_ns(1_250.0), "1.25 µs");
        assert_eq!(rough_bytes(1_530_000.0), "1.46 MiB");
        assert_eq!(
            (rough_bytes(0.0), rough_bytes(1_023.0), rough_bytes(1_024.0)),
            ("0 B".into(), "1023 B".into(), "1.00 KiB".into())
        );
        assert_eq!(grouped(1_000_000), "1,000,000");
        assert_eq!(three_digits(0.012_345), "0.0123");
        assert_eq!(rough_duration(Duration::from_secs(200)), "3 min 20 s");
    }
}
