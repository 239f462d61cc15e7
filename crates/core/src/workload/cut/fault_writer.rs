//! Steps on a disk with a fault: some may fail, and the next ones are taken all the same, as a service goes on with its next
//! request. Acknowledged writes must be there afterwards, however many failed.

use std::collections::BTreeMap;
use std::convert::Infallible;

use storebench_model::result::StateFinding;
use storebench_model::store::{Batch, Session};

use super::check_state::check_with;
use super::message::{CutMessage, FaultReport};
use super::record::prepare;
use super::session_state::SessionState;
use super::{batch_capability, open, required_log_length};
use crate::workload::kill::steps::{self, record_key, record_value, step};
use crate::workload::kill::{self, MOST_BYTES};
use crate::workload::spec::{TrialContext, TrialError};
use crate::workload::step::TrialStep;
use crate::workload::worker_pool;
use crate::workload::workload_error::WorkloadError;

/// Takes steps, and ends. Each result is reported before the next step: this process may not live to do so later.
pub(super) fn write_with_faults(
    context: &TrialContext<'_>,
    count: u64,
    report: impl Fn(&CutMessage) -> Result<(), TrialError>,
) -> Result<Infallible, TrialError> {
    let disk = context.spec.disk.as_deref().ok_or_else(|| TrialError::harness("no disk has the fault"))?;
    prepare(context, false)?;
    let free_before_bytes = free_bytes(context)?;
    let store = open(context, false, TrialStep::Opening)?;
    let opened = required_log_length(disk)?;
    let opening_bytes = free_before_bytes.saturating_sub(free_bytes(context)?);
    let mut faults = FaultReport { opened, opening_bytes, ..FaultReport::default() };
    let mut session = worker_pool::session(&*store)?;
    for number in 0..count {
        report(&CutMessage::Endured(faults.clone()))?;
        let outcome = steps::take(&mut *session, number, MOST_BYTES);
        faults.failed.push(outcome.err().map(|error| error.to_string()));
    }
    faults.left_bytes = free_bytes(context)?;
    faults.taken_bytes = free_before_bytes.saturating_sub(faults.left_bytes);
    faults.is_over = true;
    report(&CutMessage::Endured(faults))?;
    Err(kill::die())
}

fn free_bytes(context: &TrialContext<'_>) -> Result<u64, TrialError> {
    let room = rustix::fs::statvfs(&context.spec.directory).map_err(TrialError::harness)?;
    Ok(room.f_bfree * room.f_frsize)
}

/// Checks what is left of steps, each acknowledged or not; the last may have been under way.
pub(super) fn check_after_faults(
    context: &TrialContext<'_>,
    acknowledged: &[bool],
) -> Result<CutMessage, TrialError> {
    let batch = batch_capability(context, false)?;
    check_with(context, false, |store| {
        let mut session = worker_pool::session(store)?;
        Ok(vec![read(&mut *session, acknowledged, batch)?])
    })
}

/// A record's possible values, by the steps that wrote them; `None` for none.
fn allowed_values(acknowledged: &[bool]) -> BTreeMap<u64, Vec<Option<u64>>> {
    let mut values_by_record: BTreeMap<u64, Vec<Option<u64>>> = BTreeMap::new();
    for (number, acknowledged) in (0..).zip(acknowledged) {
        let step = step(number);
        let value_left = (!matches!(step, steps::Step::Remove(_))).then_some(number);
        for record in step.records() {
            let values = values_by_record.entry(record).or_insert_with(|| vec![None]);
            if *acknowledged {
                values.clear();
            }
            values.push(value_left);
        }
    }
    values_by_record
}

/// Checks each record against its last acknowledged write, and what failed since.
fn read(
    session: &mut dyn Session,
    acknowledged: &[bool],
    batch: Batch,
) -> Result<SessionState, WorkloadError> {
    let mut found_by_batch: BTreeMap<u64, Vec<bool>> = BTreeMap::new();
    for (record, values) in allowed_values(acknowledged) {
        let key = record_key(record);
        let mut found = None;
        session
            .get(key.as_bytes(), &mut |value| found = Some(value.to_vec()))
            .map_err(|error| WorkloadError::store(&format!("reading the record {key}"), &error))?;
        let value_of = |value: &Option<u64>| value.map(|number| record_value(record, number, MOST_BYTES));
        if !values.iter().any(|value| value_of(value) == found) {
            let found = found.map_or("is missing".to_owned(), |value| {
                format!("has {} bytes that it may not have", value.len())
            });
            return Ok(Err((StateFinding::Wrong, format!("the record {key} {found}"))));
        }
        if let [None, Some(number)] = values[..]
            && matches!(step(number), steps::Step::Batch(_) | steps::Step::Transaction(_))
        {
            found_by_batch.entry(number).or_default().push(found.is_some());
        }
    }
    let is_partial = |found: &Vec<bool>| found.contains(&true) && found.contains(&false);
    match found_by_batch.iter().find(|(_, found)| batch == Batch::Atomic && is_partial(found)) {
        Some((number, _)) => {
            Ok(Err((StateFinding::Wrong, format!("a part of the batch of step {number} is there"))))
        }
        None => Ok(Ok(acknowledged.len() as u64)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::session_state::tests::store_after;
    use super::*;

    #[test]
    fn what_was_acknowledged_must_be_there_and_what_failed_may_be() {
        let mut acknowledged = [true; 12];
        acknowledged[3] = false;
        acknowledged[8] = false;
        let state_without = |missing: &[u64]| {
            let store = store_after((0..12).filter(|step| !missing.contains(step)));
            read(&mut *store.session().unwrap(), &acknowledged, Batch::Atomic).unwrap()
        };
        assert_eq!(state_without(&[]), Ok(12));
        assert_eq!(state_without(&[3, 8]), Ok(12));
        // The latter is a removal that is undone.
        for (missing, why) in [(2, "is missing"), (6, "may not have")] {
            let (finding, message) = state_without(&[missing]).unwrap_err();
            assert!(finding == StateFinding::Wrong && message.contains(why), "{message}");
        }
    }

    #[test]
    fn a_batch_that_failed_is_there_whole_or_not_at_all() {
        let acknowledged = [true, true, true, true, true, true, true, true, false];
        let store = store_after(0..8);
        let mut session = store.session().unwrap();
        let record = step(8).records().start;
        session.insert(record_key(record).as_bytes(), &record_value(record, 8, MOST_BYTES)).unwrap();
        let (_, why) = read(&mut *session, &acknowledged, Batch::Atomic).unwrap().unwrap_err();
        assert!(why.contains("a part of the batch"), "{why}");
        assert_eq!(read(&mut *session, &acknowledged, Batch::Grouped).unwrap(), Ok(9));
    }
}
