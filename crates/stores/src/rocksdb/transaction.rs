//! RocksDB's optimistic transactions: nothing is locked; what was read to be changed is compared when they commit.

use std::ffi::CStr;
use std::ptr;

use storebench_model::store::{Result, StoreError, Transaction, TransactionBody};

use super::ffi::Functions;
use super::{check, ffi};
use crate::owned::OwnedPointer;

/// How errors of the statuses `Busy` and `TryAgain` begin: another transaction was in the way.
const CONFLICTS: [&str; 2] = ["Resource busy", "Operation failed. Try again"];

/// Opens a database with transactions, and the plain database within it, which must be dropped first.
///
/// # Safety
/// `options` are valid.
pub unsafe fn open(
    c: &Functions,
    options: *const ffi::Options,
    name: &CStr,
) -> Result<(OwnedPointer<ffi::Db>, OwnedPointer<ffi::OptimisticDb>)> {
    let mut error = ptr::null_mut();
    // SAFETY: the options are copied by the engine; the error is checked before the database is used. Both handles are ours to free.
    unsafe {
        let owner = (c.rocksdb_optimistictransactiondb_open)(options, name.as_ptr(), &raw mut error);
        check(c, error)?;
        let owner = OwnedPointer::new(owner, c.rocksdb_optimistictransactiondb_close)?;
        let db = (c.rocksdb_optimistictransactiondb_get_base_db)(owner.as_ptr());
        Ok((OwnedPointer::new(db, c.rocksdb_optimistictransactiondb_close_base_db)?, owner))
    }
}

pub struct Transactions<'a> {
    /// The last one, whose memory the next one reuses.
    last: Option<OwnedPointer<ffi::Transaction>>,
    options: OwnedPointer<ffi::OptimisticOptions>,
    c: &'a Functions,
    db: &'a OwnedPointer<ffi::OptimisticDb>,
}

impl<'a> Transactions<'a> {
    pub fn new(c: &'a Functions, db: &'a OwnedPointer<ffi::OptimisticDb>) -> Result<Transactions<'a>> {
        // SAFETY: the options are ours to free.
        let options = unsafe {
            let options = (c.rocksdb_optimistictransaction_options_create)();
            OwnedPointer::new(options, c.rocksdb_optimistictransaction_options_destroy)?
        };
        Ok(Transactions { last: None, options, c, db })
    }

    /// Runs `work` in a transaction, which commits unless `work` fails.
    pub fn run(
        &mut self,
        read: &OwnedPointer<ffi::ReadOptions>,
        write: &OwnedPointer<ffi::WriteOptions>,
        work: &mut TransactionBody<'_>,
    ) -> Result<()> {
        let c = self.c;
        let reused = self.last.as_ref().map_or(ptr::null_mut(), OwnedPointer::as_ptr);
        // SAFETY: the handles are valid; the old transaction, if any, has ended and is begun anew.
        let raw = unsafe {
            let (db, options) = (self.db.as_ptr(), self.options.as_ptr());
            (c.rocksdb_optimistictransaction_begin)(db, write.as_ptr(), options, reused)
        };
        if reused.is_null() {
            // SAFETY: it has just been made, and is ours to free.
            self.last = Some(unsafe { OwnedPointer::new(raw, c.rocksdb_transaction_destroy)? });
        }
        let mut error = ptr::null_mut();
        let outcome = work(&mut OpenTransaction { c, raw, read }).and_then(|()| {
            // SAFETY: the transaction is open.
            unsafe {
                (c.rocksdb_transaction_commit)(raw, &raw mut error);
                check_conflict(c, error)
            }
        });
        if outcome.is_err() {
            let mut error = ptr::null_mut();
            // SAFETY: the transaction is open: one that could not be committed stays so. The first error counts.
            unsafe {
                (c.rocksdb_transaction_rollback)(raw, &raw mut error);
                let _ = check(c, error);
            }
        }
        outcome
    }
}

/// # Safety
/// As [`check`].
unsafe fn check_conflict(c: &Functions, error: *mut std::ffi::c_char) -> Result<()> {
    // SAFETY: the caller's promise.
    match unsafe { check(c, error) } {
        Err(StoreError::Engine(text)) if CONFLICTS.iter().any(|begin| text.starts_with(begin)) => {
            Err(StoreError::Conflict(text))
        }
        result => result,
    }
}

struct OpenTransaction<'a> {
    c: &'a Functions,
    raw: *mut ffi::Transaction,
    read: &'a OwnedPointer<ffi::ReadOptions>,
}

/// Shows a pinned value, and releases it.
///
/// # Safety
/// `slice` is null or pinned, and nobody else's.
unsafe fn show(c: &Functions, slice: *mut ffi::PinnableSlice, visit: &mut dyn FnMut(&[u8])) -> bool {
    if slice.is_null() {
        return false;
    }
    let mut len = 0;
    // SAFETY: the value stays until the slice is destroyed after the visit.
    unsafe {
        let value = (c.rocksdb_pinnableslice_value)(slice, &raw mut len);
        visit(if value.is_null() { &[] } else { std::slice::from_raw_parts(value.cast(), len) });
        (c.rocksdb_pinnableslice_destroy)(slice);
    }
    true
}

impl Transaction for OpenTransaction<'_> {
    fn get(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        let (c, mut error) = (self.c, ptr::null_mut());
        // SAFETY: the transaction is open; the error is checked before the value is looked at.
        unsafe {
            let (key_ptr, read) = (key.as_ptr().cast(), self.read.as_ptr());
            let slice =
                (c.rocksdb_transaction_get_pinned)(self.raw, read, key_ptr, key.len(), &raw mut error);
            check_conflict(c, error)?;
            Ok(show(c, slice, visit))
        }
    }

    fn get_to_change(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        let (c, mut error) = (self.c, ptr::null_mut());
        // SAFETY: as in `get`.
        unsafe {
            let (key_ptr, read) = (key.as_ptr().cast(), self.read.as_ptr());
            let slice = (c.rocksdb_transaction_get_pinned_for_update)(
                self.raw,
                read,
                key_ptr,
                key.len(),
                1,
                &raw mut error,
            );
            check_conflict(c, error)?;
            Ok(show(c, slice, visit))
        }
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let (c, mut error) = (self.c, ptr::null_mut());
        // SAFETY: the transaction is open, and copies key and value.
        unsafe {
            (c.rocksdb_transaction_put)(
                self.raw,
                key.as_ptr().cast(),
                key.len(),
                value.as_ptr().cast(),
                value.len(),
                &raw mut error,
            );
            check_conflict(c, error)
        }
    }
}
