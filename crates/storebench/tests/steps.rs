//! The steps of a process that writes until it is killed. They follow from their numbers alone, so that whoever killed the
//! process can work out what the store must hold. `faulty` takes them; the conformance suite kills it and checks.

use std::ops::Range;

use xxhash_rust::xxh3::{xxh3_64_with_seed, xxh3_128};

/// The records of a batch.
pub const BATCH_RECORDS: u64 = 20;

/// The longest value, in bytes. Long enough that a kill can fall into the middle of writing one.
pub const MAX_VALUE_BYTES: usize = 20_000;

/// One step of the writer. Records go by number: [`record_key`], [`record_value`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Adds a record.
    Insert(u64),
    /// Replaces the value of a record that is there.
    Update(u64),
    /// Removes a record that is there.
    Remove(u64),
    /// Adds many records at once.
    Batch(Range<u64>),
}

/// The step of this number.
pub fn step(number: u64) -> Step {
    // Records are numbered by the step that adds them, with room for a batch in each.
    let added_by = |number: u64| number * BATCH_RECORDS;
    match number % 16 {
        3 | 7 | 11 | 15 => Step::Update(added_by(number - 2)),
        6 | 14 => Step::Remove(added_by(number - 2)),
        8 => Step::Batch(added_by(number)..added_by(number + 1)),
        _ => Step::Insert(added_by(number)),
    }
}

impl Step {
    /// The records that the step touches.
    pub fn records(&self) -> Range<u64> {
        match self {
            Step::Insert(record) | Step::Update(record) | Step::Remove(record) => *record..*record + 1,
            Step::Batch(records) => records.clone(),
        }
    }
}

/// The key of a record: 32 hexadecimal digits.
pub fn record_key(record: u64) -> String {
    format!("{:032x}", xxh3_128(&record.to_be_bytes()))
}

/// The value that a step gives to a record: 1 to [`MAX_VALUE_BYTES`] bytes, no part of which recurs.
pub fn record_value(record: u64, step: u64) -> Vec<u8> {
    let hash = |block: u64| xxh3_64_with_seed(&record.to_be_bytes(), step << 32 | block);
    let length = 1 + (hash(0) % MAX_VALUE_BYTES as u64) as usize;
    (1..).flat_map(|block| hash(block).to_be_bytes()).take(length).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_differ_by_record_and_by_step() {
        let value = record_value(20, 3);
        assert_eq!(value, record_value(20, 3));
        assert_ne!(value, record_value(20, 1));
        assert_ne!(value, record_value(40, 3));
        let lengths: Vec<usize> = (0..200).map(|record| record_value(record, 0).len()).collect();
        assert!(lengths.iter().all(|length| (1..=MAX_VALUE_BYTES).contains(length)));
        assert!(lengths.iter().max() > Some(&15_000) && lengths.iter().min() < Some(&5_000));
    }
}
