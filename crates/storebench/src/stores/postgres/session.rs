//! Records, by statements that are prepared once for each session.

use bytes::Bytes;
use storebench_core::store::sql::SqlValue;
use storebench_core::store::{Result, Session, StoreError};

use super::MAX_KEY_BYTES;
use super::client::{Client, Statement};
use super::wire::Columns;

/// A connection with its statements.
pub struct PostgresSession {
    client: Client,
    insert: Statement,
    update: Statement,
    get: Statement,
    remove: Statement,
    scan: Statement,
    /// The value that was shown last.
    shown: Bytes,
}

impl PostgresSession {
    /// Prepares the statements on a connection.
    ///
    /// # Errors
    /// The server's.
    pub fn new(mut client: Client) -> Result<PostgresSession> {
        let mut prepare = |sql| client.prepare(sql);
        let insert = prepare("INSERT INTO records (key, value) VALUES ($1, $2)")?;
        let update = prepare("UPDATE records SET value = $2 WHERE key = $1")?;
        let get = prepare("SELECT value FROM records WHERE key = $1")?;
        let remove = prepare("DELETE FROM records WHERE key = $1")?;
        let scan = prepare("SELECT key, value FROM records WHERE key >= $1 ORDER BY key LIMIT $2")?;
        Ok(PostgresSession { client, insert, update, get, remove, scan, shown: Bytes::new() })
    }
}

impl Session for PostgresSession {
    fn insert(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        fits(key)?;
        self.client.run(&self.insert, &[SqlValue::Blob(key), SqlValue::Blob(value)], |_| ()).map(drop)
    }

    fn update(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        fits(key)?;
        found(self.client.run(&self.update, &[SqlValue::Blob(key), SqlValue::Blob(value)], |_| ())?)
    }

    fn get(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        // Its memory can be used again.
        self.shown = Bytes::new();
        let shown = &mut self.shown;
        let rows = self.client.run(&self.get, &[SqlValue::Blob(key)], |row| {
            if let Some(Some(value)) = Columns(row).next() {
                *shown = row.slice_ref(value);
                visit(value);
            }
        })?;
        Ok(rows > 0)
    }

    fn copied(&self) -> Option<&[u8]> {
        Some(&self.shown)
    }

    fn remove(&mut self, key: &[u8]) -> Result<()> {
        found(self.client.run(&self.remove, &[SqlValue::Blob(key)], |_| ())?)
    }

    fn scan(&mut self, from: &[u8], limit: usize, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize> {
        let limit = SqlValue::Integer(i64::try_from(limit).unwrap_or(i64::MAX));
        let rows = self.client.run(&self.scan, &[SqlValue::Blob(from), limit], |row| {
            let mut columns = Columns(row);
            if let (Some(Some(key)), Some(Some(value))) = (columns.next(), columns.next()) {
                visit(key, value);
            }
        })?;
        usize::try_from(rows).map_err(StoreError::engine)
    }

    fn insert_batch(&mut self, records: &[(&[u8], &[u8])]) -> Result<()> {
        records.iter().try_for_each(|(key, _)| fits(key))?;
        let rows = records.iter().map(|(key, value)| [SqlValue::Blob(key), SqlValue::Blob(value)]);
        self.client.run_all(&self.insert, rows).map(drop)
    }

    fn remove_batch(&mut self, keys: &[&[u8]]) -> Result<()> {
        let removed = self.client.run_all(&self.remove, keys.iter().map(|key| [SqlValue::Blob(key)]))?;
        if removed == keys.len() as u64 { Ok(()) } else { Err(StoreError::Missing) }
    }
}

/// A key goes into a page of the index, of which each must hold several.
fn fits(key: &[u8]) -> Result<()> {
    if key.len() <= MAX_KEY_BYTES {
        return Ok(());
    }
    Err(StoreError::Unsupported(format!("PostgreSQL's index takes keys of up to {MAX_KEY_BYTES} bytes")))
}

/// Whether a statement changed a row.
fn found(changed: u64) -> Result<()> {
    if changed > 0 { Ok(()) } else { Err(StoreError::Missing) }
}
