/* LMDB, cc -llmdb */
#include <lmdb.h>

int open_records(const char *folder, MDB_env **env) {
    unsigned flags = MDB_NOTLS;
[nosync=true]     flags |= MDB_NOSYNC;
[nometasync=true]     flags |= MDB_NOMETASYNC;
[writemap=true]     flags |= MDB_WRITEMAP;
[mapasync=true]     flags |= MDB_MAPASYNC;
[nordahead=true]     flags |= MDB_NORDAHEAD;
[nomeminit=true]     flags |= MDB_NOMEMINIT;
    int failed = mdb_env_create(env);
    /* Addresses, not room on disk: the most that the file can grow to. */
    failed |= mdb_env_set_mapsize(*env, {{map_size}});
    failed |= mdb_env_set_maxreaders(*env, {{max_readers}});
    /* Reads: keep a read transaction and a cursor, mdb_txn_reset() and mdb_txn_renew() them. */
    return failed | mdb_env_open(*env, folder, flags, 0600);
}
