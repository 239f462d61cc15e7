//! The part of LevelDB's C interface (`leveldb/c.h`, the same since 1.20) that the store uses, and the functions of
//! `native/leveldb.cc`.

use std::ffi::{c_char, c_int, c_uchar, c_void};

use super::super::opaque::opaque;

opaque! {
    Db: "leveldb_t",
    Cache: "leveldb_cache_t",
    FilterPolicy: "leveldb_filterpolicy_t",
    Iterator: "leveldb_iterator_t",
    Options: "leveldb_options_t",
    ReadOptions: "leveldb_readoptions_t",
    WriteBatch: "leveldb_writebatch_t",
    WriteOptions: "leveldb_writeoptions_t",
    CxxString: "std::string",
}

// Codes that `sb_leveldb_get` gives back; anything else is a failure.
pub const FOUND: c_int = 0;
pub const NOT_FOUND: c_int = 1;

unsafe extern "C" {
    pub fn leveldb_open(options: *const Options, name: *const c_char, error: *mut *mut c_char) -> *mut Db;
    pub fn leveldb_close(db: *mut Db);
    pub fn leveldb_put(
        db: *mut Db,
        options: *const WriteOptions,
        key: *const c_char,
        key_len: usize,
        value: *const c_char,
        value_len: usize,
        error: *mut *mut c_char,
    );
    pub fn leveldb_delete(
        db: *mut Db,
        options: *const WriteOptions,
        key: *const c_char,
        key_len: usize,
        error: *mut *mut c_char,
    );
    pub fn leveldb_write(
        db: *mut Db,
        options: *const WriteOptions,
        batch: *mut WriteBatch,
        error: *mut *mut c_char,
    );
    pub fn leveldb_property_value(db: *mut Db, name: *const c_char) -> *mut c_char;
    pub fn leveldb_compact_range(
        db: *mut Db,
        start: *const c_char,
        start_len: usize,
        limit: *const c_char,
        limit_len: usize,
    );
    pub fn leveldb_free(pointer: *mut c_void);
    pub fn leveldb_major_version() -> c_int;
    pub fn leveldb_minor_version() -> c_int;

    pub fn leveldb_create_iterator(db: *mut Db, options: *const ReadOptions) -> *mut Iterator;
    pub fn leveldb_iter_destroy(iterator: *mut Iterator);
    pub fn leveldb_iter_valid(iterator: *const Iterator) -> c_uchar;
    pub fn leveldb_iter_seek_to_first(iterator: *mut Iterator);
    pub fn leveldb_iter_seek(iterator: *mut Iterator, key: *const c_char, key_len: usize);
    pub fn leveldb_iter_next(iterator: *mut Iterator);
    pub fn leveldb_iter_key(iterator: *const Iterator, len: *mut usize) -> *const c_char;
    pub fn leveldb_iter_value(iterator: *const Iterator, len: *mut usize) -> *const c_char;
    pub fn leveldb_iter_get_error(iterator: *const Iterator, error: *mut *mut c_char);

    pub fn leveldb_writebatch_create() -> *mut WriteBatch;
    pub fn leveldb_writebatch_destroy(batch: *mut WriteBatch);
    pub fn leveldb_writebatch_clear(batch: *mut WriteBatch);
    pub fn leveldb_writebatch_put(
        batch: *mut WriteBatch,
        key: *const c_char,
        key_len: usize,
        value: *const c_char,
        value_len: usize,
    );
    pub fn leveldb_writebatch_delete(batch: *mut WriteBatch, key: *const c_char, key_len: usize);

    pub fn leveldb_options_create() -> *mut Options;
    pub fn leveldb_options_destroy(options: *mut Options);
    pub fn leveldb_options_set_create_if_missing(options: *mut Options, on: c_uchar);
    pub fn leveldb_options_set_compression(options: *mut Options, codec: c_int);
    pub fn leveldb_options_set_cache(options: *mut Options, cache: *mut Cache);
    pub fn leveldb_options_set_filter_policy(options: *mut Options, policy: *mut FilterPolicy);
    pub fn leveldb_options_set_write_buffer_size(options: *mut Options, bytes: usize);
    pub fn leveldb_options_set_max_open_files(options: *mut Options, files: c_int);
    pub fn leveldb_options_set_block_size(options: *mut Options, bytes: usize);
    pub fn leveldb_options_set_max_file_size(options: *mut Options, bytes: usize);
    pub fn leveldb_cache_create_lru(bytes: usize) -> *mut Cache;
    pub fn leveldb_cache_destroy(cache: *mut Cache);
    pub fn leveldb_filterpolicy_create_bloom(bits_per_key: c_int) -> *mut FilterPolicy;
    pub fn leveldb_filterpolicy_destroy(policy: *mut FilterPolicy);

    pub fn leveldb_readoptions_create() -> *mut ReadOptions;
    pub fn leveldb_readoptions_destroy(options: *mut ReadOptions);
    pub fn leveldb_readoptions_set_fill_cache(options: *mut ReadOptions, on: c_uchar);
    pub fn leveldb_writeoptions_create() -> *mut WriteOptions;
    pub fn leveldb_writeoptions_destroy(options: *mut WriteOptions);
    pub fn leveldb_writeoptions_set_sync(options: *mut WriteOptions, on: c_uchar);

    pub fn sb_leveldb_string_create() -> *mut CxxString;
    pub fn sb_leveldb_string_destroy(string: *mut CxxString);
    pub fn sb_leveldb_get(
        db: *mut Db,
        key: *const c_char,
        key_len: usize,
        string: *mut CxxString,
        data: *mut *const c_char,
        len: *mut usize,
    ) -> c_int;
}
