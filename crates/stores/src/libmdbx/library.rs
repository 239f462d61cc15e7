//! libmdbx's calls.

use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_uint, c_void};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr;

use storebench_core::store::{Result, StoreError};

use super::ffi;
use super::structures::{MDBX_chk_callbacks_t, MDBX_envinfo, MDBX_stat, MDBX_val, mdbx_version};
use crate::mapped::{Environment, Library, calls, check};
use crate::support::replace_by_copy;

/// Limits the library to warnings. It logs more from its loading on, even in every process that is started: under a lock that
/// another thread may hold during the fork, where the child then waits for ever.
pub fn make_quiet() {
    const WARNINGS: c_int = 2;
    const UNCHANGED: c_int = -1;
    unsafe extern "C" {
        // Its logger takes a `va_list`, for which Rust has no name.
        fn mdbx_setup_debug(level: c_int, flags: c_int, logger: *const c_void) -> c_int;
    }
    // SAFETY: the flags and the logger stay as they are, which -1 stands for.
    unsafe { mdbx_setup_debug(WARNINGS, UNCHANGED, ptr::without_provenance(usize::MAX)) };
}

const FILE: &str = "mdbx.dat";

pub struct Mdbx;

pub fn version() -> String {
    // SAFETY: a constant of the library.
    let version = unsafe { &mdbx_version };
    format!("{}.{}.{}", version.major, version.minor, version.patch)
}

/// Sizes in bytes; -1 is the library's own choice.
pub struct Sizes {
    pub upper: isize,
    pub growth_step: isize,
    pub page: isize,
    /// Bytes that commits write before a sync, if not synced at once; 0: until the file would have to grow.
    pub unsynced: u64,
}

/// Opens or makes an environment that nothing in this process has open. Read transactions belong to their session, not their thread.
pub fn open(directory: &Path, flags: c_uint, sizes: &Sizes, max_readers: u64) -> Result<Environment<Mdbx>> {
    make_quiet();
    let path = CString::new(directory.as_os_str().as_encoded_bytes()).map_err(StoreError::engine)?;
    let flags = flags | ffi::MDBX_NOSTICKYTHREADS;
    let Sizes { upper, growth_step, page, unsynced } = *sizes;
    // SAFETY: a place for the new handle, which was just made when it is opened; the path ends in a zero byte.
    unsafe {
        Environment::new(
            |env| ffi::mdbx_env_create(env),
            |env| {
                check::<Mdbx>(ffi::mdbx_env_set_geometry(env, -1, -1, upper, growth_step, -1, page))?;
                check::<Mdbx>(ffi::mdbx_env_set_option(env, ffi::MDBX_opt_max_readers, max_readers))?;
                check::<Mdbx>(ffi::mdbx_env_open(env, path.as_ptr(), flags, 0o600))?;
                check::<Mdbx>(ffi::mdbx_env_set_option(env, ffi::MDBX_opt_sync_bytes, unsynced))
            },
        )
    }
}

/// In bytes; `None` if it has no such pages.
pub fn max_key_bytes(page: isize) -> Option<usize> {
    // SAFETY: it only calculates.
    usize::try_from(unsafe { ffi::mdbx_limits_keysize_max(page, 0) }).ok()
}

impl Environment<Mdbx> {
    /// Replaces the file by a compact copy. Afterwards it can only be closed.
    pub fn replace_by_compact_copy(&self) -> Result<()> {
        let mut path = ptr::null();
        // SAFETY: the environment is open; the path is its own, and copied here.
        let folder = unsafe {
            check::<Mdbx>(ffi::mdbx_env_get_path(self.as_ptr(), &mut path))?;
            PathBuf::from(OsStr::from_bytes(CStr::from_ptr(path).to_bytes()))
        };
        replace_by_copy(&folder, FILE, |folder_of_copy| self.copy(folder_of_copy, ffi::MDBX_CP_COMPACT))
    }

    pub fn copy(&self, folder: &Path, flags: c_uint) -> Result<()> {
        let target = folder.join(FILE);
        let target = CString::new(target.as_os_str().as_encoded_bytes()).map_err(StoreError::engine)?;
        // SAFETY: the environment is open; the path ends in a zero byte.
        check::<Mdbx>(unsafe { ffi::mdbx_env_copy(self.as_ptr(), target.as_ptr(), flags) })
    }

    pub fn flags(&self) -> Result<c_uint> {
        let mut flags = 0;
        // SAFETY: the environment is open.
        check::<Mdbx>(unsafe { ffi::mdbx_env_get_flags(self.as_ptr(), &mut flags) })?;
        Ok(flags)
    }

    pub fn unsynced(&self) -> Result<u64> {
        let mut bytes = 0;
        // SAFETY: the environment is open.
        check::<Mdbx>(unsafe {
            ffi::mdbx_env_get_option(self.as_ptr(), ffi::MDBX_opt_sync_bytes, &mut bytes)
        })?;
        Ok(bytes)
    }

    pub fn info(&self) -> Result<MDBX_envinfo> {
        let mut info = MDBX_envinfo::default();
        // SAFETY: the environment is open; the library writes as much as the given size, or refuses it.
        check::<Mdbx>(unsafe {
            ffi::mdbx_env_info_ex(self.as_ptr(), ptr::null(), &mut info, size_of::<MDBX_envinfo>())
        })?;
        Ok(info)
    }

    pub fn statistics(&self) -> Result<MDBX_stat> {
        let mut statistics = MDBX_stat::default();
        // SAFETY: the transaction is live; as in `info`.
        let code = self.with_reader(|txn, database| unsafe {
            ffi::mdbx_dbi_stat(txn, database, &mut statistics, size_of::<MDBX_stat>())
        })?;
        check::<Mdbx>(code)?;
        Ok(statistics)
    }

    pub fn verify(&self) -> Result<()> {
        let callbacks = MDBX_chk_callbacks_t::default();
        let mut context = MaybeUninit::zeroed();
        // SAFETY: the environment is open, none of the functions has to be there, and a context of zeroes is what the library
        // asks for; it fills it in.
        let (code, problems) = unsafe {
            let (flags, verbosity) = (ffi::MDBX_CHK_READWRITE, ffi::MDBX_chk_error);
            let code =
                ffi::mdbx_env_chk(self.as_ptr(), &callbacks, context.as_mut_ptr(), flags, verbosity, 0);
            (code, context.assume_init_ref().result.total_problems)
        };
        check::<Mdbx>(code)?;
        match problems {
            0 => Ok(()),
            problems => Err(StoreError::Engine(format!("mdbx_env_chk finds problems: {problems}"))),
        }
    }
}

// SAFETY: these are libmdbx's functions, whose documentation promises what the trait asks for: with `MDBX_NOSTICKYTHREADS`,
// transactions belong to no thread.
unsafe impl Library for Mdbx {
    type Env = ffi::MDBX_env;
    type Txn = ffi::MDBX_txn;
    type Cursor = ffi::MDBX_cursor;
    type Val = MDBX_val;

    const NAME: &'static str = "libmdbx";
    const KEYS: &'static str = "up to 2022 bytes, with pages of 4 KiB";

    const NOT_FOUND: c_int = ffi::MDBX_NOTFOUND;
    const KEY_EXISTS: c_int = ffi::MDBX_KEYEXIST;
    const BAD_SIZE: c_int = ffi::MDBX_BAD_VALSIZE;

    const READ_ONLY: c_uint = ffi::MDBX_RDONLY;
    const NO_OVERWRITE: c_uint = ffi::MDBX_NOOVERWRITE;
    const APPEND: c_uint = ffi::MDBX_APPEND;
    const FIRST: c_uint = ffi::MDBX_FIRST;
    const SET_RANGE: c_uint = ffi::MDBX_SET_RANGE;
    const NEXT: c_uint = ffi::MDBX_NEXT;

    fn val(bytes: &[u8]) -> Self::Val {
        MDBX_val { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() }
    }

    fn parts(val: &Self::Val) -> (*const u8, usize) {
        (val.iov_base.cast(), val.iov_len)
    }

    calls! {
        fn text(code: c_int) -> *const c_char = ffi::mdbx_strerror(code);
        fn env_sync(env: *mut Self::Env) -> c_int = match ffi::mdbx_env_sync_ex(env, true, false) {
            ffi::MDBX_RESULT_TRUE => 0,
            code => code,
        };
        fn env_close(env: *mut Self::Env) = { ffi::mdbx_env_close_ex(env, false); };
        fn begin(env: *mut Self::Env, flags: c_uint, txn: *mut *mut Self::Txn) -> c_int =
            ffi::mdbx_txn_begin_ex(env, ptr::null_mut(), flags as c_int, txn, ptr::null_mut());
        fn commit(txn: *mut Self::Txn) -> c_int = ffi::mdbx_txn_commit_ex(txn, ptr::null_mut());
        fn abort(txn: *mut Self::Txn) = { ffi::mdbx_txn_abort_ex(txn, ptr::null_mut()); };
        fn reset(txn: *mut Self::Txn) = { ffi::mdbx_txn_reset(txn); };
        fn renew(txn: *mut Self::Txn) -> c_int = ffi::mdbx_txn_renew(txn);
        fn open_unnamed(txn: *mut Self::Txn, database: *mut c_uint) -> c_int =
            ffi::mdbx_dbi_open(txn, ptr::null(), 0, database);
        fn put(
            txn: *mut Self::Txn,
            database: c_uint,
            key: *mut Self::Val,
            value: *mut Self::Val,
            flags: c_uint
        ) -> c_int =
            ffi::mdbx_put(txn, database, key, value, flags);
        fn get(txn: *mut Self::Txn, database: c_uint, key: *mut Self::Val, value: *mut Self::Val) -> c_int =
            ffi::mdbx_get(txn, database, key, value);
        fn delete(txn: *mut Self::Txn, database: c_uint, key: *mut Self::Val) -> c_int =
            ffi::mdbx_del(txn, database, key, ptr::null());
        fn cursor_open(txn: *mut Self::Txn, database: c_uint, cursor: *mut *mut Self::Cursor) -> c_int =
            ffi::mdbx_cursor_open(txn, database, cursor);
        fn cursor_renew(txn: *mut Self::Txn, cursor: *mut Self::Cursor) -> c_int =
            ffi::mdbx_cursor_renew(txn, cursor);
        fn cursor_get(
            cursor: *mut Self::Cursor,
            key: *mut Self::Val,
            value: *mut Self::Val,
            step: c_uint
        ) -> c_int =
            ffi::mdbx_cursor_get(cursor, key, value, step);
        fn cursor_close(cursor: *mut Self::Cursor) = ffi::mdbx_cursor_close(cursor);
    }
}
