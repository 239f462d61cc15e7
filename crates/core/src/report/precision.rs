//! Whether a run knows its winners well enough.

use super::matrix::{Contest, matrices};
use super::merge::Merged;
use crate::result::Run;

/// Whether every ratio that decides a winner, that of the second to the best, is known to within `share` of itself to either
/// side. A ratio without an interval is not known at all; nor is one where a figure is zero, which no trial can mend, so
/// that it does not count.
pub fn is_reached(run: &Run, harness: &[&str], share: f64) -> bool {
    let runs = std::slice::from_ref(run);
    matrices(&Merged::new(runs, harness))
        .iter()
        .flat_map(|matrix| &matrix.rows)
        .flat_map(|row| &row.contests)
        .all(|contest| is_decided(contest, share))
}

fn is_decided(contest: &Contest, share: f64) -> bool {
    let Some(ratio) = contest.contenders.get(1).and_then(|second| second.times_worse) else { return true };
    ratio.ratio.interval.is_some_and(|interval| {
        let value = ratio.ratio.value;
        interval.high - value <= share * value && value - interval.low <= share * value
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples::{Sample, blocks};

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
}
