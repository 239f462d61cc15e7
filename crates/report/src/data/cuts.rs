//! The states in which power cuts can leave each store, put together over the trials of a group.

use std::borrow::Cow;

use indexmap::IndexMap;
use storebench_core::result::{Control, CutCheck, Cuts, Finding};

use super::matrix::Sorted;
use super::merge::{Group, Merged};

/// The confidence with which it is told how rare is what was never found.
pub(crate) const CONFIDENCE: f64 = 0.95;

/// The states of one store, and why there are none of some trials.
#[derive(Debug, Default)]
pub(crate) struct Looked {
    /// All of them.
    pub(crate) cuts: Cuts,
    /// Trials with a cut check.
    pub(crate) trials: usize,
    /// Why others have none.
    pub(crate) not_made: Option<String>,
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

    /// States of a control, and those that were caught.
    pub(crate) fn control(&self, control: Control) -> (u64, u64) {
        self.cuts.controls.get(&control).map_or((0, 0), |caught| (caught.states, caught.caught))
    }

    /// Whether the check sees what it must see: a disk that ignores flushes is noticed in at least half of the states.
    pub(crate) fn is_sound(&self) -> bool {
        let (states, caught) = self.control(Control::NoFlush);
        states > 0 && caught * 2 >= states
    }

    fn add(&mut self, check: &CutCheck) {
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
        for (control, caught) in &made.controls {
            let sum = all.controls.entry(*control).or_default();
            sum.states += caught.states;
            sum.caught += caught.caught;
        }
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
            let checks = entries.iter().filter_map(|entry| entry.trial.ok()?.cut_check.as_ref());
            for check in checks {
                let whole_bytes = match check {
                    CutCheck::Made(made) => made.whole_bytes,
                    CutCheck::NotMade { .. } => 0,
                };
                all.entry((store.clone(), whole_bytes)).or_default().add(check);
            }
        }
    }
    all.into_iter().map(|((store, _), looked)| (store.into_owned(), looked)).collect()
}

/// The value below which a share of some are; `None` of none.
pub(crate) fn quantile(values: &[u64], share: f64) -> Option<u64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let last = sorted.len().checked_sub(1)?;
    sorted.get((last as f64 * share).round() as usize).copied()
}
