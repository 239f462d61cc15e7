/* UnQLite, compiled in as unqlite.c */
#include <unqlite.h>

int open_records(const char *file, unqlite **db) {
    int failed = unqlite_open(db, file, UNQLITE_OPEN_CREATE);
    failed |= unqlite_config(*db, UNQLITE_CONFIG_MAX_PAGE_CACHE, {{max_page_cache}});
    return failed;
}
[transactions=committed after each write] 
[transactions=committed after each write] /* After each write, for it to survive a power cut: */
[transactions=committed after each write] int acknowledge(unqlite *db) {
[transactions=committed after each write]     return unqlite_commit(db);
[transactions=committed after each write] }
