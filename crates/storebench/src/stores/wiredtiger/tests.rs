use storebench_core::store::{Guarantee, StoreError};

use super::WIREDTIGER;
use super::config::size_in;
use super::library::version;
use crate::stores::support::testing::{after_kill, new_folder, open, opened, refused, setting};

#[test]
fn the_version_is_that_of_the_sources() {
    let built = env!("STOREBENCH_WIREDTIGER_PREFIX");
    assert!(
        !built.contains("wiredtiger-") || built.contains(&format!("wiredtiger-{}-", version())),
        "{built}"
    );
}

#[test]
fn a_kill_takes_what_no_log_has() {
    assert_eq!(after_kill(&WIREDTIGER, Guarantee::None), 0);
    assert_eq!(after_kill(&WIREDTIGER, Guarantee::Process), 3);
    assert_eq!(after_kill(&WIREDTIGER, Guarantee::Power), 3);
}

#[test]
fn settings_are_read_back_and_decide_the_tier() {
    for (sync, tier) in [("off", Guarantee::None), ("none", Guarantee::Process), ("fsync", Guarantee::Power)]
    {
        let folder = new_folder();
        let given = [("transaction_sync", sync), ("log_file_max", "1048576"), ("cache_size", "2097152")];
        let store = opened(&WIREDTIGER, &folder, None, &given);
        assert_eq!((store.guarantee(), setting(&*store, "transaction_sync").as_str()), (tier, sync));
        assert_eq!(setting(&*store, "log_file_max"), "1048576");
        assert_eq!(setting(&*store, "cache_size"), "2097152");
        // As shipped.
        assert_eq!(setting(&*store, "leaf_page_max"), "32768");
    }
    let store = opened(&WIREDTIGER, &new_folder(), None, &[]);
    assert_eq!((store.guarantee(), setting(&*store, "log").as_str()), (Guarantee::None, "false"));
    let weak = refused(&WIREDTIGER, &new_folder(), Some(Guarantee::Power), &[("transaction_sync", "none")]);
    assert!(matches!(weak, StoreError::BadSetting(text) if text.contains("process")));
}

#[test]
fn what_it_can_t_take_is_refused() {
    for setting in [
        ("leaf_page_max", "5000"),
        ("cache_size", "1000"),
        ("transaction_sync", "dsync"),
        // There is no log.
        ("log_file_max", "1048576"),
        ("checkpoint_log_size", "1048576"),
    ] {
        let error = refused(&WIREDTIGER, &new_folder(), None, &[setting]);
        assert!(matches!(error, StoreError::BadSetting(_)), "{setting:?}: {error}");
    }
    let folder = new_folder();
    opened(&WIREDTIGER, &folder, None, &[("leaf_page_max", "8192")]).close().unwrap();
    let other = refused(&WIREDTIGER, &folder, None, &[("leaf_page_max", "16384")]);
    assert!(matches!(other, StoreError::SettingNotTaken { .. }), "{other}");
}

/// The engine would never work again.
#[test]
fn an_empty_key_is_refused_and_a_scan_from_it_begins_at_the_first() {
    let folder = new_folder();
    let store = opened(&WIREDTIGER, &folder, None, &[]);
    let mut session = store.session().unwrap();
    assert!(matches!(session.insert(b"", b"value"), Err(StoreError::Unsupported(_))));
    assert!(matches!(session.get(b"", &mut |_| ()), Err(StoreError::Unsupported(_))));
    assert!(matches!(session.remove(b""), Err(StoreError::Unsupported(_))));
    session.insert(b"key", b"value").unwrap();
    assert_eq!(session.scan(b"", 9, &mut |key, _| assert_eq!(key, b"key")).unwrap(), 1);
}

#[test]
fn sizes_are_read_as_the_engine_writes_them() {
    let table =
        "key_format=u,leaf_page_max=32KB,log=(enabled=true),memory_page_max=5MB,internal_page_max=8192";
    assert_eq!(size_in(table, "leaf_page_max").unwrap(), 32 << 10);
    assert_eq!(size_in(table, "memory_page_max").unwrap(), 5 << 20);
    assert_eq!(size_in(table, "internal_page_max").unwrap(), 8192);
    assert!(size_in(table, "key_format").is_err() && size_in(table, "nothing").is_err());
}

#[test]
fn a_transaction_that_another_one_overtakes_is_a_conflict_and_leaves_nothing() {
    let folder = new_folder();
    let store = opened(&WIREDTIGER, &folder, Some(Guarantee::Process), &[]);
    let (mut one, mut two) = (store.session().unwrap(), store.session().unwrap());
    one.insert(b"key", b"old").unwrap();
    let ended = one.transact(&mut |open| {
        assert!(open.get_to_change(b"key", &mut |value| assert_eq!(value, b"old"))?);
        open.put(b"other", b"value")?;
        two.update(b"key", b"theirs").unwrap();
        open.put(b"key", b"mine")
    });
    assert!(matches!(ended, Err(StoreError::Conflict(_))), "{ended:?}");
    assert!(one.get(b"key", &mut |value| assert_eq!(value, b"theirs")).unwrap());
    assert!(!one.get(b"other", &mut |_| ()).unwrap());
}

#[test]
fn the_log_stays_short() {
    let folder = new_folder();
    let given = [("log_file_max", "1048576"), ("checkpoint_log_size", "2097152")];
    let store = opened(&WIREDTIGER, &folder, Some(Guarantee::Process), &given);
    let mut session = store.session().unwrap();
    for number in 0..20_000_u32 {
        session.update(&(number % 100).to_be_bytes(), &[7; 1000]).unwrap();
    }
    drop(session);
    store.settle().unwrap();
    store.close().unwrap();
    let files = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap());
    let logs = files.filter(|entry| entry.file_name().to_string_lossy().starts_with("WiredTigerLog."));
    let logged: u64 = logs.map(|entry| entry.metadata().unwrap().len()).sum();
    assert!(logged < 12 << 20, "{logged} bytes of log after 20 MB");
}

#[test]
fn it_checks_its_own_files() {
    let folder = new_folder();
    let mut store = opened(&WIREDTIGER, &folder, Some(Guarantee::Process), &[]);
    for number in 0..1000_u32 {
        store.session().unwrap().insert(&number.to_be_bytes(), &[7; 3000]).unwrap();
    }
    assert!(store.verify().unwrap());
    store.close().unwrap();
    let file = folder.path().join("records.wt");
    let mut bytes = std::fs::read(&file).unwrap();
    // Of the first page of records.
    bytes[8192..12288].fill(0x5a);
    std::fs::write(&file, bytes).unwrap();
    let found = open(&WIREDTIGER, folder.path(), Some(Guarantee::Process), false, &[])
        .and_then(|mut store| store.verify());
    assert!(matches!(found, Err(StoreError::Engine(_))), "{found:?}");
}
