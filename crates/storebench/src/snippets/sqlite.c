/* SQLite {{version}} was measured (sqlite3_libversion()); cc -lsqlite3 */
#include <sqlite3.h>
#include <stddef.h>

/* On every thread: a connection is one thread's. Close it in any case. */
int open_records(const char *file, sqlite3 **db) {
    int failed = sqlite3_open(file, db);
    if (failed) return failed;
    const char *settings =
        "PRAGMA busy_timeout = {{busy_timeout}};"
        "PRAGMA locking_mode = {{locking_mode}};"
        "PRAGMA page_size = {{page_size}};"
        "PRAGMA auto_vacuum = {{auto_vacuum}};"
        "PRAGMA journal_mode = {{journal_mode}};"
        "PRAGMA synchronous = {{synchronous}};"
        "PRAGMA fullfsync = {{fullfsync}};"
        "PRAGMA cache_size = {{cache_size}};"
        "PRAGMA mmap_size = {{mmap_size}};"
        "PRAGMA temp_store = {{temp_store}};"
        "PRAGMA wal_autocheckpoint = {{wal_autocheckpoint}};"
        "PRAGMA journal_size_limit = {{journal_size_limit}};"
        "PRAGMA secure_delete = {{secure_delete}};"
        "CREATE TABLE IF NOT EXISTS records"
        " (key BLOB PRIMARY KEY NOT NULL, value BLOB NOT NULL);";
    return sqlite3_exec(*db, settings, NULL, NULL, NULL);
}

/* Once for each connection; sqlite3_finalize() it before that is closed. */
int prepare_put(sqlite3 *db, sqlite3_stmt **insert) {
    return sqlite3_prepare_v3(db,
        "INSERT INTO records (key, value) VALUES (?1, ?2)", -1,
        SQLITE_PREPARE_PERSISTENT, insert, NULL);
}

/* A transaction of its own: autocommit. */
int put(sqlite3_stmt *insert, const void *key, int key_bytes,
        const void *value, int bytes) {
    int failed =
        sqlite3_bind_blob(insert, 1, key, key_bytes, SQLITE_STATIC);
    if (!failed)
        failed = sqlite3_bind_blob(insert, 2, value, bytes, SQLITE_STATIC);
    if (failed) return failed;
    sqlite3_step(insert);
    return sqlite3_reset(insert); /* What the step gave. */
}
