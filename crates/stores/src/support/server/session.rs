//! Records, by statements that are prepared once for each session.

use std::marker::PhantomData;

use storebench_core::store::sql::SqlValue;
use storebench_core::store::{Result, Session, StoreError};

use super::dialect::{Connection, Dialect};
use super::kind::Server;

type Statement<D> = <<D as Server>::Client as Connection>::Statement;

pub struct RecordSession<D: Dialect> {
    client: D::Client,
    insert: Statement<D>,
    inserts: <D::Client as Connection>::Inserts,
    update: Statement<D>,
    get: Statement<D>,
    remove: Statement<D>,
    scan: Statement<D>,
    dialect: PhantomData<D>,
}

impl<D: Dialect> RecordSession<D> {
    pub fn open(mut client: D::Client) -> Result<Box<dyn Session>> {
        Ok(Box::new(Self {
            insert: client.prepare(D::RECORDS.insert)?,
            inserts: client.prepare_inserts()?,
            update: client.prepare(D::RECORDS.update)?,
            get: client.prepare(D::RECORDS.get)?,
            remove: client.prepare(D::RECORDS.remove)?,
            scan: client.prepare(D::RECORDS.scan)?,
            client,
            dialect: PhantomData,
        }))
    }
}

impl<D: Dialect> Session for RecordSession<D> {
    fn insert(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        check_key::<D>(key)?;
        self.client.run(&self.insert, &[SqlValue::Blob(key), SqlValue::Blob(value)]).map(drop)
    }

    fn update(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        check_key::<D>(key)?;
        check_found(self.client.run(&self.update, &[SqlValue::Blob(value), SqlValue::Blob(key)])?)
    }

    fn get(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        self.client.get(&self.get, key, visit)
    }

    fn copied(&self) -> Option<&[u8]> {
        Some(self.client.shown_value())
    }

    fn remove(&mut self, key: &[u8]) -> Result<()> {
        check_found(self.client.run(&self.remove, &[SqlValue::Blob(key)])?)
    }

    fn scan(&mut self, from: &[u8], limit: usize, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize> {
        let limit = SqlValue::Integer(i64::try_from(limit).unwrap_or(i64::MAX));
        let rows = self.client.scan(&self.scan, &[SqlValue::Blob(from), limit], visit)?;
        usize::try_from(rows).map_err(StoreError::engine)
    }

    fn insert_batch(&mut self, records: &[(&[u8], &[u8])]) -> Result<()> {
        records.iter().try_for_each(|(key, _)| check_key::<D>(key))?;
        self.client.insert_all(&self.insert, &self.inserts, records)
    }

    fn remove_batch(&mut self, keys: &[&[u8]]) -> Result<()> {
        self.client.remove_all(&self.remove, keys)
    }
}

/// An index limits the length of its entries.
fn check_key<D: Dialect>(key: &[u8]) -> Result<()> {
    if key.len() <= D::MAX_KEY_BYTES {
        return Ok(());
    }
    Err(StoreError::Unsupported(format!(
        "{}'s index takes keys of up to {} bytes here",
        D::programs().product,
        D::MAX_KEY_BYTES
    )))
}

fn check_found(changed: u64) -> Result<()> {
    if changed > 0 { Ok(()) } else { Err(StoreError::Missing) }
}
