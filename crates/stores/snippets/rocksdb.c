/* RocksDB {{version}}: cc records.c -lrocksdb */
#include <rocksdb/c.h>
#include <stdio.h>

struct records {
    rocksdb_t *db;
    rocksdb_writeoptions_t *each_write;
    rocksdb_readoptions_t *each_read;
};

/* It, and all below, gives NULL, or an error for rocksdb_free(). */
char *open_records(const char *folder, struct records *r) {
    char *error = NULL;
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
    r->each_read = rocksdb_readoptions_create();
    r->each_write = rocksdb_writeoptions_create();
[sync=true]     rocksdb_writeoptions_set_sync(r->each_write, 1);
[sync=false]     rocksdb_writeoptions_set_sync(r->each_write, 0);
[disableWAL=true]     rocksdb_writeoptions_disable_WAL(r->each_write, 1);
[disableWAL=false]     rocksdb_writeoptions_disable_WAL(r->each_write, 0);
    r->db = rocksdb_open(options, folder, &error);
    return error;
}

char *put(struct records *r, const char *key, size_t key_bytes,
          const char *value, size_t bytes) {
    char *error = NULL;
    rocksdb_put(r->db, r->each_write, key, key_bytes, value, bytes, &error);
    return error;
}

/* The value is for rocksdb_free(); NULL where there is none. */
char *get(struct records *r, const char *key, size_t key_bytes,
          char **value, size_t *bytes) {
    char *error = NULL;
    *value =
        rocksdb_get(r->db, r->each_read, key, key_bytes, bytes, &error);
    return error;
}

char *remove_key(struct records *r, const char *key, size_t key_bytes) {
    char *error = NULL;
    rocksdb_delete(r->db, r->each_write, key, key_bytes, &error);
    return error;
}

[disableWAL=true] /* Without a log only a flush says whether all is on disk. */
char *close_records(struct records *r) {
    char *error = NULL;
[disableWAL=true]     rocksdb_flushoptions_t *flush = rocksdb_flushoptions_create();
[disableWAL=true]     rocksdb_flush(r->db, flush, &error);
[disableWAL=true]     rocksdb_flushoptions_destroy(flush);
    rocksdb_close(r->db);
    return error;
}

int main(void) {
    struct records r;
    char *found = NULL, *gone = NULL;
    size_t bytes;
    char *error = open_records("records", &r), *last = NULL;
    if (!error) error = put(&r, "apple", 5, "red", 3);
    if (!error) error = put(&r, "apple", 5, "green", 5); /* Replaces it. */
    if (!error) error = put(&r, "cherry", 6, "red", 3);
    if (!error) error = remove_key(&r, "cherry", 6);
    if (!error) error = remove_key(&r, "cherry", 6); /* No error. */
    if (!error) error = get(&r, "apple", 5, &found, &bytes);
    if (found) printf("apple: %.*s\n", (int)bytes, found);
    if (!error) error = get(&r, "cherry", 6, &gone, &bytes);
    if (!error) printf("cherry: %s\n", gone ? "there" : "absent");
    rocksdb_free(found);
    if (r.db) last = close_records(&r);
    if (error || last) fprintf(stderr, "%s\n", error ? error : last);
    return error || last;
}
