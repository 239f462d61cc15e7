//! One record at a time: insert, get, update, remove, and what happens when the key is there or is not.

use storebench_model::store::StoreError;

use super::subject::{assert_holds, for_each, for_each_keeping, get, key, value};

#[test]
fn a_record_is_inserted_read_updated_and_removed() {
    for_each_keeping(|subject| {
        let store = subject.open();
        let mut session = store.session().unwrap();
        let session = &mut *session;
        let records = subject.operations(100);
        for number in 0..records {
            session.insert(&key(number), &value(number, 100)).unwrap();
        }
        for number in 0..records {
            assert_holds(session, &key(number), Some(&value(number, 100)));
        }
        for number in (0..records).step_by(2) {
            session.update(&key(number), &value(number + 1_000, 300)).unwrap();
        }
        for number in (0..records).step_by(3) {
            session.remove(&key(number)).unwrap();
        }
        for number in 0..records {
            let expected = match number {
                removed if removed % 3 == 0 => None,
                updated if updated % 2 == 0 => Some(value(updated + 1_000, 300)),
                untouched => Some(value(untouched, 100)),
            };
            assert_holds(session, &key(number), expected.as_deref());
        }
        for number in (0..records).step_by(3) {
            session.insert(&key(number), &value(number + 2_000, 50)).unwrap();
            assert_holds(session, &key(number), Some(&value(number + 2_000, 50)));
        }
    });
}

#[test]
fn what_it_is_given_is_kept_as_declared() {
    for_each(|subject| {
        let store = subject.open();
        store.session().unwrap().insert(&key(1), b"one").unwrap();
        assert_eq!(store.count().unwrap() > 0, subject.can().keeps);
    });
}

#[test]
fn a_missing_key_is_not_found() {
    for_each_keeping(|subject| {
        let store = subject.open();
        let mut session = store.session().unwrap();
        assert_eq!(get(&mut *session, &key(1)), None, "in an empty store");
        session.insert(&key(2), b"two").unwrap();
        assert_eq!(get(&mut *session, &key(1)), None);
        assert_eq!(get(&mut *session, &key(2)[..31]), None, "a prefix of a key");
        assert_eq!(get(&mut *session, &[&key(2)[..], b"0"].concat()), None, "more than a key");
    });
}

#[test]
fn updating_and_removing_a_missing_key_is_noticed_as_declared() {
    for_each_keeping(|subject| {
        let store = subject.open();
        let mut session = store.session().unwrap();
        session.insert(&key(0), b"other").unwrap();
        let updated = session.update(&key(1), b"one");
        let removed = session.remove(&key(2));
        if subject.can().notices_missing {
            assert!(matches!(updated, Err(StoreError::Missing)), "update: {updated:?}");
            assert!(matches!(removed, Err(StoreError::Missing)), "remove: {removed:?}");
            assert_holds(&mut *session, &key(1), None);
        } else {
            updated.unwrap();
            removed.unwrap();
            assert_holds(&mut *session, &key(1), Some(b"one"));
        }
        session.remove(&key(0)).unwrap();
        let again = session.remove(&key(0));
        assert_eq!(matches!(again, Err(StoreError::Missing)), subject.can().notices_missing, "{again:?}");
        drop(session);
        assert_eq!(store.count().unwrap(), u64::from(!subject.can().notices_missing));
    });
}

#[test]
fn inserting_an_existing_key_is_noticed_as_declared() {
    for_each_keeping(|subject| {
        let store = subject.open();
        let mut session = store.session().unwrap();
        session.insert(&key(1), b"old").unwrap();
        let again = session.insert(&key(1), b"newer");
        if subject.can().notices_existing {
            assert!(matches!(again, Err(StoreError::Exists)), "{again:?}");
            assert_holds(&mut *session, &key(1), Some(b"old"));
        } else {
            again.unwrap();
            assert_holds(&mut *session, &key(1), Some(b"newer"));
        }
        // And it goes on working after the refusal.
        session.update(&key(1), b"last").unwrap();
        session.insert(&key(2), b"two").unwrap();
        assert_holds(&mut *session, &key(1), Some(b"last"));
        drop(session);
        assert_eq!(store.count().unwrap(), 2);
    });
}

#[test]
fn a_batch_of_removals_leaves_the_others() {
    for_each_keeping(|subject| {
        let store = subject.open();
        let mut session = store.session().unwrap();
        let owned: Vec<_> = (0..300).map(|number| (key(number), value(number, 90))).collect();
        let batch: Vec<(&[u8], &[u8])> = owned.iter().map(|(key, value)| (&key[..], &value[..])).collect();
        session.insert_batch(&batch).unwrap();
        let gone: Vec<&[u8]> = owned.iter().step_by(3).map(|(key, _)| &key[..]).collect();
        session.remove_batch(&gone).unwrap();
        session.remove_batch(&[]).unwrap();
        for (number, (key, value)) in owned.iter().enumerate() {
            assert_holds(&mut *session, key, Some(&value[..]).filter(|_| number % 3 != 0));
        }
        // And it takes them again.
        session.insert_batch(&batch[..1]).unwrap();
        assert_holds(&mut *session, &owned[0].0, Some(&owned[0].1));
        drop(session);
        assert_eq!(store.count().unwrap(), 201);
        store.close().unwrap();
        if subject.can().persists {
            assert_eq!(subject.open().count().unwrap(), 201);
        }
    });
}

#[test]
fn a_batch_is_all_there() {
    for_each_keeping(|subject| {
        let store = subject.open();
        let mut session = store.session().unwrap();
        session.insert(&key(0), b"before").unwrap();
        for (first, size) in [(1, 200), (600, 1), (700, 0), (800, 37)] {
            let owned: Vec<_> =
                (first..first + size).map(|number| (key(number), value(number, 700))).collect();
            let batch: Vec<(&[u8], &[u8])> =
                owned.iter().map(|(key, value)| (key.as_slice(), value.as_slice())).collect();
            session.insert_batch(&batch).unwrap();
            for (key, value) in &owned {
                assert_holds(&mut *session, key, Some(value));
            }
        }
        assert_holds(&mut *session, &key(0), Some(b"before"));
        session.update(&key(1), b"after").unwrap();
        session.remove(&key(2)).unwrap();
        assert_holds(&mut *session, &key(1), Some(b"after"));
        assert_holds(&mut *session, &key(2), None);
        drop(session);
        assert_eq!(store.count().unwrap(), 1 + 200 + 1 + 37 - 1);
    });
}
