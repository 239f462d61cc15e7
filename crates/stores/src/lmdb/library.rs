//! LMDB's calls.

use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_uint};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr;

use lmdb_master_sys as ffi;
use storebench_core::store::{Result, StoreError};

use crate::mapped::{Environment, Library, calls, check};
use crate::support::replace_by_copy;

pub const FILE: &str = "data.mdb";

pub struct Lmdb;

pub fn version() -> String {
    let (mut major, mut minor, mut patch) = (0, 0, 0);
    // SAFETY: three places for three numbers; the text that is returned as well is not used.
    unsafe { ffi::mdb_version(&mut major, &mut minor, &mut patch) };
    format!("{major}.{minor}.{patch}")
}

/// Opens or makes an environment that nothing in this process has open. `map_size` in bytes is the most that the file can grow
/// to. Read transactions belong to their session, not their thread.
pub fn open(
    directory: &Path,
    flags: c_uint,
    map_size: usize,
    max_readers: c_uint,
) -> Result<Environment<Lmdb>> {
    let path = CString::new(directory.as_os_str().as_encoded_bytes()).map_err(StoreError::engine)?;
    // SAFETY: a place for the new handle, which was just made when it is opened; the path ends in a zero byte.
    unsafe {
        Environment::new(
            |env| ffi::mdb_env_create(env),
            |env| {
                check::<Lmdb>(ffi::mdb_env_set_mapsize(env, map_size as ffi::mdb_size_t))?;
                check::<Lmdb>(ffi::mdb_env_set_maxreaders(env, max_readers))?;
                check::<Lmdb>(ffi::mdb_env_open(env, path.as_ptr(), flags | ffi::MDB_NOTLS, 0o600))
            },
        )
    }
}

impl Environment<Lmdb> {
    pub fn flags(&self) -> Result<c_uint> {
        let mut flags = 0;
        // SAFETY: the environment is open.
        check::<Lmdb>(unsafe { ffi::mdb_env_get_flags(self.as_ptr(), &mut flags) })?;
        Ok(flags)
    }

    pub fn info(&self) -> Result<ffi::MDB_envinfo> {
        let mut info = MaybeUninit::uninit();
        // SAFETY: the environment is open, and fills in the structure when it reports success.
        unsafe {
            check::<Lmdb>(ffi::mdb_env_info(self.as_ptr(), info.as_mut_ptr()))?;
            Ok(info.assume_init())
        }
    }

    pub fn statistics(&self) -> Result<ffi::MDB_stat> {
        let mut statistics = MaybeUninit::uninit();
        // SAFETY: the environment is open, and fills in the structure when it reports success.
        unsafe {
            check::<Lmdb>(ffi::mdb_env_stat(self.as_ptr(), statistics.as_mut_ptr()))?;
            Ok(statistics.assume_init())
        }
    }

    /// Replaces the file by a compact copy. Afterwards it can only be closed.
    pub fn replace_by_compact_copy(&self) -> Result<()> {
        let mut path = ptr::null();
        // SAFETY: the environment is open; the path is its own, and copied here.
        let folder = unsafe {
            check::<Lmdb>(ffi::mdb_env_get_path(self.as_ptr(), &mut path))?;
            PathBuf::from(OsStr::from_bytes(CStr::from_ptr(path).to_bytes()))
        };
        replace_by_copy(&folder, FILE, |folder_of_copy| self.copy(folder_of_copy, ffi::MDB_CP_COMPACT))
    }

    pub fn copy(&self, folder: &Path, flags: c_uint) -> Result<()> {
        let target = CString::new(folder.as_os_str().as_encoded_bytes()).map_err(StoreError::engine)?;
        // SAFETY: the environment is open; the path ends in a zero byte.
        check::<Lmdb>(unsafe { ffi::mdb_env_copy2(self.as_ptr(), target.as_ptr(), flags) })
    }
}

// SAFETY: these are LMDB's functions, whose documentation promises what the trait asks for: with `MDB_NOTLS`, transactions
// belong to no thread.
unsafe impl Library for Lmdb {
    type Env = ffi::MDB_env;
    type Txn = ffi::MDB_txn;
    type Cursor = ffi::MDB_cursor;
    type Val = ffi::MDB_val;

    const NAME: &'static str = "LMDB";
    const KEYS: &'static str = "1 to 511 bytes";

    const NOT_FOUND: c_int = ffi::MDB_NOTFOUND;
    const KEY_EXISTS: c_int = ffi::MDB_KEYEXIST;
    const BAD_SIZE: c_int = ffi::MDB_BAD_VALSIZE;

    const READ_ONLY: c_uint = ffi::MDB_RDONLY;
    const NO_OVERWRITE: c_uint = ffi::MDB_NOOVERWRITE;
    const APPEND: c_uint = ffi::MDB_APPEND;
    const FIRST: c_uint = ffi::MDB_FIRST;
    const SET_RANGE: c_uint = ffi::MDB_SET_RANGE;
    const NEXT: c_uint = ffi::MDB_NEXT;

    fn val(bytes: &[u8]) -> Self::Val {
        ffi::MDB_val { mv_size: bytes.len(), mv_data: bytes.as_ptr().cast_mut().cast() }
    }

    fn parts(val: &Self::Val) -> (*const u8, usize) {
        (val.mv_data.cast(), val.mv_size)
    }

    calls! {
        fn text(code: c_int) -> *const c_char = ffi::mdb_strerror(code);
        fn env_sync(env: *mut Self::Env) -> c_int = ffi::mdb_env_sync(env, 1);
        fn env_close(env: *mut Self::Env) = ffi::mdb_env_close(env);
        fn begin(env: *mut Self::Env, flags: c_uint, txn: *mut *mut Self::Txn) -> c_int =
            ffi::mdb_txn_begin(env, ptr::null_mut(), flags, txn);
        fn commit(txn: *mut Self::Txn) -> c_int = ffi::mdb_txn_commit(txn);
        fn abort(txn: *mut Self::Txn) = ffi::mdb_txn_abort(txn);
        fn reset(txn: *mut Self::Txn) = ffi::mdb_txn_reset(txn);
        fn renew(txn: *mut Self::Txn) -> c_int = ffi::mdb_txn_renew(txn);
        fn open_unnamed(txn: *mut Self::Txn, database: *mut c_uint) -> c_int =
            ffi::mdb_dbi_open(txn, ptr::null(), 0, database);
        fn put(
            txn: *mut Self::Txn,
            database: c_uint,
            key: *mut Self::Val,
            value: *mut Self::Val,
            flags: c_uint
        ) -> c_int =
            ffi::mdb_put(txn, database, key, value, flags);
        fn get(txn: *mut Self::Txn, database: c_uint, key: *mut Self::Val, value: *mut Self::Val) -> c_int =
            ffi::mdb_get(txn, database, key, value);
        fn delete(txn: *mut Self::Txn, database: c_uint, key: *mut Self::Val) -> c_int =
            ffi::mdb_del(txn, database, key, ptr::null_mut());
        fn cursor_open(txn: *mut Self::Txn, database: c_uint, cursor: *mut *mut Self::Cursor) -> c_int =
            ffi::mdb_cursor_open(txn, database, cursor);
        fn cursor_renew(txn: *mut Self::Txn, cursor: *mut Self::Cursor) -> c_int =
            ffi::mdb_cursor_renew(txn, cursor);
        fn cursor_get(
            cursor: *mut Self::Cursor,
            key: *mut Self::Val,
            value: *mut Self::Val,
            step: c_uint
        ) -> c_int =
            ffi::mdb_cursor_get(cursor, key, value, step);
        fn cursor_close(cursor: *mut Self::Cursor) = ffi::mdb_cursor_close(cursor);
    }
}
