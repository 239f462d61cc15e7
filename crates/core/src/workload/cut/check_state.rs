//! Looking at a state: what the store has of each session's steps, and whether it takes new records.

use std::time::Instant;

use super::message::{CutMessage, StateReport};
use super::opened::{batch, logged, open};
use super::session_state::{self, SessionState};
use crate::result::StateFinding;
use crate::store::Store;
use crate::workload::kill::{self, MOST_BYTES, steps};
use crate::workload::spec::{TrialContext, TrialError};
use crate::workload::step::Step;
use crate::workload::workload_error::WorkloadError;

/// The session of inserts after a cut, whose steps nobody has taken.
const NOBODY: u64 = 4_000;

/// Checks a state in which each session had begun this number of steps.
pub(super) fn check_state(
    asked: &TrialContext<'_>,
    begun: &[u64],
    made: bool,
) -> Result<CutMessage, TrialError> {
    let batch = batch(asked, made)?;
    look_by(asked, made, |store| {
        let mut session = kill::session(store)?;
        (0..)
            .zip(begun)
            .map(|(thread, begun)| session_state::read(&mut *session, thread, *begun, batch))
            .collect()
    })
}

/// Opens a store, checks its content by `read`, and has it take a new record.
pub(super) fn look_by(
    asked: &TrialContext<'_>,
    made: bool,
    read: impl Fn(&dyn Store) -> Result<Vec<SessionState>, WorkloadError>,
) -> Result<CutMessage, TrialError> {
    let mut looked = StateReport::new(StateFinding::Held, String::new());
    // A store that has no room to work in is not damaged by that.
    let or_full = |finding| if is_full(asked) { StateFinding::NoSpace } else { finding };
    let found = |looked: StateReport, finding, message| {
        Ok(CutMessage::Found(StateReport { finding, message, ..looked }))
    };
    let start = Instant::now();
    let mut store = match open(asked, made, Step::Reopening) {
        Ok(store) => store,
        Err(TrialError::Failed(stop)) => return found(looked, or_full(StateFinding::Refused), stop.message),
        Err(unsupported) => return Err(unsupported),
    };
    looked.open_ns = Some(start.elapsed().as_nanos() as u64);
    let held = match read(&*store) {
        Ok(held) => held,
        Err(stop) => return found(looked, StateFinding::Unusable, stop.message),
    };
    looked.logged = asked.spec.disk.as_deref().map(logged).transpose()?.flatten();
    for held in held {
        match held {
            SessionState::First(steps) => looked.kept.push(steps),
            SessionState::Torn(message) => return found(looked, StateFinding::Torn, message),
            SessionState::Wrong(message) => return found(looked, StateFinding::Wrong, message),
            SessionState::Resurrected(message) => return found(looked, StateFinding::Resurrected, message),
            SessionState::Hole(message) => return found(looked, StateFinding::Hole, message),
        }
    }
    match store.verify() {
        Ok(verified) => looked.verified = verified,
        Err(error) => return found(looked, or_full(StateFinding::Unsound), error.to_string()),
    }
    match works_on(asked, made, store) {
        Ok(()) => Ok(CutMessage::Found(looked)),
        Err(why) => found(looked, or_full(StateFinding::Unusable), why),
    }
}

fn is_full(asked: &TrialContext<'_>) -> bool {
    rustix::fs::statvfs(&asked.spec.directory).is_ok_and(|room| room.f_bavail == 0)
}

/// Checks that a store takes a new record, closes, opens again, and has it; else gives why not.
fn works_on(asked: &TrialContext<'_>, made: bool, store: Box<dyn Store>) -> Result<(), String> {
    let number = steps::session_step(NOBODY, 0);
    let (key, value) = (steps::record_key(number), steps::record_value(number, number, MOST_BYTES));
    let told = |what: &str, error: &dyn std::fmt::Display| format!("{what} after the cut: {error}");
    let before = store.count().map_err(|error| told("counting", &error))?;
    {
        let mut session = store.session().map_err(|error| told("opening a session", &error))?;
        session.insert(key.as_bytes(), &value).map_err(|error| told("inserting", &error))?;
    }
    store.close().map_err(|error| told("closing", &error))?;
    let store = open(asked, made, Step::Reopening).map_err(|ended| match ended {
        TrialError::Failed(stop) => format!("after the cut and a new record: {}", stop.message),
        TrialError::Unsupported(message) => message,
    })?;
    let mut is_there = false;
    {
        let mut session = store.session().map_err(|error| told("opening a session", &error))?;
        session
            .get(key.as_bytes(), &mut |found| is_there = found == value)
            .map_err(|error| told("reading a new record", &error))?;
    }
    let after = store.count().map_err(|error| told("counting", &error))?;
    store.close().map_err(|error| told("closing", &error))?;
    match is_there && after == before + 1 {
        true => Ok(()),
        false => Err(format!(
            "a record that was inserted after the cut is not there: {before} records before, {after} after"
        )),
    }
}
