//! Stores that look right while they are measured, and are not: each of them once passed, and some of them won.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use storebench_model::store::{
    Batch, Capabilities, Danger, Guarantee, GuaranteeOffer, OpenFn, OpenOptions, Result, Session, Store,
    StoreDef, StoreError, StoreKind,
};
use storebench_model::stores::{FLAT_FOLDER, MEMORY};

/// A difference between what a store does and what it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lie {
    /// Nothing: it does what it says.
    None,
    /// Leaves every value as it was inserted.
    DropsUpdates,
    /// Removes nothing.
    KeepsRemoved,
    /// Removes until it is closed.
    RevivesRemoved,
    /// Loses one write in ten thousand, and counts it all the same.
    Loses,
    /// Says `power` and never syncs.
    NeverSyncs,
    /// Keeps everything in memory until it is closed.
    Forgets,
    /// Keeps everything in static memory, writes nothing, and finds it again in the same process.
    Hides,
}

/// The entry of a store that lies. It is an engine to all appearances, so that it competes.
pub const fn liar(name: &'static str, summary: &'static str, open: OpenFn) -> StoreDef {
    StoreDef {
        name,
        kind: StoreKind::Engine,
        summary,
        version: &|| env!("CARGO_PKG_VERSION").into(),
        capabilities: Capabilities {
            order: false,
            batch: Batch::Grouped,
            any_byte_in_keys: false,
            max_key_bytes: 255,
            ..Capabilities::DEFAULT
        },
        offers: const {
            &[
                GuaranteeOffer::tearing(Guarantee::None, "none", Danger::NEWEST),
                GuaranteeOffer::tearing(Guarantee::Process, "none", Danger::NEWEST),
                GuaranteeOffer::tearing(Guarantee::Power, "none", Danger::NOTHING),
            ]
        },
        shipped: Guarantee::Process,
        open: Ok(open),
        ..StoreDef::DEFAULT
    }
}

/// Opens it, over files or over memory. At `none` it does what it does at `process`.
pub fn open(options: &OpenOptions<'_>, lie: Lie) -> Result<Box<dyn Store>> {
    let guarantee = options.guarantee.unwrap_or(Guarantee::Process);
    let inner = match lie {
        Lie::Forgets => Arc::from(memory(options)?),
        Lie::Hides => hidden(options)?,
        // One that never syncs is the folder at `process`.
        Lie::NeverSyncs => Arc::from(folder(options, Guarantee::Process)?),
        _ => Arc::from(folder(options, guarantee)?),
    };
    Ok(Box::new(Liar {
        inner,
        lie,
        guarantee,
        writes: AtomicU64::new(0),
        lost: AtomicU64::new(0),
        removed: Mutex::default(),
    }))
}

/// A folder of files; it has no tier below `process`.
pub fn folder(options: &OpenOptions<'_>, guarantee: Guarantee) -> Result<Box<dyn Store>> {
    let guarantee = guarantee.max(Guarantee::Process);
    let open = FLAT_FOLDER.open.map_err(|reason| StoreError::Unsupported(reason.into()))?;
    open(&OpenOptions { guarantee: Some(guarantee), ..options.clone() })
}

pub fn memory(options: &OpenOptions<'_>) -> Result<Box<dyn Store>> {
    let open = MEMORY.open.map_err(|reason| StoreError::Unsupported(reason.into()))?;
    open(&OpenOptions { guarantee: None, ..options.clone() })
}

/// The map in memory that is kept for a folder as long as the process lives.
pub fn hidden(options: &OpenOptions<'_>) -> Result<Arc<dyn Store>> {
    static KEPT: Mutex<Vec<(PathBuf, Arc<dyn Store>)>> = Mutex::new(Vec::new());
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, store)) = kept.iter().find(|(path, _)| path == options.directory) {
        return Ok(Arc::clone(store));
    }
    let store: Arc<dyn Store> = Arc::from(memory(options)?);
    kept.push((options.directory.into(), Arc::clone(&store)));
    Ok(store)
}

struct Liar {
    inner: Arc<dyn Store>,
    lie: Lie,
    guarantee: Guarantee,
    writes: AtomicU64,
    lost: AtomicU64,
    /// The records that were removed, to be revived.
    removed: Mutex<Vec<(Vec<u8>, Vec<u8>)>>,
}

impl Store for Liar {
    fn session(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(LiarSession { inner: self.inner.session()?, store: self }))
    }
    fn guarantee(&self) -> Guarantee {
        self.guarantee
    }
    fn count(&self) -> Result<u64> {
        Ok(self.inner.count()? + self.lost.load(Ordering::Relaxed))
    }
    storebench_model::pass_on!(inner: settle, settings);
    fn close(self: Box<Self>) -> Result<()> {
        let removed = self.removed.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut session = self.inner.session()?;
        for (key, value) in removed.iter().filter(|_| self.lie == Lie::RevivesRemoved) {
            session.insert(key, value)?;
        }
        drop(session);
        Ok(())
    }
}

struct LiarSession<'a> {
    inner: Box<dyn Session + 'a>,
    store: &'a Liar,
}

impl LiarSession<'_> {
    fn is_lost(&self) -> bool {
        let number = self.store.writes.fetch_add(1, Ordering::Relaxed) + 1;
        self.store.lie == Lie::Loses && number.is_multiple_of(10_000)
    }

    fn remember(&mut self, key: &[u8]) -> Result<()> {
        let mut removed = self.store.removed.lock().unwrap_or_else(PoisonError::into_inner);
        self.inner.get(key, &mut |value| removed.push((key.to_vec(), value.to_vec())))?;
        Ok(())
    }
}

impl Session for LiarSession<'_> {
    fn insert(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        if self.is_lost() {
            self.store.lost.fetch_add(1, Ordering::Relaxed);
            return Ok(());
        }
        if self.store.lie == Lie::RevivesRemoved {
            let mut removed = self.store.removed.lock().unwrap_or_else(PoisonError::into_inner);
            removed.retain(|(removed_key, _)| removed_key != key);
        }
        self.inner.insert(key, value)
    }
    fn update(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        if self.store.lie == Lie::DropsUpdates || self.is_lost() {
            return Ok(());
        }
        self.inner.update(key, value)
    }
    storebench_model::pass_on!(inner: get, scan);
    fn remove(&mut self, key: &[u8]) -> Result<()> {
        match self.store.lie {
            Lie::KeepsRemoved => return Ok(()),
            Lie::RevivesRemoved => self.remember(key)?,
            _ => {}
        }
        self.inner.remove(key)
    }
    fn insert_batch(&mut self, records: &[(&[u8], &[u8])]) -> Result<()> {
        let mut kept = Vec::with_capacity(records.len());
        for record in records {
            if self.is_lost() {
                self.store.lost.fetch_add(1, Ordering::Relaxed);
            } else {
                kept.push(*record);
            }
        }
        self.inner.insert_batch(&kept)
    }
}
