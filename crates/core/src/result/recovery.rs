//! The time that a store takes to open, after its process was killed and after it was closed, as results hold it.

use serde::{Deserialize, Serialize};

/// The outcome of a recovery check.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecoveryCheck {
    /// By number of records, from the fewest.
    #[serde(default)]
    pub sizes: Vec<Recovery>,
    /// Why there are no others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_made: Option<String>,
}

/// A store with so many records, killed several times, and closed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recovery {
    /// The records with which it was killed first.
    pub records: u64,
    /// Its openings after it was killed.
    pub killed: Vec<Reopened>,
    /// Its opening after it was closed by the process that had opened it after a kill: the second time. It was then given more records.
    pub closed: Reopened,
    /// The time of its first opening, which created it, in nanoseconds; 0 in results of earlier versions.
    #[serde(default)]
    pub created_ns: u64,
    /// Its opening after it was killed, with nothing of its files in memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cold_killed: Option<Reopened>,
    /// Its opening after it was closed, with nothing of its files in memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cold_closed: Option<Reopened>,
    /// Its opening after what it had not synced was undone and it was killed, as a power cut leaves it, with nothing of its files in memory;
    /// of a store at `power` whose writes can be seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<Reopened>,
    /// Why it has none, though it is at `power`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_cut: Option<String>,
    /// The means by which the page cache was emptied before these: `drop_caches` or `posix_fadvise`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_emptied_by: Option<String>,
}

/// A store that was opened again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reopened {
    /// The records that it had.
    pub records: u64,
    /// Those of them that were added since it had been opened before.
    pub added: u64,
    /// The time that opening took, in nanoseconds.
    pub open_ns: u64,
    /// The time from there until a first record was read, in nanoseconds.
    pub first_read_ns: u64,
    /// The time from there until that record was overwritten, in nanoseconds; 0 in results of earlier versions.
    #[serde(default)]
    pub first_write_ns: u64,
    /// Bytes that were taken from the system by read calls in all this time, not through mappings; absent where they can't be counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_bytes: Option<u64>,
    /// Bytes that had to be read from the disk in all this time, through mappings too; absent where they can't be counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fetched_bytes: Option<u64>,
    /// Memory that was resident after it, above that before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// The time that closing took, in nanoseconds, where it was closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub close_ns: Option<u64>,
}
