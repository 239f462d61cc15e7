# Berkeley DB {{version}} was measured; yours is bdb.version()
try:
    from berkeleydb import db as bdb  # pip install berkeleydb
except ImportError:
    from bsddb3 import db as bdb  # Its name before.
import os
[environment~DB_INIT_TXN] import threading

def open_records(folder):
    # In all: the engine adds a quarter and more to what is asked for.
    cache = {{cachesize}}
    if cache < 655360000:  # It adds nothing from 500 MiB on.
        cache = (cache - 8192) // 5 * 4
    gbytes, rest = divmod(cache, 1 << 30)
[environment=none]     db = bdb.DB()
[environment=none]     db.set_cachesize(gbytes, rest, 1)
[environment=none]     file = folder + "/records.db"
[environment!=none]     flags = bdb.DB_CREATE
[environment~DB_PRIVATE]     flags |= bdb.DB_PRIVATE  # One process at a time.
[environment~DB_THREAD]     flags |= bdb.DB_THREAD
[environment~DB_INIT_CDB]     flags |= bdb.DB_INIT_CDB  # Brings DB_INIT_LOCK.
[environment~DB_INIT_MPOOL]     flags |= bdb.DB_INIT_MPOOL
[environment~DB_INIT_LOG]     flags |= bdb.DB_INIT_LOG
[environment~DB_INIT_TXN]     flags |= bdb.DB_INIT_TXN | bdb.DB_RECOVER
[environment~DB_INIT_LOCK] [environment!~DB_INIT_CDB]     flags |= bdb.DB_INIT_LOCK
[environment!=none]     env = bdb.DBEnv()
[environment!=none]     env.set_cachesize(gbytes, rest, 1)
    env.set_lg_bsize({{lg_bsize}})
    env.set_lg_max({{lg_max}})
[DB_LOG_AUTO_REMOVE=true]     env.log_set_config(bdb.DB_LOG_AUTO_REMOVE, 1)
[DB_TXN_WRITE_NOSYNC=true]     env.set_flags(bdb.DB_TXN_WRITE_NOSYNC, 1)
[environment~DB_INIT_TXN] [lk_max_locks!=]     env.set_lk_detect(bdb.DB_LOCK_MINWRITE)
[environment~DB_INIT_TXN]     env.set_lk_max_locks({{lk_max_locks}})
[environment~DB_INIT_TXN]     env.set_lk_max_objects({{lk_max_locks}})
[environment!=none]     env.open(folder, flags)
[environment!=none]     db = bdb.DB(env)
[environment!=none]     file = "records.db"  # In the folder.
    db.set_pagesize({{pagesize}})
    how = bdb.DB_CREATE
[environment~DB_THREAD]     how |= bdb.DB_THREAD
[environment~DB_INIT_TXN]     how |= bdb.DB_AUTO_COMMIT
    db.open(file, dbtype=bdb.{{type}}, flags=how)
[DB_TXN_WRITE_NOSYNC=false]     # The engine does not sync the folder that it made its files in.
[DB_TXN_WRITE_NOSYNC=false]     made_in = os.open(folder, os.O_RDONLY)
[DB_TXN_WRITE_NOSYNC=false]     os.fsync(made_in)
[DB_TXN_WRITE_NOSYNC=false]     os.close(made_in)
[environment=none]     return None, db
[environment!=none]     return env, db

[environment~DB_INIT_TXN] logged = threading.local()
[environment~DB_INIT_TXN] 
[environment~DB_INIT_TXN] # The engine makes no checkpoint by itself: if nobody does, its log is
[environment~DB_INIT_TXN] # never removed, and recovery takes ever longer.
[environment~DB_INIT_TXN] def written(env, size):
[environment~DB_INIT_TXN]     logged.bytes = getattr(logged, "bytes", 0) + size + 200  # About.
    if logged.bytes // 1024 >= {{checkpoint_kbyte}} // 8:
[checkpoint_kbyte!=]         logged.bytes = 0
        env.txn_checkpoint({{checkpoint_kbyte}})
[environment~DB_INIT_TXN] 
[environment~DB_INIT_TXN] [environment~DB_INIT_LOCK] # Again, when another thread's write went first.
[environment~DB_INIT_TXN] [environment~DB_INIT_LOCK] def insist(call, *arguments):
[environment~DB_INIT_TXN] [environment~DB_INIT_LOCK]     while True:
[environment~DB_INIT_TXN] [environment~DB_INIT_LOCK]         try:
[environment~DB_INIT_TXN] [environment~DB_INIT_LOCK]             return call(*arguments)
[environment~DB_INIT_TXN] [environment~DB_INIT_LOCK]         except (bdb.DBLockDeadlockError, bdb.DBLockNotGrantedError):
[environment~DB_INIT_TXN] [environment~DB_INIT_LOCK]             pass
[environment~DB_INIT_TXN] [environment~DB_INIT_LOCK] 
[environment!~DB_INIT_TXN] # It reaches the file when the cache is full, or with close_records().
[environment~DB_INIT_TXN] # A transaction of its own.
def put(records, key, value):
    env, db = records
[environment!~DB_INIT_TXN]     db.put(key, value)
[environment~DB_INIT_TXN] [environment!~DB_INIT_LOCK]     db.put(key, value)
[environment~DB_INIT_TXN] [environment~DB_INIT_LOCK]     insist(db.put, key, value)
[environment~DB_INIT_TXN]     written(env, len(key) + len(value))

# None where there is no such key.
def get(records, key):
    env, db = records
[environment!~DB_INIT_TXN]     return db.get(key)
[environment~DB_INIT_TXN] [environment!~DB_INIT_LOCK]     return db.get(key)
[environment~DB_INIT_TXN] [environment~DB_INIT_LOCK]     return insist(db.get, key)

def remove(records, key):
    env, db = records
    try:
[environment!~DB_INIT_TXN]         db.delete(key)
[environment~DB_INIT_TXN] [environment!~DB_INIT_LOCK]         db.delete(key)
[environment~DB_INIT_TXN] [environment~DB_INIT_LOCK]         insist(db.delete, key)
    except bdb.DBNotFoundError:
        return
[environment~DB_INIT_TXN]     written(env, len(key))

def close_records(records):
    env, db = records
    db.close()
[environment!=none]     env.close()

if __name__ == "__main__":
    os.makedirs("records", exist_ok=True)
    records = open_records("records")
    put(records, b"apple", b"red")
    put(records, b"apple", b"green")  # Replaces it.
    put(records, b"cherry", b"red")
    remove(records, b"cherry")
    remove(records, b"cherry")  # No error.
    print("apple:", get(records, b"apple").decode())
    print("cherry:", get(records, b"cherry"))
    close_records(records)
