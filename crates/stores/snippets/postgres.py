# PostgreSQL {{version}} was measured; pip install "psycopg[binary]"
import psycopg

# Where: a URL, or what PGHOST, PGUSER, PGPASSWORD and PGDATABASE say. Each
# thread has its own.
def open_records(url=""):
    # autocommit: a transaction of its own. 0: prepared at the first call.
    db = psycopg.connect(url, autocommit=True, prepare_threshold=0)
    db.execute(
        "CREATE TABLE IF NOT EXISTS records"
        " (key bytea PRIMARY KEY, value bytea NOT NULL)"
    )
[toast_storage=external]     db.execute("ALTER TABLE records ALTER value SET STORAGE EXTERNAL")
    return db

def put(db, key, value):
    db.execute(
        "INSERT INTO records (key, value) VALUES (%s, %s)"
        " ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        (key, value),
    )

# None where there is no such key.
def get(db, key):
    select = "SELECT value FROM records WHERE key = %s"
    row = db.execute(select, (key,)).fetchone()
    return row and bytes(row[0])

def remove(db, key):
    db.execute("DELETE FROM records WHERE key = %s", (key,))

def close_records(db):
    db.close()

if __name__ == "__main__":
    db = open_records()
    put(db, b"apple", b"red")
    put(db, b"apple", b"green")  # Replaces it.
    put(db, b"cherry", b"red")
    remove(db, b"cherry")
    remove(db, b"cherry")  # No error.
    print("apple:", get(db, b"apple").decode())
    print("cherry:", get(db, b"cherry"))
    close_records(db)
