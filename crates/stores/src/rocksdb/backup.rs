//! Backups: a checkpoint, which is the tables by hard links and a copy of what is not in them yet.

use std::ffi::CString;
use std::path::Path;
use std::ptr;

use storebench_core::store::{Result, StoreError};

use super::super::owned::OwnedPointer;
use super::ffi::Functions;
use super::{check, ffi};

/// The folder must not exist.
pub fn checkpoint(c: &Functions, db: *mut ffi::Db, target: &Path) -> Result<()> {
    let target = CString::new(target.as_os_str().as_encoded_bytes()).map_err(StoreError::engine)?;
    let mut error = ptr::null_mut();
    // SAFETY: the database is open; the engine's errors are checked, and its object is ours to free.
    unsafe {
        let object = (c.rocksdb_checkpoint_object_create)(db, &raw mut error);
        check(c, error)?;
        let checkpoint = OwnedPointer::new(object, c.rocksdb_checkpoint_object_destroy)?;
        // With 0 it flushes memory tables first.
        (c.rocksdb_checkpoint_create)(checkpoint.as_ptr(), target.as_ptr(), 0, &raw mut error);
        check(c, error)
    }
}
