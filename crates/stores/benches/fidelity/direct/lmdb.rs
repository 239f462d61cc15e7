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
    fn write<'r>(&mut self, records: impl Iterator<Item = (&'r Key, &'r [u8])>) {
        let mut txn = ptr::null_mut();
        // SAFETY: the environment is open; the transaction ends here; LMDB copies keys and values.
        unsafe {
            check(ffi::mdb_txn_begin(self.env, ptr::null_mut(), 0, &mut txn));
            for (key, value) in records {
                check(ffi::mdb_put(txn, self.database, &mut value_of(key), &mut value_of(value), 0));
            }
            check(ffi::mdb_txn_commit(txn));
        }
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
        self.write([(key, value)].into_iter());
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
        self.write(records.iter().map(|(key, value)| (key, &value[..])));
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
