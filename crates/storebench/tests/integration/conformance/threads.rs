//! Several sessions at once, or one and no more.

use storebench_model::store::{StoreError, Threads};

use super::subject::{assert_holds, for_each_keeping, key, value};

const SESSIONS: u64 = 4;

#[test]
fn sessions_work_side_by_side_or_are_refused() {
    for_each_keeping(|subject| {
        if subject.can().threads == Threads::One {
            let store = subject.open();
            let first = store.session().unwrap();
            let second = store.session();
            assert!(matches!(second, Err(StoreError::Unsupported(_))), "a second session is not refused");
            drop(second);
            drop(first);
            store.session().unwrap().insert(&key(1), b"one").unwrap();
            return;
        }
        let store = subject.open_with(|options| options.sessions = SESSIONS as usize).unwrap();
        let own_records = subject.operations(60);
        let shared_records: Vec<_> =
            (10_000..10_020).map(|number| (key(number), value(number, 500))).collect();
        let batch: Vec<(&[u8], &[u8])> =
            shared_records.iter().map(|(key, value)| (&key[..], &value[..])).collect();
        store.session().unwrap().insert_batch(&batch).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..SESSIONS {
                let (store, shared_records) = (&store, &shared_records);
                scope.spawn(move || {
                    let mut session = store.session().unwrap();
                    for number in (thread * 1_000..).take(own_records as usize) {
                        session.insert(&key(number), &value(number, 300)).unwrap();
                        assert_holds(&mut *session, &key(number), Some(&value(number, 300)));
                        let (shared_key, shared_value) =
                            &shared_records[number as usize % shared_records.len()];
                        assert_holds(&mut *session, shared_key, Some(shared_value));
                        session.update(&key(number), &value(number + 1, 400)).unwrap();
                        if number % 4 == 0 {
                            session.remove(&key(number)).unwrap();
                        }
                    }
                });
            }
        });
        let mut session = store.session().unwrap();
        for thread in 0..SESSIONS {
            for number in (thread * 1_000..).take(own_records as usize) {
                let expected = (number % 4 != 0).then(|| value(number + 1, 400));
                assert_holds(&mut *session, &key(number), expected.as_deref());
            }
        }
        drop(session);
        assert_eq!(store.count().unwrap(), 20 + SESSIONS * (own_records - own_records.div_ceil(4)));
        store.close().unwrap();
    });
}

#[test]
fn one_session_sees_what_another_wrote() {
    for_each_keeping(|subject| {
        if subject.can().threads == Threads::One {
            return;
        }
        let store = subject.open_with(|options| options.sessions = 2).unwrap();
        let mut first = store.session().unwrap();
        let mut second = store.session().unwrap();
        for number in 0..subject.operations(50) {
            first.insert(&key(number), b"first").unwrap();
            assert_holds(&mut *second, &key(number), Some(b"first"));
            second.update(&key(number), b"second").unwrap();
            assert_holds(&mut *first, &key(number), Some(b"second"));
        }
        second.remove(&key(0)).unwrap();
        assert_holds(&mut *first, &key(0), None);
    });
}
