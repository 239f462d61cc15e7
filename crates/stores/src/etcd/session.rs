//! Sessions over records: each is a key.

use storebench_core::store::{Result, Session, StoreError};

use super::client::Client;

/// Keys are a part of a request, which has a limit.
pub const MAX_KEY_BYTES: usize = 1 << 20;

pub struct Records(pub Client);

impl Session for Records {
    fn insert(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        check_key(key)?;
        self.0.put(key, value)
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
        self.0.remove(key)
    }

    fn scan(&mut self, from: &[u8], limit: usize, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize> {
        self.0.scan(from, limit, visit)
    }

    fn insert_batch(&mut self, records: &[(&[u8], &[u8])]) -> Result<()> {
        records.iter().try_for_each(|(key, _)| check_key(key))?;
        let changes: Vec<_> = records.iter().map(|(key, value)| (*key, Some(*value))).collect();
        self.0.change_all(&changes)
    }

    fn remove_batch(&mut self, keys: &[&[u8]]) -> Result<()> {
        let changes: Vec<_> = keys.iter().map(|key| (*key, None)).collect();
        self.0.change_all(&changes)
    }
}

/// As shipped a request has at most 1.5 MiB, keys included.
fn check_key(key: &[u8]) -> Result<()> {
    if key.len() <= MAX_KEY_BYTES {
        return Ok(());
    }
    Err(StoreError::Unsupported(format!("etcd takes keys of up to {MAX_KEY_BYTES} bytes here")))
}
