//! The records that are there when a store is opened again.

use super::subject::{Subject, assert_holds, for_each_keeping_privately, for_each_private, key, value};
use storebench_model::store::{Guarantee, Store, StoreError};

const HAVE_A_CHECK: [&str; 6] = ["sqlite", "berkeleydb", "libmdbx", "redb", "postgres", "mariadb"];

/// Writes records, updates some and removes some.
fn write(subject: &Subject, store: &dyn Store) {
    let mut session = store.session().unwrap();
    let records = subject.operations(200);
    let owned: Vec<_> = (1_000..1_100).map(|number| (key(number), value(number, 2_000))).collect();
    let batch: Vec<(&[u8], &[u8])> = owned.iter().map(|(key, value)| (&key[..], &value[..])).collect();
    session.insert_batch(&batch).unwrap();
    for number in 0..records {
        session.insert(&key(number), &value(number, 100)).unwrap();
    }
    for number in (0..records).step_by(3) {
        session.update(&key(number), &value(number + 1_000, 5_000)).unwrap();
    }
    for number in (1..records).step_by(3) {
        session.remove(&key(number)).unwrap();
    }
}

/// Holds an open store to what [`write`] left.
fn check(subject: &Subject, store: &dyn Store) {
    let mut session = store.session().unwrap();
    let records = subject.operations(200);
    for number in 0..records {
        let expected = match number % 3 {
            0 => Some(value(number + 1_000, 5_000)),
            1 => None,
            _ => Some(value(number, 100)),
        };
        assert_holds(&mut *session, &key(number), expected.as_deref());
    }
    for number in 1_000..1_100 {
        assert_holds(&mut *session, &key(number), Some(&value(number, 2_000)));
    }
    drop(session);
    let removed = (1..records).step_by(3).count() as u64;
    assert_eq!(store.count().unwrap(), records + 100 - removed);
}

#[test]
fn what_was_written_is_there_after_closing() {
    for_each_keeping_privately(|subject| {
        let store = subject.open();
        write(subject, &*store);
        check(subject, &*store);
        store.close().unwrap();
        let store = subject.open();
        if subject.can().persists {
            check(subject, &*store);
            // And it takes writes as before.
            store.session().unwrap().update(&key(0), b"again").unwrap();
            store.close().unwrap();
            let store = subject.open();
            assert_holds(&mut *store.session().unwrap(), &key(0), Some(b"again"));
        } else {
            assert_eq!(store.count().unwrap(), 0, "it says that it does not persist");
        }
    });
}

#[test]
fn what_was_settled_is_there_after_closing() {
    for_each_keeping_privately(|subject| {
        let store = subject.open();
        write(subject, &*store);
        store.settle().unwrap();
        check(subject, &*store);
        store.settle().unwrap();
        let mut store = store;
        let has_a_check = store.verify().unwrap();
        if subject.def.library.is_none() {
            assert_eq!(has_a_check, HAVE_A_CHECK.contains(&subject.def.name));
        }
        store.close().unwrap();
        if subject.can().persists {
            check(subject, &*subject.open());
        }
    });
}

#[test]
fn acknowledged_writes_are_there_when_it_is_dropped_without_closing() {
    for_each_keeping_privately(|subject| {
        if subject.guarantee() >= Guarantee::Process {
            let store = subject.open();
            write(subject, &*store);
            drop(store);
            check(subject, &*subject.open());
        }
    });
}

#[test]
fn an_empty_store_can_be_closed_and_opened() {
    for_each_private(|subject| {
        for _ in 0..3 {
            let store = subject.open();
            assert_eq!(store.count().unwrap(), 0);
            store.close().unwrap();
        }
    });
}

#[test]
fn one_tier_reads_what_another_wrote_or_says_what_forbids_it() {
    for_each_keeping_privately(|subject| {
        if !subject.can().persists {
            return;
        }
        for offer in subject.def.offers {
            let other_subject = Subject::new(subject.def, Some(offer.guarantee));
            let store = other_subject.open();
            store.session().unwrap().insert(&key(1), b"one").unwrap();
            store.close().unwrap();
            let store = match other_subject.open_with(|options| options.guarantee = subject.tier) {
                // Some engines fix a setting for good when the files are made.
                Err(StoreError::SettingNotTaken { .. }) if subject.guarantee() != offer.guarantee => continue,
                opened => opened.unwrap_or_else(|error| panic!("after {}: {error}", offer.guarantee)),
            };
            assert_eq!(store.guarantee(), subject.guarantee());
            assert_holds(&mut *store.session().unwrap(), &key(1), Some(b"one"));
        }
    });
}

#[test]
fn an_engine_that_checks_its_files_finds_damage() {
    for_each_keeping_privately(|subject| {
        // redb ends the process instead.
        let is_checked = ["sqlite", "berkeleydb"].contains(&subject.def.name);
        if !is_checked || subject.tier != Some(Guarantee::Power) {
            return;
        }
        let store = subject.open();
        write(subject, &*store);
        store.close().unwrap();
        let files = std::fs::read_dir(subject.directory.path()).unwrap().map(|entry| entry.unwrap());
        let has_records = |file: &std::fs::DirEntry| !file.file_name().to_string_lossy().starts_with("log.");
        let largest = files.filter(has_records).max_by_key(|file| file.metadata().unwrap().len()).unwrap();
        let mut bytes = std::fs::read(largest.path()).unwrap();
        let (start, end) = ((bytes.len() / 4) & !4095, (bytes.len() / 2) & !4095);
        bytes[start..end].fill(0x5a);
        std::fs::write(largest.path(), bytes).unwrap();
        let verified = subject.open_with(|_| ()).and_then(|mut store| store.verify());
        assert!(matches!(verified, Err(StoreError::Engine(_))), "{verified:?}");
    });
}
