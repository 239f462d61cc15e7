//! The damage that accidents can do to stores, as it stands beside every table of winners.

use std::collections::BTreeSet;

use indexmap::IndexMap;
use storebench_core::result::Measured;
use storebench_core::store::{Danger, Guarantee, StoreDef};

use super::merge::{Entry, Group, Merged};
use super::names::LISTED;

/// The danger of a store, by the settings that a trial read back; `None` of a store that the table does not know.
pub fn of(table: &[StoreDef], store: &str, measured: &Measured) -> Option<&'static Danger> {
    let def = table.iter().find(|def| def.name == store)?;
    def.offer(measured.guarantee)?.danger(&measured.settings)
}

/// The stores of a group that an accident can cost as a whole, in a line for each accident. Where the group's own name says what a
/// power cut can cost, that is not told again.
pub fn lines(merged: &Merged<'_>, group: &Group<'_>) -> Vec<String> {
    let mut told: IndexMap<String, BTreeSet<String>> = IndexMap::new();
    for entry in &group.trials {
        let cell = &entry.trial.cell;
        let Some(measured) = entry.trial.ok().filter(|_| !merged.is_harness(cell.store())) else { continue };
        let danger = of(merged.stores, cell.store(), measured);
        let told_in_name = |danger: &&Danger| group.key.power_cut.is_some() && !danger.kill.is_whole();
        let Some(accident) = danger.filter(|danger| !told_in_name(danger)).and_then(accident) else {
            continue;
        };
        told.entry(accident).or_default().insert(merged.layout.contestant(cell).into_owned());
    }
    told.sort_keys();
    let accidents = told.into_iter().map(|(accident, stores)| format!("{accident}: {}.", some(&stores)));
    accidents.chain(unseen(merged, group)).collect()
}

/// The places of a group at `power` of which it can't be seen whether they keep that.
fn unseen(merged: &Merged<'_>, group: &Group<'_>) -> BTreeSet<String> {
    let at_power = group
        .trials
        .iter()
        .filter(|entry| entry.trial.ok().is_some_and(|measured| measured.guarantee >= Guarantee::Power));
    let place = |entry: &Entry<'_>| {
        let places = &merged.runs[entry.run].header.places;
        places.iter().find(|place| place.is_of(&entry.trial.cell))?.unseen()
    };
    at_power.filter_map(place).collect()
}

/// The first of some stores, the rest counted.
fn some(stores: &BTreeSet<String>) -> String {
    let named: Vec<&str> = stores.iter().take(LISTED).map(String::as_str).collect();
    match stores.len().saturating_sub(LISTED) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

/// `A power cut can cost the whole store`; `None` where neither accident can.
fn accident(danger: &Danger) -> Option<String> {
    match (danger.kill.is_whole(), danger.can_wreck()) {
        (true, _) => Some(format!("A kill or a power cut {}", danger.kill)),
        (false, true) => Some(format!("A power cut {}", danger.power_cut)),
        (false, false) => None,
    }
}

#[cfg(test)]
mod tests {
    use storebench_core::result::Bottom;
    use storebench_core::store::{Kind, Loss, Offer};

    use super::*;
    use crate::data::samples::{Sample, run};

    const fn made(name: &'static str, offers: &'static [Offer]) -> StoreDef {
        StoreDef { offers, ..StoreDef::not_built(name, Kind::Engine, "a made store", "it is made") }
    }

    const fn at_process(dangers: &'static [Danger]) -> Offer {
        Offer { guarantee: Guarantee::Process, settings: "as made", atomic_replace: true, dangers }
    }

    #[test]
    fn stores_that_a_power_cut_can_wreck_stand_below_the_table() {
        const WRECKED: &[Offer] = &[at_process(&[Danger::of(Loss::Nothing, Loss::Whole, "it is made")])];
        const NEWEST: &[Offer] = &[at_process(Danger::NEWEST)];
        let table = [made("lmdb", WRECKED), made("redb", NEWEST)];
        let runs = [run("box", &[Sample::new("lmdb"), Sample::new("redb"), Sample::new("unknown")])];
        let merged = Merged::new(&runs, &[]).with_stores(&table);
        let found: Vec<Vec<String>> = merged.groups.iter().map(|group| lines(&merged, group)).collect();
        assert_eq!(found, [["A power cut can cost the whole store: lmdb."]]);
        let unknown = Merged::new(&runs, &[]);
        assert!(unknown.groups.iter().all(|group| lines(&unknown, group).is_empty()));
    }

    #[test]
    fn a_place_whose_bottom_is_not_seen_is_named_at_power_alone() {
        let at = |guarantee: Guarantee| {
            let mut run = run("box", &[Sample::new("lmdb").guarantee(guarantee.name()).tier(guarantee)]);
            run.header.places[0].bottom = Some(Bottom::Unseen { why: "it is a 9p".into() });
            let runs = [run];
            let merged = Merged::new(&runs, &[]);
            merged.groups.iter().flat_map(|group| lines(&merged, group)).collect::<Vec<_>>()
        };
        let named = "Whether here keeps through a power cut what was synced can't be seen: it is a 9p.";
        assert_eq!(at(Guarantee::Power), [named]);
        assert!(at(Guarantee::Process).is_empty());
    }
}
