# Redis {{version}} was measured; Debian: apt-get install python3-redis
import os
import redis

# Where: redis://host:port/database or unix:///path, as REDIS_URL says.
# Threads can share it: each call takes a connection for a while.
def open_records(url=os.environ.get("REDIS_URL", "redis://localhost")):
    return redis.Redis.from_url(url)

def put(db, key, value):
    db.set(key, value)

# None where there is no such key.
def get(db, key):
    return db.get(key)

def remove(db, key):
    db.delete(key)

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
