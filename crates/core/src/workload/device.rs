//! Reads and writes of one file, in sequence or at random: what a location gives without a store, to compare stores with.
//!
//! An operation is a `pread` or `pwrite` of one block, made by a thread that waits for it: fio's engine `psync` at a queue depth
//! of 1. How it compares with fio:
//!
//! - **The file** is written in full and synced before the clock starts, for writes too (fio's `overwrite=1`): no block is the
//!   first at its place. Its content is random.
//! - **Sequential**: block after block, from the start again after the end. Threads have regions of equal size
//!   (`offset_increment`).
//! - **Random**: every block once, in a seeded order, before any comes again (fio without `norandommap`). Threads share one such
//!   order; fio's jobs have one each.
//! - **Written data** are random, and no two blocks are alike, so that compression and deduplication win nothing
//!   (`scramble_buffers`).
//! - **The page cache**: if cold, the file is dropped from it before the clock starts (`invalidate=1`, fio's default); else it is
//!   read into it (`pre_read=1`). Cold reads end with the file: a second read would not be cold. Random blocks smaller than a
//!   page share theirs, so that later ones are found there.
//! - **Reading ahead**: `posix_fadvise` gives the kernel the pattern (`fadvise_hint=1`).
//! - **Syncs** are counted by thread (`fsync=N`, `fdatasync=N`). An operation's latency holds the sync that follows it; syncs are
//!   also recorded alone.
//! - **The final sync** of writes is timed separately (fio's `end_fsync=1` adds it to the time of its bandwidth).
//! - **Rates** are over wall time, with what lies between calls, as fio's are.
//!
//! System calls are made directly, so that counting syncs ([`crate::measure::syncs`]) costs nothing: the process's counters lack
//! this workload's, which [`DeviceMeasurements`] has.

mod buffer;
mod device_worker;
pub mod fault;
mod route;
mod spec;
mod target;
mod transfer;
mod trial;

use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

pub(crate) use fault::DeviceError;
pub(crate) use spec::{Amount, Spec};
pub(crate) use trial::WORKLOAD;

use storebench_model::axis::device::values::Sync;
use storebench_model::result::{Requests, SeriesPoint};

use self::device_worker::{DeviceWorker, OPERATIONS, Recorder, SYNCS};
use self::target::TargetFile;
use crate::measure::clock::Clock;
use crate::measure::counters::Snapshot;
use crate::measure::latency::Latencies;
use crate::measure::series::Series;
use crate::workload::worker_pool::{self, into_worker};

#[derive(Debug)]
pub struct DeviceMeasurements {
    pub operations: u64,
    pub bytes: u64,
    /// From the first thread's begin to the last one's end, without the final sync.
    pub wall: Duration,
    pub latencies: Latencies,
    /// Latencies of syncs between writes.
    pub syncs: Option<Latencies>,
    /// The sync after the last operation; `None` for reads.
    pub final_sync: Option<Duration>,
    pub disk: Option<Requests>,
    /// For more than one second.
    pub series: Vec<SeriesPoint>,
    /// The share of the threads' time between calls.
    pub harness_share: f64,
}

/// A file that is laid out, and deleted on drop if not by [`PreparedFile::finish`].
#[derive(Debug)]
pub struct PreparedFile {
    spec: Spec,
    target: TargetFile,
}

impl PreparedFile {
    /// Makes and lays out the file. Fails when the spec can be measured nowhere, or the file can't be made.
    pub fn new(spec: &Spec, directory: &Path) -> Result<PreparedFile, DeviceError> {
        if let Some(unsupported) = spec.unsupported() {
            return Err(unsupported.into());
        }
        Ok(PreparedFile { spec: spec.clone(), target: TargetFile::lay_out(spec, directory)? })
    }

    /// Fails when the location can't do what the spec asks for, and at the first operation that fails.
    pub fn measure(&self, clock: &Clock) -> Result<DeviceMeasurements, DeviceError> {
        let PreparedFile { spec, target } = self;
        self.set_cache()?;
        let make_worker = |thread| {
            let worker = DeviceWorker::new(spec, thread, clock, target.open(spec)?, target.path.clone());
            worker.map(Mutex::new).map_err(DeviceError::Harness)
        };
        let workers = (0..spec.threads()).map(make_worker).collect::<Result<Vec<_>, DeviceError>>()?;
        let series = Series::new(workers.len()).map_err(DeviceError::Harness)?;
        let no_handle = || Ok(Box::new(()));
        let (elapsed, disk) = worker_pool::run(
            clock,
            &workers,
            no_handle,
            |()| Ok(()),
            |pool| {
                series.begin();
                let before = Snapshot::now();
                let elapsed = pool.round(&series)?;
                Ok((elapsed, before.until_now().disk))
            },
        )?;
        let recorder = Recorder::sum(workers.into_iter().map(|worker| into_worker(worker).recorder))?;
        let has_syncs = spec.pattern.writes() && spec.sync != Sync::None;
        let latencies = |kind: usize| recorder.latencies(kind).clone();
        let final_sync = spec.pattern.writes().then(|| target.sync()).transpose()?;
        let operations = recorder.latencies(OPERATIONS).count();
        Ok(DeviceMeasurements {
            operations,
            bytes: operations * spec.block,
            wall: elapsed.wall,
            harness_share: elapsed.harness_share(true).unwrap_or_default(),
            latencies: latencies(OPERATIONS),
            syncs: has_syncs.then(|| latencies(SYNCS)),
            final_sync,
            disk,
            series: series.finish(),
        })
    }

    pub fn finish(self) -> Result<(), DeviceError> {
        self.target.delete()
    }

    /// For direct I/O, cached pages would be in the way.
    fn set_cache(&self) -> Result<(), DeviceError> {
        self.target.set_cache(!self.spec.cold && !self.spec.io.is_direct())
    }
}

#[cfg(test)]
mod tests;
