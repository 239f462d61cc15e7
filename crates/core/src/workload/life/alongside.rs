//! Work that goes on beside the steps of each tenth: a backup of the store, or a batch of many records.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Instant;

use super::parameters::LifeParameters;
use crate::axis::Axis;
use crate::cell::Cell;
use crate::guard;
use crate::measure::disk;
use crate::record::{Key, Records};
use crate::result::Alongside;
use crate::store::{OpenFn, OpenOptions, Store};
use crate::units::grouped;
use crate::workload::crew;
use crate::workload::stop::Stop;

/// The records of a batch: one for so many of the set.
const BATCH_SHARE: u64 = 10;
/// The first record of a batch, behind all that a set comes to have.
const FIRST: u64 = 1 << 40;
/// The folder of a backup, in the store's own: who gives that back gives back the backup.
pub const BACKUP: &str = "backup";

/// The work that goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// The engine makes a backup in its own way.
    Backup,
    /// Another thread inserts many records in one batch, and removes them in another.
    Batch,
}

impl Work {
    /// That of a cell, if any.
    pub fn of(cell: &Cell) -> Option<Work> {
        match (cell.text(Axis::READER), cell.text(Axis::WRITER)) {
            ("backup", _) => Some(Work::Backup),
            (_, "batch") => Some(Work::Batch),
            _ => None,
        }
    }

    /// The records of a set of so many that are there besides while it goes on, at most.
    pub fn records(self, set: u64) -> u64 {
        match self {
            Work::Backup => set,
            Work::Batch => batch_records(set),
        }
    }
}

fn batch_records(set: u64) -> u64 {
    (set / BATCH_SHARE).max(1)
}

/// The work beside a trial's tenths, and what came of it.
pub struct Company<'a> {
    work: Work,
    set: u64,
    threads: u64,
    records: &'a Records,
    open: OpenFn,
    options: OpenOptions<'a>,
    backup: PathBuf,
    seen: Alongside,
}

impl<'a> Company<'a> {
    /// That of a trial, whose store is opened so.
    pub fn new(
        work: Work,
        parameters: &LifeParameters,
        records: &'a Records,
        (open, options): (OpenFn, OpenOptions<'a>),
    ) -> Company<'a> {
        let LifeParameters { records: set, threads, .. } = *parameters;
        let backup = options.directory.join(BACKUP);
        Company { work, set, threads, records, open, options, backup, seen: Alongside::default() }
    }

    /// Sees that the store, as it was opened, has a backup where one is to be made. It is empty.
    ///
    /// # Errors
    /// The store's own; [`None`] where it has none.
    pub fn is_possible(&self, store: &dyn Store) -> Result<bool, Stop> {
        if self.work == Work::Batch {
            return Ok(true);
        }
        let made = self.back_up(store)?;
        self.remove_backup()?;
        Ok(made.is_some())
    }

    /// Does `steps` while the work goes on, and waits for the end of both.
    ///
    /// # Errors
    /// Those of `steps`; the store's own.
    pub fn over<T>(&mut self, store: &dyn Store, steps: impl FnOnce() -> Result<T, Stop>) -> Result<T, Stop> {
        let this = &*self;
        let (done, turn) = thread::scope(|scope| {
            let turn = scope.spawn(|| this.turn(store));
            let done = steps();
            let turn =
                turn.join().unwrap_or_else(|_| Err(Stop::harness("the work beside the steps panicked")));
            (done, turn)
        });
        let (done, turn) = (done?, turn?);
        self.note(turn);
        Ok(done)
    }

    fn note(&mut self, Turn { by, took_ns, bytes }: Turn) {
        self.seen.by = by;
        self.seen.took_ns.push(took_ns);
        self.seen.bytes.extend(bytes);
    }

    fn turn(&self, store: &dyn Store) -> Result<Turn, Stop> {
        match self.work {
            Work::Backup => {
                self.remove_backup()?;
                let start = Instant::now();
                let by =
                    self.back_up(store)?.ok_or_else(|| Stop::harness("the store has no backup any more"))?;
                let took_ns = start.elapsed().as_nanos() as u64;
                Ok(Turn { by: by.into(), took_ns, bytes: Some(self.backup_bytes()?) })
            }
            Work::Batch => self.batch(store),
        }
    }

    fn back_up(&self, store: &dyn Store) -> Result<Option<&'static str>, Stop> {
        store.back_up(&self.backup).map_err(|error| Stop::store("making a backup", &error))
    }

    fn backup_bytes(&self) -> Result<u64, Stop> {
        let disk = disk::usage(&self.backup);
        disk.map(|disk| disk.allocated_bytes).map_err(|error| failed("measuring", &self.backup, &error))
    }

    fn remove_backup(&self) -> Result<(), Stop> {
        match fs::symlink_metadata(&self.backup) {
            Ok(_) => {
                guard::remove_made(&self.backup).map_err(|error| failed("deleting", &self.backup, &error))
            }
            Err(_) => Ok(()),
        }
    }

    /// Inserts a batch, by the clock, and removes it.
    fn batch(&self, store: &dyn Store) -> Result<Turn, Stop> {
        let count = batch_records(self.set);
        let mut session = crew::session(store)?;
        let indexes = FIRST..FIRST + count;
        let keys: Vec<Key> = indexes.clone().map(|index| self.records.key(index)).collect();
        let values: Vec<Vec<u8>> = indexes
            .map(|index| {
                let mut value = Vec::new();
                self.records.append_value(index, 0, &mut value);
                value
            })
            .collect();
        let records: Vec<(&[u8], &[u8])> =
            keys.iter().zip(&values).map(|(key, value)| (&key[..], &value[..])).collect();
        let start = Instant::now();
        session.insert_batch(&records).map_err(|error| Stop::store("inserting a large batch", &error))?;
        let took_ns = start.elapsed().as_nanos() as u64;
        let keys: Vec<&[u8]> = keys.iter().map(|key| &key[..]).collect();
        session.remove_batch(&keys).map_err(|error| Stop::store("removing a large batch", &error))?;
        Ok(Turn { by: format!("a batch of {}", grouped(count)), took_ns, bytes: None })
    }

    /// Sees that the last backup, if any, is a store that has all records, and deletes it.
    ///
    /// # Errors
    /// Where it can't be opened, or has not as many records as the set, give or take those that were on their way.
    pub fn finish(self) -> Result<Alongside, Stop> {
        if self.work == Work::Backup {
            let options = OpenOptions { directory: &self.backup, ..self.options.clone() };
            let store = (self.open)(&options).map_err(|error| Stop::store("opening the backup", &error))?;
            let count =
                store.count().map_err(|error| Stop::store("counting the backup's records", &error))?;
            store.close().map_err(|error| Stop::store("closing the backup", &error))?;
            // Between removing a record and inserting another a thread has one less; those of a log go later, 100 at once.
            let (least, most) = (self.set - self.threads.min(self.set), self.set + 101 * self.threads);
            if !(least..=most).contains(&count) {
                let set = self.set;
                return Err(Stop::wrong_data(format!(
                    "the backup has {count} records where the store has {set}"
                )));
            }
            self.remove_backup()?;
        }
        Ok(self.seen)
    }
}

/// One turn of the work.
struct Turn {
    by: String,
    took_ns: u64,
    bytes: Option<u64>,
}

fn failed(doing: &str, path: &Path, error: &std::io::Error) -> Stop {
    Stop::harness(format!("{doing} {}: {error}", path.display()))
}
