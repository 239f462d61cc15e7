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
    asked: &TrialContext<'_>,
    part: &CutPart,
    tell: impl Fn(&CutMessage) -> Result<(), TrialError>,
) -> Result<(), TrialError> {
    let failed = |ended: TrialError| match ended {
        TrialError::Failed(stop) => CutMessage::Failed(stop.message),
        TrialError::Unsupported(message) => CutMessage::Failed(message),
    };
    match part {
        CutPart::Record { steps, sessions, made } => {
            match record::record(asked, *steps, *sessions, *made, &tell) {
                Ok(never) => match never {},
                Err(ended) => tell(&failed(ended)),
            }
        }
        CutPart::Endure { steps } => match fault_writer::endure(asked, *steps, &tell) {
            Ok(never) => match never {},
            Err(ended) => tell(&failed(ended)),
        },
        CutPart::LookAfter { acknowledged } => {
            tell(&fault_writer::look_after(asked, acknowledged).unwrap_or_else(failed))
        }
        CutPart::Look { begun, made } => {
            #[cfg(target_os = "linux")]
            if let Err(error) = boot::another() {
                return tell(&CutMessage::Failed(format!(
                    "another boot could not be shown to the store: {error}"
                )));
            }
            tell(&check_state::check_state(asked, begun, *made).unwrap_or_else(failed))
        }
    }
}
