//! The part of libmdbx's C interface (`mdbx.h`, of version 0.14.4) that the store uses.
#![allow(non_camel_case_types, non_upper_case_globals, reason = "these are the header's names")]

use std::ffi::{c_char, c_int, c_uint, c_void};

use libc::mode_t;

use super::super::opaque::opaque;
use super::structures::{MDBX_chk_callbacks_t, MDBX_chk_context_t, MDBX_envinfo, MDBX_stat, MDBX_val};

opaque! {
    MDBX_env: "MDBX_env",
    MDBX_txn: "MDBX_txn",
    MDBX_cursor: "MDBX_cursor",
    MDBX_commit_latency: "MDBX_commit_latency",
}

pub const MDBX_RESULT_TRUE: c_int = -1;
pub const MDBX_KEYEXIST: c_int = -30799;
pub const MDBX_NOTFOUND: c_int = -30798;
pub const MDBX_BAD_VALSIZE: c_int = -30781;

pub const MDBX_RDONLY: c_uint = 0x20000;
pub const MDBX_WRITEMAP: c_uint = 0x80000;
pub const MDBX_NOSTICKYTHREADS: c_uint = 0x200000;
pub const MDBX_NORDAHEAD: c_uint = 0x800000;
pub const MDBX_NOMEMINIT: c_uint = 0x1000000;
pub const MDBX_LIFORECLAIM: c_uint = 0x4000000;
pub const MDBX_NOMETASYNC: c_uint = 0x40000;
pub const MDBX_SAFE_NOSYNC: c_uint = 0x10000;
pub const MDBX_UTTERLY_NOSYNC: c_uint = 0x110000;

pub const MDBX_NOOVERWRITE: c_uint = 0x10;
pub const MDBX_APPEND: c_uint = 0x20000;
pub const MDBX_FIRST: c_uint = 0;
pub const MDBX_NEXT: c_uint = 8;
pub const MDBX_SET_RANGE: c_uint = 17;
pub const MDBX_opt_max_readers: c_uint = 1;
pub const MDBX_opt_sync_bytes: c_uint = 2;
pub const MDBX_CP_COMPACT: c_uint = 1;
pub const MDBX_CHK_READWRITE: c_uint = 1;
pub const MDBX_chk_error: c_uint = 0x11;

unsafe extern "C" {
    pub fn mdbx_strerror(code: c_int) -> *const c_char;
    pub fn mdbx_limits_keysize_max(page: isize, flags: c_uint) -> isize;

    pub fn mdbx_env_create(env: *mut *mut MDBX_env) -> c_int;
    pub fn mdbx_env_set_option(env: *mut MDBX_env, option: c_uint, value: u64) -> c_int;
    pub fn mdbx_env_get_option(env: *const MDBX_env, option: c_uint, value: *mut u64) -> c_int;
    pub fn mdbx_env_set_geometry(
        env: *mut MDBX_env,
        lower: isize,
        now: isize,
        upper: isize,
        growth_step: isize,
        shrink_threshold: isize,
        page: isize,
    ) -> c_int;
    pub fn mdbx_env_open(env: *mut MDBX_env, path: *const c_char, flags: c_uint, mode: mode_t) -> c_int;
    pub fn mdbx_env_get_flags(env: *const MDBX_env, flags: *mut c_uint) -> c_int;
    pub fn mdbx_env_info_ex(
        env: *const MDBX_env,
        txn: *const MDBX_txn,
        info: *mut MDBX_envinfo,
        bytes: usize,
    ) -> c_int;
    pub fn mdbx_env_sync_ex(env: *mut MDBX_env, force: bool, nonblock: bool) -> c_int;
    pub fn mdbx_env_chk(
        env: *mut MDBX_env,
        callbacks: *const MDBX_chk_callbacks_t,
        context: *mut MDBX_chk_context_t,
        flags: c_uint,
        verbosity: c_uint,
        timeout: c_uint,
    ) -> c_int;
    pub fn mdbx_env_copy(env: *mut MDBX_env, to: *const c_char, flags: c_uint) -> c_int;
    pub fn mdbx_env_close_ex(env: *mut MDBX_env, dont_sync: bool) -> c_int;

    pub fn mdbx_txn_begin_ex(
        env: *mut MDBX_env,
        parent: *mut MDBX_txn,
        flags: c_int,
        txn: *mut *mut MDBX_txn,
        context: *mut c_void,
    ) -> c_int;
    pub fn mdbx_txn_commit_ex(txn: *mut MDBX_txn, latency: *mut MDBX_commit_latency) -> c_int;
    pub fn mdbx_txn_abort_ex(txn: *mut MDBX_txn, latency: *mut MDBX_commit_latency) -> c_int;
    pub fn mdbx_txn_reset(txn: *mut MDBX_txn) -> c_int;
    pub fn mdbx_txn_renew(txn: *mut MDBX_txn) -> c_int;

    pub fn mdbx_dbi_open(
        txn: *mut MDBX_txn,
        name: *const c_char,
        flags: c_uint,
        database: *mut c_uint,
    ) -> c_int;
    pub fn mdbx_dbi_stat(txn: *const MDBX_txn, database: c_uint, stat: *mut MDBX_stat, bytes: usize)
    -> c_int;
    pub fn mdbx_get(
        txn: *const MDBX_txn,
        database: c_uint,
        key: *const MDBX_val,
        value: *mut MDBX_val,
    ) -> c_int;
    pub fn mdbx_put(
        txn: *mut MDBX_txn,
        database: c_uint,
        key: *const MDBX_val,
        value: *mut MDBX_val,
        flags: c_uint,
    ) -> c_int;
    pub fn mdbx_del(
        txn: *mut MDBX_txn,
        database: c_uint,
        key: *const MDBX_val,
        value: *const MDBX_val,
    ) -> c_int;

    pub fn mdbx_cursor_open(txn: *mut MDBX_txn, database: c_uint, cursor: *mut *mut MDBX_cursor) -> c_int;
    pub fn mdbx_cursor_renew(txn: *mut MDBX_txn, cursor: *mut MDBX_cursor) -> c_int;
    pub fn mdbx_cursor_get(
        cursor: *mut MDBX_cursor,
        key: *mut MDBX_val,
        value: *mut MDBX_val,
        step: c_uint,
    ) -> c_int;
    pub fn mdbx_cursor_close(cursor: *mut MDBX_cursor);
}
