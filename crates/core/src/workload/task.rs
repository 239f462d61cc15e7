//! The task of a workload.

use std::time::Duration;

use crate::cell::Rate;
use crate::units::CountRange;
use crate::workload::driver::Visit;
use crate::workload::mix::{Doing, Mix};
use crate::workload::operation::Operation;
use crate::workload::parameter::AfterLoad;

/// The task of [`crate::workload::crud`].
#[derive(Debug, Clone)]
pub(crate) struct Crud {
    /// The number of records that are loaded, and the number that inserts never pass.
    pub records: CountRange,
    /// The number of timed operations of each kind; of a mix, of all together.
    pub operations: u64,
    /// Which operations, in this order.
    pub order: Vec<Operation>,
    /// Operations that alternate in one phase, in place of those in their order.
    pub mix: Option<Mix>,
    /// Records in a batch of the loader, at most.
    pub batch: usize,
    /// The moment when operations begin.
    pub after_load: AfterLoad,
    /// The times that each record is overwritten before.
    pub age: u32,
    /// The use of a value that is read.
    pub visit: Visit,
    /// Chooses the records.
    pub seed: u64,
    /// Sessions at work at once.
    pub threads: u64,
    /// The rate at which operations follow one another.
    pub rate: Rate,
    /// The time for which each operation goes on, whatever the number of operations.
    pub duration: Option<Duration>,
    /// Operations of each kind that are done first and not measured, on all threads together.
    pub warm_up: u64,
    /// Whether the store is opened anew, with the page cache empty, before values are read.
    pub cold: bool,
}

impl Crud {
    /// The operations in the phase of this number, from 0; `None` behind the last.
    pub fn doing(&self, phase: usize) -> Option<Doing> {
        match self.mix {
            Some(mix) => (phase == 0).then_some(Doing::Mix(mix)),
            None => self.order.get(phase).copied().map(Doing::One),
        }
    }

    /// Whether an operation is done in any phase.
    pub fn does(&self, operation: Operation) -> bool {
        (0..).map_while(|phase| self.doing(phase)).any(|doing| doing.does(operation))
    }
}
