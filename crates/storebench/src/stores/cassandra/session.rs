//! Records, each a row of a table.

use storebench_core::store::{Result, Session, StoreError};

use super::MAX_KEY_BYTES;
use super::client::{Change, Client};

/// A connection, for records.
pub struct Records(pub Client);

impl Session for Records {
    fn insert(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        fits(key)?;
        self.0.change((key, Some(value)))
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
        self.0.change((key, None))
    }

    fn scan(&mut self, _: &[u8], _: usize, _: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize> {
        Err(StoreError::Unsupported("Cassandra keeps its keys in the order of their hashes".into()))
    }

    fn insert_batch(&mut self, records: &[(&[u8], &[u8])]) -> Result<()> {
        records.iter().try_for_each(|(key, _)| fits(key))?;
        let changes: Vec<Change<'_>> = records.iter().map(|(key, value)| (*key, Some(*value))).collect();
        self.0.change_all(&changes)
    }

    fn remove_batch(&mut self, keys: &[&[u8]]) -> Result<()> {
        keys.iter().try_for_each(|key| fits(key))?;
        let changes: Vec<Change<'_>> = keys.iter().map(|key| (*key, None)).collect();
        self.0.change_all(&changes)
    }
}

/// The length of a key takes two bytes.
fn fits(key: &[u8]) -> Result<()> {
    if key.len() <= MAX_KEY_BYTES {
        return Ok(());
    }
    Err(StoreError::Unsupported(format!("Cassandra takes keys of up to {MAX_KEY_BYTES} bytes")))
}
