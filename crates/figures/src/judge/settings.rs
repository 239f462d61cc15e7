//! Decides whether other settings of a store are faster than its default, and which settings a race gives up.

use super::interim::ALIKE;
use crate::stats::{MIN_BLOCKS, Ratio};

/// The verdict on settings, from their time of an operation as a multiple of the default's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Faster,
    /// They and the default are alike to within [`ALIKE`].
    Alike,
    Slower,
    /// There are too few trials, or too much scatter, to decide.
    Open,
}

impl Verdict {
    /// The verdict of a ratio to the default's time.
    pub fn judge(times: &Ratio) -> Verdict {
        match times.ratio.interval.filter(|_| times.blocks >= MIN_BLOCKS) {
            Some(interval) if interval.low > 1.0 - ALIKE && interval.high < 1.0 + ALIKE => Verdict::Alike,
            Some(interval) if interval.high < 1.0 => Verdict::Faster,
            Some(interval) if interval.low > 1.0 => Verdict::Slower,
            _ => Verdict::Open,
        }
    }
}

/// The required precision of a gain: the largest factor between the ends of its interval.
const MAX_SPREAD: f64 = 1.1;

/// How much worse settings must seem to be given up.
const GIVE_UP_FACTOR: f64 = 1.03;

/// Whether a gain needs no further trials: it is known well, or there is none.
pub fn is_settled(times: &Ratio) -> bool {
    match Verdict::judge(times) {
        Verdict::Alike | Verdict::Slower => true,
        Verdict::Faster => times.ratio.interval.is_some_and(|i| i.high <= i.low * MAX_SPREAD),
        Verdict::Open => false,
    }
}

/// Whether settings are given up, given the ratio to what they are compared with.
pub fn is_surely_worse(times: &Ratio) -> bool {
    times.ratio.value > GIVE_UP_FACTOR && times.ratio.interval.is_some_and(|interval| interval.low > 1.0)
}

/// Whether settings are better by at least `least`, a share of the time, with the confidence of this ratio. With fewer
/// blocks than an interval needs, the mean decides: the result is measured again.
pub fn is_better(times: &Ratio, least: f64) -> bool {
    let is_sure = times.ratio.interval.is_some_and(|interval| interval.high < 1.0);
    times.ratio.value < 1.0 - least && (times.blocks < MIN_BLOCKS || is_sure)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gain_is_known_by_its_interval() {
        for (value, low, high, blocks, verdict, settled) in [
            (0.8, 0.7, 0.9, 3, Verdict::Faster, false),
            (0.8, 0.77, 0.83, 3, Verdict::Faster, true),
            (0.99, 0.98, 0.999, 3, Verdict::Alike, true),
            (1.2, 1.1, 1.3, 3, Verdict::Slower, true),
            (0.8, 0.5, 1.1, 3, Verdict::Open, false),
            // Two blocks are too few.
            (0.8, 0.7, 0.9, 2, Verdict::Open, false),
        ] {
            let times = Ratio::with_ends(value, low, high, blocks);
            assert_eq!((Verdict::judge(&times), is_settled(&times)), (verdict, settled), "{times:?}");
        }
    }

    #[test]
    fn a_race_gives_up_what_is_surely_worse_and_keeps_what_looks_better() {
        for (value, low, high, is_worse) in
            [(1.1, 1.01, 1.2, true), (1.02, 1.01, 1.03, false), (1.1, 0.9, 1.3, false)]
        {
            assert_eq!(is_surely_worse(&Ratio::with_ends(value, low, high, 3)), is_worse, "{value} {low}");
        }
        let better = |value, low, high, blocks| is_better(&Ratio::with_ends(value, low, high, blocks), 0.03);
        assert!(better(0.9, 0.8, 0.99, 3) && better(0.9, 0.8, 1.1, 2));
        assert!(!better(0.9, 0.8, 1.1, 3) && !better(0.99, 0.98, 0.995, 3));
    }
}
