/* RocksDB {{version}}, cc -lrocksdb */
#include <rocksdb/c.h>

/* each_write goes with every rocksdb_put(), _delete() and _write(). */
[disableWAL=true] /* Without a log only rocksdb_flush() says whether all is on disk: call it
[disableWAL=true]  * before rocksdb_close(). */
rocksdb_t *open_records(const char *folder,
                        rocksdb_writeoptions_t **each_write, char **error) {
    rocksdb_options_t *options = rocksdb_options_create();
    rocksdb_options_set_create_if_missing(options, 1);
[compression=kNoCompression]     rocksdb_options_set_compression(options, rocksdb_no_compression);
[compression=kSnappyCompression]     rocksdb_options_set_compression(options, rocksdb_snappy_compression);
[compression=kLZ4Compression]     rocksdb_options_set_compression(options, rocksdb_lz4_compression);
[compression=kZSTD]     rocksdb_options_set_compression(options, rocksdb_zstd_compression);
    rocksdb_options_set_write_buffer_size(options, {{write_buffer_size}});
    rocksdb_options_set_max_background_jobs(options, {{max_background_jobs}});
    rocksdb_options_set_max_open_files(options, {{max_open_files}});
[compaction_style=kCompactionStyleUniversal]     int style = rocksdb_universal_compaction;
[compaction_style=kCompactionStyleLevel]     int style = rocksdb_level_compaction;
[compaction_style!=]     rocksdb_options_set_compaction_style(options, style);
    rocksdb_block_based_table_options_t *table =
        rocksdb_block_based_options_create();
    rocksdb_block_based_options_set_block_size(table, {{block_size}});
[bloom_bits!=]     rocksdb_filterpolicy_t *filter =
        rocksdb_filterpolicy_create_bloom({{bloom_bits}});
[bloom_bits!=]     rocksdb_block_based_options_set_filter_policy(table, filter);
[block_cache_size!=]     rocksdb_cache_t *cache =
        rocksdb_cache_create_lru({{block_cache_size}});
[block_cache_size!=]     rocksdb_block_based_options_set_block_cache(table, cache);
    rocksdb_options_set_block_based_table_factory(options, table);
    *each_write = rocksdb_writeoptions_create();
[sync=true]     rocksdb_writeoptions_set_sync(*each_write, 1);
[sync=false]     rocksdb_writeoptions_set_sync(*each_write, 0);
[disableWAL=true]     rocksdb_writeoptions_disable_WAL(*each_write, 1);
[disableWAL=false]     rocksdb_writeoptions_disable_WAL(*each_write, 0);
    return rocksdb_open(options, folder, error);
}
