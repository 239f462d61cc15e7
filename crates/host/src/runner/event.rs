//! Events of a run for its listeners. Measuring code never prints.

use std::time::Duration;

use storebench_core::workload::load_progress::LoadProgress;
use storebench_model::cell::Cell;
use storebench_model::result::TrialResult;

/// An event.
#[derive(Debug)]
#[allow(missing_docs)]
pub enum Event<'a> {
    /// The run starts or is resumed: `done` of its `total` trials ended earlier.
    Started { total: u64, done: u64 },
    /// Another block is added for precision.
    Extended { by: u64 },
    /// A trial begins.
    TrialStarted { cell: &'a Cell, position: u64, left: Option<Duration> },
    /// Progress of the trial in long work, such as loading; `None` when that is over.
    Loading { loading: Option<LoadProgress> },
    /// A trial has ended and its result is saved.
    TrialEnded { result: &'a TrialResult },
    /// Something of a trial can't be released now, and is left until the run ends or the next start.
    Left { why: &'a str },
    /// All is done, or the run was interrupted.
    Ended { interrupted: bool },
}

/// A receiver of events.
pub trait Listener {
    /// Receives an event.
    fn handle_event(&mut self, event: &Event<'_>);
}
