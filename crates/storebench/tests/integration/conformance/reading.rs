//! Scans in order, and counts.

use storebench_model::store::{Session, Store, StoreError};

use super::subject::{Subject, for_each_keeping, key, value};

type Records = Vec<(Vec<u8>, Vec<u8>)>;

fn scan(session: &mut dyn Session, start: &[u8], limit: usize) -> Records {
    let mut seen = Vec::new();
    let shown =
        session.scan(start, limit, &mut |key, value| seen.push((key.to_vec(), value.to_vec()))).unwrap();
    assert_eq!(shown, seen.len(), "the number of records that a scan says it showed");
    seen
}

/// A store with `operations(200)` records less every tenth, put there in no order; and its records in order.
fn fill(subject: &Subject) -> (Box<dyn Store>, Records) {
    let store = subject.open();
    let mut session = store.session().unwrap();
    let mut records: Records =
        (0..subject.operations(200)).map(|number| (key(number), value(number, 60))).collect();
    for (key, value) in &records {
        session.insert(key, value).unwrap();
    }
    for (key, _) in records.iter().skip(5).step_by(10) {
        session.remove(key).unwrap();
    }
    drop(session);
    records = records
        .into_iter()
        .enumerate()
        .filter(|(position, _)| position % 10 != 5)
        .map(|(_, record)| record)
        .collect();
    records.sort();
    (store, records)
}

#[test]
fn a_scan_goes_in_order_from_a_key_to_a_limit_or_is_refused() {
    for_each_keeping(|subject| {
        let (store, records) = fill(subject);
        let mut session = store.session().unwrap();
        if !subject.can().order {
            let refused = session.scan(&records[0].0, 1, &mut |_, _| panic!("it shows a record"));
            assert!(matches!(refused, Err(StoreError::Unsupported(_))), "{refused:?}");
            return;
        }
        let session = &mut *session;
        let end = records.len();
        assert_eq!(scan(session, &records[3].0, 5), records[3..8], "from a key, inclusive");
        assert_eq!(scan(session, &records[3].0, usize::MAX), records[3..], "without a limit");
        assert_eq!(scan(session, b"", usize::MAX), records, "from the start");
        assert_eq!(scan(session, b"", 1), records[..1]);
        assert_eq!(scan(session, &records[end - 1].0, 10), records[end - 1..], "the last one");
        assert_eq!(scan(session, b"~", 10), [], "past the end");
        assert_eq!(scan(session, &records[3].0, 0), [], "a limit of none");
        let between = [&records[3].0[..], b"0"].concat();
        assert_eq!(scan(session, &between, 2), records[4..6], "from between two keys");
        let prefix = &records[3].0[..20];
        assert_eq!(scan(session, prefix, 2), records[3..5], "from a prefix of a key");
    });
}

#[test]
fn a_scan_sees_the_same_after_settling() {
    for_each_keeping(|subject| {
        if !subject.can().order {
            return;
        }
        let (store, mut records) = fill(subject);
        store.settle().unwrap();
        let mut session = store.session().unwrap();
        assert_eq!(scan(&mut *session, b"", usize::MAX), records);
        // And what is written on top of what is settled.
        session.update(&records[2].0, b"new").unwrap();
        session.remove(&records[1].0).unwrap();
        records[2].1 = b"new".to_vec();
        records.remove(1);
        assert_eq!(scan(&mut *session, b"", usize::MAX), records);
    });
}

#[test]
fn order_is_that_of_unsigned_bytes() {
    for_each_keeping(|subject| {
        if !subject.can().order || !subject.can().any_byte_in_keys {
            return;
        }
        let mut keys: Vec<&[u8]> =
            vec![b"b", b"a", b"ab", b"\x80", b"\xFF\xFF", b"\xFF", b"a\0", b"\0", b"\x7F", b"B", b"a\xFF"];
        let store = subject.open();
        let mut session = store.session().unwrap();
        for key in &keys {
            session.insert(key, b"x").unwrap();
        }
        keys.sort();
        let seen: Vec<_> = scan(&mut *session, b"", usize::MAX).into_iter().map(|(key, _)| key).collect();
        assert_eq!(seen, keys);
        let seen: Vec<_> = scan(&mut *session, b"\x7F", 2).into_iter().map(|(key, _)| key).collect();
        assert_eq!(seen, [b"\x7F", b"\x80"]);
    });
}

#[test]
fn count_follows_every_change() {
    for_each_keeping(|subject| {
        let store = subject.open();
        assert_eq!(store.count().unwrap(), 0, "when empty");
        let (records, batch) = (subject.operations(50), 30);
        let change = |change: &mut dyn FnMut(&mut dyn Session)| {
            change(&mut *store.session().unwrap());
            store.count().unwrap()
        };
        let inserted = change(&mut |session| {
            (0..records).for_each(|number| session.insert(&key(number), b"one").unwrap());
        });
        assert_eq!(inserted, records, "after inserts");
        assert_eq!(
            change(&mut |session| session.update(&key(0), b"two").unwrap()),
            records,
            "after an update"
        );
        let keys: Vec<_> = (1_000..1_000 + batch).map(key).collect();
        let pairs: Vec<(&[u8], &[u8])> = keys.iter().map(|key| (key.as_slice(), &b"batch"[..])).collect();
        let batched = change(&mut |session| session.insert_batch(&pairs).unwrap());
        assert_eq!(batched, records + batch, "after a batch");
        assert_eq!(
            change(&mut |session| session.remove(&key(1)).unwrap()),
            records + batch - 1,
            "after a removal"
        );
        store.settle().unwrap();
        assert_eq!(store.count().unwrap(), records + batch - 1, "after settling");
    });
}

#[test]
fn count_and_settle_work_while_a_session_is_open() {
    for_each_keeping(|subject| {
        let store = subject.open();
        let mut session = store.session().unwrap();
        session.insert(&key(1), b"one").unwrap();
        assert_eq!(store.count().unwrap(), 1);
        store.settle().unwrap();
        session.insert(&key(2), b"two").unwrap();
        assert_eq!(store.count().unwrap(), 2);
        assert_eq!(super::subject::get(&mut *session, &key(1)).as_deref(), Some(&b"one"[..]));
    });
}
