//! The states after power cuts of each store, combined over the trials of a group.

use std::borrow::Cow;

use indexmap::IndexMap;
use storebench_core::result::{BadState, CutCheck, CutResults, Phase};
use storebench_core::store::Guarantee;

use super::matrix::SortedTrials;
use super::merge::{Group, Merged};

/// The states of one store, and why some trials have none.
#[derive(Debug, Default)]
pub(crate) struct CheckedStates {
    /// All of them.
    pub(crate) cuts: CutResults,
    /// Trials with a cut check.
    pub(crate) trials: usize,
    /// Why others have none.
    pub(crate) not_made: Option<String>,
    /// The tier that it is checked against: the one asked for, otherwise the one given.
    pub(crate) tier: Option<Guarantee>,
    /// States that lost more than that allows, with the positions of their trials.
    pub(crate) bad: Vec<(u64, BadState)>,
}

impl CheckedStates {
    /// The states cut in a part of the history, and how many of them lost something.
    pub(crate) fn phase(&self, phase: Phase) -> (u64, u64) {
        self.cuts.phases.get(&phase).map_or((0, 0), |states| (states.states, states.caught))
    }

    fn add(&mut self, position: u64, check: &CutCheck) {
        let made = match check {
            CutCheck::NotMade { reason } => {
                self.not_made = Some(reason.clone());
                return;
            }
            CutCheck::Made(made) => made,
        };
        self.trials += 1;
        let all = &mut self.cuts;
        all.steps += made.steps;
        all.requests += made.requests;
        all.flushes += made.flushes;
        all.whole_bytes = made.whole_bytes;
        for (sums, own) in [(&mut all.found, &made.found), (&mut all.unacknowledged, &made.unacknowledged)] {
            own.iter().for_each(|(finding, states)| *sums.entry(*finding).or_default() += states);
        }
        all.sessions = made.sessions;
        made.phases.iter().for_each(|(phase, states)| all.phases.entry(*phase).or_default().add(*states));
        made.controls
            .iter()
            .for_each(|(control, states)| all.controls.entry(*control).or_default().add(*states));
        all.open_ns.extend(&made.open_ns);
        all.verified += made.verified;
        self.bad.extend(made.bad.iter().map(|bad| (position, bad.clone())));
        all.lost_steps.extend(&made.lost_steps);
        all.lost_ns.extend(&made.lost_ns);
    }
}

/// The states of a group's stores, in the order of its tables; disks that tear blocks are separate.
pub(crate) fn checked_states<'g, 'a: 'g>(
    merged: &'g Merged<'a>,
    group: &'g Group<'a>,
) -> Vec<(String, CheckedStates)> {
    let sorted = SortedTrials::new(merged, group);
    let mut all: IndexMap<(Cow<'_, str>, u64), CheckedStates> = IndexMap::new();
    for here in sorted.entries.values() {
        for (store, entries) in here {
            let checks = entries
                .iter()
                .filter_map(|entry| Some((entry.trial.position, entry.trial.ok()?.cut_check.as_ref()?)));
            for (position, check) in checks {
                let whole_bytes = match check {
                    CutCheck::Made(made) => made.whole_bytes,
                    CutCheck::NotMade { .. } => 0,
                };
                let looked = all.entry((store.clone(), whole_bytes)).or_default();
                looked.tier = group.key.asked.and_then(|asked| asked.tier()).or(group.key.tier);
                looked.add(position, check);
            }
        }
    }
    all.into_iter().map(|((store, _), looked)| (store.into_owned(), looked)).collect()
}

#[cfg(test)]
mod tests {
    use storebench_core::result::{Harm, StateFinding};

    use super::*;

    #[test]
    fn what_broke_before_anything_was_acknowledged_stays_so_over_several_trials() {
        let of = |states| [(StateFinding::Refused, states)].into_iter().collect();
        let made = CutResults { found: of(2), unacknowledged: of(2), ..CutResults::default() };
        let mut looked = CheckedStates::default();
        (0..2).for_each(|position| looked.add(position, &CutCheck::Made(Box::new(made.clone()))));
        assert_eq!(looked.cuts.harms(Guarantee::Power), [(Harm::Created, 4)].into());
    }
}
