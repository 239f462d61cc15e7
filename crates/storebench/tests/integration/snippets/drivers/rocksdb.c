#include "main.h"

static struct records records;

static int said(const char *error) {
    if (error != NULL)
        fprintf(stderr, "%s\n", error);
    return error != NULL;
}

static int start(const char *folder) {
    return said(open_records(folder, &records));
}

static int write_record(const char *key, const char *value) {
    return said(put(&records, key, strlen(key), value, VALUE_BYTES));
}

static int read_record(const char *key, char **value, size_t *bytes) {
    return said(get(&records, key, strlen(key), value, bytes));
}

/* The rest stands in a file that it writes into its folder. */
static void tell(void) {
    uint64_t bytes;
    must("capacity", rocksdb_property_int(records.db, "rocksdb.block-cache-capacity", &bytes));
    printf("block_cache_size=%llu\n", (unsigned long long)bytes);
}

static int stop(void) {
    return said(close_records(&records));
}
