# SQLite {{version}} was measured; Python's own is sqlite3.sqlite_version
import sqlite3

# On every thread: a connection is one thread's.
def open_records(path):
    db = sqlite3.connect(path, isolation_level=None)
    for statement in (
        "PRAGMA page_size = {{page_size}}",
        "PRAGMA auto_vacuum = {{auto_vacuum}}",
        "CREATE TABLE IF NOT EXISTS records"
        " (key BLOB PRIMARY KEY NOT NULL, value BLOB NOT NULL)",
        "PRAGMA busy_timeout = {{busy_timeout}}",
        "PRAGMA locking_mode = {{locking_mode}}",
        "PRAGMA journal_mode = {{journal_mode}}",
        "PRAGMA synchronous = {{synchronous}}",
        "PRAGMA secure_delete = {{secure_delete}}",
        "PRAGMA temp_store = {{temp_store}}",
        "PRAGMA fullfsync = {{fullfsync}}",
        "PRAGMA cache_size = {{cache_size}}",
        "PRAGMA mmap_size = {{mmap_size}}",
        "PRAGMA wal_autocheckpoint = {{wal_autocheckpoint}}",
        "PRAGMA journal_size_limit = {{journal_size_limit}}",
    ):
        db.execute(statement)
    return db

# A transaction of its own: isolation_level=None is autocommit.
def put(db, key, value):
    insert = "INSERT INTO records (key, value) VALUES (?, ?)"
    db.execute(insert, (key, value))
