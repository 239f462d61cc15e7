//! What accidents can cost stores, shown next to every table of winners.

use std::borrow::Cow;
use std::collections::BTreeSet;

use indexmap::IndexMap;
use storebench_model::result::{Harm, LocationInfo, Measurements, StorageBacking, TrialResult};
use storebench_model::store::{Danger, Guarantee, Loss, StoreDef};

use super::merge::{Entry, Group, Merged};
use super::names::{LISTED, join_first};
use crate::judge::danger::{dangerous, dangerous_harms, is_dangerous, is_news};

const SHOWN: &str = "a check of power cuts here showed it";
const REFUSED: Danger = Danger::new(Loss::Nothing, Loss::ByHand, SHOWN);
const LOST: Danger = Danger::new(Loss::Nothing, Loss::Newest, SHOWN);
const WRECKED: Danger = Danger::new(Loss::Nothing, Loss::Whole, SHOWN);

/// The danger of a store: from its own check of power cuts, if nothing is known of the settings that a trial read back; otherwise
/// from the table. `None` for a store that is not in the table.
pub fn find_danger(table: &[StoreDef], store: &str, measured: &Measurements) -> Option<&'static Danger> {
    let (listed, tier) = (known_danger(table, store, measured), measured.guarantee);
    match measured.cuts().filter(|cuts| is_news(cuts, tier, listed)).map(|cuts| dangerous_harms(cuts, tier)) {
        None => listed,
        Some(harms) if harms.keys().all(|harm| *harm == Harm::ByHand) => Some(&REFUSED),
        Some(_) if tier >= Guarantee::Power => Some(&LOST),
        Some(_) => Some(&WRECKED),
    }
}

/// The table's danger of a store with the settings that a trial read back.
fn known_danger(table: &[StoreDef], store: &str, measured: &Measurements) -> Option<&'static Danger> {
    let def = table.iter().find(|def| def.name == store)?;
    def.offer(measured.guarantee)?.danger(&measured.settings)
}

/// Whether a trial's check shows a danger, at its guarantee, that the table does not have for these settings.
pub fn is_shown_first(table: &[StoreDef], trial: &TrialResult) -> bool {
    let Some((measured, cuts)) = trial.ok().and_then(|m| Some((m, m.cuts()?))) else { return false };
    let tier = trial.cell.guarantee().tier().unwrap_or(measured.guarantee);
    is_news(cuts, tier, known_danger(table, trial.cell.store(), measured))
}

/// The contestants of a group that are not ranked, as a power cut can cost more than their guarantee allows; none if
/// no other remains. If the group's name says what a power cut can cost, all of its settings are known for that.
pub fn find_avoided<'g>(merged: &'g Merged<'_>, group: &'g Group<'_>) -> BTreeSet<Cow<'g, str>> {
    let Some(tier) = group.key.tier.filter(|_| group.key.power_cut.is_none()) else { return BTreeSet::new() };
    let mut is_risky_by_store: IndexMap<Cow<'_, str>, bool> = IndexMap::new();
    for entry in &group.trials {
        let cell = &entry.trial.cell;
        let Some(measured) = entry.trial.ok().filter(|_| !merged.is_harness(cell.store())) else { continue };
        let danger = find_danger(merged.stores, cell.store(), measured);
        let is_lost = tier > Guarantee::None && is_in_memory(merged, entry);
        *is_risky_by_store.entry(merged.layout.contestant(cell)).or_default() |=
            is_lost || is_dangerous(danger, tier, true);
    }
    dangerous(is_risky_by_store.into_iter())
}

/// The stores of a group that an accident can destroy, in a line for each accident. If the group's own name says what a
/// power cut can cost, that is not repeated.
pub fn describe_dangers(merged: &Merged<'_>, group: &Group<'_>) -> Vec<String> {
    let mut by_accident: IndexMap<String, BTreeSet<String>> = IndexMap::new();
    for entry in &group.trials {
        let cell = &entry.trial.cell;
        let Some(measured) = entry.trial.ok().filter(|_| !merged.is_harness(cell.store())) else { continue };
        let danger = find_danger(merged.stores, cell.store(), measured);
        let is_in_name = |danger: &&Danger| group.key.power_cut.is_some() && !danger.kill.is_of_store();
        let accident = |danger| describe_accident(danger, measured.guarantee);
        let Some(accident) = danger.filter(|danger| !is_in_name(danger)).and_then(accident) else {
            continue;
        };
        by_accident.entry(accident).or_default().insert(merged.layout.contestant(cell).into_owned());
    }
    by_accident.sort_keys();
    let accidents = by_accident
        .into_iter()
        .map(|(accident, stores)| format!("{accident}: {}.", join_first(&Vec::from_iter(stores), LISTED)));
    let riskier: Vec<_> = find_avoided(merged, group).into_iter().collect();
    let riskier = (!riskier.is_empty()).then(|| format!("Not ranked, as riskier: {}.", riskier.join(", ")));
    accidents.chain(riskier).chain(find_unseen_locations(merged, group)).collect()
}

fn location_of<'m>(merged: &'m Merged<'_>, entry: &Entry<'_>) -> Option<&'m LocationInfo> {
    let locations = &merged.runs[entry.run].header.locations;
    locations.iter().find(|location| location.is_location_of(&entry.trial.cell))
}

/// Whether a trial's files were in memory, of which a power cut leaves nothing.
pub fn is_in_memory(merged: &Merged<'_>, entry: &Entry<'_>) -> bool {
    let location = location_of(merged, entry);
    location.is_some_and(|place| matches!(place.bottom, Some(StorageBacking::Memory { .. })))
}

/// The locations of a group at `power` that can't be seen to keep that guarantee.
pub fn find_unseen_locations(merged: &Merged<'_>, group: &Group<'_>) -> BTreeSet<String> {
    let is_at_power = |entry: &&Entry<'_>| entry.trial.ok().is_some_and(|m| m.guarantee >= Guarantee::Power);
    let at_power = group.trials.iter().filter(is_at_power);
    at_power.filter_map(|entry| location_of(merged, entry)?.unseen()).collect()
}

/// `A power cut can cost the whole store`; `None` if neither accident can.
fn describe_accident(danger: &Danger, tier: Guarantee) -> Option<String> {
    match (danger.kill.is_of_store(), danger.can_wreck() || is_dangerous(Some(danger), tier, true)) {
        (true, _) => Some(format!("A kill or a power cut {}", danger.kill)),
        (false, true) => Some(format!("A power cut {}", danger.power_cut)),
        (false, false) => None,
    }
}

#[cfg(test)]
mod tests {
    use storebench_model::result::{CutCheck, CutResults, StateFinding};
    use storebench_model::store::{GuaranteeOffer, StoreKind};
    use storebench_samples::{Sample, run};

    use super::*;
    use crate::data::matrix;

    const fn def(name: &'static str, offers: &'static [GuaranteeOffer]) -> StoreDef {
        StoreDef { offers, ..StoreDef::not_built(name, StoreKind::Engine, "a made store", "it is made") }
    }

    const fn at_process(dangers: &'static [Danger]) -> GuaranteeOffer {
        GuaranteeOffer { guarantee: Guarantee::Process, settings: "as made", atomic_replace: true, dangers }
    }

    #[test]
    fn stores_that_a_power_cut_can_wreck_stand_below_the_table() {
        const WRECKED: &[GuaranteeOffer] =
            &[at_process(&[Danger::new(Loss::Nothing, Loss::Whole, "it is made")])];
        const NEWEST: &[GuaranteeOffer] = &[at_process(Danger::NEWEST)];
        let table = [def("lmdb", WRECKED), def("redb", NEWEST)];
        let runs = [run("box", &[Sample::new("lmdb"), Sample::new("redb"), Sample::new("unknown")])];
        let merged = Merged::new(&runs, &table);
        let lines: Vec<Vec<String>> =
            merged.groups.iter().map(|group| describe_dangers(&merged, group)).collect();
        let not_ranked = "Not ranked, as riskier: lmdb.";
        assert_eq!(lines, [["A power cut can cost the whole store: lmdb.", not_ranked]]);
        let unknown = Merged::new(&runs, &[]);
        assert!(unknown.groups.iter().all(|group| describe_dangers(&unknown, group).is_empty()));
    }

    #[test]
    fn what_is_dangerous_is_not_ranked_and_its_row_stays() {
        const HOLDS: &[GuaranteeOffer] =
            &[GuaranteeOffer { guarantee: Guarantee::Power, ..at_process(Danger::NOTHING) }];
        let table = [def("lmdb", HOLDS), def("redb", HOLDS)];
        let samples = [Sample::new("lmdb").ns(500.0), Sample::new("redb")].map(|s| s.guarantee("power"));
        let judge = |trials: usize, lost: u64| {
            let mut run = run("box", &samples[..trials]);
            let found = [(StateFinding::Lost, lost), (StateFinding::Held, 40)].into();
            let cuts = CutResults { found, ..CutResults::default() };
            run.trials[0].measured.as_mut().unwrap().cut_check = Some(CutCheck::Made(Box::new(cuts)));
            let runs = [run];
            let merged = Merged::new(&runs, &table);
            let matrix = matrix::matrix(&merged, &merged.groups[0]).unwrap();
            let contest = &matrix.rows[0].contests[0];
            let ratio =
                contest.riskier.first().map(|first| (first.times_worse.unwrap().ratio.value * 100.0).round());
            let winners = contest.winners().map(|contender| contender.store.clone()).collect::<Vec<_>>();
            (winners.join(" "), ratio, matrix.dangers.join(" "), is_shown_first(&table, &runs[0].trials[0]))
        };
        assert_eq!(judge(2, 0), ("lmdb redb".into(), None, String::new(), false));
        let lines = "A power cut can cost the newest writes: lmdb. Not ranked, as riskier: lmdb.";
        assert_eq!(judge(2, 34), ("redb".into(), Some(50.0), lines.into(), true));
        assert_eq!(judge(1, 34).1, None, "there is no other");
    }

    #[test]
    fn a_place_whose_bottom_is_not_seen_is_named_at_power_alone() {
        let lines_at = |guarantee: Guarantee| {
            let mut run = run("box", &[Sample::new("lmdb").guarantee(guarantee.name()).tier(guarantee)]);
            run.header.locations[0].bottom = Some(StorageBacking::Unseen { why: "it is a 9p".into() });
            let runs = [run];
            let merged = Merged::new(&runs, &[]);
            merged.groups.iter().flat_map(|group| describe_dangers(&merged, group)).collect::<Vec<_>>()
        };
        let line = "Whether here keeps through a power cut what was synced can't be seen: it is a 9p.";
        assert_eq!(lines_at(Guarantee::Power), [line]);
        assert!(lines_at(Guarantee::Process).is_empty());
    }
}
