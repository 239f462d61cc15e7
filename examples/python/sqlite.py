"""SQLite by Python's own module, sqlite3, with the table and the settings of storebench's own sqlite: what the binding costs beside it.

Build it: make -C examples python-sqlite
"""

import platform
import sqlite3

NONE, PROCESS, POWER, AS_SHIPPED = 0, 1, 2, -1
WHOLE, NEWEST, NOTHING = 0, 3, 6
ORDERED, ATOMIC_BATCH, REPLACES_WHOLE, COPIES = 1 << 0, 1 << 1, 1 << 2, 1 << 3
ONE_WRITER = 1

# The PRAGMAs of each tier, as for the built-in store.
PRAGMAS = {NONE: ("MEMORY", "OFF"), PROCESS: ("WAL", "NORMAL"), POWER: ("WAL", "FULL")}

TABLE = {
    "name": "python-sqlite",
    "summary": "SQLite by Python's module sqlite3",
    "practice": "as sqlite; one thread of Python runs at a time",
    "version": f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}",
    "flags": ORDERED | ATOMIC_BATCH | REPLACES_WHOLE | COPIES,
    "sessions": ONE_WRITER,
    "shipped": POWER,
    "offers": [
        (NONE, WHOLE, WHOLE, "journal_mode=MEMORY, synchronous=OFF"),
        (PROCESS, NOTHING, NEWEST, "journal_mode=WAL, synchronous=NORMAL"),
        (POWER, NOTHING, NOTHING, "journal_mode=WAL, synchronous=FULL"),
    ],
    "settings": [],
}


def open(folder, tier, cache_bytes, sessions, settings):
    return Store(f"{folder}/records.sqlite", POWER if tier == AS_SHIPPED else tier, cache_bytes, sessions)


class Store:
    def __init__(self, path, tier, cache_bytes, sessions):
        self.path, self.given = path, tier
        self.cache_kib = None if cache_bytes is None else max(cache_bytes // 1024 // max(sessions, 1), 1)
        self.own = self.connect()
        self.own.execute("CREATE TABLE IF NOT EXISTS records (key BLOB PRIMARY KEY NOT NULL, value BLOB NOT NULL)")

    def connect(self):
        # In its own mode, autocommit, as transactions are begun below. The lock is storebench's: a session has one thread.
        connection = sqlite3.connect(self.path, timeout=60, isolation_level=None, check_same_thread=False)
        journal_mode, synchronous = PRAGMAS[self.given]
        connection.execute(f"PRAGMA journal_mode={journal_mode}").fetchone()
        connection.execute(f"PRAGMA synchronous={synchronous}")
        if self.cache_kib is not None:
            connection.execute(f"PRAGMA cache_size=-{self.cache_kib}")
        return connection

    def tier(self):
        return self.given

    def count(self):
        return self.own.execute("SELECT count(*) FROM records").fetchone()[0]

    def settle(self):
        self.own.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()

    def settings(self):
        names = ["journal_mode", "synchronous", "page_size", "cache_size"]
        return [(name, str(self.own.execute(f"PRAGMA {name}").fetchone()[0])) for name in names]

    def session(self):
        return Session(self.connect())

    def close(self):
        self.own.close()


class Session:
    def __init__(self, connection):
        self.connection = connection
        self.execute = connection.execute

    def close(self):
        # By itself it would be closed when the collector of garbage comes by.
        self.connection.close()

    def get(self, key):
        row = self.execute("SELECT value FROM records WHERE key = ?1", (key,)).fetchone()
        return row[0] if row else None

    def put(self, key, value):
        self.execute(
            "INSERT INTO records (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            (key, value),
        )

    def remove(self, key):
        self.execute("DELETE FROM records WHERE key = ?1", (key,))

    def batch(self, changes):
        self.execute("BEGIN IMMEDIATE")
        try:
            for key, value in changes:
                if value is None:
                    self.remove(key)
                else:
                    self.put(key, value)
            self.execute("COMMIT")
        except BaseException:
            if self.connection.in_transaction:
                self.execute("ROLLBACK")
            raise

    def scan(self, key, limit):
        return self.execute("SELECT key, value FROM records WHERE key >= ?1 ORDER BY key LIMIT ?2", (key, limit))
