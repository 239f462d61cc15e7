//! Looking at a state: what the store has of each session's steps, and whether it takes new records.

use std::time::Instant;

use storebench_model::result::StateFinding;
use storebench_model::store::{Store, StoreError};

use super::message::{CutMessage, StateReport};
use super::session_state::{self, SessionState};
use super::{batch_capability, log_length, open};
use crate::workload::kill::{MOST_BYTES, steps};
use crate::workload::spec::{TrialContext, TrialError};
use crate::workload::step::TrialStep;
use crate::workload::worker_pool;
use crate::workload::workload_error::WorkloadError;

/// The session of inserts after a cut, whose steps nobody has taken.
const UNUSED_SESSION: u64 = 4_000;

/// Checks a state in which each session had begun this number of steps.
pub(super) fn check_state(
    context: &TrialContext<'_>,
    steps_begun: &[u64],
    is_control: bool,
) -> Result<CutMessage, TrialError> {
    let batch = batch_capability(context, is_control)?;
    check_with(context, is_control, |store| {
        let mut session = worker_pool::session(store)?;
        (0..)
            .zip(steps_begun)
            .map(|(session_number, steps_begun)| {
                session_state::read(&mut *session, session_number, *steps_begun, batch)
            })
            .collect()
    })
}

/// Opens a store, checks its content by `read`, and has it take a new record.
pub(super) fn check_with(
    context: &TrialContext<'_>,
    is_control: bool,
    read: impl Fn(&dyn Store) -> Result<Vec<SessionState>, WorkloadError>,
) -> Result<CutMessage, TrialError> {
    let mut report = StateReport::new(StateFinding::Held, String::new());
    // A store that has no room to work in is not damaged by that.
    let is_full = || rustix::fs::statvfs(&context.spec.directory).is_ok_and(|room| room.f_bavail == 0);
    let no_space_or = |finding| if is_full() { StateFinding::NoSpace } else { finding };
    let with_finding = |report: StateReport, finding, message| {
        Ok(CutMessage::Found(StateReport { finding, message, ..report }))
    };
    let start = Instant::now();
    let mut store = match open(context, is_control, TrialStep::Reopening) {
        Ok(store) => store,
        Err(TrialError::Failed(stop)) => {
            return with_finding(report, no_space_or(StateFinding::Refused), stop.message);
        }
        Err(unsupported) => return Err(unsupported),
    };
    report.open_ns = Some(start.elapsed().as_nanos() as u64);
    let states = match read(&*store) {
        Ok(states) => states,
        Err(stop) => return with_finding(report, StateFinding::Unusable, stop.message),
    };
    report.logged = context.spec.disk.as_deref().map(log_length).transpose()?.flatten();
    for state in states {
        match state {
            Ok(steps) => report.kept.push(steps),
            Err((finding, message)) => return with_finding(report, finding, message),
        }
    }
    match store.verify() {
        Ok(verified) => report.verified = verified,
        Err(error) => return with_finding(report, no_space_or(StateFinding::Unsound), error.to_string()),
    }
    match check_new_record(context, is_control, store) {
        Ok(()) => Ok(CutMessage::Found(report)),
        Err(why) => with_finding(report, no_space_or(StateFinding::Unusable), why),
    }
}

/// Checks that a store takes a new record, closes, opens again, and has it. The error is the reason if it does not.
fn check_new_record(
    context: &TrialContext<'_>,
    is_control: bool,
    store: Box<dyn Store>,
) -> Result<(), String> {
    let number = steps::session_step(UNUSED_SESSION, 0);
    let (key, value) = (steps::record_key(number), steps::record_value(number, number, MOST_BYTES));
    let failed = |action: &'static str| move |error: StoreError| format!("{action} after the cut: {error}");
    let before = store.count().map_err(failed("counting"))?;
    let mut session = store.session().map_err(failed("opening a session"))?;
    session.insert(key.as_bytes(), &value).map_err(failed("inserting"))?;
    drop(session);
    store.close().map_err(failed("closing"))?;
    let store = open(context, is_control, TrialStep::Reopening).map_err(|error| match error {
        TrialError::Failed(stop) => format!("after the cut and a new record: {}", stop.message),
        TrialError::Unsupported(message) => message,
    })?;
    let mut is_there = false;
    let mut session = store.session().map_err(failed("opening a session"))?;
    session
        .get(key.as_bytes(), &mut |bytes| is_there = bytes == value)
        .map_err(failed("reading a new record"))?;
    drop(session);
    let after = store.count().map_err(failed("counting"))?;
    store.close().map_err(failed("closing"))?;
    if is_there && after == before + 1 {
        return Ok(());
    }
    Err(format!(
        "a record that was inserted after the cut is not there: {before} records before, {after} after"
    ))
}
