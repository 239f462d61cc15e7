//! A trial's measurements before anything is measured, and what they answer.

use super::{Cpu, Disk, Load, Measured, Memory, OperationResult, SPACE, Stored};
use crate::store::Guarantee;

impl Measured {
    /// What a trial's process took; nothing yet of what the trial did, or of what that left on disk.
    pub fn of_process(guarantee: Guarantee, memory: Memory, cpu: Cpu) -> Measured {
        Measured {
            guarantee,
            power_cut: None,
            store_version: String::new(),
            store_build: None,
            settings: Vec::new(),
            statistics: Vec::new(),
            load: Load::default(),
            operations: Vec::new(),
            settle_ns: 0,
            settle_counters: None,
            memory,
            cpu,
            disk: Disk::default(),
            stored: Stored::default(),
            written: None,
            device: None,
            processors: None,
            cache_emptied_by: None,
            cache_left_warm: None,
            audit: None,
            doubts: Vec::new(),
            unknown: Vec::new(),
        }
    }

    /// Why a figure can't be as it seems, if so.
    pub fn doubt(&self, figure: &str) -> Option<&str> {
        self.doubts.iter().find(|doubt| doubt.figure == figure).map(|doubt| doubt.reason.as_str())
    }

    /// Bytes of values over bytes allocated on disk; over 1 where compression wins. As in paper 000, keys don't count as data.
    /// `None` also where the space can't be as it seems.
    pub fn space_efficiency(&self) -> Option<f64> {
        (self.disk.allocated_bytes > 0 && self.doubt(SPACE).is_none())
            .then(|| self.stored.value_bytes as f64 / self.disk.allocated_bytes as f64)
    }

    /// What was measured of one operation.
    pub fn operation(&self, name: &str) -> Option<&OperationResult> {
        self.operations.iter().find(|operation| operation.operation == name)
    }
}
