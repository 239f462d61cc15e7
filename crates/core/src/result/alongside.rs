//! Work beside a store's steps, as results hold it.

use serde::{Deserialize, Serialize};

/// Work that went on beside the steps, once in each round.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alongside {
    /// The work, in the engine's words where it is a backup.
    pub by: String,
    /// The time that it took in each round, in nanoseconds.
    pub took_ns: Vec<u64>,
    /// The space on disk of the backup that each round made; none where none was made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bytes: Vec<u64>,
}
