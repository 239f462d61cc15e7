#include "snippet.h"

#include "main.h"

static rocksdb_t *db;
static rocksdb_writeoptions_t *each_write;

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
    rocksdb_put(db, each_write, key, strlen(key), value, VALUE_BYTES, &error);
    return said(error);
}

static int read_record(const char *key, char *value) {
    char *error = NULL;
    size_t bytes = 0;
    char *found = rocksdb_get(db, rocksdb_readoptions_create(), key, strlen(key), &bytes, &error);
    if (said(error) || found == NULL || bytes != VALUE_BYTES)
        return 1;
    memcpy(value, found, VALUE_BYTES);
    rocksdb_free(found);
    return 0;
}

/* The rest stands in a file that it writes into its folder. */
static void tell(void) {
    uint64_t bytes;
    must("capacity", rocksdb_property_int(db, "rocksdb.block-cache-capacity", &bytes));
    printf("block_cache_size=%llu\n", (unsigned long long)bytes);
}

static int stop(void) {
    rocksdb_close(db);
    return 0;
}
