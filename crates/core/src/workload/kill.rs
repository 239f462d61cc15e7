//! The kill check: a process writes to a store and is killed right after a write was acknowledged, and a new process must find
//! all of it. At `power`, unsynced writes are undone before the kill, as after a power cut. It follows a trial, in its folder,
//! with the store opened as in the trial, and unmeasured.

pub mod steps;

use std::path::Path;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::cell::GuaranteeChoice;
use crate::measure::{children, syncs};
use crate::result::Failure;
use crate::store::{Guarantee, OpenFn, Session, Store};
use crate::workload::spec::{TrialContext, TrialError};
use crate::workload::step::Step;
use crate::workload::store_trial;
use crate::workload::workload_error::WorkloadError;
use steps::{CYCLE, expected, record_key, record_value, step};

/// In bytes: many of them take little of a small disk.
pub(super) const MOST_BYTES: usize = 2_000;
const MOST_STEPS: u64 = 256;
/// No step is added after this time, once each kind was taken.
const LONGEST: Duration = Duration::from_millis(50);

/// The report of a process on its part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KillMessage {
    /// It is about to take the last step, and to be killed.
    Written {
        /// The steps, the last one included.
        steps: u64,
        /// Whether what is not synced by then is undone; `None` where the store's guarantee does not ask for it.
        undone: Option<Result<(), String>>,
    },
    /// All is there.
    Held,
    /// The store did not do what it should.
    Failed {
        /// The kind of failure.
        reason: Failure,
        /// The failure, in words.
        message: String,
    },
}

/// Writes, announces each write through `tell`, and is killed. `apart` is the folder of the harness's files. Fails also
/// when it lives on.
pub fn write(
    asked: &TrialContext<'_>,
    apart: &Path,
    tell: impl Fn(&KillMessage) -> Result<(), TrialError>,
) -> Result<(), TrialError> {
    let (def, _) = store_trial::find(asked.stores, asked.spec.cell.store())?;
    let is_power = store_trial::offered_guarantee(def, &asked.spec.cell)? >= Guarantee::Power;
    let journal = is_power.then(|| syncs::keep_journal(apart));
    let store = open(asked, Step::Opening)?;
    let undone = journal.map(|kept| kept.map_err(str::to_owned).and_then(|()| check_journal()));
    let mut session = session(&*store)?;
    let start = Instant::now();
    for number in 0..MOST_STEPS {
        let steps = number + 1;
        let is_last = steps == MOST_STEPS || (steps >= CYCLE && start.elapsed() >= LONGEST);
        if is_last {
            // Told before, so that nothing comes between the last acknowledgement and the end.
            tell(&KillMessage::Written { steps, undone: undone.clone() })?;
        }
        steps::take(&mut *session, number, MOST_BYTES)
            .map_err(|error| WorkloadError::store(&format!("step {number} of the kill check"), &error))?;
        if is_last {
            break;
        }
    }
    if undone == Some(Ok(())) {
        undo()?;
    }
    Err(die())
}

/// Whether the journal has all writes of the open store.
pub(super) fn check_journal() -> Result<(), String> {
    if children::is_there() { Err("a server writes where it can't be seen".into()) } else { Ok(()) }
}

pub(super) fn undo() -> Result<(), TrialError> {
    syncs::undo_unsynced()
        .map_err(|error| TrialError::harness(format!("undoing what was not synced: {error}")))
}

/// Kills this process, without closing anything. Returns if it can't.
pub(super) fn die() -> TrialError {
    let own = rustix::process::getpid();
    let killed = rustix::process::kill_process(own, rustix::process::Signal::KILL);
    TrialError::harness(format!("it can't be killed: {killed:?}"))
}

/// Opens the store again and holds it to what was acknowledged. Fails also when something is missing or wrong.
pub fn read_back(asked: &TrialContext<'_>, steps: u64, undone: bool) -> Result<(), TrialError> {
    let when = match (undone, lose_a_machine(asked)?) {
        (true, _) => "after its process was killed and what it had written and not synced was undone",
        (false, false) => "after its process was killed",
        (false, true) => "after its process was killed and one of its machines was lost",
    };
    let reason = if undone { Failure::Unsynced } else { Failure::WrongData };
    let lost = |message: String| WorkloadError {
        failure: reason,
        message: format!("{message} {when}"),
        operation: None,
    };
    let store = open(asked, Step::Reopening).map_err(|ended| match ended {
        TrialError::Failed(stop) => {
            TrialError::Failed(WorkloadError { message: format!("{}, {when}", stop.message), ..stop })
        }
        unsupported @ TrialError::Unsupported(_) => unsupported,
    })?;
    let mut session = session(&*store)?;
    let held = expected(steps);
    let touched = (0..steps).flat_map(|number| step(number).records());
    for record in touched {
        let value = held.get(&record).map(|number| record_value(record, *number, MOST_BYTES));
        if let Some(wrong) = why_wrong(&mut *session, record, value.as_deref(), when)? {
            return Err(lost(wrong).into());
        }
    }
    drop(session);
    let count = store.count().map_err(|error| WorkloadError::store("counting", &error))?;
    if count != held.len() as u64 {
        let message = format!("the store counts {count} records, but {} were acknowledged", held.len());
        return Err(lost(message).into());
    }
    Ok(store.close().map_err(|error| WorkloadError::store("closing the store", &error))?)
}

/// At `node`, has the store lose a machine for good; gives whether it did.
fn lose_a_machine(asked: &TrialContext<'_>) -> Result<bool, TrialError> {
    let (def, _) = store_trial::find(asked.stores, asked.spec.cell.store())?;
    let lose = def.server.and_then(|server| server.lose);
    let Some(lose) = lose.filter(|_| asked.spec.cell.guarantee() == GuaranteeChoice::Tier(Guarantee::Node))
    else {
        return Ok(false);
    };
    let folder = asked.spec.directory.as_path();
    lose(folder)
        .map_err(|error| TrialError::harness(format!("losing a machine in {}: {error}", folder.display())))?;
    Ok(true)
}

/// Why a record is not as acknowledged; `None` if it is.
fn why_wrong(
    session: &mut dyn Session,
    record: u64,
    value: Option<&[u8]>,
    when: &str,
) -> Result<Option<String>, TrialError> {
    let key = record_key(record);
    let mut right = false;
    let found = session
        .get(key.as_bytes(), &mut |found| right = value == Some(found))
        .map_err(|error| WorkloadError::store(&format!("reading the record {key} {when}"), &error))?;
    let what = match (found, value) {
        (true, Some(_)) if right => return Ok(None),
        (false, None) => return Ok(None),
        (false, Some(_)) => "is missing",
        (true, Some(_)) => "has another value than the one acknowledged last",
        (true, None) => "is there, though its removal was acknowledged,",
    };
    Ok(Some(format!("the acknowledged record {key} {what}")))
}

pub(super) fn open(asked: &TrialContext<'_>, step: Step) -> Result<Box<dyn Store>, TrialError> {
    let TrialContext { stores, spec, .. } = *asked;
    let (_, open): (_, OpenFn) = store_trial::find(stores, spec.cell.store())?;
    step.begin();
    let store =
        open(&spec.options(spec.cell.threads().into())).map_err(store_trial::unsupported_or_failed)?;
    Step::Working.begin();
    Ok(store)
}

pub(super) fn session(store: &dyn Store) -> Result<Box<dyn Session + '_>, WorkloadError> {
    store.session().map_err(|error| WorkloadError::store("opening a session", &error))
}
