/* libmdbx {{version}}: cc records.c -lmdbx */
#include <errno.h>
[sync_mode=durable] #include <fcntl.h>
#include <mdbx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
[sync_mode=durable] #include <unistd.h>

int open_records(const char *folder, MDBX_env **env, MDBX_dbi *db) {
    /* Transactions belong to no thread. */
    unsigned flags = MDBX_NOSTICKYTHREADS;
[sync_mode=nometasync]     flags |= MDBX_NOMETASYNC;
[sync_mode=safe_nosync]     flags |= MDBX_SAFE_NOSYNC;
[sync_mode=utterly_nosync]     flags |= MDBX_UTTERLY_NOSYNC;
[writemap=true]     flags |= MDBX_WRITEMAP;
[nordahead=true]     flags |= MDBX_NORDAHEAD;
[nomeminit=true]     flags |= MDBX_NOMEMINIT;
[liforeclaim=true]     flags |= MDBX_LIFORECLAIM;
    /* Addresses, not room on disk: the most that the file can grow to. */
    intptr_t most = {{size_upper}}, step = {{growth_step}};
    MDBX_txn *txn = NULL;
    int failed = mdbx_env_create(env);
    if (!failed)
        failed = mdbx_env_set_geometry(*env, -1, -1, most, step, -1,
                                       {{pagesize}});
    if (!failed) failed = mdbx_env_set_maxreaders(*env, {{max_readers}});
    if (!failed) failed = mdbx_env_open(*env, folder, flags, 0600);
[sync_bytes!=0]     /* Commits that are not synced at once are after so many bytes. */
[sync_bytes!=0]     if (!failed) failed = mdbx_env_set_syncbytes(*env, {{sync_bytes}});
    if (!failed) failed = mdbx_txn_begin(*env, NULL, 0, &txn);
    if (!failed) failed = mdbx_dbi_open(txn, NULL, 0, db);
    if (!failed) failed = mdbx_txn_commit(txn);
[sync_mode=durable]     /* libmdbx does not sync the folder that it made its file in. */
[sync_mode=durable]     int made_in = open(folder, O_RDONLY);
[sync_mode=durable]     if (!failed) failed = fsync(made_in);
[sync_mode=durable]     close(made_in);
    return failed;
}

/* A transaction of its own: writers take turns. No value: it removes the
 * record, if there is one. */
static int write_one(MDBX_env *env, MDBX_dbi db, MDBX_val *key,
                     MDBX_val *value) {
    MDBX_txn *txn;
    int failed = mdbx_txn_begin(env, NULL, 0, &txn);
    if (failed) return failed;
    if (value) failed = mdbx_put(txn, db, key, value, 0);
    else failed = mdbx_del(txn, db, key, NULL);
    if (!failed) return mdbx_txn_commit(txn);
    mdbx_txn_abort(txn);
    return !value && failed == MDBX_NOTFOUND ? 0 : failed;
}

int put(MDBX_env *env, MDBX_dbi db, MDBX_val *key, MDBX_val *value) {
    return write_one(env, db, key, value);
}

int remove_key(MDBX_env *env, MDBX_dbi db, MDBX_val *key) {
    return write_one(env, db, key, NULL);
}

/* A copy, to be freed; NULL where there is none. Who reads much keeps the
 * transaction: mdbx_txn_reset() and mdbx_txn_renew(). */
int get(MDBX_env *env, MDBX_dbi db, MDBX_val *key, char **copy,
        size_t *bytes) {
    MDBX_txn *txn;
    MDBX_val value;
    *copy = NULL;
    int failed = mdbx_txn_begin(env, NULL, MDBX_TXN_RDONLY, &txn);
    if (failed) return failed;
    failed = mdbx_get(txn, db, key, &value);
    if (!failed && !(*copy = malloc(value.iov_len + 1))) failed = ENOMEM;
    if (!failed) {
        *bytes = value.iov_len;
        memcpy(*copy, value.iov_base, value.iov_len);
    }
    mdbx_txn_abort(txn);
    return failed == MDBX_NOTFOUND ? 0 : failed;
}

/* What was not synced yet is synced now. */
int close_records(MDBX_env *env) {
    return mdbx_env_close(env);
}

int main(void) {
    MDBX_env *env = NULL;
    MDBX_dbi db;
    MDBX_val apple = {"apple", 5}, cherry = {"cherry", 6};
    MDBX_val red = {"red", 3}, green = {"green", 5};
    char *found = NULL, *gone = NULL;
    size_t bytes;
    mkdir("records", 0777);
    int failed = open_records("records", &env, &db);
    if (!failed) failed = put(env, db, &apple, &red);
    if (!failed) failed = put(env, db, &apple, &green); /* Replaces it. */
    if (!failed) failed = put(env, db, &cherry, &red);
    if (!failed) failed = remove_key(env, db, &cherry);
    if (!failed) failed = remove_key(env, db, &cherry); /* No error. */
    if (!failed) failed = get(env, db, &apple, &found, &bytes);
    if (found) printf("apple: %.*s\n", (int)bytes, found);
    if (!failed) failed = get(env, db, &cherry, &gone, &bytes);
    if (!failed) printf("cherry: %s\n", gone ? "there" : "absent");
    if (!failed) failed = close_records(env);
    if (failed) fprintf(stderr, "%s\n", mdbx_strerror(failed));
    free(found);
    return failed != 0;
}
