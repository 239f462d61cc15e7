//! The part of UnQLite's C interface (`unqlite.h`, of version 1.1.9) that the store uses.

use std::ffi::{c_char, c_int, c_longlong, c_uint, c_void};

use super::super::opaque::opaque;

opaque! {
    UnQLite: "unqlite",
    Cursor: "unqlite_kv_cursor",
}

pub const UNQLITE_OK: c_int = 0;
pub const UNQLITE_NOTFOUND: c_int = -6;
pub const UNQLITE_OPEN_CREATE: c_uint = 0x4;
pub const UNQLITE_CONFIG_MAX_PAGE_CACHE: c_int = 2;
pub const UNQLITE_CONFIG_ERR_LOG: c_int = 3;
pub const UNQLITE_LIB_CONFIG_PAGE_SIZE: c_int = 8;

/// Receives a piece of a value, its length, and the caller's pointer.
pub type Consumer = unsafe extern "C" fn(*const c_void, c_uint, *mut c_void) -> c_int;

unsafe extern "C" {
    pub fn unqlite_lib_version() -> *const c_char;
    pub fn unqlite_lib_config(option: c_int, ...) -> c_int;
    pub fn unqlite_lib_shutdown() -> c_int;

    pub fn unqlite_open(db: *mut *mut UnQLite, name: *const c_char, mode: c_uint) -> c_int;
    pub fn unqlite_config(db: *mut UnQLite, option: c_int, ...) -> c_int;
    pub fn unqlite_close(db: *mut UnQLite) -> c_int;
    pub fn unqlite_commit(db: *mut UnQLite) -> c_int;
    pub fn unqlite_rollback(db: *mut UnQLite) -> c_int;

    pub fn unqlite_kv_store(
        db: *mut UnQLite,
        key: *const c_void,
        key_len: c_int,
        value: *const c_void,
        value_len: c_longlong,
    ) -> c_int;
    pub fn unqlite_kv_fetch_callback(
        db: *mut UnQLite,
        key: *const c_void,
        key_len: c_int,
        consumer: Option<Consumer>,
        data: *mut c_void,
    ) -> c_int;
    pub fn unqlite_kv_delete(db: *mut UnQLite, key: *const c_void, key_len: c_int) -> c_int;

    pub fn unqlite_kv_cursor_init(db: *mut UnQLite, cursor: *mut *mut Cursor) -> c_int;
    pub fn unqlite_kv_cursor_release(db: *mut UnQLite, cursor: *mut Cursor) -> c_int;
    pub fn unqlite_kv_cursor_first_entry(cursor: *mut Cursor) -> c_int;
    pub fn unqlite_kv_cursor_valid_entry(cursor: *mut Cursor) -> c_int;
    pub fn unqlite_kv_cursor_next_entry(cursor: *mut Cursor) -> c_int;
}
