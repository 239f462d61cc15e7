//! Sessions over records: each is a key.

use storebench_core::store::{Result, Session, StoreError};

use super::client::{Client, MAX_KEY_BYTES};

pub struct Records(pub Client);

impl Session for Records {
    fn insert(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        check_key(key)?;
        self.0.set(key, value)
    }

    fn update(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.insert(key, value)
    }

    fn get(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        self.0.get(key, visit)
    }

    fn copied(&self) -> Option<&[u8]> {
        Some(self.0.shown_value())
    }

    fn remove(&mut self, key: &[u8]) -> Result<()> {
        self.0.remove(&[key])
    }

    fn scan(&mut self, _: &[u8], _: usize, _: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize> {
        Err(StoreError::Unsupported("Redis keeps its keys in no order".into()))
    }

    fn insert_batch(&mut self, records: &[(&[u8], &[u8])]) -> Result<()> {
        records.iter().try_for_each(|(key, _)| check_key(key))?;
        self.0.set_all(records)
    }

    fn remove_batch(&mut self, keys: &[&[u8]]) -> Result<()> {
        self.0.remove(keys)
    }
}

/// The server closes a session that sends a longer key.
fn check_key(key: &[u8]) -> Result<()> {
    if key.len() <= MAX_KEY_BYTES {
        return Ok(());
    }
    Err(StoreError::Unsupported(format!("Redis takes keys of up to {MAX_KEY_BYTES} bytes here")))
}
