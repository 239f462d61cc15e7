//! The store `memory`, with a fault.

use storebench_model::store::{
    Batch, Capabilities, Danger, Guarantee, GuaranteeOffer, OpenFn, OpenOptions, Result, Session, Setting,
    Store, StoreDef, StoreError, StoreKind,
};
use storebench_model::stores::MEMORY;

use crate::compaction;
use crate::fault::Fault;

/// The entry of a faulty store. It promises `process`, so that it can take part in any study.
pub const fn faulty(name: &'static str, summary: &'static str, open: OpenFn) -> StoreDef {
    StoreDef {
        name,
        kind: StoreKind::Harness,
        summary,
        version: &|| env!("CARGO_PKG_VERSION").into(),
        capabilities: Capabilities { persists: false, batch: Batch::Grouped, ..Capabilities::DEFAULT },
        offers: const { &[GuaranteeOffer::tearing(Guarantee::Process, "none", Danger::NEWEST)] },
        shipped: Guarantee::Process,
        open: Ok(open),
        ..StoreDef::DEFAULT
    }
}

pub fn open(options: &OpenOptions<'_>, fault: Fault) -> Result<Box<dyn Store>> {
    if fault == Fault::Refuses {
        return Err(StoreError::Unsupported("this system has no tape: attach one".into()));
    }
    let open = MEMORY.open.map_err(|reason| StoreError::Unsupported(reason.into()))?;
    Ok(Box::new(Faulty { inner: open(options)?, fault, directory: options.directory.into() }))
}

struct Faulty {
    inner: Box<dyn Store>,
    fault: Fault,
    directory: std::path::PathBuf,
}

impl Store for Faulty {
    fn session(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(FaultySession { inner: self.inner.session()?, store: self }))
    }
    fn guarantee(&self) -> Guarantee {
        if self.fault == Fault::Weakens { Guarantee::None } else { Guarantee::Process }
    }
    fn count(&self) -> Result<u64> {
        Ok(self.inner.count()? + u64::from(self.fault == Fault::Miscounts))
    }
    storebench_model::pass_on!(inner: settle, settings, close);
    fn statistics(&self) -> Result<Vec<Setting>> {
        Ok(vec![Setting::read_back("slowed", compaction::slowed())])
    }
}

struct FaultySession<'a> {
    inner: Box<dyn Session + 'a>,
    store: &'a Faulty,
}

impl FaultySession<'_> {
    fn write(&self, operation: &str, key: &[u8], value: &[u8]) -> Result<()> {
        self.store.fault.strike(operation, key, value, &self.store.directory)
    }
}

impl Session for FaultySession<'_> {
    fn insert(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.write("insert", key, value)?;
        self.inner.insert(key, value)
    }
    fn update(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.write("update", key, value)?;
        self.inner.update(key, value)
    }
    fn get(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        let fault = self.store.fault;
        if fault == Fault::Misses {
            return Ok(false);
        }
        self.write("get", key, &[])?;
        self.inner.get(key, &mut |value| match value {
            [start @ .., last] if fault == Fault::Lies => visit(&[start, &[!last]].concat()),
            [start @ .., _] if fault == Fault::Shortens => visit(start),
            value => visit(value),
        })
    }
    fn remove(&mut self, key: &[u8]) -> Result<()> {
        self.write("remove", key, &[])?;
        self.inner.remove(key)
    }
    fn scan(&mut self, from: &[u8], limit: usize, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize> {
        self.inner.scan(from, limit, visit)
    }
    fn insert_batch(&mut self, records: &[(&[u8], &[u8])]) -> Result<()> {
        for (key, value) in records {
            self.write("load", key, value)?;
        }
        self.inner.insert_batch(records)
    }
}
