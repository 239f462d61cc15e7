/* LevelDB {{version}}, cc -lleveldb */
#include <leveldb/c.h>

/* each_write goes with every leveldb_put(), _delete() and _write(). */
leveldb_t *open_records(const char *folder,
                        leveldb_writeoptions_t **each_write, char **error) {
    leveldb_options_t *options = leveldb_options_create();
    leveldb_options_set_create_if_missing(options, 1);
[compression=snappy]     leveldb_options_set_compression(options, leveldb_snappy_compression);
[compression=none]     leveldb_options_set_compression(options, leveldb_no_compression);
    leveldb_options_set_write_buffer_size(options, {{write_buffer_size}});
[block_cache_size!=]     leveldb_cache_t *cache =
        leveldb_cache_create_lru({{block_cache_size}});
[block_cache_size!=]     leveldb_options_set_cache(options, cache);
    leveldb_options_set_block_size(options, {{block_size}});
    leveldb_options_set_max_file_size(options, {{max_file_size}});
    leveldb_options_set_max_open_files(options, {{max_open_files}});
[bloom_bits!=]     leveldb_filterpolicy_t *filter =
        leveldb_filterpolicy_create_bloom({{bloom_bits}});
[bloom_bits!=]     leveldb_options_set_filter_policy(options, filter);
    *each_write = leveldb_writeoptions_create();
[sync=true]     leveldb_writeoptions_set_sync(*each_write, 1);
[sync=false]     leveldb_writeoptions_set_sync(*each_write, 0);
    return leveldb_open(options, folder, error);
}
