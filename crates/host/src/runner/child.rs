//! A trial's process: runs the workload of its task, and reports the measurements.

use std::fs;
use std::io::Write;
use std::path::Path;

use serde::Serialize;

use crate::folder::with_room;
use storebench_core::guard;
use storebench_core::measure::{disk_requests, limit, syncs};
use storebench_core::workload::clients::link::ClientConnector;
use storebench_core::workload::kill::{self, KillMessage};
use storebench_core::workload::spec::{CheckPart, KillPart, Report, Spec, TrialContext, TrialError};
use storebench_core::workload::step::TrialStep;
use storebench_core::workload::{cut, progress_shm, recover};
use storebench_model::error::{self, Error, Exit};
use storebench_model::result::{Failure, LimitKind, Measurements};
use storebench_model::server::processes;
use storebench_model::store::StoreDef;
use storebench_model::{library, lifeline};

/// Runs the trial that the file `spec` describes and writes its [`Report`] to the file `out`. `reach` is the way to clients. Fails when
/// either file can't be used; every other error is in the report. A disk that can't take the report has a separate exit code, which
/// `runner::child_process` knows.
pub fn main(stores: &[StoreDef], reach: ClientConnector, spec: &Path, out: &Path) -> error::Result<()> {
    let fail = |message: String| Error::new(Exit::Failure, message);
    let text = fs::read_to_string(spec).map_err(Error::io("reading", spec))?;
    let spec: Spec =
        serde_json::from_str(&text).map_err(|error| fail(format!("{}: {error}", spec.display())))?;
    lifeline::die_with_parent(spec.parent).map_err(fail)?;
    progress_shm::report_to_input().map_err(|error| fail(format!("using the input: {error}")))?;
    if let Some(folder) = &spec.disk {
        disk_requests::are_of(folder);
    }
    let stores = with_library(stores, &spec).map_err(fail)?;
    let context = TrialContext { stores: &stores, spec: &spec, reach: Some(reach) };
    if let Some(part) = &spec.part {
        return check(&context, part, out);
    }
    TrialStep::Preparing.begin();
    let report = match (spec.workload.def().run)(&context) {
        Ok(measured) => Report::Ok { measured: Box::new(with_warnings(measured, &spec)) },
        Err(TrialError::Failed(stop)) => Report::Failed { reason: stop.failure, message: stop.message },
        Err(TrialError::Unsupported(message)) => Report::Unsupported { message },
    };
    if let Report::Failed { message, .. } = &report {
        // For readers of the log; the report says the same.
        let _ = writeln!(std::io::stderr(), "{message}");
    }
    write(&report, out)
}

/// The stores, with those of the library that the trial's store comes from.
fn with_library(stores: &[StoreDef], spec: &Spec) -> Result<Vec<StoreDef>, String> {
    let mut stores = stores.to_vec();
    stores.extend(spec.library.as_ref().map_or_else(|| Ok(Vec::new()), library::load)?);
    if stores.iter().any(|store| store.name == spec.cell.store() && !store.capabilities.calls_are_seen) {
        syncs::are_not_seen();
    }
    Ok(stores)
}

/// Carries out a part of a check, and reports the outcome.
fn check(context: &TrialContext<'_>, part: &CheckPart, out: &Path) -> error::Result<()> {
    let folder = out.parent().unwrap_or(out);
    let outcome = match part {
        CheckPart::Kill(part) => return kill_check(context, *part, out),
        CheckPart::Cut(part) => cut::run(context, part, sender::<cut::CutMessage>(out)),
        CheckPart::Recover(part) => {
            recover::run(context, *part, folder, sender::<recover::RecoveryMessage>(out))
        }
    };
    outcome.map_err(|error| Error::new(Exit::Failure, format!("telling what came of a check: {error:?}")))
}

/// Carries out a part of a kill check, and reports the outcome.
fn kill_check(context: &TrialContext<'_>, part: KillPart, out: &Path) -> error::Result<()> {
    let outcome = match part {
        KillPart::Write => kill::write(context, out.parent().unwrap_or(out), sender::<KillMessage>(out)),
        KillPart::ReadBack { steps, undone } => kill::read_back(context, steps, undone),
    };
    let report = match outcome {
        Ok(()) => KillMessage::Held,
        Err(TrialError::Failed(stop)) => KillMessage::Failed { reason: stop.failure, message: stop.message },
        Err(TrialError::Unsupported(message)) => KillMessage::Failed { reason: Failure::Store, message },
    };
    write(&report, out)
}

fn sender<T: Serialize>(out: &Path) -> impl Fn(&T) -> Result<(), TrialError> {
    move |report| write(report, out).map_err(TrialError::harness)
}

/// Writes a report for the parent to the file `out`.
fn write(report: &impl Serialize, out: &Path) -> error::Result<()> {
    let fail = |message: String| Error::new(Exit::Failure, message);
    let text = serde_json::to_string(report).map_err(|error| fail(error.to_string()))?;
    let (Some(folder), Some(name)) = (out.parent(), out.file_name().and_then(|name| name.to_str())) else {
        return Err(fail(format!("{} is not the name of a file", out.display())));
    };
    with_room(folder, || {
        let mut file = guard::rewrite(folder, name)?;
        file.write_all(text.as_bytes()).map_err(Error::io("writing", out))
    })
}

/// The measurements, with warnings about operations that took more than their limits.
fn with_warnings(mut measured: Measurements, spec: &Spec) -> Measurements {
    let share = spec.limits.as_ref().and_then(|limits| limits.value_of(LimitKind::Share));
    // A server that is limited alone can't be separated from its client, whose time is not limited.
    let share = share.filter(|_| !processes::is_held_apart());
    let warnings = share.map(|millionths| limit::beyond_share(&measured, millionths));
    measured.warnings.extend(warnings.unwrap_or_default());
    measured
}
