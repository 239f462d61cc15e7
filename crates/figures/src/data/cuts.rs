//! The states after power cuts of each store, combined over the trials of a group.

use std::borrow::Cow;

use indexmap::IndexMap;
use storebench_model::result::{BadState, CutCheck, CutResults, Phase};
use storebench_model::store::Guarantee;

use super::matrix::SortedTrials;
use super::merge::{Group, Merged};

/// The states of one store, and why some trials have none.
#[derive(Debug, Default)]
pub struct CheckedStates {
    pub cuts: CutResults,
    pub trials: usize,
    /// Why others have none.
    pub not_made: Option<String>,
    /// The tier that it is checked against: the one asked for, otherwise the one given.
    pub tier: Option<Guarantee>,
    /// States that lost more than that allows, with the positions of their trials.
    pub bad: Vec<(u64, BadState)>,
}

impl CheckedStates {
    /// The states cut in a part of the history, and how many of them lost something.
    pub fn phase(&self, phase: Phase) -> (u64, u64) {
        self.cuts.phases.get(&phase).map_or((0, 0), |states| (states.states, states.caught))
    }

    fn add(&mut self, position: u64, check: &CutCheck) {
        let results = match check {
            CutCheck::NotMade { reason } => {
                self.not_made = Some(reason.clone());
                return;
            }
            CutCheck::Made(results) => results,
        };
        self.trials += 1;
        let sums = &mut self.cuts;
        sums.steps += results.steps;
        sums.requests += results.requests;
        sums.flushes += results.flushes;
        sums.whole_bytes = results.whole_bytes;
        for (counts, additions) in
            [(&mut sums.found, &results.found), (&mut sums.unacknowledged, &results.unacknowledged)]
        {
            additions.iter().for_each(|(finding, states)| *counts.entry(*finding).or_default() += states);
        }
        sums.sessions = results.sessions;
        results.phases.iter().for_each(|(phase, states)| sums.phases.entry(*phase).or_default().add(*states));
        for (control, states) in &results.controls {
            sums.controls.entry(*control).or_default().add(*states);
        }
        sums.open_ns.extend(&results.open_ns);
        sums.verified += results.verified;
        self.bad.extend(results.bad.iter().map(|bad| (position, bad.clone())));
        sums.lost_steps.extend(&results.lost_steps);
        sums.lost_ns.extend(&results.lost_ns);
    }
}

/// The states of a group's stores, in the order of its tables; disks that tear blocks are separate.
pub fn checked_states<'g, 'a: 'g>(
    merged: &'g Merged<'a>,
    group: &'g Group<'a>,
) -> Vec<(String, CheckedStates)> {
    let sorted = SortedTrials::new(merged, group);
    let mut by_store: IndexMap<(Cow<'_, str>, u64), CheckedStates> = IndexMap::new();
    for contestants in sorted.entries.values() {
        for (store, entries) in contestants {
            let checks = entries
                .iter()
                .filter_map(|entry| Some((entry.trial.position, entry.trial.ok()?.cut_check.as_ref()?)));
            for (position, check) in checks {
                let whole_bytes = match check {
                    CutCheck::Made(results) => results.whole_bytes,
                    CutCheck::NotMade { .. } => 0,
                };
                let states = by_store.entry((store.clone(), whole_bytes)).or_default();
                states.tier = group.key.asked.and_then(|asked| asked.tier()).or(group.key.tier);
                states.add(position, check);
            }
        }
    }
    by_store.into_iter().map(|((store, _), states)| (store.into_owned(), states)).collect()
}

#[cfg(test)]
mod tests {
    use storebench_model::result::{Harm, StateFinding};

    use super::*;

    #[test]
    fn what_broke_before_anything_was_acknowledged_stays_so_over_several_trials() {
        let refused = |states| [(StateFinding::Refused, states)].into_iter().collect();
        let results = CutResults { found: refused(2), unacknowledged: refused(2), ..CutResults::default() };
        let mut states = CheckedStates::default();
        (0..2).for_each(|position| states.add(position, &CutCheck::Made(Box::new(results.clone()))));
        assert_eq!(states.cuts.harms(Guarantee::Power), [(Harm::Created, 4)].into());
    }
}
