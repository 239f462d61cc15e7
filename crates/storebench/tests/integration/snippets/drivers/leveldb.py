
def start(folder):
    return open_records(folder)


def write_record(db, key):
    put(db, key, VALUE)


def read_record(db, key):
    return db.get(key)


# It can be asked for none of its options.
def tell(db):
    return {}


def stop(db):
    db.close()
