//! Work beside a store's steps, as results hold it.

use serde::{Deserialize, Serialize};

/// Work that went on beside the steps, once in each round.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alongside {
    /// The work, in the engine's words where it is a backup.
    pub by: String,
    /// The time that it took in each round, in nanoseconds.
    pub took_ns: Vec<u64>,
    /// The part of that in which steps were going on, too, in each round, in nanoseconds.
    pub beside_ns: Vec<u64>,
    /// The space on disk of the backup that each round made; none where none was made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bytes: Vec<u64>,
    /// The calls of the steps that were under way at the same time as the work.
    pub beside: Calls,
    /// All others.
    pub otherwise: Calls,
}

/// Some calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calls {
    /// Their number.
    pub count: u64,
    /// The longest, in nanoseconds.
    pub longest_ns: u64,
}

impl Calls {
    /// One more, that took so long.
    #[inline]
    pub fn add(&mut self, ns: u64) {
        self.count += 1;
        self.longest_ns = self.longest_ns.max(ns);
    }

    /// Those of several threads together.
    #[must_use]
    pub fn plus(self, other: Calls) -> Calls {
        Calls { count: self.count + other.count, longest_ns: self.longest_ns.max(other.longest_ns) }
    }
}
