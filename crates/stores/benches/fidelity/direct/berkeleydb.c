/* Berkeley DB without an environment, as an application in C uses it: values are read into a buffer of its own. */

#include <stdint.h>
#include <string.h>

#include <db.h>

DB *direct_bdb_open(const char *file, uint32_t cache) {
    DB *db;
    if (db_create(&db, NULL, 0) != 0)
        return NULL;
    if (db->set_cachesize(db, 0, cache, 1) == 0 && db->open(db, NULL, file, NULL, DB_BTREE, DB_CREATE, 0) == 0)
        return db;
    db->close(db, 0);
    return NULL;
}

int direct_bdb_close(DB *db) {
    return db->close(db, 0);
}

int direct_bdb_put(DB *db, const void *key, uint32_t key_size, const void *value, uint32_t value_size) {
    DBT k, v;
    memset(&k, 0, sizeof k);
    memset(&v, 0, sizeof v);
    k.data = (void *)key;
    k.size = key_size;
    v.data = (void *)value;
    v.size = value_size;
    return db->put(db, NULL, &k, &v, 0);
}

int direct_bdb_get(DB *db, const void *key, uint32_t key_size, void *buffer, uint32_t room, uint32_t *value_size) {
    DBT k, v;
    int ret;
    memset(&k, 0, sizeof k);
    memset(&v, 0, sizeof v);
    k.data = (void *)key;
    k.size = key_size;
    v.data = buffer;
    v.ulen = room;
    v.flags = DB_DBT_USERMEM;
    ret = db->get(db, NULL, &k, &v, 0);
    *value_size = v.size;
    return ret;
}
