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
    Batch, Capabilities, Danger, Guarantee, GuaranteeOffer, Loss, OpenOptions, Result, Session, Setting,
    Store, StoreDef, StoreError, StoreKind, Threads,
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
        batch: Batch::Atomic,
        ..Capabilities::DEFAULT
    },
    offers: &[
        GuaranteeOffer {
            guarantee: Guarantee::Process,
            settings: "write under a temporary name, rename",
            atomic_replace: true,
            dangers: &[Danger::new(
                Loss::Nothing,
                Loss::Whole,
                "the new name can be there without the file's content",
            )],
        },
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

type Map = BTreeMap<Vec<u8>, Vec<u8>>;

fn open(options: &OpenOptions<'_>) -> Result<Box<dyn Store>> {
    refuse_settings(options)?;
    let tier = options.guarantee.unwrap_or(ONE_FILE.shipped);
    if tier == Guarantee::None {
        return Err(StoreError::Unsupported("a written file always survives a killed process".into()));
    }
    let directory = File::open(options.directory).map_err(StoreError::io("open the store's directory"))?;
    let map = read(options.directory)?;
    let store = OneFile { directory, tier, map: RwLock::new(map), writer: Mutex::default() };
    store.remove_temporary()?;
    if tier == Guarantee::Power {
        // An earlier process may not have lived to sync what it wrote: it counts as such from here on.
        store.settle()?;
    }
    Ok(Box::new(store))
}

/// The records; none without a file.
fn read(directory: &Path) -> Result<Map> {
    let mut text = Vec::new();
    match File::open(directory.join(FILE)) {
        Ok(mut file) => file.read_to_end(&mut text).map_err(StoreError::io("read the file"))?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Map::new()),
        Err(error) => return Err(StoreError::io("open the file")(error)),
    };
    json::read(&text).map_err(|error| StoreError::Engine(format!("{FILE} is not a file of records: {error}")))
}

struct OneFile {
    directory: File,
    tier: Guarantee,
    map: RwLock<Map>,
    /// Held by the writer, with the text of the file: writers take turns, and readers don't wait for the disk.
    writer: Mutex<Vec<u8>>,
}

impl OneFile {
    fn records(&self) -> RwLockReadGuard<'_, Map> {
        self.map.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self) -> RwLockWriteGuard<'_, Map> {
        self.map.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces or removes values and writes the file, if `allowed`. If the file can't be written, nothing changes.
    fn put<'r>(
        &self,
        changes: impl IntoIterator<Item = (&'r [u8], Option<&'r [u8]>)>,
        allowed: impl FnOnce(&Map) -> Result<()>,
    ) -> Result<()> {
        let mut text = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        allowed(&self.records())?;
        let mut before = Vec::new();
        {
            let mut map = self.change();
            for (key, value) in changes {
                let old = match value {
                    Some(value) => map.insert(key.to_vec(), value.to_vec()),
                    None => map.remove(key),
                };
                before.push((key, old));
            }
        }
        text.clear();
        json::write(&self.records(), &mut text);
        let written = self.replace(&text);
        if written.is_err() {
            let mut map = self.change();
            for (key, old) in before.into_iter().rev() {
                match old {
                    Some(value) => map.insert(key.to_vec(), value),
                    None => map.remove(key),
                };
            }
        }
        written
    }

    fn replace(&self, text: &[u8]) -> Result<()> {
        let power = self.tier == Guarantee::Power;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.directory, TEMPORARY, flags, Mode::from_raw_mode(0o666));
        let mut file = File::from(file.map_err(StoreError::io("make the new file"))?);
        let written = file.write_all(text).and_then(|()| if power { file.sync_all() } else { Ok(()) });
        drop(file);
        let renamed = written.map_err(StoreError::io("write the new file")).and_then(|()| {
            rustix::fs::renameat(&self.directory, TEMPORARY, &self.directory, FILE)
                .map_err(StoreError::io("rename the new file"))
        });
        if renamed.is_err() {
            // The write's error is reported, and the next opening removes what is left.
            let _ = self.remove_temporary();
        }
        renamed?;
        if power { self.directory.sync_all().map_err(StoreError::io("sync the directory")) } else { Ok(()) }
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
        self.tier
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
        let power = self.tier == Guarantee::Power;
        Ok(vec![
            Setting::unverified("write", "rename"),
            Setting::unverified("sync_file", power),
            Setting::unverified("sync_folder", power),
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
        self.store.put([(key, Some(value))], |map| match map.contains_key(key) {
            true => Err(StoreError::Exists),
            false => Ok(()),
        })
    }

    fn update(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.store.put([(key, Some(value))], |map| is_there(map, key))
    }

    fn get(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        Ok(self.store.records().get(key).map(|value| visit(value)).is_some())
    }

    fn remove(&mut self, key: &[u8]) -> Result<()> {
        self.store.put([(key, None)], |map| is_there(map, key))
    }

    fn scan(&mut self, from: &[u8], limit: usize, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize> {
        let map = self.store.records();
        let range = (std::ops::Bound::Included(from), std::ops::Bound::Unbounded);
        Ok(map.range::<[u8], _>(range).take(limit).inspect(|(key, value)| visit(key, value)).count())
    }

    fn insert_batch(&mut self, records: &[(&[u8], &[u8])]) -> Result<()> {
        self.store.put(records.iter().map(|(key, value)| (*key, Some(*value))), |_| Ok(()))
    }

    fn remove_batch(&mut self, keys: &[&[u8]]) -> Result<()> {
        self.store.put(keys.iter().map(|key| (*key, None)), |map| {
            keys.iter().try_for_each(|key| is_there(map, key))
        })
    }
}

fn is_there(map: &Map, key: &[u8]) -> Result<()> {
    if map.contains_key(key) { Ok(()) } else { Err(StoreError::Missing) }
}
