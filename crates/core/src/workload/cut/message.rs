//! The reports of the processes of a cut check.

use serde::{Deserialize, Serialize};

use storebench_model::result::StateFinding;

/// An acknowledged step: the disk's log entries just before and after it, and its time in nanoseconds since the first step began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepMark {
    /// Entries before it.
    pub before: u64,
    /// Entries after it.
    pub after: u64,
    /// When it began.
    pub began_ns: u64,
    /// When it was acknowledged.
    pub ended_ns: u64,
}

/// A history, reported by its process.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedHistory {
    /// The steps of each session.
    pub sessions: Vec<Vec<StepMark>>,
    /// Entries of the log when it began to be opened: after what an administrator does once for a server.
    pub began: u64,
    /// Entries of the log when the store was open for the first time.
    pub opened: u64,
    /// Entries before and after each time that the store was asked to settle: after a third of the steps, and after two.
    pub settling: Vec<(u64, u64)>,
}

/// The finding in a state, reported by its process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateReport {
    /// [`StateFinding::Held`] wherever a number of first steps of each session explains what is there.
    pub finding: StateFinding,
    /// These numbers; empty where there are none.
    pub kept: Vec<u64>,
    /// The finding in words.
    pub message: String,
    /// The time that opening took, in nanoseconds.
    pub open_ns: Option<u64>,
    /// Whether the engine has checked its own files, and found no fault.
    #[serde(default)]
    pub verified: bool,
    /// Entries of the disk's log when all had been read, if it has one.
    pub logged: Option<u64>,
}

impl StateReport {
    /// A finding and its message, without other facts.
    pub fn new(finding: StateFinding, message: String) -> StateReport {
        StateReport { finding, kept: Vec::new(), message, open_ns: None, verified: false, logged: None }
    }
}

/// Steps on a disk with a fault, reported by their process before each step and at the end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultReport {
    /// Entries of the disk's log when the store was open.
    pub opened: u64,
    /// Bytes of the file system that opening it took.
    pub opening_bytes: u64,
    /// Why each step failed that was taken; `None` for one that was acknowledged.
    pub failed: Vec<Option<String>>,
    /// Whether all steps were taken.
    pub is_over: bool,
    /// Bytes that opening and all steps took.
    pub taken_bytes: u64,
    /// Bytes that were free at the end.
    pub left_bytes: u64,
}

impl FaultReport {
    /// The number of steps that failed, and the first of them.
    pub fn describe(&self) -> String {
        let steps = self.failed.len();
        let failed = self.failed.iter().flatten().count();
        match (0..).zip(&self.failed).find_map(|(number, why): (u64, _)| Some((number, why.as_ref()?))) {
            None => format!("none of {steps} calls failed"),
            Some((first, why)) => format!("{failed} of {steps} calls failed, first number {first} ({why})"),
        }
    }
}

/// The report of such a process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CutMessage {
    /// Its steps.
    Recorded(RecordedHistory),
    /// Its steps on a disk with a fault.
    Endured(FaultReport),
    /// The finding.
    Found(StateReport),
    /// It could not do its part.
    Failed(String),
}
