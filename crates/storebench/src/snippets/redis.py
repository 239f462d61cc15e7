# Redis {{version}} was measured; Debian: apt-get install python3-redis
import os
import redis

# Where: redis://host:port/database or unix:///path, as REDIS_URL says.
# Threads can share it: each call takes a connection for a while.
def open_records(url=os.environ.get("REDIS_URL", "redis://localhost")):
    kind = redis.Redis
[shards!=] [shards!=1]     kind = redis.RedisCluster
    return kind.from_url(url)

# A connection to the server that has a key.
def connection(db, key):
[shards!=] [shards!=1]     db = db.get_node_from_key(key).redis_connection
    return db.client()

def put(db, key, value):
    with connection(db, key) as one:
        one.set(key, value)
[wait!=0]         # WAIT is about this connection's writes.
[wait!=0]         if one.wait({{wait}}, 60000) < {{wait}}:
[wait!=0]             raise TimeoutError("too few replicas have it")

# None where there is no such key.
def get(db, key):
    return db.get(key)

def remove(db, key):
    with connection(db, key) as one:
        one.delete(key)
[wait!=0]         # WAIT is about this connection's writes.
[wait!=0]         if one.wait({{wait}}, 60000) < {{wait}}:
[wait!=0]             raise TimeoutError("too few replicas have it")

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
