//! The caches' shares of a machine's memory where tuning is `share`: engines take them, and results report them.

use std::collections::{BTreeMap, BTreeSet};

use storebench::STORES;
use storebench_model::store::{MemoryShare, SettingSource, StoreDef};

use super::subject::{Subject, is_installed};

const MEMORY: u64 = 96 << 20;
const SESSIONS: u64 = 2;

/// The sizes that a store's caches get, with each value of another setting on which they depend.
fn cache_settings(def: &StoreDef) -> Vec<BTreeMap<String, String>> {
    let conditions: BTreeSet<_> = def.shares().map(|(_, share)| share.only_with).collect();
    let settings_with = |condition: Option<(&str, &str)>| {
        let mut settings: BTreeMap<String, String> =
            condition.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        def.share_out(MEMORY, SESSIONS, &mut settings);
        settings
    };
    conditions.into_iter().map(settings_with).collect()
}

/// The numbers of a store's settings that have shares.
fn sizes<'s>(def: &StoreDef, settings: &'s BTreeMap<String, String>) -> Vec<(&'s str, i64)> {
    let is_shared = |(name, _): &(&String, &String)| def.shares().any(|(share_name, _)| share_name == *name);
    settings.iter().filter(is_shared).map(|(name, value)| (name.as_str(), value.parse().unwrap())).collect()
}

#[test]
fn every_engine_takes_its_share_and_tells_it() {
    for def in STORES.iter().filter(|def| def.open.is_ok() && is_installed(def)) {
        let tiers = def.offers.iter().map(|offer| offer.guarantee);
        for (tier, caches) in
            tiers.flat_map(|tier| cache_settings(def).into_iter().map(move |settings| (tier, settings)))
        {
            let subject = Subject::with(def, Some(tier), caches.clone());
            let store = subject.open_with(|options| options.sessions = SESSIONS as usize).unwrap();
            let settings = store.settings().unwrap();
            for (name, asked) in sizes(def, &caches) {
                let context = format!("{}.{name} at {tier}", def.name);
                let setting = settings.iter().find(|setting| setting.name == name);
                let setting = setting.unwrap_or_else(|| panic!("{context} is not read back: {settings:?}"));
                let size: i64 = setting.value.parse().unwrap();
                // Some engines round down.
                let short = asked.abs() - size.abs();
                assert!((0..=asked.abs() / 100).contains(&short), "{context}: {size} in place of {asked}");
                let is_read_back = setting.source == SettingSource::ReadBack;
                assert_eq!(is_read_back, !def.setting(name).unwrap().read_by.is_empty(), "{context}");
            }
            store.close().unwrap();
        }
    }
}

#[test]
fn no_engine_gets_more_than_there_is() {
    for def in STORES {
        let fraction = |share: MemoryShare| share.part.0 as f64 / share.part.1 as f64;
        for condition in def.shares().map(|(_, share)| share.only_with) {
            let shares =
                def.shares().filter(|(_, share)| share.only_with.is_none_or(|only| Some(only) == condition));
            let total: f64 = shares.map(|(_, share)| fraction(share)).sum();
            assert!(total < 0.8, "{}: {total} of the memory with {condition:?}", def.name);
        }
    }
}
