//! LevelDB by its C++ interface (`leveldb.cc`): its C interface allocates and copies each value twice.

use std::ffi::{c_char, c_int};
use std::path::Path;

use storebench_core::record::Key;

use super::{Engine, c_path};
use crate::CACHE_BYTES;

#[repr(C)]
struct Db {
    _private: [u8; 0],
}

unsafe extern "C" {
    fn direct_leveldb_open(folder: *const c_char, block_cache: usize, write_buffer: usize) -> *mut Db;
    fn direct_leveldb_close(db: *mut Db);
    fn direct_leveldb_put(
        db: *mut Db,
        key: *const u8,
        key_size: usize,
        value: *const u8,
        value_size: usize,
    ) -> c_int;
    fn direct_leveldb_get(db: *mut Db, key: *const u8, key_size: usize, value_size: *mut usize) -> *const u8;
}

pub struct LevelDb {
    db: *mut Db,
}

impl Engine for LevelDb {
    fn open(folder: &Path) -> LevelDb {
        let path = c_path(folder);
        let (blocks, memory_table) = (CACHE_BYTES as usize / 2, CACHE_BYTES as usize / 4);
        // SAFETY: the path ends with a zero byte.
        let db = unsafe { direct_leveldb_open(path.as_ptr(), blocks, memory_table) };
        assert!(!db.is_null(), "LevelDB opens");
        LevelDb { db }
    }

    fn put(&mut self, key: &Key, value: &[u8]) {
        // SAFETY: the database is open; LevelDB copies key and value.
        let code =
            unsafe { direct_leveldb_put(self.db, key.as_ptr(), key.len(), value.as_ptr(), value.len()) };
        assert_eq!(code, 0, "LevelDB writes");
    }

    /// An application in C++ has the value in a string, so it is not copied again.
    fn get(&mut self, key: &Key, _: &mut [u8]) -> usize {
        let mut length = 0;
        // SAFETY: the database is open.
        let value = unsafe { direct_leveldb_get(self.db, key.as_ptr(), key.len(), &raw mut length) };
        assert!(!value.is_null(), "LevelDB reads");
        std::hint::black_box(value);
        length
    }
}

impl Drop for LevelDb {
    fn drop(&mut self) {
        // SAFETY: the database is open, and nothing uses it after this.
        unsafe { direct_leveldb_close(self.db) };
    }
}
