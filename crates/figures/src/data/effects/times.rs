//! The ratio of one figure to another over blocks, and whether that decides which is less.

use std::collections::BTreeSet;

use serde::Serialize;
use storebench_model::units::three_digits;
use storebench_model::words::words;

use crate::data::merge::BlockKey;
use crate::data::spread;
use crate::stats::{MIN_BLOCKS, Ratio, Series, compare_at};

/// Figures within this factor count as alike.
const ALIKE: f64 = 1.1;

/// The ratio of one figure to another over blocks, with its verdict.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Times {
    /// Their geometric mean over the blocks, with its interval.
    #[serde(flatten)]
    pub ratio: Ratio,
    pub least: f64,
    pub greatest: f64,
    pub known: EffectVerdict,
}

/// The verdict of blocks on a ratio.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, strum::VariantNames)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum EffectVerdict {
    Less,
    More,
    /// It is 1, within a tenth.
    Alike,
    /// Undecided: too few blocks for their scatter.
    NotYet,
}

words!(EffectVerdict);

impl EffectVerdict {
    fn judge(ratio: &Ratio) -> EffectVerdict {
        let interval = ratio.ratio.interval.filter(|_| ratio.blocks >= MIN_BLOCKS);
        match interval {
            Some(interval) if interval.high < 1.0 => EffectVerdict::Less,
            Some(interval) if interval.low > 1.0 => EffectVerdict::More,
            Some(interval) if interval.low >= 1.0 / ALIKE && interval.high <= ALIKE => EffectVerdict::Alike,
            _ => EffectVerdict::NotYet,
        }
    }
}

/// The legend of undecided ratios.
pub const NOT_YET: &str = "? is not known yet: the blocks are too few to decide whether it is more than 1, and reach as far as the range after it.";

impl Times {
    pub fn value(&self) -> f64 {
        self.ratio.ratio.value
    }

    /// The ends of its reach: the interval of a decided ratio, the blocks' range of an undecided one.
    pub fn range(&self) -> Option<(f64, f64)> {
        match self.known {
            EffectVerdict::NotYet => (self.ratio.blocks > 1).then_some((self.least, self.greatest)),
            _ => self.ratio.ratio.interval.map(|interval| (interval.low, interval.high)),
        }
    }

    /// `×0.612 [0.580, 0.650]`, or `×1.20 (0.80..1.60)?` if undecided.
    pub fn text(&self) -> String {
        let value = three_digits(self.value());
        match (self.known, self.range()) {
            (EffectVerdict::NotYet, Some((least, greatest))) => {
                format!("×{value} ({}..{})?", three_digits(least), three_digits(greatest))
            }
            (EffectVerdict::NotYet, None) => format!("×{value}?"),
            _ => format!("×{value}{}", spread::describe_after(self.ratio.ratio.interval, three_digits)),
        }
    }
}

/// A quotient of products of figures.
pub struct Quotient {
    pub above: Vec<Series<BlockKey>>,
    pub below: Vec<Series<BlockKey>>,
}

impl Quotient {
    /// The logarithm in a block; `None` if a figure is missing or not positive.
    fn log_quotient(&self, block: &BlockKey) -> Option<f64> {
        let sum = |series_list: &[Series<BlockKey>]| {
            let values = series_list.iter().map(|series| series.get(block).filter(|value| **value > 0.0));
            values.map(|value| Some(value?.ln())).sum()
        };
        let (above, below): (Option<f64>, Option<f64>) = (sum(&self.above), sum(&self.below));
        Some(above? - below?)
    }
}

/// The geometric mean of some quotients, paired by block: over the blocks with all of them.
pub fn average_quotients(quotients: &[Quotient], confidence: f64) -> Option<Times> {
    let series = quotients.iter().flat_map(|quotient| &quotient.above);
    let blocks: BTreeSet<BlockKey> = series.flat_map(|series| series.keys()).copied().collect();
    let block_mean = |block: BlockKey| {
        let sum: Option<f64> = quotients.iter().map(|quotient| quotient.log_quotient(&block)).sum();
        Some((block, (sum? / quotients.len() as f64).exp()))
    };
    let block_means: Series<BlockKey> = blocks.into_iter().filter_map(block_mean).collect();
    let ones = block_means.keys().map(|block| (*block, 1.0)).collect();
    let ratio = compare_at(&block_means, &ones, confidence)?;
    Some(Times {
        ratio,
        least: block_means.values().copied().fold(f64::INFINITY, f64::min),
        greatest: block_means.values().copied().fold(0.0, f64::max),
        known: EffectVerdict::judge(&ratio),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::CONFIDENCE;

    fn times_of(values: &[f64]) -> Times {
        let at = |(block, value): (usize, &f64)| (BlockKey { run: 0, block: block as u32 }, *value);
        let above: Series<BlockKey> = values.iter().enumerate().map(at).collect();
        let below = above.keys().map(|block| (*block, 1.0)).collect();
        average_quotients(&[Quotient { above: vec![above], below: vec![below] }], CONFIDENCE).unwrap()
    }

    #[test]
    fn too_few_blocks_tell_nothing_yet() {
        for (values, verdict, text) in [
            (&[0.5, 0.51, 0.49][..], EffectVerdict::Less, "×0.500 [0.476, 0.525]"),
            (&[2.0, 2.0, 2.0], EffectVerdict::More, "×2.00 [2.00, 2.00]"),
            (&[1.0, 1.01, 0.99], EffectVerdict::Alike, "×1.000 [0.975, 1.03]"),
            (&[0.2, 0.9, 0.87], EffectVerdict::NotYet, "×0.539 (0.200..0.900)?"),
            (&[0.5, 0.6], EffectVerdict::NotYet, "×0.548 (0.500..0.600)?"),
            (&[0.5], EffectVerdict::NotYet, "×0.500?"),
        ] {
            let times = times_of(values);
            assert_eq!((times.known, times.text().as_str()), (verdict, text));
        }
    }
}
