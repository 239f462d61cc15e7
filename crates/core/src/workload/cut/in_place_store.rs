//! A made store that every cut check must catch: it overwrites records in place, without journal or checksums, and syncs each
//! write. A record has two blocks of its file, of which a power cut may leave one old and the other new.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use storebench_model::store::{Guarantee, Result, Session, Setting, Store, StoreError};

/// A record has a block for flag, key and length, and one for its value.
const BLOCK: usize = 4096;
const SLOT: usize = 2 * BLOCK;
const KEY: usize = 32;
/// The file has room for these records from the beginning: no write changes its size or blocks.
const ROOM: u64 = 1_000;

/// Its file, and each key's slot.
struct InPlace {
    file: File,
    slots: Mutex<Slots>,
}

#[derive(Default)]
struct Slots {
    by_key: BTreeMap<Vec<u8>, u64>,
    /// The first slots are or were in use.
    count: u64,
}

pub(super) fn open(directory: &Path) -> Result<Box<dyn Store>> {
    Ok(Box::new(open_file(directory).map_err(StoreError::io("open its file"))?))
}

fn open_file(directory: &Path) -> io::Result<InPlace> {
    let path = directory.join("records");
    let file = File::options().read(true).write(true).create(true).truncate(false).open(path)?;
    if file.metadata()?.len() == 0 {
        (0..ROOM).try_for_each(|slot| file.write_all_at(&[0; SLOT], slot * SLOT as u64))?;
        file.sync_all()?;
        File::open(directory)?.sync_all()?;
    }
    let mut slots = Slots::default();
    for slot in 0..file.metadata()?.len() / SLOT as u64 {
        let mut head = [0; 1 + KEY];
        file.read_exact_at(&mut head, slot * SLOT as u64)?;
        if head[0] == 1 {
            slots.by_key.insert(head[1..].to_vec(), slot);
            slots.count = slot + 1;
        }
    }
    Ok(InPlace { file, slots: Mutex::new(slots) })
}

impl InPlace {
    fn slots(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, slot: u64, key: &[u8], value: Option<&[u8]>) -> Result<()> {
        let mut bytes = vec![0; SLOT];
        if let Some(value) = value {
            let fits = key.len() == KEY && value.len() <= BLOCK;
            fits.then_some(()).ok_or_else(|| StoreError::Unsupported("a record of this size".into()))?;
            bytes[0] = 1;
            bytes[1..=KEY].copy_from_slice(key);
            bytes[KEY + 1..KEY + 3].copy_from_slice(&(value.len() as u16).to_le_bytes());
            bytes[BLOCK..BLOCK + value.len()].copy_from_slice(value);
        }
        self.file.write_all_at(&bytes, slot * SLOT as u64).map_err(StoreError::io("write a record"))
    }

    fn put(&self, records: &[(&[u8], &[u8])]) -> Result<()> {
        for (key, value) in records {
            let slot = {
                let mut slots = self.slots();
                let next = slots.count;
                let slot = *slots.by_key.entry(key.to_vec()).or_insert(next);
                slots.count += u64::from(slot == next);
                slot
            };
            self.write(slot, key, Some(value))?;
        }
        self.sync()
    }

    fn sync(&self) -> Result<()> {
        self.file.sync_data().map_err(StoreError::io("sync its file"))
    }
}

impl Store for InPlace {
    fn session(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(self))
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::Power
    }

    fn count(&self) -> Result<u64> {
        Ok(self.slots().by_key.len() as u64)
    }

    fn settle(&self) -> Result<()> {
        self.sync()
    }

    fn settings(&self) -> Result<Vec<Setting>> {
        Ok(Vec::new())
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

impl Session for &InPlace {
    fn insert(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.put(&[(key, value)])
    }

    fn update(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.put(&[(key, value)])
    }

    fn get(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        let Some(slot) = self.slots().by_key.get(key).copied() else { return Ok(false) };
        let mut bytes = [0; SLOT];
        self.file.read_exact_at(&mut bytes, slot * SLOT as u64).map_err(StoreError::io("read a record"))?;
        let length = u16::from_le_bytes([bytes[KEY + 1], bytes[KEY + 2]]);
        visit(bytes[BLOCK..].get(..usize::from(length)).unwrap_or(&[]));
        Ok(true)
    }

    fn remove(&mut self, key: &[u8]) -> Result<()> {
        if let Some(slot) = self.slots().by_key.remove(key) {
            self.write(slot, key, None)?;
        }
        self.sync()
    }

    fn scan(&mut self, _: &[u8], _: usize, _: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize> {
        Err(StoreError::Unsupported("it has no order".into()))
    }

    fn insert_batch(&mut self, records: &[(&[u8], &[u8])]) -> Result<()> {
        self.put(records)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::kill::MOST_BYTES;
    use crate::workload::kill::steps::{expected, record_key, record_value, take};

    #[test]
    fn it_has_what_was_written_when_nothing_is_cut() {
        let folder = tempfile::tempdir().unwrap();
        let store = open(folder.path()).unwrap();
        (0..40).for_each(|number| take(&mut *store.session().unwrap(), number, MOST_BYTES).unwrap());
        store.close().unwrap();
        let store = open(folder.path()).unwrap();
        let expected = expected(40);
        assert_eq!(store.count().unwrap(), expected.len() as u64);
        let mut session = store.session().unwrap();
        for (record, step) in expected {
            let mut value = Vec::new();
            assert!(session.get(record_key(record).as_bytes(), &mut |bytes| value = bytes.into()).unwrap());
            assert_eq!(value, record_value(record, step, MOST_BYTES));
        }
    }
}
