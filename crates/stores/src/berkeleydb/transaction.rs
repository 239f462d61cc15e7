//! Berkeley DB's transactions: they lock the pages that they read and write, and the engine chooses which of those in a deadlock
//! gives way.

use std::ffi::c_int;
use std::ptr;

use storebench_core::store::{Result, StoreError, Transaction, TransactionBody};

use super::session::{buffer_room, grow, size};
use super::{BerkeleyDb, check, ffi, message};

/// Runs `work` in a transaction, which commits unless `work` fails; `buffer` receives values. Gives the number of bytes put.
pub fn run(store: &BerkeleyDb, buffer: &mut Vec<u8>, work: &mut TransactionBody<'_>) -> Result<usize> {
    if store.checkpoint_kbyte == 0 {
        return Err(StoreError::Unsupported("this store was opened without transactions".into()));
    }
    let mut txn = ptr::null_mut();
    // SAFETY: the database is open and has transactions.
    check(unsafe { ffi::sb_bdb_begin(store.db.as_ptr(), &raw mut txn) })?;
    let mut transaction = OpenTransaction { store, txn, buffer, put: 0 };
    let outcome = work(&mut transaction);
    let put = transaction.put;
    match outcome {
        // SAFETY: the transaction is open, and not used afterwards, whatever comes of it.
        Ok(()) => check_found(unsafe { ffi::sb_bdb_commit(txn) }).map(|_| put),
        Err(error) => {
            // SAFETY: as above. The first error counts.
            unsafe { ffi::sb_bdb_abort(txn) };
            Err(error)
        }
    }
}

struct OpenTransaction<'a> {
    store: &'a BerkeleyDb,
    txn: *mut ffi::Txn,
    buffer: &'a mut Vec<u8>,
    put: usize,
}

/// The meaning of a code: whether something was found, or that the transaction must give way.
fn check_found(code: c_int) -> Result<bool> {
    match code {
        ffi::OK => Ok(true),
        ffi::NOT_FOUND => Ok(false),
        ffi::DEADLOCK => Err(StoreError::Conflict("it was chosen to resolve a deadlock".into())),
        _ => Err(message()),
    }
}

impl OpenTransaction<'_> {
    fn read(&mut self, to_change: bool, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        let key_size = size(key)?;
        let mut len = 0;
        loop {
            // SAFETY: the database and the transaction are open; the buffer is as large as is said, and not looked at meanwhile.
            let code = unsafe {
                let (buffer, room) = (self.buffer.as_mut_ptr().cast(), buffer_room(self.buffer));
                let (db, key) = (self.store.db.as_ptr(), key.as_ptr().cast());
                let to_change = c_int::from(to_change);
                ffi::sb_bdb_get_in(db, self.txn, to_change, key, key_size, buffer, room, &raw mut len)
            };
            if code == ffi::BUFFER_SMALL {
                grow(self.buffer, len);
                continue;
            }
            let found = check_found(code)?;
            if found {
                visit(&self.buffer[..len as usize]);
            }
            return Ok(found);
        }
    }
}

impl Transaction for OpenTransaction<'_> {
    fn get(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        self.read(false, key, visit)
    }

    fn get_to_change(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        self.read(true, key, visit)
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let (key_size, value_size) = (size(key)?, size(value)?);
        // SAFETY: the database and the transaction are open; the engine copies key and value.
        let code = unsafe {
            let (db, key, value) = (self.store.db.as_ptr(), key.as_ptr().cast(), value.as_ptr().cast());
            ffi::sb_bdb_put(db, self.txn, key, key_size, value, value_size)
        };
        check_found(code)?;
        self.put += key.len() + value.len();
        Ok(())
    }
}
