//! A database, its connections, and what is done over them.

use std::ffi::{CStr, CString};
use std::num::NonZero;
use std::sync::{Arc, Mutex, PoisonError};

use turso_core::{Connection, Database, LimboError, PlatformIO, SqliteDialect, Statement, Value};

use crate::ffi;

/// The settings that are told, as the engine reads them back.
pub const TOLD: [&CStr; 4] = [c"synchronous", c"journal_mode", c"page_size", c"cache_size"];
const TABLE: &str = "CREATE TABLE IF NOT EXISTS records (k BLOB PRIMARY KEY, v BLOB NOT NULL)";

type Result<T> = std::result::Result<T, LimboError>;

/// A change of a record: its key, and the value that it is given, or none where it is removed.
pub type Change<'a> = (&'a [u8], Option<&'a [u8]>);

pub struct Opened {
    database: Arc<Database>,
    own: Arc<Connection>,
    pub synchronous: &'static str,
    /// The cache of each connection, in KiB, where it is set.
    cache_kib: Option<u64>,
    /// A second writer would be told that the database is busy.
    writer: Arc<Mutex<()>>,
    texts: [CString; TOLD.len()],
    /// What `read_settings` gave: addresses of `texts`.
    pub told: Vec<ffi::Value>,
}

impl Opened {
    /// Opens the database of a folder, or makes it. The cache is shared out among its sessions.
    pub fn open(folder: &CStr, synchronous: &'static str, cache_kib: Option<u64>) -> Result<Opened> {
        let path = format!("{}/records.db", folder.to_string_lossy());
        let database = Database::open_file(Arc::new(PlatformIO::new()?), &path, Arc::new(SqliteDialect))?;
        let own = connect(&database, synchronous, cache_kib)?;
        own.execute(TABLE)?;
        let (writer, texts, told) = (Arc::default(), Default::default(), Vec::new());
        Ok(Opened { database, own, synchronous, cache_kib, writer, texts, told })
    }

    pub fn count(&self) -> Result<u64> {
        let found = one(&self.own, "SELECT count(*) FROM records")?;
        found.parse().map_err(|_| LimboError::InternalError(format!("count(*) gave {found}")))
    }

    /// Writes the log into the database, and syncs both.
    pub fn settle(&self) -> Result<()> {
        let _writes = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        one(&self.own, "PRAGMA wal_checkpoint(TRUNCATE)").map(drop)
    }

    pub fn read_settings(&mut self) -> Result<()> {
        for (text, name) in self.texts.iter_mut().zip(TOLD) {
            let said = one(&self.own, &format!("PRAGMA {}", name.to_string_lossy()))?;
            *text = CString::new(said).unwrap_or_default();
        }
        let told = self.texts.iter().zip(TOLD);
        self.told = told
            .map(|(text, name)| ffi::Value { name: name.as_ptr(), value: text.as_ptr(), read_back: 1 })
            .collect();
        Ok(())
    }

    pub fn session(&self) -> Result<Connected> {
        let connection = connect(&self.database, self.synchronous, self.cache_kib)?;
        Ok(Connected {
            get: connection.prepare("SELECT v FROM records WHERE k = ?1")?,
            put: connection.prepare(
                "INSERT INTO records VALUES (?1, ?2) ON CONFLICT (k) DO UPDATE SET v = excluded.v",
            )?,
            remove: connection.prepare("DELETE FROM records WHERE k = ?1")?,
            scan: connection.prepare("SELECT k, v FROM records WHERE k >= ?1 ORDER BY k LIMIT ?2")?,
            connection,
            writer: Arc::clone(&self.writer),
            found: Vec::new(),
        })
    }
}

fn connect(database: &Arc<Database>, synchronous: &str, cache_kib: Option<u64>) -> Result<Arc<Connection>> {
    let connection = database.connect()?;
    one(&connection, &format!("PRAGMA synchronous={synchronous}"))?;
    if let Some(kib) = cache_kib {
        one(&connection, &format!("PRAGMA cache_size=-{kib}"))?;
    }
    Ok(connection)
}

/// The first value of a query, as text; nothing where it gives no row.
fn one(connection: &Arc<Connection>, sql: &str) -> Result<String> {
    let mut said = None;
    connection.prepare(sql)?.run_with_row_callback(|row| {
        said.get_or_insert_with(|| row.get_value(0).to_string());
        Ok(())
    })?;
    Ok(said.unwrap_or_default())
}

pub struct Connected {
    get: Statement,
    put: Statement,
    remove: Statement,
    scan: Statement,
    connection: Arc<Connection>,
    writer: Arc<Mutex<()>>,
    found: Vec<u8>,
}

impl Connected {
    /// The value of a key, in the session's memory.
    pub fn get(&mut self, key: &[u8]) -> Result<Option<&[u8]>> {
        bind(&mut self.get, [blob(key)])?;
        let mut is_there = false;
        let found = &mut self.found;
        self.get.run_with_row_callback(|row| {
            is_there = true;
            found.clear();
            found.extend_from_slice(bytes(row.get_value(0))?);
            Ok(())
        })?;
        Ok(is_there.then_some(&self.found))
    }

    /// Makes changes: one by itself, more of them in one transaction.
    pub fn change<'a>(&mut self, changes: impl IntoIterator<Item = Change<'a>>) -> Result<()> {
        let writer = Arc::clone(&self.writer);
        let _writes = writer.lock().unwrap_or_else(PoisonError::into_inner);
        let mut changes = changes.into_iter().peekable();
        let Some(first) = changes.next() else { return Ok(()) };
        if changes.peek().is_none() {
            return self.make(first);
        }
        self.connection.execute("BEGIN IMMEDIATE")?;
        let made = [first].into_iter().chain(changes).try_for_each(|change| self.make(change));
        let ended = made.and_then(|()| self.connection.execute("COMMIT"));
        if ended.is_err() {
            // The first error says more than that of undoing what was done.
            let _ = self.connection.execute("ROLLBACK");
        }
        ended
    }

    fn make(&mut self, (key, value): Change<'_>) -> Result<()> {
        let statement = match value {
            Some(value) => {
                bind(&mut self.put, [blob(key), blob(value)])?;
                &mut self.put
            }
            None => {
                bind(&mut self.remove, [blob(key)])?;
                &mut self.remove
            }
        };
        statement.run_ignore_rows()
    }

    /// Shows up to so many records from a key on.
    pub fn scan(&mut self, from: &[u8], limit: usize, mut visit: impl FnMut(&[u8], &[u8])) -> Result<()> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        bind(&mut self.scan, [blob(from), Value::from_i64(limit)])?;
        self.scan.run_with_row_callback(|row| {
            visit(bytes(row.get_value(0))?, bytes(row.get_value(1))?);
            Ok(())
        })
    }
}

fn blob(bytes: &[u8]) -> Value {
    Value::Blob(bytes.to_vec())
}

fn bind<const N: usize>(statement: &mut Statement, values: [Value; N]) -> Result<()> {
    statement.reset()?;
    (1..).map_while(NonZero::new).zip(values).try_for_each(|(index, value)| statement.bind_at(index, value))
}

fn bytes(value: &Value) -> Result<&[u8]> {
    match value {
        Value::Blob(bytes) => Ok(bytes),
        other => Err(LimboError::InternalError(format!("{other} where bytes were written"))),
    }
}
