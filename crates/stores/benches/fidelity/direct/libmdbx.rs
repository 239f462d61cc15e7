//! libmdbx by its C interface, with a read transaction that is kept and renewed.

use std::path::Path;
use std::ptr;

use storebench_core::record::Key;

use super::{Engine, c_path};

#[allow(dead_code, reason = "the store calls more of it")]
#[path = "../../../src/libmdbx/ffi.rs"]
mod ffi;
#[allow(dead_code, reason = "the store looks into more of them")]
#[path = "../../../src/libmdbx/structures.rs"]
mod structures;
use self::structures::MDBX_val;

pub struct Libmdbx {
    env: *mut ffi::MDBX_env,
    reader: *mut ffi::MDBX_txn,
    database: u32,
}

fn check(code: i32) {
    assert_eq!(code, 0, "libmdbx");
}

fn value_of(bytes: &[u8]) -> MDBX_val {
    MDBX_val { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() }
}

impl Libmdbx {
    /// Begins a transaction.
    ///
    /// # Safety
    /// The environment is open.
    unsafe fn begin(env: *mut ffi::MDBX_env, flags: u32) -> *mut ffi::MDBX_txn {
        let mut txn = ptr::null_mut();
        // SAFETY: the caller's promise.
        check(unsafe {
            ffi::mdbx_txn_begin_ex(env, ptr::null_mut(), flags as i32, &mut txn, ptr::null_mut())
        });
        txn
    }

    fn write<'r>(&mut self, records: impl Iterator<Item = (&'r Key, &'r [u8])>) {
        // SAFETY: the environment is open; the transaction ends here; the library copies keys and values.
        unsafe {
            let txn = Libmdbx::begin(self.env, 0);
            for (key, value) in records {
                check(ffi::mdbx_put(txn, self.database, &value_of(key), &mut value_of(value), 0));
            }
            check(ffi::mdbx_txn_commit_ex(txn, ptr::null_mut()));
        }
    }
}

impl Engine for Libmdbx {
    fn open(folder: &Path) -> Libmdbx {
        let path = c_path(folder);
        let flags = ffi::MDBX_SAFE_NOSYNC | ffi::MDBX_NOSTICKYTHREADS;
        let mut mdbx = Libmdbx { env: ptr::null_mut(), reader: ptr::null_mut(), database: 0 };
        // SAFETY: the handles are made in the order in which they need one another; the reader rests until its first use.
        unsafe {
            check(ffi::mdbx_env_create(&mut mdbx.env));
            check(ffi::mdbx_env_set_geometry(mdbx.env, -1, -1, 1 << 40, -1, -1, -1));
            check(ffi::mdbx_env_open(mdbx.env, path.as_ptr(), flags, 0o600));
            let txn = Libmdbx::begin(mdbx.env, 0);
            check(ffi::mdbx_dbi_open(txn, ptr::null(), 0, &mut mdbx.database));
            check(ffi::mdbx_txn_commit_ex(txn, ptr::null_mut()));
            mdbx.reader = Libmdbx::begin(mdbx.env, ffi::MDBX_RDONLY);
            check(ffi::mdbx_txn_reset(mdbx.reader));
        }
        mdbx
    }

    fn put(&mut self, key: &Key, value: &[u8]) {
        self.write([(key, value)].into_iter());
    }

    fn get(&mut self, key: &Key, buffer: &mut [u8]) -> usize {
        let (key, mut value) = (value_of(key), value_of(&[]));
        // SAFETY: the reader rests, and does again afterwards; in between, the value stays where libmdbx maps it.
        unsafe {
            check(ffi::mdbx_txn_renew(self.reader));
            check(ffi::mdbx_get(self.reader, self.database, &key, &mut value));
            let target = buffer[..value.iov_len].as_mut_ptr();
            ptr::copy_nonoverlapping(value.iov_base.cast(), target, value.iov_len);
            check(ffi::mdbx_txn_reset(self.reader));
        }
        value.iov_len
    }

    fn put_all(&mut self, records: &[(Key, Vec<u8>)]) {
        self.write(records.iter().map(|(key, value)| (key, &value[..])));
    }
}

impl Drop for Libmdbx {
    fn drop(&mut self) {
        // SAFETY: both are open, and nothing uses them after this.
        unsafe {
            ffi::mdbx_txn_abort_ex(self.reader, ptr::null_mut());
            ffi::mdbx_env_close_ex(self.env, true);
        }
    }
}
