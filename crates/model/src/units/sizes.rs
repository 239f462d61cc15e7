//! Sizes of records: one range, or several with their shares, which follow any distribution.

use std::fmt;
use std::str::FromStr;

use super::{SizeRange, as_text, number, rough_bytes};
use crate::sanitize::quoted;

/// The sum of the shares of all parts: a part's share is counted in millionths.
pub const WHOLE: u32 = 1_000_000;

pub(crate) const MOST_PARTS: usize = 32;
const UNUSED: SizePart = SizePart { range: SizeRange { from: 0, to: 0 }, share: 0 };

/// Sizes of values: even over one range, `1KiB..10KiB`, or over several with shares, `90%:1KiB..10KiB+10%:1MiB`: nine of ten
/// values have between 1,024 and 10,239 bytes, the tenth 1 MiB.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sizes {
    /// Sorted by range, no range twice; entries from `count` on are unused.
    parts: [SizePart; MOST_PARTS],
    count: usize,
}

/// A range of sizes, and the share of the values that lie in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SizePart {
    /// The sizes, each as likely as any other.
    pub range: SizeRange,
    /// The number of values, out of a million, that have them; at least 1.
    pub share: u32,
}

impl Sizes {
    /// These parts. Fails when there are none or too many, one is empty, or their shares don't come to [`WHOLE`].
    pub fn from_parts(parts: &[SizePart]) -> Result<Sizes, String> {
        let total: u64 = parts.iter().map(|part| u64::from(part.share)).sum();
        if total != u64::from(WHOLE) || parts.iter().any(|part| part.share == 0) {
            let sum = percent(total);
            return Err(format!("the shares come to {sum}%: they must come to 100%, each above 0%"));
        }
        let mut sorted: Vec<SizePart> = Vec::with_capacity(parts.len());
        for part in parts {
            match sorted.iter_mut().find(|candidate| candidate.range == part.range) {
                Some(existing) => existing.share += part.share,
                None => sorted.push(*part),
            }
        }
        sorted.sort_unstable();
        if sorted.len() > MOST_PARTS {
            return Err(format!("there are {} parts: at most {MOST_PARTS}", sorted.len()));
        }
        let mut padded = [UNUSED; MOST_PARTS];
        padded[..sorted.len()].copy_from_slice(&sorted);
        Ok(Sizes { parts: padded, count: sorted.len() })
    }

    /// The parts, sorted by their ranges.
    pub fn parts(&self) -> &[SizePart] {
        &self.parts[..self.count]
    }

    /// The range, if there is only one.
    pub fn single_range(&self) -> Option<SizeRange> {
        match self.parts() {
            [part] => Some(part.range),
            _ => None,
        }
    }

    /// The range from the smallest to the largest size.
    pub fn span(&self) -> SizeRange {
        let ranges = || self.parts().iter().map(|part| part.range);
        SizeRange {
            from: ranges().map(|range| range.from).min().unwrap_or(1),
            to: ranges().map(|range| range.to).max().unwrap_or(2),
        }
    }

    /// The largest size in bytes.
    pub fn largest(&self) -> u64 {
        self.span().to - 1
    }

    /// The mean of sizes that are drawn from these.
    pub fn mean(&self) -> f64 {
        let parts = self.parts().iter();
        parts.map(|part| f64::from(part.share) * part.range.mean()).sum::<f64>() / f64::from(WHOLE)
    }

    /// The size that half of the values do not exceed, in bytes.
    pub fn median(&self) -> u64 {
        let (mut low, mut high) = (self.span().from, self.largest());
        while low < high {
            let middle = low + (high - low) / 2;
            let is_below_half = self.cumulative_share(middle) * 2.0 < f64::from(WHOLE);
            if is_below_half { low = middle + 1 } else { high = middle }
        }
        low
    }

    /// The number of values, out of a million, that have at most this number of bytes.
    pub fn cumulative_share(&self, bytes: u64) -> f64 {
        let weigh_part = |part: &SizePart| {
            let SizeRange { from, to } = part.range;
            let included = bytes.saturating_add(1).clamp(from, to) - from;
            f64::from(part.share) * included as f64 / (to - from) as f64
        };
        self.parts().iter().map(weigh_part).sum()
    }

    /// The size that an evenly distributed number stands for.
    pub fn draw(&self, number: u64) -> u64 {
        let [first, others @ ..] = self.parts() else { return 1 };
        if others.is_empty() {
            return map_into_range(first.range, number);
        }
        // The upper part of the product chooses the part, the lower the size in it.
        let product = u128::from(number) * u128::from(WHOLE);
        let (mut remaining_share, rest) = ((product >> 64) as u32, product as u64);
        for part in self.parts() {
            if remaining_share < part.share {
                return map_into_range(part.range, rest);
            }
            remaining_share -= part.share;
        }
        self.largest()
    }

    /// Changes all sizes alike; none gets smaller than 1.
    pub fn scaled(&self, scale: impl Fn(u64) -> u64) -> Sizes {
        let mut scaled = *self;
        for part in &mut scaled.parts[..self.count] {
            let last = scale(part.range.to - 1).max(1);
            part.range = SizeRange { from: scale(part.range.from).max(1), to: last.saturating_add(1) };
        }
        Sizes::from_parts(scaled.parts()).unwrap_or(scaled)
    }

    /// For reports: one range as it is written, several by their median, mean and largest size.
    pub fn describe(&self) -> String {
        match self.single_range() {
            Some(range) => range.to_string(),
            None => {
                let sizes = [self.median() as f64, self.mean(), self.largest() as f64];
                let [median, mean, largest] = sizes.map(rough_bytes);
                format!("mixed sizes (median {median}, mean {mean}, largest {largest})")
            }
        }
    }
}

/// Maps an evenly distributed number into a range.
fn map_into_range(range: SizeRange, number: u64) -> u64 {
    range.from + ((u128::from(number) * u128::from(range.to - range.from)) >> 64) as u64
}

/// Millionths as percent, without trailing zeros: `12.5`.
fn percent(share: u64) -> String {
    let text = format!("{}.{:04}", share / 10_000, share % 10_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

impl From<SizeRange> for Sizes {
    fn from(range: SizeRange) -> Sizes {
        let mut parts = [UNUSED; MOST_PARTS];
        parts[0] = SizePart { range, share: WHOLE };
        Sizes { parts, count: 1 }
    }
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(range) = self.single_range() {
            return range.fmt(f);
        }
        let format_part = |part: &SizePart| format!("{}%:{}", percent(u64::from(part.share)), part.range);
        f.pad(&self.parts().iter().map(format_part).collect::<Vec<_>>().join("+"))
    }
}

impl FromStr for Sizes {
    type Err = String;

    fn from_str(text: &str) -> Result<Sizes, String> {
        if !text.contains('%') {
            return text.parse::<SizeRange>().map(Sizes::from);
        }
        let parts = text.split('+').map(parse_part).collect::<Result<Vec<SizePart>, String>>()?;
        Sizes::from_parts(&parts).map_err(|error| format!("the record sizes {}: {error}", quoted(text)))
    }
}

fn parse_part(text: &str) -> Result<SizePart, String> {
    let form = "write parts like 90%:1KiB..10KiB+10%:1MiB, shares to 0.0001%";
    let to_error = || format!("{} is not a part of the record sizes: {form}", quoted(text));
    let (share, range) = text.split_once(':').ok_or_else(to_error)?;
    let share = share.trim().strip_suffix('%').and_then(number::parse_fraction).ok_or_else(to_error)?;
    let millionths = share * 10_000.0;
    let is_whole =
        (millionths - millionths.round()).abs() < 1e-6 && (0.0..=f64::from(WHOLE)).contains(&millionths);
    match is_whole {
        true => Ok(SizePart { range: range.trim().parse()?, share: millionths.round() as u32 }),
        false => Err(to_error()),
    }
}

as_text!(Sizes);

#[cfg(test)]
mod tests;
