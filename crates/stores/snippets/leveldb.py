# LevelDB {{version}} was measured; pip install plyvel
import plyvel

def open_records(folder):
    return plyvel.DB(
        folder,
        create_if_missing=True,
[compression=snappy]         compression="snappy",
[compression=none]         compression=None,
        write_buffer_size={{write_buffer_size}},
        lru_cache_size={{block_cache_size}},
        block_size={{block_size}},
        max_file_size={{max_file_size}},
        max_open_files={{max_open_files}},
        bloom_filter_bits={{bloom_bits}},
    )

def put(db, key, value):
[sync=true]     db.put(key, value, sync=True)
[sync=false]     db.put(key, value, sync=False)

# None where there is no such key.
def get(db, key):
    return db.get(key)

def remove(db, key):
[sync=true]     db.delete(key, sync=True)
[sync=false]     db.delete(key, sync=False)

def close_records(db):
    db.close()

if __name__ == "__main__":
    db = open_records("records")
    put(db, b"apple", b"red")
    put(db, b"apple", b"green")  # Replaces it.
    put(db, b"cherry", b"red")
    remove(db, b"cherry")
    remove(db, b"cherry")  # No error.
    print("apple:", get(db, b"apple").decode())
    print("cherry:", get(db, b"cherry"))
    close_records(db)
