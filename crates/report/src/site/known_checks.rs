//! Finds the checks of a store on a machine in all runs: the study that measures speed is seldom the one that cuts power and kills.

use std::collections::BTreeMap;

use storebench_model::store::Guarantee;

use super::facts::{Proof, RunFacts, Side};

/// A version of a store at a guarantee, on a disk of a machine.
type Key<'f> = (&'f str, &'f str, &'f str, Option<Guarantee>, &'f str, &'f str);

#[derive(Debug, Default)]
pub struct KnownChecks<'f> {
    proofs: BTreeMap<Key<'f>, Vec<(&'f Proof, &'f RunFacts)>>,
    recoveries: BTreeMap<Key<'f>, (&'f str, &'f RunFacts)>,
}

fn key<'f>(run: &'f RunFacts, side: &'f Side) -> Key<'f> {
    let Side { store, settings, version, conditions, .. } = side;
    (store, settings, version, conditions.tier, &conditions.disk, &run.header.hardware)
}

impl<'f> KnownChecks<'f> {
    /// The checks of these runs; of recoveries the newest.
    pub fn from_runs(runs: &'f [RunFacts]) -> KnownChecks<'f> {
        let mut checks = KnownChecks::default();
        for run in runs {
            for side in &run.sides {
                let proofs = side.run_proofs.iter().map(|proof| (proof, run));
                if !side.run_proofs.is_empty() {
                    checks.proofs.entry(key(run, side)).or_default().extend(proofs);
                }
                let Some(recovery) = &side.recovery else { continue };
                let newest = checks.recoveries.entry(key(run, side)).or_insert((recovery, run));
                if (&newest.1.header.started, &newest.1.name) < (&run.header.started, &run.name) {
                    *newest = (recovery, run);
                }
            }
        }
        checks
    }

    /// The evidence on power cuts: the program's, then that of runs.
    pub fn proofs(&self, run: &RunFacts, side: &'f Side) -> Vec<(&'f Proof, Option<&'f RunFacts>)> {
        let of_runs = self.proofs.get(&key(run, side)).into_iter().flatten();
        let of_runs = of_runs.map(|(proof, run)| (*proof, Some(*run)));
        side.known_proofs.iter().map(|proof| (proof, None)).chain(of_runs).collect()
    }

    /// The time to open after a kill, with the run that measured it.
    pub fn recovery(&self, run: &RunFacts, side: &Side) -> Option<(&'f str, &'f RunFacts)> {
        self.recoveries.get(&key(run, side)).copied()
    }
}
