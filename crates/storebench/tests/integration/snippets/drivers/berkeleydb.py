
SUBSYSTEMS = "DB_PRIVATE DB_THREAD DB_INIT_CDB DB_INIT_MPOOL DB_INIT_LOG DB_INIT_TXN DB_INIT_LOCK".split()


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
    if flags & bdb.DB_INIT_LOG:
        told["DB_TXN_WRITE_NOSYNC"] = env.get_flags() & bdb.DB_TXN_WRITE_NOSYNC != 0
        told["DB_TXN_NOSYNC"] = env.get_flags() & bdb.DB_TXN_NOSYNC != 0
        told["DB_LOG_AUTO_REMOVE"] = bool(env.log_get_config(bdb.DB_LOG_AUTO_REMOVE))
        told["lg_max"] = env.get_lg_max()
        told["lg_bsize"] = env.get_lg_bsize()
    return told
