//! When to look whether a run knows enough, and how sure intervals must be for that.
//!
//! Who looks after every block, and stops as soon as an interval happens to exclude 1, stops too early far more often than
//! the interval's confidence says. So it is planned beforehand after how many blocks to look, and each look takes an
//! interval whose error is its share of the whole (Bonferroni): whichever look ends the search, its interval holds with
//! [`CONFIDENCE`].
//!
//! Where a run goes on for as long as its budget lasts, the early looks are strict instead: together they take [`EARLY`] of the error, and
//! whatever ends the measuring, the last look or the time, has the rest (J. Haybittle, *Repeated assessment of results in clinical trials of
//! cancer treatment*, British Journal of Radiology 44, 1971). So an early look ends what is clear at once, and hardly anything that more
//! trials would have made less so.

use std::collections::BTreeSet;

use storebench_core::result::RunHeader;

use super::merge::{Entry, Merged};
use crate::stats::{CONFIDENCE, MIN_BLOCKS, Ratio, Rule};

/// Numbers of blocks after which to look; more blocks than the last are never run. Each look costs width, so there are few.
const LOOKS: [u32; 6] = [MIN_BLOCKS as u32, 5, 8, 12, 20, 32];

/// The looks to plan where there is time for so many blocks: the last is the first that time may not suffice for.
pub fn planned(blocks: u32) -> &'static [u32] {
    let before = LOOKS.iter().take_while(|look| **look < blocks).count();
    &LOOKS[..(before + 1).min(LOOKS.len())]
}

/// The looks to plan where a run is to have so many blocks at least, and time is not known: the first comes after those.
pub fn from(blocks: u32) -> Vec<u32> {
    let first = blocks.max(LOOKS[0]);
    std::iter::once(first).chain(LOOKS.into_iter().filter(|look| *look > first)).collect()
}

/// The first look after so many blocks or more; `None` where none is planned that late.
pub fn first_from(blocks: u32) -> Option<u32> {
    LOOKS.into_iter().find(|look| *look >= blocks)
}

/// The confidence of an interval that holds with [`CONFIDENCE`] whichever of so many looks it is from.
pub fn confidence(looks: usize) -> f64 {
    1.0 - (1.0 - CONFIDENCE) / looks.max(1) as f64
}

/// The share of the error that strict early looks take together.
const EARLY: f64 = 0.1;

/// A look that is to come.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    /// After so many blocks.
    pub blocks: u32,
    /// Its confidence.
    pub confidence: f64,
}

/// The confidences of looks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Levels {
    /// Of each look before the last.
    pub early: f64,
    /// Of whatever ends the measuring, if no early look did.
    pub end: f64,
}

/// The confidences by which figures of these runs are judged.
pub fn levels(runs: &[&RunHeader]) -> Levels {
    match runs {
        [RunHeader { looks, strict_early: true, .. }] if looks.len() > 1 => Levels {
            early: 1.0 - (1.0 - CONFIDENCE) * EARLY / (looks.len() - 1) as f64,
            end: 1.0 - (1.0 - CONFIDENCE) * (1.0 - EARLY),
        },
        // Bonferroni's bound holds whatever ended each of several runs.
        _ => {
            let alike = confidence(together(runs.iter().map(|run| run.looks.len())));
            Levels { early: alike, end: alike }
        }
    }
}

/// Whether blocks are to end after so many: no more are planned, or it is time to look and it is `clear`.
pub fn is_over(planned: &[u32], blocks: u32, clear: impl FnOnce() -> bool) -> bool {
    planned.last().is_none_or(|last| blocks >= *last) || (planned.contains(&blocks) && clear())
}

/// Whether the second is told from the best, if only by what the clock can't tell or is too little to matter, or all of their interval says that both are alike
/// to within `precision`, a share of 1.
pub fn is_clear(rule: Option<Rule>, times_worse: Option<Ratio>, precision: f64) -> bool {
    let interval =
        times_worse.filter(|ratio| ratio.blocks >= MIN_BLOCKS).and_then(|ratio| ratio.ratio.interval);
    matches!(rule, Some(Rule::Interval | Rule::Clock | Rule::Little))
        && interval
            .is_some_and(|i| i.low > 1.0 || (i.high <= 1.0 + precision && i.low * (1.0 + precision) >= 1.0))
}

/// The number of looks that the figures of one position allow for. Where several runs were each stopped by looks, any of one
/// may have come together with any of another.
pub fn behind<'e>(merged: &Merged<'_>, entries: impl Iterator<Item = &'e Entry<'e>>) -> usize {
    let runs: BTreeSet<usize> = entries.map(|entry| entry.run).collect();
    together(runs.into_iter().map(|run| merged.runs[run].header.looks.len()))
}

/// The number of looks that figures allow for that come from several runs, each with so many.
pub fn together(looks: impl Iterator<Item = usize>) -> usize {
    looks.map(|looks| looks.max(1)).product()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::undecided;
    use crate::stats::tests::normal;
    use crate::stats::{Better, Series, decide_at};

    #[test]
    fn looks_are_as_many_as_there_is_time_for() {
        assert_eq!(planned(0), [3]);
        assert_eq!(planned(3), [3]);
        assert_eq!(planned(10), [3, 5, 8, 12]);
        assert_eq!(planned(1_000), LOOKS);
        assert_eq!((from(1), from(4)), (LOOKS.to_vec(), vec![4, 5, 8, 12, 20, 32]));
        assert_eq!(from(40), [40]);
        assert!((confidence(1) - 0.95).abs() < 1e-12 && (confidence(5) - 0.99).abs() < 1e-12);
    }

    #[test]
    fn alike_is_what_lies_within_the_margin_with_all_of_its_interval() {
        let clear = |low: f64, high: f64| {
            let interval = Some(crate::stats::Interval { low, high, confidence: CONFIDENCE });
            let ratio = crate::stats::Estimate { value: (low * high).sqrt(), interval };
            is_clear(Some(Rule::Interval), Some(Ratio { blocks: 5, ratio }), 0.03)
        };
        assert!(clear(0.98, 1.02) && clear(1.01, 1.06));
        assert!(!clear(1.00, 1.06) && !clear(0.66, 6.7) && !clear(0.95, 1.01));
    }

    #[test]
    fn between_looks_nothing_ends() {
        let planned = [3, 5, 8];
        let ends: Vec<u32> = (1..=9).filter(|blocks| is_over(&planned, *blocks, || true)).collect();
        assert_eq!(ends, [3, 5, 8, 9]);
        let ends: Vec<u32> = (1..=9).filter(|blocks| is_over(&planned, *blocks, || false)).collect();
        assert_eq!(ends, [8, 9]);
    }

    /// The share of searches among equal stores in which one is called better than the next, by these looks.
    fn called_better(stores: usize, planned: &[u32], confidence: f64) -> f64 {
        let mut random = fastrand::Rng::with_seed(5);
        let rounds = 2_000;
        let called = (0..rounds).filter(|_| {
            let mut series: Vec<Series<u32>> = vec![Series::new(); stores];
            for blocks in 1.. {
                let weather = normal(&mut random);
                for store in &mut series {
                    store.insert(blocks, (weather + 0.1 * normal(&mut random)).exp());
                }
                let second = || decide_at(&series, Better::Lower, confidence).swap_remove(1);
                let clear = || {
                    let second = second();
                    is_clear(second.rule, second.times_worse, 0.03)
                };
                if is_over(planned, blocks, clear) {
                    return !second().wins;
                }
            }
            false
        });
        called.count() as f64 / f64::from(rounds)
    }

    /// The same of a run with a budget, which leaves what the last look will hardly decide.
    fn called_worse_by_strict_looks(stores: usize) -> f64 {
        let planned = from(8);
        let mut run = crate::data::samples::blocks("box", &[]);
        run.header.looks.clone_from(&planned);
        run.header.strict_early = true;
        let Levels { early, end } = levels(&[&run.header]);
        let last = Look { blocks: planned[planned.len() - 1], confidence: end };
        let mut random = fastrand::Rng::with_seed(8);
        let rounds = 1_000;
        let called = (0..rounds).filter(|_| {
            let mut series: Vec<Series<u32>> = vec![Series::new(); stores];
            for blocks in 1..=last.blocks {
                for store in &mut series {
                    store.insert(blocks, (0.1 * normal(&mut random)).exp());
                }
                if !planned.contains(&blocks) {
                    continue;
                }
                let told = |at: f64| decide_at(&series, Better::Lower, at).into_iter().skip(1);
                if told(early).any(|other| !other.wins) {
                    return true;
                }
                let goes_on = |ratio: Ratio| blocks < last.blocks && undecided::is_worth_trying(ratio, last);
                if !told(early).any(|other| other.times_worse.is_some_and(goes_on)) {
                    return told(end).any(|other| !other.wins);
                }
            }
            false
        });
        called.count() as f64 / f64::from(rounds)
    }

    #[test]
    fn strict_early_looks_leave_the_last_nearly_all_of_the_error() {
        let mut run = crate::data::samples::blocks("box", &[]);
        run.header.looks = vec![8, 12, 20, 32];
        assert_eq!(levels(&[&run.header]), Levels { early: confidence(4), end: confidence(4) });
        let alike = run.header.clone();
        run.header.strict_early = true;
        let strict = levels(&[&run.header]);
        assert!((strict.early - (1.0 - 0.005 / 3.0)).abs() < 1e-12 && (strict.end - 0.955).abs() < 1e-12);
        // Whichever looks of two runs came together.
        assert_eq!(levels(&[&run.header, &alike]).end, confidence(16));
        run.header.looks = vec![40];
        assert_eq!(levels(&[&run.header]), Levels { early: CONFIDENCE, end: CONFIDENCE });
    }

    #[test]
    fn equal_stores_are_called_better_no_more_often_than_the_confidence_allows() {
        for blocks in [10, 16, 100] {
            let planned = planned(blocks);
            for stores in [2, 4] {
                let share = called_better(stores, planned, confidence(planned.len()));
                assert!(share <= 0.05, "{stores} stores, {blocks} blocks: {share}");
            }
        }
        for stores in [2, 4, 10] {
            let share = called_worse_by_strict_looks(stores);
            assert!(share <= 0.05, "{stores} stores, strict early looks: {share}");
        }
        // The fault that this guards against: a look after every block, each as if it were the only one.
        let every: Vec<u32> = (3..=16).collect();
        let share = called_better(2, &every, CONFIDENCE);
        assert!(share > 0.15, "{share}");
    }
}
