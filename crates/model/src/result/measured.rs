//! The parts of a trial's measurements, and the questions that they answer.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{CutCheck, CutResults, Measurements, OperationResult, Pauses};
use crate::store::Guarantee;

/// Memory of the trial's process, in bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// Resident before the store was opened, with the harness's own buffers filled.
    pub base_bytes: u64,
    /// The peak of resident memory, less the base.
    pub peak_above_base_bytes: u64,
    /// The same without pages of mapped files, which the kernel can drop at any time. It is the peak less those above the base that were
    /// resident when the last operation had returned, and no less than all else that was resident then. No kernel tells the peak
    /// of all else: one that was reached while fewer such pages were resident is understated by the difference, one reached
    /// while more were is overstated. Absent where the kernel does not count these pages, and in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_without_mapped_files_bytes: Option<u64>,
    /// The most that the trial's cgroup was charged for at once: resident memory, page cache, and what the kernel keeps for both.
    /// It counts from just before the store was opened until the last operation had returned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_with_page_cache_bytes: Option<u64>,
}

/// Processor time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Cpu {
    pub user_ns: u64,
    pub system_ns: u64,
}

impl Cpu {
    /// The time that was used since `earlier`.
    pub fn since(&self, earlier: &Cpu) -> Cpu {
        Cpu {
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
        }
    }
}

/// The store's files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Disk {
    /// Blocks allocated to files and folders, as `du` counts.
    pub allocated_bytes: u64,
    /// The files' lengths.
    pub apparent_bytes: u64,
    /// Number of files.
    pub files: u64,
}

/// Records in the store.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct StoredRecords {
    pub records: u64,
    pub key_bytes: u64,
    pub value_bytes: u64,
}

/// Records handed to the store over a trial: loaded (again each time that inserts filled the store), inserted, updated, put back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct WrittenRecords {
    pub records: u64,
    pub key_bytes: u64,
    pub value_bytes: u64,
}

impl WrittenRecords {
    /// Both together.
    pub fn plus(self, other: WrittenRecords) -> WrittenRecords {
        WrittenRecords {
            records: self.records + other.records,
            key_bytes: self.key_bytes + other.key_bytes,
            value_bytes: self.value_bytes + other.value_bytes,
        }
    }

    /// Keys and values.
    pub fn bytes(&self) -> u64 {
        self.key_bytes + self.value_bytes
    }
}

/// The distribution of an operation's latency in nanoseconds, and the full histogram.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Latency {
    pub mean_ns: f64,
    pub stdev_ns: f64,
    pub min_ns: u64,
    pub p50_ns: u64,
    pub p90_ns: u64,
    pub p99_ns: u64,
    pub p999_ns: u64,
    pub max_ns: u64,
    /// The histogram: HdrHistogram V2 format with deflate, in base64.
    pub histogram: String,
}

/// The wait, before the first operation, for what loading had left the store to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rest {
    /// Its duration, in nanoseconds.
    pub took_ns: u64,
    /// Whether the store had come to rest; if not, it was still at work when the longest wait was over.
    pub at_rest: bool,
}

/// The state of the machine during a trial, second by second.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ResourceSeries {
    /// When each second ended, in seconds since the trial's process was started.
    pub at_s: Vec<f64>,
    /// A value for each of these seconds, by figure (docs/results.md). A figure that could not always be read is missing.
    pub figures: BTreeMap<String, Vec<f64>>,
}

/// The name of the figure that compares the files after the last round with those after the first.
pub const DISK_GROWTH: &str = "disk_growth";

/// One round of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// The measurements of each operation in it; without series.
    pub operations: Vec<OperationResult>,
    /// The store's files after it: while the store is open, or when it was closed between rounds, as the plan says.
    pub disk: Disk,
}

impl Round {
    /// The measurements of one operation.
    pub fn operation(&self, name: &str) -> Option<&OperationResult> {
        self.operations.iter().find(|operation| operation.operation == name)
    }
}

/// One second of an operation, for time series.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct SeriesPoint {
    /// Seconds since the phase began.
    pub at_s: u32,
    /// Operations that ended in it.
    pub count: u64,
    pub p50_ns: u64,
    pub p99_ns: u64,
    pub max_ns: u64,
    /// When it began, in milliseconds since the trial's process was started; absent where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_trial_ms: Option<u64>,
}

/// One epoch of an operation, where a workload is looked at by epochs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Epoch {
    /// When it began, in milliseconds since the phase did.
    pub at_ms: u64,
    /// Its duration, in milliseconds: the last one may be shorter than the others.
    pub lasted_ms: u64,
    /// Operations that ended in it.
    pub count: u64,
    /// Mean latency in nanoseconds, to three digits.
    pub mean_ns: f64,
    pub p50_ns: u64,
    pub p99_ns: u64,
    pub p999_ns: u64,
    pub max_ns: u64,
}

/// A figure that can't be as it seems.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// The figure's name: [`SPACE`], [`DISK_GROWTH`] or an operation's.
    pub figure: String,
    /// Why not.
    pub reason: String,
}

/// The name of the figure that space efficiency comes from.
pub const SPACE: &str = "space";

/// The name of the files' figures where they are unknown.
pub const DISK: &str = "disk";

/// A figure that can't be known on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct UnknownFigure {
    pub figure: String,
    pub reason: String,
}

/// Records read back at a trial's end, all of them right: otherwise the trial failed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Audit {
    /// Records that the store was to hold.
    pub records: u64,
    /// Records that were read back and compared, each time: all, or of very many a seeded sample.
    pub read_back: u64,
    /// Removed keys that were looked for right after they were removed, before they were put back, and were gone.
    pub seen_gone: u64,
    /// Records that were then removed for good, and were gone.
    pub removed: u64,
    /// How often the store was closed, opened anew and read; 0 if it does not persist.
    pub reopened: u32,
    /// Its duration, in nanoseconds.
    pub took_ns: u64,
}

/// What a new process found after one that had written to the store, opened as in the trial, was killed. A store that lost
/// anything has failed the trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum KillCheck {
    /// All that was acknowledged was there.
    Held {
        /// Acknowledged inserts, updates, removals and batches.
        steps: u64,
        /// Whether what was written and not synced was undone before the process was killed: at `power`, where writes can be seen.
        undone: bool,
        /// Why not, at `power`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why_not_undone: Option<String>,
        /// Its duration, in nanoseconds.
        took_ns: u64,
    },
    /// There was none.
    NotMade {
        /// Why not.
        reason: String,
    },
}

/// Other work during the steps, once in each round.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConcurrentWork {
    /// The work; for a backup, in the engine's words.
    pub by: String,
    /// The time that it took in each round, in nanoseconds.
    pub took_ns: Vec<u64>,
    /// The part of that in which steps were going on, too, in each round, in nanoseconds.
    #[serde(alias = "beside_ns")]
    pub during_steps_ns: Vec<u64>,
    /// The space on disk of the backup that each round made; none where none was made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bytes: Vec<u64>,
    /// The calls of the steps that were under way at the same time as the work.
    #[serde(alias = "beside")]
    pub during: CallStatistics,
    /// All others.
    pub otherwise: CallStatistics,
}

/// Some calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallStatistics {
    /// Their number.
    pub count: u64,
    /// The longest, in nanoseconds.
    pub longest_ns: u64,
}

impl CallStatistics {
    /// Adds a call of `ns` nanoseconds.
    #[inline]
    pub fn add(&mut self, ns: u64) {
        self.count += 1;
        self.longest_ns = self.longest_ns.max(ns);
    }

    /// Adds other threads' calls.
    #[must_use]
    pub fn plus(self, other: CallStatistics) -> CallStatistics {
        CallStatistics { count: self.count + other.count, longest_ns: self.longest_ns.max(other.longest_ns) }
    }
}

/// Steps by a schedule: evenly, for a 60th of the period many times as often, evenly again, and after a pause. Latency counts
/// from when a step was due.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Burst {
    /// The share of the speed that the store had shown before, in per cent.
    pub percent: f64,
    /// The steps of a second, outside of the burst.
    pub per_second: f64,
    /// So many times as many came in the burst.
    pub times: f64,
    /// The time from the begin until the pause was over, in nanoseconds.
    pub period_ns: u64,
    /// Latencies of all steps.
    pub latency: Latency,
    /// The steps of the burst.
    pub steps: u64,
    /// Steps before the first that took more than 10 ms.
    pub within_10_ms: u64,
    /// Steps before the first that took more than 100 ms.
    pub within_100_ms: u64,
    /// The longest latency in the burst, and between it and the pause, in nanoseconds.
    pub longest_ns: u64,
    /// The time from the burst's end until a step came that did not wait for those before it, in nanoseconds; absent where none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovered_ns: Option<u64>,
    /// Whether that came only with the pause, in which no steps come.
    #[serde(default)]
    pub in_pause: bool,
    /// Steps that were left out: the store was so late that they had not begun when all should have ended twice.
    #[serde(default)]
    pub left_out: u64,
    /// The calls that took long, and the work that the engine did for itself; absent in results of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pauses: Option<Pauses>,
}

/// A set was loaded, and written many times over.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fragmentation {
    /// The times of scans over all records after loading, in nanoseconds; none where the store has no order.
    pub fresh_scans_ns: Vec<u64>,
    /// Times of scans at the end.
    pub aged_scans_ns: Vec<u64>,
    /// The files at the end, if the file system reports their extents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pieces: Option<FilePieces>,
}

/// Files on a disk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilePieces {
    /// Files with a place on the disk.
    pub files: u64,
    /// The pieces in which they lie there, all together.
    pub pieces: u64,
}

/// Most records of a store were removed. All files are measured while it is closed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpaceReclaim {
    /// The records that were removed.
    pub removed: u64,
    /// Bytes of the values that are left.
    pub value_bytes: u64,
    /// The time that removing took, in nanoseconds.
    pub remove_ns: u64,
    /// The store's files afterwards.
    pub disk: Disk,
    /// The result of the engine's own way to reclaim space; `None` if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compacted: Option<ReclaimResult>,
}

/// Space was reclaimed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReclaimResult {
    /// What did it: `VACUUM`.
    pub by: String,
    /// The time that it took, in nanoseconds.
    pub took_ns: u64,
    /// The most that the files took meanwhile, as far as that was seen: they were looked at every few milliseconds.
    pub peak_bytes: u64,
    /// The files afterwards.
    pub disk: Disk,
    /// The calls of others meanwhile, if there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meanwhile: Option<ConcurrentCalls>,
}

/// The calls of others during space reclaim, and as many before it as show what they take without.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct ConcurrentCalls {
    pub reads: CallStatistics,
    pub writes: CallStatistics,
    pub reads_before: CallStatistics,
    pub writes_before: CallStatistics,
    /// The calls that the engine refused, and its message. Each was its thread's last meanwhile, and succeeded when repeated afterwards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// The outcome of a recovery check.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecoveryCheck {
    /// By number of records, rising.
    #[serde(default)]
    pub sizes: Vec<Recovery>,
    /// Why there are no others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_made: Option<String>,
}

/// A store of one number of records, killed several times, and closed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recovery {
    /// The records with which it was killed first.
    pub records: u64,
    /// Its openings after it was killed.
    pub killed: Vec<Reopening>,
    /// Its opening after it was closed by the process that had opened it after a kill: the second time. It was then given more records.
    pub closed: Reopening,
    /// The time of its first opening, which created it, in nanoseconds; 0 in results of earlier versions.
    #[serde(default)]
    pub created_ns: u64,
    /// Its opening after it was killed, with nothing of its files in memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cold_killed: Option<Reopening>,
    /// Its opening after it was closed, with nothing of its files in memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cold_closed: Option<Reopening>,
    /// Opening it after unsynced writes were undone and it was killed, as after a power cut, with none of its files in memory;
    /// for a store at `power` whose writes are seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<Reopening>,
    /// Why it has none, though it is at `power`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_cut: Option<String>,
    /// The means by which the page cache was emptied before these: `drop_caches` or `posix_fadvise`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_emptied_by: Option<String>,
}

/// A store that was opened again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reopening {
    /// The records that it had.
    pub records: u64,
    /// Records added since the opening before.
    pub added: u64,
    /// The time that opening took, in nanoseconds.
    pub open_ns: u64,
    /// The time from there until a first record was read, in nanoseconds.
    pub first_read_ns: u64,
    /// The time from there until that record was overwritten, in nanoseconds; 0 in results of earlier versions.
    #[serde(default)]
    pub first_write_ns: u64,
    /// Bytes that were taken from the system by read calls in all this time, not through mappings; absent where they can't be counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_bytes: Option<u64>,
    /// Bytes that had to be read from the disk in all this time, through mappings too; absent where they can't be counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fetched_bytes: Option<u64>,
    /// Memory that was resident after it, above that before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Nanoseconds of closing it, if it was closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub close_ns: Option<u64>,
}

/// The name of the syncs that a library counts itself.
pub const COUNTED_BY_LIBRARY: &str = "syncs, as the library counts them";
/// For a library that counts no syncs.
pub const LIBRARY_SYNCS: &str = "syncs of the library";

impl Measurements {
    /// Whether nothing but the library's own report says that it keeps `power`: its calls are not seen.
    pub fn is_self_reported(&self) -> bool {
        let is_counted_by_library =
            self.statistics.iter().any(|statistic| statistic.name == COUNTED_BY_LIBRARY);
        let is_unknown = self.unknown.iter().any(|unknown| unknown.figure == LIBRARY_SYNCS);
        self.guarantee >= Guarantee::Power && (is_counted_by_library || is_unknown)
    }

    /// The states after power cuts, where they were looked at.
    pub fn cuts(&self) -> Option<&CutResults> {
        match self.cut_check.as_ref()? {
            CutCheck::Made(cuts) => Some(cuts),
            CutCheck::NotMade { .. } => None,
        }
    }

    /// Why a figure can't be as it seems, if so.
    pub fn warning(&self, figure: &str) -> Option<&str> {
        self.warnings.iter().find(|warning| warning.figure == figure).map(|warning| warning.reason.as_str())
    }

    /// The space that the store's files take; `None` where that is unknown.
    pub fn known_disk(&self) -> Option<&Disk> {
        self.unknown.iter().all(|unknown| unknown.figure != DISK).then_some(&self.disk)
    }

    /// Space efficiency, the figure of paper 000: bytes of values over bytes allocated on disk; over 1 with compression. Keys
    /// don't count. `None` also for a misleading figure.
    pub fn space_efficiency(&self) -> Option<f64> {
        (self.disk.allocated_bytes > 0 && self.warning(SPACE).is_none())
            .then(|| self.stored.value_bytes as f64 / self.disk.allocated_bytes as f64)
    }

    /// Space amplification: bytes allocated on disk per byte of values; under 1 with compression. `None` also if nothing is
    /// stored, and for a misleading figure.
    pub fn space_amplification(&self) -> Option<f64> {
        self.space_efficiency().filter(|efficiency| *efficiency > 0.0).map(|efficiency| 1.0 / efficiency)
    }

    /// Disk space after the last round over that after the first. `None` with one round, without files after the first, and for a
    /// misleading figure.
    pub fn disk_growth(&self) -> Option<f64> {
        let [first, .., last] = self.rounds.as_slice() else { return None };
        let is_known = first.disk.allocated_bytes > 0 && self.warning(DISK_GROWTH).is_none();
        is_known.then(|| last.disk.allocated_bytes as f64 / first.disk.allocated_bytes as f64)
    }

    /// The measurements of one operation.
    pub fn operation(&self, name: &str) -> Option<&OperationResult> {
        self.operations.iter().find(|operation| operation.operation == name)
    }
}

impl OperationResult {
    /// Operations per second: for one thread in a closed loop, over the time in the store's calls; for several threads, and in an
    /// open loop, where latencies overlap and include waiting, over wall time. `None` if none was timed.
    pub fn per_second(&self) -> Option<f64> {
        let over_ns = self.rate_over_ns.unwrap_or(self.sum_ns);
        (over_ns > 0).then(|| self.count as f64 / (over_ns as f64 / 1e9))
    }

    /// Value bytes per second over the same time. `None` if none was timed, and for operations without values.
    pub fn bytes_per_second(&self) -> Option<f64> {
        let bytes_each = self.value_bytes as f64 / self.count.max(1) as f64;
        self.per_second().map(|per_second| per_second * bytes_each).filter(|rate| *rate > 0.0)
    }
}
