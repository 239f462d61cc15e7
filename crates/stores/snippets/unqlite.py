# UnQLite {{version}} was measured; `pip install unqlite` brings its own
from unqlite import UnQLite

def open_records(file):
[page_size!=4096]     # {{page_size}} bytes a page were measured; the package knows only 4096.
[max_page_cache!=]     # The hint to cache {{max_page_cache}} pages can't be given by it.
    return UnQLite(file)

[transactions=committed when settled or closed] # All writes are one transaction, which closing it commits, or
[transactions=committed when settled or closed] # db.commit(): until then it is in memory.
[transactions=committed after each write] def commit(db):
[transactions=committed after each write]     try:
[transactions=committed after each write]         db.commit()
[transactions=committed after each write]     except Exception:
[transactions=committed after each write]         db.rollback()
[transactions=committed after each write]         raise
[transactions=committed after each write] 
[transactions=committed after each write] # Survives a power cut, once it has returned.
def put(db, key, value):
    db.store(key, value)
[transactions=committed after each write]     commit(db)

# None where there is no such key.
def get(db, key):
    try:
        return db.fetch(key)
    except KeyError:
        return None

def remove(db, key):
    try:
        db.delete(key)
    except KeyError:
        return
[transactions=committed after each write]     commit(db)

def close_records(db):
    db.close()

if __name__ == "__main__":
    db = open_records("records.unqlite")
    put(db, b"apple", b"red")
    put(db, b"apple", b"green")  # Replaces it.
    put(db, b"cherry", b"red")
    remove(db, b"cherry")
    remove(db, b"cherry")  # No error.
    print("apple:", get(db, b"apple").decode())
    print("cherry:", get(db, b"cherry"))
    close_records(db)
