//! Sessions over the interface of LMDB and its descendant libmdbx: a memory-mapped B+tree, read transactions that are kept, one
//! writer at a time. The library is called directly because the documented fast way to read, a read transaction that is reset after
//! use and renewed for the next, is not in the libraries' crates.

use std::ffi::{CStr, c_char, c_int, c_uint};
use std::marker::PhantomData;
use std::ptr::{self, NonNull};

use storebench_model::store::{Capabilities, Result, Session, StoreError, Transaction, TransactionBody};

/// How settings are read back.
pub const READ_BY: &str = "the environment's own account";

/// The limit of a setting that says how far the file can grow.
pub fn limit_bytes(value: &str, can: &mut Capabilities) {
    if let Ok(bytes) = value.parse() {
        can.max_bytes = bytes;
    }
}

/// Functions of [`Library`] that only call the library's.
macro_rules! calls {
    ($(fn $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)? = $call:expr;)*) => {
        $(unsafe fn $name($($argument: $type),*) $(-> $result)? {
            // SAFETY: the caller's promises.
            unsafe { $call }
        })*
    };
}
pub(crate) use calls;

pub fn session<L: Library>(environment: &Environment<L>) -> Result<Box<dyn Session + '_>> {
    Ok(Box::new(MappedSession { environment, reader: environment.reader()? }))
}

struct MappedSession<'a, L: Library> {
    environment: &'a Environment<L>,
    reader: Reader<'a, L>,
}

impl<L: Library> MappedSession<'_, L> {
    fn put_all(&self, records: &[(&[u8], &[u8])], flags: c_uint) -> Result<()> {
        self.environment
            .write(|writer| records.iter().try_for_each(|(key, value)| writer.put(key, value, flags)))
    }
}

impl<L: Library> Session for MappedSession<'_, L> {
    fn insert(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.environment.write(|writer| writer.put(key, value, L::NO_OVERWRITE))
    }

    fn update(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.environment.write(|writer| writer.put(key, value, 0))
    }

    fn get(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        Ok(self.reader.snapshot()?.get(key)?.map(visit).is_some())
    }

    fn remove(&mut self, key: &[u8]) -> Result<()> {
        match self.environment.write(|writer| writer.delete(key)) {
            Err(StoreError::Missing) => Ok(()),
            result => result,
        }
    }

    fn scan(&mut self, from: &[u8], limit: usize, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize> {
        self.reader.snapshot()?.scan(from, limit, visit)
    }

    fn insert_batch(&mut self, records: &[(&[u8], &[u8])]) -> Result<()> {
        self.put_all(records, L::NO_OVERWRITE)
    }

    fn remove_batch(&mut self, keys: &[&[u8]]) -> Result<()> {
        let ignore_missing = |result| if let Err(StoreError::Missing) = result { Ok(()) } else { result };
        self.environment.write(|writer| keys.iter().try_for_each(|key| ignore_missing(writer.delete(key))))
    }

    fn append_batch(&mut self, records: &[(&[u8], &[u8])]) -> Result<bool> {
        self.put_all(records, L::APPEND)?;
        Ok(true)
    }

    fn transact(&mut self, work: &mut TransactionBody<'_>) -> Result<()> {
        self.environment.write(|writer| work(writer))
    }
}

/// There is one write transaction at a time, so nobody else changes what it reads.
impl<L: Library> Transaction for Writer<'_, L> {
    fn get(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        Ok(self.value(key)?.map(visit).is_some())
    }

    fn get_to_change(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        self.get(key, visit)
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        Writer::put(self, key, value, 0)
    }
}

/// A library with LMDB's interface: its functions have LMDB's contracts, and give 0 or an error code.
///
/// # Safety
/// Any number of threads may use environments and databases at once. Transactions and cursors may not be shared, but belong to no
/// thread. What a transaction shows stays where it is until its next write, or its end.
#[allow(clippy::missing_safety_doc, reason = "the contracts are the library's")]
pub unsafe trait Library: 'static {
    type Env;
    type Txn;
    type Cursor;
    type Val;

    const NAME: &'static str;
    /// The keys that it takes, for messages.
    const KEYS: &'static str;

    const NOT_FOUND: c_int;
    const KEY_EXISTS: c_int;
    const BAD_SIZE: c_int;

    const READ_ONLY: c_uint;
    const NO_OVERWRITE: c_uint;
    const APPEND: c_uint;
    const FIRST: c_uint;
    const SET_RANGE: c_uint;
    const NEXT: c_uint;

    fn val(bytes: &[u8]) -> Self::Val;
    fn parts(val: &Self::Val) -> (*const u8, usize);
    unsafe fn text(code: c_int) -> *const c_char;

    unsafe fn env_sync(env: *mut Self::Env) -> c_int;
    unsafe fn env_close(env: *mut Self::Env);

    unsafe fn begin(env: *mut Self::Env, flags: c_uint, txn: *mut *mut Self::Txn) -> c_int;
    unsafe fn commit(txn: *mut Self::Txn) -> c_int;
    unsafe fn abort(txn: *mut Self::Txn);
    unsafe fn reset(txn: *mut Self::Txn);
    unsafe fn renew(txn: *mut Self::Txn) -> c_int;

    unsafe fn open_unnamed(txn: *mut Self::Txn, database: *mut c_uint) -> c_int;
    unsafe fn put(
        txn: *mut Self::Txn,
        database: c_uint,
        key: *mut Self::Val,
        value: *mut Self::Val,
        flags: c_uint,
    ) -> c_int;
    unsafe fn get(txn: *mut Self::Txn, database: c_uint, key: *mut Self::Val, value: *mut Self::Val)
    -> c_int;
    unsafe fn delete(txn: *mut Self::Txn, database: c_uint, key: *mut Self::Val) -> c_int;

    unsafe fn cursor_open(txn: *mut Self::Txn, database: c_uint, cursor: *mut *mut Self::Cursor) -> c_int;
    unsafe fn cursor_renew(txn: *mut Self::Txn, cursor: *mut Self::Cursor) -> c_int;
    unsafe fn cursor_get(
        cursor: *mut Self::Cursor,
        key: *mut Self::Val,
        value: *mut Self::Val,
        step: c_uint,
    ) -> c_int;
    unsafe fn cursor_close(cursor: *mut Self::Cursor);
}

pub struct Environment<L: Library> {
    raw: NonNull<L::Env>,
    database: c_uint,
}

// SAFETY: the handles may be used by any number of threads at once, as `Library` says; transactions, which may not, are
// borrowed from it and stay in their thread.
unsafe impl<L: Library> Send for Environment<L> {}
// SAFETY: as above.
unsafe impl<L: Library> Sync for Environment<L> {}

impl<L: Library> Environment<L> {
    /// # Safety
    /// `create` makes a handle that nobody else has; `open` opens it, or gives an error.
    pub unsafe fn new(
        create: impl FnOnce(*mut *mut L::Env) -> c_int,
        open: impl FnOnce(*mut L::Env) -> Result<()>,
    ) -> Result<Environment<L>> {
        let mut raw = ptr::null_mut();
        check::<L>(create(&mut raw))?;
        // From here on, leaving early closes it.
        let mut environment = Environment { raw: non_null::<L, _>(raw)?, database: 0 };
        open(environment.raw.as_ptr())?;
        environment.database = environment.write(|writer| writer.open_database())?;
        Ok(environment)
    }

    pub fn as_ptr(&self) -> *mut L::Env {
        self.raw.as_ptr()
    }

    /// Syncs all that was written, whatever the flags.
    pub fn sync(&self) -> Result<()> {
        // SAFETY: the environment is open.
        check::<L>(unsafe { L::env_sync(self.raw.as_ptr()) })
    }

    /// Runs `work` in a write transaction, which commits unless `work` fails. Waits for other writers.
    pub fn write<T>(&self, work: impl FnOnce(&mut Writer<'_, L>) -> Result<T>) -> Result<T> {
        let mut writer = self.begin(0)?;
        let value = work(&mut writer)?;
        writer.commit()?;
        Ok(value)
    }

    #[cfg(feature = "libmdbx")]
    pub fn with_reader<T>(&self, read: impl FnOnce(*mut L::Txn, c_uint) -> T) -> Result<T> {
        let reading = self.begin(L::READ_ONLY)?;
        Ok(read(reading.raw.as_ptr(), self.database))
    }

    pub fn reader(&self) -> Result<Reader<'_, L>> {
        let reading = self.begin(L::READ_ONLY)?;
        let (raw, mut cursor) = (reading.raw, ptr::null_mut());
        // SAFETY: the transaction has just begun, and stands for the kept one that `reader` owns.
        check::<L>(unsafe { L::cursor_open(raw.as_ptr(), self.database, &mut cursor) })?;
        let cursor = non_null::<L, _>(cursor)?;
        // From here on, it is not undone.
        std::mem::forget(reading);
        // SAFETY: it has begun and is not in use; `Reader` holds it reset between uses.
        unsafe { L::reset(raw.as_ptr()) };
        Ok(Reader { raw, cursor, database: self.database, environment: PhantomData })
    }

    /// A transaction that is undone when it is dropped: there is nothing in one that reads.
    pub fn hold(&self) -> Result<impl Sized + '_> {
        self.begin(L::READ_ONLY)
    }

    fn begin(&self, flags: c_uint) -> Result<Writer<'_, L>> {
        let mut raw = ptr::null_mut();
        // SAFETY: the environment is open.
        check::<L>(unsafe { L::begin(self.raw.as_ptr(), flags, &mut raw) })?;
        Ok(Writer { raw: non_null::<L, _>(raw)?, database: self.database, environment: PhantomData })
    }
}

impl<L: Library> Drop for Environment<L> {
    fn drop(&mut self) {
        // SAFETY: transactions borrow the environment, so none is left.
        unsafe { L::env_close(self.raw.as_ptr()) };
    }
}

/// A transaction, mostly one that writes. Dropping it rolls back.
pub struct Writer<'a, L: Library> {
    raw: NonNull<L::Txn>,
    database: c_uint,
    environment: PhantomData<(&'a Environment<L>, *mut ())>,
}

impl<L: Library> Writer<'_, L> {
    pub fn put(&mut self, key: &[u8], value: &[u8], flags: c_uint) -> Result<()> {
        let (mut key, mut value) = (L::val(key), L::val(value));
        // SAFETY: the transaction is live; the library copies both, and writes to neither unless room is reserved.
        check::<L>(unsafe { L::put(self.raw.as_ptr(), self.database, &mut key, &mut value, flags) })
    }

    /// The value, valid until this transaction's next write.
    pub fn value(&self, key: &[u8]) -> Result<Option<&[u8]>> {
        let (mut key, mut value) = (L::val(key), L::val(&[]));
        // SAFETY: the transaction is live.
        let code = unsafe { L::get(self.raw.as_ptr(), self.database, &mut key, &mut value) };
        // SAFETY: what it points to stays until the transaction's next write, for which this borrow must end.
        Ok(check_found::<L>(code)?.then(|| unsafe { bytes_of::<L>(&value) }))
    }

    pub fn delete(&mut self, key: &[u8]) -> Result<()> {
        let mut key = L::val(key);
        // SAFETY: the transaction is live; the key is only read.
        check::<L>(unsafe { L::delete(self.raw.as_ptr(), self.database, &mut key) })
    }

    fn open_database(&mut self) -> Result<c_uint> {
        let mut database = 0;
        // SAFETY: the transaction is live.
        check::<L>(unsafe { L::open_unnamed(self.raw.as_ptr(), &mut database) })?;
        Ok(database)
    }

    fn commit(self) -> Result<()> {
        let raw = self.raw;
        // Committing frees the transaction, even when it fails.
        std::mem::forget(self);
        // SAFETY: the transaction is live, and nothing uses it after this.
        check::<L>(unsafe { L::commit(raw.as_ptr()) })
    }
}

impl<L: Library> Drop for Writer<'_, L> {
    fn drop(&mut self) {
        // SAFETY: the transaction is live: `commit` forgets itself.
        unsafe { L::abort(self.raw.as_ptr()) };
    }
}

/// A read transaction and its cursor, kept without a snapshot between uses.
pub struct Reader<'a, L: Library> {
    raw: NonNull<L::Txn>,
    cursor: NonNull<L::Cursor>,
    database: c_uint,
    environment: PhantomData<(&'a Environment<L>, *mut ())>,
}

impl<L: Library> Reader<'_, L> {
    pub fn snapshot(&mut self) -> Result<Snapshot<'_, L>> {
        // SAFETY: the transaction is reset: a snapshot borrows the reader and resets it when it goes.
        check::<L>(unsafe { L::renew(self.raw.as_ptr()) })?;
        Ok(Snapshot { reader: self })
    }
}

impl<L: Library> Drop for Reader<'_, L> {
    fn drop(&mut self) {
        // SAFETY: both are live, and nothing uses them after this.
        unsafe {
            L::cursor_close(self.cursor.as_ptr());
            L::abort(self.raw.as_ptr());
        }
    }
}

pub struct Snapshot<'a, L: Library> {
    reader: &'a Reader<'a, L>,
}

impl<L: Library> Snapshot<'_, L> {
    pub fn get(&self, key: &[u8]) -> Result<Option<&[u8]>> {
        let (mut key, mut value) = (L::val(key), L::val(&[]));
        let Reader { raw, database, .. } = self.reader;
        // SAFETY: the transaction is live.
        let code = unsafe { L::get(raw.as_ptr(), *database, &mut key, &mut value) };
        // SAFETY: it points into the map, which does not change under a live read transaction.
        Ok(check_found::<L>(code)?.then(|| unsafe { bytes_of::<L>(&value) }))
    }

    /// Shows up to `limit` records from `from` on, in order; gives their number.
    pub fn scan(&self, from: &[u8], limit: usize, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize> {
        let cursor = self.reader.cursor.as_ptr();
        // SAFETY: the transaction is live, and the cursor is one of its database.
        check::<L>(unsafe { L::cursor_renew(self.reader.raw.as_ptr(), cursor) })?;
        let (mut key, mut value) = (L::val(from), L::val(&[]));
        // LMDB looks for no empty key; the first record is the first from there.
        let mut step = if from.is_empty() { L::FIRST } else { L::SET_RANGE };
        for count in 0..limit {
            // SAFETY: the cursor was renewed for the live transaction.
            if !check_found::<L>(unsafe { L::cursor_get(cursor, &mut key, &mut value, step) })? {
                return Ok(count);
            }
            // SAFETY: as in `get`.
            unsafe { visit(bytes_of::<L>(&key), bytes_of::<L>(&value)) };
            step = L::NEXT;
        }
        Ok(limit)
    }
}

impl<L: Library> Drop for Snapshot<'_, L> {
    fn drop(&mut self) {
        // SAFETY: the transaction is live; it may be renewed after this.
        unsafe { L::reset(self.reader.raw.as_ptr()) };
    }
}

fn non_null<L: Library, T>(raw: *mut T) -> Result<NonNull<T>> {
    NonNull::new(raw).ok_or_else(|| StoreError::Engine(format!("{} made nothing", L::NAME)))
}

/// # Safety
/// The library filled in `value`, in a transaction that lives as long as the result.
unsafe fn bytes_of<'a, L: Library>(value: &L::Val) -> &'a [u8] {
    match L::parts(value) {
        // Wherever it points.
        (_, 0) => &[],
        // SAFETY: the caller's promise.
        (start, length) => unsafe { std::slice::from_raw_parts(start, length) },
    }
}

fn check_found<L: Library>(code: c_int) -> Result<bool> {
    match check::<L>(code) {
        Ok(()) => Ok(true),
        Err(StoreError::Missing) => Ok(false),
        Err(error) => Err(error),
    }
}

pub fn check<L: Library>(code: c_int) -> Result<()> {
    if code == 0 { Ok(()) } else { Err(error_from_code::<L>(code)) }
}

fn error_from_code<L: Library>(code: c_int) -> StoreError {
    if code == L::NOT_FOUND {
        StoreError::Missing
    } else if code == L::KEY_EXISTS {
        StoreError::Exists
    } else if code == L::BAD_SIZE {
        StoreError::Unsupported(format!("{} takes keys of {}", L::NAME, L::KEYS))
    } else {
        // SAFETY: the library has a text for every code, in static memory or in the C library's.
        let text = unsafe { CStr::from_ptr(L::text(code)) };
        StoreError::Engine(format!("{}: {}", L::NAME, text.to_string_lossy()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::testing::{new_folder, opened, setting};

    #[test]
    fn the_map_costs_no_disk_and_a_full_one_is_an_error_that_leaves_the_records() {
        for (name, size, file) in [("lmdb", "map_size", "data.mdb"), ("libmdbx", "size_upper", "mdbx.dat")] {
            let def = crate::STORES.iter().find(|def| def.name == name).unwrap();
            if def.open.is_err() {
                continue;
            }
            let folder = new_folder();
            let store = opened(def, &folder, None, &[]);
            assert_eq!(setting(&*store, size), def.capabilities.max_bytes.to_string());
            store.session().unwrap().insert(b"key", b"value").unwrap();
            assert!(folder.path().join(file).metadata().unwrap().len() < 1 << 20, "{name}");
            let full = [(size, "1048576")];
            assert_eq!(def.capabilities_with(full).max_bytes, 1 << 20);
            let folder = new_folder();
            let store = opened(def, &folder, None, &full);
            let mut session = store.session().unwrap();
            session.insert(b"small", b"value").unwrap();
            assert!(matches!(session.insert(b"large", &[0; 2 << 20]), Err(StoreError::Engine(_))), "{name}");
            assert!(session.get(b"small", &mut |value| assert_eq!(value, b"value")).unwrap());
            assert_eq!(store.count().unwrap(), 1);
        }
    }
}
