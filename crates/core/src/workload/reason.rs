//! Why a combination is left out of a run. The program asks for the variant; people and `run.json` get the sentence.

use std::fmt;

use crate::cell::Cell;
use crate::result::LeftOut;
use crate::store::Guarantee;
use crate::units::{counted, rough_bytes};
use crate::workload::device::fault::Unsupported;

/// A combination that is left out.
#[derive(Debug, Clone, PartialEq)]
pub struct Omission {
    /// The combination.
    pub cell: Cell,
    /// Why.
    pub reason: Reason,
}

/// Why a combination is left out.
#[derive(Debug, Clone, PartialEq)]
pub enum Reason {
    /// No store of this name is in the table.
    UnknownStore(String),
    /// This build lacks the store, with what to do about it.
    NotBuilt(&'static str),
    /// The store offers no such guarantee.
    NotOffered {
        /// The store's name.
        store: &'static str,
        /// The guarantee that is asked for.
        guarantee: Guarantee,
    },
    /// A thread can read a value that another is writing.
    TornReads {
        /// The store's name.
        store: &'static str,
    },
    /// The store takes one session at a time.
    OneSession {
        /// The store's name.
        store: &'static str,
        /// The number of threads that are asked for.
        threads: u32,
    },
    /// The store keeps nothing when it is closed, as it must be for cold reads.
    KeepsNothing {
        /// The store's name.
        store: &'static str,
    },
    /// The store keeps nothing when it is closed, as it is to be between rounds.
    LosesRounds {
        /// The store's name.
        store: &'static str,
    },
    /// The store does not speak SQL, which the workload needs.
    NoSql {
        /// The store's name.
        store: &'static str,
    },
    /// The store has no transactions that read and write, which the workload needs.
    NoTransactions {
        /// The store's name.
        store: &'static str,
    },
    /// The store has no order, which the workload needs.
    NoOrder {
        /// The store's name.
        store: &'static str,
    },
    /// The store has no reader that can be held, which the workload needs.
    NoHeldReader {
        /// The store's name.
        store: &'static str,
    },
    /// The store can't make a backup while others write, which the workload needs.
    NoBackup {
        /// The store's name.
        store: &'static str,
    },
    /// The store gives no space back while others work, which the workload needs.
    NotBeside {
        /// The store's name.
        store: &'static str,
    },
    /// The work that is asked for contradicts itself; the text says how.
    Contradiction(String),
    /// No trace is named that was looked at.
    NoTrace,
    /// Its values pass the plan's limit.
    TooLarge {
        /// Of values, in bytes.
        bytes: f64,
        /// The limit, in bytes.
        limit_bytes: u64,
    },
    /// Its values alone are more than the store can hold.
    Outgrows {
        /// The store's name.
        store: &'static str,
        /// Of values, in bytes.
        bytes: f64,
        /// The most bytes that the store holds.
        most_bytes: u64,
    },
    /// The disk has no room for it.
    NoRoom {
        /// The bytes that it may take.
        needed_bytes: f64,
        /// The bytes that are free.
        free_bytes: u64,
    },
    /// The machine has less memory than it takes.
    NoMemory {
        /// The bytes that it takes.
        needed_bytes: f64,
        /// The bytes that the machine has.
        had_bytes: u64,
    },
    /// Caches are to have their share of the memory of a machine on which that is not limited.
    NothingToShare {
        /// The machine's name.
        machine: String,
    },
    /// The store's data are on a server that was running before, whatever the place, and one place takes part.
    PlaceElsewhere,
    /// The cache of a server that was running before can't be emptied.
    CacheElsewhere,
    /// A server that was running before can't be held to limits.
    MachineElsewhere,
    /// Other machines can reach a server that is running, and nothing else.
    NotForClients {
        /// The store's name.
        store: String,
    },
    /// There are fewer threads than clients to have them.
    FewThreads {
        /// The number of threads.
        threads: u32,
        /// The number of clients.
        clients: usize,
    },
    /// Past the page cache, files are always read cold.
    PassesCacheBy,
    /// A file can't be read or written so.
    Device(Unsupported),
    /// The store's server is not installed, with what to install.
    NoServer(String),
    /// The place can't be had on this machine, with what to do about it.
    NoPlace(String),
    /// The machine lacks what its background load needs, with what to do about it.
    NoBackground(String),
    /// Trials can't be held to the limits of its machine, with what would help.
    NoMachine(String),
}

/// Abilities that a store lacks by its nature and that a workload needs, as sentences say it.
const NO_SQL: &str = "does not speak SQL";
const NO_TRANSACTIONS: &str = "is opened without transactions that read and write";
const NO_BACKUP: &str = "has no way of its own to make a backup while others write";
const NOT_BESIDE: &str = "has no way to give space back while others work";
const NO_HELD_READER: &str = "has no reader for which records are kept as they were while others write";
const NO_ORDER: &str = "keeps no order to scan in";
const ONE_SESSION: &str = "takes one session at a time";

/// Whether a sentence of [`Reason`] says that the work does not apply to the store: nothing that could be changed would make it
/// do that.
pub fn is_not_applicable(sentence: &str) -> bool {
    // Its name has no blank in it.
    let lacks = sentence.split_once(' ').map_or("", |(_, lacks)| lacks);
    [NO_SQL, NO_TRANSACTIONS, NO_ORDER, NO_HELD_READER, NO_BACKUP, NOT_BESIDE, ONE_SESSION]
        .iter()
        .any(|lack| lacks.starts_with(lack))
}

impl Reason {
    /// Whether another machine, or another build, could run it.
    pub fn is_of_the_machine(&self) -> bool {
        use Reason::{NoBackground, NoMachine, NoMemory, NoPlace, NoRoom, NoServer, NotBuilt, UnknownStore};
        matches!(
            self,
            UnknownStore(_)
                | NotBuilt(_)
                | NoRoom { .. }
                | NoMemory { .. }
                | NoPlace(_)
                | NoServer(_)
                | NoBackground(_)
                | NoMachine(_)
        )
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::UnknownStore(name) => write!(f, "this version has no store {name}"),
            Reason::NotBuilt(why) => f.write_str(why),
            Reason::NotOffered { store, guarantee } => {
                write!(f, "{store} does not offer the guarantee {guarantee}")
            }
            Reason::TornReads { store } => write!(
                f,
                "with several threads, one can read a file of {store} that another is writing: set {store}.write=rename"
            ),
            Reason::OneSession { store, threads } => write!(f, "{store} {ONE_SESSION}, not {threads}"),
            Reason::KeepsNothing { store } => {
                write!(f, "{store} keeps nothing when it is closed, as it must be for cold reads")
            }
            Reason::LosesRounds { store } => {
                write!(f, "{store} keeps nothing when it is closed, as it is to be between rounds")
            }
            Reason::NoSql { store } => write!(f, "{store} {NO_SQL}"),
            Reason::NoTransactions { store } => write!(f, "{store} {NO_TRANSACTIONS}"),
            Reason::NoOrder { store } => write!(f, "{store} {NO_ORDER}"),
            Reason::NoHeldReader { store } => write!(f, "{store} {NO_HELD_READER}"),
            Reason::NoBackup { store } => write!(f, "{store} {NO_BACKUP}"),
            Reason::NotBeside { store } => write!(f, "{store} {NOT_BESIDE}"),
            Reason::Contradiction(why) => f.write_str(why),
            Reason::NoTrace => f.write_str("no trace is named: --trace FILE"),
            Reason::TooLarge { bytes, limit_bytes } => {
                let limit = rough_bytes(*limit_bytes as f64);
                write!(f, "{} of values: over the size limit of {limit}", rough_bytes(*bytes))
            }
            Reason::Outgrows { store, bytes, most_bytes } => {
                let most = rough_bytes(*most_bytes as f64);
                write!(f, "{} of values: {store} can hold {most} at most", rough_bytes(*bytes))
            }
            Reason::NoRoom { needed_bytes, free_bytes } => {
                let (needed, free) = (rough_bytes(*needed_bytes), rough_bytes(*free_bytes as f64));
                write!(f, "needs about {needed} of disk, and {free} are free")
            }
            Reason::NoMemory { needed_bytes, had_bytes } => {
                let (needed, had) = (rough_bytes(*needed_bytes), rough_bytes(*had_bytes as f64));
                write!(f, "needs about {needed} of memory, and the machine has {had}")
            }
            Reason::NothingToShare { machine } => write!(
                f,
                "tuning share is a share of the machine's memory, and the machine {machine} has no limit of memory: name one that has"
            ),
            Reason::PlaceElsewhere => {
                f.write_str("places don't apply to a server that is named by a URL: one takes part")
            }
            Reason::CacheElsewhere => {
                f.write_str("the cache of a server that is named by a URL can't be emptied")
            }
            Reason::MachineElsewhere => {
                f.write_str("a server that is named by a URL can't be held to a machine's limits")
            }
            Reason::NotForClients { store } => write!(
                f,
                "clients on other machines can use a running server alone, and {store} is none: name one with --url"
            ),
            Reason::FewThreads { threads, clients } => {
                write!(
                    f,
                    "{clients} clients can't share {}: name as many with --threads, or more",
                    counted(*threads, "thread")
                )
            }
            Reason::PassesCacheBy => {
                f.write_str("io passes the page cache by, so that cold is no different from warm")
            }
            Reason::Device(unsupported) => unsupported.fmt(f),
            Reason::NoServer(why)
            | Reason::NoPlace(why)
            | Reason::NoBackground(why)
            | Reason::NoMachine(why) => f.write_str(why),
        }
    }
}

/// As it is written down.
impl From<&Omission> for LeftOut {
    fn from(omission: &Omission) -> LeftOut {
        LeftOut { cell: omission.cell.clone(), reason: omission.reason.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs that were written before hold these sentences, and reports count what is left out by them.
    #[test]
    fn each_reason_is_a_sentence_that_stays_the_same() {
        let store = "redb";
        let sentences = [
            (Reason::UnknownStore("tape".into()), "this version has no store tape"),
            (Reason::NotBuilt("build with --features redb"), "build with --features redb"),
            (
                Reason::NotOffered { store, guarantee: Guarantee::Power },
                "redb does not offer the guarantee power",
            ),
            (
                Reason::TornReads { store: "flat-folder" },
                "with several threads, one can read a file of flat-folder that another is writing: set \
                 flat-folder.write=rename",
            ),
            (Reason::OneSession { store, threads: 4 }, "redb takes one session at a time, not 4"),
            (
                Reason::KeepsNothing { store },
                "redb keeps nothing when it is closed, as it must be for cold reads",
            ),
            (
                Reason::LosesRounds { store },
                "redb keeps nothing when it is closed, as it is to be between rounds",
            ),
            (Reason::NoSql { store }, "redb does not speak SQL"),
            (Reason::NoTransactions { store }, "redb is opened without transactions that read and write"),
            (Reason::NoOrder { store }, "redb keeps no order to scan in"),
            (
                Reason::NoHeldReader { store },
                "redb has no reader for which records are kept as they were while others write",
            ),
            (Reason::NoBackup { store }, "redb has no way of its own to make a backup while others write"),
            (Reason::NotBeside { store }, "redb has no way to give space back while others work"),
            (Reason::Contradiction("too few".into()), "too few"),
            (
                Reason::NothingToShare { machine: "here".into() },
                "tuning share is a share of the machine's memory, and the machine here has no limit of memory: name one that has",
            ),
            (Reason::CacheElsewhere, "the cache of a server that is named by a URL can't be emptied"),
            (Reason::MachineElsewhere, "a server that is named by a URL can't be held to a machine's limits"),
            (Reason::PlaceElsewhere, "places don't apply to a server that is named by a URL: one takes part"),
            (
                Reason::NotForClients { store: "redb".into() },
                "clients on other machines can use a running server alone, and redb is none: name one with --url",
            ),
            (
                Reason::FewThreads { threads: 1, clients: 2 },
                "2 clients can't share 1 thread: name as many with --threads, or more",
            ),
            (Reason::NoTrace, "no trace is named: --trace FILE"),
            (
                Reason::TooLarge { bytes: 3e9, limit_bytes: 1 << 30 },
                "2.79 GiB of values: over the size limit of 1.00 GiB",
            ),
            (
                Reason::Outgrows { store: "lmdb", bytes: 3e9, most_bytes: 1 << 30 },
                "2.79 GiB of values: lmdb can hold 1.00 GiB at most",
            ),
            (
                Reason::NoRoom { needed_bytes: 30e6, free_bytes: 4 << 20 },
                "needs about 28.6 MiB of disk, and 4.00 MiB are free",
            ),
            (
                Reason::NoMemory { needed_bytes: 3e9, had_bytes: 1 << 30 },
                "needs about 2.79 GiB of memory, and the machine has 1.00 GiB",
            ),
            (Reason::NoServer("apt-get install exampled".into()), "apt-get install exampled"),
            (Reason::NoBackground("apt-get install ffmpeg".into()), "apt-get install ffmpeg"),
            (Reason::NoMachine("memory can't be limited here".into()), "memory can't be limited here"),
        ];
        for (reason, sentence) in sentences {
            assert_eq!(reason.to_string(), sentence);
            let lacks = matches!(
                reason,
                Reason::NoSql { .. }
                    | Reason::NoTransactions { .. }
                    | Reason::NoOrder { .. }
                    | Reason::NoHeldReader { .. }
                    | Reason::NoBackup { .. }
                    | Reason::NotBeside { .. }
                    | Reason::OneSession { .. }
            );
            assert_eq!(is_not_applicable(sentence), lacks, "{sentence}");
            let omission = Omission { cell: Cell::default(), reason };
            assert_eq!(LeftOut::from(&omission).reason, sentence);
        }
    }
}
