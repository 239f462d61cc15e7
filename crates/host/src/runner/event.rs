//! Events of a run, told to whoever listens. Measuring code never prints.

use std::time::Duration;

use storebench_core::cell::Cell;
use storebench_core::result::TrialResult;
use storebench_core::workload::loading::Loading;

/// Something that happened.
#[derive(Debug)]
#[allow(missing_docs)]
pub enum Event<'a> {
    /// The run starts or is resumed: `done` of its `total` trials have ended before.
    Started { total: u64, done: u64 },
    /// Another block is added, for the sake of precision.
    Extended { by: u64 },
    /// A trial begins.
    TrialStarted { cell: &'a Cell, position: u64, left: Option<Duration> },
    /// The progress of the trial at hand in long work, such as loading what it needs; `None` when that is over.
    Loading { loading: Option<Loading> },
    /// A trial has ended and its result is saved.
    TrialEnded { result: &'a TrialResult },
    /// Something of a trial is left until the run ends or the next start, as it can't be given back now.
    Left { why: &'a str },
    /// All is done, or the run was interrupted.
    Ended { interrupted: bool },
}

/// Someone who is told.
pub trait Listener {
    /// Is told.
    fn hear(&mut self, event: &Event<'_>);
}
