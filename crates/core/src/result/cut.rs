//! The states in which power cuts can leave a store, and what was found in them, as results hold it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use storebench_disk::cut::Cut;

/// The finding in a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finding {
    /// All that was acknowledged is there, and the store works on.
    Held,
    /// The newest of what was acknowledged is missing, and nothing before it.
    Lost,
    /// Something is missing, and something newer is there.
    Hole,
    /// A record has a value that it never had, or the store counts records that it doesn't have.
    Wrong,
    /// The store can't be opened.
    Refused,
    /// It opens, and can't read, write, close or open again.
    Unusable,
    /// It is not done within its time.
    Hung,
    /// Its process crashes.
    Crashed,
    /// The file system can't be mounted: the store was not asked.
    FileSystem,
}

impl Finding {
    /// All, in the order in which reports show them.
    pub const ALL: [Finding; 9] = [
        Finding::Held,
        Finding::Lost,
        Finding::Hole,
        Finding::Wrong,
        Finding::Refused,
        Finding::Unusable,
        Finding::Hung,
        Finding::Crashed,
        Finding::FileSystem,
    ];

    /// In words, of states: `in 3 the newest records are lost`.
    pub fn words(self) -> &'static str {
        match self {
            Finding::Held => "all there",
            Finding::Lost => "newest lost",
            Finding::Hole => "hole",
            Finding::Wrong => "wrong data",
            Finding::Refused => "not opened",
            Finding::Unusable => "unusable",
            Finding::Hung => "hung",
            Finding::Crashed => "crashed",
            Finding::FileSystem => "not mounted",
        }
    }
}

/// A state that was not held, so that it can be had again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BadState {
    /// Its number, by which it is drawn.
    pub number: u64,
    /// The finding.
    pub finding: Finding,
    /// The same in words, with what was found.
    pub message: String,
    /// The log's entries before the cut, and the pieces after the last flush that were not written.
    pub cut: Cut,
}

/// Disks that don't do what they say, by which the check itself is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Control {
    /// It ignores flushes.
    NoFlush,
    /// It ignores the last flush before the cut.
    LastFlush,
}

impl Control {
    /// Both.
    pub const ALL: [Control; 2] = [Control::NoFlush, Control::LastFlush];
}

/// The states of a control.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caught {
    /// States that were looked at.
    pub states: u64,
    /// Those in which something was found to be wrong.
    pub caught: u64,
}

/// The power cuts that were made up from one recorded history of a store.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cuts {
    /// Steps that were acknowledged: inserts, updates, removals and batches.
    pub steps: u64,
    /// Requests to the disk meanwhile.
    pub requests: u64,
    /// Flushes among them.
    pub flushes: u64,
    /// Bytes that the disk writes as a whole.
    pub whole_bytes: u64,
    /// States that were looked at, no two alike, by what was found in them.
    pub found: BTreeMap<Finding, u64>,
    /// Of each state in which the newest is lost: acknowledged steps that are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost_steps: Vec<u64>,
    /// Of each such state: the time from the acknowledgement of the first step that is lost to that of the last before the cut, in
    /// nanoseconds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost_ns: Vec<u64>,
    /// The controls, by what is wrong with their disk.
    #[serde(default)]
    pub controls: BTreeMap<Control, Caught>,
    /// The first states of each kind that did not hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bad: Vec<BadState>,
    /// The time of recording, in nanoseconds.
    pub recorded_ns: u64,
    /// The time of looking at all states, those of controls included, in nanoseconds.
    pub checked_ns: u64,
}

impl Cuts {
    /// States that were looked at.
    pub fn states(&self) -> u64 {
        self.found.values().sum()
    }

    /// States with a finding.
    pub fn of(&self, finding: Finding) -> u64 {
        self.found.get(&finding).copied().unwrap_or_default()
    }
}

/// The outcome of a cut check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum CutCheck {
    /// It was made.
    Made(Box<Cuts>),
    /// There was none.
    NotMade {
        /// Why not.
        reason: String,
    },
}
