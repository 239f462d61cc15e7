//! The cut check, in its processes: one writes to a store on a disk that logs all requests, and each of the others opens the
//! store as some power cut would have left it. The steps are those of the kill check.

#[cfg(target_os = "linux")]
mod boot;
mod check_state;
mod fault_writer;
mod in_place_store;
mod message;
mod opened;
mod record;
mod session_state;
pub mod step_progress;

pub use self::message::{CutMessage, FaultReport, RecordedHistory, StateReport, StepMark};
use crate::workload::spec::{CutPart, TrialContext, TrialError};

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
            match record::record(context, *steps, *sessions, *made, &report) {
                Ok(never) => match never {},
                Err(error) => report(&failure_message(error)),
            }
        }
        CutPart::Endure { steps } => match fault_writer::write_with_faults(context, *steps, &report) {
            Ok(never) => match never {},
            Err(error) => report(&failure_message(error)),
        },
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
