//! Rounds: several runs of a workload on one database.

use serde::{Deserialize, Serialize};

use super::{Disk, OperationResult};

/// The name of the figure that compares the files after the last round with those after the first.
pub const DISK_GROWTH: &str = "disk_growth";

/// One round of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// The measurements of each operation in it; without series.
    pub operations: Vec<OperationResult>,
    /// The store's files after it: while the store is open, or when it was closed between rounds, as the plan says.
    pub disk: Disk,
}

impl Round {
    /// The measurements of one operation.
    pub fn operation(&self, name: &str) -> Option<&OperationResult> {
        self.operations.iter().find(|operation| operation.operation == name)
    }
}
