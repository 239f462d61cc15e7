/* Berkeley DB, cc -ldb */
#include <db.h>

int open_records(const char *folder, DB_ENV **env, DB **db) {
    int failed = 0;
[environment=none]     (void)folder;
[environment=none]     *env = NULL;
[environment!=none]     failed |= db_env_create(env, 0);
[environment!=none]     failed |= (*env)->set_cachesize(*env, 0, {{cachesize}}, 1);
    failed |= (*env)->set_lg_bsize(*env, {{lg_bsize}});
    failed |= (*env)->set_lg_max(*env, {{lg_max}});
[DB_LOG_AUTO_REMOVE=true]     failed |= (*env)->log_set_config(*env, DB_LOG_AUTO_REMOVE, 1);
[DB_TXN_WRITE_NOSYNC=true]     failed |= (*env)->set_flags(*env, DB_TXN_WRITE_NOSYNC, 1);
[environment=DB_PRIVATE DB_INIT_MPOOL DB_INIT_LOG DB_INIT_TXN]     uint32_t flags = DB_PRIVATE | DB_INIT_MPOOL | DB_INIT_LOG | DB_INIT_TXN;
[environment=DB_PRIVATE DB_THREAD DB_INIT_MPOOL DB_INIT_LOCK DB_INIT_LOG DB_INIT_TXN]     uint32_t flags = DB_PRIVATE | DB_THREAD | DB_INIT_MPOOL | DB_INIT_LOCK | DB_INIT_LOG | DB_INIT_TXN;
[environment=DB_PRIVATE DB_THREAD DB_INIT_MPOOL DB_INIT_CDB]     uint32_t flags = DB_PRIVATE | DB_THREAD | DB_INIT_MPOOL | DB_INIT_CDB;
[DB_TXN_WRITE_NOSYNC=true]     flags |= DB_RECOVER;
[DB_TXN_WRITE_NOSYNC=false]     flags |= DB_RECOVER;
[environment!=none]     failed |= (*env)->open(*env, folder, DB_CREATE | flags, 0);
    failed |= db_create(db, *env, 0);
    failed |= (*db)->set_pagesize(*db, {{pagesize}});
    /* Each write is a transaction of its own where there is a log; every {{checkpoint_kbyte}} KiB of it a checkpoint. */
[DB_TXN_WRITE_NOSYNC=true]     return failed | (*db)->open(*db, NULL, "records.db", NULL, DB_BTREE, DB_CREATE | DB_AUTO_COMMIT, 0);
[DB_TXN_WRITE_NOSYNC=false]     return failed | (*db)->open(*db, NULL, "records.db", NULL, DB_BTREE, DB_CREATE | DB_AUTO_COMMIT, 0);
[environment=none]     return failed | (*db)->open(*db, NULL, "records.db", NULL, DB_BTREE, DB_CREATE, 0);
[environment=DB_PRIVATE DB_THREAD DB_INIT_MPOOL DB_INIT_CDB]     return failed | (*db)->open(*db, NULL, "records.db", NULL, DB_BTREE, DB_CREATE | DB_THREAD, 0);
}
