//! Steps on a disk with a fault: some may fail, and the next ones are taken all the same, as a service goes on with its next
//! request. Acknowledged writes must be there afterwards, however many failed.

use std::collections::BTreeMap;
use std::convert::Infallible;

use super::check_state::look_by;
use super::message::{CutMessage, FaultReport};
use super::opened::{batch, logged, open};
use super::record::prepare;
use super::session_state::SessionState;
use crate::store::{Batch, Session};
use crate::workload::kill::steps::{self, record_key, record_value, step};
use crate::workload::kill::{self, MOST_BYTES};
use crate::workload::spec::{TrialContext, TrialError};
use crate::workload::step::Step;
use crate::workload::workload_error::WorkloadError;

/// Takes steps, and ends. Each result is reported before the next step: this process may not live to do so later.
pub(super) fn endure(
    asked: &TrialContext<'_>,
    count: u64,
    tell: impl Fn(&CutMessage) -> Result<(), TrialError>,
) -> Result<Infallible, TrialError> {
    let disk = asked.spec.disk.as_deref().ok_or_else(|| TrialError::harness("no disk has the fault"))?;
    prepare(asked, false)?;
    let before_bytes = free(asked)?;
    let store = open(asked, false, Step::Opening)?;
    let opened = logged(disk)?.ok_or_else(|| TrialError::harness("the disk keeps no log"))?;
    let opening_bytes = before_bytes.saturating_sub(free(asked)?);
    let mut told = FaultReport { opened, opening_bytes, ..FaultReport::default() };
    let mut session = kill::session(&*store)?;
    for number in 0..count {
        tell(&CutMessage::Endured(told.clone()))?;
        let taken = steps::take(&mut *session, number, MOST_BYTES);
        told.failed.push(taken.err().map(|error| error.to_string()));
    }
    told.left_bytes = free(asked)?;
    told.taken_bytes = before_bytes.saturating_sub(told.left_bytes);
    told.is_over = true;
    tell(&CutMessage::Endured(told))?;
    Err(kill::die())
}

fn free(asked: &TrialContext<'_>) -> Result<u64, TrialError> {
    let room = rustix::fs::statvfs(&asked.spec.directory).map_err(TrialError::harness)?;
    Ok(room.f_bfree * room.f_frsize)
}

/// Checks what is left of steps, each acknowledged or not; the last may have been under way.
pub(super) fn look_after(asked: &TrialContext<'_>, acknowledged: &[bool]) -> Result<CutMessage, TrialError> {
    let batch = batch(asked, false)?;
    look_by(asked, false, |store| {
        let mut session = kill::session(store)?;
        Ok(vec![read(&mut *session, acknowledged, batch)?])
    })
}

/// A record's possible values, by the steps that wrote them; `None` for none.
fn allowed(acknowledged: &[bool]) -> BTreeMap<u64, Vec<Option<u64>>> {
    let mut all: BTreeMap<u64, Vec<Option<u64>>> = BTreeMap::new();
    for (number, acknowledged) in (0..).zip(acknowledged) {
        let step = step(number);
        let leaves = (!matches!(step, steps::Step::Remove(_))).then_some(number);
        for record in step.records() {
            let values = all.entry(record).or_insert_with(|| vec![None]);
            if *acknowledged {
                values.clear();
            }
            values.push(leaves);
        }
    }
    all
}

/// Checks each record against its last acknowledged write, and what failed since.
fn read(
    session: &mut dyn Session,
    acknowledged: &[bool],
    batch: Batch,
) -> Result<SessionState, WorkloadError> {
    let mut of_batches: BTreeMap<u64, Vec<bool>> = BTreeMap::new();
    for (record, values) in allowed(acknowledged) {
        let key = record_key(record);
        let mut found = None;
        session
            .get(key.as_bytes(), &mut |value| found = Some(value.to_vec()))
            .map_err(|error| WorkloadError::store(&format!("reading the record {key}"), &error))?;
        let of = |value: &Option<u64>| value.map(|number| record_value(record, number, MOST_BYTES));
        if !values.iter().any(|value| of(value) == found) {
            let found = found.map_or("is missing".to_owned(), |value| {
                format!("has {} bytes that it may not have", value.len())
            });
            return Ok(SessionState::Wrong(format!("the record {key} {found}")));
        }
        if let [None, Some(number)] = values[..]
            && matches!(step(number), steps::Step::Batch(_) | steps::Step::Transaction(_))
        {
            of_batches.entry(number).or_default().push(found.is_some());
        }
    }
    let is_in_part = |there: &Vec<bool>| there.contains(&true) && there.contains(&false);
    match of_batches.iter().find(|(_, there)| batch == Batch::Atomic && is_in_part(there)) {
        Some((number, _)) => {
            Ok(SessionState::Wrong(format!("a part of the batch of step {number} is there")))
        }
        None => Ok(SessionState::First(acknowledged.len() as u64)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::session_state::tests::after;
    use super::*;

    #[test]
    fn what_was_acknowledged_must_be_there_and_what_failed_may_be() {
        let mut acknowledged = [true; 12];
        acknowledged[3] = false;
        acknowledged[8] = false;
        let held =
            |steps: &[u64]| read(&mut after(steps.iter().copied()), &acknowledged, Batch::Atomic).unwrap();
        let all: Vec<u64> = (0..12).collect();
        let without = |missing: &[u64]| -> Vec<u64> {
            all.iter().copied().filter(|step| !missing.contains(step)).collect()
        };
        assert_eq!(held(&all), SessionState::First(12));
        assert_eq!(held(&without(&[3, 8])), SessionState::First(12));
        assert!(matches!(held(&without(&[2])), SessionState::Wrong(why) if why.contains("is missing")));
        assert!(
            matches!(held(&without(&[6])), SessionState::Wrong(why) if why.contains("may not have")),
            "a removal that is undone"
        );
    }

    #[test]
    fn a_batch_that_failed_is_there_whole_or_not_at_all() {
        let acknowledged = [true, true, true, true, true, true, true, true, false];
        let mut part = after(0..8);
        let record = step(8).records().start;
        part.insert(record_key(record).as_bytes(), &record_value(record, 8, MOST_BYTES)).unwrap();
        let in_part = read(&mut part, &acknowledged, Batch::Atomic).unwrap();
        assert!(matches!(in_part, SessionState::Wrong(why) if why.contains("a part of the batch")));
        assert_eq!(read(&mut part, &acknowledged, Batch::Grouped).unwrap(), SessionState::First(9));
    }
}
