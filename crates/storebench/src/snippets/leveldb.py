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
