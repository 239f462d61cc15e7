/* A store in C that does nothing, by storebench_store.h: beside storebench's own `null` it shows what the boundary costs. */
#include "storebench_store.h"

static int32_t done(void *of, sb_error *error) {
    (void)of, (void)error;
    return SB_OK;
}

static int32_t open_store(const sb_store *self, const sb_how *how, void **store, sb_error *error) {
    (void)how, (void)error;
    *store = (void *)self;
    return SB_OK;
}

static int32_t tier(void *store) {
    (void)store;
    return SB_NONE;
}

static int32_t count(void *store, uint64_t *records, sb_error *error) {
    *records = 0;
    return done(store, error);
}

static int32_t read_settings(void *store, const sb_value **values, size_t *count, sb_error *error) {
    *values = NULL, *count = 0;
    return done(store, error);
}

static int32_t session(void *store, void **session, sb_error *error) {
    *session = store;
    return done(store, error);
}

static void end(void *session) { (void)session; }

static int32_t get(void *session, const void *key, size_t key_len, const void **value, size_t *value_len, sb_error *error) {
    (void)key_len;
    *value = key, *value_len = 0;
    return done(session, error);
}

static int32_t put(void *session, const void *key, size_t key_len, const void *value, size_t value_len, sb_error *error) {
    (void)key, (void)key_len, (void)value, (void)value_len;
    return done(session, error);
}

static int32_t remove_key(void *session, const void *key, size_t key_len, sb_error *error) {
    return put(session, key, key_len, NULL, 0, error);
}

static int32_t batch(void *session, const sb_change *changes, size_t count, sb_error *error) {
    (void)changes, (void)count;
    return done(session, error);
}

static const sb_offer OFFER = {SB_NONE, 0, SB_WHOLE, SB_WHOLE, "keeps nothing", "it keeps nothing"};

static const sb_store C_NULL = {
    .size = sizeof(sb_store),
    .name = "c-null",
    .summary = "does nothing, in C",
    .version = "1.0",
    .flags = SB_KEEPS_NOTHING | SB_REPLACES_WHOLE,
    .max_key_bytes = UINT32_MAX,
    .max_bytes = UINT64_MAX,
    .sessions = SB_MANY,
    .shipped = SB_NONE,
    .offers = &OFFER,
    .offer_count = 1,
    .open = open_store,
    .close = done,
    .tier = tier,
    .count = count,
    .settle = done,
    .read_settings = read_settings,
    .session = session,
    .end = end,
    .get = get,
    .put = put,
    .remove = remove_key,
    .batch = batch,
};

const sb_library *storebench_stores(uint32_t version) {
    static const sb_store *const stores[] = {&C_NULL};
    static const sb_library library = {SB_VERSION, 1, stores};
    return version == SB_VERSION ? &library : 0;
}
