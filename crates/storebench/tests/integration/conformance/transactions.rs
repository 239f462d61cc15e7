//! Transactions over records: all or nothing, and nobody in between.

use storebench_model::store::{Session, Store, StoreError};

use super::subject::{assert_holds, for_each, get, key, value};

fn for_each_with_an_old_record(check: impl Fn(&dyn Store) + Sync) {
    for_each(|subject| {
        if !subject.can().transactions {
            return;
        }
        let store = subject.open_with(|options| options.transactions = true).unwrap();
        store.session().unwrap().insert(&key(1), b"old").unwrap();
        check(store.as_ref());
    });
}

#[test]
fn a_transaction_sees_what_it_put_and_is_kept() {
    for_each_with_an_old_record(|store| {
        let mut session = store.session().unwrap();
        session
            .transact(&mut |transaction| {
                let mut seen = Vec::new();
                assert!(transaction.get_to_change(&key(1), &mut |value| seen = value.to_vec())?);
                assert_eq!(seen, b"old");
                transaction.put(&key(1), &value(1, 5_000))?;
                transaction.put(&key(2), b"new")?;
                assert!(transaction.get(&key(1), &mut |value| seen = value.to_vec())?);
                assert_eq!(seen, value(1, 5_000), "what it put");
                assert!(!transaction.get(&key(3), &mut |_| panic!("it is not there"))?);
                Ok(())
            })
            .unwrap();
        assert_holds(&mut *session, &key(1), Some(&value(1, 5_000)));
        assert_holds(&mut *session, &key(2), Some(b"new"));
    });
}

#[test]
fn a_transaction_that_fails_changes_nothing() {
    for_each_with_an_old_record(|store| {
        let mut session = store.session().unwrap();
        let failed = session.transact(&mut |transaction| {
            transaction.put(&key(1), b"changed")?;
            transaction.put(&key(2), b"new")?;
            Err(StoreError::BadSetting("no more".into()))
        });
        assert!(matches!(failed, Err(StoreError::BadSetting(why)) if why == "no more"));
        assert_holds(&mut *session, &key(1), Some(b"old"));
        assert_holds(&mut *session, &key(2), None);
        assert_eq!(store.count().unwrap(), 1);
    });
}

#[test]
fn stores_without_transactions_say_so() {
    for_each(|subject| {
        if subject.can().transactions {
            return;
        }
        let store = subject.open();
        let refused = store.session().unwrap().transact(&mut |_| Ok(()));
        assert!(matches!(refused, Err(StoreError::Unsupported(_))));
    });
}

/// The number of times that each thread adds one to a record.
const TURNS: u64 = 100;

fn add(session: &mut dyn Session) {
    loop {
        let done = session.transact(&mut |transaction| {
            let mut number = 0;
            transaction.get_to_change(&key(1), &mut |value| {
                number = u64::from_be_bytes(value.try_into().unwrap());
            })?;
            transaction.put(&key(1), &(number + 1).to_be_bytes())
        });
        match done {
            Err(StoreError::Conflict(_)) => {}
            done => return done.unwrap(),
        }
    }
}

#[test]
fn what_threads_add_to_one_record_adds_up() {
    for_each(|subject| {
        if !subject.can().transactions || subject.can().threads == storebench_model::store::Threads::One {
            return;
        }
        let store = subject
            .open_with(|options| {
                options.sessions = 3;
                options.transactions = true;
            })
            .unwrap();
        let turns = subject.operations(TURNS);
        store.session().unwrap().insert(&key(1), &0_u64.to_be_bytes()).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let mut session = store.session().unwrap();
                    (0..turns).for_each(|_| add(&mut *session));
                });
            }
        });
        let found = get(&mut *store.session().unwrap(), &key(1)).unwrap();
        assert_eq!(u64::from_be_bytes(found.try_into().unwrap()), 3 * turns);
    });
}

/// Records that are appended are there as others are, whatever came before.
#[test]
fn records_in_order_are_appended() {
    for_each(|subject| {
        if !subject.can().keeps {
            return;
        }
        let store = subject.open();
        let mut session = store.session().unwrap();
        let mut keys: Vec<Vec<u8>> = (0..200).map(key).collect();
        keys.sort();
        session.insert(&keys[0], b"first").unwrap();
        let values: Vec<Vec<u8>> = (0..200).map(|number| value(number, 100)).collect();
        for part in [1..100, 100..200] {
            let records: Vec<(&[u8], &[u8])> =
                part.map(|place| (keys[place].as_slice(), values[place].as_slice())).collect();
            session.append_batch(&records).unwrap();
        }
        // Others may come in between, in front of those.
        session.insert(b"!in front of all", b"other").unwrap();
        session.end_appending().unwrap();
        assert_eq!(store.count().unwrap(), 201);
        // Once more, behind what is there by now; and with nothing to end.
        session.append_batch(&[(b"~behind them all", b"last")]).unwrap();
        session.end_appending().unwrap();
        session.end_appending().unwrap();
        assert_holds(&mut *session, b"~behind them all", Some(b"last"));
        assert_holds(&mut *session, b"!in front of all", Some(b"other"));
        for place in [1, 99, 100, 199] {
            assert_holds(&mut *session, &keys[place], Some(&values[place]));
        }
    });
}
