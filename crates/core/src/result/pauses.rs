//! Pauses, as results hold them.

use serde::{Deserialize, Serialize};

/// Calls that took long, and the work that the engine did for itself meanwhile.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pauses {
    /// A call that took longer is a pause, in nanoseconds.
    pub over_ns: u64,
    /// Calls that were made, and the time that they took together, in nanoseconds.
    pub calls: u64,
    /// That time.
    pub calls_ns: u64,
    /// Pauses.
    pub count: u64,
    /// The time that they took together, in nanoseconds.
    pub total_ns: u64,
    /// The longest, in nanoseconds.
    pub longest_ns: u64,
    /// The part of their time in which the calling thread was in a sync, in nanoseconds; absent where syncs are not seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync_ns: Option<u64>,
    /// The times at which the engine was asked for its own work after a pause, and without one.
    pub looks_after: u64,
    /// The latter.
    pub looks_otherwise: u64,
    /// The kinds of its own work that it tells of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub upkeep: Vec<Upkeep>,
}

/// A kind of work that an engine does for itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Upkeep {
    /// Its name.
    pub work: String,
    /// The looks after pauses that found it done since the look before.
    pub after: u64,
    /// The other looks that did.
    pub otherwise: u64,
}

impl Pauses {
    /// Those of several threads together.
    #[must_use]
    pub fn plus(self, other: Pauses) -> Pauses {
        let mut upkeep = self.upkeep;
        for theirs in other.upkeep {
            match upkeep.iter_mut().find(|mine| mine.work == theirs.work) {
                Some(mine) => {
                    mine.after += theirs.after;
                    mine.otherwise += theirs.otherwise;
                }
                None => upkeep.push(theirs),
            }
        }
        Pauses {
            over_ns: self.over_ns.max(other.over_ns),
            calls: self.calls + other.calls,
            calls_ns: self.calls_ns + other.calls_ns,
            count: self.count + other.count,
            total_ns: self.total_ns + other.total_ns,
            longest_ns: self.longest_ns.max(other.longest_ns),
            sync_ns: self.sync_ns.zip(other.sync_ns).map(|(mine, theirs)| mine + theirs),
            looks_after: self.looks_after + other.looks_after,
            looks_otherwise: self.looks_otherwise + other.looks_otherwise,
            upkeep,
        }
    }
}
