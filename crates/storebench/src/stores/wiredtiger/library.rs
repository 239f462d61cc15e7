//! WiredTiger's handles: a connection for the store, and a session with a cursor for each thread.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::path::Path;
use std::ptr::{self, NonNull};

use storebench_core::store::{Result, StoreError};

use super::ffi;

/// The engine's own words for what went wrong last in this thread.
fn message() -> String {
    // SAFETY: the string is this thread's, and stays until its next call.
    unsafe { CStr::from_ptr(ffi::sb_wt_message()) }.to_string_lossy().into_owned()
}

/// Whether something was found.
///
/// # Errors
/// [`StoreError::Conflict`] where the engine has rolled back, or wants to; [`StoreError::Engine`].
fn told(code: c_int) -> Result<bool> {
    match code {
        ffi::OK => Ok(true),
        ffi::NOT_FOUND => Ok(false),
        ffi::CONFLICT => Err(StoreError::Conflict(message())),
        _ => Err(StoreError::Engine(message())),
    }
}

/// The same, where what is missing is an error.
fn check(code: c_int) -> Result<()> {
    match told(code)? {
        true => Ok(()),
        false => Err(StoreError::Engine("WiredTiger does not find what it should have".into())),
    }
}

/// The engine's version.
pub fn version() -> String {
    // SAFETY: the engine gives a string that lives as long as the program: "WiredTiger 11.3.1".
    let text = unsafe { CStr::from_ptr(ffi::sb_wt_version()) }.to_string_lossy();
    text.split_whitespace().nth(1).unwrap_or_default().trim_end_matches(':').to_owned()
}

/// Where the engine's code lies.
pub fn code() -> *const c_void {
    // SAFETY: it takes nothing, and gives an address.
    unsafe { ffi::sb_wt_code() }
}

/// An open database with its table.
pub struct Connection(NonNull<ffi::Connection>);

// SAFETY: the engine's connections are for all threads at once; sessions are made and used by one thread each.
unsafe impl Send for Connection {}
// SAFETY: as above.
unsafe impl Sync for Connection {}

impl Connection {
    /// Opens or makes the database in a folder, and its table.
    pub fn open(folder: &Path, config: &str, table: &str) -> Result<Connection> {
        let home = CString::new(folder.as_os_str().as_encoded_bytes()).map_err(StoreError::engine)?;
        let [config, table] = [config, table].map(|text| CString::new(text).map_err(StoreError::engine));
        let mut out = ptr::null_mut();
        // SAFETY: the strings live until the call returns; a connection that is given back is ours.
        check(unsafe { ffi::sb_wt_open(home.as_ptr(), config?.as_ptr(), &raw mut out) })?;
        let connection = NonNull::new(out).ok_or_else(|| StoreError::Engine("no connection".into()))?;
        let connection = Connection(connection);
        // SAFETY: the connection is open; the string lives until the call returns.
        check(unsafe { ffi::sb_wt_create(connection.0.as_ptr(), table?.as_ptr()) })?;
        Ok(connection)
    }

    /// A session for this thread.
    pub fn session(&self) -> Result<Handle<'_>> {
        let mut out = ptr::null_mut();
        // SAFETY: the connection is open; a session that is given back is ours.
        check(unsafe { ffi::sb_wt_session_open(self.0.as_ptr(), &raw mut out) })?;
        let session = NonNull::new(out).ok_or_else(|| StoreError::Engine("no session".into()))?;
        Ok(Handle { session, of: PhantomData })
    }

    /// A session in a transaction that has read: it sees the records as they are now until it is dropped.
    pub fn hold(&self) -> Result<Handle<'_>> {
        let session = self.session()?;
        // SAFETY: the session is open; closing it ends the transaction.
        check(unsafe { ffi::sb_wt_begin(session.as_ptr()) })?;
        session.scan(&[], 1, &mut |_, _| ())?;
        Ok(session)
    }

    /// The engine's words on its log.
    pub fn account(&self) -> Result<ffi::Account> {
        let mut account = ffi::Account::default();
        // SAFETY: the connection is open.
        check(unsafe { ffi::sb_wt_account(self.0.as_ptr(), &raw mut account) })?;
        Ok(account)
    }

    /// The cache's size in bytes.
    pub fn cache_bytes(&self) -> Result<u64> {
        let (session, mut bytes) = (self.session()?, 0);
        // SAFETY: both are open.
        check(unsafe { ffi::sb_wt_cache(self.0.as_ptr(), session.session.as_ptr(), &raw mut bytes) })?;
        Ok(bytes)
    }

    /// Has `copy` copy each file that a backup needs, by its name. The engine removes none of them meanwhile.
    pub fn back_up(&self, copy: &mut dyn FnMut(&CStr) -> Result<()>) -> Result<()> {
        let mut files = Files { copy, failed: None };
        // SAFETY: the connection is open, and the context lives until the call returns, which alone uses it.
        let told = unsafe { ffi::sb_wt_backup(self.0.as_ptr(), copied, (&raw mut files).cast()) };
        match files.failed {
            Some(error) => Err(error),
            None => check(told),
        }
    }

    /// Has the engine check the table, which no session may have open.
    pub fn verify(&mut self) -> Result<()> {
        // SAFETY: the connection is open, and nobody else has it.
        check(unsafe { ffi::sb_wt_verify(self.0.as_ptr()) })
    }

    /// Closes it: the engine makes a checkpoint.
    pub fn close(self) -> Result<()> {
        let own = ManuallyDrop::new(self);
        // SAFETY: `self` is gone, and with it every session; it is closed nowhere else.
        check(unsafe { ffi::sb_wt_close(own.0.as_ptr()) })
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // SAFETY: no session is left, and it is closed nowhere else.
        unsafe { ffi::sb_wt_close(self.0.as_ptr()) };
    }
}

/// The work with the files of a backup, and why it failed.
struct Files<'c> {
    copy: &'c mut dyn FnMut(&CStr) -> Result<()>,
    failed: Option<StoreError>,
}

/// Copies a file of a backup; not 0 where that failed.
extern "C" fn copied(context: *mut c_void, name: *const c_char) -> c_int {
    // SAFETY: the context is the one that was handed over; the name lives until the cursor moves.
    let (files, name) = unsafe { (&mut *context.cast::<Files<'_>>(), CStr::from_ptr(name)) };
    files.failed = (files.copy)(name).err();
    c_int::from(files.failed.is_some())
}

impl ffi::Account {
    /// The way in which a commit's log is made durable, in the engine's words.
    pub fn sync(&self) -> String {
        // SAFETY: the text ends with a zero byte within the array.
        unsafe { CStr::from_ptr(self.log_sync.as_ptr()) }.to_string_lossy().into_owned()
    }
}

/// A session of the engine and its cursor, for the thread that made it.
pub struct Handle<'a> {
    session: NonNull<ffi::Session>,
    of: PhantomData<&'a Connection>,
}

/// The longest key: the engine keeps 1 KiB of what its lengths can hold to itself.
pub const MAX_KEY_BYTES: usize = u32::MAX as usize - 1024;

/// A key as C takes it. The engine panics for good where one is empty or too long.
///
/// # Errors
/// [`StoreError::Unsupported`] for such keys.
fn raw_key(key: &[u8]) -> Result<(*const c_void, usize)> {
    match key.len() {
        1..=MAX_KEY_BYTES => Ok(raw(key)),
        0 => Err(StoreError::Unsupported("WiredTiger takes no empty key".into())),
        bytes => Err(StoreError::Unsupported(format!("a key of {bytes} bytes is too long"))),
    }
}

/// Bytes as C takes them.
fn raw(bytes: &[u8]) -> (*const c_void, usize) {
    (bytes.as_ptr().cast(), bytes.len())
}

/// Bytes that the engine shows.
///
/// # Safety
/// There are so many bytes, for as long as the slice is used.
unsafe fn shown<'s>(bytes: *const c_void, size: usize) -> &'s [u8] {
    if size == 0 {
        return &[];
    }
    // SAFETY: the caller's word.
    unsafe { std::slice::from_raw_parts(bytes.cast(), size) }
}

impl Handle<'_> {
    fn as_ptr(&self) -> *mut ffi::Session {
        self.session.as_ptr()
    }

    /// Writes a record, whether it is there or not.
    pub fn put(&self, key: &[u8], value: &[u8]) -> Result<()> {
        let ((key, key_size), (value, value_size)) = (raw_key(key)?, raw(value));
        // SAFETY: the session is open and this thread's; the engine copies key and value.
        check(unsafe { ffi::sb_wt_put(self.as_ptr(), key, key_size, value, value_size) })
    }

    /// Shows a value where the engine has it.
    pub fn get(&self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        let ((key, key_size), mut value, mut value_size) = (raw_key(key)?, ptr::null(), 0);
        // SAFETY: as above.
        let code =
            unsafe { ffi::sb_wt_get(self.as_ptr(), key, key_size, &raw mut value, &raw mut value_size) };
        let found = told(code)?;
        if found {
            // SAFETY: the value stays until the cursor is reset.
            visit(unsafe { shown(value, value_size) });
        }
        self.reset()?;
        Ok(found)
    }

    /// Removes a record, if it is there.
    pub fn remove(&self, key: &[u8]) -> Result<()> {
        let (key, key_size) = raw_key(key)?;
        // SAFETY: as above.
        told(unsafe { ffi::sb_wt_remove(self.as_ptr(), key, key_size) }).map(drop)
    }

    /// Lets go of what the cursor is at.
    fn reset(&self) -> Result<()> {
        // SAFETY: as above.
        check(unsafe { ffi::sb_wt_reset(self.as_ptr()) })
    }

    /// Shows records in the order of their keys, all of one state; how many.
    pub fn scan(&self, from: &[u8], limit: usize, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize> {
        if limit == 0 {
            return Ok(0);
        }
        let walked = self.walk(from, limit, visit);
        self.reset()?;
        walked
    }

    fn walk(&self, from: &[u8], limit: usize, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize> {
        let (key, key_size) = if from.is_empty() { raw(from) } else { raw_key(from)? };
        // SAFETY: as above.
        let mut there = told(unsafe { ffi::sb_wt_seek(self.as_ptr(), key, key_size) })?;
        let mut count = 0;
        while there {
            let (mut key, mut key_size, mut value, mut value_size) = (ptr::null(), 0, ptr::null(), 0);
            // SAFETY: the cursor is at a record; what it shows stays until it moves.
            unsafe {
                check(ffi::sb_wt_record(
                    self.as_ptr(),
                    &raw mut key,
                    &raw mut key_size,
                    &raw mut value,
                    &raw mut value_size,
                ))?;
                visit(shown(key, key_size), shown(value, value_size));
            }
            count += 1;
            // SAFETY: as above.
            there = count < limit && told(unsafe { ffi::sb_wt_next(self.as_ptr()) })?;
        }
        Ok(count)
    }

    /// Does `work` in a transaction, which is rolled back where it fails.
    pub fn transact(&self, work: impl FnOnce(&Self) -> Result<()>) -> Result<()> {
        // SAFETY: as above.
        check(unsafe { ffi::sb_wt_begin(self.as_ptr()) })?;
        if let Err(error) = work(self) {
            // SAFETY: the transaction is open. The first error counts.
            unsafe { ffi::sb_wt_roll_back(self.as_ptr()) };
            return Err(error);
        }
        // SAFETY: the transaction is open, and over after this, whatever comes of it.
        check(unsafe { ffi::sb_wt_commit(self.as_ptr()) })
    }

    /// The number of records, by a walk over all.
    pub fn count(&self) -> Result<u64> {
        let mut count = 0;
        // SAFETY: as above.
        check(unsafe { ffi::sb_wt_count(self.as_ptr(), &raw mut count) })?;
        Ok(count)
    }

    /// Writes all to the files, as one state, and syncs them.
    pub fn checkpoint(&self) -> Result<()> {
        // SAFETY: as above.
        check(unsafe { ffi::sb_wt_checkpoint(self.as_ptr()) })
    }

    /// Gives free space of the table's file back to the file system.
    pub fn compact(&self) -> Result<()> {
        // SAFETY: as above.
        check(unsafe { ffi::sb_wt_compact(self.as_ptr()) })
    }

    /// The settings of the table, as the engine keeps them.
    pub fn table(&self) -> Result<String> {
        let mut text: *mut c_char = ptr::null_mut();
        // SAFETY: as above; the string is copied before it is freed.
        unsafe {
            check(ffi::sb_wt_table(self.as_ptr(), &raw mut text))?;
            let own = CStr::from_ptr(text).to_string_lossy().into_owned();
            ffi::sb_wt_free(text);
            Ok(own)
        }
    }
}

impl Drop for Handle<'_> {
    fn drop(&mut self) {
        // SAFETY: the session is open and this thread's, and closed nowhere else.
        unsafe { ffi::sb_wt_session_close(self.as_ptr()) };
    }
}
