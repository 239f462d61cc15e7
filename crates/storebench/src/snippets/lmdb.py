# LMDB {{version}} was measured; yours is lmdb.version(). pip install lmdb
import lmdb
[nosync=false] import os

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
