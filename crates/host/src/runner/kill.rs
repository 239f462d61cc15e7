//! The parent's side of the kill check (`workload/kill.rs`): decides which trials have one, and runs its two processes.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::runner::check_process::{CheckRoom, ProcessOutcome};
use crate::runner::child_process::{ProcessEnd, TimeLimit};
use crate::runner::run_request::RunRequest;
use storebench_core::guard;
use storebench_core::workload::kill::KillMessage;
use storebench_core::workload::spec::{CheckPart, KillPart, Spec};
use storebench_model::cell::Cell;
use storebench_model::error::{Error, Result};
use storebench_model::result::{Failure, KillCheck, Measurements, TrialResult};
use storebench_model::server::running;
use storebench_model::store::{Guarantee, StoreKind};

const LIMIT: TimeLimit =
    TimeLimit { whole: Duration::from_secs(120), room: Duration::ZERO, name: "the kill check's" };

/// The ways of opening a store that have passed. A failed one is checked again with every trial.
#[derive(Default)]
pub struct PassedChecks(BTreeSet<String>);

impl PassedChecks {
    /// The passed ways in a job's earlier results.
    pub fn from_results(job: &RunRequest<'_>) -> PassedChecks {
        let mut passed = PassedChecks::default();
        job.earlier_results.iter().for_each(|result| passed.note(job, result));
        passed
    }

    pub fn note(&mut self, job: &RunRequest<'_>, result: &TrialResult) {
        let check = result.measured.as_ref().and_then(|measured| measured.kill_check.as_ref());
        if matches!(check, Some(KillCheck::Held { .. })) {
            self.0.insert(open_key(job, &result.cell));
        }
    }

    /// Whether a cell opens its store in a way that has passed.
    pub fn contains(&self, job: &RunRequest<'_>, cell: &Cell) -> bool {
        self.0.contains(&open_key(job, cell))
    }
}

/// Everything that decides how a cell's store writes: place, guarantee, settings.
fn open_key(job: &RunRequest<'_>, cell: &Cell) -> String {
    let settings = job.plan.settings_to_open(cell, job.stores);
    format!("{:?}", (cell.store(), cell.location_on_disk(), cell.guarantee(), cell.tuning(), settings))
}

/// Why a trial has no kill check, or an inner `None` if it has one. The outer `None`: its store promises nothing about kills,
/// or is not ranked.
pub fn skipped_check(
    job: &RunRequest<'_>,
    passed: Option<&PassedChecks>,
    cell: &Cell,
    measured: &Measurements,
) -> Option<Option<KillCheck>> {
    let store = job.stores.iter().find(|store| store.name == cell.store())?;
    if measured.guarantee < Guarantee::Process || store.kind == StoreKind::Harness {
        return None;
    }
    let not_made = |reason: &str| Some(KillCheck::NotMade { reason: reason.into() });
    Some(if job.plan.settings_to_open(cell, job.stores).contains_key(running::URL) {
        not_made("the server was running before, and is not ours to kill")
    } else if cell.guarantee().tier().is_some_and(|wanted| wanted != measured.guarantee)
        && job.plan.judge_settings
    {
        not_made(
            "its settings give another tier than the one that is asked for, and are judged by power cuts",
        )
    } else if passed.is_none_or(|passed| passed.contains(job, cell)) {
        not_made("another trial of this run was checked whose store was opened in the same way")
    } else {
        None
    })
}

/// The report of a check for the result, or how and why the store has failed it.
pub type CheckOutcome<T> = std::result::Result<T, (Failure, String)>;

/// Makes a kill check in the trial's folder, which is emptied first.
pub fn check(spec: &Spec, room: &CheckRoom<'_>) -> Result<CheckOutcome<KillCheck>> {
    let start = Instant::now();
    empty(&spec.directory)?;
    let spec_of = |part| Spec { part: Some(CheckPart::Kill(part)), ..spec.clone() };
    let run_process = |part| room.run::<KillMessage>(&spec_of(part), LIMIT);
    // Killed by itself, even if the kernel killed others meanwhile for lack of memory.
    let (steps, undone) = match run_process(KillPart::Write)? {
        (ProcessEnd::Badly { signal: Some(9), .. }, Ok(KillMessage::Written { steps, undone })) => {
            (steps, undone)
        }
        ended => return Ok(describe_bad_end(ended)),
    };
    let is_undone = undone == Some(Ok(()));
    match run_process(KillPart::ReadBack { steps, undone: is_undone })? {
        (ProcessEnd::Well, Ok(KillMessage::Held)) => {
            let took_ns = start.elapsed().as_nanos() as u64;
            let why_not_undone = undone.and_then(|result| result.err());
            Ok(Ok(KillCheck::Held { steps, undone: is_undone, why_not_undone, took_ns }))
        }
        ended => Ok(describe_bad_end(ended)),
    }
}

/// Empties the folder of a trial's store.
pub fn empty(directory: &Path) -> Result<()> {
    guard::remove_made(directory)
        .and_then(|()| std::fs::create_dir(directory))
        .map_err(Error::io("emptying", directory))
}

/// The outcome if a process did not end as it should.
fn describe_bad_end(ended: ProcessOutcome<KillMessage>) -> CheckOutcome<KillCheck> {
    let failed = |reason, message: String| Err((reason, format!("kill check: {message}")));
    let not_made = |reason| Ok(KillCheck::NotMade { reason });
    match ended {
        (ProcessEnd::Unsaved(error), _) => not_made(format!("its report could not be written: {error}")),
        (_, Ok(KillMessage::Failed { reason: Failure::DiskFull, message })) => {
            not_made(format!("the disk is full: {message}"))
        }
        (_, Ok(KillMessage::Failed { reason, message })) => failed(reason, message),
        (ProcessEnd::Badly { reason, message, .. }, _) => failed(reason, message),
        (ProcessEnd::Well, Ok(message)) => {
            failed(Failure::Harness, format!("its process ended after it reported {message:?}"))
        }
        (ProcessEnd::Well, Err(error)) => {
            failed(Failure::Harness, format!("it left no readable result: {error}"))
        }
    }
}
