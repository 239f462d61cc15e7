//! Records, each a message whose subject is its key.

use storebench_core::store::{Result, Session, StoreError};

use super::MAX_KEY_BYTES;
use super::client::Client;

/// A connection, for records.
pub struct Records(pub Client);

impl Session for Records {
    fn insert(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        fits(key)?;
        self.0.put(key, value)
    }

    fn update(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.insert(key, value)
    }

    fn get(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        if key.len() > MAX_KEY_BYTES {
            return Ok(false);
        }
        self.0.get(key, visit)
    }

    fn copied(&self) -> Option<&[u8]> {
        Some(self.0.shown())
    }

    fn remove(&mut self, key: &[u8]) -> Result<()> {
        fits(key)?;
        self.0.remove(key)
    }

    fn scan(&mut self, _: &[u8], _: usize, _: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize> {
        Err(StoreError::Unsupported("NATS keeps its keys in no order".into()))
    }

    fn insert_batch(&mut self, records: &[(&[u8], &[u8])]) -> Result<()> {
        records.iter().try_for_each(|(key, _)| fits(key))?;
        let changes: Vec<_> = records.iter().map(|(key, value)| (*key, Some(*value))).collect();
        self.0.change_all(&changes)
    }

    fn remove_batch(&mut self, keys: &[&[u8]]) -> Result<()> {
        keys.iter().try_for_each(|key| fits(key))?;
        let changes: Vec<_> = keys.iter().map(|key| (*key, None)).collect();
        self.0.change_all(&changes)
    }
}

/// A key is a part of a subject, which is a part of a line.
fn fits(key: &[u8]) -> Result<()> {
    if key.len() <= MAX_KEY_BYTES {
        return Ok(());
    }
    Err(StoreError::Unsupported(format!("NATS takes keys of up to {MAX_KEY_BYTES} bytes here")))
}
