#include "main.h"

/* Every thread has a connection; the first is that of main(), and reads. */
static struct records all[9];
static int opened;
static char file[4096];
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local struct records *own;

static int connect(void) {
    int failed;
    pthread_mutex_lock(&opening);
    own = &all[opened++];
    failed = open_records(file, own);
    pthread_mutex_unlock(&opening);
    return failed;
}

static int start(const char *folder) {
    snprintf(file, sizeof file, "%s/records.sqlite", folder);
    return connect();
}

static int write_record(const char *key, const char *value) {
    int failed = own == NULL ? connect() : 0;
    return failed != 0 ? failed : put(own, key, (int)strlen(key), value, VALUE_BYTES);
}

static int read_record(const char *key, char **value, size_t *bytes) {
    int found = 0, failed = get(own, key, (int)strlen(key), value, &found);
    *bytes = (size_t)found;
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
    while (opened > 0)
        failed |= close_records(&all[--opened]);
    own = NULL;
    return failed;
}
