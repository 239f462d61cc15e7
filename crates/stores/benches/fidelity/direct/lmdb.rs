//! LMDB by its C interface, with a read transaction that is kept and renewed, as its documentation recommends.

use std::path::Path;
use std::ptr;

use lmdb_master_sys as ffi;
use storebench_core::record::Key;

use super::{Engine, c_path};

pub struct Lmdb {
    env: *mut ffi::MDB_env,
    reader: *mut ffi::MDB_txn,
    database: ffi::MDB_dbi,
}

fn check(code: i32) {
    assert_eq!(code, ffi::MDB_SUCCESS, "LMDB");
}

fn value_of(bytes: &[u8]) -> ffi::MDB_val {
    ffi::MDB_val { mv_size: bytes.len(), mv_data: bytes.as_ptr().cast_mut().cast() }
}

impl Lmdb {
    fn write(&mut self, work: impl FnOnce(*mut ffi::MDB_txn)) {
        let mut txn = ptr::null_mut();
        // SAFETY: the environment is open; the transaction is used by `work` alone, and ends here.
        unsafe {
            check(ffi::mdb_txn_begin(self.env, ptr::null_mut(), 0, &mut txn));
            work(txn);
            check(ffi::mdb_txn_commit(txn));
        }
    }

    /// # Safety
    /// `txn` is a write transaction that goes on.
    unsafe fn put_in(txn: *mut ffi::MDB_txn, database: ffi::MDB_dbi, key: &Key, value: &[u8]) {
        let (mut key, mut value) = (value_of(key), value_of(value));
        // SAFETY: the caller's promise; LMDB copies both.
        check(unsafe { ffi::mdb_put(txn, database, &mut key, &mut value, 0) });
    }
}

impl Engine for Lmdb {
    fn open(folder: &Path) -> Lmdb {
        let path = c_path(folder);
        let mut lmdb = Lmdb { env: ptr::null_mut(), reader: ptr::null_mut(), database: 0 };
        // SAFETY: the handles are made in the order in which they need one another; the reader rests until its first use.
        unsafe {
            check(ffi::mdb_env_create(&mut lmdb.env));
            check(ffi::mdb_env_set_mapsize(lmdb.env, 1 << 40));
            check(ffi::mdb_env_open(lmdb.env, path.as_ptr(), ffi::MDB_NOSYNC | ffi::MDB_NOTLS, 0o600));
            let mut txn = ptr::null_mut();
            check(ffi::mdb_txn_begin(lmdb.env, ptr::null_mut(), 0, &mut txn));
            check(ffi::mdb_dbi_open(txn, ptr::null(), 0, &mut lmdb.database));
            check(ffi::mdb_txn_commit(txn));
            check(ffi::mdb_txn_begin(lmdb.env, ptr::null_mut(), ffi::MDB_RDONLY, &mut lmdb.reader));
            ffi::mdb_txn_reset(lmdb.reader);
        }
        lmdb
    }

    fn put(&mut self, key: &Key, value: &[u8]) {
        let database = self.database;
        // SAFETY: the transaction goes on until `write` ends it.
        self.write(|txn| unsafe { Lmdb::put_in(txn, database, key, value) });
    }

    fn get(&mut self, key: &Key, buffer: &mut [u8]) -> usize {
        let (mut key, mut value) = (value_of(key), value_of(&[]));
        // SAFETY: the reader rests, and does again afterwards; in between, the value stays where LMDB maps it.
        unsafe {
            check(ffi::mdb_txn_renew(self.reader));
            check(ffi::mdb_get(self.reader, self.database, &mut key, &mut value));
            ptr::copy_nonoverlapping(
                value.mv_data.cast(),
                buffer[..value.mv_size].as_mut_ptr(),
                value.mv_size,
            );
            ffi::mdb_txn_reset(self.reader);
        }
        value.mv_size
    }

    fn put_all(&mut self, records: &[(Key, Vec<u8>)]) {
        let database = self.database;
        self.write(|txn| {
            // SAFETY: the transaction goes on until `write` ends it.
            records.iter().for_each(|(key, value)| unsafe { Lmdb::put_in(txn, database, key, value) });
        });
    }
}

impl Drop for Lmdb {
    fn drop(&mut self) {
        // SAFETY: both are open, and nothing uses them after this.
        unsafe {
            ffi::mdb_txn_abort(self.reader);
            ffi::mdb_env_close(self.env);
        }
    }
}
