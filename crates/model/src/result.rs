//! Results as they are written: the header of a run (`run.json`) and one [`TrialResult`] per line of `results.jsonl`
//! (docs/results.md). A change that an older reader would misread raises [`FORMAT_VERSION`].

mod clients;
mod cut;
mod fault;
pub mod format1;
mod location;
mod machine;
mod measured;
mod parts;
mod pauses;
mod reason;
mod simulated;

use serde::{Deserialize, Serialize};
pub use storebench_disk::counts::{Clocks, Counts, KindCounts, Requests};
pub use storebench_disk::cut::Cut;
pub use storebench_disk::device::DeviceTally;
pub use storebench_disk::transit::Transit;

pub use self::clients::{ClientPhase, ClientReport};
pub use self::cut::{
    BadState, ByteOwner, Control, CutCheck, CutResults, FindingCount, Harm, KeptState, MissingPiece, Phase,
    StateFinding,
};
pub use self::fault::{FaultCheck, FaultKind, FaultOutcome, FaultResults, SilentFault};
pub use self::location::{LocationInfo, StorageBacking};
pub use self::machine::{LimitKind, LimitReport, ProfileReport};
pub use self::measured::LIBRARY_SYNCS;
pub use self::measured::{
    Audit, Burst, COUNTED_BY_LIBRARY, CallStatistics, ConcurrentCalls, ConcurrentWork, Cpu, DISK,
    DISK_GROWTH, Disk, Epoch, FilePieces, Fragmentation, KillCheck, Latency, Memory, ReclaimResult, Recovery,
    RecoveryCheck, Reopening, ResourceSeries, Rest, Round, SPACE, SeriesPoint, SpaceReclaim, StoredRecords,
    UnknownFigure, Warning, WrittenRecords,
};
pub use self::parts::PlanParts;
pub use self::pauses::{Pauses, Samples, UpkeepCount};
pub use self::reason::{LeftOutReason, UnsupportedReason};
pub use self::simulated::{DiskReport, PhaseRequests};
use crate::cell::Cell;
use crate::store::{Guarantee, Library, Loss, Setting, StoreBuild};
use crate::words::words;

/// The sources of what is written there, for the reference: their comments are its text.
pub const SOURCES: [&str; 10] = [
    include_str!("result.rs"),
    include_str!("result/location.rs"),
    include_str!("result/machine.rs"),
    include_str!("result/simulated.rs"),
    include_str!("result/measured.rs"),
    include_str!("result/clients.rs"),
    include_str!("result/pauses.rs"),
    include_str!("result/cut.rs"),
    include_str!("result/fault.rs"),
    include_str!("result/parts.rs"),
];

/// The version of the formats in a run folder.
pub const FORMAT_VERSION: u32 = 3;
/// The oldest version that is still read.
pub const OLDEST_FORMAT: u32 = 1;

/// `run.json`: what a run is, written before its first trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunHeader {
    /// [`FORMAT_VERSION`] of the program that wrote it.
    pub format: u32,
    /// The storebench version that wrote it.
    pub storebench: String,
    /// The study's name.
    pub study: String,
    /// The preset of the study, if one was applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// The study's title.
    pub title: String,
    /// The name under which results are shown and merged, by default the host's.
    pub hardware: String,
    /// When the run was started: RFC 3339, UTC.
    pub started: String,
    /// The command line, so that the run can be repeated.
    pub command: Vec<String>,
    /// The plan as it was run, after preset and options, as TOML.
    pub plan: String,
    /// The machine.
    pub environment: Environment,
    /// The locations of files, by name.
    #[serde(alias = "places")]
    pub locations: Vec<LocationInfo>,
    /// The stores that take part.
    pub stores: Vec<StoreInfo>,
    /// Combinations that were left out, each with its reason.
    pub left_out: Vec<LeftOutCell>,
    /// The blocks after which interim analyses were planned, with the blocks of earlier runs of the same answer; intervals must
    /// allow for them. Empty if nothing was to stop the run early.
    #[serde(alias = "looks", default, skip_serializing_if = "Vec::is_empty")]
    pub interim_analyses: Vec<u32>,
    /// Whether the analyses before the last are strict: together they take little of the allowed error, and the last takes the
    /// rest. Otherwise each takes as much.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub strict_early: bool,
    /// Blocks of these cells that earlier runs of the same answer measured; this run's seeds follow theirs.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub blocks_before: u32,
    /// The parts of the plan that it has, if it has not the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<PlanParts>,
}

/// A cell that was left out of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LeftOutCell {
    /// The cell.
    pub cell: Cell,
    /// Why.
    #[serde(with = "format1")]
    pub reason: LeftOutReason,
}

/// A store that takes part in a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreInfo {
    /// Its name.
    pub name: String,
    /// The engine's version.
    pub version: String,
    /// Whether it is a server, a separate process behind a socket.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub server: bool,
    /// The user's library that it comes from, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub library: Option<Library>,
}

/// The machine that a run was made on. What can't be known is `None`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// The processor's name.
    pub cpu: Option<String>,
    /// Logical processors.
    pub cores: u32,
    /// Memory in bytes.
    pub memory_bytes: Option<u64>,
    /// The kernel: system and release.
    pub kernel: String,
    /// The distribution's name and version.
    pub distribution: Option<String>,
    /// `none`, or the hypervisor or container as far as it shows.
    pub virtualisation: Option<String>,
    /// The processors' frequency governor.
    pub governor: Option<String>,
    /// Load average over one minute when the run was started.
    pub load_1min: Option<f64>,
    /// The cost of one reading of the clock, in nanoseconds.
    pub clock_ns: f64,
    /// The clock: `tsc`, or the system's.
    pub clock: String,
    /// A digest of the system's machine-id, which tells machines of one name apart without revealing it. Absent if there is none,
    /// and in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine_id: Option<String>,
}

/// One trial's line in `results.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialResult {
    /// [`FORMAT_VERSION`] of the program that wrote it.
    pub format: u32,
    /// The cell, by axis; axes at their defaults are absent.
    pub cell: Cell,
    /// The block, from 0: in each block every cell runs once.
    pub block: u32,
    /// The position within the run, from 0.
    pub position: u64,
    /// When it was started: RFC 3339, UTC.
    pub started: String,
    /// How long its process lived, in seconds.
    pub wall_s: f64,
    /// Seconds before and after it: finding a folder and deleting what the store left. Absent in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage_s: Option<f64>,
    /// Load average over one minute when it was started.
    pub load_1min: Option<f64>,
    /// The processors that other programs kept busy during it, on average, without the trial, its server and load, and
    /// storebench. Absent if unknown, and in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others_processors: Option<f64>,
    /// The load that ran during it, and the share of the time in which the load made progress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background: Option<BackgroundReport>,
    /// The limits that it ran under, and what took effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<ProfileReport>,
    /// The simulated disk under its file system, what it counted, and how late it answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<DiskReport>,
    /// Nanoseconds to make an empty file in the location just before. Some file systems are slow for minutes after mass deletions.
    pub file_creation_ns: Option<u64>,
    /// What the machine did during the trial, second by second; absent of short trials.
    #[serde(alias = "course", default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<ResourceSeries>,
    /// Whether it succeeded, and why not.
    pub outcome: Outcome,
    /// The measurements, if it succeeded.
    pub measured: Option<Measurements>,
}

/// A background load's report of itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BackgroundReport {
    /// The work that it did, in words, such as `decoded 1280x720 video by ffmpeg`.
    pub description: String,
    /// The unit of its progress, such as `frames`.
    pub unit: String,
    /// Its progress during the trial.
    pub progress: f64,
    /// The share of the trial's time during which it made progress: 1 if it was at work throughout.
    pub at_work_share: f64,
}

/// The outcome of a trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "lowercase")]
pub enum Outcome {
    /// Every operation succeeded and every value read was right.
    Ok,
    /// It did not; nothing of it counts as a measurement.
    Failed {
        /// The kind of failure.
        reason: Failure,
        /// The message: what happened, in a sentence.
        message: String,
        /// The log of its process, relative to the run folder.
        log: String,
    },
    /// The store, the machine or the system can't do this; nothing is wrong.
    Unsupported {
        /// The missing need, and what to install or who to be.
        message: String,
    },
}

impl Outcome {
    /// Puts the cause before what a trial reported about a bad end.
    pub fn blame(&mut self, reason: Failure, why: &str) {
        let (trial_message, log) = match self {
            Outcome::Ok => return,
            Outcome::Failed { message, log, .. } => (std::mem::take(message), std::mem::take(log)),
            Outcome::Unsupported { message } => (std::mem::take(message), String::new()),
        };
        *self = Outcome::Failed { reason, message: format!("{why}; the trial said: {trial_message}"), log };
    }
}

/// The kind of failure that ended a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[derive(strum::VariantNames)]
#[strum(serialize_all = "kebab-case")]
pub enum Failure {
    /// The store gave an error.
    Store,
    /// A value read was wrong, short or missing, or a removed record was still there.
    WrongData,
    /// It promised `power` and made fewer syncs than that takes, or lost what it had acknowledged and not synced.
    Unsynced,
    /// The disk is full.
    DiskFull,
    /// The process was killed for memory.
    OutOfMemory,
    /// The process ended by a signal.
    Crashed,
    /// The time limit passed.
    TimedOut,
    /// The harness itself failed.
    Harness,
}

words!(Failure);

/// The measurements of one trial.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Measurements {
    /// The guarantee that the store really gave.
    pub guarantee: Guarantee,
    /// What a power cut can cost, if the workload compares settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_cut: Option<Loss>,
    /// The engine's version.
    pub store_version: String,
    /// The build of the engine, as far as it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store_build: Option<StoreBuild>,
    /// The settings, as read back.
    pub settings: Vec<Setting>,
    /// The engine's statistics at the end.
    pub statistics: Vec<Setting>,
    /// The loading of the records before the first operation.
    pub load: Load,
    /// The measurements of each operation, in the order in which they ran; of all rounds together.
    pub operations: Vec<OperationResult>,
    /// Each round, if there were several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<Round>,
    /// The time that the store took to settle after the last operation, in nanoseconds.
    pub settle_ns: u64,
    /// Counters of the process while the store settled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settle_counters: Option<Counters>,
    /// Memory of the process.
    pub memory: Memory,
    /// Processor time of the process from before the store was opened until it had settled.
    pub cpu: Cpu,
    /// Files on disk after settling and closing.
    pub disk: Disk,
    /// The records in the store at the end.
    pub stored: StoredRecords,
    /// The records handed to the store over the whole trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<WrittenRecords>,
    /// The block device under the location, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<Device>,
    /// All processors of the machine during the trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processors: Option<Processors>,
    /// The means by which the page cache was emptied before the reads of a cold cell: `drop_caches` or `posix_fadvise`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_emptied_by: Option<String>,
    /// Data that may still have been in memory then, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_left_warm: Option<String>,
    /// The audit after all figures had been taken; absent if the store keeps nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audit: Option<Audit>,
    /// The kill check after the trial; absent below `process`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kill_check: Option<KillCheck>,
    /// The cut check after the trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_check: Option<CutCheck>,
    /// The check of faults; absent if none were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault_check: Option<FaultCheck>,
    /// The time of opening after a kill; absent if it was not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery_check: Option<RecoveryCheck>,
    /// What `life` found when most records were removed and space was reclaimed.
    #[serde(alias = "giving_back", default, skip_serializing_if = "Option::is_none")]
    pub space_reclaim: Option<SpaceReclaim>,
    /// Scans and files of an aged set, of `life`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fragmentation: Option<Fragmentation>,
    /// Bursts, each at another load, of `life`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bursts: Vec<Burst>,
    /// Calls that took long, of `life`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pauses: Option<Pauses>,
    /// Backups and large batches during the steps, of `life`.
    #[serde(alias = "alongside", default, skip_serializing_if = "Option::is_none")]
    pub concurrent_work: Option<ConcurrentWork>,
    /// Other machines that made the load.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clients: Vec<ClientReport>,
    /// Figures that can't be right, and are never ranked.
    #[serde(alias = "doubts", default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// Figures that this machine cannot give, each with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<UnknownFigure>,
}

fn is_zero<N: Default + PartialEq>(number: &N) -> bool {
    *number == N::default()
}

/// Counters of the process over one phase of a trial: all its threads, the engine's own included.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Calls that wait for written data to become durable. They are fsync, fdatasync, msync with MS_SYNC, sync_file_range that
    /// waits, syncfs, sync, and writes to files opened with O_DSYNC or O_SYNC. `None` where they can't be counted.
    pub syncs: Option<u64>,
    /// Time within these calls, added over the threads, in nanoseconds.
    pub sync_ns: Option<u64>,
    /// Calls by name.
    #[serde(default, skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    pub syncs_by_call: std::collections::BTreeMap<String, u64>,
    /// Bytes handed to the system by write calls (wchar); not what goes through mappings.
    pub written_bytes: Option<u64>,
    /// Bytes taken from the system by read calls (rchar).
    pub read_bytes: Option<u64>,
    /// Page faults served from memory.
    pub minor_faults: u64,
    /// Page faults that had to read a disk.
    pub major_faults: u64,
    /// Context switches because a thread waited.
    pub voluntary_switches: u64,
    /// Context switches because a thread's time was over.
    pub involuntary_switches: u64,
    /// Processor time with the server's, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ns: Option<u64>,
    /// The duration of the phase, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ns: Option<u64>,
    /// The requests that the simulated disk answered during it, whoever made them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<Requests>,
}

impl Counters {
    /// Both together; a counter that either lacks is missing.
    pub fn plus(mut self, other: &Counters) -> Counters {
        let sum = |first: Option<u64>, second: Option<u64>| Some(first? + second?);
        for (call, number) in &other.syncs_by_call {
            *self.syncs_by_call.entry(call.clone()).or_default() += number;
        }
        Counters {
            syncs: sum(self.syncs, other.syncs),
            sync_ns: sum(self.sync_ns, other.sync_ns),
            syncs_by_call: self.syncs_by_call,
            written_bytes: sum(self.written_bytes, other.written_bytes),
            read_bytes: sum(self.read_bytes, other.read_bytes),
            minor_faults: self.minor_faults + other.minor_faults,
            major_faults: self.major_faults + other.major_faults,
            voluntary_switches: self.voluntary_switches + other.voluntary_switches,
            involuntary_switches: self.involuntary_switches + other.involuntary_switches,
            cpu_ns: sum(self.cpu_ns, other.cpu_ns),
            took_ns: sum(self.took_ns, other.took_ns),
            disk: self.disk.zip(other.disk.as_ref()).map(|(first, second)| first.plus(second)),
        }
    }
}

/// Traffic of the whole block device under the place (its own counters in /sys/block).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Device {
    /// Its name.
    pub name: String,
    /// Whether others may write to it too: true unless it is an image of storebench's own.
    pub shared: bool,
    /// The traffic from before the store was opened until the last operation had returned.
    pub burst: Traffic,
    /// The traffic from before the store was opened until it had settled and all was synced.
    pub settled: Traffic,
    /// Bytes written to it per second, in an idle second before the run's first trial.
    pub idle_written_bytes_per_s: Option<f64>,
}

/// Bytes and requests of a block device.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Traffic {
    pub read_bytes: u64,
    pub written_bytes: u64,
    /// Commands to empty the device's cache; `None` before Linux 5.5.
    pub flushes: Option<u64>,
}

impl Traffic {
    /// The traffic since `earlier`.
    pub fn since(&self, earlier: &Traffic) -> Traffic {
        Traffic {
            read_bytes: self.read_bytes.saturating_sub(earlier.read_bytes),
            written_bytes: self.written_bytes.saturating_sub(earlier.written_bytes),
            flushes: self.flushes.zip(earlier.flushes).map(|(now, before)| now.saturating_sub(before)),
        }
    }
}

/// Shares of processor time, from /proc/stat: of the whole machine during the trial, or of the processors that the trial may use
/// during an operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Processors {
    pub idle_share: f64,
    pub io_wait_share: f64,
}

/// Loading, before the first operation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// Records loaded.
    pub records: u64,
    /// Bytes of their values.
    pub value_bytes: u64,
    /// Time within the store's calls, in nanoseconds.
    pub store_ns: u64,
    /// Counters of the process over the loading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counters: Option<Counters>,
    /// The writes that aged the set afterwards, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aged: Option<AgingPass>,
    /// The rest after it; absent if operations began at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest: Option<Rest>,
}

/// The records that were loaded were overwritten before the first operation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgingPass {
    /// The times that each was.
    pub times: u32,
    /// Time within the store's calls, in nanoseconds.
    pub store_ns: u64,
}

/// The operation that stands for all others together, where a workload does several in turn.
pub const OVERALL: &str = "overall";

/// The measurements of one operation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct OperationResult {
    /// `insert`, `get`, `update`, `remove`, ...
    pub operation: String,
    /// Operations that were timed.
    pub count: u64,
    /// Operations that failed.
    pub errors: u64,
    /// Wall time from before the first to after the last, in nanoseconds. It includes making and checking values, and no warm-up.
    /// With several threads from the start of the first to the end of the last.
    pub wall_ns: u64,
    /// Sum of the latencies, in nanoseconds.
    pub sum_ns: u64,
    /// The time that `count` is a rate over, in nanoseconds: see [`OperationResult::per_second`]. Absent if it is `sum_ns`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_over_ns: Option<u64>,
    /// The share of the threads' wall time that the harness spent between calls of a closed loop, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harness_share: Option<f64>,
    /// Value bytes written or read.
    pub value_bytes: u64,
    /// Operations done first, to warm up, and not counted.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub warm_up: u64,
    /// Records put back, untimed, so that there is always one to remove.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub put_back: u64,
    /// Transactions that were repeated because of another one; the latency is the time of all attempts.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub conflicts: u64,
    /// Bytes that reached the block device during it, whoever wrote them; absent if not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_written_bytes: Option<u64>,
    /// Bytes that were read from the block device during it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_read_bytes: Option<u64>,
    /// The time of all processors of the machine over it; absent if not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processors: Option<Processors>,
    /// Latency of single operations.
    pub latency: Latency,
    /// Counters of the process over the operation. They include warming up, putting records back, and in an open loop
    /// waiting. Only the syncs of warm-ups and of records put back are left out, as far as the threads at work made
    /// them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counters: Option<Counters>,
    /// The requests to a simulated disk, if the operation has no counters: its phase's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase_disk: Option<PhaseRequests>,
    /// Second by second, if it took longer than one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<SeriesPoint>,
    /// Epoch by epoch, if the workload has epochs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub epochs: Vec<Epoch>,
}

impl TrialResult {
    /// All the time that it took of the run, in seconds: its process, and what came before and after it.
    pub fn took_s(&self) -> f64 {
        self.wall_s + self.stage_s.unwrap_or(0.0)
    }

    /// The measurements, if the trial succeeded.
    pub fn ok(&self) -> Option<&Measurements> {
        match self.outcome {
            Outcome::Ok => self.measured.as_ref(),
            Outcome::Failed { .. } | Outcome::Unsupported { .. } => None,
        }
    }
}
