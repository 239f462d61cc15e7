//! Decides which stores are dangerous at a guarantee, and what states after power cuts prove.

use std::collections::{BTreeMap, BTreeSet};

use statrs::distribution::{Beta, ContinuousCDF};
use storebench_model::result::{Control, CutResults, Harm, StateFinding};
use storebench_model::store::{Danger, Guarantee, Loss};

use crate::stats::Interval;

/// The confidence of bounds on the frequency of events that were never found.
pub const CONFIDENCE: f64 = 0.95;

/// The smallest number of a control's states of which one must be caught.
const MIN_CONTROL_STATES: u64 = 4;

/// Whether a power cut may not cost that at a guarantee: all of the store or a repair by hand; at `power` any acknowledged write, too.
pub fn is_too_much(loss: Loss, guarantee: Guarantee) -> bool {
    let mildest = if guarantee >= Guarantee::Power { Loss::Last } else { Loss::ByHand };
    guarantee > Guarantee::None && loss <= mildest
}

/// Whether a store is not recommended, as a power cut can cost too much. False for users who write nothing, or need no write to survive.
pub fn is_dangerous(danger: Option<&Danger>, guarantee: Guarantee, writes: bool) -> bool {
    writes && danger.is_some_and(|danger| is_too_much(danger.power_cut, guarantee))
}

/// The dangerous ones among some stores; none if no other remains.
pub fn dangerous<S: Ord>(stores: impl ExactSizeIterator<Item = (S, bool)>) -> BTreeSet<S> {
    let total = stores.len();
    let found: BTreeSet<S> =
        stores.filter(|(_, is_dangerous)| *is_dangerous).map(|(store, _)| store).collect();
    if found.len() == total { BTreeSet::new() } else { found }
}

/// Whether no accident costs more with one danger than with another; an unknown danger may cost more.
pub fn costs_no_more(danger: Option<&Danger>, other: Option<&Danger>) -> bool {
    match (danger, other) {
        (Some(danger), Some(other)) => danger.kill >= other.kill && danger.power_cut >= other.power_cut,
        (danger, other) => danger.is_none() && other.is_none(),
    }
}

pub fn lost_nothing(cuts: &CutResults) -> bool {
    cuts.count(StateFinding::Held) == cuts.states()
}

/// An upper bound on the share of losses, with [`CONFIDENCE`]; `None` if some were found, no state was checked, or the check is unsound.
pub fn loss_bound(cuts: &CutResults) -> Option<f64> {
    // A state that could not be mounted says nothing about the store.
    let states = cuts.states() - cuts.count(StateFinding::FileSystem);
    let nothing_lost = states > 0 && cuts.count(StateFinding::Held) == states && is_sound(cuts);
    nothing_lost.then(|| 1.0 - (1.0 - CONFIDENCE).powf(1.0 / states as f64))
}

/// The states with harm that is a danger at a tier.
pub fn dangerous_harms(cuts: &CutResults, tier: Guarantee) -> BTreeMap<Harm, u64> {
    cuts.harms(tier).into_iter().filter(|(harm, _)| harm.is_danger(tier)).collect()
}

/// Whether a check shows a danger at the tier that the settings are not known to have.
pub fn is_news(cuts: &CutResults, tier: Guarantee, known: Option<&Danger>) -> bool {
    dangerous_harms(cuts, tier).keys().any(|harm| !known.is_some_and(|danger| danger.covers(*harm, tier)))
}

/// The interval of a share of states, with [`CONFIDENCE`] (C. Clopper and E. Pearson, Biometrika 26, 1934).
pub fn share_interval(states: u64, total: u64) -> Interval {
    let tail = (1.0 - CONFIDENCE) / 2.0;
    let quantile = |a: u64, b: u64, probability: f64| {
        Beta::new(a as f64, b as f64).map(|beta| beta.inverse_cdf(probability))
    };
    let low = if states == 0 { Ok(0.0) } else { quantile(states, total - states + 1, tail) };
    let high = if states == total { Ok(1.0) } else { quantile(states + 1, total - states, 1.0 - tail) };
    Interval { low: low.unwrap_or(0.0), high: high.unwrap_or(1.0), confidence: CONFIDENCE }
}

/// Whether a store kept its tier's promise in all states; `None` if none was checked, or the check is unsound.
pub fn holds(cuts: &CutResults, tier: Guarantee) -> Option<bool> {
    let is_broken = !dangerous_harms(cuts, tier).is_empty();
    (is_broken || (cuts.states() > 0 && is_sound(cuts))).then_some(!is_broken)
}

/// States of a control, and those that were caught.
pub fn control_counts(cuts: &CutResults, control: Control) -> (u64, u64) {
    cuts.controls.get(&control).map_or((0, 0), |caught| (caught.states, caught.caught))
}

/// Whether the check catches its controls: a disk that ignores flushes in at least half of the states, each other
/// control at least once, if there are enough states. A store that writes in place does not show on a file system that
/// does not.
pub fn is_sound(cuts: &CutResults) -> bool {
    let (states, caught) = control_counts(cuts, Control::NoFlush);
    let is_missed = |kind: Control| {
        let (states, caught) = control_counts(cuts, kind);
        states >= MIN_CONTROL_STATES && caught == 0
    };
    let others = [Control::LastFlush, Control::EarlyAcknowledgement];
    states > 0 && caught * 2 >= states && !others.into_iter().any(is_missed)
}

#[cfg(test)]
mod tests {
    use storebench_model::result::FindingCount;

    use super::*;

    const WRECKED: Danger = Danger::new(Loss::Nothing, Loss::Whole, "");

    #[test]
    fn a_store_that_a_power_cut_can_wreck_is_dangerous_to_who_writes_and_minds() {
        let newest = &Danger::NEWEST[0];
        for (danger, guarantee, writes, expected) in [
            (Some(&WRECKED), Guarantee::Process, true, true),
            (Some(&WRECKED), Guarantee::None, true, false),
            (Some(&WRECKED), Guarantee::Power, false, false),
            (Some(newest), Guarantee::Process, true, false),
            (None, Guarantee::Process, true, false),
        ] {
            assert_eq!(is_dangerous(danger, guarantee, writes), expected, "{danger:?} {guarantee}");
        }
        let dangerous_stores = |stores: &[(&'static str, bool)]| dangerous(stores.iter().copied());
        assert_eq!(dangerous_stores(&[("lmdb", true), ("redb", false)]), BTreeSet::from(["lmdb"]));
        assert_eq!(dangerous_stores(&[("lmdb", true)]), BTreeSet::new(), "there is no other");
    }

    /// With two states of a finding, some of them from before any acknowledgement: whether they show a danger, and a new one.
    fn judge(finding: StateFinding, tier: Guarantee, before: u64, known: Loss) -> (bool, bool) {
        let mut cuts = CutResults::default();
        cuts.found.insert(finding, 2);
        cuts.unacknowledged.insert(finding, before);
        let known = Danger::new(Loss::Nothing, known, "");
        (!dangerous_harms(&cuts, tier).is_empty(), is_news(&cuts, tier, Some(&known)))
    }

    #[test]
    fn one_rule_says_what_is_a_danger_and_what_is_news() {
        use StateFinding::*;
        let (process, power) = (Guarantee::Process, Guarantee::Power);
        for finding in [Lost, Wrong, Resurrected, Torn, Hole, Refused, Unusable, Unsound, Hung, Crashed] {
            assert_eq!(judge(finding, power, 0, Loss::Nothing), (true, true), "{finding:?}");
        }
        assert_eq!(judge(Refused, power, 2, Loss::Nothing), (false, false), "while it was created");
        assert_eq!(judge(Refused, power, 1, Loss::Nothing), (true, true), "one of two was not");
        assert_eq!(judge(Refused, power, 0, Loss::ByHand), (true, false));
        assert_eq!(judge(Wrong, power, 0, Loss::ByHand), (true, true), "nothing said that it loses anything");
        // SQLite with DELETE and FULL, checked against `power`, and LMDB at `process`.
        assert_eq!(judge(Lost, power, 0, Loss::Last), (true, false));
        assert_eq!(judge(Crashed, process, 0, Loss::Whole), (true, false));
        for named in [Lost, Torn, Hole] {
            assert_eq!(judge(named, process, 0, Loss::Newest), (false, false), "{named:?}");
        }
        assert_eq!(judge(Wrong, process, 0, Loss::Newest), (true, true), "more than the newest");
    }

    #[test]
    fn a_share_has_its_exact_interval() {
        for (states, total, low, high) in
            [(4, 73, 0.0151, 0.1344), (51, 90, 0.458, 0.6708), (0, 20, 0.0, 0.1684)]
        {
            let interval = share_interval(states, total);
            assert!((interval.low - low).abs() < 5e-4 && (interval.high - high).abs() < 5e-4, "{interval:?}");
        }
    }

    #[test]
    fn a_check_that_saw_its_controls_proves_and_one_that_did_not_says_nothing() {
        let mut cuts = CutResults::default();
        cuts.found.insert(StateFinding::Held, 58);
        assert_eq!((holds(&cuts, Guarantee::Power), loss_bound(&cuts)), (None, None), "no control");
        cuts.controls.insert(Control::NoFlush, FindingCount { states: 10, caught: 5 });
        assert_eq!(holds(&cuts, Guarantee::Power), Some(true));
        assert!((loss_bound(&cuts).unwrap() - 0.05).abs() < 0.001);
        cuts.found.insert(StateFinding::FileSystem, 1);
        assert!((loss_bound(&cuts).unwrap() - 0.05).abs() < 0.001, "58 were looked at, all the same");
        cuts.controls.insert(Control::LastFlush, FindingCount { states: MIN_CONTROL_STATES, caught: 0 });
        assert_eq!(holds(&cuts, Guarantee::Power), None, "a control went unseen");
        cuts.found.insert(StateFinding::Lost, 1);
        assert_eq!((holds(&cuts, Guarantee::Power), lost_nothing(&cuts)), (Some(false), false));
    }
}
