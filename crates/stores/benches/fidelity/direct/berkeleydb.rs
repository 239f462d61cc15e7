//! Berkeley DB by its C interface (`berkeleydb.c`: its handles are structures of functions that only C knows).

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
    fn direct_bdb_open(file: *const c_char, cache: u32) -> *mut Db;
    fn direct_bdb_close(db: *mut Db) -> c_int;
    fn direct_bdb_put(db: *mut Db, key: *const u8, key_size: u32, value: *const u8, value_size: u32)
    -> c_int;
    fn direct_bdb_get(
        db: *mut Db,
        key: *const u8,
        key_size: u32,
        buffer: *mut u8,
        room: u32,
        value_size: *mut u32,
    ) -> c_int;
}

pub struct BerkeleyDb {
    db: *mut Db,
}

impl Engine for BerkeleyDb {
    fn open(folder: &Path) -> BerkeleyDb {
        let file = c_path(&folder.join("records.db"));
        // The engine adds a quarter for its overhead, and a little for rounding.
        let cache = (CACHE_BYTES as u32 - (8 << 10)) / 5 * 4;
        // SAFETY: the path ends with a zero byte.
        let db = unsafe { direct_bdb_open(file.as_ptr(), cache) };
        assert!(!db.is_null(), "Berkeley DB opens");
        BerkeleyDb { db }
    }

    fn put(&mut self, key: &Key, value: &[u8]) {
        let (key_size, value_size) = (key.len() as u32, value.len() as u32);
        // SAFETY: the database is open; Berkeley DB copies key and value.
        let code = unsafe { direct_bdb_put(self.db, key.as_ptr(), key_size, value.as_ptr(), value_size) };
        assert_eq!(code, 0, "Berkeley DB writes");
    }

    fn get(&mut self, key: &Key, buffer: &mut [u8]) -> usize {
        let (key_size, room) = (key.len() as u32, buffer.len() as u32);
        let mut length = 0;
        // SAFETY: the database is open; Berkeley DB writes no more than `room` bytes.
        let code = unsafe {
            direct_bdb_get(self.db, key.as_ptr(), key_size, buffer.as_mut_ptr(), room, &raw mut length)
        };
        assert_eq!(code, 0, "Berkeley DB reads");
        length as usize
    }
}

impl Drop for BerkeleyDb {
    fn drop(&mut self) {
        // SAFETY: the database is open, and nothing uses it after this.
        unsafe { direct_bdb_close(self.db) };
    }
}
