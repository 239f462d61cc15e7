/* Berkeley DB {{version}}: cc records.c -ldb */
#include <db.h>
[DB_TXN_WRITE_NOSYNC=false] #include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
[DB_TXN_WRITE_NOSYNC=false] #include <unistd.h>

struct records {
[environment!=none]     DB_ENV *env;
    DB *db;
};

int open_records(const char *folder, struct records *r) {
    memset(r, 0, sizeof *r);
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
[environment!=none]     int failed = db_env_create(&r->env, 0);
[environment!=none]     if (!failed) failed = r->env->set_cachesize(r->env, gbytes, bytes, 1);
    if (!failed) failed = r->env->set_lg_bsize(r->env, {{lg_bsize}});
    if (!failed) failed = r->env->set_lg_max(r->env, {{lg_max}});
[DB_LOG_AUTO_REMOVE=true]     if (!failed)
[DB_LOG_AUTO_REMOVE=true]         failed = r->env->log_set_config(r->env, DB_LOG_AUTO_REMOVE, 1);
[DB_TXN_WRITE_NOSYNC=true]     if (!failed) failed = r->env->set_flags(r->env, DB_TXN_WRITE_NOSYNC, 1);
[environment~DB_INIT_TXN] [lk_max_locks!=]     if (!failed) failed = r->env->set_lk_detect(r->env, DB_LOCK_MINWRITE);
[environment~DB_INIT_TXN]     if (!failed) failed = r->env->set_lk_max_locks(r->env, {{lk_max_locks}});
[environment~DB_INIT_TXN]     if (!failed) failed = r->env->set_lk_max_objects(r->env, {{lk_max_locks}});
[environment!=none]     if (!failed) failed = r->env->open(r->env, folder, flags, 0);
[environment!=none]     if (!failed) failed = db_create(&r->db, r->env, 0);
[environment!=none]     const char *file = "records.db"; /* In the folder. */
[environment=none]     char file[4096];
[environment=none]     snprintf(file, sizeof file, "%s/records.db", folder);
[environment=none]     int failed = db_create(&r->db, NULL, 0);
[environment=none]     if (!failed) failed = r->db->set_cachesize(r->db, gbytes, bytes, 1);
    if (!failed) failed = r->db->set_pagesize(r->db, {{pagesize}});
    uint32_t how = DB_CREATE;
[environment~DB_THREAD]     how |= DB_THREAD; /* Reads: DB_DBT_USERMEM or DB_DBT_MALLOC. */
[environment~DB_INIT_TXN]     how |= DB_AUTO_COMMIT;
    if (!failed)
        failed = r->db->open(r->db, NULL, file, NULL, {{type}}, how, 0);
[DB_TXN_WRITE_NOSYNC=false]     /* The engine does not sync the folder that it made its files in. */
[DB_TXN_WRITE_NOSYNC=false]     int made_in = open(folder, O_RDONLY);
[DB_TXN_WRITE_NOSYNC=false]     if (!failed) failed = fsync(made_in);
[DB_TXN_WRITE_NOSYNC=false]     close(made_in);
    return failed;
}

[environment~DB_INIT_TXN] [environment~DB_INIT_LOCK] /* Another thread's write went first. */
[environment~DB_INIT_TXN] [environment~DB_INIT_LOCK] static int again(int failed) {
[environment~DB_INIT_TXN] [environment~DB_INIT_LOCK]     return failed == DB_LOCK_DEADLOCK || failed == DB_LOCK_NOTGRANTED;
[environment~DB_INIT_TXN] [environment~DB_INIT_LOCK] }
[environment~DB_INIT_TXN] [environment~DB_INIT_LOCK] 
[environment~DB_INIT_TXN] /* The engine makes no checkpoint by itself: if nobody does, its log is
[environment~DB_INIT_TXN]  * never removed, and recovery takes ever longer. */
[environment~DB_INIT_TXN] static int written(struct records *r, uint32_t bytes) {
[environment~DB_INIT_TXN]     static _Thread_local uint64_t logged; /* About. */
[environment~DB_INIT_TXN]     logged += bytes + 200;
    if (logged / 1024 < {{checkpoint_kbyte}} / 8)
[checkpoint_kbyte!=]         return 0;
[environment~DB_INIT_TXN]     logged = 0;
    return r->env->txn_checkpoint(r->env, {{checkpoint_kbyte}}, 0, 0);
[environment~DB_INIT_TXN] }
[environment~DB_INIT_TXN] 
[environment!~DB_INIT_TXN] /* It reaches the file when the cache is full, or with close_records(). */
[environment~DB_INIT_TXN] /* A transaction of its own. */
int put(struct records *r, DBT *key, DBT *value) {
    int failed = r->db->put(r->db, NULL, key, value, 0);
[environment~DB_INIT_TXN] [environment~DB_INIT_LOCK]     while (again(failed))
[environment~DB_INIT_TXN] [environment~DB_INIT_LOCK]         failed = r->db->put(r->db, NULL, key, value, 0);
[environment!~DB_INIT_TXN]     return failed;
[environment~DB_INIT_TXN]     return failed ? failed : written(r, key->size + value->size);
}

/* A copy in value->data, to be freed; NULL where there is none. */
int get(struct records *r, DBT *key, DBT *value) {
    memset(value, 0, sizeof *value);
    value->flags = DB_DBT_MALLOC;
    int failed = r->db->get(r->db, NULL, key, value, 0);
[environment~DB_INIT_TXN] [environment~DB_INIT_LOCK]     while (again(failed))
[environment~DB_INIT_TXN] [environment~DB_INIT_LOCK]         failed = r->db->get(r->db, NULL, key, value, 0);
    return failed == DB_NOTFOUND ? 0 : failed;
}

int remove_key(struct records *r, DBT *key) {
    int failed = r->db->del(r->db, NULL, key, 0);
[environment~DB_INIT_TXN] [environment~DB_INIT_LOCK]     while (again(failed))
[environment~DB_INIT_TXN] [environment~DB_INIT_LOCK]         failed = r->db->del(r->db, NULL, key, 0);
    if (failed == DB_NOTFOUND) return 0;
[environment!~DB_INIT_TXN]     return failed;
[environment~DB_INIT_TXN]     return failed ? failed : written(r, key->size);
}

int close_records(struct records *r) {
    int failed = r->db ? r->db->close(r->db, 0) : 0;
[environment!=none]     int also = r->env ? r->env->close(r->env, 0) : 0;
[environment!=none]     return failed ? failed : also;
[environment=none]     return failed;
}

int main(void) {
    struct records r;
    DBT apple = {.data = "apple", .size = 5};
    DBT cherry = {.data = "cherry", .size = 6};
    DBT red = {.data = "red", .size = 3};
    DBT green = {.data = "green", .size = 5};
    DBT found = {0}, gone;
    mkdir("records", 0777);
    int failed = open_records("records", &r);
    if (!failed) failed = put(&r, &apple, &red);
    if (!failed) failed = put(&r, &apple, &green); /* Replaces it. */
    if (!failed) failed = put(&r, &cherry, &red);
    if (!failed) failed = remove_key(&r, &cherry);
    if (!failed) failed = remove_key(&r, &cherry); /* No error. */
    if (!failed) failed = get(&r, &apple, &found);
    if (found.data)
        printf("apple: %.*s\n", (int)found.size, (char *)found.data);
    if (!failed) failed = get(&r, &cherry, &gone);
    if (!failed) printf("cherry: %s\n", gone.data ? "there" : "absent");
    free(found.data);
    int also = close_records(&r);
    if (!failed) failed = also;
    if (failed) fprintf(stderr, "%s\n", db_strerror(failed));
    return failed != 0;
}
