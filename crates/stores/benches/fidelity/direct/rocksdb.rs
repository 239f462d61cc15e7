//! RocksDB by its C interface, without a log. Values are pinned, which spares the allocation of `rocksdb_get`.

use std::ffi::c_char;
use std::path::Path;
use std::ptr;

use storebench_core::record::Key;

use super::{Engine, c_path};
use crate::CACHE_BYTES;

#[allow(dead_code, reason = "the store calls more of it")]
#[path = "../../../src/rocksdb/ffi.rs"]
mod ffi;
#[path = "../../../src/rocksdb/functions.rs"]
mod functions;

pub struct RocksDb {
    db: *mut ffi::Db,
    read: *mut ffi::ReadOptions,
    write: *mut ffi::WriteOptions,
}

impl Engine for RocksDb {
    fn open(folder: &Path) -> RocksDb {
        let path = c_path(folder);
        let mut error: *mut c_char = ptr::null_mut();
        // SAFETY: the options are made here, and freed when the database has copied them.
        unsafe {
            let options = ffi::rocksdb_options_create();
            ffi::rocksdb_options_set_create_if_missing(options, 1);
            ffi::rocksdb_options_set_compression(options, ffi::ROCKSDB_NO_COMPRESSION);
            ffi::rocksdb_options_set_write_buffer_size(options, CACHE_BYTES as usize / 4);
            let table = ffi::rocksdb_block_based_options_create();
            let cache = ffi::rocksdb_cache_create_lru(CACHE_BYTES as usize / 2);
            ffi::rocksdb_block_based_options_set_block_cache(table, cache);
            ffi::rocksdb_options_set_block_based_table_factory(options, table);
            let db = ffi::rocksdb_open(options, path.as_ptr(), &raw mut error);
            assert!(error.is_null(), "RocksDB opens");
            ffi::rocksdb_cache_destroy(cache);
            ffi::rocksdb_block_based_options_destroy(table);
            ffi::rocksdb_options_destroy(options);
            let (read, write) = (ffi::rocksdb_readoptions_create(), ffi::rocksdb_writeoptions_create());
            ffi::rocksdb_writeoptions_disable_WAL(write, 1);
            RocksDb { db, read, write }
        }
    }

    fn put(&mut self, key: &Key, value: &[u8]) {
        let mut error = ptr::null_mut();
        let (key_ptr, value_ptr) = (key.as_ptr().cast(), value.as_ptr().cast());
        // SAFETY: the handles are valid; RocksDB copies key and value.
        unsafe {
            ffi::rocksdb_put(self.db, self.write, key_ptr, key.len(), value_ptr, value.len(), &raw mut error);
        }
        assert!(error.is_null(), "RocksDB writes");
    }

    fn get(&mut self, key: &Key, buffer: &mut [u8]) -> usize {
        let (mut error, mut length) = (ptr::null_mut(), 0);
        // SAFETY: the handles are valid; the value stays until the slice is destroyed.
        unsafe {
            let slice =
                ffi::rocksdb_get_pinned(self.db, self.read, key.as_ptr().cast(), key.len(), &raw mut error);
            assert!(error.is_null() && !slice.is_null(), "RocksDB reads");
            let value = ffi::rocksdb_pinnableslice_value(slice, &raw mut length);
            ptr::copy_nonoverlapping(value.cast(), buffer[..length].as_mut_ptr(), length);
            ffi::rocksdb_pinnableslice_destroy(slice);
        }
        length
    }
}

impl Drop for RocksDb {
    fn drop(&mut self) {
        // SAFETY: all are valid, and nothing uses them after this.
        unsafe {
            ffi::rocksdb_close(self.db);
            ffi::rocksdb_readoptions_destroy(self.read);
            ffi::rocksdb_writeoptions_destroy(self.write);
        }
    }
}
