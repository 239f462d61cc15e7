//! A process to be killed: it writes to a store, step after step, and says of each step when it is acknowledged.
//!
//! The steps follow from their numbers alone, so that whoever killed the process can work out what the store must
//! hold. The conformance suite runs it as `storebench __write STORE DIRECTORY TIER STEPS`.

use std::collections::BTreeMap;
use std::io::Write;
use std::ops::Range;
use std::path::Path;

use xxhash_rust::xxh3::{xxh3_64_with_seed, xxh3_128};

use crate::store::{Guarantee, OpenOptions, Session, StoreDef};

/// Records in a batch.
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

/// The records that a store must hold after the first `steps` steps, each with the step that wrote its value.
pub fn expected(steps: u64) -> BTreeMap<u64, u64> {
    let mut held = BTreeMap::new();
    for number in 0..steps {
        let step = step(number);
        for record in step.records() {
            match step {
                Step::Remove(_) => held.remove(&record),
                _ => held.insert(record, number),
            };
        }
    }
    held
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

/// Opens a store and writes to it, telling the number of each acknowledged step on a line of standard output.
/// `arguments` are the store's name, its directory, the guarantee (`default` for the store as shipped) and the number
/// of steps.
///
/// # Errors
/// The error, for people to read.
pub fn run(stores: &[StoreDef], arguments: &[String]) -> Result<(), String> {
    let [store, directory, tier, steps] = arguments else {
        return Err("the arguments are STORE DIRECTORY TIER STEPS".into());
    };
    let def = stores.iter().find(|def| def.name == store).ok_or(format!("there is no store {store}"))?;
    let guarantee = match tier.as_str() {
        "default" => None,
        name => Some(name.parse::<Guarantee>().map_err(|()| format!("there is no guarantee {name}"))?),
    };
    let steps: u64 = steps.parse().map_err(|_| format!("{steps} is not a number of steps"))?;
    let settings = BTreeMap::new();
    let options = OpenOptions {
        directory: Path::new(directory),
        guarantee,
        compression: false,
        cache_bytes: None,
        settings: &settings,
        sessions: 1,
        transactions: false,
        beside: None,
    };
    let store = def.open?(&options).map_err(|error| error.to_string())?;
    let mut session = store.session().map_err(|error| error.to_string())?;
    let mut output = std::io::stdout().lock();
    for number in 0..steps {
        take_step(&mut *session, number).map_err(|error| format!("step {number}: {error}"))?;
        // One write for the line, so that a kill can't leave a part of a number.
        output
            .write_all(format!("{number}\n").as_bytes())
            .and_then(|()| output.flush())
            .map_err(|error| error.to_string())?;
    }
    drop(session);
    store.close().map_err(|error| error.to_string())
}

fn take_step(session: &mut dyn Session, number: u64) -> crate::store::Result<()> {
    match step(number) {
        Step::Insert(record) => session.insert(record_key(record).as_bytes(), &record_value(record, number)),
        Step::Update(record) => session.update(record_key(record).as_bytes(), &record_value(record, number)),
        Step::Remove(record) => session.remove(record_key(record).as_bytes()),
        Step::Batch(records) => {
            let owned: Vec<(String, Vec<u8>)> =
                records.map(|record| (record_key(record), record_value(record, number))).collect();
            let batch: Vec<(&[u8], &[u8])> =
                owned.iter().map(|(key, value)| (key.as_bytes(), value.as_slice())).collect();
            session.insert_batch(&batch)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn steps_touch_only_what_must_be_there() {
        let mut held = BTreeSet::new();
        let mut kinds = [0; 4];
        for number in 0..1_000 {
            match step(number) {
                Step::Insert(record) => {
                    kinds[0] += 1;
                    assert!(held.insert(record), "step {number}");
                }
                Step::Update(record) => {
                    kinds[1] += 1;
                    assert!(held.contains(&record), "step {number}");
                }
                Step::Remove(record) => {
                    kinds[2] += 1;
                    assert!(held.remove(&record), "step {number}");
                }
                Step::Batch(records) => {
                    kinds[3] += 1;
                    assert!(records.clone().all(|record| held.insert(record)), "step {number}");
                    assert_eq!(records.count() as u64, BATCH_RECORDS);
                }
            }
        }
        assert!(kinds.iter().all(|&kind| kind > 50), "{kinds:?}");
        assert_eq!(held, expected(1_000).into_keys().collect());
    }

    #[test]
    fn expected_names_the_last_step_that_wrote() {
        assert_eq!(expected(0), BTreeMap::new());
        assert_eq!(expected(4)[&BATCH_RECORDS], 3);
        assert_eq!(expected(6)[&(4 * BATCH_RECORDS)], 4);
        assert_eq!(expected(7).get(&(4 * BATCH_RECORDS)), None);
    }

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

    #[test]
    fn wrong_arguments_are_told() {
        let stores = [crate::stores::MEMORY];
        let told = |arguments: &[&str]| {
            let arguments: Vec<String> = arguments.iter().map(|&text| text.into()).collect();
            run(&stores, &arguments).unwrap_err()
        };
        assert!(told(&["memory"]).contains("STORE"));
        assert!(told(&["oracle", ".", "none", "1"]).contains("oracle"));
        assert!(told(&["memory", ".", "some", "1"]).contains("some"));
        assert!(told(&["memory", ".", "none", "many"]).contains("many"));
    }
}
