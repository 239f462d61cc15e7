-- SQLite, from any language. Once, before the first table is made:
PRAGMA page_size = {{page_size}};
PRAGMA auto_vacuum = {{auto_vacuum}};
PRAGMA journal_mode = {{journal_mode}};
CREATE TABLE IF NOT EXISTS records (key BLOB PRIMARY KEY NOT NULL, value BLOB NOT NULL);
-- On every connection:
PRAGMA locking_mode = {{locking_mode}};
PRAGMA synchronous = {{synchronous}};
PRAGMA fullfsync = {{fullfsync}};
PRAGMA cache_size = {{cache_size}};
PRAGMA mmap_size = {{mmap_size}};
PRAGMA wal_autocheckpoint = {{wal_autocheckpoint}};
PRAGMA busy_timeout = {{busy_timeout}};
