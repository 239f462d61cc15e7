/* LMDB {{version}}, cc -llmdb */
#include <lmdb.h>
#include <stddef.h>
[nosync=false] #include <fcntl.h>
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

/* A transaction of its own: writers take turns. A reader keeps one read
 * transaction and cursor, and uses mdb_txn_reset() and mdb_txn_renew(). */
int put(MDB_env *env, MDB_dbi db, MDB_val *key, MDB_val *value) {
    MDB_txn *txn;
    int failed = mdb_txn_begin(env, NULL, 0, &txn);
    if (failed) return failed;
    failed = mdb_put(txn, db, key, value, 0);
    if (!failed) return mdb_txn_commit(txn);
    mdb_txn_abort(txn);
    return failed;
}
