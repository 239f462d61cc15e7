// Gets a value from LevelDB into a string that is used again and again, as an application in C++ does. The C
// interface allocates each value twice and copies it twice, which for a value of 1 MB takes 40 % longer.

#include <cstddef>
#include <string>

#include <leveldb/c.h>
#include <leveldb/db.h>

// As LevelDB's c.cc defines what c.h declares, unchanged from its first version (1.2) to the last (1.23).
struct leveldb_t {
    leveldb::DB *rep;
};

extern "C" {

enum { SB_FOUND = 0, SB_NOT_FOUND = 1, SB_FAILED = 2 };

std::string *sb_leveldb_string_create() {
    return new std::string;
}

void sb_leveldb_string_destroy(std::string *string) {
    delete string;
}

// The value, or the engine's words when it fails, is in the string: `*data` and `*size` say where, until the next call.
int sb_leveldb_get(leveldb_t *db, const char *key, size_t key_size, std::string *string, const char **data,
                   size_t *size) {
    const leveldb::Status status = db->rep->Get(leveldb::ReadOptions(), leveldb::Slice(key, key_size), string);
    if (status.IsNotFound())
        return SB_NOT_FOUND;
    if (!status.ok())
        *string = status.ToString();
    *data = string->data();
    *size = string->size();
    return status.ok() ? SB_FOUND : SB_FAILED;
}

} // extern "C"
