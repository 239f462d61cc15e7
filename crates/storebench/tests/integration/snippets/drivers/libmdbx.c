#include "main.h"

static MDBX_env *env;
static MDBX_dbi db;

static int start(const char *folder) {
    return open_records(folder, &env, &db);
}

static int write_record(const char *key, const char *value) {
    MDBX_val k = {(void *)key, strlen(key)}, v = {(void *)value, VALUE_BYTES};
    return put(env, db, &k, &v);
}

static int read_record(const char *key, char **value, size_t *bytes) {
    MDBX_val k = {(void *)key, strlen(key)};
    return get(env, db, &k, value, bytes);
}

static void flag(const char *name, unsigned flag) {
    unsigned flags;
    must("flags", mdbx_env_get_flags(env, &flags));
    printf("%s=%s\n", name, flags & flag ? "true" : "false");
}

static void tell(void) {
    MDBX_envinfo info;
    unsigned flags;
    uint64_t unsynced;
    must("info", mdbx_env_info_ex(env, NULL, &info, sizeof info));
    must("flags", mdbx_env_get_flags(env, &flags));
    must("option", mdbx_env_get_option(env, MDBX_opt_sync_bytes, &unsynced));
    printf("sync_bytes=%llu\n", (unsigned long long)unsynced);
    /* The library adds the flags of safer modes. */
    printf("sync_mode=%s\n", (flags & MDBX_UTTERLY_NOSYNC) == MDBX_UTTERLY_NOSYNC ? "utterly_nosync"
                             : flags & MDBX_SAFE_NOSYNC                          ? "safe_nosync"
                             : flags & MDBX_NOMETASYNC                           ? "nometasync"
                                                                                 : "durable");
    printf("size_upper=%llu\n", (unsigned long long)info.mi_geo.upper);
    printf("growth_step=%llu\n", (unsigned long long)info.mi_geo.grow);
    printf("pagesize=%u\nmax_readers=%u\n", info.mi_dxb_pagesize, info.mi_maxreaders);
    flag("writemap", MDBX_WRITEMAP);
    flag("nordahead", MDBX_NORDAHEAD);
    flag("nomeminit", MDBX_NOMEMINIT);
    flag("liforeclaim", MDBX_LIFORECLAIM);
}

static int stop(void) {
    return close_records(env);
}
