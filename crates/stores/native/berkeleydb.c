/*
 * Berkeley DB as plain functions. Its handles are structures of function pointers whose layout only db.h knows,
 * so the C compiler, and not a copy of that layout, says what is called.
 *
 * Every function that can fail returns one of the codes below; sb_bdb_message() then tells the engine's words.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <db.h>

#if DB_VERSION_MAJOR < 5 || (DB_VERSION_MAJOR == 5 && DB_VERSION_MINOR < 3)
#error "Berkeley DB 5.3 or newer is needed (Debian, Ubuntu: libdb5.3-dev; macOS: brew install berkeley-db@5)"
#endif

enum { SB_OK = 0, SB_NOT_FOUND = 1, SB_BUFFER_SMALL = 2, SB_DEADLOCK = 3, SB_FAILED = 4 };

/* How a database is kept: without an environment, with concurrent access, with a log that a commit leaves in the process, that it
 * writes, or syncs. */
enum { SB_PLAIN = 0, SB_CONCURRENT = 1, SB_LOG_KEPT = 2, SB_LOG_WRITTEN = 3, SB_LOG_SYNCED = 4 };

struct sb_bdb {
    DB_ENV *env; /* NULL for SB_PLAIN */
    DB *db;
    int logged;
    int locks; /* not 0: transactions lock what they read and write */
};

struct sb_bdb_config {
    const char *home;   /* a folder */
    const char *file;   /* the database: a path for SB_PLAIN, otherwise relative to home */
    int mode;           /* SB_PLAIN ... SB_LOG_SYNCED */
    int threads;        /* not 0: handles are used by several threads */
    uint64_t cache;     /* bytes; 0 leaves the engine's default, as do the zeros below */
    uint32_t page_size; /* bytes */
    uint32_t lg_max;    /* bytes */
    uint32_t lg_bsize;  /* bytes */
    uint32_t max_locks; /* locks, and objects that are locked */
    int hash;           /* not 0: a hash table, else a B-tree */
};

/* What the engine reads back. */
struct sb_bdb_facts {
    uint64_t cache;
    uint32_t page_size;
    uint32_t lg_max;
    uint32_t lg_bsize;
    uint32_t max_locks;
    uint32_t env_open_flags;
    int write_nosync;
    int nosync;
    int auto_remove;
    int hash;
};

struct sb_bdb_statistics {
    uint64_t cache_hits;
    uint64_t cache_misses;
    uint64_t pages_written;
    uint64_t dirty_evictions;
    uint64_t log_writes;
    uint64_t log_syncs;
    uint64_t commits;
};

static __thread char message[512];

/* Called by the engine with its own words, which are better than the error code's. */
static void keep_message(const DB_ENV *env, const char *prefix, const char *text) {
    (void)env;
    (void)prefix;
    snprintf(message, sizeof message, "%s", text);
}

const char *sb_bdb_message(void) {
    return message;
}

const char *sb_bdb_version(void) {
    return db_version(NULL, NULL, NULL);
}

/* Where the engine's code lies. */
const void *sb_bdb_code(void) {
    return (const void *)db_create;
}

static int outcome(int ret) {
    switch (ret) {
    case 0:
        return SB_OK;
    case DB_NOTFOUND:
        return SB_NOT_FOUND;
    case DB_BUFFER_SMALL:
        return SB_BUFFER_SMALL;
    case DB_LOCK_DEADLOCK:
    case DB_LOCK_NOTGRANTED:
        return SB_DEADLOCK;
    default:
        if (message[0] == '\0')
            snprintf(message, sizeof message, "%s", db_strerror(ret));
        return SB_FAILED;
    }
}

/* ---- opening and closing ---- */

static void split(uint64_t bytes, uint32_t *gbytes, uint32_t *rest) {
    *gbytes = (uint32_t)(bytes >> 30);
    *rest = (uint32_t)(bytes & ((1u << 30) - 1));
}

static int configure_env(DB_ENV *env, const struct sb_bdb_config *config) {
    uint32_t gbytes, bytes;
    int ret = 0;
    env->set_errcall(env, keep_message);
    if (config->cache != 0) {
        split(config->cache, &gbytes, &bytes);
        if ((ret = env->set_cachesize(env, gbytes, bytes, 1)) != 0)
            return ret;
    }
    if (config->mode < SB_LOG_KEPT)
        return 0;
    if (config->lg_bsize != 0 && (ret = env->set_lg_bsize(env, config->lg_bsize)) != 0)
        return ret;
    if (config->lg_max != 0 && (ret = env->set_lg_max(env, config->lg_max)) != 0)
        return ret;
    if ((ret = env->log_set_config(env, DB_LOG_AUTO_REMOVE, 1)) != 0)
        return ret;
    if (config->mode == SB_LOG_KEPT && (ret = env->set_flags(env, DB_TXN_NOSYNC, 1)) != 0)
        return ret;
    if (config->mode == SB_LOG_WRITTEN && (ret = env->set_flags(env, DB_TXN_WRITE_NOSYNC, 1)) != 0)
        return ret;
    if (config->threads == 0)
        return 0;
    if ((ret = env->set_lk_detect(env, DB_LOCK_MINWRITE)) != 0)
        return ret;
    if ((ret = env->set_lk_max_locks(env, config->max_locks)) != 0)
        return ret;
    return env->set_lk_max_objects(env, config->max_locks);
}

static uint32_t env_flags(const struct sb_bdb_config *config) {
    uint32_t flags = DB_CREATE | DB_PRIVATE | DB_INIT_MPOOL;
    if (config->threads != 0)
        flags |= DB_THREAD;
    if (config->mode == SB_CONCURRENT)
        return flags | DB_INIT_CDB;
    flags |= DB_INIT_LOG | DB_INIT_TXN | DB_RECOVER;
    return config->threads != 0 ? flags | DB_INIT_LOCK : flags;
}

static int open_env(struct sb_bdb *store, const struct sb_bdb_config *config) {
    int ret;
    if (config->mode == SB_PLAIN)
        return 0;
    if ((ret = db_env_create(&store->env, 0)) != 0)
        return ret;
    if ((ret = configure_env(store->env, config)) != 0)
        return ret;
    return store->env->open(store->env, config->home, env_flags(config), 0);
}

static int open_db(struct sb_bdb *store, const struct sb_bdb_config *config) {
    uint32_t gbytes, bytes, flags = DB_CREATE;
    int ret;
    if ((ret = db_create(&store->db, store->env, 0)) != 0)
        return ret;
    if (store->env == NULL) {
        store->db->set_errcall(store->db, keep_message);
        split(config->cache, &gbytes, &bytes);
        if (config->cache != 0 && (ret = store->db->set_cachesize(store->db, gbytes, bytes, 1)) != 0)
            return ret;
    }
    if (config->page_size != 0 && (ret = store->db->set_pagesize(store->db, config->page_size)) != 0)
        return ret;
    if (config->threads != 0)
        flags |= DB_THREAD;
    if (store->logged)
        flags |= DB_AUTO_COMMIT;
    return store->db->open(store->db, NULL, config->file, NULL, config->hash ? DB_HASH : DB_BTREE, flags, 0);
}

int sb_bdb_close(struct sb_bdb *store) {
    int ret = 0, also;
    message[0] = '\0';
    if (store->db != NULL)
        ret = store->db->close(store->db, 0);
    if (store->env != NULL && (also = store->env->close(store->env, 0)) != 0 && ret == 0)
        ret = also;
    free(store);
    return outcome(ret);
}

int sb_bdb_open(const struct sb_bdb_config *config, struct sb_bdb **out) {
    struct sb_bdb *store = calloc(1, sizeof *store);
    char why[sizeof message];
    int ret;
    message[0] = '\0';
    if (store == NULL)
        return outcome(ENOMEM);
    store->logged = config->mode >= SB_LOG_KEPT;
    store->locks = store->logged && config->threads != 0;
    ret = open_env(store, config);
    if (ret == 0)
        ret = open_db(store, config);
    if (ret == 0) {
        *out = store;
        return SB_OK;
    }
    outcome(ret);
    memcpy(why, message, sizeof why);
    sb_bdb_close(store);
    memcpy(message, why, sizeof why);
    return SB_FAILED;
}

/* ---- records ---- */

/* Both are filled where they lie: returned as values, they were copied right after they had been written piece by piece,
 * which made the processor wait, and a call some 20 ns longer. */
static void bytes_of(DBT *dbt, const void *data, uint32_t size) {
    memset(dbt, 0, sizeof *dbt);
    dbt->data = (void *)data;
    dbt->size = size;
}

/* A buffer of the caller's that the engine writes into. */
static void room(DBT *dbt, void *data, uint32_t size) {
    memset(dbt, 0, sizeof *dbt);
    dbt->data = data;
    dbt->ulen = size;
    dbt->flags = DB_DBT_USERMEM;
}

int sb_bdb_put(struct sb_bdb *store, DB_TXN *txn, const void *key, uint32_t key_size, const void *value,
               uint32_t value_size) {
    DBT k, v;
    bytes_of(&k, key, key_size);
    bytes_of(&v, value, value_size);
    message[0] = '\0';
    return outcome(store->db->put(store->db, txn, &k, &v, 0));
}

int sb_bdb_get(struct sb_bdb *store, const void *key, uint32_t key_size, void *buffer, uint32_t buffer_size,
               uint32_t *value_size) {
    DBT k, v;
    int ret;
    bytes_of(&k, key, key_size);
    room(&v, buffer, buffer_size);
    message[0] = '\0';
    ret = store->db->get(store->db, NULL, &k, &v, 0);
    *value_size = v.size;
    return outcome(ret);
}

/* The same in a transaction, as it is committed now; to_change not 0: nobody else reads it to change it, or changes it, until the
 * transaction has ended. The flags ask for locks, which must be there. */
int sb_bdb_get_in(struct sb_bdb *store, DB_TXN *txn, int to_change, const void *key, uint32_t key_size, void *buffer,
                  uint32_t buffer_size, uint32_t *value_size) {
    DBT k, v;
    int ret;
    uint32_t flags = to_change ? DB_RMW : DB_READ_COMMITTED;
    bytes_of(&k, key, key_size);
    room(&v, buffer, buffer_size);
    message[0] = '\0';
    ret = store->db->get(store->db, txn, &k, &v, store->locks ? flags : 0);
    *value_size = v.size;
    return outcome(ret);
}

int sb_bdb_delete(struct sb_bdb *store, DB_TXN *txn, const void *key, uint32_t key_size) {
    DBT k;
    bytes_of(&k, key, key_size);
    message[0] = '\0';
    return outcome(store->db->del(store->db, txn, &k, 0));
}

int sb_bdb_begin(struct sb_bdb *store, DB_TXN **txn) {
    message[0] = '\0';
    return outcome(store->env->txn_begin(store->env, NULL, txn, 0));
}

int sb_bdb_commit(DB_TXN *txn) {
    message[0] = '\0';
    return outcome(txn->commit(txn, 0));
}

int sb_bdb_abort(DB_TXN *txn) {
    return outcome(txn->abort(txn));
}

/* ---- cursors ---- */

int sb_bdb_cursor_open(struct sb_bdb *store, DBC **cursor) {
    message[0] = '\0';
    return outcome(store->db->cursor(store->db, NULL, cursor, 0));
}

int sb_bdb_cursor_close(DBC *cursor) {
    return outcome(cursor->close(cursor));
}

/*
 * Moves to the first record whose key is not less than the key in key_buffer (seek not 0), or to the next record, and
 * copies it. When a buffer is too small nothing moves, and both sizes say what is needed.
 */
int sb_bdb_cursor_get(DBC *cursor, int seek, void *key_buffer, uint32_t key_room, uint32_t *key_size,
                      void *value_buffer, uint32_t value_room, uint32_t *value_size) {
    DBT k, v;
    int ret;
    room(&k, key_buffer, key_room);
    room(&v, value_buffer, value_room);
    message[0] = '\0';
    k.size = *key_size;
    ret = cursor->get(cursor, &k, &v, seek ? DB_SET_RANGE : DB_NEXT);
    *key_size = k.size;
    *value_size = v.size;
    return outcome(ret);
}

/* Walks the leaves or buckets; values are not read. */
int sb_bdb_count(struct sb_bdb *store, uint64_t *count) {
    DBT k, v;
    DBC *cursor;
    int ret, closed;
    message[0] = '\0';
    *count = 0;
    if ((ret = store->db->cursor(store->db, NULL, &cursor, 0)) != 0)
        return outcome(ret);
    memset(&k, 0, sizeof k);
    memset(&v, 0, sizeof v);
    k.flags = v.flags = DB_DBT_USERMEM | DB_DBT_PARTIAL;
    while ((ret = cursor->get(cursor, &k, &v, DB_NEXT)) == 0)
        ++*count;
    closed = cursor->close(cursor);
    if (ret != DB_NOTFOUND)
        return outcome(ret);
    return outcome(closed);
}

/* ---- the whole store ---- */

/* Writes what the cache holds to the database, and a checkpoint to the log: always (kbyte 0), or only when so many
 * KiB were logged since the last one. */
int sb_bdb_checkpoint(struct sb_bdb *store, uint32_t kbyte) {
    message[0] = '\0';
    if (!store->logged)
        return outcome(store->db->sync(store->db, 0));
    return outcome(store->env->txn_checkpoint(store->env, kbyte, 0, kbyte == 0 ? DB_FORCE : 0));
}

/* Has the engine check all pages of the database's file, which takes a handle of its own. */
int sb_bdb_verify(struct sb_bdb *store) {
    const char *file, *name;
    DB *whole;
    int ret;
    message[0] = '\0';
    if ((ret = store->db->sync(store->db, 0)) != 0)
        return outcome(ret);
    if ((ret = store->db->get_dbname(store->db, &file, &name)) != 0)
        return outcome(ret);
    if ((ret = db_create(&whole, store->env, 0)) != 0)
        return outcome(ret);
    if (store->env == NULL)
        whole->set_errcall(whole, keep_message);
    /* The handle is gone afterwards, whatever comes of it. */
    return outcome(whole->verify(whole, file, NULL, NULL, 0));
}

/* Gives the pages that are empty then back to the file system. */
int sb_bdb_compact(struct sb_bdb *store) {
    message[0] = '\0';
    return outcome(store->db->compact(store->db, NULL, NULL, NULL, NULL, DB_FREE_SPACE, NULL));
}

/* Copies the database and its log into a new folder, while others write, and has the copy recover what the log says: pages were copied
 * at different moments. There must be a log. */
int sb_bdb_backup(struct sb_bdb *store, const char *to) {
    DB_ENV *copy;
    int ret, closed;
    message[0] = '\0';
    /* The log that the copied pages need is to be there when it is copied. */
    if ((ret = store->env->log_set_config(store->env, DB_LOG_AUTO_REMOVE, 0)) != 0)
        return outcome(ret);
    ret = store->env->backup(store->env, to, DB_CREATE | DB_EXCL);
    closed = store->env->log_set_config(store->env, DB_LOG_AUTO_REMOVE, 1);
    if (ret != 0 || (ret = closed) != 0)
        return outcome(ret);
    if ((ret = db_env_create(&copy, 0)) != 0)
        return outcome(ret);
    copy->set_errcall(copy, keep_message);
    ret = copy->open(copy, to, DB_CREATE | DB_PRIVATE | DB_INIT_MPOOL | DB_INIT_LOG | DB_INIT_TXN | DB_RECOVER_FATAL, 0);
    closed = copy->close(copy, 0);
    return outcome(ret != 0 ? ret : closed);
}

static int log_facts(DB_ENV *env, struct sb_bdb_facts *facts) {
    uint32_t flags;
    int ret;
    if ((ret = env->get_lg_max(env, &facts->lg_max)) != 0)
        return ret;
    if ((ret = env->get_lg_bsize(env, &facts->lg_bsize)) != 0)
        return ret;
    if ((ret = env->get_flags(env, &flags)) != 0)
        return ret;
    facts->nosync = (flags & DB_TXN_NOSYNC) != 0;
    facts->write_nosync = (flags & DB_TXN_WRITE_NOSYNC) != 0;
    return env->log_get_config(env, DB_LOG_AUTO_REMOVE, &facts->auto_remove);
}

int sb_bdb_facts(struct sb_bdb *store, struct sb_bdb_facts *facts) {
    DB_ENV *env;
    DBTYPE type;
    uint32_t gbytes, bytes;
    int ret, regions;
    message[0] = '\0';
    memset(facts, 0, sizeof *facts);
    if ((ret = store->db->get_type(store->db, &type)) != 0)
        return outcome(ret);
    facts->hash = type == DB_HASH;
    if ((ret = store->db->get_pagesize(store->db, &facts->page_size)) != 0)
        return outcome(ret);
    /* Without an environment of ours the engine makes one for the database alone. */
    env = store->db->get_env(store->db);
    if ((ret = env->get_cachesize(env, &gbytes, &bytes, &regions)) != 0)
        return outcome(ret);
    facts->cache = ((uint64_t)gbytes << 30) + bytes;
    if (store->env == NULL)
        return SB_OK;
    if ((ret = store->env->get_open_flags(store->env, &facts->env_open_flags)) != 0)
        return outcome(ret);
    if (store->logged && (ret = log_facts(store->env, facts)) != 0)
        return outcome(ret);
    if ((facts->env_open_flags & DB_INIT_LOCK) != 0)
        ret = store->env->get_lk_max_locks(store->env, &facts->max_locks);
    return outcome(ret);
}

/* The names of the subsystems that the environment was opened with. */
void sb_bdb_flag_names(uint32_t flags, char *out, size_t size) {
    static const struct {
        uint32_t flag;
        const char *name;
    } names[] = {
        {DB_PRIVATE, "DB_PRIVATE"},       {DB_THREAD, "DB_THREAD"},     {DB_INIT_CDB, "DB_INIT_CDB"},
        {DB_INIT_MPOOL, "DB_INIT_MPOOL"}, {DB_INIT_LOG, "DB_INIT_LOG"}, {DB_INIT_TXN, "DB_INIT_TXN"},
        {DB_INIT_LOCK, "DB_INIT_LOCK"},
    };
    size_t i, used = 0;
    out[0] = '\0';
    for (i = 0; i < sizeof names / sizeof names[0]; ++i)
        if ((flags & names[i].flag) != 0 && used < size)
            used += (size_t)snprintf(out + used, size - used, "%s%s", used == 0 ? "" : " ", names[i].name);
}

int sb_bdb_statistics(struct sb_bdb *store, struct sb_bdb_statistics *out) {
    DB_ENV *env = store->db->get_env(store->db);
    DB_MPOOL_STAT *pool;
    DB_LOG_STAT *log;
    DB_TXN_STAT *txn;
    int ret;
    message[0] = '\0';
    memset(out, 0, sizeof *out);
    if ((ret = env->memp_stat(env, &pool, NULL, 0)) != 0)
        return outcome(ret);
    out->cache_hits = pool->st_cache_hit;
    out->cache_misses = pool->st_cache_miss;
    out->pages_written = pool->st_page_out;
    out->dirty_evictions = pool->st_rw_evict;
    free(pool);
    if (!store->logged)
        return SB_OK;
    if ((ret = env->log_stat(env, &log, 0)) != 0)
        return outcome(ret);
    out->log_writes = log->st_wcount;
    out->log_syncs = log->st_scount;
    free(log);
    if ((ret = env->txn_stat(env, &txn, 0)) != 0)
        return outcome(ret);
    out->commits = txn->st_ncommits;
    free(txn);
    return SB_OK;
}
