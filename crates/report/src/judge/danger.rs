//! Which stores are dangerous at a guarantee, and what the states prove that power cuts left.

use std::collections::BTreeSet;

use storebench_core::result::{Control, Cuts, Finding};
use storebench_core::store::{Danger, Guarantee};

/// The confidence with which it is told how rare is what was never found.
pub const CONFIDENCE: f64 = 0.95;

/// States of a control of which at least one must be caught.
const ENOUGH: u64 = 4;

/// Whether a store is not recommended, as a power cut can cost all of it. Who writes nothing, or needs nothing to survive, does not
/// mind.
pub fn is_dangerous(danger: Option<&Danger>, guarantee: Guarantee, writes: bool) -> bool {
    guarantee > Guarantee::None && writes && danger.is_some_and(Danger::can_wreck)
}

/// Of some stores those that are dangerous; none where there is no other.
pub fn dangerous<'d, S: Ord>(
    stores: impl ExactSizeIterator<Item = (S, Option<&'d Danger>)>,
    guarantee: Guarantee,
    writes: bool,
) -> BTreeSet<S> {
    let all = stores.len();
    let found = stores.filter(|(_, danger)| is_dangerous(*danger, guarantee, writes));
    let found: BTreeSet<S> = found.map(|(store, _)| store).collect();
    if found.len() == all { BTreeSet::new() } else { found }
}

/// Whether no accident costs more with one danger than with another; of two of which one is not known, it may.
pub fn costs_no_more(danger: Option<&Danger>, than: Option<&Danger>) -> bool {
    match (danger, than) {
        (Some(danger), Some(than)) => danger.kill >= than.kill && danger.power_cut >= than.power_cut,
        (danger, than) => danger.is_none() && than.is_none(),
    }
}

/// Whether nothing was lost in any state.
pub fn is_whole(cuts: &Cuts) -> bool {
    cuts.of(Finding::Held) == cuts.states()
}

/// The most that the share of losses can be where none was found, with [`CONFIDENCE`]; `None` where some were, where nothing was
/// looked at, and where the check saw too little to count.
pub fn at_most(cuts: &Cuts) -> Option<f64> {
    // A state that could not be mounted says nothing of the store.
    let states = cuts.states() - cuts.of(Finding::FileSystem);
    let none = states > 0 && cuts.of(Finding::Held) == states && is_sound(cuts);
    none.then(|| 1.0 - (1.0 - CONFIDENCE).powf(1.0 / states as f64))
}

/// Whether a store kept what its tier promises in all states; `None` where none was looked at, and where the check saw too little.
pub fn holds(cuts: &Cuts, tier: Guarantee) -> Option<bool> {
    let is_broken = cuts.found.iter().any(|(finding, states)| *states > 0 && !finding.is_allowed(tier));
    (is_broken || (cuts.states() > 0 && is_sound(cuts))).then_some(!is_broken)
}

/// States of a control, and those that were caught.
pub fn control(cuts: &Cuts, control: Control) -> (u64, u64) {
    cuts.controls.get(&control).map_or((0, 0), |caught| (caught.states, caught.caught))
}

/// Whether the check sees what it must see: a disk that ignores flushes is noticed in at least half of the states, and each other
/// control in one at least, where there are enough of it to tell. A store that writes in place is not noticed on a file system that
/// does not.
pub fn is_sound(cuts: &Cuts) -> bool {
    let (states, caught) = control(cuts, Control::NoFlush);
    let is_blind = |of: Control| {
        let (states, caught) = control(cuts, of);
        states >= ENOUGH && caught == 0
    };
    let others = [Control::LastFlush, Control::EarlyAcknowledgement];
    states > 0 && caught * 2 >= states && !others.into_iter().any(is_blind)
}

#[cfg(test)]
mod tests {
    use storebench_core::result::Caught;
    use storebench_core::store::Loss;

    use super::*;

    const WRECKED: Danger = Danger::of(Loss::Nothing, Loss::Whole, "");

    #[test]
    fn a_store_that_a_power_cut_can_wreck_is_dangerous_to_who_writes_and_minds() {
        let newest = &Danger::NEWEST[0];
        let is = |guarantee, writes| is_dangerous(Some(&WRECKED), guarantee, writes);
        assert!(is(Guarantee::Process, true) && !is(Guarantee::None, true) && !is(Guarantee::Power, false));
        assert!(!is_dangerous(Some(newest), Guarantee::Process, true));
        assert!(!is_dangerous(None, Guarantee::Process, true));
        let of = |stores: &[(&'static str, Option<&'static Danger>)]| {
            dangerous(stores.iter().copied(), Guarantee::Process, true)
        };
        const WRECK: Option<&Danger> = Some(&WRECKED);
        assert_eq!(of(&[("lmdb", WRECK), ("redb", Some(newest))]), BTreeSet::from(["lmdb"]));
        assert_eq!(of(&[("lmdb", WRECK)]), BTreeSet::new(), "there is no other");
    }

    #[test]
    fn a_danger_that_is_not_known_may_cost_more() {
        let newest = Some(&Danger::NEWEST[0]);
        assert!(costs_no_more(newest, Some(&WRECKED)) && !costs_no_more(Some(&WRECKED), newest));
        assert!(costs_no_more(None, None) && !costs_no_more(None, newest) && !costs_no_more(newest, None));
    }

    #[test]
    fn a_check_that_saw_its_controls_proves_and_one_that_did_not_says_nothing() {
        let mut cuts = Cuts::default();
        cuts.found.insert(Finding::Held, 58);
        assert_eq!((holds(&cuts, Guarantee::Power), at_most(&cuts)), (None, None), "no control");
        cuts.controls.insert(Control::NoFlush, Caught { states: 10, caught: 5 });
        assert_eq!(holds(&cuts, Guarantee::Power), Some(true));
        assert!((at_most(&cuts).unwrap() - 0.05).abs() < 0.001);
        cuts.found.insert(Finding::FileSystem, 1);
        assert!((at_most(&cuts).unwrap() - 0.05).abs() < 0.001, "58 were looked at, all the same");
        cuts.controls.insert(Control::LastFlush, Caught { states: ENOUGH, caught: 0 });
        assert_eq!(holds(&cuts, Guarantee::Power), None, "a control went unseen");
        cuts.found.insert(Finding::Lost, 1);
        assert_eq!((holds(&cuts, Guarantee::Power), is_whole(&cuts)), (Some(false), false));
    }
}
