//! `sqlite`: one table in one file, the records found by their key.

mod pragma;
mod statement;

use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::UNIX_EPOCH;

use rusqlite::{Connection, OpenFlags};
use storebench_model::store::sql::{self, MOST_COLUMNS, SqlSession, SqlType, SqlValue, StatementId};
use storebench_model::store::{
    AgingRisk, Capabilities, Caution, Danger, Guarantee, GuaranteeOffer, HeldReader, Loss, OpenOptions,
    Result, Session, Setting, Store, StoreBuild, StoreDef, StoreError, Threads, Upkeep,
};

use self::pragma::Plan;
use self::statement::{Row, Statement};
use super::compiled;
use super::support::{UNORDERED, hold_to_tier, offer, sync_path};

pub const SQLITE: StoreDef = StoreDef {
    name: "sqlite",
    summary: "SQL database in one file (B-tree)",
    practice: "one file and its log, which many tools read; it can be backed up while open; removed records leave the file by VACUUM, or auto_vacuum; several processes can use it",
    cautions: &[
        Caution {
            of: AgingRisk::Space,
            says: "when much is deleted the file keeps the empty pages until VACUUM, unless auto_vacuum is on",
            source: "sqlite.org/lang_vacuum.html",
        },
        Caution {
            of: AgingRisk::Readers,
            says: "with a reader that is always active no checkpoint can complete, and the WAL grows without bound",
            source: "sqlite.org/wal.html",
        },
    ],
    version: &|| rusqlite::version().into(),
    capabilities: Capabilities {
        compacts_beside: true,
        held_reader: true,
        backup: true,
        sql: true,
        threads: Threads::ManyReadersOneWriter,
        notices_existing: true,
        notices_missing: true,
        // The documented default limit of a blob (SQLITE_MAX_LENGTH).
        max_key_bytes: 1_000_000_000,
        ..Capabilities::DEFAULT
    },
    offers: &[
        // The rollback journal lives in the process: a kill while a commit is being written leaves a part of it.
        GuaranteeOffer::tearing(
            Guarantee::None,
            "journal_mode=MEMORY, synchronous=OFF",
            &[Danger::new(Loss::Whole, Loss::Whole, "the rollback journal is in memory alone")],
        ),
        offer(Guarantee::Process, "journal_mode=WAL, synchronous=NORMAL", UNSYNCED_OR_NOT_AT_ONCE),
        offer(Guarantee::Power, "journal_mode=WAL, synchronous=FULL", Danger::NOTHING),
    ],
    // journal_mode=DELETE, synchronous=FULL: a power cut leaves it whole, but can undo the last commit: see `pragma::tier`.
    shipped: Guarantee::Process,
    syncs_as_shipped: Some(4.0),
    settings: pragma::SETTINGS,
    snippet: Some(include_str!("../snippets/sqlite.sql")),
    python: Some(include_str!("../snippets/sqlite.py")),
    open: Ok(&open),
    ..StoreDef::DEFAULT
};

/// By SQLite's documentation of PRAGMA synchronous; `process` itself sets WAL and NORMAL.
const UNSYNCED_OR_NOT_AT_ONCE: &[Danger] = &[
    Danger { settings: &[("synchronous", "0")], ..UNORDERED },
    Danger { settings: &[("journal_mode", "delete"), ("synchronous", "1")], ..HEADER_FIRST },
    Danger { settings: &[("journal_mode", "truncate"), ("synchronous", "1")], ..HEADER_FIRST },
    Danger { settings: &[("journal_mode", "persist"), ("synchronous", "1")], ..HEADER_FIRST },
    Danger {
        settings: &[("journal_mode", "delete")],
        ..Danger::new(Loss::Nothing, Loss::Last, "the journal that was deleted can come back, and undoes it")
    },
    Danger::NEWEST[0],
];

/// NORMAL syncs the journal's header and pages at once: if the file system writes the header first, the journal seems whole and is not.
const HEADER_FIRST: Danger =
    Danger::new(Loss::Nothing, Loss::RarelyWhole, "where the file system writes the journal's header first");

const FILE: &str = "records.sqlite";

/// The paper's table, with BLOB keys in place of TEXT. It stays a rowid table: WITHOUT ROWID would keep whole values in inner
/// pages of the key's B-tree, and SQLite's documentation advises against it for rows beyond a twentieth of a page.
const TABLE: &str = "CREATE TABLE IF NOT EXISTS records (key BLOB PRIMARY KEY NOT NULL, value BLOB NOT NULL)";

fn open(options: &OpenOptions<'_>) -> Result<Box<dyn Store>> {
    let plan = Plan::new(options)?;
    let path = options.directory.join(FILE);
    let connection = connect(&path, &plan)?;
    let guarantee = hold_to_tier(options, pragma::tier(&connection)?)?;
    connection.execute_batch(TABLE).map_err(StoreError::engine)?;
    // Again, now that the file exists: a page size can be accepted and yet not be the file's.
    plan.check(&connection)?;
    let is_exclusive = pragma::read(&connection, "locking_mode")? == "exclusive";
    Ok(Box::new(Sqlite {
        connection: Mutex::new(connection),
        path,
        plan,
        guarantee,
        is_exclusive,
        has_session: AtomicBool::new(false),
    }))
}

fn connect(path: &Path, plan: &Plan) -> Result<Connection> {
    // A connection is used by one thread at a time, so SQLite need not lock it for every call.
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(StoreError::engine)?;
    plan.apply(&connection)?;
    Ok(connection)
}

struct Sqlite {
    /// For counting, settling and reading settings; under EXCLUSIVE, which allows one connection, also the session's.
    connection: Mutex<Connection>,
    path: PathBuf,
    plan: Plan,
    guarantee: Guarantee,
    is_exclusive: bool,
    has_session: AtomicBool,
}

impl Sqlite {
    fn lock_connection(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn access(&self) -> Result<Access<'_>> {
        if !self.is_exclusive {
            return Ok(Access::Own(connect(&self.path, &self.plan)?));
        }
        if self.has_session.swap(true, Ordering::AcqRel) {
            return Err(StoreError::Unsupported(
                "locking_mode=EXCLUSIVE allows one session at a time".into(),
            ));
        }
        Ok(Access::Shared(self))
    }

    /// A connection that reads beside writers; `None` without a WAL, where a reader blocks commits.
    fn reader(&self) -> Result<Option<Connection>> {
        if self.is_exclusive || pragma::read(&self.lock_connection(), "journal_mode")? != "wal" {
            return Ok(None);
        }
        connect(&self.path, &self.plan).map(Some)
    }

    fn files(&self) -> impl Iterator<Item = PathBuf> + '_ {
        ["", "-wal", "-journal"].into_iter().map(|suffix| {
            let mut name = self.path.as_os_str().to_owned();
            name.push(suffix);
            PathBuf::from(name)
        })
    }
}

impl Store for Sqlite {
    fn session(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(SqliteSession::new(self.access()?)?))
    }

    fn sql(&self) -> Result<Box<dyn SqlSession + '_>> {
        Ok(Box::new(Sql::new(self)?))
    }

    fn guarantee(&self) -> Guarantee {
        self.guarantee
    }

    fn count(&self) -> Result<u64> {
        let connection = self.lock_connection();
        let count: i64 = connection
            .query_row("SELECT count(*) FROM records", [], |row| row.get(0))
            .map_err(StoreError::engine)?;
        // Counting reads all keys; those pages should not stay in memory next to the sessions' caches.
        connection.release_memory().map_err(StoreError::engine)?;
        u64::try_from(count).map_err(StoreError::engine)
    }

    fn verify(&mut self) -> Result<bool> {
        let connection = self.lock_connection();
        match pragma::read(&connection, "integrity_check(1)")?.as_str() {
            "ok" => Ok(true),
            found => Err(StoreError::Engine(format!("PRAGMA integrity_check: {found}"))),
        }
    }

    fn compact_concurrently(&self) -> Result<Option<&'static str>> {
        const INCREMENTAL: &str = "2";
        let connection = self.lock_connection();
        if pragma::read(&connection, "auto_vacuum")? != INCREMENTAL {
            connection.execute_batch("VACUUM").map_err(StoreError::engine)?;
            return Ok(Some("VACUUM"));
        }
        let mut statement =
            connection.prepare("PRAGMA incremental_vacuum(100)").map_err(StoreError::engine)?;
        // Each is a transaction, between two of which others can write.
        while pragma::read(&connection, "freelist_count")? != "0" {
            let mut pages = statement.query([]).map_err(StoreError::engine)?;
            while pages.next().map_err(StoreError::engine)?.is_some() {}
        }
        Ok(Some("incremental_vacuum"))
    }

    fn hold_reader(&self) -> Result<Option<Box<dyn HeldReader + '_>>> {
        let Some(reader) = self.reader()? else { return Ok(None) };
        reader.execute_batch("BEGIN; SELECT count(*) FROM sqlite_schema").map_err(StoreError::engine)?;
        Ok(Some(Box::new(reader)))
    }

    fn back_up(&self, to: &Path) -> Result<Option<&'static str>> {
        let Some(reader) = self.reader()? else { return Ok(None) };
        std::fs::create_dir(to).map_err(StoreError::engine)?;
        let copy = to.join(FILE);
        let file =
            copy.to_str().ok_or_else(|| StoreError::Engine(format!("{} is not UTF-8", copy.display())))?;
        reader.execute("VACUUM INTO ?1", [file]).map_err(StoreError::engine)?;
        sync_path(&copy).and_then(|()| sync_path(to))?;
        Ok(Some("VACUUM INTO"))
    }

    /// With a WAL only checkpoints write to the database's file. It is not opened here: closing it would drop SQLite's locks.
    fn upkeep(&self) -> Result<Vec<Upkeep>> {
        let modified = |file: PathBuf| std::fs::metadata(file)?.modified();
        let [database, wal] = [0, 1].map(|number| self.files().nth(number).map(modified));
        let (Some(Ok(database)), Some(Ok(_))) = (database, wal) else { return Ok(Vec::new()) };
        let since_epoch = database.duration_since(UNIX_EPOCH).map_err(StoreError::engine)?;
        Ok(vec![Upkeep::done("checkpoint", since_epoch.as_nanos() as u64)])
    }

    fn settle(&self) -> Result<()> {
        let connection = self.lock_connection();
        let is_wal = pragma::read(&connection, "journal_mode")? == "wal";
        if is_wal && pragma::read(&connection, "wal_checkpoint(TRUNCATE)")? != "0" {
            return Err(StoreError::Engine("another session kept the WAL from being checkpointed".into()));
        }
        // With synchronous=OFF nothing has synced yet.
        self.files().filter(|file| file.exists()).try_for_each(|file| sync_path(&file))
    }

    fn settings(&self) -> Result<Vec<Setting>> {
        pragma::read_all(&self.lock_connection())
    }

    fn build(&self) -> Option<StoreBuild> {
        let options = pragma::compile_options(&self.lock_connection()).ok()?;
        // Without it, SQLite defines NDEBUG.
        let assertions = options.iter().any(|option| option == "DEBUG");
        Some(compiled::c(&options.join(" "), Some(assertions)))
    }

    fn statistics(&self) -> Result<Vec<Setting>> {
        let connection = self.lock_connection();
        ["page_count", "freelist_count"]
            .into_iter()
            .map(|name| Ok(Setting::read_back(name, pragma::read(&connection, name)?)))
            .collect()
    }

    fn close(self: Box<Self>) -> Result<()> {
        let connection = self.connection.into_inner().unwrap_or_else(PoisonError::into_inner);
        connection.close().map_err(|(_, error)| StoreError::engine(error))
    }
}

enum Access<'a> {
    Own(Connection),
    /// The store's own, under EXCLUSIVE. Each call locks it, so that the store can count and settle in between.
    Shared(&'a Sqlite),
}

impl Access<'_> {
    fn lock_shared(&self) -> Option<MutexGuard<'_, Connection>> {
        match self {
            Access::Own(_) => None,
            Access::Shared(store) => Some(store.lock_connection()),
        }
    }

    fn with_connection<T>(&self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        match self {
            Access::Own(connection) => work(connection),
            Access::Shared(store) => work(&store.lock_connection()),
        }
    }
}

impl Drop for Access<'_> {
    fn drop(&mut self) {
        if let Access::Shared(store) = self {
            store.has_session.store(false, Ordering::Release);
        }
    }
}

struct Statements {
    insert: Statement,
    update: Statement,
    get: Statement,
    remove: Statement,
    scan: Statement,
    begin: Statement,
    commit: Statement,
    rollback: Statement,
}

impl Statements {
    fn new(connection: &Connection) -> Result<Statements> {
        let prepare = |sql| Statement::prepare(connection, sql);
        Ok(Statements {
            insert: prepare(c"INSERT INTO records (key, value) VALUES (?1, ?2)")?,
            update: prepare(c"UPDATE records SET value = ?2 WHERE key = ?1")?,
            get: prepare(c"SELECT value FROM records WHERE key = ?1")?,
            remove: prepare(c"DELETE FROM records WHERE key = ?1")?,
            scan: prepare(c"SELECT key, value FROM records WHERE key >= ?1 ORDER BY key LIMIT ?2")?,
            begin: prepare(c"BEGIN IMMEDIATE")?,
            commit: prepare(c"COMMIT")?,
            rollback: prepare(c"ROLLBACK")?,
        })
    }

    fn insert(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.insert.run(&[SqlValue::Blob(key), SqlValue::Blob(value)])
    }

    fn remove(&mut self, key: &[u8]) -> Result<()> {
        self.remove.run(&[SqlValue::Blob(key)])?;
        check_found(&self.remove)
    }

    fn in_transaction(&mut self, work: impl FnOnce(&mut Statements) -> Result<()>) -> Result<()> {
        self.begin.run(&[])?;
        let outcome = work(self).and_then(|()| self.commit.run(&[]));
        if outcome.is_err() {
            // SQLite has rolled back by itself after some errors, and then refuses this; the first error counts.
            let _ = self.rollback.run(&[]);
        }
        outcome
    }
}

struct SqliteSession<'a> {
    /// `None` only during drop. Before `access`: statements are dropped before their connection.
    statements: Option<Statements>,
    access: Access<'a>,
}

impl<'a> SqliteSession<'a> {
    fn new(access: Access<'a>) -> Result<SqliteSession<'a>> {
        let mut session = SqliteSession { statements: None, access };
        session.statements = Some(session.access.with_connection(Statements::new)?);
        Ok(session)
    }

    /// Runs `work` with the statements, alone on their connection.
    fn with_statements<T>(&mut self, work: impl FnOnce(&mut Statements) -> Result<T>) -> Result<T> {
        let _lock = self.access.lock_shared();
        match &mut self.statements {
            Some(statements) => work(statements),
            None => Err(StoreError::Engine("the session is closed".into())),
        }
    }
}

impl Drop for SqliteSession<'_> {
    fn drop(&mut self) {
        let _lock = self.access.lock_shared();
        self.statements = None;
    }
}

impl Session for SqliteSession<'_> {
    fn insert(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.with_statements(|statements| statements.insert(key, value))
    }

    fn update(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.with_statements(|statements| {
            statements.update.run(&[SqlValue::Blob(key), SqlValue::Blob(value)])?;
            check_found(&statements.update)
        })
    }

    fn get(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        self.with_statements(|statements| {
            Ok(statements.get.rows(&[SqlValue::Blob(key)], |row| visit(row.blob(0)))? > 0)
        })
    }

    fn remove(&mut self, key: &[u8]) -> Result<()> {
        self.with_statements(|statements| statements.remove(key))
    }

    fn scan(&mut self, from: &[u8], limit: usize, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let values = [SqlValue::Blob(from), SqlValue::Integer(limit)];
        self.with_statements(|statements| {
            statements.scan.rows(&values, |row| visit(row.blob(0), row.blob(1)))
        })
    }

    fn insert_batch(&mut self, records: &[(&[u8], &[u8])]) -> Result<()> {
        self.with_statements(|statements| {
            statements.in_transaction(|statements| {
                records.iter().try_for_each(|(key, value)| statements.insert(key, value))
            })
        })
    }

    fn remove_batch(&mut self, keys: &[&[u8]]) -> Result<()> {
        self.with_statements(|statements| {
            statements.in_transaction(|statements| keys.iter().try_for_each(|key| statements.remove(key)))
        })
    }
}

fn check_found(statement: &Statement) -> Result<()> {
    if statement.changes() > 0 { Ok(()) } else { Err(StoreError::Missing) }
}

struct Sql<'a> {
    /// Before `access`: statements are dropped before their connection. The first begin and end transactions.
    statements: Vec<Statement>,
    access: Access<'a>,
    store: &'a Sqlite,
}

const BEGIN: StatementId = StatementId(0);
const COMMIT: StatementId = StatementId(1);
const ROLL_BACK: StatementId = StatementId(2);

impl<'a> Sql<'a> {
    fn new(store: &'a Sqlite) -> Result<Sql<'a>> {
        let mut session = Sql { statements: Vec::new(), access: store.access()?, store };
        for sql in ["BEGIN IMMEDIATE", "COMMIT", "ROLLBACK"] {
            session.prepare(sql)?;
        }
        Ok(session)
    }

    fn step(
        &mut self,
        statement: StatementId,
        values: &[SqlValue<'_>],
        visit: impl FnMut(&Row<'_>),
    ) -> Result<usize> {
        let _lock = self.access.lock_shared();
        sql::statement(&mut self.statements, statement)?.rows(values, visit)
    }
}

impl Drop for Sql<'_> {
    fn drop(&mut self) {
        let _lock = self.access.lock_shared();
        self.statements.clear();
    }
}

impl SqlSession for Sql<'_> {
    fn type_name(&self, sql_type: SqlType) -> &'static str {
        match sql_type {
            SqlType::Integer => "INTEGER",
            SqlType::Real => "REAL",
            SqlType::Text => "TEXT",
            SqlType::Blob => "BLOB",
        }
    }

    fn execute(&mut self, sql: &str) -> Result<()> {
        self.access.with_connection(|connection| connection.execute_batch(sql).map_err(StoreError::engine))
    }

    fn prepare(&mut self, sql: &str) -> Result<StatementId> {
        let text = CString::new(sql).map_err(StoreError::engine)?;
        let statement = self.access.with_connection(|connection| Statement::prepare(connection, &text))?;
        self.statements.push(statement);
        Ok(StatementId(self.statements.len() - 1))
    }

    fn run(&mut self, statement: StatementId, values: &[SqlValue<'_>]) -> Result<u64> {
        self.step(statement, values, |_| ())?;
        let changes = sql::statement(&mut self.statements, statement)?.changes();
        Ok(u64::try_from(changes).unwrap_or(0))
    }

    fn query(
        &mut self,
        statement: StatementId,
        values: &[SqlValue<'_>],
        visit: &mut dyn FnMut(&[SqlValue<'_>]),
    ) -> Result<u64> {
        let rows = self.step(statement, values, |row| {
            let mut columns = [SqlValue::Null; MOST_COLUMNS];
            let count = row.columns().min(MOST_COLUMNS);
            for (index, column) in (0..).zip(&mut columns[..count]) {
                *column = row.value(index);
            }
            visit(&columns[..count]);
        })?;
        Ok(rows as u64)
    }

    fn begin(&mut self) -> Result<()> {
        self.step(BEGIN, &[], |_| ()).map(drop)
    }

    fn commit(&mut self) -> Result<()> {
        self.step(COMMIT, &[], |_| ()).map(drop)
    }

    fn roll_back(&mut self) -> Result<()> {
        self.step(ROLL_BACK, &[], |_| ()).map(drop)
    }

    fn check_settings(&mut self) -> Result<()> {
        self.access.with_connection(|connection| self.store.plan.check(connection))
    }
}

#[cfg(test)]
mod tests;
