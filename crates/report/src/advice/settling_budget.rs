//! Estimates the budget that would settle an unclear answer.

use std::collections::BTreeSet;
use storebench_figures::data::matrix::ContestantTrials;
use storebench_figures::data::merge::{BlockKey, Merged};
use storebench_figures::judge::interim;
use storebench_figures::stats::Ratio;

use super::ranking::Candidate;

/// The factor between the computed budget and the advised one: blocks vary, folders take time, and other questions a part of the budget.
const MARGIN: f64 = 1.7;

/// The smallest factor between the budget that was not enough and the advised one.
const MIN_INCREASE: f64 = 1.5;

/// The cost of the measurements.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Cost {
    /// A block of the ranked stores, in seconds.
    pub block_s: f64,
    /// All other trials, in seconds.
    pub other_s: f64,
    /// The budget that was not enough, in seconds; 0 if unknown.
    pub spent_s: f64,
    /// The budget that would have measured the question's own number of records, in seconds, if a lack of time reduced it.
    pub own_count_s: Option<f64>,
}

impl Cost {
    /// The cost of the trials of these runs.
    pub(super) fn measure(merged: &Merged<'_>, ranking: &[Candidate], tested: &ContestantTrials<'_>) -> Cost {
        let is_ranked = |store: &str| ranking.iter().any(|candidate| candidate.store == store);
        let entries: Vec<_> =
            tested.iter().filter(|(store, _)| is_ranked(store)).flat_map(|(_, entries)| entries).collect();
        let blocks: BTreeSet<BlockKey> = entries.iter().map(|entry| entry.block()).collect();
        let ranked_s: f64 = entries.iter().map(|entry| entry.trial.took_s()).sum();
        let all_s: f64 = merged.runs.iter().flat_map(|run| &run.trials).map(|trial| trial.took_s()).sum();
        Cost {
            block_s: ranked_s / blocks.len().max(1) as f64,
            other_s: (all_s - ranked_s).max(0.0),
            spent_s: 0.0,
            own_count_s: None,
        }
    }

    /// Advice on how to separate two stores with this ratio.
    pub fn advice(&self, ratio: Option<&Ratio>) -> String {
        match interim::settling_look(ratio) {
            Some(blocks) => {
                let seconds = (f64::from(blocks) * self.block_s + self.other_s) * MARGIN;
                let seconds = seconds.max(self.spent_s * MIN_INCREASE);
                format!("--budget {} would probably settle it.", budget(seconds))
            }
            None if ratio.is_some_and(|ratio| ratio.blocks >= interim::MOST_BLOCKS) => {
                "No budget would settle it: choose by safety, disk and ease.".into()
            }
            None => "This budget could not decide: choose by safety, disk and ease.".into(),
        }
    }
}

/// A time in the form of a budget: whole minutes, or seconds below one.
pub fn budget(seconds: f64) -> String {
    let seconds = seconds.max(1.0).ceil() as u64;
    if seconds < 60 { format!("{seconds}s") } else { format!("{}m", seconds.div_ceil(60)) }
}

#[cfg(test)]
mod tests {
    use storebench_figures::stats::Estimate;

    use super::*;

    #[test]
    fn the_budget_follows_from_the_interval_and_what_a_block_took() {
        let cost = Cost { block_s: 10.0, other_s: 20.0, spent_s: 0.0, own_count_s: None };
        // The interval is as wide as the ratio's distance from 1 after (ln 1.2 / ln 1.1)² = 3.66 times the blocks; 12 is a look.
        let close = Ratio::with_ends(1.1, 1.1 / 1.2, 1.1 * 1.2, 3);
        assert_eq!(cost.advice(Some(&close)), "--budget 4m would probably settle it.");
        // A hundred times the blocks: beyond the last look.
        let alike = Ratio::with_ends(1.0, 0.7, 1.0 / 0.7, 5);
        assert!(cost.advice(Some(&alike)).starts_with("This budget could not decide"));
        assert!(cost.advice(Some(&Ratio { blocks: 32, ..alike })).starts_with("No budget"));
        // Too few to estimate.
        let once = Ratio { blocks: 1, ratio: Estimate { value: 1.5, interval: None } };
        assert_eq!(cost.advice(Some(&once)), "--budget 2m would probably settle it.");
        assert_eq!(cost.advice(None), "--budget 2m would probably settle it.");
        // Never the budget that was not enough.
        let cost = Cost { spent_s: 120.0, ..cost };
        assert_eq!(cost.advice(None), "--budget 3m would probably settle it.");
    }
}
