/* The functions of the store, for what it reads back. */
#include "native/berkeleydb.c"

#include "main.h"

static struct sb_bdb store;
static struct records records;

static int start(const char *folder) {
    int failed = open_records(folder, &records);
    store.db = records.db;
#ifndef WITHOUT_ENVIRONMENT
    store.env = records.env;
#endif
#ifdef WITH_LOG
    store.logged = 1;
#endif
    return failed;
}

static int write_record(const char *key, const char *value) {
    DBT k, v;
    bytes_of(&k, key, strlen(key));
    bytes_of(&v, value, VALUE_BYTES);
    return put(&records, &k, &v);
}

static int read_record(const char *key, char **value, size_t *bytes) {
    DBT k, v;
    int failed;
    bytes_of(&k, key, strlen(key));
    failed = get(&records, &k, &v);
    *value = v.data;
    *bytes = v.size;
    return failed;
}

static void tell(void) {
    struct sb_bdb_facts facts;
    char names[256];
    must("facts", sb_bdb_facts(&store, &facts));
    sb_bdb_flag_names(facts.env_open_flags, names, sizeof names);
    printf("environment=%s\n", names[0] == '\0' ? "none" : names);
    printf("type=%s\n", facts.hash ? "DB_HASH" : "DB_BTREE");
    printf("cachesize=%llu\npagesize=%u\n", (unsigned long long)facts.cache, facts.page_size);
    if (facts.max_locks > 0)
        printf("lk_max_locks=%u\n", facts.max_locks);
    if (!store.logged)
        return;
    printf("DB_TXN_WRITE_NOSYNC=%s\n", facts.write_nosync ? "true" : "false");
    printf("DB_TXN_NOSYNC=%s\n", facts.nosync ? "true" : "false");
    printf("DB_LOG_AUTO_REMOVE=%s\n", facts.auto_remove ? "true" : "false");
    printf("lg_max=%u\nlg_bsize=%u\n", facts.lg_max, facts.lg_bsize);
}

static int stop(void) {
    return close_records(&records);
}
