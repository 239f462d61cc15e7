//! One thread's calls on WiredTiger.

use storebench_core::store::{Result, Session, StoreError, Transaction, TransactionBody};

use super::library::Handle;

/// So often a batch is tried again that had to give way to another session.
const TRIES: u32 = 20;

pub struct WiredTigerSession<'a>(pub Handle<'a>);

impl WiredTigerSession<'_> {
    /// Many writes in one transaction.
    fn batch<T>(&self, items: &[T], one: impl Fn(&Handle<'_>, &T) -> Result<()>) -> Result<()> {
        let mut tries = 0;
        loop {
            match self.0.transact(|session| items.iter().try_for_each(|item| one(session, item))) {
                Err(StoreError::Conflict(_)) if tries < TRIES => tries += 1,
                done => return done,
            }
        }
    }
}

impl Session for WiredTigerSession<'_> {
    fn insert(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.0.put(key, value)
    }

    fn update(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.0.put(key, value)
    }

    fn get(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        self.0.get(key, visit)
    }

    fn remove(&mut self, key: &[u8]) -> Result<()> {
        self.0.remove(key)
    }

    fn scan(&mut self, from: &[u8], limit: usize, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize> {
        self.0.scan(from, limit, visit)
    }

    fn insert_batch(&mut self, records: &[(&[u8], &[u8])]) -> Result<()> {
        self.batch(records, |session, (key, value)| session.put(key, value))
    }

    fn remove_batch(&mut self, keys: &[&[u8]]) -> Result<()> {
        self.batch(keys, |session, key| session.remove(key))
    }

    fn transact(&mut self, work: &mut TransactionBody<'_>) -> Result<()> {
        self.0.transact(|session| work(&mut Open(session)))
    }
}

/// A transaction that has begun. It reads one state, and the engine has it roll back where it writes a record that another one has
/// changed since.
struct Open<'a, 'b>(&'a Handle<'b>);

impl Transaction for Open<'_, '_> {
    fn get(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        self.0.get(key, visit)
    }

    fn get_to_change(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        self.0.get(key, visit)
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.0.put(key, value)
    }
}
