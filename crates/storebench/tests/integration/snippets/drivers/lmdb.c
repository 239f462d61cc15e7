#include "snippet.h"

#include "main.h"

static MDB_env *env;
static MDB_dbi db;

static int start(const char *folder) {
    return open_records(folder, &env, &db);
}

static int write_record(const char *key, const char *value) {
    MDB_val k = {strlen(key), (void *)key}, v = {VALUE_BYTES, (void *)value};
    return put(env, db, &k, &v);
}

static int read_record(const char *key, char *value) {
    MDB_val k = {strlen(key), (void *)key}, v;
    MDB_txn *txn;
    int failed = mdb_txn_begin(env, NULL, MDB_RDONLY, &txn);
    if (failed != 0)
        return failed;
    if ((failed = mdb_get(txn, db, &k, &v)) == 0)
        memcpy(value, v.mv_data, VALUE_BYTES);
    mdb_txn_abort(txn);
    return failed;
}

static void flag(const char *name, unsigned flag) {
    unsigned flags;
    must("flags", mdb_env_get_flags(env, &flags));
    printf("%s=%s\n", name, flags & flag ? "true" : "false");
}

static void tell(void) {
    MDB_envinfo info;
    MDB_stat stat;
    must("info", mdb_env_info(env, &info));
    must("stat", mdb_env_stat(env, &stat));
    printf("page_size=%u\n", stat.ms_psize);
    printf("map_size=%llu\nmax_readers=%u\n", (unsigned long long)info.me_mapsize, info.me_maxreaders);
    flag("nosync", MDB_NOSYNC);
    flag("nometasync", MDB_NOMETASYNC);
    flag("writemap", MDB_WRITEMAP);
    flag("mapasync", MDB_MAPASYNC);
    flag("nordahead", MDB_NORDAHEAD);
    flag("nomeminit", MDB_NOMEMINIT);
}

static int stop(void) {
    mdb_env_close(env);
    return 0;
}
