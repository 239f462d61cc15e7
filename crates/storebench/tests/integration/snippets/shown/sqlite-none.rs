// SQLite VERSION was measured: cargo add rusqlite -F bundled
use rusqlite::{Connection, Result};

// On every thread: a connection is one thread's.
fn open_records(file: &std::path::Path) -> Result<Connection> {
    let db = Connection::open(file)?;
    db.execute_batch(
        "PRAGMA busy_timeout = 60000;
        PRAGMA locking_mode = normal;
        PRAGMA page_size = 4096;
        PRAGMA auto_vacuum = 0;
        PRAGMA journal_mode = memory;
        PRAGMA synchronous = 0;
        PRAGMA fullfsync = 0;
        PRAGMA cache_size = -2000;
        PRAGMA mmap_size = 0;
        PRAGMA temp_store = 0;
        PRAGMA wal_autocheckpoint = 1000;
        PRAGMA journal_size_limit = -1;
        PRAGMA secure_delete = 0;
        CREATE TABLE IF NOT EXISTS records
            (key BLOB PRIMARY KEY NOT NULL, value BLOB NOT NULL);",
    )?;
    Ok(db)
}

// A transaction of its own: autocommit.
fn put(db: &Connection, key: &[u8], value: &[u8]) -> Result<()> {
    let insert = "INSERT INTO records (key, value) VALUES (?1, ?2)";
    db.prepare_cached(insert)?.execute((key, value))?;
    Ok(())
}
