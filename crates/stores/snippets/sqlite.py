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
    db.execute(
        "INSERT INTO records (key, value) VALUES (?, ?)"
        " ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        (key, value),
    )

# None where there is no such key.
def get(db, key):
    select = "SELECT value FROM records WHERE key = ?"
    row = db.execute(select, (key,)).fetchone()
    return row and row[0]

def remove(db, key):
    db.execute("DELETE FROM records WHERE key = ?", (key,))

def close_records(db):
    db.close()

if __name__ == "__main__":
    db = open_records("records.sqlite")
    put(db, b"apple", b"red")
    put(db, b"apple", b"green")  # Replaces it.
    put(db, b"cherry", b"red")
    remove(db, b"cherry")
    remove(db, b"cherry")  # No error.
    print("apple:", get(db, b"apple").decode())
    print("cherry:", get(db, b"cherry"))
    close_records(db)
