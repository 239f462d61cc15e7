/* WiredTiger {{version}}: cc records.c -lwiredtiger; under the GPL */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <wiredtiger.h>

int open_records(const char *folder, WT_CONNECTION **db) {
    WT_SESSION *session;
    int failed = wiredtiger_open(folder, NULL,
        "create,config_base=false,use_environment=false,"
        "cache_size={{cache_size}},"
[log=false]         "log=(enabled=false)",
[log=true]         /* {{log_file_max}} bytes of log are made at once, twice. */
[log=true]         "log=(enabled=true,file_max={{log_file_max}}),"
[log=true]         "checkpoint=(log_size={{checkpoint_log_size}}),"
[transaction_sync=off]         "transaction_sync=(enabled=false)",
[transaction_sync=none]         "transaction_sync=(enabled=true,method=none)",
[transaction_sync=fsync]         "transaction_sync=(enabled=true,method=fsync)",
        db);
    if (failed) return failed;
    failed = (*db)->open_session(*db, NULL, NULL, &session);
    if (failed) return failed;
    /* A "table:" is made in several steps, which an accident can part. */
    failed = session->create(session, "file:records.wt",
        "key_format=u,value_format=u,leaf_page_max={{leaf_page_max}},"
        "block_compressor={{block_compressor}}");
    if (!failed) failed = session->close(session, NULL);
    return failed;
}

/* Each thread has a session and a cursor of its own, and keeps them. */
int open_cursor(WT_CONNECTION *db, WT_CURSOR **records) {
    WT_SESSION *session;
    int failed = db->open_session(db, NULL, NULL, &session);
    if (failed) return failed;
    return session->open_cursor(session, "file:records.wt", NULL, NULL,
                                records);
}

[log=false] /* In memory until a checkpoint: session->checkpoint(session, NULL), or
[log=false]  * when the database is closed. */
[transaction_sync=off] /* In memory until the log is written. */
[transaction_sync=none] /* Survives a killed process, once it has returned 0. */
[transaction_sync=fsync] /* Survives a power cut, once it has returned 0. */
int put(WT_CURSOR *records, const void *key, size_t key_bytes,
        const void *value, size_t bytes) {
    WT_ITEM k = {.data = key, .size = key_bytes};
    WT_ITEM v = {.data = value, .size = bytes};
    records->set_key(records, &k);
    records->set_value(records, &v);
    return records->insert(records);
}

/* A copy, to be freed; NULL where there is none. */
int get(WT_CURSOR *records, const void *key, size_t key_bytes,
        char **copy, size_t *bytes) {
    WT_ITEM k = {.data = key, .size = key_bytes}, v;
    *copy = NULL;
    records->set_key(records, &k);
    int failed = records->search(records);
    if (failed == WT_NOTFOUND) return 0;
    if (!failed) failed = records->get_value(records, &v);
    if (!failed && !(*copy = malloc(v.size + 1))) failed = ENOMEM;
    if (!failed) {
        *bytes = v.size;
        memcpy(*copy, v.data, v.size);
    }
    /* Lets go of the record and of the state that it was read in. */
    int reset = records->reset(records);
    return failed ? failed : reset;
}

int remove_key(WT_CURSOR *records, const void *key, size_t key_bytes) {
    WT_ITEM k = {.data = key, .size = key_bytes};
    records->set_key(records, &k);
    int failed = records->remove(records);
    return failed == WT_NOTFOUND ? 0 : failed;
}

/* Closes all sessions, too, and makes a checkpoint. */
int close_records(WT_CONNECTION *db) {
    return db->close(db, NULL);
}

int main(void) {
    WT_CONNECTION *db = NULL;
    WT_CURSOR *all = NULL;
    char *found = NULL, *gone = NULL;
    size_t bytes;
    mkdir("records", 0777);
    int failed = open_records("records", &db);
    if (!failed) failed = open_cursor(db, &all);
    if (!failed) failed = put(all, "apple", 5, "red", 3);
    if (!failed) failed = put(all, "apple", 5, "green", 5); /* Replaces. */
    if (!failed) failed = put(all, "cherry", 6, "red", 3);
    if (!failed) failed = remove_key(all, "cherry", 6);
    if (!failed) failed = remove_key(all, "cherry", 6); /* No error. */
    if (!failed) failed = get(all, "apple", 5, &found, &bytes);
    if (found) printf("apple: %.*s\n", (int)bytes, found);
    if (!failed) failed = get(all, "cherry", 6, &gone, &bytes);
    if (!failed) printf("cherry: %s\n", gone ? "there" : "absent");
    if (!failed) failed = close_records(db);
    if (failed) fprintf(stderr, "%s\n", wiredtiger_strerror(failed));
    free(found);
    return failed != 0;
}
