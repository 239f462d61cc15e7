//! The task of a workload.

use std::time::Duration;

use storebench_model::cell::Rate;
use storebench_model::units::CountRange;

use crate::workload::driver::Visit;
use crate::workload::mix::{Mix, PhaseWork};
use crate::workload::operation::Operation;
use crate::workload::parameter::AfterLoad;

#[derive(Debug, Clone)]
pub(crate) struct Crud {
    /// The number of records that are loaded, and the number that inserts never pass.
    pub records: CountRange,
    /// Timed operations of each kind; for a mix, of all together.
    pub operations: u64,
    pub order: Vec<Operation>,
    /// Operations that alternate in one phase, in place of `order`.
    pub mix: Option<Mix>,
    pub batch: usize,
    pub after_load: AfterLoad,
    pub age: u32,
    pub visit: Visit,
    pub seed: u64,
    pub threads: u64,
    pub rate: Rate,
    /// How long each operation goes on, in place of a number.
    pub duration: Option<Duration>,
    /// Untimed operations of each kind before, on all threads together.
    pub warm_up: u64,
    /// Whether the store is reopened with an empty page cache before reads.
    pub cold: bool,
}

impl Crud {
    /// A phase's operations; `None` after the last.
    pub fn doing(&self, phase: usize) -> Option<PhaseWork> {
        match self.mix {
            Some(mix) => (phase == 0).then_some(PhaseWork::Mix(mix)),
            None => self.order.get(phase).copied().map(PhaseWork::One),
        }
    }

    pub fn includes(&self, operation: Operation) -> bool {
        (0..).map_while(|phase| self.doing(phase)).any(|doing| doing.includes(operation))
    }
}
