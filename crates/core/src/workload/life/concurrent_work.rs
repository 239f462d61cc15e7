//! Work during the steps of each tenth: a backup of the store, or a batch of many records.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use super::parameters::LifeParameters;
use super::set::{Churn, Set};
use crate::axis::Axis;
use crate::cell::Cell;
use crate::guard;
use crate::measure::{disk, syncs};
use crate::record::{KEY_BYTES, Key, Records};
use crate::result::{self, WrittenRecords};
use crate::store::{OpenFn, OpenOptions, Session, Store};
use crate::units::with_commas;
use crate::workload::worker_pool;
use crate::workload::workload_error::WorkloadError;

/// A batch has one record for this many of the set.
const BATCH_SHARE: u64 = 10;
/// The first record of a batch, after all that a set comes to have.
const FIRST: u64 = 1 << 40;
/// A backup's folder, in the store's, so that both are deleted together.
pub(crate) const BACKUP: &str = "backup";
const READ: usize = 1_000;
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
    pub fn records(self, set: u64) -> u64 {
        match self {
            WorkKind::Backup => ROOM_OF_BACKUP * set,
            WorkKind::Batch => batch_records(set),
        }
    }
}

fn batch_records(set: u64) -> u64 {
    (set / BATCH_SHARE).max(1)
}

/// The work during a trial's tenths, and its results. Takes all memory before the store is opened.
pub struct ConcurrentWorker<'a> {
    work: WorkKind,
    set: u64,
    threads: u64,
    churn: Churn,
    records: &'a Records,
    /// Empty for backups.
    batch: Vec<(Key, Vec<u8>)>,
    open: OpenFn,
    options: OpenOptions<'a>,
    backup: PathBuf,
    busy: &'a AtomicBool,
    seen: result::ConcurrentWork,
    /// Its thread's.
    syncs: u64,
}

impl<'a> ConcurrentWorker<'a> {
    pub fn new(
        work: WorkKind,
        parameters: &LifeParameters,
        (records, busy): (&'a Records, &'a AtomicBool),
        (open, options): (OpenFn, OpenOptions<'a>),
    ) -> ConcurrentWorker<'a> {
        let LifeParameters { records: set, threads, churn, .. } = *parameters;
        let count = if work == WorkKind::Batch { batch_records(set) } else { 0 };
        let record = |index| {
            let mut value = Vec::new();
            records.append_value(index, 0, &mut value);
            (records.key(index), value)
        };
        let batch = (FIRST..FIRST + count).map(record).collect();
        let backup = options.directory.join(BACKUP);
        let seen = result::ConcurrentWork::default();
        ConcurrentWorker {
            work,
            set,
            threads,
            churn,
            records,
            batch,
            open,
            options,
            backup,
            busy,
            seen,
            syncs: 0,
        }
    }

    /// Whether the empty store has a backup, if one is to be made.
    pub(crate) fn is_possible(&self, store: &dyn Store) -> Result<bool, WorkloadError> {
        if self.work == WorkKind::Batch {
            return Ok(true);
        }
        let made = self.back_up(store)?;
        self.remove_backup()?;
        Ok(made.is_some())
    }

    /// Does `steps` during the work, and waits for the end of both.
    pub fn run_during<T>(
        &mut self,
        store: &dyn Store,
        steps: impl FnOnce() -> Result<T, WorkloadError>,
    ) -> Result<T, WorkloadError> {
        self.remove_backup()?;
        let this = &*self;
        let (done, steps_ended, turn) = thread::scope(|scope| {
            let turn = scope.spawn(|| this.do_work(store));
            let done = steps();
            let ended = Instant::now();
            let turn = turn
                .join()
                .unwrap_or_else(|_| Err(WorkloadError::harness("the work next to the steps panicked")));
            (done, ended, turn)
        });
        let (done, turn) = (done?, turn?);
        let beside = turn.ended.min(steps_ended).saturating_duration_since(turn.began);
        self.seen.by = turn.by;
        self.seen.took_ns.push((turn.ended - turn.began).as_nanos() as u64);
        self.seen.during_steps_ns.push(beside.as_nanos() as u64);
        self.syncs += turn.syncs;
        if self.work == WorkKind::Backup {
            let disk =
                disk::usage(&self.backup).map_err(|error| failed("measuring", &self.backup, &error))?;
            self.seen.bytes.push(disk.allocated_bytes);
        }
        Ok(done)
    }

    pub fn syncs(&self) -> u64 {
        self.syncs
    }

    /// The most writes of other threads that these syncs may have made durable: each batch can share a sync with one write of each thread.
    pub fn shared(&self) -> u64 {
        let batches = if self.work == WorkKind::Batch { 2 } else { 0 };
        batches * self.seen.took_ns.len() as u64 * self.threads
    }

    pub fn written(&self) -> WrittenRecords {
        let turns = self.seen.took_ns.len() as u64;
        let value_bytes: usize = self.batch.iter().map(|(_, value)| value.len()).sum();
        let records = self.batch.len() as u64 * turns;
        WrittenRecords {
            records,
            key_bytes: records * KEY_BYTES as u64,
            value_bytes: value_bytes as u64 * turns,
        }
    }

    fn do_work(&self, store: &dyn Store) -> Result<WorkPeriod, WorkloadError> {
        let before = syncs::count_this_thread();
        let (by, began, ended) = match self.work {
            WorkKind::Backup => {
                let (made, began, ended) = self.timed(|| self.back_up(store));
                let by = made?.ok_or_else(|| WorkloadError::harness("the store has no backup any more"))?;
                (by.to_owned(), began, ended)
            }
            WorkKind::Batch => self.batch(store)?,
        };
        Ok(WorkPeriod { by, began, ended, syncs: syncs::count_this_thread().since(&before).calls() })
    }

    /// Times a part of the work, and marks it as under way.
    fn timed<T>(&self, part: impl FnOnce() -> T) -> (T, Instant, Instant) {
        self.busy.store(true, Ordering::Relaxed);
        let began = Instant::now();
        let done = part();
        let ended = Instant::now();
        self.busy.store(false, Ordering::Relaxed);
        (done, began, ended)
    }

    fn back_up(&self, store: &dyn Store) -> Result<Option<&'static str>, WorkloadError> {
        store.back_up(&self.backup).map_err(|error| WorkloadError::store("making a backup", &error))
    }

    fn remove_backup(&self) -> Result<(), WorkloadError> {
        match fs::symlink_metadata(&self.backup) {
            Ok(_) => {
                guard::remove_made(&self.backup).map_err(|error| failed("deleting", &self.backup, &error))
            }
            Err(_) => Ok(()),
        }
    }

    /// Times inserting a batch, and removes it.
    fn batch(&self, store: &dyn Store) -> Result<(String, Instant, Instant), WorkloadError> {
        let mut session = worker_pool::session(store)?;
        let records: Vec<(&[u8], &[u8])> =
            self.batch.iter().map(|(key, value)| (&key[..], &value[..])).collect();
        let (done, began, ended) = self.timed(|| session.insert_batch(&records));
        done.map_err(|error| WorkloadError::store("inserting a large batch", &error))?;
        let keys: Vec<&[u8]> = records.iter().map(|(key, _)| *key).collect();
        session
            .remove_batch(&keys)
            .map_err(|error| WorkloadError::store("removing a large batch", &error))?;
        Ok((format!("a batch of {}", with_commas(records.len() as u64)), began, ended))
    }

    /// Checks that the last backup, if any, is a store with the set's records, and deletes it. Fails when it can't be opened, or
    /// lacks records, or has wrong ones.
    pub fn finish<'s>(
        self,
        parts: impl IntoIterator<Item = &'s Set>,
    ) -> Result<result::ConcurrentWork, WorkloadError> {
        if self.work == WorkKind::Backup {
            let options = OpenOptions { directory: &self.backup, ..self.options.clone() };
            let store =
                (self.open)(&options).map_err(|error| WorkloadError::store("opening the backup", &error))?;
            self.check(&*store, parts)?;
            store.close().map_err(|error| WorkloadError::store("closing the backup", &error))?;
            self.remove_backup()?;
        }
        Ok(self.seen)
    }

    /// Checks a backup's number of records, and a sample against what they were at any time. If records are replaced, each thread
    /// may have been between removing one and inserting another; a log's go later, 100 at once.
    fn check<'s>(
        &self,
        backup: &dyn Store,
        parts: impl IntoIterator<Item = &'s Set>,
    ) -> Result<(), WorkloadError> {
        let wrong = |what: String| WorkloadError::wrong_data(format!("the backup {what}"));
        let count =
            backup.count().map_err(|error| WorkloadError::store("counting the backup's records", &error))?;
        let replaces = self.churn.replaces();
        let (fewer, more) = if replaces { (self.threads, 101 * self.threads) } else { (0, 0) };
        if !(self.set.saturating_sub(fewer)..=self.set + more).contains(&count) {
            return Err(wrong(format!("has {count} records, but the store has {}", self.set)));
        }
        let mut session = worker_pool::session(backup)?;
        let step = (self.set as usize).div_ceil(READ).max(1);
        let mut missing = 0;
        for part in parts {
            for place in (0..part.all().len()).step_by(step) {
                let mut is_there = false;
                for (index, version) in part.states(place) {
                    is_there = self.has_record(&mut *session, index, version)?;
                    if is_there {
                        break;
                    }
                }
                missing += u64::from(!is_there);
            }
        }
        if missing > fewer {
            return Err(wrong(format!("lacks {missing} of the records that were read, or has other values")));
        }
        Ok(())
    }

    fn has_record(&self, session: &mut dyn Session, index: u64, version: u8) -> Result<bool, WorkloadError> {
        let (key, mut value, mut is_right) = (self.records.key(index), Vec::new(), false);
        self.records.append_value(index, version, &mut value);
        session
            .get(&key, &mut |found| is_right = found == value)
            .map_err(|error| WorkloadError::store("reading the backup", &error))?;
        Ok(is_right)
    }
}

struct WorkPeriod {
    by: String,
    began: Instant,
    ended: Instant,
    syncs: u64,
}

fn failed(doing: &str, path: &Path, error: &std::io::Error) -> WorkloadError {
    WorkloadError::harness(format!("{doing} {}: {error}", path.display()))
}
