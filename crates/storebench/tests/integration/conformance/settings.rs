//! Settings in addition to the guarantees' settings: what their documentation says holds.

use std::collections::{BTreeMap, BTreeSet};

use storebench::STORES;
use storebench_model::store::{Guarantee, StoreDef, StoreError};

use super::subject::{Subject, for_each_of, get, is_installed, key};

/// Far from the defaults, several at once: a store and what it is asked for, its settings, and the tier that results.
const SAMPLES: &str = "
    sqlite -: journal_mode=PERSIST, page_size=512, cache_size=1 -> power
    sqlite -: journal_mode=MEMORY, auto_vacuum=FULL, secure_delete=true -> none
    sqlite -: locking_mode=EXCLUSIVE, synchronous=NORMAL, journal_size_limit=0 -> process
    sqlite process: page_size=65536, mmap_size=16777216, wal_autocheckpoint=1 -> process
    leveldb -: write_buffer_size=65536, block_cache_size=0, block_size=1024, max_file_size=1048576, bloom_bits=4, max_open_files=74 -> process
    rocksdb -: write_buffer_size=65536, block_cache_size=0, block_size=1024, bloom_bits=4, compaction_style=kCompactionStyleUniversal, max_open_files=64 -> process
    berkeleydb -: type=DB_HASH, pagesize=512 -> none
    berkeleydb process: type=DB_HASH, cachesize=131072 -> process
    berkeleydb power: pagesize=65536, lg_bsize=1048576 -> power
    lmdb -: writemap=true, mapasync=true, map_size=67108864 -> process
    lmdb -: nometasync=true, nordahead=true, nomeminit=true -> process
    libmdbx -: sync_mode=utterly_nosync, writemap=true, pagesize=16384, sync_bytes=65536 -> process
    libmdbx -: sync_mode=nometasync, liforeclaim=true, nordahead=true -> process
    libmdbx power: pagesize=512, nomeminit=true, growth_step=1048576 -> power
    redb none: cache_size=1048576, two_phase_commit=true -> none
    redb -: quick_repair=true, durability=immediate -> power
    fjall -: persist_mode=none, kv_separation=true, data_block_size=1024, max_memtable_size=1048576, cache_size=1048576 -> none
    sled -: flush=true, cache_capacity=1048576 -> process
    sled -: flush_every_ms=10, cache_capacity=65536 -> none
    postgres -: shared_buffers=131072, wal_segment_size=1048576, max_wal_size=2097152, autovacuum=off -> power
    postgres -: full_page_writes=off, wal_sync_method=open_datasync -> process
    postgres -: synchronous_commit=off, wal_buffers=65536, commit_delay=1000 -> none
    postgres process: synchronous_commit=local, default_transaction_isolation=serializable -> process
    mariadb -: innodb_page_size=4096, innodb_buffer_pool_size=8388608, innodb_log_file_size=8388608, innodb_flush_method=fsync -> power
    mariadb -: innodb_doublewrite=OFF, engine=innodb -> process
    mariadb -: transaction_isolation=READ-COMMITTED, engine=rocksdb -> power
    mariadb -: engine=rocksdb, rocksdb_flush_log_at_trx_commit=2, rocksdb_manual_wal_flush=OFF, rocksdb_wal_recovery_mode=2 -> process
    mariadb process: engine=rocksdb, rocksdb_block_cache_size=4194304, rocksdb_use_direct_reads=ON -> process
    mariadb -: engine=rocksdb, rocksdb_flush_log_at_trx_commit=0, rocksdb_use_direct_io_for_flush_and_compaction=ON -> none
    redis -: appendonly=yes, auto-aof-rewrite-percentage=0 -> none
    redis -: appendonly=yes, appendfsync=no, save=off, io-threads=2 -> process
    redis process: appendfsync=always, no-appendfsync-on-rewrite=yes -> process
    redis power: save=60 5, auto-aof-rewrite-min-size=1048576 -> power
    etcd -: reads=serializable, snapshot-count=50 -> power
    flat-folder -: write=rename -> process
    flat-folder -: sync_file=true -> process
    flat-folder -: sync_file=true, sync_folder=true -> power
    nested-folder -: levels=4, level_bytes=1, sync_folder=true -> process
    nested-folder power: levels=1, level_bytes=3, write=overwrite -> power
";

struct Sample {
    store: &'static str,
    asked: Option<Guarantee>,
    settings: BTreeMap<String, String>,
    tier: Guarantee,
}

fn samples() -> impl Iterator<Item = Sample> {
    SAMPLES.lines().filter(|line| !line.is_empty()).map(|line| {
        let (subject, rest) = line.trim().split_once(": ").unwrap();
        let (store, asked) = subject.split_once(' ').unwrap();
        let (settings, tier) = rest.split_once(" -> ").unwrap();
        let pairs = settings.split(", ").map(|pair| pair.split_once('=').unwrap());
        let settings = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let asked = (asked != "-").then(|| asked.parse().unwrap());
        Sample { store, asked, settings, tier: tier.parse().unwrap() }
    })
}

pub fn subjects(def: &'static StoreDef) -> Vec<Subject> {
    let samples_of_store = samples().filter(|sample| sample.store == def.name);
    samples_of_store.map(|sample| Subject::with(def, sample.asked, sample.settings)).collect()
}

fn tier_of(subject: &Subject) -> Guarantee {
    let is_same = |sample: &Sample| {
        (sample.store, sample.asked, &sample.settings) == (subject.def.name, subject.tier, &subject.settings)
    };
    samples().find(is_same).unwrap().tier
}

#[test]
fn every_store_that_takes_settings_has_a_sample() {
    let sampled: BTreeSet<&str> = samples().map(|sample| sample.store).collect();
    let stores = STORES.iter().filter(|def| def.open.is_ok() && !def.settings.is_empty());
    // UnQLite's one setting is for all stores of a process; its own test has a process to itself.
    let stores = stores.filter(|def| def.name != "unqlite");
    let missing: Vec<&str> = stores.map(|def| def.name).filter(|name| !sampled.contains(name)).collect();
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
            let other_subject = Subject::with(subject.def, Some(other), subject.settings.clone());
            // If the guarantee follows from the settings, another is refused; if it was asked for, they go with the other, too.
            match (subject.tier, other_subject.open_with(|_| ())) {
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
            let settings = super::subject::by_name(store.settings().unwrap());
            for name in subject.settings.keys() {
                assert!(settings.contains_key(name), "{name} is not read back: {settings:?}");
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
            let settings = BTreeMap::from([(setting.name.to_owned(), "nonsense".to_owned())]);
            let opened = Subject::with(def, None, settings).open_with(|_| ());
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
