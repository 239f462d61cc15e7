#include "snippet.h"

#include "main.h"

/* Every thread has a connection; the first is that of main(), and reads. */
static struct connection {
    sqlite3 *db;
    sqlite3_stmt *insert;
} all[9];
static int opened;
static char file[4096];
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local struct connection *own;

static int connect(void) {
    int failed;
    pthread_mutex_lock(&opening);
    own = &all[opened++];
    failed = open_records(file, &own->db);
    pthread_mutex_unlock(&opening);
    return failed != 0 ? failed : prepare_put(own->db, &own->insert);
}

static int start(const char *folder) {
    snprintf(file, sizeof file, "%s/records.sqlite", folder);
    return connect();
}

static int write_record(const char *key, const char *value) {
    int failed = own == NULL ? connect() : 0;
    if (failed == 0)
        failed = put(own->insert, key, (int)strlen(key), value, VALUE_BYTES);
    /* It inserts: another thread, or an earlier turn, was first. */
    return failed == SQLITE_CONSTRAINT ? 0 : failed;
}

static int read_record(const char *key, char *value) {
    sqlite3_stmt *get;
    int failed = sqlite3_prepare_v2(own->db, "SELECT value FROM records WHERE key = ?1", -1, &get, NULL);
    if (failed != 0)
        return failed;
    sqlite3_bind_blob(get, 1, key, (int)strlen(key), SQLITE_STATIC);
    failed = sqlite3_step(get) != SQLITE_ROW || sqlite3_column_bytes(get, 0) != VALUE_BYTES;
    if (failed == 0)
        memcpy(value, sqlite3_column_blob(get, 0), VALUE_BYTES);
    sqlite3_finalize(get);
    return failed;
}

static void tell_of(const char *name) {
    char pragma[64];
    sqlite3_stmt *statement;
    snprintf(pragma, sizeof pragma, "PRAGMA %s", name);
    must(pragma, sqlite3_prepare_v2(own->db, pragma, -1, &statement, NULL));
    if (sqlite3_step(statement) == SQLITE_ROW)
        printf("%s=%s\n", name, (const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
}

static void tell(void) {
    static const char *const names[] = {
        "locking_mode", "page_size", "auto_vacuum", "journal_mode", "synchronous", "fullfsync", "cache_size",
        "mmap_size", "temp_store", "wal_autocheckpoint", "journal_size_limit", "secure_delete", "busy_timeout",
    };
    size_t number;
    for (number = 0; number < sizeof names / sizeof *names; ++number)
        tell_of(names[number]);
}

static int stop(void) {
    int failed = 0;
    while (opened > 0) {
        struct connection *last = &all[--opened];
        sqlite3_finalize(last->insert);
        failed |= sqlite3_close(last->db);
    }
    own = NULL;
    return failed;
}
