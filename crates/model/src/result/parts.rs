//! The parts of a plan that a run has.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Some of the parts into which a plan was split, for machines that have a part each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanParts {
    /// Their numbers, from 1, in ascending order.
    pub parts: Vec<u32>,
    /// The number of parts of the whole plan.
    pub of: u32,
    /// The cells in these parts, including those that are left out.
    pub combinations: u64,
    /// The digest of the split: parts of one split alone make a whole.
    pub split: String,
}

impl PlanParts {
    /// The most parts of a plan: more than any plan has cells that are worth a machine.
    pub const MOST: u32 = 10_000;

    /// Whether a plan can have such parts.
    pub fn is_valid(&self) -> bool {
        let are_in_range = self.parts.iter().all(|part| (1..=self.of).contains(part));
        let are_rising = self.parts.is_sorted_by(|a, b| a < b);
        self.of <= PlanParts::MOST && are_in_range && are_rising && !self.parts.is_empty()
    }

    /// Whether they are all that there are.
    pub fn is_whole(&self) -> bool {
        self.parts.len() as u64 == u64::from(self.of)
    }
}

/// `part 3/8`, or `parts 1, 3 of 8`.
impl fmt::Display for PlanParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.parts.as_slice() {
            [only] => write!(f, "part {only}/{}", self.of),
            several => {
                let several: Vec<String> = several.iter().map(u32::to_string).collect();
                write!(f, "parts {} of {}", several.join(", "), self.of)
            }
        }
    }
}
