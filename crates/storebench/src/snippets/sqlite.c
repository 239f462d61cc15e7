/* SQLite {{version}} was measured: sqlite3_libversion() tells yours.
 * cc records.c -lsqlite3 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A connection with its statements: every thread has its own. */
struct records {
    sqlite3 *db;
    sqlite3_stmt *put, *get, *remove;
};

/* close_records() it in any case. */
int open_records(const char *file, struct records *r) {
    memset(r, 0, sizeof *r);
    int failed = sqlite3_open(file, &r->db);
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
    const char *put = "INSERT INTO records (key, value) VALUES (?1, ?2)"
        " ON CONFLICT (key) DO UPDATE SET value = excluded.value";
    const char *get = "SELECT value FROM records WHERE key = ?1";
    const char *del = "DELETE FROM records WHERE key = ?1";
    unsigned kept = SQLITE_PREPARE_PERSISTENT;
    failed = sqlite3_exec(r->db, settings, NULL, NULL, NULL);
    if (!failed)
        failed = sqlite3_prepare_v3(r->db, put, -1, kept, &r->put, NULL);
    if (!failed)
        failed = sqlite3_prepare_v3(r->db, get, -1, kept, &r->get, NULL);
    if (!failed)
        failed = sqlite3_prepare_v3(r->db, del, -1, kept, &r->remove, NULL);
    return failed;
}

/* A transaction of its own: autocommit. */
int put(struct records *r, const void *key, int key_bytes,
        const void *value, int bytes) {
    int failed =
        sqlite3_bind_blob(r->put, 1, key, key_bytes, SQLITE_STATIC);
    if (!failed)
        failed = sqlite3_bind_blob(r->put, 2, value, bytes, SQLITE_STATIC);
    if (failed) return failed;
    sqlite3_step(r->put);
    return sqlite3_reset(r->put); /* What the step gave. */
}

/* A copy, to be freed; NULL where there is none. */
int get(struct records *r, const void *key, int key_bytes, char **copy,
        int *bytes) {
    *copy = NULL;
    int failed =
        sqlite3_bind_blob(r->get, 1, key, key_bytes, SQLITE_STATIC);
    if (failed) return failed;
    if (sqlite3_step(r->get) == SQLITE_ROW) {
        const void *value = sqlite3_column_blob(r->get, 0);
        *bytes = sqlite3_column_bytes(r->get, 0);
        *copy = malloc(*bytes + 1);
        if (*copy && *bytes) memcpy(*copy, value, *bytes);
        if (!*copy) failed = SQLITE_NOMEM;
    }
    int step = sqlite3_reset(r->get);
    return failed ? failed : step;
}

int remove_key(struct records *r, const void *key, int key_bytes) {
    int failed =
        sqlite3_bind_blob(r->remove, 1, key, key_bytes, SQLITE_STATIC);
    if (failed) return failed;
    sqlite3_step(r->remove);
    return sqlite3_reset(r->remove);
}

int close_records(struct records *r) {
    sqlite3_finalize(r->put);
    sqlite3_finalize(r->get);
    sqlite3_finalize(r->remove);
    return sqlite3_close(r->db);
}

int main(void) {
    struct records r;
    char *found = NULL, *gone = NULL;
    int bytes, failed = open_records("records.sqlite", &r);
    if (!failed) failed = put(&r, "apple", 5, "red", 3);
    if (!failed) failed = put(&r, "apple", 5, "green", 5); /* Replaces. */
    if (!failed) failed = put(&r, "cherry", 6, "red", 3);
    if (!failed) failed = remove_key(&r, "cherry", 6);
    if (!failed) failed = remove_key(&r, "cherry", 6); /* No error. */
    if (!failed) failed = get(&r, "apple", 5, &found, &bytes);
    if (found) printf("apple: %.*s\n", bytes, found);
    if (!failed) failed = get(&r, "cherry", 6, &gone, &bytes);
    if (!failed) printf("cherry: %s\n", gone ? "there" : "absent");
    if (failed) fprintf(stderr, "%s\n", sqlite3_errmsg(r.db));
    free(found);
    return close_records(&r) || failed;
}
