//! Settings in addition to the guarantees' settings: what their documentation says holds.

use std::collections::{BTreeMap, BTreeSet};

use storebench::STORES;
use storebench_core::store::{Guarantee, StoreDef, StoreError};

use super::subject::{Subject, for_each_of, get, is_installed, key};

/// A store, what it is asked for, settings, and the tier that results.
type Sample = (&'static str, Option<Guarantee>, &'static [(&'static str, &'static str)], Guarantee);

use Guarantee::{None as Lost, Power, Process};

/// Far from the defaults, several at once.
const SAMPLES: &[Sample] = &[
    ("sqlite", None, &[("journal_mode", "PERSIST"), ("page_size", "512"), ("cache_size", "1")], Power),
    ("sqlite", None, &[("journal_mode", "MEMORY"), ("auto_vacuum", "FULL"), ("secure_delete", "true")], Lost),
    (
        "sqlite",
        None,
        &[("locking_mode", "EXCLUSIVE"), ("synchronous", "NORMAL"), ("journal_size_limit", "0")],
        Process,
    ),
    (
        "sqlite",
        Some(Process),
        &[("page_size", "65536"), ("mmap_size", "16777216"), ("wal_autocheckpoint", "1")],
        Process,
    ),
    (
        "leveldb",
        None,
        &[
            ("write_buffer_size", "65536"),
            ("block_cache_size", "0"),
            ("block_size", "1024"),
            ("max_file_size", "1048576"),
            ("bloom_bits", "4"),
            ("max_open_files", "74"),
        ],
        Process,
    ),
    (
        "rocksdb",
        None,
        &[
            ("write_buffer_size", "65536"),
            ("block_cache_size", "0"),
            ("block_size", "1024"),
            ("bloom_bits", "4"),
            ("compaction_style", "kCompactionStyleUniversal"),
            ("max_open_files", "64"),
        ],
        Process,
    ),
    ("berkeleydb", None, &[("type", "DB_HASH"), ("pagesize", "512")], Lost),
    ("berkeleydb", Some(Process), &[("type", "DB_HASH"), ("cachesize", "131072")], Process),
    ("berkeleydb", Some(Power), &[("pagesize", "65536"), ("lg_bsize", "1048576")], Power),
    ("lmdb", None, &[("writemap", "true"), ("mapasync", "true"), ("map_size", "67108864")], Process),
    ("lmdb", None, &[("nometasync", "true"), ("nordahead", "true"), ("nomeminit", "true")], Process),
    (
        "libmdbx",
        None,
        &[
            ("sync_mode", "utterly_nosync"),
            ("writemap", "true"),
            ("pagesize", "16384"),
            ("sync_bytes", "65536"),
        ],
        Process,
    ),
    (
        "libmdbx",
        None,
        &[("sync_mode", "nometasync"), ("liforeclaim", "true"), ("nordahead", "true")],
        Process,
    ),
    (
        "libmdbx",
        Some(Power),
        &[("pagesize", "512"), ("nomeminit", "true"), ("growth_step", "1048576")],
        Power,
    ),
    ("redb", Some(Lost), &[("cache_size", "1048576"), ("two_phase_commit", "true")], Lost),
    ("redb", None, &[("quick_repair", "true"), ("durability", "immediate")], Power),
    (
        "fjall",
        None,
        &[
            ("persist_mode", "none"),
            ("kv_separation", "true"),
            ("data_block_size", "1024"),
            ("max_memtable_size", "1048576"),
            ("cache_size", "1048576"),
        ],
        Lost,
    ),
    ("sled", None, &[("flush", "true"), ("cache_capacity", "1048576")], Process),
    ("sled", None, &[("flush_every_ms", "10"), ("cache_capacity", "65536")], Lost),
    (
        "postgres",
        None,
        &[
            ("shared_buffers", "131072"),
            ("wal_segment_size", "1048576"),
            ("max_wal_size", "2097152"),
            ("autovacuum", "off"),
        ],
        Power,
    ),
    ("postgres", None, &[("full_page_writes", "off"), ("wal_sync_method", "open_datasync")], Process),
    (
        "postgres",
        None,
        &[("synchronous_commit", "off"), ("wal_buffers", "65536"), ("commit_delay", "1000")],
        Lost,
    ),
    (
        "postgres",
        Some(Process),
        &[("synchronous_commit", "local"), ("default_transaction_isolation", "serializable")],
        Process,
    ),
    (
        "mariadb",
        None,
        &[
            ("innodb_page_size", "4096"),
            ("innodb_buffer_pool_size", "8388608"),
            ("innodb_log_file_size", "8388608"),
            ("innodb_flush_method", "fsync"),
        ],
        Power,
    ),
    ("mariadb", None, &[("innodb_doublewrite", "OFF"), ("engine", "innodb")], Process),
    ("mariadb", None, &[("transaction_isolation", "READ-COMMITTED"), ("engine", "rocksdb")], Power),
    (
        "mariadb",
        None,
        &[
            ("engine", "rocksdb"),
            ("rocksdb_flush_log_at_trx_commit", "2"),
            ("rocksdb_manual_wal_flush", "OFF"),
            ("rocksdb_wal_recovery_mode", "2"),
        ],
        Process,
    ),
    (
        "mariadb",
        Some(Process),
        &[("engine", "rocksdb"), ("rocksdb_block_cache_size", "4194304"), ("rocksdb_use_direct_reads", "ON")],
        Process,
    ),
    (
        "mariadb",
        None,
        &[
            ("engine", "rocksdb"),
            ("rocksdb_flush_log_at_trx_commit", "0"),
            ("rocksdb_use_direct_io_for_flush_and_compaction", "ON"),
        ],
        Lost,
    ),
    ("redis", None, &[("appendonly", "yes"), ("auto-aof-rewrite-percentage", "0")], Lost),
    (
        "redis",
        None,
        &[("appendonly", "yes"), ("appendfsync", "no"), ("save", "off"), ("io-threads", "2")],
        Process,
    ),
    ("redis", Some(Process), &[("appendfsync", "always"), ("no-appendfsync-on-rewrite", "yes")], Process),
    ("redis", Some(Power), &[("save", "60 5"), ("auto-aof-rewrite-min-size", "1048576")], Power),
    ("etcd", None, &[("reads", "serializable"), ("snapshot-count", "50")], Power),
    ("flat-folder", None, &[("write", "rename")], Process),
    ("flat-folder", None, &[("sync_file", "true")], Process),
    ("flat-folder", None, &[("sync_file", "true"), ("sync_folder", "true")], Power),
    ("nested-folder", None, &[("levels", "4"), ("level_bytes", "1"), ("sync_folder", "true")], Process),
    ("nested-folder", Some(Power), &[("levels", "1"), ("level_bytes", "3"), ("write", "overwrite")], Power),
];

/// The samples of a store.
pub fn subjects(def: &'static StoreDef) -> Vec<Subject> {
    let own = SAMPLES.iter().filter(|(name, ..)| *name == def.name);
    let owned = |(name, value): &(&'static str, &'static str)| ((*name).to_owned(), (*value).to_owned());
    own.map(|(_, tier, settings, _)| Subject::with(def, *tier, settings.iter().map(owned).collect()))
        .collect()
}

/// The tier that a sample is to give.
fn tier_of(subject: &Subject) -> Guarantee {
    let same = |(name, tier, settings, _): &&Sample| {
        let own: BTreeMap<_, _> = settings.iter().copied().collect();
        let given = subject.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        *name == subject.def.name && *tier == subject.tier && given.eq(own)
    };
    SAMPLES.iter().find(same).unwrap().3
}

#[test]
fn every_store_that_takes_settings_has_a_sample() {
    let sampled: BTreeSet<&str> = SAMPLES.iter().map(|(name, ..)| *name).collect();
    let takes = STORES.iter().filter(|def| def.open.is_ok() && !def.settings.is_empty());
    // UnQLite's one setting is for all stores of a process; its own test has a process to itself.
    let takes = takes.filter(|def| def.name != "unqlite");
    let missing: Vec<&str> = takes.map(|def| def.name).filter(|name| !sampled.contains(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn settings_give_the_tier_that_is_told_and_no_other() {
    for_each_of(subjects, |subject| {
        let tier = tier_of(subject);
        let store = subject.open();
        assert_eq!(store.guarantee(), tier);
        assert!(subject.def.offer(tier).unwrap().danger(&store.settings().unwrap()).is_some());
        drop(store);
        for other in subject.def.offers.iter().map(|offer| offer.guarantee).filter(|other| *other != tier) {
            let elsewhere = Subject::with(subject.def, Some(other), subject.settings.clone());
            // If the guarantee follows from the settings, another is refused; if it was asked for, they go with the other, too.
            match (subject.tier, elsewhere.open_with(|_| ())) {
                (_, Err(StoreError::BadSetting(_))) => {}
                (_, Ok(store)) => assert_eq!(store.guarantee(), other),
                (_, Err(error)) => panic!("{other}: {error}"),
            }
        }
    });
}

#[test]
fn settings_are_told_as_they_were_given_and_hold_when_it_is_opened_anew() {
    for_each_of(subjects, |subject| {
        for round in 0..2 {
            let store = subject.open();
            if round == 0 {
                store.session().unwrap().insert(&key(1), b"one").unwrap();
            }
            let told = super::subject::by_name(store.settings().unwrap());
            for name in subject.settings.keys() {
                assert!(told.contains_key(name), "{name} is not told: {told:?}");
            }
            assert_eq!(get(&mut *store.session().unwrap(), &key(1)).as_deref(), Some(&b"one"[..]));
            store.close().unwrap();
        }
    });
}

/// A value that no setting can take is refused, and never taken for the default.
#[test]
fn nonsense_is_refused_for_every_setting() {
    for def in STORES.iter().filter(|def| def.open.is_ok() && is_installed(def)) {
        for setting in def.settings {
            let given = BTreeMap::from([(setting.name.to_owned(), "nonsense".to_owned())]);
            let opened = Subject::with(def, None, given).open_with(|_| ());
            assert!(
                matches!(opened, Err(StoreError::BadSetting(_) | StoreError::SettingNotTaken { .. })),
                "{}.{}: {:?}",
                def.name,
                setting.name,
                opened.map(|_| "it opens")
            );
        }
    }
}
