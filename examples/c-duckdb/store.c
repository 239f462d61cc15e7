/* DuckDB, an analytic engine, as a store of records: one table with a primary key, by its C interface. The library is its authors' own, from
 * their package for Node. Build and run it: make -C examples c-duckdb, then storebench --store-library examples/build/libc-duckdb.so ... */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "duckdb.h"
#include "storebench_store.h"

/* ---- A store and its sessions */

/* Settings of DuckDB that a user may give, under its own names; the last is the cache, which storebench gives. */
enum { THREADS, CHECKPOINT_THRESHOLD, FORCE_COMPRESSION, MEMORY_LIMIT, TOLD };
static const char *const NAMES[TOLD] = {"threads", "checkpoint_threshold", "force_compression", "memory_limit"};

typedef struct store {
    duckdb_database database;
    duckdb_connection own;
    pthread_mutex_t writer; /* transactions that change one record at once would fail, not wait */
    char told[TOLD][64];
    sb_value values[TOLD];
} store;

enum { GET, PUT, REMOVE, SCAN, BEGIN, COMMIT, ROLLBACK, STATEMENTS };
static const char *const SQL[STATEMENTS] = {
    "SELECT v FROM records WHERE k = ?",
    "INSERT INTO records VALUES (?, ?) ON CONFLICT (k) DO UPDATE SET v = excluded.v",
    "DELETE FROM records WHERE k = ?",
    "SELECT k, v FROM records WHERE k >= ? ORDER BY k LIMIT ?",
    "BEGIN",
    "COMMIT",
    "ROLLBACK",
};

typedef struct session {
    store *of;
    duckdb_connection connection;
    duckdb_statement statements[STATEMENTS];
    duckdb_result found; /* get's value is in it until the next call */
    duckdb_chunk chunk;
} session;

static int32_t fail(sb_error *error, const char *doing, const char *why) {
    snprintf(error->text, sizeof error->text, "%s: %s", doing, why ? why : "no memory");
    return SB_FAILED;
}

static int32_t run(duckdb_connection connection, const char *sql, sb_error *error) {
    duckdb_result result;
    int32_t code = duckdb_query(connection, sql, &result) ? fail(error, sql, duckdb_result_error(&result)) : SB_OK;
    duckdb_destroy_result(&result);
    return code;
}

static int32_t execute(session *s, int which, sb_error *error) {
    duckdb_result result;
    int failed = duckdb_execute_prepared(s->statements[which], &result);
    int32_t code = failed ? fail(error, SQL[which], duckdb_result_error(&result)) : SB_OK;
    duckdb_destroy_result(&result);
    return code;
}

static void forget_found(session *s) {
    if (s->chunk) duckdb_destroy_data_chunk(&s->chunk);
    duckdb_destroy_result(&s->found);
    memset(&s->found, 0, sizeof s->found);
}

/* ---- Records */

static int32_t get(void *of, const void *key, size_t key_len, const void **value, size_t *value_len, sb_error *error) {
    session *s = of;
    duckdb_statement statement = s->statements[GET];
    forget_found(s);
    if (duckdb_bind_blob(statement, 1, key, key_len)) return fail(error, SQL[GET], "the key can't be bound");
    if (duckdb_execute_prepared(statement, &s->found)) return fail(error, SQL[GET], duckdb_result_error(&s->found));
    s->chunk = duckdb_fetch_chunk(s->found);
    if (!s->chunk || !duckdb_data_chunk_get_size(s->chunk)) return SB_MISSING;
    const duckdb_bytes *found = column(s->chunk, 0);
    *value = bytes_of(found), *value_len = found->far.len;
    return SB_OK;
}

static int32_t change(session *s, const sb_change *c, sb_error *error) {
    int which = c->value ? PUT : REMOVE;
    if (duckdb_bind_blob(s->statements[which], 1, c->key, c->key_len) ||
        (c->value && duckdb_bind_blob(s->statements[which], 2, c->value, c->value_len)))
        return fail(error, SQL[which], "a value can't be bound");
    return execute(s, which, error);
}

static int32_t in_transaction(session *s, const sb_change *changes, size_t count, sb_error *error) {
    int32_t code = execute(s, BEGIN, error);
    if (code != SB_OK) return code;
    for (const sb_change *c = changes; code == SB_OK && c < changes + count; c++) code = change(s, c, error);
    if (code == SB_OK) code = execute(s, COMMIT, error);
    /* The first error says more than that of undoing what was done. */
    if (code != SB_OK) execute(s, ROLLBACK, &(sb_error){{0}});
    return code;
}

static int32_t batch(void *of, const sb_change *changes, size_t count, sb_error *error) {
    session *s = of;
    pthread_mutex_lock(&s->of->writer);
    int32_t code = count == 1 ? change(s, changes, error) : in_transaction(s, changes, count, error);
    pthread_mutex_unlock(&s->of->writer);
    return code;
}

static int32_t put(void *of, const void *key, size_t key_len, const void *value, size_t value_len, sb_error *error) {
    return batch(of, &(sb_change){key, key_len, value, value_len}, 1, error);
}

static int32_t remove_key(void *of, const void *key, size_t key_len, sb_error *error) {
    return batch(of, &(sb_change){key, key_len, NULL, 0}, 1, error);
}

static int32_t scan(void *of, const void *from, size_t from_len, size_t limit, sb_visit visit, void *context, sb_error *error) {
    session *s = of;
    duckdb_statement statement = s->statements[SCAN];
    duckdb_result result;
    uint64_t most = limit > INT64_MAX ? INT64_MAX : limit;
    if (duckdb_bind_blob(statement, 1, from, from_len) || duckdb_bind_uint64(statement, 2, most))
        return fail(error, SQL[SCAN], "a value can't be bound");
    int32_t code = SB_OK;
    if (duckdb_execute_prepared(statement, &result)) code = fail(error, SQL[SCAN], duckdb_result_error(&result));
    for (duckdb_chunk chunk; code == SB_OK && (chunk = duckdb_fetch_chunk(result)); duckdb_destroy_data_chunk(&chunk)) {
        const duckdb_bytes *keys = column(chunk, 0), *values = column(chunk, 1);
        for (uint64_t i = 0; i < duckdb_data_chunk_get_size(chunk); i++)
            visit(context, bytes_of(&keys[i]), keys[i].far.len, bytes_of(&values[i]), values[i].far.len);
    }
    duckdb_destroy_result(&result);
    return code;
}

/* ---- The store */

static int32_t close_store(void *of, sb_error *error) {
    store *s = of;
    (void)error;
    if (s->own) duckdb_disconnect(&s->own);
    if (s->database) duckdb_close(&s->database);
    pthread_mutex_destroy(&s->writer);
    free(s);
    return SB_OK;
}

/* Extensions are never looked for: that would ask the network. */
static int32_t configure(const sb_how *how, duckdb_config *config, sb_error *error) {
    if (duckdb_create_config(config)) return fail(error, "opening", NULL);
    duckdb_set_config(*config, "autoinstall_known_extensions", "false");
    duckdb_set_config(*config, "autoload_known_extensions", "false");
    char bytes[32];
    snprintf(bytes, sizeof bytes, "%lluB", (unsigned long long)how->cache_bytes);
    if (how->cache_bytes != UINT64_MAX && duckdb_set_config(*config, "memory_limit", bytes))
        return fail(error, "memory_limit", bytes);
    for (const sb_value *given = how->settings; given < how->settings + how->setting_count; given++)
        if (duckdb_set_config(*config, given->name, given->value)) {
            snprintf(error->text, sizeof error->text, "DuckDB does not take %s=%.100s", given->name, given->value);
            return SB_BAD_SETTING;
        }
    return SB_OK;
}

static int32_t connect_own(store *s, const char *path, duckdb_config config, sb_error *error) {
    char *why = NULL;
    int32_t code = duckdb_open_ext(path, &s->database, config, &why) ? fail(error, "opening", why) : SB_OK;
    if (why) duckdb_free(why);
    if (code == SB_OK && duckdb_connect(s->database, &s->own)) code = fail(error, "connecting", NULL);
    if (code == SB_OK) code = run(s->own, "CREATE TABLE IF NOT EXISTS records (k BLOB PRIMARY KEY, v BLOB NOT NULL)", error);
    return code;
}

static int32_t open_store(const sb_store *self, const sb_how *how, void **out, sb_error *error) {
    (void)self;
    store *s = calloc(1, sizeof *s);
    size_t room = strlen(how->folder) + sizeof "/records.duckdb";
    char *path = malloc(room);
    if (!s || !path) return free(s), free(path), fail(error, "opening", NULL);
    pthread_mutex_init(&s->writer, NULL);
    snprintf(path, room, "%s/records.duckdb", how->folder);
    duckdb_config config = NULL;
    int32_t code = configure(how, &config, error);
    if (code == SB_OK) code = connect_own(s, path, config, error);
    duckdb_destroy_config(&config);
    free(path);
    if (code == SB_OK) *out = s;
    else close_store(s, &(sb_error){{0}});
    return code;
}

static int32_t tier(void *of) { return (void)of, SB_POWER; }

static int32_t count(void *of, uint64_t *records, sb_error *error) {
    duckdb_result result;
    const char *sql = "SELECT count(*) FROM records";
    if (duckdb_query(((store *)of)->own, sql, &result)) {
        int32_t code = fail(error, sql, duckdb_result_error(&result));
        return duckdb_destroy_result(&result), code;
    }
    duckdb_chunk chunk = duckdb_fetch_chunk(result);
    *records = *(int64_t *)duckdb_vector_get_data(duckdb_data_chunk_get_vector(chunk, 0));
    duckdb_destroy_data_chunk(&chunk);
    duckdb_destroy_result(&result);
    return SB_OK;
}

static int32_t settle(void *of, sb_error *error) {
    store *s = of;
    pthread_mutex_lock(&s->writer);
    int32_t code = run(s->own, "CHECKPOINT", error);
    pthread_mutex_unlock(&s->writer);
    return code;
}

/* A setting, as DuckDB says it. */
static int32_t ask(store *s, int which, sb_error *error) {
    char sql[96];
    snprintf(sql, sizeof sql, "SELECT current_setting('%s')::VARCHAR", NAMES[which]);
    duckdb_result result;
    int32_t code = duckdb_query(s->own, sql, &result) ? fail(error, sql, duckdb_result_error(&result)) : SB_OK;
    if (code == SB_OK) {
        duckdb_chunk chunk = duckdb_fetch_chunk(result);
        const duckdb_bytes *said = column(chunk, 0);
        snprintf(s->told[which], sizeof s->told[which], "%.*s", (int)said->far.len, bytes_of(said));
        s->values[which] = (sb_value){NAMES[which], s->told[which], 1};
        duckdb_destroy_data_chunk(&chunk);
    }
    duckdb_destroy_result(&result);
    return code;
}

static int32_t read_settings(void *of, const sb_value **values, size_t *count, sb_error *error) {
    store *s = of;
    for (int which = 0; which < TOLD; which++) {
        int32_t code = ask(s, which, error);
        if (code != SB_OK) return code;
    }
    *values = s->values, *count = TOLD;
    return SB_OK;
}

static void end_session(void *of) {
    session *s = of;
    forget_found(s);
    for (int which = 0; which < STATEMENTS; which++) duckdb_destroy_prepare(&s->statements[which]);
    if (s->connection) duckdb_disconnect(&s->connection);
    free(s);
}

static int32_t open_session(void *of, void **out, sb_error *error) {
    session *s = calloc(1, sizeof *s);
    if (!s) return fail(error, "opening a session", NULL);
    s->of = of;
    int32_t code = duckdb_connect(s->of->database, &s->connection) ? fail(error, "connecting", NULL) : SB_OK;
    for (int which = 0; code == SB_OK && which < STATEMENTS; which++)
        if (duckdb_prepare(s->connection, SQL[which], &s->statements[which]))
            code = fail(error, SQL[which], duckdb_prepare_error(s->statements[which]));
    if (code == SB_OK) *out = s;
    else end_session(s);
    return code;
}

/* ---- What it is, what it can do, what it promises. It has no setting for a commit that does not wait for the disk. */

static const sb_offer OFFERS[] = {
    {SB_POWER, 1, SB_NOTHING, SB_NOTHING, "as shipped: each commit syncs the log", NULL},
};

static const sb_setting SETTINGS[] = {
    {"threads", "1 and more", "one for each core", "threads that share a query", NULL, "1", 0},
    {"checkpoint_threshold", "a size, as DuckDB writes it", "16MB", "the log's size at which it is written into the file", NULL, "1MB,256MB", 0},
    {"force_compression", "auto, uncompressed, zstd and others", "auto", "how columns are compressed", NULL, NULL, 0},
};

static sb_store duckdb_store = {
    .size = sizeof(sb_store),
    .name = "duckdb",
    .summary = "an analytic engine of tables in columns, by its C interface",
    .practice = "one file and its log; one process at a time; columns are compressed as it sees fit",
    .flags = SB_ORDERED | SB_ATOMIC_BATCH | SB_REPLACES_WHOLE,
    .max_key_bytes = UINT32_MAX,
    .max_bytes = UINT64_MAX,
    .sessions = SB_ONE_WRITER,
    .shipped = SB_POWER,
    .offers = OFFERS,
    .offer_count = sizeof OFFERS / sizeof *OFFERS,
    .settings = SETTINGS,
    .setting_count = sizeof SETTINGS / sizeof *SETTINGS,
    .open = open_store,
    .close = close_store,
    .tier = tier,
    .count = count,
    .settle = settle,
    .read_settings = read_settings,
    .session = open_session,
    .end = end_session,
    .get = get,
    .put = put,
    .remove = remove_key,
    .batch = batch,
    .scan = scan,
};

const sb_library *storebench_stores(uint32_t version) {
    static const sb_store *const stores[] = {&duckdb_store};
    static const sb_library library = {SB_VERSION, 1, stores};
    const char *own = duckdb_library_version();
    duckdb_store.version = *own == 'v' ? own + 1 : own;
    return version == SB_VERSION ? &library : NULL;
}
