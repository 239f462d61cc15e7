# LMDB {{version}} was measured; yours is lmdb.version(). pip install lmdb
import os

import lmdb

def open_records(folder):
    env = lmdb.open(
        folder,
        # Addresses, not room on disk: the most that the file can grow to.
        map_size={{map_size}},
        max_readers={{max_readers}},
[nosync=true]         sync=False,
[nometasync=true]         metasync=False,
[writemap=true]         writemap=True,
[mapasync=true]         map_async=True,
[nordahead=true]         readahead=False,
[nomeminit=true]         meminit=False,
    )
[nosync=false]     # LMDB does not sync the folder that it made its file in.
[nosync=false]     made_in = os.open(folder, os.O_RDONLY)
[nosync=false]     os.fsync(made_in)
[nosync=false]     os.close(made_in)
    return env

# A transaction of its own: writers take turns.
def put(env, key, value):
    with env.begin(write=True) as txn:
        txn.put(key, value)

# None where there is no such key.
def get(env, key):
    with env.begin() as txn:
        return txn.get(key)

def remove(env, key):
    with env.begin(write=True) as txn:
        txn.delete(key)

def close_records(env):
    env.close()

if __name__ == "__main__":
    os.makedirs("records", exist_ok=True)
    env = open_records("records")
    put(env, b"apple", b"red")
    put(env, b"apple", b"green")  # Replaces it.
    put(env, b"cherry", b"red")
    remove(env, b"cherry")
    remove(env, b"cherry")  # No error.
    print("apple:", get(env, b"apple").decode())
    print("cherry:", get(env, b"cherry"))
    close_records(env)
