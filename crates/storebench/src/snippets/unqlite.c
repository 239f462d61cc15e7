/* UnQLite {{version}}, compiled in as unqlite.c; one thread at a time */
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
        unqlite_int64 value_bytes) {
    int failed = unqlite_kv_store(db, key, key_bytes, value, value_bytes);
[transactions=committed after each write]     if (!failed) failed = unqlite_commit(db);
[transactions=committed after each write]     if (failed) unqlite_rollback(db);
    return failed;
}
