//! Faults of the disk and their effects on each store, combined over the trials of a group.

use std::borrow::Cow;

use indexmap::IndexMap;
use storebench_model::result::{FaultCheck, FaultResults};

use super::matrix::SortedTrials;
use super::merge::{Group, Merged};

/// The faults of a store, and why some trials have none.
#[derive(Debug, Default)]
pub struct StoreFaults {
    pub faults: FaultResults,
    pub trials: usize,
    /// Why others have none.
    pub not_made: Option<String>,
}

/// The faults of a group's stores, in the order of its tables.
pub fn faults_of_stores<'g, 'a: 'g>(
    merged: &'g Merged<'a>,
    group: &'g Group<'a>,
) -> Vec<(String, StoreFaults)> {
    let sorted = SortedTrials::new(merged, group);
    let mut by_store: IndexMap<Cow<'_, str>, StoreFaults> = IndexMap::new();
    for contestants in sorted.entries.values() {
        for (store, entries) in contestants {
            for check in entries.iter().filter_map(|entry| entry.trial.ok()?.fault_check.as_ref()) {
                let store_faults = by_store.entry(store.clone()).or_default();
                match check {
                    FaultCheck::Made(faults) => {
                        store_faults.trials += 1;
                        store_faults.faults.add(faults);
                    }
                    FaultCheck::NotMade { reason } => store_faults.not_made = Some(reason.clone()),
                }
            }
        }
    }
    by_store.into_iter().map(|(store, store_faults)| (store.into_owned(), store_faults)).collect()
}
