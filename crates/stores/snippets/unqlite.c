/* UnQLite {{version}}: cc records.c unqlite.c; one thread at a time */
#include <stdio.h>
#include <stdlib.h>
#include <unqlite.h>

int open_records(const char *file, unqlite **db) {
[page_size!=4096]     /* Of all files that the process makes; before it opens one. */
[page_size!=4096]     unqlite_lib_config(UNQLITE_LIB_CONFIG_PAGE_SIZE, {{page_size}});
    int failed = unqlite_open(db, file, UNQLITE_OPEN_CREATE);
[max_page_cache!=]     int pages = {{max_page_cache}}; /* A hint. */
[max_page_cache!=]     if (!failed)
[max_page_cache!=]         failed = unqlite_config(*db, UNQLITE_CONFIG_MAX_PAGE_CACHE, pages);
    return failed;
}

[transactions=committed when settled or closed] /* All writes are one transaction, which unqlite_close() commits, or
[transactions=committed when settled or closed]  * unqlite_commit(): until then it is in memory. */
[transactions=committed after each write] /* Survives a power cut, once it has returned 0. */
int put(unqlite *db, const void *key, int key_bytes, const void *value,
        unqlite_int64 bytes) {
    int failed = unqlite_kv_store(db, key, key_bytes, value, bytes);
[transactions=committed after each write]     if (!failed) failed = unqlite_commit(db);
[transactions=committed after each write]     if (failed) unqlite_rollback(db);
    return failed;
}

/* A copy, to be freed; NULL where there is none. */
int get(unqlite *db, const void *key, int key_bytes, char **copy,
        unqlite_int64 *bytes) {
    *copy = NULL;
    int failed = unqlite_kv_fetch(db, key, key_bytes, NULL, bytes);
    if (failed == UNQLITE_NOTFOUND) return 0;
    if (!failed && !(*copy = malloc(*bytes + 1))) failed = UNQLITE_NOMEM;
    if (!failed)
        failed = unqlite_kv_fetch(db, key, key_bytes, *copy, bytes);
    return failed;
}

int remove_key(unqlite *db, const void *key, int key_bytes) {
    int failed = unqlite_kv_delete(db, key, key_bytes);
    if (failed == UNQLITE_NOTFOUND) return 0;
[transactions=committed after each write]     if (!failed) failed = unqlite_commit(db);
[transactions=committed after each write]     if (failed) unqlite_rollback(db);
    return failed;
}

int close_records(unqlite *db) {
    return unqlite_close(db);
}

int main(void) {
    unqlite *db = NULL;
    char *found = NULL, *gone = NULL;
    unqlite_int64 bytes;
    int failed = open_records("records.unqlite", &db);
    if (!failed) failed = put(db, "apple", 5, "red", 3);
    if (!failed) failed = put(db, "apple", 5, "green", 5); /* Replaces. */
    if (!failed) failed = put(db, "cherry", 6, "red", 3);
    if (!failed) failed = remove_key(db, "cherry", 6);
    if (!failed) failed = remove_key(db, "cherry", 6); /* No error. */
    if (!failed) failed = get(db, "apple", 5, &found, &bytes);
    if (found) printf("apple: %.*s\n", (int)bytes, found);
    if (!failed) failed = get(db, "cherry", 6, &gone, &bytes);
    if (!failed) printf("cherry: %s\n", gone ? "there" : "absent");
    free(found);
    if (db && close_records(db) && !failed) failed = UNQLITE_IOERR;
    if (failed) fprintf(stderr, "UnQLite's error %d\n", failed);
    return failed != 0;
}
