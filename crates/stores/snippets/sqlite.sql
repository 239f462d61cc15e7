-- SQLite {{version}}, from any language. Once, to make the table:
PRAGMA page_size = {{page_size}};
PRAGMA auto_vacuum = {{auto_vacuum}};
CREATE TABLE IF NOT EXISTS records
    (key BLOB PRIMARY KEY NOT NULL, value BLOB NOT NULL);
-- On every connection, and each thread has its own:
PRAGMA busy_timeout = {{busy_timeout}};
PRAGMA locking_mode = {{locking_mode}};
PRAGMA journal_mode = {{journal_mode}};
PRAGMA synchronous = {{synchronous}};
PRAGMA fullfsync = {{fullfsync}};
PRAGMA cache_size = {{cache_size}};
PRAGMA mmap_size = {{mmap_size}};
PRAGMA wal_autocheckpoint = {{wal_autocheckpoint}};
PRAGMA journal_size_limit = {{journal_size_limit}};
-- Each write is a transaction of its own (autocommit). Statements are kept
-- prepared; to put, get and remove:
-- INSERT INTO records (key, value) VALUES (?1, ?2)
--     ON CONFLICT (key) DO UPDATE SET value = excluded.value
-- SELECT value FROM records WHERE key = ?1
-- DELETE FROM records WHERE key = ?1
