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

/* It can be asked for none of its options. */
static void tell(void) {}

static int stop(void) {
    close_records(&records);
    return 0;
}
