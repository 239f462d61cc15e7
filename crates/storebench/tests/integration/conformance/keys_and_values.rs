//! Which keys and values go in, and that they come out as they went in.

use storebench_model::store::StoreError;

use super::subject::{Subject, assert_holds, for_each_keeping, key, value};

/// Keys with bytes that text, C strings and paths stumble over.
const ODD_KEYS: [&[u8]; 6] = [
    b"zero\0inside-0123456789abcdef",
    b"zero\0inside-0123456789abcdeg",
    b"\0\0\0\0\0\0\0\0",
    b"slash/../inside",
    b"\xFF\xFE\x80 no UTF-8 \xC3\0",
    b"final zero\0",
];

#[test]
fn keys_hold_any_byte_or_are_refused() {
    for_each_keeping(|subject| {
        let store = subject.open();
        let mut session = store.session().unwrap();
        if subject.can().any_byte_in_keys {
            for (number, odd) in ODD_KEYS.iter().enumerate() {
                session.insert(odd, &value(number as u64, 40)).unwrap();
            }
            for (number, odd) in ODD_KEYS.iter().enumerate() {
                assert_holds(&mut *session, odd, Some(&value(number as u64, 40)));
            }
            session.remove(ODD_KEYS[0]).unwrap();
            assert_holds(&mut *session, ODD_KEYS[0], None);
            assert_holds(&mut *session, ODD_KEYS[1], Some(&value(1, 40)));
        } else {
            for odd in ODD_KEYS.iter().filter(|odd| odd.iter().any(|byte| matches!(byte, 0 | b'/'))) {
                assert_refused(subject, odd, "key");
            }
        }
    });
}

#[test]
fn values_hold_any_byte() {
    for_each_keeping(|subject| {
        let store = subject.open();
        let mut session = store.session().unwrap();
        let every_byte: Vec<u8> = (0..=255).chain((0..=255).rev()).collect();
        let values: [&[u8]; 5] = [b"\0", b"\0\0\0\0", b"a\0b", b"end\0", &every_byte];
        for (number, value) in (0..).zip(values) {
            session.insert(&key(number), value).unwrap();
        }
        for (number, value) in (0..).zip(values) {
            assert_holds(&mut *session, &key(number), Some(value));
        }
    });
}

#[test]
fn values_are_empty_or_are_refused() {
    for_each_keeping(|subject| {
        if !subject.can().empty_values {
            let store = subject.open();
            let mut session = store.session().unwrap();
            let refused = session.insert(&key(1), b"");
            assert!(matches!(refused, Err(StoreError::Unsupported(_))), "{refused:?}");
            assert_holds(&mut *session, &key(1), None);
            session.insert(&key(1), b"x").unwrap();
            let refused = session.update(&key(1), b"");
            assert!(matches!(refused, Err(StoreError::Unsupported(_))), "{refused:?}");
            assert_holds(&mut *session, &key(1), Some(b"x"));
            return;
        }
        let store = subject.open();
        let mut session = store.session().unwrap();
        session.insert(&key(1), b"").unwrap();
        session.insert(&key(2), b"x").unwrap();
        session.update(&key(2), b"").unwrap();
        session.insert_batch(&[(&key(3), b"")]).unwrap();
        for number in 1..=3 {
            assert_holds(&mut *session, &key(number), Some(b""));
        }
        session.update(&key(1), b"full").unwrap();
        assert_holds(&mut *session, &key(1), Some(b"full"));
        drop(session);
        assert_eq!(store.count().unwrap(), 3);
    });
}

#[test]
fn values_of_every_size_come_back() {
    const SIZES: [usize; 8] = [1, 2, 4095, 4096, 4097, 64 << 10, 1 << 20, 8 << 20];
    for_each_keeping(|subject| {
        let store = subject.open();
        let mut session = store.session().unwrap();
        for size in SIZES {
            session.insert(&key(size as u64), &value(size as u64, size)).unwrap();
        }
        for size in SIZES {
            assert_holds(&mut *session, &key(size as u64), Some(&value(size as u64, size)));
        }
    });
}

#[test]
fn a_value_grows_and_shrinks() {
    for_each_keeping(|subject| {
        let store = subject.open();
        let mut session = store.session().unwrap();
        session.insert(&key(1), b"neighbour").unwrap();
        session.insert(&key(2), &value(0, 10)).unwrap();
        session.insert(&key(3), b"neighbour").unwrap();
        for (version, size) in (1..).zip([5_000, 100, 1 << 20, 1, 70_000, 69_999, 4_096, 3]) {
            session.update(&key(2), &value(version, size)).unwrap();
            assert_holds(&mut *session, &key(2), Some(&value(version, size)));
        }
        assert_holds(&mut *session, &key(1), Some(b"neighbour"));
        assert_holds(&mut *session, &key(3), Some(b"neighbour"));
    });
}

#[test]
fn the_longest_key_goes_in_and_a_longer_one_is_refused() {
    for_each_keeping(|subject| {
        let longest = subject.can().max_key_bytes;
        // Without a limit, a key of a few pages represents all.
        let length = longest.min(10_000);
        let store = subject.open();
        let mut session = store.session().unwrap();
        let long = vec![b'k'; length];
        session.insert(&long, b"long").unwrap();
        assert_holds(&mut *session, &long, Some(b"long"));
        assert_holds(&mut *session, &long[1..], None);
        if longest < 1 << 20 {
            drop(session);
            drop(store);
            assert_refused(subject, &vec![b'k'; longest + 1], "key");
        }
    });
}

/// Holds a fresh store to refuse a key on every way in, and to hold nothing afterwards.
fn assert_refused(subject: &Subject, key: &[u8], kind: &str) {
    let subject = subject.anew();
    let store = subject.open();
    let mut session = store.session().unwrap();
    let context = format!("{kind} of {} bytes {}", key.len(), key[..key.len().min(40)].escape_ascii());
    for (way, result) in [
        ("insert", session.insert(key, b"x")),
        ("update", session.update(key, b"x")),
        ("batch", session.insert_batch(&[(key, b"x")])),
    ] {
        assert!(matches!(result, Err(StoreError::Unsupported(_))), "{way}, {context}: {result:?}");
    }
    // A key that was never let in can't be found; saying so and refusing are both right.
    let mut visits = 0;
    let found = session.get(key, &mut |_| visits += 1);
    assert!(matches!(found, Ok(false) | Err(StoreError::Unsupported(_))), "get, {context}: {found:?}");
    assert_eq!(visits, 0, "{context}");
    drop(session);
    assert_eq!(store.count().unwrap(), 0, "{context}");
}
