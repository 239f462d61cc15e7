//! The functions of `native/wiredtiger.c`.

use std::ffi::{c_char, c_int, c_void};

use super::super::opaque::opaque;

opaque! {
    Connection: "WT_CONNECTION",
    Session: "struct sb_wt_session",
}

// Codes that the functions give back.
pub const OK: c_int = 0;
pub const NOT_FOUND: c_int = 1;
pub const CONFLICT: c_int = 2;

/// The engine's words on its log.
#[repr(C)]
#[derive(Default)]
pub struct Account {
    pub log: c_int,
    pub prealloc: c_int,
    pub log_file_max: u64,
    pub log_sync: [c_char; 32],
}

unsafe extern "C" {
    pub fn sb_wt_message() -> *const c_char;
    pub fn sb_wt_version() -> *const c_char;
    pub fn sb_wt_code() -> *const c_void;

    pub fn sb_wt_open(home: *const c_char, config: *const c_char, out: *mut *mut Connection) -> c_int;
    pub fn sb_wt_close(connection: *mut Connection) -> c_int;
    pub fn sb_wt_create(connection: *mut Connection, config: *const c_char) -> c_int;
    pub fn sb_wt_session_open(connection: *mut Connection, out: *mut *mut Session) -> c_int;
    pub fn sb_wt_session_close(session: *mut Session) -> c_int;

    pub fn sb_wt_put(
        session: *mut Session,
        key: *const c_void,
        key_size: usize,
        value: *const c_void,
        value_size: usize,
    ) -> c_int;
    pub fn sb_wt_get(
        session: *mut Session,
        key: *const c_void,
        key_size: usize,
        value: *mut *const c_void,
        value_size: *mut usize,
    ) -> c_int;
    pub fn sb_wt_remove(session: *mut Session, key: *const c_void, key_size: usize) -> c_int;
    pub fn sb_wt_reset(session: *mut Session) -> c_int;
    pub fn sb_wt_seek(session: *mut Session, key: *const c_void, key_size: usize) -> c_int;
    pub fn sb_wt_next(session: *mut Session) -> c_int;
    pub fn sb_wt_record(
        session: *mut Session,
        key: *mut *const c_void,
        key_size: *mut usize,
        value: *mut *const c_void,
        value_size: *mut usize,
    ) -> c_int;

    pub fn sb_wt_begin(session: *mut Session) -> c_int;
    pub fn sb_wt_commit(session: *mut Session) -> c_int;
    pub fn sb_wt_roll_back(session: *mut Session) -> c_int;

    pub fn sb_wt_count(session: *mut Session, count: *mut u64) -> c_int;
    pub fn sb_wt_checkpoint(session: *mut Session) -> c_int;
    pub fn sb_wt_verify(connection: *mut Connection) -> c_int;
    pub fn sb_wt_compact(session: *mut Session) -> c_int;
    pub fn sb_wt_backup(
        connection: *mut Connection,
        copy: extern "C" fn(*mut c_void, *const c_char) -> c_int,
        context: *mut c_void,
    ) -> c_int;

    pub fn sb_wt_account(connection: *mut Connection, out: *mut Account) -> c_int;
    pub fn sb_wt_table(session: *mut Session, out: *mut *mut c_char) -> c_int;
    pub fn sb_wt_free(text: *mut c_char);
    pub fn sb_wt_cache(connection: *mut Connection, session: *mut Session, bytes: *mut u64) -> c_int;
}
