//! `one-file`: all records in one JSON file, read whole when it is opened, and written whole at every change, as most
//! applications keep their settings. The new file is written under a temporary name that then replaces the old one; `power` syncs
//! the file before and the directory after.

mod json;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use super::refuse_settings;
use crate::store::{
    Capabilities, Danger, Guarantee, GuaranteeOffer, Loss, OpenOptions, Result, Session, Setting, Store,
    StoreDef, StoreError, StoreKind, Threads,
};

/// Nobody keeps more in a file that every change rewrites.
const MOST_BYTES: u64 = 1 << 20;

/// The file, and the name under which the next one is written.
const FILE: &str = "records.json";
const TEMPORARY: &str = ".records.json.tmp";

/// The store that is one file.
pub const ONE_FILE: StoreDef = StoreDef {
    name: "one-file",
    kind: StoreKind::Folder,
    summary: "all records in one JSON file, which every change writes anew; up to 1 MiB",
    practice: "one JSON file, which any tool reads and any backup keeps; one process at a time, which has it all in memory",
    version: &|| env!("CARGO_PKG_VERSION").into(),
    capabilities: Capabilities {
        threads: Threads::ManyReadersOneWriter,
        notices_existing: true,
        notices_missing: true,
        max_key_bytes: MOST_BYTES as usize,
        max_bytes: MOST_BYTES,
        ..Capabilities::DEFAULT
    },
    offers: &[
        GuaranteeOffer::replacing_values(
            Guarantee::Process,
            "write under a temporary name, rename",
            &[Danger::new(
                Loss::Nothing,
                Loss::Whole,
                "the new name can be there without the file's content",
            )],
        ),
        GuaranteeOffer::replacing_values(
            Guarantee::Power,
            "write under a temporary name, fsync, rename, fsync of the directory",
            Danger::NOTHING,
        ),
    ],
    shipped: Guarantee::Process,
    snippet: Some(include_str!("one_file/snippet.txt")),
    python: Some(include_str!("one_file/snippet.py")),
    open: Ok(&open),
    ..StoreDef::DEFAULT
};

type Records = BTreeMap<Vec<u8>, Vec<u8>>;

fn open(options: &OpenOptions<'_>) -> Result<Box<dyn Store>> {
    refuse_settings(options)?;
    let guarantee = options.guarantee.unwrap_or(ONE_FILE.shipped);
    if guarantee == Guarantee::None {
        return Err(StoreError::Unsupported("a written file always survives a killed process".into()));
    }
    let directory = File::open(options.directory).map_err(StoreError::io("open the store's directory"))?;
    let records = read_records(options.directory)?;
    let store = OneFile { directory, guarantee, records: RwLock::new(records), file_text: Mutex::default() };
    store.remove_temporary()?;
    if guarantee == Guarantee::Power {
        // An earlier process may not have lived to sync what it wrote: it counts as such from here on.
        store.settle()?;
    }
    Ok(Box::new(store))
}

/// The records; none without a file.
fn read_records(directory: &Path) -> Result<Records> {
    let mut text = Vec::new();
    match File::open(directory.join(FILE)) {
        Ok(mut file) => file.read_to_end(&mut text).map_err(StoreError::io("read the file"))?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Records::new()),
        Err(error) => return Err(StoreError::io("open the file")(error)),
    };
    json::read(&text).map_err(|error| StoreError::Engine(format!("{FILE} is not a file of records: {error}")))
}

struct OneFile {
    directory: File,
    guarantee: Guarantee,
    records: RwLock<Records>,
    /// Held by the writer, with the text of the file: writers take turns, and readers don't wait for the disk.
    file_text: Mutex<Vec<u8>>,
}

impl OneFile {
    fn records(&self) -> RwLockReadGuard<'_, Records> {
        self.records.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn records_mut(&self) -> RwLockWriteGuard<'_, Records> {
        self.records.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces or removes values and writes the file, if `check` allows it. Nothing changes if it can't be written or renamed.
    fn apply<'r>(
        &self,
        changes: impl IntoIterator<Item = (&'r [u8], Option<&'r [u8]>)>,
        check: impl FnOnce(&Records) -> Result<()>,
    ) -> Result<()> {
        let mut text = self.file_text.lock().unwrap_or_else(PoisonError::into_inner);
        check(&self.records())?;
        let mut old_values = Vec::new();
        {
            let mut records = self.records_mut();
            for (key, value) in changes {
                let old = match value {
                    Some(value) => records.insert(key.to_vec(), value.to_vec()),
                    None => records.remove(key),
                };
                old_values.push((key, old));
            }
        }
        text.clear();
        json::write(&self.records(), &mut text);
        let written = self.replace_file(&text);
        if written.is_err() {
            let mut records = self.records_mut();
            for (key, old) in old_values.into_iter().rev() {
                match old {
                    Some(value) => records.insert(key.to_vec(), value),
                    None => records.remove(key),
                };
            }
        }
        written
    }

    fn replace_file(&self, text: &[u8]) -> Result<()> {
        let is_synced = self.guarantee == Guarantee::Power;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.directory, TEMPORARY, flags, Mode::from_raw_mode(0o666));
        let mut file = File::from(file.map_err(StoreError::io("make the new file"))?);
        let written = file.write_all(text).and_then(|()| if is_synced { file.sync_all() } else { Ok(()) });
        drop(file);
        let replaced = written.map_err(StoreError::io("write the new file")).and_then(|()| {
            rustix::fs::renameat(&self.directory, TEMPORARY, &self.directory, FILE)
                .map_err(StoreError::io("rename the new file"))
        });
        if replaced.is_err() {
            // The write's error is reported, and the next opening removes what is left.
            let _ = self.remove_temporary();
        }
        replaced?;
        match is_synced {
            true => self.directory.sync_all().map_err(StoreError::io("sync the directory")),
            false => Ok(()),
        }
    }

    fn remove_temporary(&self) -> Result<()> {
        match rustix::fs::unlinkat(&self.directory, TEMPORARY, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(StoreError::io("remove a temporary file")(error)),
        }
    }
}

impl Store for OneFile {
    fn session(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(OneFileSession { store: self }))
    }

    fn guarantee(&self) -> Guarantee {
        self.guarantee
    }

    fn count(&self) -> Result<u64> {
        Ok(self.records().len() as u64)
    }

    fn settle(&self) -> Result<()> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        match rustix::fs::openat(&self.directory, FILE, flags, Mode::empty()) {
            Ok(file) => File::from(file).sync_all().map_err(StoreError::io("sync the file"))?,
            Err(Errno::NOENT) => {}
            Err(error) => return Err(StoreError::io("open the file")(error)),
        }
        self.directory.sync_all().map_err(StoreError::io("sync the directory"))
    }

    fn settings(&self) -> Result<Vec<Setting>> {
        let is_synced = self.guarantee == Guarantee::Power;
        Ok(vec![
            Setting::unverified("write", "rename"),
            Setting::unverified("sync_file", is_synced),
            Setting::unverified("sync_folder", is_synced),
        ])
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

struct OneFileSession<'a> {
    store: &'a OneFile,
}

impl Session for OneFileSession<'_> {
    fn insert(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.store.apply([(key, Some(value))], |records| match records.contains_key(key) {
            true => Err(StoreError::Exists),
            false => Ok(()),
        })
    }

    fn update(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.store.apply([(key, Some(value))], |records| require_key(records, key))
    }

    fn get(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        Ok(self.store.records().get(key).map(|value| visit(value)).is_some())
    }

    fn remove(&mut self, key: &[u8]) -> Result<()> {
        self.store.apply([(key, None)], |records| require_key(records, key))
    }

    fn scan(&mut self, from: &[u8], limit: usize, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize> {
        let records = self.store.records();
        let range = (std::ops::Bound::Included(from), std::ops::Bound::Unbounded);
        Ok(records.range::<[u8], _>(range).take(limit).inspect(|(key, value)| visit(key, value)).count())
    }

    fn insert_batch(&mut self, records: &[(&[u8], &[u8])]) -> Result<()> {
        self.store.apply(records.iter().map(|(key, value)| (*key, Some(*value))), |_| Ok(()))
    }

    fn remove_batch(&mut self, keys: &[&[u8]]) -> Result<()> {
        self.store.apply(keys.iter().map(|key| (*key, None)), |records| {
            keys.iter().try_for_each(|key| require_key(records, key))
        })
    }
}

fn require_key(records: &Records, key: &[u8]) -> Result<()> {
    if records.contains_key(key) { Ok(()) } else { Err(StoreError::Missing) }
}
