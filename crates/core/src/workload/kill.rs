//! The kill check: a process writes to a store and is killed right after a write was acknowledged, and a new process must find
//! all of it. At `power`, unsynced writes are undone before the kill, as after a power cut. It follows a trial, in its folder,
//! with the store opened as in the trial, and unmeasured.

pub mod steps;

use std::path::Path;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use storebench_model::cell::GuaranteeChoice;
use storebench_model::result::Failure;
use storebench_model::store::{Guarantee, OpenFn, Session, Store};

use crate::measure::syncs;
use crate::workload::spec::{TrialContext, TrialError};
use crate::workload::step::TrialStep;
use crate::workload::workload_error::WorkloadError;
use crate::workload::{store_trial, worker_pool};
use steps::{CYCLE, expected, record_key, record_value, step};
use storebench_model::server::processes;

/// In bytes: many of them take little of a small disk.
pub(super) const MOST_BYTES: usize = 2_000;
const MOST_STEPS: u64 = 256;
/// No step is added after this time, once each kind was taken.
const MAX_TIME: Duration = Duration::from_millis(50);

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

/// Writes, announces each write by `report`, and is killed; fails also if it lives on. `harness_folder` has the harness's files.
pub fn write(
    context: &TrialContext<'_>,
    harness_folder: &Path,
    report: impl Fn(&KillMessage) -> Result<(), TrialError>,
) -> Result<(), TrialError> {
    let (def, _) = store_trial::find(context.stores, context.spec.cell.store())?;
    let is_power = store_trial::offered_guarantee(def, &context.spec.cell)? >= Guarantee::Power;
    let journal = is_power.then(|| syncs::keep_journal(harness_folder));
    let store = open(context, TrialStep::Opening)?;
    let undone = journal.map(|started| started.map_err(str::to_owned).and_then(|()| check_journal()));
    let mut session = worker_pool::session(&*store)?;
    let start = Instant::now();
    for number in 0..MOST_STEPS {
        let steps = number + 1;
        let is_last = steps == MOST_STEPS || (steps >= CYCLE && start.elapsed() >= MAX_TIME);
        if is_last {
            // Reported before, so that nothing comes between the last acknowledgement and the end.
            report(&KillMessage::Written { steps, undone: undone.clone() })?;
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
    if processes::has_servers() { Err("a server writes where it can't be seen".into()) } else { Ok(()) }
}

pub(super) fn undo() -> Result<(), TrialError> {
    syncs::undo_unsynced()
        .map_err(|error| TrialError::harness(format!("undoing what was not synced: {error}")))
}

/// Kills this process, without closing anything. Returns if it can't.
pub(super) fn die() -> TrialError {
    let process = rustix::process::getpid();
    let result = rustix::process::kill_process(process, rustix::process::Signal::KILL);
    TrialError::harness(format!("it can't be killed: {result:?}"))
}

/// Opens the store again and holds it to what was acknowledged. Fails also when something is missing or wrong.
pub fn read_back(context: &TrialContext<'_>, steps: u64, undone: bool) -> Result<(), TrialError> {
    let when = match (undone, lose_machine(context)?) {
        (true, _) => "after its process was killed and what it had written and not synced was undone",
        (false, false) => "after its process was killed",
        (false, true) => "after its process was killed and one of its machines was lost",
    };
    let failure = if undone { Failure::Unsynced } else { Failure::WrongData };
    let error_after_kill =
        |message: String| WorkloadError { failure, message: format!("{message} {when}"), operation: None };
    let store = open(context, TrialStep::Reopening).map_err(|error| match error {
        TrialError::Failed(stop) => {
            TrialError::Failed(WorkloadError { message: format!("{}, {when}", stop.message), ..stop })
        }
        unsupported @ TrialError::Unsupported(_) => unsupported,
    })?;
    let mut session = worker_pool::session(&*store)?;
    let expected_records = expected(steps);
    let touched = (0..steps).flat_map(|number| step(number).records());
    for record in touched {
        let value = expected_records.get(&record).map(|number| record_value(record, *number, MOST_BYTES));
        if let Some(fault) = why_wrong(&mut *session, record, value.as_deref(), when)? {
            return Err(error_after_kill(fault).into());
        }
    }
    drop(session);
    let count = store.count().map_err(WorkloadError::during("counting"))?;
    if count != expected_records.len() as u64 {
        let message =
            format!("the store counts {count} records, but {} were acknowledged", expected_records.len());
        return Err(error_after_kill(message).into());
    }
    Ok(store.close().map_err(WorkloadError::during("closing the store"))?)
}

/// At `node`, has the store lose a machine for good; gives whether it did.
fn lose_machine(context: &TrialContext<'_>) -> Result<bool, TrialError> {
    let (def, _) = store_trial::find(context.stores, context.spec.cell.store())?;
    let lose = def.server.and_then(|server| server.lose);
    let Some(lose) = lose.filter(|_| context.spec.cell.guarantee() == GuaranteeChoice::Tier(Guarantee::Node))
    else {
        return Ok(false);
    };
    let folder = context.spec.directory.as_path();
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
    let mut is_right = false;
    let found = session
        .get(key.as_bytes(), &mut |bytes| is_right = value == Some(bytes))
        .map_err(|error| WorkloadError::store(&format!("reading the record {key} {when}"), &error))?;
    let fault = match (found, value) {
        (true, Some(_)) if is_right => return Ok(None),
        (false, None) => return Ok(None),
        (false, Some(_)) => "is missing",
        (true, Some(_)) => "has another value than the one acknowledged last",
        (true, None) => "is there, though its removal was acknowledged,",
    };
    Ok(Some(format!("the acknowledged record {key} {fault}")))
}

pub(super) fn open(context: &TrialContext<'_>, step: TrialStep) -> Result<Box<dyn Store>, TrialError> {
    let TrialContext { stores, spec, .. } = *context;
    let (_, open): (_, OpenFn) = store_trial::find(stores, spec.cell.store())?;
    step.begin();
    let store =
        open(&spec.options(spec.cell.threads().into())).map_err(store_trial::unsupported_or_failed)?;
    TrialStep::Working.begin();
    Ok(store)
}
