//! The table of stores itself, and what stores say of themselves.

use std::collections::{BTreeMap, BTreeSet};

use storebench::STORES;
use storebench_model::store::{StoreError, StoreKind, Upkeep};

use super::subject::for_each;

#[test]
fn names_are_unique_and_lower_case_with_hyphens() {
    let names: BTreeSet<&str> = STORES.iter().map(|def| def.name).collect();
    assert_eq!(names.len(), STORES.len());
    for name in names {
        let is_word = |word: &str| {
            !word.is_empty() && word.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9'))
        };
        assert!(name.split('-').all(is_word), "{name}");
    }
}

#[test]
fn entries_are_sound() {
    for def in STORES {
        let name = def.name;
        assert!(!def.summary.is_empty(), "{name}");
        assert!(def.capabilities.max_key_bytes >= 32, "{name}");
        assert!(
            def.offers.is_sorted_by(|one, next| one.guarantee < next.guarantee),
            "{name}: {:?}",
            def.offers
        );
        assert!(def.offers.iter().all(|offer| !offer.settings.is_empty()), "{name}");
        assert!(def.settings.iter().all(|known| !known.name.is_empty() && !known.help.is_empty()), "{name}");
        let names: BTreeSet<&str> = def.settings.iter().map(|known| known.name).collect();
        assert_eq!(names.len(), def.settings.len(), "{name}: settings of one name");
        match def.open {
            Ok(_) => {
                assert!(def.offer(def.shipped).is_some(), "{name}: what it is shipped with is on offer");
                assert!(!(def.version)().trim().is_empty(), "{name}");
                assert!(
                    def.missing_need().is_some() || (def.version)().bytes().any(|byte| byte.is_ascii_digit()),
                    "{name}: {}",
                    (def.version)()
                );
            }
            Err(why) => assert!(!why.is_empty(), "{name}"),
        }
        assert_eq!(def.server.is_some(), def.kind == StoreKind::Server && def.open.is_ok(), "{name}");
        assert_eq!(def.resolve(None), Some(def.shipped), "{name}");
    }
}

#[test]
fn every_native_store_that_was_asked_for_is_built() {
    macro_rules! wanted {
        ($($name:literal)*) => {
            [$(($name, cfg!(feature = $name))),*]
        };
    }
    let wanted = wanted! {
        "sqlite" "leveldb" "rocksdb" "berkeleydb" "lmdb" "libmdbx" "unqlite" "redb" "fjall" "sled"
        "postgres" "mariadb" "redis" "etcd"
    };
    for (name, is_wanted) in wanted {
        let def = STORES
            .iter()
            .find(|def| def.name == name)
            .unwrap_or_else(|| panic!("{name} is not in the table"));
        assert_eq!(def.open.is_ok(), is_wanted, "{name}");
    }
}

#[test]
fn the_guarantee_is_the_one_asked_for() {
    for_each(|subject| {
        let store = subject.open();
        assert_eq!(store.guarantee(), subject.guarantee());
        assert_eq!(subject.def.resolve(subject.tier), Some(store.guarantee()));
    });
}

#[test]
fn settings_are_told_once_each_and_by_engines_always() {
    for_each(|subject| {
        let settings = subject.open().settings().unwrap();
        assert!(!settings.is_empty() || subject.def.kind == StoreKind::Harness);
        let names: BTreeSet<&str> = settings.iter().map(|setting| setting.name.as_str()).collect();
        assert_eq!(names.len(), settings.len(), "{settings:?}");
        assert!(
            settings.iter().all(|setting| !setting.name.is_empty() && !setting.value.is_empty()),
            "{settings:?}"
        );
    });
}

#[test]
fn statistics_are_told_without_error() {
    for_each(|subject| {
        let store = subject.open();
        store.session().unwrap().insert(b"0123456789abcdef", b"one").unwrap();
        let statistics = store.statistics().unwrap();
        assert!(statistics.iter().all(|statistic| !statistic.name.is_empty()), "{statistics:?}");
    });
}

#[test]
fn an_engine_that_tells_of_its_own_work_tells_that_it_was_done() {
    for_each(|subject| {
        let store = subject.open();
        let names = |upkeep: &[Upkeep]| upkeep.iter().map(|item| item.work).collect::<Vec<_>>();
        let counts = |upkeep: &[Upkeep]| upkeep.iter().map(|item| item.count).collect::<Vec<_>>();
        let before = store.upkeep().unwrap();
        if before.is_empty() || subject.def.kind != StoreKind::Engine {
            return;
        }
        assert_eq!(counts(&store.upkeep().unwrap()), counts(&before), "nobody has written");
        let keys: Vec<String> = (0..3_000).map(|number| format!("key-{number:028}")).collect();
        let value = [b'v'; 1024];
        let records: Vec<(&[u8], &[u8])> = keys.iter().map(|key| (key.as_bytes(), &value[..])).collect();
        records.chunks(500).for_each(|chunk| store.session().unwrap().insert_batch(chunk).unwrap());
        store.settle().unwrap();
        let after = store.upkeep().unwrap();
        assert_eq!(names(&after), names(&before));
        assert_ne!(counts(&after), counts(&before), "what was written is in the files now");
    });
}

#[test]
fn an_unknown_setting_is_refused() {
    for_each(|subject| {
        let settings = BTreeMap::from([("no_such_setting".into(), "1".into())]);
        let refused = subject.open_with(|options| options.settings = &settings);
        assert!(matches!(refused, Err(StoreError::BadSetting(_))), "{:?}", refused.map(|_| "it opens"));
    });
}

#[test]
fn a_cache_may_be_given_to_every_store() {
    for_each(|subject| {
        let store = subject.open_with(|options| options.cache_bytes = Some(8 << 20)).unwrap();
        store.session().unwrap().insert(b"0123456789abcdef", b"one").unwrap();
        store.close().unwrap();
    });
}
