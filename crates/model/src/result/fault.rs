//! Faults of a disk, and what came of them, as results hold it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::words::words;

/// A kind of fault.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, strum::VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum FaultKind {
    ReadOnce,
    ReadForEver,
    WriteOnce,
    WriteForEver,
    ShortWrite,
    /// A flush fails, once, and what was written since the one before is lost.
    FlushOnce,
    FlushForEver,
    NoSpace,
    /// A bit of a file of the store's is another, at rest.
    BitFlip,
}

words!(FaultKind, every);

impl FaultKind {
    /// For tables.
    pub fn describe(self) -> &'static str {
        match self {
            FaultKind::ReadOnce => "a read fails once",
            FaultKind::ReadForEver => "reads fail from then on",
            FaultKind::WriteOnce => "a write fails once",
            FaultKind::WriteForEver => "writes fail from then on",
            FaultKind::ShortWrite => "a write writes half and fails",
            FaultKind::FlushOnce => "a flush fails once, its data lost",
            FaultKind::FlushForEver => "flushes fail from then on",
            FaultKind::NoSpace => "the file system is full",
            FaultKind::BitFlip => "a bit is flipped at rest",
        }
    }
}

/// The outcome of a fault.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, strum::VariantArray,
)]
#[serde(rename_all = "kebab-case")]
pub enum FaultOutcome {
    /// All is there, and no call failed.
    Unharmed,
    /// A call failed, and all that was acknowledged is there.
    #[serde(alias = "told")]
    Reported,
    /// The store does not open any more, or does not work: it says so.
    Refused,
    /// Acknowledged data is missing or wrong, without a word.
    Silent,
    /// The store's process crashed.
    Crashed,
    /// It was not done within its time.
    Hung,
    /// The file system could not be mounted: the store was not asked.
    FileSystem,
}

words!(FaultOutcome, every);

/// A fault after which acknowledged data was missing or wrong, without a word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SilentFault {
    /// The kind of fault.
    pub kind: FaultKind,
    /// The finding in words.
    pub message: String,
}

/// The faults that a store was put through.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultResults {
    /// The outcomes, by kind. A fault that did not strike is not among them.
    pub found: BTreeMap<FaultKind, BTreeMap<FaultOutcome, u64>>,
    /// The first silent one of each kind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub silent: Vec<SilentFault>,
    /// The time that it took, in nanoseconds.
    pub checked_ns: u64,
}

impl FaultResults {
    /// Notes one.
    pub fn note(&mut self, kind: FaultKind, outcome: FaultOutcome, message: String) {
        let count = self.found.entry(kind).or_default().entry(outcome).or_default();
        *count += 1;
        if outcome == FaultOutcome::Silent && *count == 1 {
            self.silent.push(SilentFault { kind, message });
        }
    }

    /// Adds another trial's counts.
    pub fn add(&mut self, other: &FaultResults) {
        for (kind, found) in &other.found {
            let counts = self.found.entry(*kind).or_default();
            found.iter().for_each(|(outcome, count)| *counts.entry(*outcome).or_default() += count);
        }
        self.silent.extend(other.silent.iter().cloned());
    }

    /// Faults of all kinds with some outcomes.
    pub fn all(&self, wanted: impl Fn(FaultOutcome) -> bool) -> u64 {
        let found = self.found.values().flatten().filter(|(outcome, _)| wanted(**outcome));
        found.map(|(_, count)| count).sum()
    }

    /// Faults of a kind with an outcome.
    pub fn count(&self, kind: FaultKind, outcome: FaultOutcome) -> u64 {
        self.found.get(&kind).and_then(|found| found.get(&outcome)).copied().unwrap_or_default()
    }
}

/// The outcome of a check of faults.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum FaultCheck {
    /// It was made.
    Made(FaultResults),
    /// There was none.
    NotMade {
        /// Why not.
        reason: String,
    },
}
