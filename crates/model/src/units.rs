//! Quantities as people write them: sizes, counts, durations, and half-open ranges of them.

mod number;
pub mod sizes;

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::sanitize::quoted;
pub use number::split_list;
pub use sizes::Sizes;

const BINARY: [(&str, u64); 5] =
    [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)];

const SIZES: &str = "write it like 512B, 4KiB (1024 bytes each), 4KB (1000) or 1.5GiB";
const COUNTS: &str = "write it like 50000, 50,000, 50k, 1M or 1e6";
const DURATIONS: &str = "write it like 500ms, 30s, 10m, 1h30m or 2h";

/// Reads a size in bytes: `512`, `4KiB`, `1.5 GiB`, `10G` (units of 1024), `4KB` (units of 1000). The error says what a size looks like.
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    let (number, unit) = number::split_unit(text);
    let factor = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => Some(1),
        "k" | "kib" => Some(1 << 10),
        "m" | "mib" => Some(1 << 20),
        "g" | "gib" => Some(1 << 30),
        "t" | "tib" => Some(1 << 40),
        "kb" => Some(1_000),
        "mb" => Some(1_000_000),
        "gb" => Some(1_000_000_000),
        "tb" => Some(1_000_000_000_000),
        _ => None,
    };
    let bytes = factor.and_then(|factor| number::parse_scaled(number, factor, factor == 1));
    bytes.ok_or_else(|| format!("{} is not a size: {SIZES}{}", quoted(text), number::comma_hint(text)))
}

/// Reads a count: `1000`, `1,000`, `1_000`, `100k`, `1.5M`, `1e6` (decimal). The error says what a count looks like.
pub fn parse_count(text: &str) -> Result<u64, String> {
    let (number, unit) = number::split_unit(text);
    let factor = match unit {
        "" => Some(1),
        "k" | "K" => Some(1_000),
        "m" | "M" => Some(1_000_000),
        "g" | "G" => Some(1_000_000_000),
        _ => None,
    };
    // 50.000 is fifty to some people and fifty thousand to others.
    let is_exact = factor != Some(1) || !number.contains('.') || number.contains(['e', 'E']);
    let count = factor.filter(|_| is_exact).and_then(|factor| number::parse_scaled(number, factor, true));
    count.ok_or_else(|| format!("{} is not a count: {COUNTS}{}", quoted(text), number::comma_hint(text)))
}

/// Reads a duration: `30s`, `500ms`; also several units, the larger first: `1h30m`, `3 min 20 s`. The error says what one looks like.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let to_error = || format!("{} is not a duration: {DURATIONS}{}", quoted(text), number::comma_hint(text));
    let mut rest = text.trim();
    let (mut seconds, mut previous_unit_s) = (0.0, f64::INFINITY);
    while !rest.is_empty() || previous_unit_s.is_infinite() {
        let (number, tail) = number::split(rest);
        let tail = tail.trim_start();
        let end = tail.find(|c: char| !c.is_alphabetic()).unwrap_or(tail.len());
        let unit_s =
            unit_seconds(&tail[..end]).filter(|unit_s| *unit_s < previous_unit_s).ok_or_else(to_error)?;
        seconds += number::parse_fraction(number).ok_or_else(to_error)? * unit_s;
        previous_unit_s = unit_s;
        rest = tail[end..].trim_start();
    }
    Duration::try_from_secs_f64(seconds).map_err(|_| to_error())
}

fn unit_seconds(unit: &str) -> Option<f64> {
    Some(match unit {
        "ns" => 1e-9,
        "us" | "µs" => 1e-6,
        "ms" => 1e-3,
        "s" | "sec" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return None,
    })
}

/// Writes a size so that [`parse_bytes`] reads the same number back: `1KiB`, `1536B`.
pub fn exact_bytes(bytes: u64) -> String {
    let is_exact = |(_, factor): &(&str, u64)| bytes >= *factor && bytes.is_multiple_of(*factor);
    let (unit, factor) = BINARY.into_iter().find(is_exact).unwrap_or(("B", 1));
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

/// A count with its noun, whose plural ends with an s: `1 store`, `1,200 stores`.
pub fn plural(count: impl TryInto<u64>, noun: &str) -> String {
    let count = count.try_into().unwrap_or(u64::MAX);
    format!("{} {noun}{}", with_commas(count), if count == 1 { "" } else { "s" })
}

/// Writes a count with thousands separated: `1,000,000`.
pub fn with_commas(count: u64) -> String {
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
        3.. => {
            let sign = if value < 0.0 { "-" } else { "" };
            format!("{sign}{}", with_commas(value.abs().round() as u64))
        }
        2 => format!("{value:.0}"),
        1 => format!("{value:.1}"),
        0 => format!("{value:.2}"),
        small => format!("{value:.*}", (2 - small).clamp(2, 9) as usize),
    }
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
        let from = exact_bytes(self.from);
        f.pad(&if self.to == self.from + 1 { from } else { format!("{from}..{}", exact_bytes(self.to)) })
    }
}

impl FromStr for SizeRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (from, to) = match (text.split_once(".."), parse_dashed(text)) {
            (Some((from, to)), _) => {
                refuse_ambiguous_bound(from, to)?;
                (parse_bytes(from)?, parse_bytes(to)?)
            }
            (None, Some(range)) => range,
            (None, None) => {
                let size = parse_bytes(text)?;
                (size, size.saturating_add(1))
            }
        };
        if from == 0 {
            return Err(format!("the record size {} starts at 0: values have at least 1 byte", quoted(text)));
        }
        if to <= from {
            let form = "write FROM..TO with FROM less than TO, like 1KiB..10KiB";
            return Err(format!("the record size {} is empty: {form}", quoted(text)));
        }
        Ok(SizeRange { from, to })
    }
}

/// A range with a dash, as in `0.2-6KB`, where one unit means both bounds.
fn parse_dashed(text: &str) -> Option<(u64, u64)> {
    let (from, to) = text.split_once('-')?;
    let to_bytes = parse_bytes(to).ok()?;
    let unit = number::split_unit(to).1;
    let from = if number::split_unit(from).1.is_empty() { format!("{from}{unit}") } else { from.to_owned() };
    Some((parse_bytes(&from).ok()?, to_bytes))
}

/// `5..40KiB` may mean 5 bytes or 5 KiB.
fn refuse_ambiguous_bound(from: &str, to: &str) -> Result<(), String> {
    let unit_of =
        |text: &str| text.trim_start_matches(|c: char| c.is_ascii_digit() || ".,_ e".contains(c)).to_owned();
    let (from, to) = (from.trim(), to.trim());
    match (unit_of(from).is_empty(), unit_of(to)) {
        (true, unit) if !unit.is_empty() && unit != "B" => {
            Err(format!("{} may be bytes or {unit}: write {from}B..{to} or {from}{unit}..{to}", quoted(from)))
        }
        _ => Ok(()),
    }
}

/// The most records that a cell can have.
pub const MOST_RECORDS: u64 = u32::MAX as u64;

/// The number of records that a cell works on: it starts with `from` and never has more than `to`.
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
            let (count, most) = (quoted(text), with_commas(MOST_RECORDS));
            return Err(format!("the record count {count} is too large: at most {most}"));
        }
        if range.from == 0 || range.to <= range.from {
            let form = "write FROM..TO with 0 < FROM < TO, like 1000..5000";
            return Err(format!("the record count {} is empty: {form}", quoted(text)));
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
        let (number, least) =
            text.strip_suffix('%').map_or((text, 1.0), |number| (number, f64::MIN_POSITIVE));
        // Without its sign 5 can only be 5%, but 0.05 can be 5% as well as 0.05%.
        let share = number.trim().parse().ok().filter(|share: &f64| (least..=100.0).contains(share));
        share.map(Percent).ok_or_else(|| {
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
        match self.0.as_nanos() {
            ns if ns.is_multiple_of(1_000_000) => write!(f, "{}ms", ns / 1_000_000),
            ns if ns.is_multiple_of(1000) => write!(f, "{}us", ns / 1000),
            ns => write!(f, "{ns}ns"),
        }
    }
}

impl FromStr for Period {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        parse_duration(text).map(Period)
    }
}

/// Serialises a type by its `Display`, and back by its `FromStr`.
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
            fn deserialize<D: serde::Deserializer<'de>>(source: D) -> std::result::Result<Self, D::Error> {
                let text = <String as serde::Deserialize>::deserialize(source)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}
#[doc(inline)]
pub use as_text;

/// Reads a whole number, as people write it, which fits in a type.
pub fn parse_whole<T: TryFrom<u64>>(text: &str) -> Result<T, String> {
    let number = parse_count(text)?;
    T::try_from(number).map_err(|_| format!("{} is too large", with_commas(number)))
}

/// Reads a type from a map by a function that takes its entries in turn.
#[doc(hidden)]
#[macro_export]
macro_rules! from_map {
    ($type:ty, $what:literal, $read:path) => {
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(source: D) -> std::result::Result<Self, D::Error> {
                struct Entries;
                impl<'de> serde::de::Visitor<'de> for Entries {
                    type Value = $type;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str($what)
                    }

                    fn visit_map<A: serde::de::MapAccess<'de>>(
                        self,
                        map: A,
                    ) -> std::result::Result<$type, A::Error> {
                        $read(map)
                    }
                }
                source.deserialize_map(Entries)
            }
        }
    };
}

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
        for (text, bytes) in [
            ("1B", 1),
            ("512", 512),
            ("4KiB", 4096),
            ("1.5KiB", 1536),
            ("10 GiB", 10 << 30),
            ("2M", 2 << 20),
            ("4k", 4096),
            ("4KB", 4000),
            ("4kb", 4000),
            ("1.5 GB", 1_500_000_000),
            ("1,024KiB", 1 << 20),
            ("1e6", 1_000_000),
        ] {
            assert_eq!(parse_bytes(text), Ok(bytes), "{text}");
            assert_eq!(parse_bytes(&exact_bytes(bytes)), Ok(bytes));
        }
        // A size that reports write can be given back.
        assert_eq!(parse_bytes(&rough_bytes(1_530_000.0)), Ok(1_530_921));
        assert_eq!(parse_bytes(&rough_bytes(12.0)), Ok(12));
        for text in ["", "KiB", "-1", "1.5", "0.5B", "1,5KiB", "4 bananas", "99999999999TiB"] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn ranges_of_sizes_and_shares_are_read_as_people_write_them() {
        for (text, from, to) in [("0.2-6KB", 200, 6000), ("1 KiB-4 KiB", 1024, 4096), ("100-200", 100, 200)] {
            assert_eq!(text.parse(), Ok(SizeRange { from, to }), "{text}");
        }
        for text in ["6-0.2KB", "-6KB", "2KB-", "0-6KB", "1-2-3KB"] {
            assert!(text.parse::<SizeRange>().is_err(), "{text}");
        }
        for (text, share) in [("5%", 5.0), ("5", 5.0), ("0.05%", 0.05), ("100", 100.0)] {
            assert_eq!(text.parse(), Ok(Percent(share)), "{text}");
        }
        for text in ["0.05", "0%", "101%", "300", "-5", "five"] {
            assert!(text.parse::<Percent>().is_err(), "{text}");
        }
    }

    #[test]
    fn counts_are_read_as_people_write_them() {
        for (text, count) in [
            ("1_000", 1000),
            ("50,000", 50_000),
            ("1,000,000", 1_000_000),
            ("1.5M", 1_500_000),
            ("1e6", 1_000_000),
            ("2.5e3", 2500),
            ("100k", 100_000),
            ("2 G", 2_000_000_000),
        ] {
            assert_eq!(parse_count(text), Ok(count), "{text}");
        }
        assert_eq!(parse_count(&with_commas(u64::MAX)), Ok(u64::MAX));
        for text in ["", "k", "1,00", "1.5", "50.000", "1.0005k", "1e", "1e400", "-5", "5x"] {
            let error = parse_count(text).unwrap_err();
            assert!(error.contains("is not a count: write it like 50000, 50,000"), "{error}");
            assert_eq!(error.contains("a comma separates"), text.contains(','), "{error}");
        }
    }

    #[test]
    fn durations_are_read_as_people_write_them_and_periods_written_as_they_are_read() {
        for text in ["500us", "20ms", "1500us", "2ns", "0ms", "120000ms"] {
            assert_eq!(text.parse::<Period>().unwrap().to_string(), text);
        }
        assert_eq!("2m".parse::<Period>().unwrap().to_string(), "120000ms");
        for (text, ms) in [
            ("500ms", 500),
            ("1.5m", 90_000),
            ("90s", 90_000),
            ("1h30m", 5_400_000),
            ("3 min 20 s", 200_000),
            ("2 h 05 min", 7_500_000),
            ("1,000 s", 1_000_000),
            ("2000us", 2),
        ] {
            assert_eq!(parse_duration(text), Ok(Duration::from_millis(ms)), "{text}");
        }
        for seconds in [0, 42, 200, 7500] {
            let duration = Duration::from_secs(seconds);
            assert_eq!(parse_duration(&rough_duration(duration)), Ok(duration));
        }
        for text in ["", "90", "s", "1m1h", "1s2s", "1s 2", "1e300h", "-1s", "five minutes"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn ranges_are_half_open_and_not_empty() {
        assert_eq!("1KiB..10KiB".parse(), Ok(SizeRange { from: 1024, to: 10240 }));
        assert_eq!("100".parse(), Ok(SizeRange { from: 100, to: 101 }));
        assert_eq!(SizeRange { from: 1, to: 1024 }.mean(), 512.0);
        assert!("0..10".parse::<SizeRange>().is_err());
        for (doubtful, suggestions) in
            [("5..40KiB", "5B..40KiB or 5KiB..40KiB"), ("1 .. 2 MB", "1B..2 MB or 1MB..2 MB")]
        {
            let error = doubtful.parse::<SizeRange>().unwrap_err();
            assert!(error.contains(suggestions), "{error}");
        }
        assert_eq!("5..40B".parse::<SizeRange>(), Ok(SizeRange { from: 5, to: 40 }));
        assert_eq!("5..40".parse::<SizeRange>(), Ok(SizeRange { from: 5, to: 40 }));
        assert!("10..10".parse::<SizeRange>().is_err());
        assert_eq!("1000".parse(), Ok(CountRange { from: 1000, to: 5000 }));
        assert_eq!("100k".parse(), Ok(CountRange { from: 100_000, to: 150_000 }));
        assert!("0".parse::<CountRange>().is_err());
        assert!("18446744073709551615".parse::<CountRange>().unwrap_err().contains("at most 4,294,967,295"));
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!([870.0, 1_250.0].map(rough_ns), ["870 ns", "1.25 µs"]);
        let sizes = [0.0, 1_023.0, 1_024.0, 1_530_000.0].map(rough_bytes);
        assert_eq!(sizes, ["0 B", "1023 B", "1.00 KiB", "1.46 MiB"]);
        assert_eq!(with_commas(1_000_000), "1,000,000");
        assert_eq!(three_digits(0.012_345), "0.0123");
        assert_eq!(rough_duration(Duration::from_secs(200)), "3 min 20 s");
    }
}
