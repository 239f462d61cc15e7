/* The functions of storebench_store.h over those that Go exports: one call into Go for each. */
#include <stdlib.h>
#include <string.h>

#include "_cgo_export.h"

/* Stores and sessions are numbers of Go's. */
#define NUMBER(handle) ((uintptr_t)(handle))

static int32_t open_store(const sb_store *self, const sb_how *how, void **store, sb_error *error) {
    uintptr_t number = 0;
    int32_t code = goOpen((sb_store *)self, (sb_how *)how, &number, error);
    *store = (void *)number;
    return code;
}

static int32_t close_store(void *store, sb_error *error) { return goClose(NUMBER(store), error); }

static int32_t tier(void *store) { return goTier(NUMBER(store)); }

static int32_t count(void *store, uint64_t *records, sb_error *error) { return goCount(NUMBER(store), records, error); }

static int32_t settle(void *store, sb_error *error) { return goSettle(NUMBER(store), error); }

static int32_t read_settings(void *store, const sb_value **values, size_t *count, sb_error *error) {
    return goSettings(NUMBER(store), (sb_value **)values, count, error);
}

static int32_t session(void *store, void **session, sb_error *error) {
    uintptr_t number = 0;
    int32_t code = goSession(NUMBER(store), &number, error);
    *session = (void *)number;
    return code;
}

static void end(void *session) { goEnd(NUMBER(session)); }

static int32_t get(void *session, const void *key, size_t key_len, const void **value, size_t *value_len, sb_error *error) {
    return goGet(NUMBER(session), (void *)key, key_len, (void **)value, value_len, error);
}

static int32_t put(void *session, const void *key, size_t key_len, const void *value, size_t value_len, sb_error *error) {
    return goPut(NUMBER(session), (void *)key, key_len, (void *)value, value_len, error);
}

static int32_t remove_key(void *session, const void *key, size_t key_len, sb_error *error) {
    return goRemove(NUMBER(session), (void *)key, key_len, error);
}

static int32_t batch(void *session, const sb_change *changes, size_t count, sb_error *error) {
    return goBatch(NUMBER(session), (sb_change *)changes, count, error);
}

static int32_t scan(void *session, const void *from, size_t from_len, size_t limit, sb_visit visit, void *context, sb_error *error) {
    void *records = NULL;
    size_t count = 0;
    int32_t code = goScan(NUMBER(session), (void *)from, from_len, limit, &records, &count, error);
    for (const char *at = records; count > 0 && code == SB_OK; count--) {
        uint64_t lengths[2];
        memcpy(lengths, at, sizeof lengths);
        const char *key = at + sizeof lengths;
        visit(context, key, lengths[0], key + lengths[0], lengths[1]);
        at = key + lengths[0] + lengths[1];
    }
    return code;
}

static int32_t syncs(void *store, uint64_t *syncs, sb_error *error) {
    (void)error;
    goSyncs(NUMBER(store), syncs);
    return SB_OK;
}

static int32_t verify(void *store, sb_error *error) { return goVerify(NUMBER(store), error); }

/* `counts`, `verifies`: whether the store can. */
void go_fill(sb_store *store, int counts, int verifies) {
    store->open = open_store, store->close = close_store, store->tier = tier, store->count = count, store->settle = settle;
    store->read_settings = read_settings, store->session = session, store->end = end, store->get = get, store->put = put;
    store->remove = remove_key, store->batch = batch, store->scan = scan;
    store->syncs = counts ? syncs : NULL, store->verify = verifies ? verify : NULL;
}

const sb_library *storebench_stores(uint32_t version) { return goStores(version); }
