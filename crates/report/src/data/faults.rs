//! Faults of the disk and their effects on each store, combined over the trials of a group.

use std::borrow::Cow;

use indexmap::IndexMap;
use storebench_core::result::{FaultCheck, FaultResults};

use super::matrix::SortedTrials;
use super::merge::{Group, Merged};

/// The faults of a store, and why some trials have none.
#[derive(Debug, Default)]
pub(crate) struct StoreFaults {
    /// All of them.
    pub(crate) faults: FaultResults,
    /// Trials with such a check.
    pub(crate) trials: usize,
    /// Why others have none.
    pub(crate) not_made: Option<String>,
}

/// The faults of a group's stores, in the order of its tables.
pub(crate) fn faults_of_stores<'g, 'a: 'g>(
    merged: &'g Merged<'a>,
    group: &'g Group<'a>,
) -> Vec<(String, StoreFaults)> {
    let sorted = SortedTrials::new(merged, group);
    let mut all: IndexMap<Cow<'_, str>, StoreFaults> = IndexMap::new();
    for here in sorted.entries.values() {
        for (store, entries) in here {
            for check in entries.iter().filter_map(|entry| entry.trial.ok()?.fault_check.as_ref()) {
                let struck = all.entry(store.clone()).or_default();
                match check {
                    FaultCheck::Made(faults) => {
                        struck.trials += 1;
                        struck.faults.add(faults);
                    }
                    FaultCheck::NotMade { reason } => struck.not_made = Some(reason.clone()),
                }
            }
        }
    }
    all.into_iter().map(|(store, struck)| (store.into_owned(), struck)).collect()
}
