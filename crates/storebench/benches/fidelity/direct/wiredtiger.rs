//! WiredTiger by its C interface (`wiredtiger.c`: its handles are structures of functions that only C knows).

use std::ffi::{CString, c_char, c_int};
use std::path::Path;

use storebench_core::record::Key;

use super::{Engine, c_path};
use crate::CACHE_BYTES;

#[repr(C)]
struct Db {
    _private: [u8; 0],
}

unsafe extern "C" {
    fn direct_wt_open(folder: *const c_char, config: *const c_char) -> *mut Db;
    fn direct_wt_close(db: *mut Db) -> c_int;
    fn direct_wt_put(
        db: *mut Db,
        key: *const u8,
        key_size: usize,
        value: *const u8,
        value_size: usize,
    ) -> c_int;
    fn direct_wt_get(
        db: *mut Db,
        key: *const u8,
        key_size: usize,
        buffer: *mut u8,
        value_size: *mut usize,
    ) -> c_int;
}

pub struct WiredTiger {
    db: *mut Db,
}

impl Engine for WiredTiger {
    fn open(folder: &Path) -> WiredTiger {
        let folder = c_path(folder);
        let config = format!("create,cache_size={CACHE_BYTES}");
        let config = CString::new(config).expect("it holds no zero byte");
        // SAFETY: both end with a zero byte.
        let db = unsafe { direct_wt_open(folder.as_ptr(), config.as_ptr()) };
        assert!(!db.is_null(), "WiredTiger opens");
        WiredTiger { db }
    }

    fn put(&mut self, key: &Key, value: &[u8]) {
        // SAFETY: the database is open; WiredTiger copies key and value.
        let code = unsafe { direct_wt_put(self.db, key.as_ptr(), key.len(), value.as_ptr(), value.len()) };
        assert_eq!(code, 0, "WiredTiger writes");
    }

    fn get(&mut self, key: &Key, buffer: &mut [u8]) -> usize {
        let mut length = 0;
        // SAFETY: the database is open; the buffer has room for every value.
        let code =
            unsafe { direct_wt_get(self.db, key.as_ptr(), key.len(), buffer.as_mut_ptr(), &raw mut length) };
        assert_eq!(code, 0, "WiredTiger reads");
        length
    }
}

impl Drop for WiredTiger {
    fn drop(&mut self) {
        // SAFETY: the database is open, and nothing uses it after this.
        unsafe { direct_wt_close(self.db) };
    }
}
