//! The states in which power cuts can leave a store, and what was found in them, as results hold it.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use storebench_disk::cut::Cut;

use crate::store::Guarantee;
use crate::units::{plural, with_commas};
use crate::words::words;

/// The finding in a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[derive(strum::VariantArray, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum StateFinding {
    /// All that was acknowledged is there, and the store works on.
    Held,
    /// The newest of what was acknowledged is missing, and nothing before it.
    Lost,
    /// Something is missing, and something newer is there.
    Hole,
    /// A record whose removal was acknowledged is there, and nothing else is amiss.
    Resurrected,
    /// A record has a value that is empty, cut short, or pieced together from values that it had.
    Torn,
    /// A record has a value that it never had, or the store counts records that it doesn't have.
    Wrong,
    /// The store can't be opened.
    Refused,
    /// It opens, and can't read, write, close or open again.
    Unusable,
    /// All is there, and the engine's own check of its files finds a fault.
    Unsound,
    /// It can't be opened or written to because the file system is full.
    NoSpace,
    /// It is not done within its time.
    Hung,
    /// Its process crashes.
    Crashed,
    /// The file system can't be mounted: the store was not asked.
    FileSystem,
}

words!(StateFinding, all);

impl StateFinding {
    /// Whether a guarantee lets a power cut cost that. A state that can't be mounted says nothing of the store.
    pub fn is_allowed(self, guarantee: Guarantee) -> bool {
        let is_held = matches!(self, StateFinding::Held | StateFinding::FileSystem);
        match guarantee {
            Guarantee::None => true,
            Guarantee::Process => is_held || self == StateFinding::Lost,
            Guarantee::Power | Guarantee::Node => is_held,
        }
    }

    /// The harm that it is, if a guarantee does not allow it; a store that does not open before anything was acknowledged can be
    /// deleted and made anew.
    pub fn harm(self, guarantee: Guarantee, is_unacknowledged: bool) -> Option<Harm> {
        if self.is_allowed(guarantee) {
            return None;
        }
        match self {
            StateFinding::Held | StateFinding::FileSystem => None,
            StateFinding::Lost | StateFinding::Wrong | StateFinding::Resurrected => Some(Harm::Lost),
            StateFinding::Torn => Some(Harm::Torn),
            StateFinding::Hole => Some(Harm::Hole),
            _ if is_unacknowledged => Some(Harm::Created),
            _ => Some(Harm::ByHand),
        }
    }

    /// For tables, about states: `in 3 the newest records are lost`.
    pub fn describe(self) -> &'static str {
        match self {
            StateFinding::Held => "all there",
            StateFinding::Lost => "newest lost",
            StateFinding::Hole => "hole",
            StateFinding::Resurrected => "removed is back",
            StateFinding::Torn => "torn value",
            StateFinding::Wrong => "wrong data",
            StateFinding::Refused => "not opened",
            StateFinding::Unusable => "unusable",
            StateFinding::Unsound => "own check fails",
            StateFinding::NoSpace => "no space",
            StateFinding::Hung => "hung",
            StateFinding::Crashed => "crashed",
            StateFinding::FileSystem => "not mounted",
        }
    }
}

/// The kinds of harm that a power cut does: by them evidence and labels are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, strum::VariantArray)]
pub enum Harm {
    /// Something that was acknowledged is gone or wrong.
    Lost,
    /// The store needs a hand before it opens or works.
    ByHand,
    /// The store needs a hand, before anything was acknowledged.
    Created,
    /// A value is torn.
    Torn,
    /// Something is missing, and something newer is there.
    Hole,
}

words!(Harm, every);

impl Harm {
    /// Whether it is a danger at a guarantee. `process` promises nothing of power cuts: there a store must open, and what it has be its own.
    pub fn is_danger(self, guarantee: Guarantee) -> bool {
        match guarantee {
            Guarantee::None => false,
            Guarantee::Process => matches!(self, Harm::Lost | Harm::ByHand),
            Guarantee::Power | Guarantee::Node => self != Harm::Created,
        }
    }

    /// For tables, after the number of states: `3 needed a hand to open`.
    pub fn describe(self) -> &'static str {
        match self {
            Harm::Lost => "lost what was acknowledged",
            Harm::ByHand => "needed a hand to open",
            Harm::Created => "broke while it was created",
            Harm::Torn => "had a torn value",
            Harm::Hole => "had a hole",
        }
    }
}

/// The part of a history in which a cut lies.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, strum::VariantArray,
)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// The store is created.
    Creating,
    /// It takes steps.
    Writing,
    /// It settles: it writes checkpoints, memory tables and what else it owes.
    Settling,
    /// It recovers from another cut.
    Recovering,
}

words!(Phase, every);

impl Phase {
    /// For tables: `cut while it was created`.
    pub fn describe(self) -> &'static str {
        match self {
            Phase::Creating => "was created",
            Phase::Writing => "took steps",
            Phase::Settling => "settled",
            Phase::Recovering => "recovered",
        }
    }
}

/// A state in which more is lost than its guarantee allows, so that it can be had again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BadState {
    /// Its number, by which it is drawn.
    pub number: u64,
    /// The finding.
    pub finding: StateFinding,
    /// The finding for people, with details.
    pub message: String,
    /// The log's entries before the cut, and the pieces after the last flush that were not written.
    pub cut: Cut,
    /// The part of the history in which it lies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// Steps of each session that were acknowledged before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acknowledged: Vec<u64>,
    /// Steps of each session that were begun before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub begun: Vec<u64>,
    /// The disk as it was kept: shrunk to the fewest pieces that have the same finding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<KeptState>,
}

impl BadState {
    /// Its name in a run: the position of its trial, and its number.
    pub fn name(&self, position: u64) -> String {
        format!("{position}.{}", self.number)
    }
}

/// A state that is kept, with all that is needed to make its disk again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptState {
    /// The file in the run's folder that has all that was written, compressed; from an empty disk on.
    pub file: String,
    /// The bytes of the disk.
    pub disk_bytes: u64,
    /// Entries of that log before the cut, and the pieces that are missing.
    pub cut: Cut,
    /// The pieces in words: which bytes of which file.
    pub missing: Vec<MissingPiece>,
    /// States that were looked at to shrink it.
    #[serde(alias = "looks")]
    pub states_tried: u64,
    /// Pieces that were missing before it was shrunk.
    pub pieces_before: u64,
}

/// A piece of a write that is missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingPiece {
    /// The first of its bytes on the disk.
    pub at: u64,
    /// Their number.
    pub bytes: u64,
    /// Whose they are.
    #[serde(flatten)]
    pub of: ByteOwner,
}

impl fmt::Display for MissingPiece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = plural(self.bytes, "byte");
        match &self.of {
            ByteOwner::File { path, from } => {
                let last = from.saturating_add(self.bytes.saturating_sub(1));
                write!(f, "bytes {} to {} of {path}", with_commas(*from), with_commas(last))
            }
            ByteOwner::Journal => write!(f, "{bytes} of the file system's journal"),
            ByteOwner::FileSystem => write!(f, "{bytes} of the file system's own, or of a file that is gone"),
        }
    }
}

/// The part of a file system to which bytes of a disk belong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "kebab-case")]
pub enum ByteOwner {
    /// A file of the store's, at a byte.
    File {
        /// Its path in the store's folder.
        path: String,
        /// The first of the bytes in the file.
        from: u64,
    },
    /// The file system's journal.
    Journal,
    /// None of these: directories, inodes, maps, or a file that is there no more.
    FileSystem,
}

/// Faults that the check must see, by which it is checked itself.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, strum::VariantArray,
)]
#[serde(rename_all = "kebab-case")]
pub enum Control {
    /// The disk ignores flushes: to it, a store never syncs.
    NoFlush,
    /// It ignores the last flush before the cut: a store forgets one.
    LastFlush,
    /// The last step counts as acknowledged before it was.
    EarlyAcknowledgement,
    /// A made store writes in place, without a journal.
    InPlace,
}

words!(Control, every);

impl Control {
    /// For tables: `where the disk ignores all flushes`.
    pub fn describe(self) -> &'static str {
        match self {
            Control::NoFlush => "the disk ignores all flushes",
            Control::LastFlush => "it ignores the last one",
            Control::EarlyAcknowledgement => "the last step counts as acknowledged too early",
            Control::InPlace => "a made store writes in place",
        }
    }
}

/// States of one kind, and how many of them have a finding.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingCount {
    /// States that were looked at.
    pub states: u64,
    /// States in which something was wrong.
    pub caught: u64,
}

impl FindingCount {
    /// Counts a state.
    pub fn note(&mut self, finding: StateFinding) {
        self.states += 1;
        self.caught += u64::from(finding != StateFinding::Held);
    }

    /// Adds others.
    pub fn add(&mut self, other: FindingCount) {
        self.states += other.states;
        self.caught += other.caught;
    }
}

fn one() -> u64 {
    1
}

/// The power cuts that were made up from one recorded history of a store.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CutResults {
    /// Steps that were acknowledged: inserts, updates, removals and batches.
    pub steps: u64,
    /// Sessions that shared them.
    #[serde(default = "one")]
    pub sessions: u64,
    /// Requests to the disk meanwhile.
    pub requests: u64,
    /// Flushes among them.
    pub flushes: u64,
    /// Bytes that the disk writes as a whole.
    pub whole_bytes: u64,
    /// States that were looked at, no two alike, by what was found in them.
    pub found: BTreeMap<StateFinding, u64>,
    /// The states cut before anything was acknowledged; older results lack them.
    #[serde(default)]
    pub unacknowledged: BTreeMap<StateFinding, u64>,
    /// The counts by the part of the history in which the states were cut.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub phases: BTreeMap<Phase, FindingCount>,
    /// The number of lost acknowledged steps, for each state that lost the newest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost_steps: Vec<u64>,
    /// For each such state, nanoseconds from the acknowledgement of the first lost step to the last before the cut.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost_ns: Vec<u64>,
    /// The time that opening took in each state in which it did not fail, in nanoseconds, on a disk that takes no time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open_ns: Vec<u64>,
    /// States in which the engine's own check of its files found no fault; 0 if it has no such check.
    #[serde(default)]
    pub verified: u64,
    /// The controls, by what is wrong.
    #[serde(default)]
    pub controls: BTreeMap<Control, FindingCount>,
    /// The first state of each finding and phase in which more is lost than the guarantee allows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bad: Vec<BadState>,
    /// The time of recording, in nanoseconds.
    pub recorded_ns: u64,
    /// Nanoseconds of checking all states, controls included.
    pub checked_ns: u64,
}

impl CutResults {
    /// States that were looked at.
    pub fn states(&self) -> u64 {
        self.found.values().sum()
    }

    /// States by the harm in them that a guarantee does not allow.
    pub fn harms(&self, guarantee: Guarantee) -> BTreeMap<Harm, u64> {
        let mut harms = BTreeMap::new();
        let mut add = |harm: Option<Harm>, states: u64| {
            harm.filter(|_| states > 0).map(|harm| *harms.entry(harm).or_default() += states)
        };
        for (finding, states) in &self.found {
            let unacknowledged = self.unacknowledged.get(finding).copied().unwrap_or_default();
            add(finding.harm(guarantee, true), unacknowledged);
            add(finding.harm(guarantee, false), states.saturating_sub(unacknowledged));
        }
        harms
    }

    /// Whether no state is kept yet with a finding in a part of the history.
    pub fn is_new(&self, finding: StateFinding, phase: Phase) -> bool {
        !self.bad.iter().any(|bad| (bad.finding, bad.phase) == (finding, Some(phase)))
    }

    /// States with a finding.
    pub fn count(&self, finding: StateFinding) -> u64 {
        self.found.get(&finding).copied().unwrap_or_default()
    }
}

/// The outcome of a cut check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum CutCheck {
    /// It was made.
    Made(Box<CutResults>),
    /// There was none.
    NotMade {
        /// Why not.
        reason: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_kept_of_each_finding_in_each_part_of_the_history() {
        let bad =
            r#"{"number":0,"finding":"refused","message":"","cut":{"at":0,"lost":[]},"phase":"creating"}"#;
        let cuts = CutResults { bad: vec![serde_json::from_str(bad).unwrap()], ..CutResults::default() };
        assert!(!cuts.is_new(StateFinding::Refused, Phase::Creating));
        assert!(cuts.is_new(StateFinding::Refused, Phase::Writing));
        assert!(cuts.is_new(StateFinding::Hole, Phase::Creating));
    }
}
