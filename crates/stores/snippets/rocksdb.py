# RocksDB {{version}} was measured; `pip install rocksdict` brings its own
from rocksdict import (
    BlockBasedOptions,
    Cache,
    DBCompactionStyle,
    DBCompressionType,
    Options,
    Rdict,
    WriteOptions,
)

def open_records(folder):
    options = Options(raw_mode=True)  # Keys and values are bytes.
    options.create_if_missing(True)
[compression=kNoCompression]     options.set_compression_type(DBCompressionType.none())
[compression=kSnappyCompression]     options.set_compression_type(DBCompressionType.snappy())
[compression=kLZ4Compression]     options.set_compression_type(DBCompressionType.lz4())
[compression=kZSTD]     options.set_compression_type(DBCompressionType.zstd())
    options.set_write_buffer_size({{write_buffer_size}})
    options.set_max_background_jobs({{max_background_jobs}})
    options.set_max_open_files({{max_open_files}})
[compaction_style=kCompactionStyleUniversal]     options.set_compaction_style(DBCompactionStyle.universal())
[compaction_style=kCompactionStyleLevel]     options.set_compaction_style(DBCompactionStyle.level())
    table = BlockBasedOptions()
    table.set_block_size({{block_size}})
    table.set_bloom_filter({{bloom_bits}}, False)
    table.set_block_cache(Cache({{block_cache_size}}))
    options.set_block_based_table_factory(table)
    # Named, or files that are there are opened without the filter.
    db = Rdict(folder, options, {"default": options})
    each_write = WriteOptions()
[sync=true]     each_write.sync = True
[sync=false]     each_write.sync = False
[disableWAL=true]     each_write.disable_wal = True
[disableWAL=false]     each_write.disable_wal = False
    db.set_write_options(each_write)
    return db

def put(db, key, value):
    db[key] = value

# None where there is no such key.
def get(db, key):
    return db.get(key)

def remove(db, key):
    del db[key]

[disableWAL=true] # Without a log only a flush says whether all is on disk.
def close_records(db):
[disableWAL=true]     db.flush()
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
