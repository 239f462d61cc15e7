/* Berkeley DB {{version}}, cc -ldb */
#include <db.h>
[environment=none] #include <stdio.h>
[DB_TXN_WRITE_NOSYNC=false] #include <fcntl.h>
[DB_TXN_WRITE_NOSYNC=false] #include <unistd.h>

[environment=none] int open_records(const char *folder, DB **db) {
[environment!=none] int open_records(const char *folder, DB_ENV **env, DB **db) {
    /* In all: the engine adds a quarter and more to what is asked for. */
    uint64_t cache = {{cachesize}};
    if (cache < 655360000) /* It adds nothing from 500 MiB on. */
        cache = (cache - 8192) / 5 * 4;
    uint32_t gbytes = cache >> 30, bytes = cache & 0x3fffffff;
[environment!=none]     uint32_t flags = DB_CREATE;
[environment~DB_PRIVATE]     flags |= DB_PRIVATE; /* One process at a time. */
[environment~DB_THREAD]     flags |= DB_THREAD;
[environment~DB_INIT_CDB]     flags |= DB_INIT_CDB; /* Brings DB_INIT_LOCK. */
[environment~DB_INIT_MPOOL]     flags |= DB_INIT_MPOOL;
[environment~DB_INIT_LOG]     flags |= DB_INIT_LOG;
[environment~DB_INIT_TXN]     flags |= DB_INIT_TXN | DB_RECOVER;
[environment~DB_INIT_LOCK] [environment!~DB_INIT_CDB]     flags |= DB_INIT_LOCK;
[environment!=none]     int failed = db_env_create(env, 0);
[environment!=none]     if (!failed) failed = (*env)->set_cachesize(*env, gbytes, bytes, 1);
    if (!failed) failed = (*env)->set_lg_bsize(*env, {{lg_bsize}});
    if (!failed) failed = (*env)->set_lg_max(*env, {{lg_max}});
[DB_LOG_AUTO_REMOVE=true]     if (!failed)
[DB_LOG_AUTO_REMOVE=true]         failed = (*env)->log_set_config(*env, DB_LOG_AUTO_REMOVE, 1);
[DB_TXN_WRITE_NOSYNC=true]     if (!failed) failed = (*env)->set_flags(*env, DB_TXN_WRITE_NOSYNC, 1);
[environment~DB_INIT_TXN] [lk_max_locks!=]     if (!failed) failed = (*env)->set_lk_detect(*env, DB_LOCK_MINWRITE);
[environment~DB_INIT_TXN]     if (!failed) failed = (*env)->set_lk_max_locks(*env, {{lk_max_locks}});
[environment~DB_INIT_TXN]     if (!failed) failed = (*env)->set_lk_max_objects(*env, {{lk_max_locks}});
[environment!=none]     if (!failed) failed = (*env)->open(*env, folder, flags, 0);
[environment!=none]     if (!failed) failed = db_create(db, *env, 0);
[environment!=none]     const char *file = "records.db"; /* In the folder. */
[environment=none]     char file[4096];
[environment=none]     snprintf(file, sizeof file, "%s/records.db", folder);
[environment=none]     int failed = db_create(db, NULL, 0);
[environment=none]     if (!failed) failed = (*db)->set_cachesize(*db, gbytes, bytes, 1);
    if (!failed) failed = (*db)->set_pagesize(*db, {{pagesize}});
    uint32_t how = DB_CREATE;
[environment~DB_THREAD]     how |= DB_THREAD; /* Reads: DB_DBT_USERMEM or DB_DBT_MALLOC. */
[environment~DB_INIT_TXN]     how |= DB_AUTO_COMMIT;
    if (!failed)
        failed = (*db)->open(*db, NULL, file, NULL, {{type}}, how, 0);
[DB_TXN_WRITE_NOSYNC=false]     /* The engine does not sync the folder that it made its files in. */
[DB_TXN_WRITE_NOSYNC=false]     int made_in = open(folder, O_RDONLY);
[DB_TXN_WRITE_NOSYNC=false]     if (!failed) failed = fsync(made_in);
[DB_TXN_WRITE_NOSYNC=false]     close(made_in);
    return failed;
}

[environment!~DB_INIT_TXN] /* It reaches the file when the cache is full, or with db->close(). */
[environment!~DB_INIT_TXN] int put(DB *db, DBT *key, DBT *value) {
[environment!~DB_INIT_TXN]     return db->put(db, NULL, key, value, 0);
[environment!~DB_INIT_TXN] }
[environment~DB_INIT_TXN] /* A transaction of its own. The engine makes no checkpoint by itself: if
[environment~DB_INIT_TXN]  * nobody does, its log is never removed, and recovery takes ever longer. */
[environment~DB_INIT_TXN] int put(DB_ENV *env, DB *db, DBT *key, DBT *value) {
[environment~DB_INIT_TXN]     static _Thread_local uint64_t logged; /* bytes, about */
[environment~DB_INIT_TXN]     int failed;
[environment~DB_INIT_TXN] [environment!~DB_INIT_LOCK]     failed = db->put(db, NULL, key, value, 0);
[environment~DB_INIT_TXN] [environment~DB_INIT_LOCK]     do /* Again, when another thread's write went first. */
[environment~DB_INIT_TXN] [environment~DB_INIT_LOCK]         failed = db->put(db, NULL, key, value, 0);
[environment~DB_INIT_TXN] [environment~DB_INIT_LOCK]     while (failed == DB_LOCK_DEADLOCK || failed == DB_LOCK_NOTGRANTED);
[environment~DB_INIT_TXN]     logged += key->size + value->size + 200;
    if (failed || logged / 1024 < {{checkpoint_kbyte}} / 8)
[checkpoint_kbyte!=]         return failed;
[environment~DB_INIT_TXN]     logged = 0;
    return env->txn_checkpoint(env, {{checkpoint_kbyte}}, 0, 0);
[environment~DB_INIT_TXN] }
