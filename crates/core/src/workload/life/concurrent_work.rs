//! Work during the steps of each tenth: a backup of the store, or a batch of many records.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use storebench_model::axis::Axis;
use storebench_model::cell::Cell;
use storebench_model::result::{self, WrittenRecords};
use storebench_model::store::{OpenFn, OpenOptions, Session, Store};
use storebench_model::units::with_commas;

use super::parameters::LifeParameters;
use super::set::Set;
use crate::guard;
use crate::measure::{disk, syncs};
use crate::record::{KEY_BYTES, Key, Records};
use crate::workload::audit::Record;
use crate::workload::worker_pool;
use crate::workload::workload_error::WorkloadError;

/// A batch has one record for this many of the set.
const BATCH_SHARE: u64 = 10;
/// The first record of a batch, after all that a set comes to have.
const FIRST: u64 = 1 << 40;
/// A backup's folder, in the store's, so that both are deleted together.
pub(crate) const BACKUP: &str = "backup";
const READ_RECORDS: usize = 1_000;
/// The room for free pages while a backup reads, and for the backup, in sets.
const ROOM_OF_BACKUP: u64 = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkKind {
    Backup,
    /// Another thread inserts many records in one batch, and removes them in another.
    Batch,
}

impl WorkKind {
    pub fn from_cell(cell: &Cell) -> Option<WorkKind> {
        match (cell.text(Axis::READER), cell.text(Axis::WRITER)) {
            ("backup", _) => Some(WorkKind::Backup),
            (_, "batch") => Some(WorkKind::Batch),
            _ => None,
        }
    }

    /// Records that need room in addition to the set.
    pub fn records(self, set_records: u64) -> u64 {
        match self {
            WorkKind::Backup => ROOM_OF_BACKUP * set_records,
            WorkKind::Batch => batch_records(set_records),
        }
    }
}

fn batch_records(set_records: u64) -> u64 {
    (set_records / BATCH_SHARE).max(1)
}

/// The work during a trial's tenths, and its results. Takes all memory before the store is opened.
pub struct ConcurrentWorker<'a> {
    work: WorkKind,
    parameters: &'a LifeParameters,
    records: &'a Records,
    /// Empty for backups.
    batch: Vec<(Key, Vec<u8>)>,
    open: OpenFn,
    options: OpenOptions<'a>,
    backup_folder: PathBuf,
    busy: &'a AtomicBool,
    measured: result::ConcurrentWork,
    /// Its thread's.
    pub syncs: u64,
}

impl<'a> ConcurrentWorker<'a> {
    pub fn new(
        work: WorkKind,
        parameters: &'a LifeParameters,
        (records, busy): (&'a Records, &'a AtomicBool),
        (open, options): (OpenFn, OpenOptions<'a>),
    ) -> ConcurrentWorker<'a> {
        let count = if work == WorkKind::Batch { batch_records(parameters.records) } else { 0 };
        let record = |index| {
            let mut value = Vec::new();
            records.append_value(index, 0, &mut value);
            (records.key(index), value)
        };
        let batch = (FIRST..FIRST + count).map(record).collect();
        ConcurrentWorker {
            work,
            parameters,
            records,
            batch,
            open,
            backup_folder: options.directory.join(BACKUP),
            options,
            busy,
            measured: result::ConcurrentWork::default(),
            syncs: 0,
        }
    }

    /// Whether the empty store has a backup, if one is to be made.
    pub(crate) fn is_possible(&self, store: &dyn Store) -> Result<bool, WorkloadError> {
        if self.work == WorkKind::Batch {
            return Ok(true);
        }
        let method = self.back_up(store)?;
        self.remove_backup()?;
        Ok(method.is_some())
    }

    /// Does `steps` during the work, and waits for the end of both.
    pub fn run_during<T>(
        &mut self,
        store: &dyn Store,
        steps: impl FnOnce() -> Result<T, WorkloadError>,
    ) -> Result<T, WorkloadError> {
        self.remove_backup()?;
        let this = &*self;
        let (result, steps_ended, period) = thread::scope(|scope| {
            let period = scope.spawn(|| this.do_work(store));
            let result = steps();
            let end = Instant::now();
            let period = period
                .join()
                .unwrap_or_else(|_| Err(WorkloadError::harness("the work next to the steps panicked")));
            (result, end, period)
        });
        let (result, period) = (result?, period?);
        let overlap = period.end.min(steps_ended).saturating_duration_since(period.start);
        self.measured.by = period.method;
        self.measured.took_ns.push((period.end - period.start).as_nanos() as u64);
        self.measured.during_steps_ns.push(overlap.as_nanos() as u64);
        self.syncs += period.syncs;
        if self.work == WorkKind::Backup {
            let disk = disk::usage(&self.backup_folder)
                .map_err(|error| file_error("measuring", &self.backup_folder, &error))?;
            self.measured.bytes.push(disk.allocated_bytes);
        }
        Ok(result)
    }

    /// The most writes of other threads that these syncs may have made durable: each batch can share a sync with one write of each thread.
    pub fn shared_writes(&self) -> u64 {
        let batches = if self.work == WorkKind::Batch { 2 } else { 0 };
        batches * self.measured.took_ns.len() as u64 * self.parameters.threads
    }

    pub fn written(&self) -> WrittenRecords {
        let turns = self.measured.took_ns.len() as u64;
        let value_bytes: usize = self.batch.iter().map(|(_, value)| value.len()).sum();
        let (records, value_bytes) = (self.batch.len() as u64 * turns, value_bytes as u64 * turns);
        WrittenRecords { records, key_bytes: records * KEY_BYTES as u64, value_bytes }
    }

    fn do_work(&self, store: &dyn Store) -> Result<WorkPeriod, WorkloadError> {
        let before = syncs::count_this_thread();
        let (method, start, end) = match self.work {
            WorkKind::Backup => {
                let (method, start, end) = self.timed(|| self.back_up(store));
                let method =
                    method?.ok_or_else(|| WorkloadError::harness("the store has no backup any more"))?;
                (method.to_owned(), start, end)
            }
            WorkKind::Batch => self.batch(store)?,
        };
        Ok(WorkPeriod { method, start, end, syncs: syncs::count_this_thread().since(&before).calls() })
    }

    /// Times a part of the work, and marks it as under way.
    fn timed<T>(&self, work: impl FnOnce() -> T) -> (T, Instant, Instant) {
        self.busy.store(true, Ordering::Relaxed);
        let start = Instant::now();
        let result = work();
        let end = Instant::now();
        self.busy.store(false, Ordering::Relaxed);
        (result, start, end)
    }

    fn back_up(&self, store: &dyn Store) -> Result<Option<&'static str>, WorkloadError> {
        store.back_up(&self.backup_folder).map_err(WorkloadError::during("making a backup"))
    }

    fn remove_backup(&self) -> Result<(), WorkloadError> {
        match fs::symlink_metadata(&self.backup_folder) {
            Ok(_) => guard::remove_made(&self.backup_folder)
                .map_err(|error| file_error("deleting", &self.backup_folder, &error)),
            Err(_) => Ok(()),
        }
    }

    /// Times inserting a batch, and removes it.
    fn batch(&self, store: &dyn Store) -> Result<(String, Instant, Instant), WorkloadError> {
        let mut session = worker_pool::session(store)?;
        let records: Vec<(&[u8], &[u8])> =
            self.batch.iter().map(|(key, value)| (&key[..], &value[..])).collect();
        let (result, start, end) = self.timed(|| session.insert_batch(&records));
        result.map_err(WorkloadError::during("inserting a large batch"))?;
        let keys: Vec<&[u8]> = records.iter().map(|(key, _)| *key).collect();
        session.remove_batch(&keys).map_err(WorkloadError::during("removing a large batch"))?;
        Ok((format!("a batch of {}", with_commas(records.len() as u64)), start, end))
    }

    /// Checks that the last backup, if any, is a store with the set's records, and deletes it. Fails when it can't be opened, or
    /// lacks records, or has wrong ones.
    pub fn finish<'s>(
        self,
        parts: impl IntoIterator<Item = &'s Set>,
    ) -> Result<result::ConcurrentWork, WorkloadError> {
        if self.work == WorkKind::Backup {
            let options = OpenOptions { directory: &self.backup_folder, ..self.options.clone() };
            let store = (self.open)(&options).map_err(WorkloadError::during("opening the backup"))?;
            self.check(&*store, parts)?;
            store.close().map_err(WorkloadError::during("closing the backup"))?;
            self.remove_backup()?;
        }
        Ok(self.measured)
    }

    /// Checks a backup's number of records, and a sample against what they were at any time. If records are replaced, each thread
    /// may have been between removing one and inserting another; a log's go later, 100 at once.
    fn check<'s>(
        &self,
        backup: &dyn Store,
        parts: impl IntoIterator<Item = &'s Set>,
    ) -> Result<(), WorkloadError> {
        let wrong_backup = |fault: String| WorkloadError::wrong_data(format!("the backup {fault}"));
        let count = backup.count().map_err(WorkloadError::during("counting the backup's records"))?;
        let LifeParameters { records: set_records, threads, churn, .. } = *self.parameters;
        let (fewer, more) = if churn.replaces() { (threads, 101 * threads) } else { (0, 0) };
        if !(set_records.saturating_sub(fewer)..=set_records + more).contains(&count) {
            return Err(wrong_backup(format!("has {count} records, but the store has {set_records}")));
        }
        let mut session = worker_pool::session(backup)?;
        let step = (set_records as usize).div_ceil(READ_RECORDS).max(1);
        let mut missing = 0;
        for part in parts {
            for slot in (0..part.all().len()).step_by(step) {
                let mut states = part.states(slot).map(|record| self.has_record(&mut *session, record));
                let found = states.find(|is_there| !matches!(is_there, Ok(false)));
                missing += u64::from(found.transpose()?.is_none());
            }
        }
        if missing > fewer {
            let fault = format!("lacks {missing} of the records that were read, or has other values");
            return Err(wrong_backup(fault));
        }
        Ok(())
    }

    fn has_record(&self, session: &mut dyn Session, (index, version): Record) -> Result<bool, WorkloadError> {
        let (key, mut value, mut is_right) = (self.records.key(index), Vec::new(), false);
        self.records.append_value(index, version, &mut value);
        session
            .get(&key, &mut |bytes| is_right = bytes == value)
            .map_err(WorkloadError::during("reading the backup"))?;
        Ok(is_right)
    }
}

struct WorkPeriod {
    method: String,
    start: Instant,
    end: Instant,
    syncs: u64,
}

fn file_error(doing: &str, path: &Path, error: &std::io::Error) -> WorkloadError {
    WorkloadError::harness(format!("{doing} {}: {error}", path.display()))
}
