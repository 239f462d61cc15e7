//! Records of a server that finds them by their keys alone, in no order.

use storebench_core::store::{Result, Session, StoreError};

/// A key and its new value; none where it is removed.
pub type Change<'a> = (&'a [u8], Option<&'a [u8]>);

/// A connection to such a server.
pub trait Keyed: Send {
    /// The product, as messages name it.
    const PRODUCT: &'static str;
    /// The longest key.
    const MAX_KEY_BYTES: usize;

    /// Sets the value of a key, or removes it.
    ///
    /// # Errors
    /// The server's.
    fn change(&mut self, change: Change<'_>) -> Result<()>;
    /// The same of many keys; of several changes of one key, the last counts.
    ///
    /// # Errors
    /// The server's.
    fn change_all(&mut self, changes: &[Change<'_>]) -> Result<()>;
    /// Shows the value of a key; whether it is there.
    ///
    /// # Errors
    /// The server's.
    fn get(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool>;
    /// The value that was shown last.
    fn shown(&self) -> &[u8];
}

/// A connection, for records.
pub struct KeyedSession<C>(pub C);

impl<C: Keyed> Session for KeyedSession<C> {
    fn insert(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        fits::<C>(key)?;
        self.0.change((key, Some(value)))
    }

    fn update(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.insert(key, value)
    }

    fn get(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        if key.len() > C::MAX_KEY_BYTES {
            return Ok(false);
        }
        self.0.get(key, visit)
    }

    fn copied(&self) -> Option<&[u8]> {
        Some(self.0.shown())
    }

    fn remove(&mut self, key: &[u8]) -> Result<()> {
        fits::<C>(key)?;
        self.0.change((key, None))
    }

    fn scan(&mut self, _: &[u8], _: usize, _: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize> {
        Err(StoreError::Unsupported(format!("{} keeps its keys in no order", C::PRODUCT)))
    }

    fn insert_batch(&mut self, records: &[(&[u8], &[u8])]) -> Result<()> {
        records.iter().try_for_each(|(key, _)| fits::<C>(key))?;
        let changes: Vec<Change<'_>> = records.iter().map(|(key, value)| (*key, Some(*value))).collect();
        self.0.change_all(&changes)
    }

    fn remove_batch(&mut self, keys: &[&[u8]]) -> Result<()> {
        keys.iter().try_for_each(|key| fits::<C>(key))?;
        let changes: Vec<Change<'_>> = keys.iter().map(|key| (*key, None)).collect();
        self.0.change_all(&changes)
    }
}

fn fits<C: Keyed>(key: &[u8]) -> Result<()> {
    if key.len() <= C::MAX_KEY_BYTES {
        return Ok(());
    }
    let (product, most) = (C::PRODUCT, C::MAX_KEY_BYTES);
    Err(StoreError::Unsupported(format!("{product} takes keys of up to {most} bytes here")))
}
