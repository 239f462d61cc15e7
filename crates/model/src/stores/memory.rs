//! `memory`: an ordered map in the process's memory. The ceiling: no disk, no encoding, one lock.

use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::store::{
    Batch, Capabilities, Danger, Guarantee, GuaranteeOffer, Loss, OpenOptions, Result, Session, Setting,
    Store, StoreDef, StoreError, StoreKind, Threads, Transaction, TransactionBody,
};

/// The store that is a map.
pub const MEMORY: StoreDef = StoreDef {
    name: "memory",
    kind: StoreKind::Harness,
    summary: "an ordered map in memory: the ceiling",
    practice: "gone when the process ends",
    version: &|| env!("CARGO_PKG_VERSION").into(),
    capabilities: Capabilities {
        persists: false,
        transactions: true,
        threads: Threads::ManyReadersOneWriter,
        batch: Batch::Grouped,
        notices_existing: true,
        notices_missing: true,
        max_key_bytes: usize::MAX,
        ..Capabilities::DEFAULT
    },
    offers: &[GuaranteeOffer::tearing(
        Guarantee::None,
        "lives in the process's memory",
        &[Danger::new(Loss::Whole, Loss::Whole, "it lives in the process's memory")],
    )],
    open: Ok(&open),
    ..StoreDef::DEFAULT
};

fn open(options: &OpenOptions<'_>) -> Result<Box<dyn Store>> {
    super::refuse_settings(options)?;
    Ok(Box::new(Memory::default()))
}

type Map = BTreeMap<Vec<u8>, Vec<u8>>;

#[derive(Default)]
struct Memory {
    map: RwLock<Map>,
}

impl Memory {
    fn read(&self) -> RwLockReadGuard<'_, Map> {
        self.map.read().unwrap_or_else(PoisonError::into_inner)
    }
    fn write(&self) -> RwLockWriteGuard<'_, Map> {
        self.map.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for Memory {
    fn session(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(MemorySession { store: self }))
    }
    fn guarantee(&self) -> Guarantee {
        Guarantee::None
    }
    fn count(&self) -> Result<u64> {
        Ok(self.read().len() as u64)
    }
    fn settle(&self) -> Result<()> {
        Ok(())
    }
    fn settings(&self) -> Result<Vec<Setting>> {
        Ok(Vec::new())
    }
    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

struct MemorySession<'a> {
    store: &'a Memory,
}

impl Session for MemorySession<'_> {
    fn insert(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        match self.store.write().entry(key.to_vec()) {
            std::collections::btree_map::Entry::Occupied(_) => Err(StoreError::Exists),
            std::collections::btree_map::Entry::Vacant(entry) => {
                entry.insert(value.to_vec());
                Ok(())
            }
        }
    }
    fn update(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let mut map = self.store.write();
        let old_value = map.get_mut(key).ok_or(StoreError::Missing)?;
        old_value.clear();
        old_value.extend_from_slice(value);
        Ok(())
    }
    fn get(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        Ok(self.store.read().get(key).map(|value| visit(value)).is_some())
    }
    fn remove(&mut self, key: &[u8]) -> Result<()> {
        self.store.write().remove(key).map(drop).ok_or(StoreError::Missing)
    }
    fn scan(&mut self, from: &[u8], limit: usize, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize> {
        let map = self.store.read();
        let range = (std::ops::Bound::Included(from), std::ops::Bound::Unbounded);
        Ok(map.range::<[u8], _>(range).take(limit).inspect(|(key, value)| visit(key, value)).count())
    }
    fn insert_batch(&mut self, records: &[(&[u8], &[u8])]) -> Result<()> {
        self.store.write().extend(records.iter().map(|(key, value)| (key.to_vec(), value.to_vec())));
        Ok(())
    }
    fn transact(&mut self, work: &mut TransactionBody<'_>) -> Result<()> {
        let mut transaction = MemoryTransaction { map: self.store.write(), changes: Map::new() };
        work(&mut transaction)?;
        let MemoryTransaction { mut map, changes } = transaction;
        map.extend(changes);
        Ok(())
    }
}

/// A transaction: the locked map, and its writes.
struct MemoryTransaction<'a> {
    map: RwLockWriteGuard<'a, Map>,
    changes: Map,
}

impl Transaction for MemoryTransaction<'_> {
    fn get(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        let value = self.changes.get(key).or_else(|| self.map.get(key));
        Ok(value.map(|value| visit(value)).is_some())
    }
    fn get_to_change(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        self.get(key, visit)
    }
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.changes.insert(key.to_vec(), value.to_vec());
        Ok(())
    }
}
