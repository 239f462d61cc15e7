//! The order of records and files, as age leaves it, as results hold it.

use serde::{Deserialize, Serialize};

/// A set was loaded, and written many times over.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fragmentation {
    /// The times of scans over all records after loading, in nanoseconds; none where the store has no order.
    pub fresh_scans_ns: Vec<u64>,
    /// The same at the end.
    pub aged_scans_ns: Vec<u64>,
    /// The files at the end, where the file system tells their places.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pieces: Option<Pieces>,
}

/// Files on a disk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pieces {
    /// Those that have a place there.
    pub files: u64,
    /// The pieces in which they lie there, all together.
    pub pieces: u64,
}
