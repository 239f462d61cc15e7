use super::*;
use crate::support::testing::{
    hold_loads_to_all_or_none, hold_sql_to_its_promise, new_folder, opened, refused, setting,
};

#[test]
fn the_page_size_takes_effect_although_a_journal_mode_is_set() {
    let folder = new_folder();
    let settings = [("page_size", "8192"), ("journal_mode", "WAL"), ("synchronous", "FULL")];
    let store = opened(&SQLITE, &folder, None, &settings);
    assert_eq!(setting(&*store, "page_size"), "8192");
    assert_eq!(store.guarantee(), Guarantee::Power);
    store.settle().unwrap();
    // Bytes 16 and 17 of the file's header are the page size.
    let header = std::fs::read(folder.path().join(FILE)).unwrap();
    assert_eq!(u16::from_be_bytes([header[16], header[17]]), 8192);
}

#[test]
fn an_existing_file_keeps_its_page_size_and_that_is_said() {
    for settings in [&[][..], &[("journal_mode", "WAL"), ("synchronous", "FULL")]] {
        let folder = new_folder();
        opened(&SQLITE, &folder, None, settings).close().unwrap();
        let error = refused(&SQLITE, &folder, None, &[settings, &[("page_size", "16384")]].concat());
        assert!(matches!(error, StoreError::SettingNotTaken { read_back, .. } if read_back == "4096"));
    }
}

#[test]
fn a_setting_never_changes_the_tier_unsaid() {
    let off = [("synchronous", "OFF")];
    assert_eq!(opened(&SQLITE, &new_folder(), None, &off).guarantee(), Guarantee::Process);
    let tier = opened(&SQLITE, &new_folder(), None, &[("synchronous", "EXTRA")]).guarantee();
    assert_eq!(tier, Guarantee::Power);
}

#[test]
fn exclusive_locking_lets_one_session_in_and_the_store_beside_it() {
    let folder = new_folder();
    let settings = [("locking_mode", "EXCLUSIVE"), ("journal_mode", "WAL"), ("synchronous", "NORMAL")];
    let store = opened(&SQLITE, &folder, Some(Guarantee::Process), &settings);
    let mut session = store.session().unwrap();
    session.insert(b"key", b"value").unwrap();
    assert!(matches!(store.session(), Err(StoreError::Unsupported(_))));
    assert_eq!(store.count().unwrap(), 1);
    store.settle().unwrap();
    drop(session);
    drop(store.session().unwrap());
    store.close().unwrap();
}

#[test]
fn the_cache_is_shared_out_among_the_sessions() {
    let folder = new_folder();
    let options = OpenOptions { cache_bytes: Some(8 << 20), sessions: 4, ..OpenOptions::new(folder.path()) };
    let store = open(&options).unwrap();
    assert_eq!(setting(&*store, "cache_size"), "-2048");
}

#[test]
fn settling_empties_the_write_ahead_log() {
    let folder = new_folder();
    let store = opened(&SQLITE, &folder, Some(Guarantee::Process), &[]);
    let mut session = store.session().unwrap();
    session.insert(b"key", &[7; 100_000]).unwrap();
    let log = folder.path().join("records.sqlite-wal");
    assert!(log.metadata().unwrap().len() > 100_000);
    store.settle().unwrap();
    assert_eq!(log.metadata().unwrap().len(), 0);
    assert!(session.get(b"key", &mut |value| assert_eq!(value, [7; 100_000])).unwrap());
}

#[test]
fn a_failed_batch_leaves_nothing() {
    let folder = new_folder();
    let store = opened(&SQLITE, &folder, Some(Guarantee::None), &[]);
    let mut session = store.session().unwrap();
    let twice: [(&[u8], &[u8]); 3] = [(b"a", b"1"), (b"b", b"2"), (b"a", b"3")];
    assert!(matches!(session.insert_batch(&twice), Err(StoreError::Exists)));
    assert_eq!(store.count().unwrap(), 0);
    session.insert_batch(&twice[..2]).unwrap();
    assert_eq!(store.count().unwrap(), 2);
}

/// Settings that SQLite takes silently and then ignores, changes, or has no use for.
#[test]
fn a_setting_that_sqlite_ignores_or_changes_is_refused() {
    let power = [("journal_mode", "WAL"), ("synchronous", "FULL")];
    let refuse = |settings: &[(&'static str, &'static str)]| refused(&SQLITE, &new_folder(), None, settings);
    for (changed, read_back) in [
        // No power of two.
        ([("page_size", "3000")], "4096"),
        // More than SQLite was built to map.
        ([("mmap_size", "1099511627776")], "2147418112"),
        // A word that it does not know becomes NORMAL, a number past EXTRA wraps around.
        ([("synchronous", "SIDEWAYS")], "1"),
        ([("synchronous", "7")], "0"),
        // A word that it does not know leaves the mode as it was.
        ([("locking_mode", "SHARED")], "normal"),
        ([("journal_mode", "SIDEWAYS")], "delete"),
        ([("auto_vacuum", "SOMETIMES")], "0"),
        ([("secure_delete", "SLOWLY")], "0"),
        ([("temp_store", "NOWHERE")], "0"),
    ] {
        match refuse(&changed) {
            StoreError::SettingNotTaken { read_back: real, .. } => assert_eq!(real, read_back, "{changed:?}"),
            other => panic!("{changed:?}: {other}"),
        }
    }
    for (idle, why) in [
        ([("wal_autocheckpoint", "100")], "it is for journal_mode=WAL"),
        ([("journal_size_limit", "4096")], "nothing of the journal is kept"),
        // SQLite reads it back, and returns to its default when another session changes the schema.
        ([("cache_size", "0")], "SQLite goes back to its default"),
    ] {
        assert!(refuse(&idle).to_string().contains(why), "{idle:?}: {}", refuse(&idle));
    }
    for taken in [
        ("secure_delete", "FAST"),
        ("temp_store", "MEMORY"),
        ("wal_autocheckpoint", "100"),
        ("cache_size", "1"),
    ] {
        let settings = [power[0], power[1], taken];
        opened(&SQLITE, &new_folder(), None, &settings).close().unwrap();
    }
}

#[test]
fn a_session_for_sql_keeps_rows_and_undoes_what_was_rolled_back() {
    for locking in ["NORMAL", "EXCLUSIVE"] {
        let folder = new_folder();
        let store = opened(&SQLITE, &folder, None, &[("locking_mode", locking)]);
        hold_sql_to_its_promise(&*store);
        hold_loads_to_all_or_none(&*store);
        assert!(store.sql().is_ok(), "{locking}: the next session may come");
    }
}
