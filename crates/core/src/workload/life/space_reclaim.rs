//! The end of a set's life: most of its records are removed, and the store reclaims the space that it can.

use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use storebench_model::result::{Audit, Disk, ReclaimResult, SpaceReclaim, StoredRecords};

use super::concurrent_calls;
use super::parameters::LifeParameters;
use super::set::{Churn, Set};
use crate::measure::disk;
use crate::record::{Key, Records};
use crate::workload::audit::{self, AuditOpening, Record, Sample};
use crate::workload::bench::Bench;
use crate::workload::load_progress::{ProgressKind, ProgressReporter};
use crate::workload::worker_pool;
use crate::workload::workload_error::WorkloadError;

/// One record in this many is left.
const LEFT_ONE_IN: usize = 10;
/// Removed records that are looked for.
const REMOVALS_LOOKED_FOR: usize = 1_000;
/// Between measuring the files while space is reclaimed.
const MEASURING_INTERVAL: Duration = Duration::from_millis(5);

pub(crate) struct RemainingRecords<'r> {
    records: &'r Records,
    churn: Churn,
    seed: u64,
    kept: Vec<Record>,
    removed: Vec<Record>,
}

impl<'r> RemainingRecords<'r> {
    /// What is left: the newest tenth of a queue or a log, otherwise every tenth record.
    pub fn from_sets<'s>(
        parts: impl IntoIterator<Item = &'s Set>,
        churn: Churn,
        records: &'r Records,
        seed: u64,
    ) -> RemainingRecords<'r> {
        let mut remaining = RemainingRecords { records, churn, seed, kept: Vec::new(), removed: Vec::new() };
        for set_records in parts.into_iter().map(Set::all) {
            let first_kept = set_records.len() - set_records.len() / LEFT_ONE_IN;
            for (number, record) in set_records.enumerate() {
                let is_kept = if churn.ascends() {
                    number >= first_kept
                } else {
                    number % LEFT_ONE_IN == LEFT_ONE_IN - 1
                };
                if is_kept { &mut remaining.kept } else { &mut remaining.removed }.push(record);
            }
        }
        remaining
    }

    /// All that the store holds before anything is removed.
    pub fn stored(&self) -> StoredRecords {
        let all_records = || self.kept.iter().chain(&self.removed);
        let records = all_records().count() as u64;
        let key_bytes = records * crate::record::KEY_BYTES as u64;
        StoredRecords { records, key_bytes, value_bytes: self.value_bytes(all_records()) }
    }

    fn value_bytes<'a>(&self, records: impl Iterator<Item = &'a Record>) -> u64 {
        records.map(|(index, version)| self.records.value_length(*index, *version) as u64).sum()
    }

    /// Removes most records of the closed store, and has it reclaim the space, with others at work or without. It is closed
    /// afterwards. Fails also when its files can't be measured.
    pub fn reclaim_space(
        &mut self,
        bench: &mut Bench<'_>,
        work: &LifeParameters,
    ) -> Result<SpaceReclaim, WorkloadError> {
        bench.reopen()?;
        let start = Instant::now();
        self.remove(bench, work.batch)?;
        let remove_ns = start.elapsed().as_nanos() as u64;
        let disk = close_and_measure(bench)?;
        let value_bytes = self.value_bytes(self.kept.iter());
        bench.reopen()?;
        let compacted = self.compact_store(bench, work.reclaims_concurrently)?;
        Ok(SpaceReclaim { removed: self.removed.len() as u64, value_bytes, remove_ns, disk, compacted })
    }

    fn remove(&self, bench: &Bench<'_>, batch: usize) -> Result<(), WorkloadError> {
        let store = bench.store()?;
        let mut session = worker_pool::session(store)?;
        let mut progress = ProgressReporter::new(ProgressKind::Removing, self.removed.len() as u64);
        let mut removed = 0;
        for chunk in self.removed.chunks(batch.max(1)) {
            let keys: Vec<Key> = chunk.iter().map(|(index, _)| self.records.key(*index)).collect();
            let keys: Vec<&[u8]> = keys.iter().map(|key| &key[..]).collect();
            session.remove_batch(&keys).map_err(WorkloadError::during("removing a batch"))?;
            removed += chunk.len() as u64;
            progress.report(removed);
        }
        drop(session);
        store.settle().map_err(WorkloadError::during("settling"))
    }

    fn compact_store(
        &mut self,
        bench: &mut Bench<'_>,
        is_concurrent: bool,
    ) -> Result<Option<ReclaimResult>, WorkloadError> {
        let folder = bench.folder().to_path_buf();
        let (((method, took_ns), peak_bytes), meanwhile) = match is_concurrent {
            false => (with_peak_bytes(&folder, || with_time(|| bench.compact()))?, None),
            true => {
                let work = || with_peak_bytes(&folder, || with_time(|| bench.compact_concurrently()));
                let (store, set) = (bench.store()?, (self.records, self.churn));
                let (reclaimed, calls) = concurrent_calls::run_with_calls(store, set, &mut self.kept, work)?;
                (reclaimed, Some(calls))
            }
        };
        let disk = close_and_measure(bench)?;
        let peak_bytes = peak_bytes.max(disk.allocated_bytes);
        Ok(method.map(|method| ReclaimResult { by: method.into(), took_ns, peak_bytes, disk, meanwhile }))
    }

    /// Checks a sample of what is there and of what is gone.
    pub fn audit(
        &self,
        bench: &mut Bench<'_>,
        is_removed: bool,
        opening: AuditOpening,
    ) -> Result<Audit, WorkloadError> {
        let most_records = audit::most_records(self.records.mean_value());
        let expected: Vec<Record> = match is_removed {
            true => self.kept.clone(),
            false => self.kept.iter().chain(&self.removed).copied().collect(),
        };
        let sample = Sample::select(expected.iter().map(|_| true), most_records, self.seed);
        let live = expected.len() as u64;
        let sample_records: Vec<Record> =
            expected.into_iter().filter(|record| sample.contains(record.0, true)).collect();
        let step = self.removed.len().div_ceil(REMOVALS_LOOKED_FOR).max(1);
        let gone: Vec<Record> =
            if is_removed { self.removed.iter().step_by(step).copied().collect() } else { Vec::new() };
        audit::check_records(bench, self.records, (&sample_records, &gone, live), opening)
    }
}

/// Closes the store, and measures its files.
fn close_and_measure(bench: &mut Bench<'_>) -> Result<Disk, WorkloadError> {
    bench.close()?;
    bench.disk().map_err(|error| WorkloadError::harness(format!("measuring the store's files: {error}")))
}

/// A call's result and nanoseconds.
fn with_time<T>(call: impl FnOnce() -> Result<T, WorkloadError>) -> Result<(T, u64), WorkloadError> {
    let start = Instant::now();
    let result = call()?;
    Ok((result, start.elapsed().as_nanos() as u64))
}

/// A call's result, and the most that the folder's files took meanwhile.
fn with_peak_bytes<T>(
    folder: &Path,
    call: impl FnOnce() -> Result<T, WorkloadError>,
) -> Result<(T, u64), WorkloadError> {
    // The watch ends when the sender is gone, also where the call panics.
    let (end_sender, end_receiver) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let watch = scope.spawn(move || {
            let mut peak = 0;
            loop {
                // A measurement that fails does not count.
                peak = disk::usage(folder).map_or(peak, |disk| peak.max(disk.allocated_bytes));
                if end_receiver.recv_timeout(MEASURING_INTERVAL) == Err(RecvTimeoutError::Disconnected) {
                    break peak;
                }
            }
        });
        let result = call();
        drop(end_sender);
        result.map(|result| (result, watch.join().unwrap_or(0)))
    })
}
