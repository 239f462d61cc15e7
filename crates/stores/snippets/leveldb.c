/* LevelDB {{version}}: cc records.c -lleveldb */
#include <leveldb/c.h>
#include <stdio.h>

struct records {
    leveldb_t *db;
    leveldb_writeoptions_t *each_write;
    leveldb_readoptions_t *each_read;
};

/* It, and all below, gives NULL, or an error for leveldb_free(). What the
 * options point to must live as long as the database. */
char *open_records(const char *folder, struct records *r) {
    char *error = NULL;
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
    r->each_read = leveldb_readoptions_create();
    r->each_write = leveldb_writeoptions_create();
[sync=true]     leveldb_writeoptions_set_sync(r->each_write, 1);
[sync=false]     leveldb_writeoptions_set_sync(r->each_write, 0);
    r->db = leveldb_open(options, folder, &error);
    return error;
}

char *put(struct records *r, const char *key, size_t key_bytes,
          const char *value, size_t bytes) {
    char *error = NULL;
    leveldb_put(r->db, r->each_write, key, key_bytes, value, bytes, &error);
    return error;
}

/* The value is for leveldb_free(); NULL where there is none. */
char *get(struct records *r, const char *key, size_t key_bytes,
          char **value, size_t *bytes) {
    char *error = NULL;
    *value =
        leveldb_get(r->db, r->each_read, key, key_bytes, bytes, &error);
    return error;
}

char *remove_key(struct records *r, const char *key, size_t key_bytes) {
    char *error = NULL;
    leveldb_delete(r->db, r->each_write, key, key_bytes, &error);
    return error;
}

void close_records(struct records *r) {
    leveldb_close(r->db);
}

int main(void) {
    struct records r;
    char *found = NULL, *gone = NULL;
    size_t bytes;
    char *error = open_records("records", &r);
    if (!error) error = put(&r, "apple", 5, "red", 3);
    if (!error) error = put(&r, "apple", 5, "green", 5); /* Replaces it. */
    if (!error) error = put(&r, "cherry", 6, "red", 3);
    if (!error) error = remove_key(&r, "cherry", 6);
    if (!error) error = remove_key(&r, "cherry", 6); /* No error. */
    if (!error) error = get(&r, "apple", 5, &found, &bytes);
    if (found) printf("apple: %.*s\n", (int)bytes, found);
    if (!error) error = get(&r, "cherry", 6, &gone, &bytes);
    if (!error) printf("cherry: %s\n", gone ? "there" : "absent");
    if (error) fprintf(stderr, "%s\n", error);
    leveldb_free(found);
    if (r.db) close_records(&r);
    return error != NULL;
}
