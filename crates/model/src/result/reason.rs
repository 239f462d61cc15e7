//! Why a cell is left out of a run: a value in the program and in `run.json`, a sentence for people.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::axis::device::values::{BLOCK_BYTES, SECTOR_BYTES};
use crate::store::Guarantee;
use crate::units::{exact_bytes, plural, rough_bytes};

/// Why a cell is left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[allow(missing_docs, reason = "the fields of a reason are named after what they hold")]
pub enum LeftOutReason {
    /// No store of this name is in the table.
    UnknownStore { store: String },
    /// This build lacks the store: what to do about it.
    NotBuilt { why: String },
    /// The store offers no such guarantee.
    NotOffered { store: String, guarantee: Guarantee },
    /// A thread can read a value that another is writing.
    TornReads { store: String },
    /// The store takes one session at a time.
    OneSession { store: String, threads: u32 },
    /// The store keeps nothing when it is closed, as it must be for cold reads.
    KeepsNothing { store: String },
    /// The store keeps nothing when it is closed, as it is to be between rounds.
    LosesRounds { store: String },
    /// The store does not speak SQL, which the workload needs.
    NoSql { store: String },
    /// The store has no transactions that read and write, which the workload needs.
    NoTransactions { store: String },
    /// The store has no order, which the workload needs.
    NoOrder { store: String },
    /// The store has no reader that can be held, which the workload needs.
    NoHeldReader { store: String },
    /// The store can't make a backup while others write, which the workload needs.
    NoBackup { store: String },
    /// The store reclaims no space while others work, which the workload needs.
    NoConcurrentReclaim { store: String },
    /// The work that is asked for contradicts itself.
    Contradiction { why: String },
    /// No trace is named that was looked at.
    NoTrace,
    /// Its values pass the plan's limit.
    TooLarge { bytes: f64, limit_bytes: u64 },
    /// Its values alone are more than the store can hold.
    Outgrows { store: String, bytes: f64, most_bytes: u64 },
    /// The disk has no room for it.
    NoRoom { needed_bytes: f64, free_bytes: u64 },
    /// The machine has less memory than it takes.
    NoMemory { needed_bytes: f64, had_bytes: u64 },
    /// Caches are to have their share of the memory of a machine on which that is not limited.
    NothingToShare { machine: String },
    /// The store's data are on a server that was running before, whatever the place, and one place takes part.
    PlaceElsewhere,
    /// The cache of a server that was running before can't be emptied.
    CacheElsewhere,
    /// A server that was running before can't be held to limits.
    MachineElsewhere,
    /// Other machines can reach a server that is running, and nothing else.
    NotForClients { store: String },
    /// There are fewer threads than clients to have them.
    FewThreads { threads: u32, clients: usize },
    /// Past the page cache, files are always read cold.
    BypassesCache,
    /// A file can't be read or written so.
    Device(UnsupportedReason),
    /// The store's server is not installed: what to install, or to do about it.
    NoServer { why: String },
    /// The place can't be had on this machine: what to install, or to do about it.
    NoPlace { why: String },
    /// The machine lacks what its background load needs: what to install, or to do about it.
    NoBackground { why: String },
    /// Trials can't be held to the limits of its machine: what to install, or to do about it.
    NoMachine { why: String },
    /// The store fails with these settings, or keeps less than was asked for: what a first trial of them showed.
    Refused { why: String },
    /// The store opens by default with these settings.
    OpensAsByDefault,
    /// The time was up before.
    NotReached,
    /// A run of format 1 holds this sentence, and nothing else.
    #[serde(skip)]
    Sentence(String),
}

impl LeftOutReason {
    /// Whether the work does not apply to the store: nothing that could be changed would make the store do it.
    pub fn is_not_applicable(&self) -> bool {
        matches!(
            self,
            LeftOutReason::NoSql { .. }
                | LeftOutReason::NoTransactions { .. }
                | LeftOutReason::NoOrder { .. }
                | LeftOutReason::NoHeldReader { .. }
                | LeftOutReason::NoBackup { .. }
                | LeftOutReason::NoConcurrentReclaim { .. }
                | LeftOutReason::OneSession { .. }
        )
    }

    /// Whether another machine, or another build, could run it.
    pub fn is_of_the_machine(&self) -> bool {
        matches!(
            self,
            LeftOutReason::UnknownStore { .. }
                | LeftOutReason::NotBuilt { .. }
                | LeftOutReason::NoRoom { .. }
                | LeftOutReason::NoMemory { .. }
                | LeftOutReason::NoPlace { .. }
                | LeftOutReason::NoServer { .. }
                | LeftOutReason::NoBackground { .. }
                | LeftOutReason::NoMachine { .. }
        )
    }
}

impl fmt::Display for LeftOutReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LeftOutReason::UnknownStore { store } => write!(f, "this version has no store {store}"),
            LeftOutReason::NotOffered { store, guarantee } => {
                write!(f, "{store} does not offer the guarantee {guarantee}")
            }
            LeftOutReason::TornReads { store } => write!(
                f,
                "with several threads, one can read a file of {store} that another is writing: set {store}.write=rename"
            ),
            LeftOutReason::OneSession { store, threads } => {
                write!(f, "{store} takes one session at a time, not {threads}")
            }
            LeftOutReason::KeepsNothing { store } => {
                write!(f, "{store} keeps nothing when it is closed, as it must be for cold reads")
            }
            LeftOutReason::LosesRounds { store } => {
                write!(f, "{store} keeps nothing when it is closed, as it is to be between rounds")
            }
            LeftOutReason::NoSql { store } => write!(f, "{store} does not speak SQL"),
            LeftOutReason::NoTransactions { store } => {
                write!(f, "{store} is opened without transactions that read and write")
            }
            LeftOutReason::NoOrder { store } => write!(f, "{store} keeps no order to scan in"),
            LeftOutReason::NoHeldReader { store } => {
                write!(f, "{store} has no reader for which records are kept as they were while others write")
            }
            LeftOutReason::NoBackup { store } => {
                write!(f, "{store} can't make a backup while others write")
            }
            LeftOutReason::NoConcurrentReclaim { store } => {
                write!(f, "{store} has no way to reclaim space while others work")
            }
            LeftOutReason::NoTrace => f.write_str("no trace is named: --trace FILE"),
            LeftOutReason::TooLarge { bytes, limit_bytes } => {
                let limit = rough_bytes(*limit_bytes as f64);
                write!(f, "{} of values: over the size limit of {limit}", rough_bytes(*bytes))
            }
            LeftOutReason::Outgrows { store, bytes, most_bytes } => {
                let most = rough_bytes(*most_bytes as f64);
                write!(f, "{} of values: {store} can hold {most} at most", rough_bytes(*bytes))
            }
            LeftOutReason::NoRoom { needed_bytes, free_bytes } => {
                let (needed, free) = (rough_bytes(*needed_bytes), rough_bytes(*free_bytes as f64));
                write!(f, "needs about {needed} of disk, and {free} are free")
            }
            LeftOutReason::NoMemory { needed_bytes, had_bytes } => {
                let (needed, available) = (rough_bytes(*needed_bytes), rough_bytes(*had_bytes as f64));
                write!(f, "needs about {needed} of memory, and the machine has {available}")
            }
            LeftOutReason::NothingToShare { machine } => write!(
                f,
                "tuning share is a share of the machine's memory, and the machine {machine} has no limit of memory: name one that has"
            ),
            LeftOutReason::PlaceElsewhere => {
                f.write_str("places don't apply to a server that is named by a URL: one takes part")
            }
            LeftOutReason::CacheElsewhere => {
                f.write_str("the cache of a server that is named by a URL can't be emptied")
            }
            LeftOutReason::MachineElsewhere => {
                f.write_str("a server that is named by a URL can't be kept within a machine's limits")
            }
            LeftOutReason::NotForClients { store } => write!(
                f,
                "clients on other machines can use a running server alone, and {store} is none: name one with --url"
            ),
            LeftOutReason::FewThreads { threads, clients } => {
                let threads = plural(*threads, "thread");
                write!(f, "{clients} clients can't share {threads}: name as many with --threads, or more")
            }
            LeftOutReason::BypassesCache => {
                f.write_str("io passes the page cache by, so that cold is no different from warm")
            }
            LeftOutReason::Device(unsupported) => unsupported.fmt(f),
            LeftOutReason::OpensAsByDefault => {
                f.write_str("with these records the store is opened as by default")
            }
            LeftOutReason::NotReached => f.write_str("not reached in time"),
            LeftOutReason::NotBuilt { why }
            | LeftOutReason::Contradiction { why }
            | LeftOutReason::NoServer { why }
            | LeftOutReason::NoPlace { why }
            | LeftOutReason::NoBackground { why }
            | LeftOutReason::NoMachine { why }
            | LeftOutReason::Refused { why }
            | LeftOutReason::Sentence(why) => f.write_str(why),
        }
    }
}

/// Why a cell of a file can't be measured, here or anywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "lack", rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum UnsupportedReason {
    #[error(
        "a block is a multiple of {} bytes, from {} to {}",
        SECTOR_BYTES,
        exact_bytes(*BLOCK_BYTES.start()),
        exact_bytes(*BLOCK_BYTES.end())
    )]
    BlockSize,
    #[error("each thread needs a separate block: the file must have at least {}", exact_bytes(*.least_bytes))]
    FileTooSmall { least_bytes: u64 },
    #[error("a read has nothing to sync")]
    NothingToSync,
    #[error("the file system refuses O_DIRECT")]
    DirectRefused,
    /// `O_DIRECT` takes other block sizes here, as a rule multiples of the device's logical blocks.
    #[error("O_DIRECT takes blocks in multiples of {} here", exact_bytes(*.multiple_of))]
    BlockUnaligned { multiple_of: u64 },
    /// The file can't be dropped from memory: no device is below it, or its bytes need not come from it.
    #[error("{percent} % of the file stays in memory when it is dropped from the page cache")]
    StaysInMemory { percent: u8 },
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::Cell;
    use crate::result::LeftOutCell;

    #[test]
    fn a_reason_is_written_as_a_value_and_its_sentence_is_known_of_format_1() {
        let store = || "redb".to_owned();
        let reasons = [
            LeftOutReason::NotOffered { store: store(), guarantee: Guarantee::Power },
            LeftOutReason::OneSession { store: store(), threads: 4 },
            LeftOutReason::NoSql { store: store() },
            LeftOutReason::NoTransactions { store: store() },
            LeftOutReason::NoOrder { store: store() },
            LeftOutReason::NoHeldReader { store: store() },
            LeftOutReason::NoBackup { store: store() },
            LeftOutReason::NoConcurrentReclaim { store: store() },
            LeftOutReason::TooLarge { bytes: 3e9, limit_bytes: 1 << 30 },
            LeftOutReason::CacheElsewhere,
            LeftOutReason::Device(UnsupportedReason::NothingToSync),
            LeftOutReason::NoPlace { why: "too few".into() },
        ];
        for reason in reasons {
            let sentence = reason.to_string();
            let left_out = LeftOutCell { cell: Cell::default(), reason };
            let written = serde_json::to_string(&left_out).unwrap();
            assert_eq!(serde_json::from_str::<LeftOutCell>(&written).unwrap(), left_out, "{written}");
            let old = serde_json::json!({ "cell": {}, "reason": sentence });
            let old: LeftOutCell = serde_json::from_value(old).unwrap();
            assert_eq!(old.reason.to_string(), sentence);
            assert_eq!(old.reason.is_not_applicable(), left_out.reason.is_not_applicable(), "{sentence}");
        }
        let reason = LeftOutReason::NotOffered { store: store(), guarantee: Guarantee::Process };
        let written = serde_json::to_value(LeftOutCell { cell: Cell::default(), reason }).unwrap();
        let expected = serde_json::json!({ "kind": "not-offered", "store": "redb", "guarantee": "process" });
        assert_eq!(written["reason"], expected);
    }

    #[test]
    fn a_sentence_of_format_1_stays_as_it_is() {
        let text = r#"{"cell":{},"reason":"too large for \u0022here\u0022"}"#;
        let old: LeftOutCell = serde_json::from_str(text).unwrap();
        assert_eq!(old.reason, LeftOutReason::Sentence("too large for \"here\"".into()));
        let text = r#"{"cell":{},"reason":"too large"}"#;
        assert_eq!(serde_json::to_string(&serde_json::from_str::<LeftOutCell>(text).unwrap()).unwrap(), text);
        let unknown = serde_json::from_str::<LeftOutCell>(r#"{"cell":{},"reason":{"kind":"tired"}}"#);
        assert!(unknown.unwrap_err().to_string().contains("unknown variant `tired`"));
    }
}
