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

static int read_record(const char *key, char **value, size_t *bytes) {
    unqlite_int64 found = 0;
    int failed = get(db, key, strlen(key), value, &found);
    *bytes = found;
    return failed;
}

/* It can be asked for nothing. */
static void tell(void) {}

static int stop(void) {
    return close_records(db);
}
