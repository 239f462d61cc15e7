use storebench_model::store::{Guarantee, OpenOptions, Store, StoreError};
use tempfile::TempDir;

use super::BERKELEYDB;
use crate::support::testing::{new_folder, opened, refused, setting};

fn open(folder: &TempDir, guarantee: Guarantee, sessions: usize, cache_bytes: Option<u64>) -> Box<dyn Store> {
    let options =
        OpenOptions { guarantee: Some(guarantee), cache_bytes, sessions, ..OpenOptions::new(folder.path()) };
    (BERKELEYDB.open.unwrap())(&options).unwrap()
}

#[test]
fn the_environment_is_what_tier_and_sessions_need() {
    for (tier, sessions, expected, unexpected, write_nosync) in [
        (Guarantee::None, 2, "DB_INIT_CDB", "DB_INIT_TXN", None),
        (Guarantee::Process, 1, "DB_INIT_TXN", "DB_INIT_LOCK", Some("true")),
        (Guarantee::Process, 2, "DB_INIT_LOCK", "DB_INIT_CDB", Some("true")),
        (Guarantee::Power, 1, "DB_INIT_TXN", "DB_INIT_LOCK", Some("false")),
        (Guarantee::Power, 2, "DB_INIT_TXN", "DB_INIT_CDB", Some("false")),
    ] {
        let folder = new_folder();
        let store = open(&folder, tier, sessions, None);
        let environment = setting(&*store, "environment");
        if let Some(write_nosync) = write_nosync {
            assert_eq!(setting(&*store, "DB_TXN_WRITE_NOSYNC"), write_nosync, "{tier} {sessions}");
        }
        let is_right = environment.contains(expected) && !environment.contains(unexpected);
        assert!(is_right, "{tier} {sessions}: {environment}");
        assert_eq!(environment.contains("DB_THREAD"), sessions > 1, "{tier} {sessions}: {environment}");
    }
    let folder = new_folder();
    let environment = setting(&*open(&folder, Guarantee::None, 1, None), "environment");
    assert!(!environment.contains("DB_INIT_TXN") && !environment.contains("DB_INIT_CDB"), "{environment}");
}

fn with_transactions(folder: &TempDir, guarantee: Option<Guarantee>, sessions: usize) -> Box<dyn Store> {
    let options = OpenOptions { guarantee, sessions, transactions: true, ..OpenOptions::new(folder.path()) };
    (BERKELEYDB.open.unwrap())(&options).unwrap()
}

#[test]
fn transactions_have_a_log_at_every_tier_and_locks_for_several_sessions() {
    for (requested, tier, nosync, write_nosync) in [
        (None, Guarantee::Power, "false", "false"),
        (Some(Guarantee::None), Guarantee::None, "true", "false"),
        (Some(Guarantee::Process), Guarantee::Process, "false", "true"),
        (Some(Guarantee::Power), Guarantee::Power, "false", "false"),
    ] {
        for sessions in [1, 2] {
            let folder = new_folder();
            let store = with_transactions(&folder, requested, sessions);
            assert_eq!(store.guarantee(), tier, "{requested:?}");
            let environment = setting(&*store, "environment");
            assert!(environment.contains("DB_INIT_TXN"), "{requested:?}: {environment}");
            assert_eq!(environment.contains("DB_INIT_LOCK"), sessions > 1, "{requested:?}: {environment}");
            assert_eq!(setting(&*store, "DB_TXN_NOSYNC"), nosync, "{requested:?}");
            assert_eq!(setting(&*store, "DB_TXN_WRITE_NOSYNC"), write_nosync, "{requested:?}");
        }
    }
}

/// Two transactions each want what the other has locked: one gets an error, and has changed nothing.
#[test]
fn of_two_that_wait_for_one_another_one_gives_way() {
    let folder = new_folder();
    let store = with_transactions(&folder, Some(Guarantee::Process), 2);
    let mut session = store.session().unwrap();
    // The first and the last are on other leaves: values of a quarter of a page would all be kept elsewhere.
    (0..=40).for_each(|number| session.insert(&[number], &[number; 700]).unwrap());
    drop(session);
    let meet = std::sync::Barrier::new(2);
    let change_both = |first: u8, second: u8| {
        let mut session = store.session().unwrap();
        session.transact(&mut |transaction| {
            transaction.get_to_change(&[first], &mut |_| ())?;
            meet.wait();
            transaction.get_to_change(&[second], &mut |_| ())?;
            transaction.put(&[second], b"changed")
        })
    };
    let (first_outcome, second_outcome) = std::thread::scope(|scope| {
        let second_outcome = scope.spawn(|| change_both(40, 0));
        (change_both(0, 40), second_outcome.join().unwrap())
    });
    let outcomes = [&first_outcome, &second_outcome].into_iter();
    let conflicts = outcomes.filter(|outcome| matches!(outcome, Err(StoreError::Conflict(_))));
    assert_eq!(conflicts.count(), 1, "{first_outcome:?} {second_outcome:?}");
    assert!(first_outcome.is_ok() != second_outcome.is_ok(), "{first_outcome:?} {second_outcome:?}");
}

#[test]
fn a_total_cache_is_taken_with_its_overhead() {
    for tier in [Guarantee::None, Guarantee::Power] {
        for total in [1 << 20, 10_000_000, 64 << 20, 640 << 20] {
            let folder = new_folder();
            let cachesize: u64 = setting(&*open(&folder, tier, 1, Some(total)), "cachesize").parse().unwrap();
            assert!(cachesize <= total && cachesize >= total / 100 * 98, "{cachesize} of {total}");
        }
    }
}

#[test]
fn settings_are_read_back_or_refused() {
    let folder = new_folder();
    let store = opened(
        &BERKELEYDB,
        &folder,
        Some(Guarantee::Process),
        &[("pagesize", "16384"), ("lg_max", "2097152")],
    );
    assert_eq!(setting(&*store, "pagesize"), "16384");
    assert_eq!(setting(&*store, "lg_max"), "2097152");
    drop(store);
    for given in [("lg_max", "2097152"), ("checkpoint_kbyte", "1024")] {
        let error = refused(&BERKELEYDB, &new_folder(), Some(Guarantee::None), &[given]);
        assert!(matches!(error, StoreError::BadSetting(_)), "{given:?}: {error}");
    }
    // An existing database has its pages already.
    let error = refused(&BERKELEYDB, &folder, Some(Guarantee::Process), &[("pagesize", "4096")]);
    assert!(matches!(error, StoreError::SettingNotTaken { .. } | StoreError::Engine(_)), "{error}");
}

#[test]
fn checkpoints_keep_the_log_short() {
    let folder = new_folder();
    let settings = [("checkpoint_kbyte", "1024"), ("lg_max", "1048576")];
    let store = opened(&BERKELEYDB, &folder, Some(Guarantee::Process), &settings);
    let mut session = store.session().unwrap();
    for number in 0..20_000_u32 {
        session.update(&(number % 100).to_be_bytes(), &[number as u8; 1000]).unwrap();
    }
    let log: u64 = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("log."))
        .map(|entry| entry.metadata().unwrap().len())
        .sum();
    assert!(log < 6 << 20, "{log} bytes of log for 20 MB and more that were logged");
}

#[test]
fn a_large_batch_finds_locks_enough() {
    let folder = new_folder();
    let store = open(&folder, Guarantee::Process, 2, Some(64 << 20));
    let mut session = store.session().unwrap();
    let keys: Vec<[u8; 4]> =
        (0..20_000_u32).map(|number| number.wrapping_mul(2_654_435_761).to_be_bytes()).collect();
    let records: Vec<(&[u8], &[u8])> = keys.iter().map(|key| (&key[..], &[7; 500][..])).collect();
    session.insert_batch(&records).unwrap();
    drop(session);
    assert_eq!(store.count().unwrap(), 20_000);
}

#[test]
fn a_hash_table_is_read_back_and_has_no_order() {
    let hash = [("type", "DB_HASH")];
    assert!(!BERKELEYDB.capabilities_with(hash).order && BERKELEYDB.capabilities.order);
    assert!(BERKELEYDB.capabilities_with([("type", "DB_BTREE")]).order);
    for tier in [Guarantee::None, Guarantee::Process] {
        let folder = new_folder();
        let store = opened(&BERKELEYDB, &folder, Some(tier), &hash);
        assert_eq!(setting(&*store, "type"), "DB_HASH");
        let mut session = store.session().unwrap();
        session.insert(b"key", b"value").unwrap();
        let scanned = session.scan(b"", 9, &mut |_, _| ());
        assert!(matches!(scanned, Err(StoreError::Unsupported(_))), "{scanned:?}");
        drop(session);
        assert_eq!(store.count().unwrap(), 1);
        store.close().unwrap();
        // A database that was made as a hash table is no B-tree.
        let error = refused(&BERKELEYDB, &folder, Some(tier), &[]);
        assert!(matches!(error, StoreError::SettingNotTaken { .. } | StoreError::Engine(_)), "{error}");
    }
}

#[test]
fn a_leftover_that_it_would_wait_for_is_refused() {
    let folder = new_folder();
    let options = OpenOptions { guarantee: Some(Guarantee::None), ..OpenOptions::new(folder.path()) };
    let leftover = folder.path().join("__db.records.db");
    std::fs::write(&leftover, "").unwrap();
    let Err(StoreError::Engine(why)) = (BERKELEYDB.open.unwrap())(&options) else { panic!("it was opened") };
    assert!(why.contains("__db.records.db was left by") && why.contains("delete it"), "{why}");
    std::fs::remove_file(leftover).unwrap();
    (BERKELEYDB.open.unwrap())(&options).unwrap().close().unwrap();
}
