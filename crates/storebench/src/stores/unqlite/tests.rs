use storebench_core::store::{Guarantee, StoreError};

use super::UNQLITE;
use crate::stores::support::testing::{after_kill, new_folder, opened, refused, setting};

#[test]
fn a_kill_takes_what_was_not_committed() {
    for (tier, left) in [(Guarantee::None, 0), (Guarantee::Power, 3)] {
        assert_eq!(after_kill(&UNQLITE, tier), left, "{tier}");
    }
}

#[test]
fn the_page_size_is_read_from_the_file_once_it_is_written() {
    let folder = new_folder();
    let store = opened(&UNQLITE, &folder, None, &[]);
    store.session().unwrap().insert(b"key", b"value").unwrap();
    store.settle().unwrap();
    assert_eq!(setting(&*store, "page_size"), "4096");
}

#[test]
fn it_has_no_settings() {
    let error = refused(&UNQLITE, &new_folder(), None, &[("page_size", "4096")]);
    assert!(matches!(error, StoreError::BadSetting(_)), "{error}");
}

/// UnQLite 1.1.7 lost records in this manner, and read others wrong.
#[test]
fn updates_of_other_sizes_survive_reopening() {
    const KEYS: u32 = 1500;
    let folder = new_folder();
    let size = |key: u32, round: u32| {
        (key.wrapping_mul(2_654_435_761) >> 7).wrapping_add(round * 977) as usize % 3000
    };
    for round in 0..4 {
        let store = opened(&UNQLITE, &folder, None, &[]);
        let mut session = store.session().unwrap();
        for key in 0..KEYS {
            if round > 0 {
                let mut seen = None;
                session.get(&key.to_be_bytes(), &mut |value| seen = Some(value.to_vec())).unwrap();
                assert!(seen == Some(vec![key as u8; size(key, round - 1)]), "key {key} in round {round}");
            }
            session.update(&key.to_be_bytes(), &vec![key as u8; size(key, round)]).unwrap();
        }
        drop(session);
        assert_eq!(store.count().unwrap(), u64::from(KEYS));
        store.close().unwrap();
    }
}
