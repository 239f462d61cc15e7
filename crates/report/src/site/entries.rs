//! The runs of a collection beside one another: by how many others one was repeated, and which figures are of versions that newer ones have
//! replaced.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use storebench_core::store::numbers;

use super::facts::{Facts, Side};

/// The stores of a run with their versions.
type Versions<'f> = BTreeSet<(&'f str, &'f str)>;

/// The knowledge that a collection has of its runs.
#[derive(Debug, Default)]
pub struct Entries<'f> {
    /// The newest version of each store.
    newest: BTreeMap<&'f str, &'f str>,
    /// The runs of each plan: who measured them, with which versions.
    plans: HashMap<u64, Vec<(&'f str, Versions<'f>)>>,
}

/// Who measured a run: by name, or else by the machine's.
fn who(run: &Facts) -> &str {
    run.measured_by.as_deref().unwrap_or(&run.header.hardware)
}

fn versions(run: &Facts) -> Versions<'_> {
    run.sides.iter().map(|side| (side.store.as_str(), side.version.as_str())).collect()
}

/// Whether a store's version is the kernel's, as that of files in folders is: each machine has its own, and none replaces another.
fn is_kernel(run: &Facts, side: &Side) -> bool {
    run.header.environment.kernel.starts_with(&side.version)
}

/// A version as one that can be compared: 3.9 is older than 3.46.
fn order(version: &str) -> Vec<u64> {
    numbers(version).split('.').filter_map(|number| number.parse().ok()).collect()
}

impl<'f> Entries<'f> {
    /// Those of these runs.
    pub fn of(runs: &'f [Facts]) -> Entries<'f> {
        let mut entries = Entries::default();
        for run in runs {
            for side in run.sides.iter().filter(|side| !is_kernel(run, side)) {
                let newest = entries.newest.entry(&side.store).or_insert(&side.version);
                if order(newest) < order(&side.version) {
                    *newest = &side.version;
                }
            }
            entries.plans.entry(run.plan).or_default().push((who(run), versions(run)));
        }
        entries
    }

    /// The number of others who ran the same plan with the same versions of all stores of the run.
    pub fn repeated(&self, run: &Facts) -> usize {
        let own = versions(run);
        let same = self.plans.get(&run.plan).into_iter().flatten();
        let others = same.filter(|(other, theirs)| *other != who(run) && own.is_subset(theirs));
        others.map(|(other, _)| other).collect::<BTreeSet<_>>().len()
    }

    /// The newest version of a store here, where it is newer than that of a figure.
    pub fn newer(&self, run: &Facts, side: &Side) -> Option<&'f str> {
        if is_kernel(run, side) {
            return None;
        }
        let newest = self.newest.get(side.store.as_str()).copied()?;
        (order(&side.version) < order(newest)).then_some(newest)
    }
}
