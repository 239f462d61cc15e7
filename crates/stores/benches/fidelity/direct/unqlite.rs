//! UnQLite by its C interface, in one transaction that is committed at the end.

use std::ffi::{c_int, c_uint, c_void};
use std::path::Path;
use std::ptr;

use storebench_core::record::Key;

use super::{Engine, c_path};
use crate::CACHE_BYTES;

#[allow(dead_code, reason = "the store calls more of it")]
#[path = "../../../src/unqlite/ffi.rs"]
mod ffi;
use self::ffi::{UNQLITE_CONFIG_MAX_PAGE_CACHE, UNQLITE_OK, UNQLITE_OPEN_CREATE};

pub struct UnQLite {
    db: *mut ffi::UnQLite,
}

const PAGE_BYTES: u64 = 4096;

impl Engine for UnQLite {
    fn open(folder: &Path) -> UnQLite {
        let path = c_path(&folder.join("records.unqlite"));
        let mut db = ptr::null_mut();
        // SAFETY: the path is a string; the handle is ours.
        let code = unsafe { ffi::unqlite_open(&raw mut db, path.as_ptr(), UNQLITE_OPEN_CREATE) };
        assert_eq!(code, UNQLITE_OK, "UnQLite opens");
        let pages = (CACHE_BYTES / PAGE_BYTES) as c_int;
        // SAFETY: the handle is open; this option takes one int.
        let code = unsafe { ffi::unqlite_config(db, UNQLITE_CONFIG_MAX_PAGE_CACHE, pages) };
        assert_eq!(code, UNQLITE_OK, "UnQLite takes a number of pages");
        UnQLite { db }
    }

    fn put(&mut self, key: &Key, value: &[u8]) {
        let (key_ptr, value_ptr) = (key.as_ptr().cast(), value.as_ptr().cast());
        // SAFETY: the handle is open; UnQLite copies key and value.
        let code =
            unsafe { ffi::unqlite_kv_store(self.db, key_ptr, key.len() as _, value_ptr, value.len() as _) };
        assert_eq!(code, UNQLITE_OK, "UnQLite writes");
    }

    fn get(&mut self, key: &Key, buffer: &mut [u8]) -> usize {
        let mut value = Value { start: buffer.as_mut_ptr(), room: buffer.len(), length: 0 };
        let (key_ptr, target) = (key.as_ptr().cast(), (&raw mut value).cast());
        // SAFETY: the handle is open; `take` gets the value, which lives until the call returns.
        let code =
            unsafe { ffi::unqlite_kv_fetch_callback(self.db, key_ptr, key.len() as _, Some(take), target) };
        assert_eq!(code, UNQLITE_OK, "UnQLite reads");
        value.length
    }
}

struct Value {
    start: *mut u8,
    room: usize,
    length: usize,
}

/// Receives a value piece by piece, as it lies on the pages. (`unqlite_kv_fetch` is slower: it does the same with its own callback.)
unsafe extern "C" fn take(piece: *const c_void, length: c_uint, value: *mut c_void) -> c_int {
    // SAFETY: the engine hands on the pointer that it was given, and shows `length` bytes.
    unsafe {
        let value = &mut *value.cast::<Value>();
        assert!(value.length + length as usize <= value.room, "a value is longer than what was written");
        ptr::copy_nonoverlapping(piece.cast(), value.start.add(value.length), length as usize);
        value.length += length as usize;
    }
    UNQLITE_OK
}

impl Drop for UnQLite {
    fn drop(&mut self) {
        // SAFETY: the handle is open, and nothing uses it after this.
        unsafe { ffi::unqlite_close(self.db) };
    }
}
