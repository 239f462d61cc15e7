//! The steps that explain what a store holds.

use std::collections::{BTreeMap, BTreeSet};

use storebench_model::result::StateFinding;
use storebench_model::store::{Batch, Session};

use super::step_progress;
use crate::workload::kill::MOST_BYTES;
use crate::workload::kill::steps::{self, record_key, record_value, step};
use crate::workload::workload_error::WorkloadError;

/// The most first steps that explain a session's records; else what is found, Resurrected where only removals are missing.
pub(super) type SessionState = Result<u64, (StateFinding, String)>;

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
        let value_of =
            |number: u64| record_value(record, steps::session_step(session_number, number), MOST_BYTES);
        let is_written = |value: &Vec<u8>| {
            writes.iter().rposition(|(number, leaves_value)| *leaves_value && *value == value_of(*number))
        };
        let writer = value.as_ref().map(is_written);
        if let (Some(None), Some(value)) = (writer, &value) {
            let size = value.len();
            if !is_pieced(value, &writes.iter().map(|(number, _)| value_of(*number)).collect::<Vec<_>>()) {
                let message = format!("the record {key} has {size} bytes that it never had");
                return Ok(Err((StateFinding::Wrong, message)));
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
        return Ok(Err((StateFinding::Torn, torn_message)));
    }
    let most_steps = explained.iter().rposition(|explained| *explained);
    Ok(match (most_steps, removed_key.filter(|_| explained_with_removed.contains(&true))) {
        (Some(most_steps), _) => Ok(most_steps as u64),
        (None, Some(key)) => {
            Err((StateFinding::Resurrected, format!("the record {key} is there, and was removed")))
        }
        (None, None) => Err((StateFinding::Hole, describe_missing(session_number, &records))),
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
    use std::path::Path;

    use storebench_model::store::{OpenOptions, Store};
    use storebench_model::stores::MEMORY;

    use super::*;

    pub fn store_after(steps: impl IntoIterator<Item = u64>) -> Box<dyn Store> {
        let store = MEMORY.open.unwrap()(&OpenOptions::new(Path::new(""))).unwrap();
        let mut session = store.session().unwrap();
        steps.into_iter().for_each(|number| steps::take(&mut *session, number, MOST_BYTES).unwrap());
        drop(session);
        store
    }

    fn state_after(taken: impl IntoIterator<Item = u64>, session: u64, begun: u64) -> SessionState {
        let store = store_after(taken);
        read(&mut *store.session().unwrap(), session, begun, Batch::Atomic).unwrap()
    }

    #[test]
    fn the_most_steps_are_found_that_explain_a_store() {
        for taken in 0..=40 {
            assert_eq!(state_after(0..taken, 0, 40), Ok(taken));
        }
        // It has nothing of another session.
        assert_eq!(state_after(0..40, 1, 40), Ok(0));
    }

    #[test]
    fn a_step_that_is_missing_before_one_that_is_there_is_a_hole() {
        let state_without = |missing| state_after((0..6).filter(|number| *number != missing), 0, 6);
        let insert = format!("insert of {}", record_key(2 * steps::BATCH_RECORDS));
        let hole = format!("missing before a later step that is there: {insert}");
        assert_eq!(state_without(2), Err((StateFinding::Hole, hole)));
        assert_eq!(state_without(5), Ok(5));
    }

    #[test]
    fn a_record_that_is_back_after_its_removal_is_no_other_hole() {
        let removal = (0..).find(|number| matches!(step(*number), steps::Step::Remove(_))).unwrap();
        let state = state_after((0..removal + 4).filter(|number| *number != removal), 0, removal + 4);
        assert!(matches!(state, Err((StateFinding::Resurrected, _))), "{state:?}");
        // As the newest it is a step that is lost.
        assert_eq!(state_after(0..removal, 0, removal + 1), Ok(removal));
        let steps = (0..removal + 4).filter(|number| ![removal, removal + 1].contains(number));
        let state = state_after(steps, 0, removal + 4);
        assert!(matches!(&state, Err((StateFinding::Hole, why)) if why.contains("remove of ")), "{state:?}");
    }

    #[test]
    fn a_part_of_a_batch_is_allowed_where_batches_are_not_atomic() {
        let store = store_after(0..8);
        let mut session = store.session().unwrap();
        for record in step(8).records().take(3) {
            session.insert(record_key(record).as_bytes(), &record_value(record, 8, MOST_BYTES)).unwrap();
        }
        assert_eq!(read(&mut *session, 0, 9, Batch::Grouped).unwrap(), Ok(8));
        let state = read(&mut *session, 0, 9, Batch::Atomic).unwrap();
        assert!(matches!(state, Err((StateFinding::Hole, _))), "{state:?}");
    }

    #[test]
    fn a_value_that_no_step_wrote_is_wrong() {
        let store = store_after(0..5);
        let mut session = store.session().unwrap();
        let key = record_key(0);
        let mut state_with = |value: &[u8]| {
            session.update(key.as_bytes(), value).unwrap();
            read(&mut *session, 0, 5, Batch::Atomic).unwrap()
        };
        let message = format!("the record {key} has 4 bytes that it never had");
        assert_eq!(state_with(b"torn"), Err((StateFinding::Wrong, message)));
        // Cut short, with zeros in it, and empty it is a part of what it was.
        let whole = record_value(0, 0, MOST_BYTES);
        let holed = [&whole[..2], &[0; 3], &whole[5..]].concat();
        for torn in [&whole[..whole.len() - 1], &holed, &[]] {
            let state = state_with(torn);
            assert!(matches!(state, Err((StateFinding::Torn, _))), "{state:?}");
        }
    }
}
