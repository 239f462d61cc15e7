# MariaDB {{version}} was measured; pip install pymysql
import pymysql

# Where: a file records.cnf, with user, password, host or socket, and
# database below a line [client]. Each thread has its own. The package sends
# text: it can't prepare statements, as those that were measured were.
def open_records(file="records.cnf"):
    db = pymysql.connect(read_default_file=file, autocommit=True)
    execute(
        db,
        "CREATE TABLE IF NOT EXISTS records"
        " (k VARBINARY(767) NOT NULL PRIMARY KEY, v LONGBLOB NOT NULL)"
[engine=innodb]         " ENGINE = InnoDB",
[engine=rocksdb]         " ENGINE = ROCKSDB",
    )
    return db

# A transaction of its own: autocommit.
def execute(db, statement, values=()):
    with db.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchone()

def put(db, key, value):
    upsert = (
        "INSERT INTO records (k, v) VALUES (%s, %s)"
        " ON DUPLICATE KEY UPDATE v = VALUES(v)"
    )
    execute(db, upsert, (key, value))

# None where there is no such key.
def get(db, key):
    row = execute(db, "SELECT v FROM records WHERE k = %s", (key,))
    return row and row[0]

def remove(db, key):
    execute(db, "DELETE FROM records WHERE k = %s", (key,))

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
