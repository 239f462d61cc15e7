//! Records, by statements that are prepared once for each session.

use std::ops::Range;

use storebench_core::store::sql::SqlValue;
use storebench_core::store::{Result, Session, StoreError};

use super::MAX_KEY_BYTES;
use super::client::{Client, Statement};

/// Rows that one statement adds of a batch, the most first, beside that of one row. A batch takes as many statements as it needs,
/// all in one transaction.
const ROWS_AT_ONCE: [usize; 2] = [64, 8];

/// A connection with its statements.
pub struct MariadbSession {
    client: Client,
    insert: Statement,
    /// Those of [`ROWS_AT_ONCE`].
    inserts: [Statement; 2],
    update: Statement,
    get: Statement,
    remove: Statement,
    scan: Statement,
    /// Where the value lies that was shown last.
    shown: Range<usize>,
}

impl MariadbSession {
    /// Prepares the statements on a connection.
    ///
    /// # Errors
    /// The server's.
    pub fn new(mut client: Client) -> Result<MariadbSession> {
        let mut prepare = |sql: &str| client.prepare(sql);
        let mut insert = |rows: usize| {
            let values = vec!["(?, ?)"; rows].join(", ");
            prepare(&format!("INSERT INTO records (k, v) VALUES {values}"))
        };
        let [many, some] = ROWS_AT_ONCE;
        let (inserts, insert) = ([insert(many)?, insert(some)?], insert(1)?);
        let update = prepare("UPDATE records SET v = ? WHERE k = ?")?;
        let get = prepare("SELECT v FROM records WHERE k = ?")?;
        let remove = prepare("DELETE FROM records WHERE k = ?")?;
        let scan = prepare("SELECT k, v FROM records WHERE k >= ? ORDER BY k LIMIT ?")?;
        Ok(MariadbSession { client, insert, inserts, update, get, remove, scan, shown: 0..0 })
    }

    /// Sends a batch's statements, within its transaction.
    fn add(&mut self, records: &[(&[u8], &[u8])]) -> Result<u64> {
        let MariadbSession { client, insert, inserts, .. } = self;
        let statements = || ROWS_AT_ONCE.into_iter().zip(inserts.iter()).chain([(1, &*insert)]);
        let mut rest = records;
        client.run_all(|client| {
            let Some((rows, statement)) = statements().find(|(rows, _)| *rows <= rest.len()) else {
                return Ok(false);
            };
            let (now, later) = rest.split_at(rows);
            let values = now.iter().flat_map(|(key, value)| [SqlValue::Blob(key), SqlValue::Blob(value)]);
            client.append(statement, 2 * rows, values)?;
            rest = later;
            Ok(true)
        })
    }
}

impl MariadbSession {
    /// Does something in one transaction.
    fn all_or_none(&mut self, act: impl FnOnce(&mut MariadbSession) -> Result<()>) -> Result<()> {
        self.client.execute("START TRANSACTION")?;
        match act(self) {
            Ok(()) => self.client.execute("COMMIT"),
            Err(error) => {
                // The first error counts.
                let _ = self.client.execute("ROLLBACK");
                Err(error)
            }
        }
    }
}

impl Session for MariadbSession {
    fn insert(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        fits(key)?;
        self.client.run(&self.insert, &[SqlValue::Blob(key), SqlValue::Blob(value)]).map(drop)
    }

    fn update(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        fits(key)?;
        found(self.client.run(&self.update, &[SqlValue::Blob(value), SqlValue::Blob(key)])?)
    }

    fn get(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        let found = self.client.one(&self.get, &[SqlValue::Blob(key)])?;
        self.shown = found.clone().unwrap_or(0..0);
        if found.is_some() {
            visit(self.client.bytes(&self.shown));
        }
        Ok(found.is_some())
    }

    fn copied(&self) -> Option<&[u8]> {
        Some(self.client.bytes(&self.shown))
    }

    fn remove(&mut self, key: &[u8]) -> Result<()> {
        found(self.client.run(&self.remove, &[SqlValue::Blob(key)])?)
    }

    fn scan(&mut self, from: &[u8], limit: usize, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize> {
        let limit = SqlValue::Integer(i64::try_from(limit).unwrap_or(i64::MAX));
        let rows = self.client.query(&self.scan, &[SqlValue::Blob(from), limit], &mut |row| {
            if let [SqlValue::Blob(key), SqlValue::Blob(value)] = row {
                visit(key, value);
            }
        })?;
        usize::try_from(rows).map_err(StoreError::engine)
    }

    fn insert_batch(&mut self, records: &[(&[u8], &[u8])]) -> Result<()> {
        records.iter().try_for_each(|(key, _)| fits(key))?;
        self.all_or_none(|session| session.add(records).map(drop))
    }

    fn remove_batch(&mut self, keys: &[&[u8]]) -> Result<()> {
        self.all_or_none(|session| {
            let MariadbSession { client, remove, .. } = session;
            let mut rest = keys.iter();
            let removed = client.run_all(|client| {
                let Some(key) = rest.next() else { return Ok(false) };
                client.append(remove, 1, [SqlValue::Blob(key)].into_iter()).map(|()| true)
            })?;
            if removed == keys.len() as u64 { Ok(()) } else { Err(StoreError::Missing) }
        })
    }
}

/// A key goes into an index, whose entries have a longest length.
fn fits(key: &[u8]) -> Result<()> {
    if key.len() <= MAX_KEY_BYTES {
        return Ok(());
    }
    Err(StoreError::Unsupported(format!("MariaDB's index takes keys of up to {MAX_KEY_BYTES} bytes here")))
}

/// Whether a statement changed a row.
fn found(changed: u64) -> Result<()> {
    if changed > 0 { Ok(()) } else { Err(StoreError::Missing) }
}
