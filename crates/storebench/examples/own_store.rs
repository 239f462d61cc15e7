//! A user's own store next to storebench's: every write is appended to one file, and a map in memory, rebuilt
//! when the file is opened, holds the values.
//! `cargo run --release -p storebench --no-default-features --example own_store -- run crud --store append-log,flat-folder --quick`

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions as FileOptions};
use std::io::{Read, Write};
use std::process::ExitCode;
use std::sync::{Mutex, MutexGuard, PoisonError};

use storebench_model::store::{
    Batch, Capabilities, Danger, Guarantee, GuaranteeOffer, OpenOptions, Result, Session, Setting, Store,
    StoreDef, StoreError, StoreKind, Threads,
};
use storebench_model::stores::{FLAT_FOLDER, MEMORY, NESTED_FOLDER, NULL};
use xxhash_rust::xxh3::xxh3_64;

fn main() -> ExitCode {
    storebench::cli::main(&[APPEND_LOG, FLAT_FOLDER, NESTED_FOLDER, NULL, MEMORY])
}

/// The entry in the table of stores: what it is, what it can do, what it promises.
const APPEND_LOG: StoreDef = StoreDef {
    name: "append-log",
    kind: StoreKind::Engine,
    summary: "one file that is only appended to, and a map in memory",
    practice: "one file; one process at a time",
    version: &|| env!("CARGO_PKG_VERSION").into(),
    // The rest is as usual: it keeps and persists, has order, takes any key and value, and an update inserts.
    capabilities: Capabilities {
        threads: Threads::ManyReadersOneWriter,
        batch: Batch::Grouped,
        max_key_bytes: u32::MAX as usize,
        ..Capabilities::DEFAULT
    },
    // Not `none`: what was written always survives the process. Entries carry a checksum, so a part of one is no entry.
    offers: &[
        GuaranteeOffer::replacing_values(Guarantee::Process, "write", Danger::NEWEST),
        GuaranteeOffer::replacing_values(Guarantee::Power, "write, fdatasync", Danger::NOTHING),
    ],
    shipped: Guarantee::Process,
    // A template of the code that opens it, for `storebench advise`.
    snippet: None,
    open: Ok(&open),
    ..StoreDef::DEFAULT
};

struct AppendLog {
    state: Mutex<State>,
    guarantee: Guarantee,
}

struct State {
    file: File,
    /// Bytes of whole entries in the file.
    end: u64,
    values: BTreeMap<Vec<u8>, Vec<u8>>,
}

fn open(options: &OpenOptions<'_>) -> Result<Box<dyn Store>> {
    if let Some(name) = options.settings.keys().next() {
        return Err(StoreError::BadSetting(format!("append-log has no settings, {name} neither")));
    }
    let guarantee = options.guarantee.unwrap_or(APPEND_LOG.shipped);
    if APPEND_LOG.offer(guarantee).is_none() {
        return Err(StoreError::Unsupported(format!("append-log does not offer {guarantee}")));
    }
    let path = options.directory.join("records.log");
    let opened = FileOptions::new().read(true).append(true).create(true).open(&path);
    let mut file = opened.map_err(StoreError::io("opening the log"))?;
    let mut log = Vec::new();
    file.read_to_end(&mut log).map_err(StoreError::io("reading the log"))?;
    let (values, end) = replay(&log);
    // A crash may have cut the last entry off; nothing must be appended behind such a part.
    file.set_len(end).map_err(StoreError::io("cutting the log"))?;
    if guarantee == Guarantee::Power {
        // Data that an earlier process did not sync count as durable from here on, and so does the file's name.
        file.sync_all().map_err(StoreError::io("syncing the log"))?;
        let folder = File::open(options.directory).and_then(|folder| folder.sync_all());
        folder.map_err(StoreError::io("syncing the folder"))?;
    }
    Ok(Box::new(AppendLog { state: Mutex::new(State { file, end, values }), guarantee }))
}

/// An entry: a checksum of the rest, the lengths of key and value (`u64::MAX`: the key was removed), key, value.
fn append_entry(out: &mut Vec<u8>, key: &[u8], value: Option<&[u8]>) {
    let start = out.len();
    out.extend([0; 8]);
    out.extend((key.len() as u64).to_le_bytes());
    out.extend(value.map_or(u64::MAX, |value| value.len() as u64).to_le_bytes());
    out.extend(key);
    out.extend(value.unwrap_or_default());
    let checksum = xxh3_64(&out[start + 8..]);
    out[start..start + 8].copy_from_slice(&checksum.to_le_bytes());
}

/// The values after all whole entries, and where these end.
fn replay(log: &[u8]) -> (BTreeMap<Vec<u8>, Vec<u8>>, u64) {
    let mut values = BTreeMap::new();
    let mut rest = log;
    while let Some((key, value, after)) = first_entry(rest) {
        match value {
            Some(value) => values.insert(key.to_vec(), value.to_vec()),
            None => values.remove(key),
        };
        rest = after;
    }
    (values, (log.len() - rest.len()) as u64)
}

/// A key, its value (none where the key was removed), and what follows.
type Entry<'a> = (&'a [u8], Option<&'a [u8]>, &'a [u8]);

/// The first entry; nothing without a whole one.
fn first_entry(log: &[u8]) -> Option<Entry<'_>> {
    let (checksum, body) = log.split_first_chunk::<8>()?;
    let (key_len, rest) = body.split_first_chunk::<8>()?;
    let (value_len, rest) = rest.split_first_chunk::<8>()?;
    let (key, rest) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*key_len)).ok()?)?;
    let (value, rest) = match u64::from_le_bytes(*value_len) {
        u64::MAX => (None, rest),
        length => rest.split_at_checked(usize::try_from(length).ok()?).map(|(v, rest)| (Some(v), rest))?,
    };
    let entry = &body[..body.len() - rest.len()];
    (xxh3_64(entry) == u64::from_le_bytes(*checksum)).then_some((key, value, rest))
}

impl AppendLog {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends entries in one write, syncs them if that was promised, and then changes the map.
    fn write(&self, entries: &[u8], change: impl FnOnce(&mut BTreeMap<Vec<u8>, Vec<u8>>)) -> Result<()> {
        let mut state = self.state();
        let written = state.file.write_all(entries).and_then(|()| match self.guarantee {
            Guarantee::Power | Guarantee::Node => state.file.sync_data(),
            Guarantee::Process | Guarantee::None => Ok(()),
        });
        if let Err(error) = written {
            // A full disk takes a part; should cutting it off fail too, the first error says more.
            let _ = state.file.set_len(state.end);
            return Err(StoreError::io("writing to the log")(error));
        }
        state.end += entries.len() as u64;
        change(&mut state.values);
        Ok(())
    }
}

impl Store for AppendLog {
    fn session(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(AppendLogSession { store: self, entries: Vec::new() }))
    }

    fn guarantee(&self) -> Guarantee {
        self.guarantee
    }

    fn count(&self) -> Result<u64> {
        Ok(self.state().values.len() as u64)
    }

    fn settle(&self) -> Result<()> {
        self.state().file.sync_all().map_err(StoreError::io("syncing the log"))
    }

    fn settings(&self) -> Result<Vec<Setting>> {
        Ok(vec![Setting::unverified("fdatasync after each write", self.guarantee == Guarantee::Power)])
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

struct AppendLogSession<'a> {
    store: &'a AppendLog,
    /// Where entries are put together: kept, so that a write takes no memory.
    entries: Vec<u8>,
}

impl Session for AppendLogSession<'_> {
    fn insert(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.insert_batch(&[(key, value)])
    }

    fn update(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.insert_batch(&[(key, value)])
    }

    fn get(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        Ok(self.store.state().values.get(key).map(|value| visit(value)).is_some())
    }

    fn remove(&mut self, key: &[u8]) -> Result<()> {
        self.entries.clear();
        append_entry(&mut self.entries, key, None);
        self.store.write(&self.entries, |values| {
            values.remove(key);
        })
    }

    fn scan(&mut self, from: &[u8], limit: usize, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize> {
        let state = self.store.state();
        let records = state.values.range(from.to_vec()..).take(limit);
        Ok(records.inspect(|(key, value)| visit(key, value)).count())
    }

    fn insert_batch(&mut self, records: &[(&[u8], &[u8])]) -> Result<()> {
        self.entries.clear();
        records.iter().for_each(|(key, value)| append_entry(&mut self.entries, key, Some(value)));
        self.store.write(&self.entries, |values| {
            values.extend(records.iter().map(|(key, value)| (key.to_vec(), value.to_vec())));
        })
    }
}
