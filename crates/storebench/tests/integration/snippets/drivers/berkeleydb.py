
SUBSYSTEMS = "DB_PRIVATE DB_THREAD DB_INIT_CDB DB_INIT_MPOOL DB_INIT_LOG DB_INIT_TXN DB_INIT_LOCK".split()


# The environment, or None, and the database.
def start(folder):
    opened = open_records(folder)
    return opened if isinstance(opened, tuple) else (None, opened)


def has_log(env):
    return env is not None and env.get_open_flags() & bdb.DB_INIT_LOG != 0


def write_record(store, key):
    env, db = store
    if has_log(env):
        put(env, db, key, VALUE)
    else:
        put(db, key, VALUE)


def read_record(store, key):
    return store[1].get(key)


def tell(store):
    env, db = store
    gbytes, rest, _ = (env or db).get_cachesize()
    told = {"environment": "none", "cachesize": (gbytes << 30) + rest, "pagesize": db.get_pagesize()}
    told["type"] = "DB_HASH" if db.get_type() == bdb.DB_HASH else "DB_BTREE"
    if env is None:
        return told
    flags = env.get_open_flags()
    told["environment"] = " ".join(name for name in SUBSYSTEMS if flags & getattr(bdb, name))
    if flags & bdb.DB_INIT_LOCK:
        told["lk_max_locks"] = env.get_lk_max_locks()
    if has_log(env):
        told["DB_TXN_WRITE_NOSYNC"] = env.get_flags() & bdb.DB_TXN_WRITE_NOSYNC != 0
        told["DB_TXN_NOSYNC"] = env.get_flags() & bdb.DB_TXN_NOSYNC != 0
        told["DB_LOG_AUTO_REMOVE"] = bool(env.log_get_config(bdb.DB_LOG_AUTO_REMOVE))
        told["lg_max"] = env.get_lg_max()
        told["lg_bsize"] = env.get_lg_bsize()
    return told


def stop(store):
    env, db = store
    db.close()
    if env is not None:
        env.close()
