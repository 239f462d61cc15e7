//! The checks of a store that follow its measurements.

use serde::{Deserialize, Serialize};

/// The records that were read back at a trial's end, when nothing was measured any more. All of it was right: else the
/// trial failed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Audit {
    /// Records that the store was to hold.
    pub records: u64,
    /// Records that were read back and compared, each time: all, or of very many a seeded sample.
    pub read_back: u64,
    /// Removed keys that were looked for right after they were removed, before they were put back, and were gone.
    pub seen_gone: u64,
    /// Records that were then removed for good, and were gone.
    pub removed: u64,
    /// The number of times that the store was closed and opened anew, and read each time; 0 for one that does not
    /// persist.
    pub reopened: u32,
    /// Its duration, in nanoseconds.
    pub took_ns: u64,
}

/// The outcome of killing a process that had written to the store, opened as in the trial, and of reading it back in a new one. A
/// store that lost anything has failed the trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum KillCheck {
    /// All that was acknowledged was there.
    Held {
        /// Acknowledged inserts, updates, removals and batches.
        steps: u64,
        /// Whether what was written and not synced was undone before the process was killed: at `power`, where writes can be seen.
        undone: bool,
        /// Why not, at `power`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why_not_undone: Option<String>,
        /// Its duration, in nanoseconds.
        took_ns: u64,
    },
    /// There was none.
    NotMade {
        /// Why not.
        reason: String,
    },
}
