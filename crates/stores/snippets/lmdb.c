/* LMDB {{version}}: cc records.c -llmdb */
#include <errno.h>
[nosync=false] #include <fcntl.h>
#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
[nosync=false] #include <unistd.h>

int open_records(const char *folder, MDB_env **env, MDB_dbi *db) {
    unsigned flags = MDB_NOTLS;
[nosync=true]     flags |= MDB_NOSYNC;
[nometasync=true]     flags |= MDB_NOMETASYNC;
[writemap=true]     flags |= MDB_WRITEMAP;
[mapasync=true]     flags |= MDB_MAPASYNC;
[nordahead=true]     flags |= MDB_NORDAHEAD;
[nomeminit=true]     flags |= MDB_NOMEMINIT;
    MDB_txn *txn = NULL;
    int failed = mdb_env_create(env);
    /* Addresses, not room on disk: the most that the file can grow to. */
    if (!failed) failed = mdb_env_set_mapsize(*env, {{map_size}});
    if (!failed) failed = mdb_env_set_maxreaders(*env, {{max_readers}});
    if (!failed) failed = mdb_env_open(*env, folder, flags, 0600);
    if (!failed) failed = mdb_txn_begin(*env, NULL, 0, &txn);
    if (!failed) failed = mdb_dbi_open(txn, NULL, 0, db);
    if (!failed) failed = mdb_txn_commit(txn);
[nosync=false]     /* LMDB does not sync the folder that it made its file in. */
[nosync=false]     int made_in = open(folder, O_RDONLY);
[nosync=false]     if (!failed) failed = fsync(made_in);
[nosync=false]     close(made_in);
    return failed;
}

/* A transaction of its own: writers take turns. No value: it removes the
 * record, if there is one. */
static int write_one(MDB_env *env, MDB_dbi db, MDB_val *key,
                     MDB_val *value) {
    MDB_txn *txn;
    int failed = mdb_txn_begin(env, NULL, 0, &txn);
    if (failed) return failed;
    if (value) failed = mdb_put(txn, db, key, value, 0);
    else failed = mdb_del(txn, db, key, NULL);
    if (!failed) return mdb_txn_commit(txn);
    mdb_txn_abort(txn);
    return !value && failed == MDB_NOTFOUND ? 0 : failed;
}

int put(MDB_env *env, MDB_dbi db, MDB_val *key, MDB_val *value) {
    return write_one(env, db, key, value);
}

int remove_key(MDB_env *env, MDB_dbi db, MDB_val *key) {
    return write_one(env, db, key, NULL);
}

/* A copy, to be freed; NULL where there is none. Who reads much keeps the
 * transaction: mdb_txn_reset() and mdb_txn_renew(). */
int get(MDB_env *env, MDB_dbi db, MDB_val *key, char **copy,
        size_t *bytes) {
    MDB_txn *txn;
    MDB_val value;
    *copy = NULL;
    int failed = mdb_txn_begin(env, NULL, MDB_RDONLY, &txn);
    if (failed) return failed;
    failed = mdb_get(txn, db, key, &value);
    if (!failed && !(*copy = malloc(value.mv_size + 1))) failed = ENOMEM;
    if (!failed) {
        *bytes = value.mv_size;
        memcpy(*copy, value.mv_data, value.mv_size);
    }
    mdb_txn_abort(txn);
    return failed == MDB_NOTFOUND ? 0 : failed;
}

void close_records(MDB_env *env) {
    mdb_env_close(env);
}

int main(void) {
    MDB_env *env = NULL;
    MDB_dbi db;
    MDB_val apple = {5, "apple"}, cherry = {6, "cherry"};
    MDB_val red = {3, "red"}, green = {5, "green"};
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
    if (failed) fprintf(stderr, "%s\n", mdb_strerror(failed));
    free(found);
    close_records(env);
    return failed != 0;
}
