//! Random sequences of operations, against a map.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};
use storebench_model::store::{Guarantee, Session, Store, StoreError};

use super::settings;
use super::subject::{Subject, assert_holds, for_each_keeping, for_each_of, key, value};

#[derive(Debug, Clone)]
enum Operation {
    Insert(u64, usize),
    Update(u64, usize),
    Get(u64),
    Remove(u64),
    Batch(u64),
    Scan(u64, usize),
    Count,
    Settle,
    Reopen,
}

fn operation() -> impl Strategy<Value = Operation> {
    // Few keys, so that most are met again.
    let number = 0..20_u64;
    let length = prop_oneof![4 => 0..200_usize, 2 => 3_500..5_000_usize, 1 => 60_000..140_000_usize];
    prop_oneof![
        8 => (number.clone(), length.clone()).prop_map(|(number, length)| Operation::Insert(number, length)),
        6 => (number.clone(), length).prop_map(|(number, length)| Operation::Update(number, length)),
        4 => number.clone().prop_map(Operation::Get),
        5 => number.clone().prop_map(Operation::Remove),
        1 => (1..30_u64).prop_map(Operation::Batch),
        2 => (number, 0..40_usize).prop_map(|(number, limit)| Operation::Scan(number, limit)),
        1 => Just(Operation::Count),
        1 => Just(Operation::Settle),
        2 => Just(Operation::Reopen),
    ]
}

#[test]
fn random_operations_agree_with_a_map() {
    for_each_keeping(|subject| try_random_operations(subject, 12));
}

#[test]
fn random_operations_agree_with_a_map_under_other_settings() {
    for_each_of(settings::subjects, |subject| try_random_operations(subject, 4));
}

/// Some random sequences of operations: fewer where each operation waits for the disk, or each sequence for a server to start.
fn try_random_operations(subject: &Subject, cases: u32) {
    let power = subject.open().guarantee() == Guarantee::Power;
    let (cases, operations) = if power { (cases.div_ceil(3), 1..25) } else { (cases, 1..60) };
    let cases = if subject.def.server.is_some() { cases.div_ceil(4) } else { cases };
    let config = Config { cases, max_shrink_iters: 100, failure_persistence: None, ..Config::default() };
    // The same cases every time.
    let random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(config, random);
    let result = runner.run(&prop::collection::vec(operation(), operations), |operations| {
        replay(&subject.anew(), &operations);
        Ok(())
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(why, operations)) => panic!("{why}; the shortest case: {operations:?}"),
        Err(error) => panic!("{error}"),
    }
}

struct Model {
    map: BTreeMap<Vec<u8>, Vec<u8>>,
    /// Writes so far; makes every value another one, and every batch's keys new.
    writes: u64,
}

/// Does the operations to a fresh store and to a map, and holds one to the other.
fn replay(subject: &Subject, operations: &[Operation]) {
    let mut model = Model { map: BTreeMap::new(), writes: 0 };
    let mut store = subject.open();
    for operation in operations {
        match operation {
            Operation::Reopen if subject.can().persists => {
                store.close().unwrap();
                store = subject.open();
            }
            Operation::Reopen => {}
            Operation::Settle => store.settle().unwrap(),
            Operation::Count => assert_eq!(store.count().unwrap(), model.map.len() as u64),
            of_session => model.apply(subject, &mut *store.session().unwrap(), of_session),
        }
    }
    model.compare(&*store);
    store.close().unwrap();
}

impl Model {
    fn value(&mut self, subject: &Subject, length: usize) -> Vec<u8> {
        self.writes += 1;
        value(self.writes, length.max(usize::from(!subject.can().empty_values)))
    }

    fn apply(&mut self, subject: &Subject, session: &mut dyn Session, operation: &Operation) {
        match *operation {
            Operation::Insert(number, length) => {
                let (key, value) = (key(number), self.value(subject, length));
                let result = session.insert(&key, &value);
                if self.map.contains_key(&key) && subject.can().notices_existing {
                    assert!(matches!(result, Err(StoreError::Exists)), "{operation:?}: {result:?}");
                } else {
                    result.unwrap();
                    self.map.insert(key, value);
                }
            }
            Operation::Update(number, length) => {
                let (key, value) = (key(number), self.value(subject, length));
                let result = session.update(&key, &value);
                if !self.map.contains_key(&key) && subject.can().notices_missing {
                    assert!(matches!(result, Err(StoreError::Missing)), "{operation:?}: {result:?}");
                } else {
                    result.unwrap();
                    self.map.insert(key, value);
                }
            }
            Operation::Remove(number) => {
                let key = key(number);
                let result = session.remove(&key);
                if self.map.remove(&key).is_none() && subject.can().notices_missing {
                    assert!(matches!(result, Err(StoreError::Missing)), "{operation:?}: {result:?}");
                } else {
                    result.unwrap();
                }
            }
            Operation::Get(number) => {
                let key = key(number);
                assert_holds(session, &key, self.map.get(&key).map(Vec::as_slice));
            }
            Operation::Batch(size) => self.batch(session, size),
            Operation::Scan(number, limit) => self.scan(subject, session, &key(number), limit),
            Operation::Count | Operation::Settle | Operation::Reopen => unreachable!("not of a session"),
        }
    }

    fn batch(&mut self, session: &mut dyn Session, size: u64) {
        self.writes += 1;
        let first = self.writes * 1_000;
        let owned: Vec<_> = (first..first + size)
            .map(|number| (key(number), value(number, 1 + number as usize % 900)))
            .collect();
        let batch: Vec<(&[u8], &[u8])> = owned.iter().map(|(key, value)| (&key[..], &value[..])).collect();
        session.insert_batch(&batch).unwrap();
        self.map.extend(owned);
    }

    fn scan(&self, subject: &Subject, session: &mut dyn Session, start: &[u8], limit: usize) {
        let mut expected = self.map.range(start.to_vec()..).take(limit);
        let count = session.scan(start, limit, &mut |key, value| {
            assert!(
                expected.next() == Some((&key.to_vec(), &value.to_vec())),
                "scan at {}",
                key.escape_ascii()
            );
        });
        if subject.can().order {
            assert_eq!(count.unwrap(), self.map.range(start.to_vec()..).take(limit).count());
            assert!(expected.next().is_none(), "the scan stops too early");
        } else {
            assert!(matches!(count, Err(StoreError::Unsupported(_))), "{count:?}");
        }
    }

    fn compare(&self, store: &dyn Store) {
        assert_eq!(store.count().unwrap(), self.map.len() as u64);
        let mut session = store.session().unwrap();
        for (key, value) in &self.map {
            assert_holds(&mut *session, key, Some(value));
        }
        for key in (0..20).map(key).filter(|key| !self.map.contains_key(key)) {
            assert_holds(&mut *session, &key, None);
        }
    }
}
