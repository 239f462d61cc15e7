//! A safe face for the few calls of LMDB that the store makes.
//!
//! The C interface is called directly because LMDB's documented fast way to read, a read transaction that is reset
//! after use and renewed for the next, is not in `heed`.

use std::ffi::{CStr, CString, OsStr, c_int, c_uint, c_void};
use std::fs;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr::{self, NonNull};

use lmdb_master_sys as ffi;
use storebench_core::store::{Result, StoreError};

use crate::stores::support::sync_path;

/// The file of an environment in its folder.
const FILE: &str = "data.mdb";

/// An open environment and its one database, the unnamed one. Dropping it closes it.
pub struct Environment {
    raw: NonNull<ffi::MDB_env>,
    database: ffi::MDB_dbi,
}

// SAFETY: LMDB's environment and database handles may be used by any number of threads at once; transactions, which may
// not, are borrowed from it and stay in their thread.
unsafe impl Send for Environment {}
// SAFETY: as above.
unsafe impl Sync for Environment {}

/// LMDB's version, as it says it.
pub fn version() -> String {
    let (mut major, mut minor, mut patch) = (0, 0, 0);
    // SAFETY: three places for three numbers; the text that is returned as well is not used.
    unsafe { ffi::mdb_version(&mut major, &mut minor, &mut patch) };
    format!("{major}.{minor}.{patch}")
}

impl Environment {
    /// Opens or makes the environment in `directory`, which no one in this process has open already.
    ///
    /// `map_size` is in bytes: the most that the file can grow to. Read transactions belong to their [`Reader`] and not
    /// to their thread.
    pub fn open(
        directory: &Path,
        flags: c_uint,
        map_size: usize,
        max_readers: c_uint,
    ) -> Result<Environment> {
        let path = CString::new(directory.as_os_str().as_encoded_bytes()).map_err(StoreError::engine)?;
        let mut raw = ptr::null_mut();
        // SAFETY: a place for the new handle.
        check(unsafe { ffi::mdb_env_create(&mut raw) })?;
        let raw = NonNull::new(raw).ok_or_else(|| StoreError::Engine("LMDB made no environment".into()))?;
        // From here on, leaving early closes it.
        let mut environment = Environment { raw, database: 0 };
        // SAFETY: the handle was just made; the path ends in a zero byte.
        unsafe {
            check(ffi::mdb_env_set_mapsize(raw.as_ptr(), map_size as ffi::mdb_size_t))?;
            check(ffi::mdb_env_set_maxreaders(raw.as_ptr(), max_readers))?;
            check(ffi::mdb_env_open(raw.as_ptr(), path.as_ptr(), flags | ffi::MDB_NOTLS, 0o600))?;
        }
        environment.database = environment.write(|writer| writer.open_database())?;
        Ok(environment)
    }

    /// The flags that the environment has now.
    pub fn flags(&self) -> Result<c_uint> {
        let mut flags = 0;
        // SAFETY: the environment is open.
        check(unsafe { ffi::mdb_env_get_flags(self.raw.as_ptr(), &mut flags) })?;
        Ok(flags)
    }

    /// The environment's description of itself.
    pub fn info(&self) -> Result<ffi::MDB_envinfo> {
        let mut info = MaybeUninit::uninit();
        // SAFETY: the environment is open, and fills in the structure when it reports success.
        unsafe {
            check(ffi::mdb_env_info(self.raw.as_ptr(), info.as_mut_ptr()))?;
            Ok(info.assume_init())
        }
    }

    /// The shape and the number of entries of its database.
    pub fn statistics(&self) -> Result<ffi::MDB_stat> {
        let mut statistics = MaybeUninit::uninit();
        // SAFETY: the environment is open, and fills in the structure when it reports success.
        unsafe {
            check(ffi::mdb_env_stat(self.raw.as_ptr(), statistics.as_mut_ptr()))?;
            Ok(statistics.assume_init())
        }
    }

    /// The longest key in bytes.
    #[cfg(test)]
    pub fn max_key_bytes(&self) -> c_int {
        // SAFETY: the environment is open.
        unsafe { ffi::mdb_env_get_maxkeysize(self.raw.as_ptr()) }
    }

    /// Hands all that was written to the disk, whatever the flags.
    pub fn sync(&self) -> Result<()> {
        // SAFETY: the environment is open.
        check(unsafe { ffi::mdb_env_sync(self.raw.as_ptr(), 1) })
    }

    /// Puts a compact copy of its file in the place of that. It is of no use any more but to be closed.
    pub fn replace_by_compact_copy(&self) -> Result<()> {
        let mut path = ptr::null();
        // SAFETY: the environment is open; the path is its own, and copied here.
        let folder = unsafe {
            check(ffi::mdb_env_get_path(self.raw.as_ptr(), &mut path))?;
            PathBuf::from(OsStr::from_bytes(CStr::from_ptr(path).to_bytes()))
        };
        let beside = folder.join("compact");
        fs::create_dir(&beside).map_err(StoreError::engine)?;
        let to = CString::new(beside.as_os_str().as_encoded_bytes()).map_err(StoreError::engine)?;
        // SAFETY: the environment is open; the path ends in a zero byte.
        check(unsafe { ffi::mdb_env_copy2(self.raw.as_ptr(), to.as_ptr(), ffi::MDB_CP_COMPACT) })?;
        let copy = beside.join(FILE);
        let replaced = sync_path(&copy).and_then(|()| {
            fs::rename(&copy, folder.join(FILE))
                .and_then(|()| fs::remove_dir(&beside))
                .map_err(StoreError::engine)
        });
        replaced.and_then(|()| sync_path(&folder))
    }

    /// Runs `work` in a write transaction, and commits it unless `work` fails. Waits for the other writers.
    pub fn write<T>(&self, work: impl FnOnce(&mut Writer<'_>) -> Result<T>) -> Result<T> {
        let mut writer = Writer { raw: self.begin(0)?, database: self.database, environment: PhantomData };
        let done = work(&mut writer)?;
        writer.commit()?;
        Ok(done)
    }

    /// A read transaction to be kept.
    pub fn reader(&self) -> Result<Reader<'_>> {
        let raw = self.begin(ffi::MDB_RDONLY)?;
        let mut cursor = ptr::null_mut();
        // SAFETY: the transaction has just begun, and stands for the kept one that `reader` owns.
        let code = unsafe { ffi::mdb_cursor_open(raw.as_ptr(), self.database, &mut cursor) };
        match NonNull::new(cursor) {
            Some(cursor) if code == ffi::MDB_SUCCESS => {
                // SAFETY: it has begun and is not in use; `Reader` holds it reset between uses.
                unsafe { ffi::mdb_txn_reset(raw.as_ptr()) };
                Ok(Reader { raw, cursor, database: self.database, environment: PhantomData })
            }
            _ => {
                // SAFETY: it has begun, and nothing else knows it.
                unsafe { ffi::mdb_txn_abort(raw.as_ptr()) };
                check(code)?;
                Err(StoreError::Engine("LMDB made no cursor".into()))
            }
        }
    }

    fn begin(&self, flags: c_uint) -> Result<NonNull<ffi::MDB_txn>> {
        let mut raw = ptr::null_mut();
        // SAFETY: the environment is open; there is no parent transaction.
        check(unsafe { ffi::mdb_txn_begin(self.raw.as_ptr(), ptr::null_mut(), flags, &mut raw) })?;
        NonNull::new(raw).ok_or_else(|| StoreError::Engine("LMDB began no transaction".into()))
    }
}

impl Drop for Environment {
    fn drop(&mut self) {
        // SAFETY: transactions borrow the environment, so none is left.
        unsafe { ffi::mdb_env_close(self.raw.as_ptr()) };
    }
}

/// A write transaction. Dropping it undoes it.
pub struct Writer<'a> {
    raw: NonNull<ffi::MDB_txn>,
    database: ffi::MDB_dbi,
    environment: PhantomData<(&'a Environment, *mut ())>,
}

impl Writer<'_> {
    /// Puts a record; with `flags` of `MDB_NOOVERWRITE`, only under a new key.
    pub fn put(&mut self, key: &[u8], value: &[u8], flags: c_uint) -> Result<()> {
        let (mut key, mut value) = (value_of(key), value_of(value));
        // SAFETY: the transaction is live; LMDB copies both, and writes to neither without `MDB_RESERVE`.
        check(unsafe { ffi::mdb_put(self.raw.as_ptr(), self.database, &mut key, &mut value, flags) })
    }

    /// The value of a key, where LMDB has it until this transaction's next write.
    pub fn value(&self, key: &[u8]) -> Result<Option<&[u8]>> {
        let (mut key, mut value) = (value_of(key), value_of(&[]));
        // SAFETY: the transaction is live.
        let code = unsafe { ffi::mdb_get(self.raw.as_ptr(), self.database, &mut key, &mut value) };
        // SAFETY: what LMDB points to stays until the transaction's next write, for which this borrow must end.
        Ok(found(code)?.then(|| unsafe { bytes_of(&value) }))
    }

    /// Removes a record.
    pub fn delete(&mut self, key: &[u8]) -> Result<()> {
        let mut key = value_of(key);
        // SAFETY: the transaction is live; the key is only read.
        check(unsafe { ffi::mdb_del(self.raw.as_ptr(), self.database, &mut key, ptr::null_mut()) })
    }

    fn open_database(&mut self) -> Result<ffi::MDB_dbi> {
        let mut database = 0;
        // SAFETY: the transaction is live; no name means the unnamed database, which is always there.
        check(unsafe { ffi::mdb_dbi_open(self.raw.as_ptr(), ptr::null(), 0, &mut database) })?;
        Ok(database)
    }

    fn commit(self) -> Result<()> {
        let raw = self.raw;
        // Committing frees the transaction, even when it fails.
        std::mem::forget(self);
        // SAFETY: the transaction is live, and nothing uses it after this.
        check(unsafe { ffi::mdb_txn_commit(raw.as_ptr()) })
    }
}

impl Drop for Writer<'_> {
    fn drop(&mut self) {
        // SAFETY: the transaction is live: `commit` forgets itself.
        unsafe { ffi::mdb_txn_abort(self.raw.as_ptr()) };
    }
}

/// A read transaction and its cursor, which are kept, and hold no snapshot between uses.
pub struct Reader<'a> {
    raw: NonNull<ffi::MDB_txn>,
    cursor: NonNull<ffi::MDB_cursor>,
    database: ffi::MDB_dbi,
    environment: PhantomData<(&'a Environment, *mut ())>,
}

impl Reader<'_> {
    /// Takes a snapshot of the newest state.
    pub fn snapshot(&mut self) -> Result<Snapshot<'_>> {
        // SAFETY: the transaction is reset: a snapshot borrows the reader and resets it when it goes.
        check(unsafe { ffi::mdb_txn_renew(self.raw.as_ptr()) })?;
        Ok(Snapshot { reader: self })
    }
}

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        // SAFETY: both are live, and nothing uses them after this.
        unsafe {
            ffi::mdb_cursor_close(self.cursor.as_ptr());
            ffi::mdb_txn_abort(self.raw.as_ptr());
        }
    }
}

/// One state of the database, for reading.
pub struct Snapshot<'a> {
    reader: &'a Reader<'a>,
}

impl Snapshot<'_> {
    /// The value of a key, where LMDB has mapped it.
    pub fn get(&self, key: &[u8]) -> Result<Option<&[u8]>> {
        let (mut key, mut value) = (value_of(key), value_of(&[]));
        // SAFETY: the transaction is live.
        let code =
            unsafe { ffi::mdb_get(self.reader.raw.as_ptr(), self.reader.database, &mut key, &mut value) };
        // SAFETY: LMDB points into its map, which does not change under a live read transaction.
        Ok(found(code)?.then(|| unsafe { bytes_of(&value) }))
    }

    /// Shows up to `limit` records from `from` on, in order, and says how many.
    pub fn scan(&self, from: &[u8], limit: usize, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize> {
        let cursor = self.reader.cursor.as_ptr();
        // SAFETY: the transaction is live, and the cursor is one of its database.
        check(unsafe { ffi::mdb_cursor_renew(self.reader.raw.as_ptr(), cursor) })?;
        let (mut key, mut value) = (value_of(from), value_of(&[]));
        // LMDB looks for no empty key; the first record is the first from there.
        let mut step = if from.is_empty() { ffi::MDB_FIRST } else { ffi::MDB_SET_RANGE };
        for count in 0..limit {
            // SAFETY: the cursor was renewed for the live transaction.
            if !found(unsafe { ffi::mdb_cursor_get(cursor, &mut key, &mut value, step) })? {
                return Ok(count);
            }
            // SAFETY: as in `get`.
            unsafe { visit(bytes_of(&key), bytes_of(&value)) };
            step = ffi::MDB_NEXT;
        }
        Ok(limit)
    }
}

impl Drop for Snapshot<'_> {
    fn drop(&mut self) {
        // SAFETY: the transaction is live; it may be renewed after this.
        unsafe { ffi::mdb_txn_reset(self.reader.raw.as_ptr()) };
    }
}

fn value_of(bytes: &[u8]) -> ffi::MDB_val {
    ffi::MDB_val { mv_size: bytes.len(), mv_data: bytes.as_ptr().cast_mut().cast::<c_void>() }
}

/// # Safety
/// LMDB filled in `value`, and the transaction that it did so in lives as long as the result.
unsafe fn bytes_of<'a>(value: &ffi::MDB_val) -> &'a [u8] {
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(value.mv_data.cast(), value.mv_size) }
}

fn found(code: c_int) -> Result<bool> {
    match check(code) {
        Ok(()) => Ok(true),
        Err(StoreError::Missing) => Ok(false),
        Err(error) => Err(error),
    }
}

fn check(code: c_int) -> Result<()> {
    match code {
        ffi::MDB_SUCCESS => Ok(()),
        ffi::MDB_NOTFOUND => Err(StoreError::Missing),
        ffi::MDB_KEYEXIST => Err(StoreError::Exists),
        ffi::MDB_BAD_VALSIZE => Err(StoreError::Unsupported("LMDB takes keys of 1 to 511 bytes".into())),
        _ => {
            // SAFETY: LMDB has a text for every code, in static memory or in the C library's.
            let text = unsafe { CStr::from_ptr(ffi::mdb_strerror(code)) };
            Err(StoreError::Engine(format!("LMDB: {}", text.to_string_lossy())))
        }
    }
}
