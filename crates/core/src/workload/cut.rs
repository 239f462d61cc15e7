//! The cut check, in its processes: one writes to a store on a disk that logs all requests, and each of the others opens the
//! store as some power cut would have left it. The steps are those of the kill check.

#[cfg(target_os = "linux")]
mod boot;
mod check_state;
mod fault_writer;
mod in_place_store;
mod message;
mod record;
mod session_state;
pub mod step_progress;

use std::path::Path;

use storebench_disk::counts;
use storebench_model::store::{Batch, Store};

pub use self::message::{CutMessage, FaultReport, RecordedHistory, StateReport, StepMark};
use crate::workload::spec::{CutPart, TrialContext, TrialError};
use crate::workload::step::TrialStep;
use crate::workload::{kill, store_trial};

/// Does a part, and reports its result. The recording part does not return: its store must not be closed.
pub fn run(
    context: &TrialContext<'_>,
    part: &CutPart,
    report: impl Fn(&CutMessage) -> Result<(), TrialError>,
) -> Result<(), TrialError> {
    let failure_message = |error: TrialError| match error {
        TrialError::Failed(stop) => CutMessage::Failed(stop.message),
        TrialError::Unsupported(message) => CutMessage::Failed(message),
    };
    match part {
        CutPart::Record { steps, sessions, made } => {
            let Err(error) = record::record(context, *steps, *sessions, *made, &report);
            report(&failure_message(error))
        }
        CutPart::Endure { steps } => {
            let Err(error) = fault_writer::write_with_faults(context, *steps, &report);
            report(&failure_message(error))
        }
        CutPart::LookAfter { acknowledged } => {
            report(&fault_writer::check_after_faults(context, acknowledged).unwrap_or_else(failure_message))
        }
        CutPart::Look { begun, made } => {
            #[cfg(target_os = "linux")]
            if let Err(error) = boot::restart_with_new_boot_id() {
                return report(&CutMessage::Failed(format!(
                    "another boot could not be shown to the store: {error}"
                )));
            }
            report(&check_state::check_state(context, begun, *made).unwrap_or_else(failure_message))
        }
    }
}

/// Opens the check's store, or the made one that writes in place.
fn open(context: &TrialContext<'_>, is_control: bool, step: TrialStep) -> Result<Box<dyn Store>, TrialError> {
    if is_control {
        return in_place_store::open(&context.spec.directory).map_err(store_trial::unsupported_or_failed);
    }
    kill::open(context, step)
}

fn batch_capability(context: &TrialContext<'_>, is_control: bool) -> Result<Batch, TrialError> {
    let (def, _) = store_trial::find(context.stores, context.spec.cell.store())?;
    Ok(if is_control { Batch::Atomic } else { def.capabilities.batch })
}

/// The entries of a disk's log so far; `None` without a log.
fn log_length(disk: &Path) -> Result<Option<u64>, TrialError> {
    let counts = counts::read(disk);
    Ok(counts.map_err(|error| TrialError::harness(format!("asking the disk: {error}")))?.logged)
}

/// The entries of the log of a disk that must have one.
fn required_log_length(disk: &Path) -> Result<u64, TrialError> {
    log_length(disk)?.ok_or_else(|| TrialError::harness("the disk keeps no log"))
}
