//! The steps of a process that writes until it is killed. They follow from their numbers, so that the killer can work out what
//! the store must hold.

use std::collections::BTreeMap;
use std::ops::Range;

use xxhash_rust::xxh3::{xxh3_64_with_seed, xxh3_128};

use storebench_model::store::{Result, Session, StoreError};

pub(crate) const BATCH_RECORDS: u64 = 20;

/// Steps that include each kind.
pub(crate) const CYCLE: u64 = 16;

/// One step of the writer. Records go by number: [`record_key`], [`record_value`].
#[derive(Debug, Clone, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Step {
    /// Adds a record.
    Insert(u64),
    /// Replaces the value of a record that is there.
    Update(u64),
    /// Removes a record that is there.
    Remove(u64),
    /// Adds many records at once.
    Batch(Range<u64>),
    /// Adds some in a transaction that reads one of them first; where the store, as it is opened, has none, in a batch.
    Transaction(Range<u64>),
}

const TRANSACTION_RECORDS: u64 = 3;

const MOST_OF_SESSION: u64 = 1 << 20;

/// The number of a session's step, by its number in that session: the records of sessions have nothing in common.
pub fn session_step(session: u64, number: u64) -> u64 {
    session * MOST_OF_SESSION + number
}

/// The step of this number.
pub fn step(number: u64) -> Step {
    // Records are numbered by the step that adds them, with room for a batch in each.
    let added_by = |number: u64| number * BATCH_RECORDS;
    match number % CYCLE {
        3 | 7 | 11 => Step::Update(added_by(number - 2)),
        // An old one: stores that write in place change a page that has long been on the disk.
        15 => {
            let own_number = number % MOST_OF_SESSION;
            Step::Update(added_by(number - own_number + own_number / CYCLE / 2 * CYCLE))
        }
        6 | 14 => Step::Remove(added_by(number - 2)),
        8 => Step::Batch(added_by(number)..added_by(number + 1)),
        12 => Step::Transaction(added_by(number)..added_by(number) + TRANSACTION_RECORDS),
        _ => Step::Insert(added_by(number)),
    }
}

impl Step {
    /// The records that the step touches.
    pub fn records(&self) -> Range<u64> {
        match self {
            Step::Insert(record) | Step::Update(record) | Step::Remove(record) => *record..*record + 1,
            Step::Batch(records) | Step::Transaction(records) => records.clone(),
        }
    }
}

/// Takes the step of this number, with values of up to `most_bytes`.
pub fn take(session: &mut dyn Session, number: u64, most_bytes: usize) -> Result<()> {
    let step = step(number);
    let keys_and_values: Vec<(String, Vec<u8>)> =
        step.records().map(|record| (record_key(record), record_value(record, number, most_bytes))).collect();
    let records: Vec<(&[u8], &[u8])> =
        keys_and_values.iter().map(|(key, value)| (key.as_bytes(), value.as_slice())).collect();
    match (&step, records.as_slice()) {
        (Step::Insert(_), [(key, value)]) => session.insert(key, value),
        (Step::Update(_), [(key, value)]) => session.update(key, value),
        (Step::Remove(_), [(key, _)]) => session.remove(key),
        (Step::Transaction(_), records) => transact(session, records),
        (_, batch) => session.insert_batch(batch),
    }
}

/// Adds records in a transaction that first reads a missing one.
fn transact(session: &mut dyn Session, records: &[(&[u8], &[u8])]) -> Result<()> {
    let result = session.transact(&mut |transaction| {
        for (key, _) in records.iter().take(1) {
            transaction.get_to_change(key, &mut |_| ())?;
        }
        records.iter().try_for_each(|(key, value)| transaction.put(key, value))
    });
    match result {
        Err(StoreError::Unsupported(_)) => session.insert_batch(records),
        result => result,
    }
}

/// The records that a store must hold after the first `steps` steps, each with the step that wrote its value.
pub fn expected(steps: u64) -> BTreeMap<u64, u64> {
    let mut steps_by_record = BTreeMap::new();
    for number in 0..steps {
        let step = step(number);
        for record in step.records() {
            match step {
                Step::Remove(_) => steps_by_record.remove(&record),
                _ => steps_by_record.insert(record, number),
            };
        }
    }
    steps_by_record
}

/// The key of a record: 32 hexadecimal digits.
pub fn record_key(record: u64) -> String {
    format!("{:032x}", xxh3_128(&record.to_be_bytes()))
}

/// The value that a step gives to a record: 1 to `most_bytes` bytes, no part of which recurs.
pub fn record_value(record: u64, step: u64, most_bytes: usize) -> Vec<u8> {
    let hash = |block: u64| xxh3_64_with_seed(&record.to_be_bytes(), step << 32 | block);
    let length = 1 + (hash(0) % most_bytes as u64) as usize;
    (1..).flat_map(|block| hash(block).to_be_bytes()).take(length).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn values_differ_by_record_and_by_step() {
        let value = |record, step| record_value(record, step, 20_000);
        assert_eq!(value(20, 3), value(20, 3));
        assert_ne!(value(20, 3), value(20, 1));
        assert_ne!(value(20, 3), value(40, 3));
        let lengths: Vec<usize> = (0..200).map(|record| value(record, 0).len()).collect();
        assert!(lengths.iter().all(|length| (1..=20_000).contains(length)));
        assert!(lengths.iter().max() > Some(&15_000) && lengths.iter().min() < Some(&5_000));
    }

    #[test]
    fn steps_touch_only_what_must_be_there() {
        let mut existing = BTreeSet::new();
        let mut kinds = BTreeMap::<&str, u32>::new();
        for number in 0..1_000 {
            let step = step(number);
            *kinds.entry((&step).into()).or_default() += 1;
            let is_allowed = step.records().all(|record| match step {
                Step::Update(_) => existing.contains(&record),
                Step::Remove(_) => existing.remove(&record),
                _ => existing.insert(record),
            });
            assert!(is_allowed, "step {number}");
            let records = match step {
                Step::Batch(_) => BATCH_RECORDS,
                Step::Transaction(_) => TRANSACTION_RECORDS,
                _ => 1,
            };
            assert_eq!(step.records().count() as u64, records);
        }
        assert!(kinds.len() == 5 && kinds.values().all(|count| *count > 50), "{kinds:?}");
        assert_eq!(existing, expected(1_000).into_keys().collect());
        // Each session has its own records.
        let records_of_session =
            |session| (0..1_000).flat_map(move |number| step(session_step(session, number)).records());
        assert!(records_of_session(1).collect::<BTreeSet<_>>().is_disjoint(&records_of_session(0).collect()));
    }

    #[test]
    fn expected_names_the_last_step_that_wrote() {
        assert_eq!(expected(0), BTreeMap::new());
        assert_eq!(expected(4)[&BATCH_RECORDS], 3);
        assert_eq!(expected(6)[&(4 * BATCH_RECORDS)], 4);
        assert_eq!(expected(7).get(&(4 * BATCH_RECORDS)), None);
    }
}
