// LevelDB as an application in C++ uses it: one string that values are read into, again and again.

#include <cstddef>
#include <string>

#include <leveldb/cache.h>
#include <leveldb/db.h>

struct direct_leveldb {
    leveldb::DB *db;
    leveldb::Cache *cache;
    std::string value;
};

extern "C" {

direct_leveldb *direct_leveldb_open(const char *folder, size_t block_cache, size_t write_buffer) {
    auto *store = new direct_leveldb{nullptr, leveldb::NewLRUCache(block_cache), {}};
    leveldb::Options options;
    options.create_if_missing = true;
    options.compression = leveldb::kNoCompression;
    options.block_cache = store->cache;
    options.write_buffer_size = write_buffer;
    if (leveldb::DB::Open(options, folder, &store->db).ok())
        return store;
    delete store->cache;
    delete store;
    return nullptr;
}

void direct_leveldb_close(direct_leveldb *store) {
    delete store->db;
    delete store->cache;
    delete store;
}

// 0 if it went well.
int direct_leveldb_put(direct_leveldb *store, const char *key, size_t key_size, const char *value, size_t value_size) {
    const leveldb::Slice k(key, key_size), v(value, value_size);
    return store->db->Put(leveldb::WriteOptions(), k, v).ok() ? 0 : 1;
}

// The value, where it lies until the next call; null if there is none.
const char *direct_leveldb_get(direct_leveldb *store, const char *key, size_t key_size, size_t *value_size) {
    const leveldb::Slice k(key, key_size);
    if (!store->db->Get(leveldb::ReadOptions(), k, &store->value).ok())
        return nullptr;
    *value_size = store->value.size();
    return store->value.data();
}

} // extern "C"
