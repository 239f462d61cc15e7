//! Whether a run knows its winners well enough. It is looked at after planned numbers of blocks alone ([`looks`]), each time by
//! intervals that allow for all of these looks: a run that ends as soon as it happens to look clear would be wrong too often.

use storebench_core::result::{Run, TrialResult};

use super::looks;
use super::matrix::{Contest, matrices};
use super::merge::Merged;
use crate::stats::{MIN_BLOCKS, Rule};

/// Whether blocks are to end: no look is planned after those that are there, or one is due and the precision is reached.
/// `run` has `cells` trials in a whole block, and the looks that were planned in its header.
pub fn is_over(run: &Run, cells: usize, harness: &[&str], share: f64) -> bool {
    looks::is_over(&run.header.looks, whole_blocks(&run.trials, cells), || is_reached(run, harness, share))
}

/// The number of blocks that have all their trials, whatever came of these.
fn whole_blocks(trials: &[TrialResult], cells: usize) -> u32 {
    let blocks = 1 + trials.iter().map(|trial| trial.block).max().unwrap_or(0);
    let whole = |block: &u32| trials.iter().filter(|trial| trial.block == *block).count() >= cells;
    (0..blocks).filter(whole).count() as u32
}

/// Whether every ratio that decides a winner, that of the second to the best, is known to within `share` of itself to either
/// side. A ratio without an interval is not known at all. No trial can mend a figure of zero, which has no ratio, nor a
/// difference that the clock can't tell: neither counts.
pub fn is_reached(run: &Run, harness: &[&str], share: f64) -> bool {
    let runs = std::slice::from_ref(run);
    matrices(&Merged::new(runs, harness))
        .iter()
        .flat_map(|matrix| &matrix.rows)
        .flat_map(|row| &row.contests)
        .all(|contest| is_decided(contest, share))
}

fn is_decided(contest: &Contest, share: f64) -> bool {
    let Some(second) = contest.contenders.get(1) else { return true };
    let Some(ratio) = second.times_worse else { return true };
    if second.rule == Some(Rule::Clock) && ratio.blocks >= MIN_BLOCKS {
        return true;
    }
    // A range is no interval.
    let interval = ratio.ratio.interval.filter(|_| second.rule == Some(Rule::Interval));
    interval.is_some_and(|interval| {
        let value = ratio.ratio.value;
        interval.high - value <= share * value && value - interval.low <= share * value
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::samples::{Sample, blocks};

    #[test]
    fn more_and_steadier_blocks_reach_a_precision() {
        let made = |count: usize, noise: f64| {
            let block = |number: usize| {
                let factor = if number.is_multiple_of(2) { 1.0 + noise } else { 1.0 };
                vec![Sample::new("lmdb").ns(1000.0 * factor), Sample::new("redb").ns(1500.0)]
            };
            blocks("box", &(0..count).map(block).collect::<Vec<_>>())
        };
        assert!(!is_reached(&made(1, 0.0), &[], 0.05), "one block says nothing");
        assert!(is_reached(&made(5, 0.01), &[], 0.05));
        assert!(!is_reached(&made(5, 0.5), &[], 0.05));
    }

    /// Two stores in so many blocks, the second always 1.5 times as slow.
    fn steady(count: usize) -> Run {
        blocks("box", &vec![vec![Sample::new("lmdb"), Sample::new("redb").ns(1500.0)]; count])
    }

    #[test]
    fn two_blocks_that_agree_are_not_enough() {
        assert!(!is_reached(&steady(2), &[], 0.05), "the threshold decides nothing");
        assert!(is_reached(&steady(3), &[], 0.05));
    }

    #[test]
    fn a_run_ends_at_planned_looks_alone() {
        let over = |count: usize| {
            let mut run = steady(count);
            run.header.looks = looks::from(1);
            is_over(&run, 2, &[], 0.05)
        };
        let ends: Vec<usize> = (1..=9).filter(|count| over(*count)).collect();
        assert_eq!(ends, [3, 5, 8]);
        // A block that was cut off is none yet.
        let mut run = steady(5);
        run.header.looks = looks::from(1);
        run.trials.pop();
        assert!(!is_over(&run, 2, &[], 0.05));
        run.header.looks = vec![4];
        assert!(is_over(&run, 2, &[], 0.0), "after the last look nothing is run");
    }

    #[test]
    fn intervals_allow_for_the_looks() {
        let noisy = |count: usize| {
            let factor = |block: usize| 1.0 + 0.02 * (block % 3) as f64;
            let block = |number: usize| {
                vec![Sample::new("lmdb").ns(1000.0 * factor(number)), Sample::new("redb").ns(1500.0)]
            };
            blocks("box", &(0..count).map(block).collect::<Vec<_>>())
        };
        let mut run = noisy(5);
        assert!(is_reached(&run, &[], 0.03));
        run.header.looks = looks::from(1);
        assert!(!is_reached(&run, &[], 0.03), "six looks take wider intervals");
    }
}
