#include "snippet.h"

#include "main.h"

static leveldb_t *db;
static leveldb_writeoptions_t *each_write;

static int said(char *error) {
    if (error != NULL)
        fprintf(stderr, "%s\n", error);
    return error != NULL;
}

static int start(const char *folder) {
    char *error = NULL;
    db = open_records(folder, &each_write, &error);
    return said(error);
}

static int write_record(const char *key, const char *value) {
    char *error = NULL;
    leveldb_put(db, each_write, key, strlen(key), value, VALUE_BYTES, &error);
    return said(error);
}

static int read_record(const char *key, char *value) {
    char *error = NULL;
    size_t bytes = 0;
    char *found = leveldb_get(db, leveldb_readoptions_create(), key, strlen(key), &bytes, &error);
    if (said(error) || found == NULL || bytes != VALUE_BYTES)
        return 1;
    memcpy(value, found, VALUE_BYTES);
    leveldb_free(found);
    return 0;
}

/* It can be asked for none of its options. */
static void tell(void) {}

static int stop(void) {
    leveldb_close(db);
    return 0;
}
