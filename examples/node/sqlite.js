// SQLite by better-sqlite3, with the table and the settings of storebench's own sqlite: what the binding
// costs beside it. Build it: make -C examples node-sqlite
"use strict";

const Database = require("better-sqlite3");
// By its path, as the package that finds it by itself isn't fetched.
const nativeBinding = require.resolve("better-sqlite3/build/Release/better_sqlite3.node");

const [NONE, PROCESS, POWER, AS_SHIPPED] = [0, 1, 2, -1];
const [WHOLE, NEWEST, NOTHING] = [0, 3, 6];
const [ORDERED, ATOMIC_BATCH, REPLACES_WHOLE, COPIES] = [1 << 0, 1 << 1, 1 << 2, 1 << 3];
const ONE_WRITER = 1;

// The PRAGMAs of each tier, as for the built-in store.
const PRAGMAS = { [NONE]: ["MEMORY", "OFF"], [PROCESS]: ["WAL", "NORMAL"], [POWER]: ["WAL", "FULL"] };

function version() {
  const memory = new Database(":memory:", { nativeBinding });
  const sqlite = memory.prepare("SELECT sqlite_version()").pluck().get();
  memory.close();
  const { version: better } = require("better-sqlite3/package.json");
  return `Node ${process.versions.node}, better-sqlite3 ${better}, SQLite ${sqlite}`;
}

exports.TABLE = {
  name: "node-sqlite",
  summary: "SQLite by better-sqlite3, in Node",
  practice: "as sqlite; one thread of Node runs at a time, also while SQLite works",
  version: version(),
  flags: ORDERED | ATOMIC_BATCH | REPLACES_WHOLE | COPIES,
  sessions: ONE_WRITER,
  shipped: POWER,
  offers: [
    [NONE, WHOLE, WHOLE, "journal_mode=MEMORY, synchronous=OFF"],
    [PROCESS, NOTHING, NEWEST, "journal_mode=WAL, synchronous=NORMAL"],
    [POWER, NOTHING, NOTHING, "journal_mode=WAL, synchronous=FULL"],
  ],
  settings: [],
};

exports.open = (folder, tier, cacheBytes, sessions) =>
  new Store(`${folder}/records.sqlite`, tier === AS_SHIPPED ? POWER : tier, cacheBytes, sessions);

class Store {
  constructor(path, tier, cacheBytes, sessions) {
    this.path = path;
    this.given = tier;
    const each = cacheBytes === null ? null : Math.floor(cacheBytes / 1024 / Math.max(sessions, 1));
    this.cacheKib = each === null ? null : Math.max(each, 1);
    this.own = this.connect();
    this.own.exec("CREATE TABLE IF NOT EXISTS records (key BLOB PRIMARY KEY NOT NULL, value BLOB NOT NULL)");
    this.counted = this.own.prepare("SELECT count(*) FROM records").pluck();
  }

  connect() {
    const connection = new Database(this.path, { timeout: 60_000, nativeBinding });
    const [journalMode, synchronous] = PRAGMAS[this.given];
    connection.pragma(`journal_mode=${journalMode}`);
    connection.pragma(`synchronous=${synchronous}`);
    if (this.cacheKib !== null) connection.pragma(`cache_size=-${this.cacheKib}`);
    return connection;
  }

  tier() {
    return this.given;
  }

  count() {
    return this.counted.get();
  }

  settle() {
    this.own.pragma("wal_checkpoint(TRUNCATE)");
  }

  settings() {
    const names = ["journal_mode", "synchronous", "page_size", "cache_size"];
    return names.map((name) => [name, String(this.own.pragma(name, { simple: true }))]);
  }

  session() {
    return new Session(this.connect());
  }

  close() {
    this.own.close();
  }
}

class Session {
  constructor(connection) {
    this.connection = connection;
    this.found = connection.prepare("SELECT value FROM records WHERE key = ?").pluck();
    this.written = connection.prepare(
      "INSERT INTO records (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
    );
    this.removed = connection.prepare("DELETE FROM records WHERE key = ?");
    const rows = "SELECT key, value FROM records WHERE key >= ? ORDER BY key LIMIT ?";
    this.shown = connection.prepare(rows).raw();
    this.changed = connection.transaction((changes) => {
      for (const [key, value] of changes) {
        if (value === null) this.remove(key);
        else this.put(key, value);
      }
    }).immediate;
  }

  close() {
    this.connection.close();
  }

  get(key) {
    return this.found.get(key);
  }

  put(key, value) {
    this.written.run(key, value);
  }

  remove(key) {
    this.removed.run(key);
  }

  batch(changes) {
    this.changed(changes);
  }

  scan(key, limit) {
    return this.shown.iterate(key, limit);
  }
}
