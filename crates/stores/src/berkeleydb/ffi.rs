//! The functions of `native/berkeleydb.c`.

use std::ffi::{c_char, c_int, c_void};

#[repr(C)]
pub struct Db {
    _private: [u8; 0],
}

#[repr(C)]
pub struct Txn {
    _private: [u8; 0],
}

#[repr(C)]
pub struct Cursor {
    _private: [u8; 0],
}

// Codes that the functions give back.
pub const OK: c_int = 0;
pub const NOT_FOUND: c_int = 1;
pub const BUFFER_SMALL: c_int = 2;
pub const DEADLOCK: c_int = 3;

// Forms of a database.
pub const PLAIN: c_int = 0;
pub const CONCURRENT: c_int = 1;
pub const LOG_KEPT: c_int = 2;
pub const LOG_WRITTEN: c_int = 3;
pub const LOG_SYNCED: c_int = 4;

/// Zeros leave the engine's defaults.
#[repr(C)]
pub struct Config {
    pub home: *const c_char,
    pub file: *const c_char,
    pub mode: c_int,
    pub threads: c_int,
    pub cache: u64,
    pub page_size: u32,
    pub lg_max: u32,
    pub lg_bsize: u32,
    pub max_locks: u32,
    pub hash: c_int,
}

#[repr(C)]
#[derive(Default)]
pub struct Facts {
    pub cache: u64,
    pub page_size: u32,
    pub lg_max: u32,
    pub lg_bsize: u32,
    pub max_locks: u32,
    pub env_open_flags: u32,
    pub write_nosync: c_int,
    pub nosync: c_int,
    pub auto_remove: c_int,
    pub hash: c_int,
}

#[repr(C)]
#[derive(Default)]
pub struct Statistics {
    pub cache_hits: u64,
    pub cache_misses: u64,
    pub pages_written: u64,
    pub dirty_evictions: u64,
    pub log_writes: u64,
    pub log_syncs: u64,
    pub commits: u64,
}

unsafe extern "C" {
    pub fn sb_bdb_message() -> *const c_char;
    pub fn sb_bdb_version() -> *const c_char;
    pub fn sb_bdb_code() -> *const c_void;
    pub fn sb_bdb_open(config: *const Config, out: *mut *mut Db) -> c_int;
    pub fn sb_bdb_close(db: *mut Db) -> c_int;

    pub fn sb_bdb_put(
        db: *mut Db,
        txn: *mut Txn,
        key: *const c_void,
        key_size: u32,
        value: *const c_void,
        value_size: u32,
    ) -> c_int;
    pub fn sb_bdb_get(
        db: *mut Db,
        key: *const c_void,
        key_size: u32,
        buffer: *mut c_void,
        buffer_size: u32,
        value_size: *mut u32,
    ) -> c_int;
    pub fn sb_bdb_get_in(
        db: *mut Db,
        txn: *mut Txn,
        to_change: c_int,
        key: *const c_void,
        key_size: u32,
        buffer: *mut c_void,
        buffer_size: u32,
        value_size: *mut u32,
    ) -> c_int;
    pub fn sb_bdb_delete(db: *mut Db, txn: *mut Txn, key: *const c_void, key_size: u32) -> c_int;

    pub fn sb_bdb_begin(db: *mut Db, txn: *mut *mut Txn) -> c_int;
    pub fn sb_bdb_commit(txn: *mut Txn) -> c_int;
    pub fn sb_bdb_abort(txn: *mut Txn) -> c_int;

    pub fn sb_bdb_cursor_open(db: *mut Db, cursor: *mut *mut Cursor) -> c_int;
    pub fn sb_bdb_cursor_close(cursor: *mut Cursor) -> c_int;
    pub fn sb_bdb_cursor_get(
        cursor: *mut Cursor,
        seek: c_int,
        key: *mut c_void,
        key_room: u32,
        key_size: *mut u32,
        value: *mut c_void,
        value_room: u32,
        value_size: *mut u32,
    ) -> c_int;
    pub fn sb_bdb_count(db: *mut Db, count: *mut u64) -> c_int;

    pub fn sb_bdb_checkpoint(db: *mut Db, kbyte: u32) -> c_int;
    pub fn sb_bdb_verify(db: *mut Db) -> c_int;
    pub fn sb_bdb_compact(db: *mut Db) -> c_int;
    pub fn sb_bdb_backup(db: *mut Db, to: *const c_char) -> c_int;
    pub fn sb_bdb_facts(db: *mut Db, facts: *mut Facts) -> c_int;
    pub fn sb_bdb_flag_names(flags: u32, out: *mut c_char, size: usize);
    pub fn sb_bdb_statistics(db: *mut Db, statistics: *mut Statistics) -> c_int;
}
