//! The time that a store takes to open after its process was killed, as results hold it.

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

/// A store with so many records, killed several times and closed once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recovery {
    /// The records with which it was killed first.
    pub records: u64,
    /// Its openings after it was killed.
    pub killed: Vec<Reopened>,
    /// Its opening after it was closed.
    pub closed: Reopened,
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
}
