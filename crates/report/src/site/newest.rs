//! The newest version of each store among the runs: its figures replace those of earlier ones.

use std::collections::BTreeMap;

use storebench_model::store::numbers;

use super::facts::{RunFacts, Side};

#[derive(Debug, Default)]
pub struct Newest<'f>(BTreeMap<&'f str, &'f str>);

/// Whether a store's version is the kernel's, as for files in folders: each machine has another, and none replaces another.
fn is_kernel(run: &RunFacts, side: &Side) -> bool {
    run.header.environment.kernel.starts_with(&side.version)
}

/// A version in comparable form: 3.9 is older than 3.46.
fn version_numbers(version: &str) -> Vec<u64> {
    numbers(version).split('.').filter_map(|number| number.parse().ok()).collect()
}

impl<'f> Newest<'f> {
    pub fn from_runs(runs: &'f [RunFacts]) -> Newest<'f> {
        let mut versions = Newest::default();
        for run in runs {
            for side in run.sides.iter().filter(|side| !is_kernel(run, side)) {
                let newest = versions.0.entry(&side.store).or_insert(&side.version);
                if version_numbers(newest) < version_numbers(&side.version) {
                    *newest = &side.version;
                }
            }
        }
        versions
    }

    /// The newest version of a store here, if it is newer than a figure's.
    pub fn newer(&self, run: &RunFacts, side: &Side) -> Option<&'f str> {
        if is_kernel(run, side) {
            return None;
        }
        let newest = self.0.get(side.store.as_str()).copied()?;
        (version_numbers(&side.version) < version_numbers(newest)).then_some(newest)
    }
}
