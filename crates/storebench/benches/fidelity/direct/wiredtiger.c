/* WiredTiger without a log, as an application in C uses it: a cursor that is kept, and values that are copied from the engine's pages. */

#include <stdlib.h>
#include <string.h>

#include <wiredtiger.h>

struct direct_wt {
    WT_CONNECTION *connection;
    WT_SESSION *session;
    WT_CURSOR *cursor;
};

struct direct_wt *direct_wt_open(const char *folder, const char *config) {
    struct direct_wt *db = malloc(sizeof *db);
    if (db != NULL && wiredtiger_open(folder, NULL, config, &db->connection) == 0 &&
        db->connection->open_session(db->connection, NULL, NULL, &db->session) == 0 &&
        db->session->create(db->session, "file:records.wt", "key_format=u,value_format=u") == 0 &&
        db->session->open_cursor(db->session, "file:records.wt", NULL, NULL, &db->cursor) == 0)
        return db;
    return NULL;
}

int direct_wt_close(struct direct_wt *db) {
    int ret = db->connection->close(db->connection, NULL);
    free(db);
    return ret;
}

int direct_wt_put(struct direct_wt *db, const void *key, size_t key_size, const void *value, size_t value_size) {
    WT_ITEM k, v;
    memset(&k, 0, sizeof k);
    memset(&v, 0, sizeof v);
    k.data = key;
    k.size = key_size;
    v.data = value;
    v.size = value_size;
    db->cursor->set_key(db->cursor, &k);
    db->cursor->set_value(db->cursor, &v);
    return db->cursor->insert(db->cursor);
}

int direct_wt_get(struct direct_wt *db, const void *key, size_t key_size, void *buffer, size_t *value_size) {
    WT_ITEM k, v;
    int ret;
    memset(&k, 0, sizeof k);
    k.data = key;
    k.size = key_size;
    db->cursor->set_key(db->cursor, &k);
    if ((ret = db->cursor->search(db->cursor)) != 0 || (ret = db->cursor->get_value(db->cursor, &v)) != 0)
        return ret;
    memcpy(buffer, v.data, v.size);
    *value_size = v.size;
    return db->cursor->reset(db->cursor);
}
