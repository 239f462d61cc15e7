//! Running a study: a process per trial, interleaved, saved as it goes.

pub mod background;
pub mod child;
mod cut;
mod devices;
pub mod event;
mod exchange;
pub mod job;
mod kill;
pub mod limits;
mod pace;
pub mod parent;
mod part;
mod places;
pub mod progress;
mod recovery;
pub mod rehearsal;
mod supervise;
mod trial;
