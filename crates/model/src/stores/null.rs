//! `null`: does nothing. Driving it measures the harness itself.

use crate::store::{
    Batch, Capabilities, Danger, Guarantee, GuaranteeOffer, Loss, OpenOptions, Result, Session, Setting,
    Store, StoreDef, StoreError, StoreKind,
};

/// The store that does nothing.
pub const NULL: StoreDef = StoreDef {
    name: "null",
    kind: StoreKind::Harness,
    summary: "does nothing: the harness's floor",
    version: &|| env!("CARGO_PKG_VERSION").into(),
    capabilities: Capabilities {
        keeps: false,
        persists: false,
        order: false,
        batch: Batch::Grouped,
        max_key_bytes: usize::MAX,
        ..Capabilities::DEFAULT
    },
    offers: &[GuaranteeOffer::tearing(
        Guarantee::None,
        "keeps nothing",
        &[Danger::new(Loss::Whole, Loss::Whole, "it keeps nothing")],
    )],
    open: Ok(&open),
    ..StoreDef::DEFAULT
};

fn open(options: &OpenOptions<'_>) -> Result<Box<dyn Store>> {
    super::refuse_settings(options)?;
    Ok(Box::new(Null))
}

struct Null;

impl Store for Null {
    fn session(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(Null))
    }
    fn guarantee(&self) -> Guarantee {
        Guarantee::None
    }
    fn count(&self) -> Result<u64> {
        Ok(0)
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

impl Session for Null {
    fn insert(&mut self, _: &[u8], _: &[u8]) -> Result<()> {
        Ok(())
    }
    fn update(&mut self, _: &[u8], _: &[u8]) -> Result<()> {
        Ok(())
    }
    fn get(&mut self, _: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        visit(&[]);
        Ok(true)
    }
    fn remove(&mut self, _: &[u8]) -> Result<()> {
        Ok(())
    }
    fn scan(&mut self, _: &[u8], _: usize, _: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize> {
        Err(StoreError::Unsupported("null keeps no order".into()))
    }
    fn insert_batch(&mut self, _: &[(&[u8], &[u8])]) -> Result<()> {
        Ok(())
    }
}
