//! Running a study: a process per trial, interleaved, saved as it goes.

pub mod background;
mod check_process;
pub mod child;
mod child_process;
mod cut;
mod devices;
pub mod event;
mod kill;
pub mod limits;
mod locations;
mod pace;
pub mod parent;
pub mod progress;
mod recovery;
pub mod rehearsal;
pub mod run_request;
mod trial;
mod trial_ipc;
