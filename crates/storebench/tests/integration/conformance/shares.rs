//! The caches' shares of a machine's memory where tuning is `share`: engines take them, and results report them.

use std::collections::{BTreeMap, BTreeSet};

use storebench::STORES;
use storebench_core::store::{MemoryShare, SettingSource, StoreDef};

use super::subject::{Subject, is_installed};

const MEMORY: u64 = 96 << 20;
const SESSIONS: u64 = 2;

/// The sizes that a store's caches get, with each value of another setting on which they depend.
fn shared(def: &StoreDef) -> Vec<BTreeMap<String, String>> {
    let conditions: BTreeSet<_> = def.shares().map(|(_, share)| share.only_with).collect();
    let with = |condition: Option<(&str, &str)>| {
        let mut settings: BTreeMap<String, String> =
            condition.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        def.share_out(MEMORY, SESSIONS, &mut settings);
        settings
    };
    conditions.into_iter().map(with).collect()
}

/// The numbers of a store's settings that have shares.
fn sizes<'s>(def: &StoreDef, settings: &'s BTreeMap<String, String>) -> Vec<(&'s str, i64)> {
    let shared = |(name, _): &(&String, &String)| def.shares().any(|(own, _)| own == *name);
    settings.iter().filter(shared).map(|(name, value)| (name.as_str(), value.parse().unwrap())).collect()
}

#[test]
fn every_engine_takes_its_share_and_tells_it() {
    for def in STORES.iter().filter(|def| def.open.is_ok() && is_installed(def)) {
        let tiers = def.offers.iter().map(|offer| offer.guarantee);
        for (tier, shared) in tiers.flat_map(|tier| shared(def).into_iter().map(move |own| (tier, own))) {
            let subject = Subject::with(def, Some(tier), shared.clone());
            let store = subject.open_with(|options| options.sessions = SESSIONS as usize).unwrap();
            let told = store.settings().unwrap();
            for (name, asked) in sizes(def, &shared) {
                let what = format!("{}.{name} at {tier}", def.name);
                let own = told.iter().find(|own| own.name == name);
                let own = own.unwrap_or_else(|| panic!("{what} is not told: {told:?}"));
                let told: i64 = own.value.parse().unwrap();
                // Some engines round down.
                let short = asked.abs() - told.abs();
                assert!((0..=asked.abs() / 100).contains(&short), "{what}: {told} in place of {asked}");
                let read_back = own.source == SettingSource::ReadBack;
                assert_eq!(read_back, !def.setting(name).unwrap().read_by.is_empty(), "{what}");
            }
            store.close().unwrap();
        }
    }
}

#[test]
fn no_engine_gets_more_than_there_is() {
    for def in STORES {
        let part = |share: MemoryShare| share.part.0 as f64 / share.part.1 as f64;
        for with in def.shares().map(|(_, share)| share.only_with) {
            let own = def.shares().filter(|(_, share)| share.only_with.is_none_or(|own| Some(own) == with));
            let all: f64 = own.map(|(_, share)| part(share)).sum();
            assert!(all < 0.8, "{}: {all} of the memory with {with:?}", def.name);
        }
    }
}
