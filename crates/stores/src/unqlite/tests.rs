use std::process::Command;

use storebench_model::store::StoreError;
use tempfile::TempDir;

use super::UNQLITE;
use crate::support::testing::{new_folder, opened, refused, setting};

#[test]
fn the_page_size_is_read_from_the_file_once_it_is_written() {
    let folder = new_folder();
    let store = opened(&UNQLITE, &folder, None, &[]);
    store.session().unwrap().insert(b"key", b"value").unwrap();
    store.settle().unwrap();
    assert_eq!(setting(&*store, "page_size"), "4096");
}

/// In a separate process: the engine has one page size per process, and other tests have stores open.
#[test]
fn pages_can_have_other_sizes() {
    let mut test_process = Command::new(std::env::current_exe().unwrap());
    test_process.args(["--exact", "unqlite::tests::other_page_sizes", "--ignored"]);
    let output = test_process.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

#[test]
#[ignore = "is run by another test, in a process of its own"]
fn other_page_sizes() {
    for bytes in ["512", "1024", "16384", "65536", "4096"] {
        let folder = new_folder();
        let settings = [("page_size", bytes)];
        let store = opened(&UNQLITE, &folder, None, &settings);
        let other_size = refused(&UNQLITE, &new_folder(), None, &[("page_size", "2048")]);
        assert!(other_size.to_string().contains("one page size for all stores of a process"), "{other_size}");
        let longest = UNQLITE.capabilities_with(settings).max_key_bytes;
        let mut session = store.session().unwrap();
        assert!(matches!(session.insert(&vec![1; longest + 1], b""), Err(StoreError::Unsupported(_))));
        session.insert(&vec![1; longest], b"long").unwrap();
        drop(session);
        store.settle().unwrap();
        assert_eq!(setting(&*store, "page_size"), bytes);
        store.close().unwrap();
        if bytes != "4096" {
            let error = refused(&UNQLITE, &folder, None, &[]);
            assert!(matches!(error, StoreError::SettingNotTaken { .. }), "{bytes}: {error}");
        }
        let store = opened(&UNQLITE, &folder, None, &settings);
        let mut session = store.session().unwrap();
        assert!(session.get(&vec![1; longest], &mut |value| assert_eq!(value, b"long")).unwrap(), "{bytes}");
        session.remove(&vec![1; longest]).unwrap();
        drop(session);
        store.close().unwrap();
        update_and_reopen(&folder, &settings);
    }
}

/// UnQLite 1.1.7 lost and corrupted records here.
#[test]
fn updates_of_other_sizes_survive_reopening() {
    update_and_reopen(&new_folder(), &[]);
}

fn update_and_reopen(folder: &TempDir, settings: &[(&str, &str)]) {
    const KEYS: u32 = 1500;
    let size = |key: u32, round: u32| {
        (key.wrapping_mul(2_654_435_761) >> 7).wrapping_add(round * 977) as usize % 3000
    };
    for round in 0..4 {
        let store = opened(&UNQLITE, folder, None, settings);
        let mut session = store.session().unwrap();
        for key in 0..KEYS {
            if round > 0 {
                let mut seen = None;
                session.get(&key.to_be_bytes(), &mut |value| seen = Some(value.to_vec())).unwrap();
                let written = vec![key as u8; size(key, round - 1)];
                assert!(seen == Some(written), "key {key} in round {round}, {settings:?}");
            }
            session.update(&key.to_be_bytes(), &vec![key as u8; size(key, round)]).unwrap();
        }
        drop(session);
        assert_eq!(store.count().unwrap(), u64::from(KEYS));
        store.close().unwrap();
    }
}
