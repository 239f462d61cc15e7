//! The steps that explain what a store holds.

use std::collections::{BTreeMap, BTreeSet};

use super::step_progress;
use crate::store::{Batch, Session};
use crate::workload::kill::MOST_BYTES;
use crate::workload::kill::steps::{self, record_key, record_value, step};
use crate::workload::workload_error::WorkloadError;

/// The state of one session's records.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum SessionState {
    /// As this number of first steps left them; the largest such number.
    First(u64),
    /// Only removals are missing: a removed record is there, and nobody wrote it since.
    Resurrected(String),
    /// No number of first steps explains it: these are missing before one that is there.
    Hole(String),
    /// A record's value is pieced together from earlier ones.
    Torn(String),
    /// A record has a value that it never had.
    Wrong(String),
}

/// The steps that wrote a record, each with whether it left a value.
fn history(session_number: u64, steps_begun: u64) -> BTreeMap<u64, Vec<(u64, bool)>> {
    let mut writes_by_record: BTreeMap<u64, Vec<(u64, bool)>> = BTreeMap::new();
    for number in 0..steps_begun {
        let step = step(steps::session_step(session_number, number));
        let leaves_value = !matches!(step, steps::Step::Remove(_));
        step.records()
            .for_each(|record| writes_by_record.entry(record).or_default().push((number, leaves_value)));
    }
    writes_by_record
}

/// Reads all records that a session's begun steps touched.
pub(super) fn read(
    session: &mut dyn Session,
    session_number: u64,
    steps_begun: u64,
    batch: Batch,
) -> Result<SessionState, WorkloadError> {
    // Whether the first n steps explain what was found, for each n.
    let mut explained = vec![true; steps_begun as usize + 1];
    // Allows removed records to be there.
    let mut explained_with_removed = explained.clone();
    let mut removed_key = None;
    let mut torn_message = None;
    let mut records: Vec<RecordState> = Vec::new();
    for (record, writes) in history(session_number, steps_begun) {
        let key = record_key(record);
        let mut value = None;
        session
            .get(key.as_bytes(), &mut |bytes| value = Some(bytes.to_vec()))
            .map_err(|error| WorkloadError::store(&format!("reading the record {key}"), &error))?;
        let is_value_of = |(number, leaves): &(u64, bool), value: &[u8]| {
            *leaves && value == record_value(record, steps::session_step(session_number, *number), MOST_BYTES)
        };
        let writer = value.as_deref().map(|value| writes.iter().rposition(|step| is_value_of(step, value)));
        if let (Some(None), Some(value)) = (writer, &value) {
            let size = value.len();
            let value_of_write = |(number, _): &(u64, bool)| {
                record_value(record, steps::session_step(session_number, *number), MOST_BYTES)
            };
            if !is_pieced(value, &writes.iter().map(value_of_write).collect::<Vec<_>>()) {
                return Ok(SessionState::Wrong(format!(
                    "the record {key} has {size} bytes that it never had"
                )));
            }
            torn_message
                .get_or_insert(format!("the record {key} has {size} bytes that are a part or a mixture"));
            continue;
        }
        let is_as_after = |steps_taken: u64| {
            let last_write = writes.partition_point(|(number, _)| *number < steps_taken).checked_sub(1);
            match writer.flatten() {
                Some(writer) => last_write == Some(writer),
                None => last_write.is_none_or(|last_write| !writes[last_write].1),
            }
        };
        let is_resurrected = |steps_taken: u64| {
            let last_write = writes.partition_point(|(number, _)| *number < steps_taken).checked_sub(1);
            writer.flatten() < last_write
                && last_write.is_some_and(|last_write| !writes[last_write].1)
                && value.is_some()
        };
        for (steps_taken, (explained, explained_with_removed)) in
            (0..).zip(explained.iter_mut().zip(&mut explained_with_removed))
        {
            // Any part of a begun batch that is not atomic may be there.
            let may_be_partial = batch == Batch::Grouped
                && steps_taken < steps_begun
                && matches!(
                    step(steps::session_step(session_number, steps_taken)),
                    steps::Step::Batch(_) | steps::Step::Transaction(_)
                );
            let is_as_after = is_as_after(steps_taken) || (may_be_partial && is_as_after(steps_taken + 1));
            *explained &= is_as_after;
            *explained_with_removed &= is_as_after || is_resurrected(steps_taken);
        }
        if is_resurrected(steps_begun) {
            removed_key.get_or_insert(key);
        }
        records.push((writer.flatten(), writes));
    }
    if let Some(torn_message) = torn_message {
        return Ok(SessionState::Torn(torn_message));
    }
    let most_steps = explained.iter().rposition(|explained| *explained);
    Ok(match (most_steps, removed_key.filter(|_| explained_with_removed.contains(&true))) {
        (Some(most_steps), _) => SessionState::First(most_steps as u64),
        (None, Some(key)) => SessionState::Resurrected(format!("the record {key} is there, and was removed")),
        (None, None) => SessionState::Hole(describe_missing(session_number, &records)),
    })
}

/// By which of them a record is as it is, and the steps that wrote it, each with whether it left a value.
type RecordState = (Option<usize>, Vec<(u64, bool)>);

/// The steps that are missing before the newest that is there.
fn describe_missing(session_number: u64, records: &[RecordState]) -> String {
    let newest =
        records.iter().filter_map(|(writer, writes)| Some(writes[(*writer)?].0)).max().unwrap_or_default();
    let missing_step = |(writer, writes): &RecordState| {
        let last_write = writes.partition_point(|(number, _)| *number < newest).checked_sub(1)?;
        let (number, leaves_value) = writes[last_write];
        // What a later step removed may have been there.
        let is_gone = writer.is_none() && writes[last_write..].iter().any(|(_, leaves_value)| !leaves_value);
        let is_there = if leaves_value {
            *writer >= Some(last_write) || is_gone
        } else {
            is_gone || *writer > Some(last_write)
        };
        (!is_there).then_some(number)
    };
    let steps: BTreeSet<u64> = records.iter().filter_map(missing_step).collect();
    let steps: Vec<(u64, u64)> = steps.into_iter().map(|number| (session_number, number)).collect();
    format!("missing before a later step that is there: {}", step_progress::describe_steps(&steps))
}

/// Whether each byte of a value is 0 or that of another value at its place.
fn is_pieced(value: &[u8], earlier_values: &[Vec<u8>]) -> bool {
    let is_byte_of_any =
        |offset: usize, byte: &u8| earlier_values.iter().any(|earlier| earlier.get(offset) == Some(byte));
    value.iter().enumerate().all(|(offset, byte)| *byte == 0 || is_byte_of_any(offset, byte))
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::store::{Result, StoreError};

    #[derive(Default)]
    pub struct Map(BTreeMap<Vec<u8>, Vec<u8>>);

    impl Session for Map {
        fn insert(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
            self.0.insert(key.into(), value.into());
            Ok(())
        }

        fn update(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
            self.insert(key, value)
        }

        fn get(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
            Ok(self.0.get(key).map(|value| visit(value)).is_some())
        }

        fn remove(&mut self, key: &[u8]) -> Result<()> {
            self.0.remove(key);
            Ok(())
        }

        fn scan(&mut self, _: &[u8], _: usize, _: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize> {
            Err(StoreError::Unsupported("a map of a test".into()))
        }

        fn insert_batch(&mut self, records: &[(&[u8], &[u8])]) -> Result<()> {
            records.iter().try_for_each(|(key, value)| self.insert(key, value))
        }
    }

    pub fn map_after(steps: impl IntoIterator<Item = u64>) -> Map {
        let mut map = Map::default();
        steps.into_iter().for_each(|number| steps::take(&mut map, number, MOST_BYTES).unwrap());
        map
    }

    #[test]
    fn the_most_steps_are_found_that_explain_a_store() {
        for taken in 0..=40 {
            let state = read(&mut map_after(0..taken), 0, 40, Batch::Atomic).unwrap();
            assert_eq!(state, SessionState::First(taken));
        }
        // It has nothing of another session.
        assert_eq!(read(&mut map_after(0..40), 1, 40, Batch::Atomic).unwrap(), SessionState::First(0));
    }

    #[test]
    fn a_step_that_is_missing_before_one_that_is_there_is_a_hole() {
        let map_without = |missing: u64| map_after((0..6).filter(|number| *number != missing));
        let hole_at =
            |steps: &str| SessionState::Hole(format!("missing before a later step that is there: {steps}"));
        let hole = hole_at(&format!("insert of {}", record_key(2 * steps::BATCH_RECORDS)));
        assert_eq!(read(&mut map_without(2), 0, 6, Batch::Atomic).unwrap(), hole);
        assert_eq!(read(&mut map_without(5), 0, 6, Batch::Atomic).unwrap(), SessionState::First(5));
    }

    #[test]
    fn a_record_that_is_back_after_its_removal_is_no_other_hole() {
        let removal = (0..).find(|number| matches!(step(*number), steps::Step::Remove(_))).unwrap();
        let map = map_after((0..removal + 4).filter(|number| *number != removal));
        let state = read(&mut { map }, 0, removal + 4, Batch::Atomic).unwrap();
        assert!(matches!(state, SessionState::Resurrected(_)), "{state:?}");
        // As the newest it is a step that is lost.
        assert_eq!(
            read(&mut map_after(0..removal), 0, removal + 1, Batch::Atomic).unwrap(),
            SessionState::First(removal)
        );
        let map = map_after((0..removal + 4).filter(|number| ![removal, removal + 1].contains(number)));
        let state = read(&mut { map }, 0, removal + 4, Batch::Atomic).unwrap();
        assert!(matches!(&state, SessionState::Hole(why) if why.contains("remove of ")), "{state:?}");
    }

    #[test]
    fn a_part_of_a_batch_is_allowed_where_batches_are_not_atomic() {
        let mut map = map_after(0..8);
        let records: Vec<u64> = step(8).records().take(3).collect();
        for record in records {
            map.insert(record_key(record).as_bytes(), &record_value(record, 8, MOST_BYTES)).unwrap();
        }
        assert_eq!(read(&mut map, 0, 9, Batch::Grouped).unwrap(), SessionState::First(8));
        assert!(matches!(read(&mut map, 0, 9, Batch::Atomic).unwrap(), SessionState::Hole(_)));
    }

    #[test]
    fn a_value_that_no_step_wrote_is_wrong() {
        let mut map = map_after(0..5);
        let key = record_key(0);
        map.insert(key.as_bytes(), b"torn").unwrap();
        let state = read(&mut map, 0, 5, Batch::Atomic).unwrap();
        assert_eq!(state, SessionState::Wrong(format!("the record {key} has 4 bytes that it never had")));
        // Cut short, with zeros in it, and empty it is a part of what it was.
        let whole = record_value(0, 0, MOST_BYTES);
        let holed = [&whole[..2], &[0; 3], &whole[5..]].concat();
        for torn in [&whole[..whole.len() - 1], &holed, &[]] {
            map.insert(key.as_bytes(), torn).unwrap();
            let state = read(&mut map, 0, 5, Batch::Atomic).unwrap();
            assert!(matches!(state, SessionState::Torn(_)), "{state:?}");
        }
    }
}
