//! Stores over `memory` that grow old, each in a way whose size is known.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use storebench_model::store::{Guarantee, OpenOptions, Result, Session, Store, StoreError, Upkeep};
use storebench_model::stores::MEMORY;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ageing {
    /// Does nothing for 200 ms at every 10,000th update, and says so.
    Stalls,
    /// It keeps its records in a file, and 1 % of the bytes of each update in addition.
    Leaks,
    /// It keeps a mark of each key that was removed, and a scan takes 4 µs for each mark that it passes.
    Marks,
}

const STALL: Duration = Duration::from_millis(200);
const UPDATES_A_STALL: u64 = 10_000;
const LEAKED_PART: usize = 100;
const MARK: Duration = Duration::from_micros(4);

/// Bytes that are written to the file at once: whole blocks, so that it takes as much room as it is long.
const BLOCK: usize = 4096;

pub fn open(options: &OpenOptions<'_>, ageing: Ageing) -> Result<Box<dyn Store>> {
    let open = MEMORY.open.map_err(|reason| StoreError::Unsupported(reason.into()))?;
    let path = options.directory.join("records");
    let file = File::options().append(true).create(true).open(path).map_err(StoreError::io("creating"))?;
    let old = Old { updates: 0, file, pending: 0, marks: BTreeSet::new() };
    Ok(Box::new(Aging { inner: open(options)?, ageing, old: Mutex::new(old) }))
}

struct Aging {
    inner: Box<dyn Store>,
    ageing: Ageing,
    old: Mutex<Old>,
}

struct Old {
    updates: u64,
    file: File,
    /// Bytes that are not yet in the file.
    pending: usize,
    marks: BTreeSet<Vec<u8>>,
}

impl Old {
    fn keep(&mut self, bytes: usize) -> Result<()> {
        self.pending += bytes;
        let whole = self.pending / BLOCK * BLOCK;
        if whole > 0 {
            self.pending -= whole;
            let written = self.file.write_all(&vec![b'x'; whole]).and_then(|()| self.file.sync_all());
            written.map_err(StoreError::io("writing"))?;
        }
        Ok(())
    }
}

impl Aging {
    fn old(&self) -> MutexGuard<'_, Old> {
        self.old.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for Aging {
    fn session(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(AgingSession { inner: self.inner.session()?, store: self }))
    }
    fn guarantee(&self) -> Guarantee {
        Guarantee::Process
    }
    storebench_model::pass_on!(inner: count, settle, settings, close);
    fn upkeep(&self) -> Result<Vec<Upkeep>> {
        let stalls = self.old().updates / UPDATES_A_STALL;
        Ok(if self.ageing == Ageing::Stalls { vec![Upkeep::done("stall", stalls)] } else { Vec::new() })
    }
}

struct AgingSession<'a> {
    inner: Box<dyn Session + 'a>,
    store: &'a Aging,
}

impl Session for AgingSession<'_> {
    storebench_model::pass_on!(inner: insert, get);
    fn update(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let mut old = self.store.old();
        old.updates += 1;
        match self.store.ageing {
            Ageing::Stalls if old.updates.is_multiple_of(UPDATES_A_STALL) => std::thread::sleep(STALL),
            Ageing::Leaks => old.keep(value.len() / LEAKED_PART)?,
            _ => {}
        }
        drop(old);
        self.inner.update(key, value)
    }
    fn remove(&mut self, key: &[u8]) -> Result<()> {
        if self.store.ageing == Ageing::Marks {
            self.store.old().marks.insert(key.to_vec());
        }
        self.inner.remove(key)
    }
    fn scan(&mut self, from: &[u8], limit: usize, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize> {
        let passed = self.store.old().marks.range(from.to_vec()..).count();
        std::thread::sleep(MARK * u32::try_from(passed).unwrap_or(u32::MAX));
        self.inner.scan(from, limit, visit)
    }
    fn insert_batch(&mut self, records: &[(&[u8], &[u8])]) -> Result<()> {
        if self.store.ageing == Ageing::Leaks {
            self.store.old().keep(records.iter().map(|(_, value)| value.len()).sum())?;
        }
        self.inner.insert_batch(records)
    }
}
