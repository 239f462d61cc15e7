#include "snippet.h"

#include "main.h"

static unqlite *db;

static int start(const char *folder) {
    char file[4096];
    snprintf(file, sizeof file, "%s/records.unqlite", folder);
    return open_records(file, &db);
}

static int write_record(const char *key, const char *value) {
    return put(db, key, strlen(key), value, VALUE_BYTES);
}

static int read_record(const char *key, char *value) {
    unqlite_int64 bytes = VALUE_BYTES;
    return unqlite_kv_fetch(db, key, strlen(key), value, &bytes);
}

/* It can be asked for nothing. */
static void tell(void) {}

static int stop(void) {
    return unqlite_close(db);
}
