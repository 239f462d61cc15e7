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

static int read_record(const char *key, char **value, size_t *bytes) {
    MDB_val k = {strlen(key), (void *)key};
    return get(env, db, &k, value, bytes);
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
    close_records(env);
    return 0;
}
