//! The states in which power cuts can leave each store, put together over the trials of a group.

use std::borrow::Cow;

use indexmap::IndexMap;
use storebench_core::result::{BadState, Control, CutCheck, Cuts, Finding, Phase};
use storebench_core::store::Guarantee;

use super::matrix::Sorted;
use super::merge::{Group, Merged};

/// The confidence with which it is told how rare is what was never found.
pub(crate) const CONFIDENCE: f64 = 0.95;

/// States of a control of which at least one must be caught.
const ENOUGH: u64 = 4;

/// The states of one store, and why there are none of some trials.
#[derive(Debug, Default)]
pub(crate) struct Looked {
    /// All of them.
    pub(crate) cuts: Cuts,
    /// Trials with a cut check.
    pub(crate) trials: usize,
    /// Why others have none.
    pub(crate) not_made: Option<String>,
    /// The tier to which it is held: the one asked for, else the one given.
    pub(crate) tier: Option<Guarantee>,
    /// States in which more is lost than that allows, with the positions of their trials.
    pub(crate) bad: Vec<(u64, BadState)>,
}

impl Looked {
    /// Whether nothing was lost in any state.
    pub(crate) fn is_whole(&self) -> bool {
        self.cuts.of(Finding::Held) == self.cuts.states()
    }

    /// The most that the share of losses can be where none was found, with that confidence; `None` where some were, where nothing was
    /// looked at, and where the check saw too little to count.
    pub(crate) fn at_most(&self) -> Option<f64> {
        let states = self.cuts.states();
        let none = states > 0 && self.is_whole() && self.is_sound();
        none.then(|| 1.0 - (1.0 - CONFIDENCE).powf(1.0 / states as f64))
    }

    /// Whether it keeps what its tier promises in all states; `None` where none was looked at, and where the check saw too little.
    pub(crate) fn holds(&self) -> Option<bool> {
        let tier = self.tier?;
        let is_broken =
            self.cuts.found.iter().any(|(finding, states)| *states > 0 && !finding.is_allowed(tier));
        (is_broken || (self.cuts.states() > 0 && self.is_sound())).then_some(!is_broken)
    }

    /// States that were cut in a part of the history, and those of them that did not hold.
    pub(crate) fn phase(&self, phase: Phase) -> (u64, u64) {
        self.cuts.phases.get(&phase).map_or((0, 0), |states| (states.states, states.caught))
    }

    /// States of a control, and those that were caught.
    pub(crate) fn control(&self, control: Control) -> (u64, u64) {
        self.cuts.controls.get(&control).map_or((0, 0), |caught| (caught.states, caught.caught))
    }

    /// Whether the check sees what it must see: a disk that ignores flushes is noticed in at least half of the states, and each other
    /// control in one at least, where there are enough of it to tell. A store that writes in place is not noticed on a file system that
    /// does not.
    pub(crate) fn is_sound(&self) -> bool {
        let (states, caught) = self.control(Control::NoFlush);
        let is_blind = |control: Control| {
            let (states, caught) = self.control(control);
            states >= ENOUGH && caught == 0
        };
        let others = [Control::LastFlush, Control::EarlyAcknowledgement];
        states > 0 && caught * 2 >= states && !others.into_iter().any(is_blind)
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
        made.found.iter().for_each(|(finding, states)| *all.found.entry(*finding).or_default() += states);
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

/// The states of a group's stores, in the order of its tables; those of a disk that tears blocks apart.
pub(crate) fn looked<'g, 'a: 'g>(merged: &'g Merged<'a>, group: &'g Group<'a>) -> Vec<(String, Looked)> {
    let sorted = Sorted::new(merged, group);
    let mut all: IndexMap<(Cow<'_, str>, u64), Looked> = IndexMap::new();
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
