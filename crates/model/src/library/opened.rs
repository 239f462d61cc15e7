//! An open store of a library, and its sessions.

use std::any::Any;
use std::ffi::{CString, c_void};
use std::os::unix::ffi::OsStrExt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::{ptr, slice};

use super::described::guarantee_by_number;
use super::ffi;
use super::loaded::{LoadedLibrary, Table, list, text};
use crate::result::COUNTED_BY_LIBRARY;
use crate::store::{
    GivenSettings, Guarantee, OpenOptions, Result, Session, Setting, SettingDef, Store, StoreBuild,
    StoreError, hold_to_tier,
};

/// Opens a library's store by its entry's name, settings and longest key.
pub fn open(
    loaded: &'static LoadedLibrary,
    (name, known, max_key_bytes): (&str, &[SettingDef], usize),
    options: &OpenOptions<'_>,
) -> Result<Box<dyn Store>> {
    GivenSettings::new(options, known)?;
    let calls = LibraryCalls::new(loaded.table(name).map_err(StoreError::Engine)?)?;
    let to_c_string = |text: &str| {
        CString::new(text).map_err(|_| StoreError::BadSetting("a setting's value holds a zero byte".into()))
    };
    let pairs: Vec<(CString, CString)> = options
        .settings
        .iter()
        .map(|(name, value)| Ok((to_c_string(name)?, to_c_string(value)?)))
        .collect::<Result<_>>()?;
    let settings = pairs.iter().map(|(name, value)| (name.as_ptr(), value.as_ptr()));
    let settings: Vec<_> = settings.map(|(name, value)| ffi::Value { name, value, read_back: 0 }).collect();
    let folder = CString::new(options.directory.as_os_str().as_bytes())
        .map_err(|_| StoreError::Engine("the folder's name holds a zero byte".into()))?;
    let parameters = ffi::How {
        size: size_of::<ffi::How>(),
        folder: folder.as_ptr(),
        tier: options.guarantee.map_or(ffi::AS_SHIPPED, |tier| tier as i32),
        compress: i32::from(options.compression),
        cache_bytes: options.cache_bytes.unwrap_or(u64::MAX),
        sessions: options.sessions as u64,
        settings: settings.as_ptr(),
        setting_count: settings.len(),
    };
    let mut store = ptr::null_mut();
    // SAFETY: as the header declares it; all that is passed lives until it returns.
    let open = |error| unsafe { (calls.open)(calls.table.0, &raw const parameters, &raw mut store, error) };
    ErrorBuffer::new().call("open", open)?;
    // SAFETY: it was opened.
    let tier_code = unsafe { (calls.tier)(store) };
    let guarantee = guarantee_by_number(tier_code);
    let opened = Box::new(LibraryStore {
        calls,
        store: Some(store),
        guarantee,
        source: format!("a library of one's own: {}", loaded.library.path.display()),
        max_key_bytes,
    });
    if guarantee as i32 != tier_code {
        return Err(StoreError::Engine(format!("the library's tier gave {tier_code}, which is no tier")));
    }
    if !options.settings.is_empty() {
        hold_to_tier(options, guarantee)?;
    }
    Ok(opened)
}

/// Makes a struct of a table's functions, all present.
macro_rules! library_calls {
    ($($name:ident: $type:ident),+) => {
        #[derive(Clone, Copy)]
        struct LibraryCalls {
            table: Table,
            $($name: ffi::$type),+
        }

        impl LibraryCalls {
            fn new(table: Table) -> Result<LibraryCalls> {
                let calls = || Some(LibraryCalls { table, $($name: table.0.$name?),+ });
                let why = "the library's table has changed since it was checked";
                calls().ok_or_else(|| StoreError::Engine(why.into()))
            }
        }
    };
}

library_calls! {
    open: Open, close: StoreFunction, tier: Tier, count: Number, settle: StoreFunction, read_settings: Values,
    session: Session, end: End, get: Get, put: Put, remove: Remove, batch: Batch
}

struct ErrorBuffer(ffi::Error);

impl ErrorBuffer {
    fn new() -> ErrorBuffer {
        ErrorBuffer(ffi::Error { text: [0; 1024] })
    }

    #[inline(always)]
    fn call(&mut self, name: &'static str, function: impl FnOnce(*mut ffi::Error) -> i32) -> Result<()> {
        match function(&raw mut self.0) {
            ffi::OK => Ok(()),
            code => Err(self.take_error(name, code)),
        }
    }

    /// The error of a code that is not OK. Empties the room.
    #[cold]
    fn take_error(&mut self, function_name: &'static str, code: i32) -> StoreError {
        let text = &mut self.0.text;
        let end = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
        let message = String::from_utf8_lossy(&text[..end]).trim().to_owned();
        text[0] = 0;
        let unsaid = || format!("the library's {function_name} failed and did not say why");
        let message = Some(message).filter(|text| !text.is_empty()).unwrap_or_else(unsaid);
        match code {
            ffi::UNSUPPORTED => StoreError::Unsupported(message),
            ffi::BAD_SETTING => StoreError::BadSetting(message),
            ffi::FAILED => StoreError::Engine(message),
            ffi::MISSING => StoreError::Missing,
            code => {
                StoreError::Engine(format!("the library's {function_name} gave {code}, which is no SB_ code"))
            }
        }
    }
}

struct LibraryStore {
    calls: LibraryCalls,
    /// The library's handle, which may be NULL; `None` once closed.
    store: Option<*mut c_void>,
    guarantee: Guarantee,
    source: String,
    max_key_bytes: usize,
}

// SAFETY: the header says that any thread may call the functions of a store, several at once.
unsafe impl Send for LibraryStore {}
// SAFETY: as above.
unsafe impl Sync for LibraryStore {}

impl LibraryStore {
    fn close_once(&mut self) -> Result<()> {
        let Some(store) = self.store.take() else { return Ok(()) };
        // SAFETY: it is open, has no sessions, and is not used again.
        ErrorBuffer::new().call("close", |error| unsafe { (self.calls.close)(store, error) })
    }

    fn handle(&self) -> *mut c_void {
        self.store.unwrap_or(ptr::null_mut())
    }

    fn number(&self, function_name: &'static str, number: ffi::Number) -> Result<u64> {
        let mut result = 0;
        // SAFETY: the store is open.
        let call = |error| unsafe { number(self.handle(), &raw mut result, error) };
        ErrorBuffer::new().call(function_name, call)?;
        Ok(result)
    }

    fn values(&self, function_name: &'static str, values: ffi::Values) -> Result<Vec<Setting>> {
        let (mut first, mut count) = (ptr::null(), 0);
        // SAFETY: the store is open.
        let call = |error| unsafe { values(self.handle(), &raw mut first, &raw mut count, error) };
        ErrorBuffer::new().call(function_name, call)?;
        let to_error = |why: String| StoreError::Engine(format!("the library's {function_name}: {why}"));
        let setting = |value: &ffi::Value| {
            let (name, value_text) = (text("a name", value.name)?, text("a value", value.value)?);
            Ok(match value.read_back {
                0 => Setting::unverified(name, value_text),
                _ => Setting::read_back(name, value_text),
            })
        };
        let values = list(function_name, first, count).map_err(to_error)?;
        values.iter().map(setting).collect::<std::result::Result<_, _>>().map_err(to_error)
    }
}

impl Drop for LibraryStore {
    fn drop(&mut self) {
        let _ = self.close_once();
    }
}

impl Store for LibraryStore {
    fn session(&self) -> Result<Box<dyn Session + '_>> {
        let mut session = ptr::null_mut();
        // SAFETY: the store is open.
        let open = |error| unsafe { (self.calls.session)(self.handle(), &raw mut session, error) };
        ErrorBuffer::new().call("session", open)?;
        Ok(Box::new(LibrarySession {
            calls: self.calls,
            session,
            error: ErrorBuffer::new(),
            shown: (ptr::null(), 0),
            copies: self.calls.table.0.flags & ffi::COPIES != 0,
            changes: Vec::new(),
            max_key_bytes: self.max_key_bytes,
            store: self,
        }))
    }

    fn guarantee(&self) -> Guarantee {
        self.guarantee
    }

    fn count(&self) -> Result<u64> {
        self.number("count", self.calls.count)
    }

    fn settle(&self) -> Result<()> {
        // SAFETY: the store is open.
        ErrorBuffer::new().call("settle", |error| unsafe { (self.calls.settle)(self.handle(), error) })
    }

    fn settings(&self) -> Result<Vec<Setting>> {
        self.values("read_settings", self.calls.read_settings)
    }

    fn syncs(&self) -> Result<Option<u64>> {
        self.calls.table.0.syncs.map(|syncs| self.number("syncs", syncs)).transpose()
    }

    fn build(&self) -> Option<StoreBuild> {
        Some(StoreBuild::new(self.source.clone(), None, None))
    }

    fn verify(&mut self) -> Result<bool> {
        let Some(verify) = self.calls.table.0.verify else { return Ok(false) };
        // SAFETY: the store is open.
        ErrorBuffer::new().call("verify", |error| unsafe { verify(self.handle(), error) }).map(|()| true)
    }

    fn statistics(&self) -> Result<Vec<Setting>> {
        let own_statistics =
            self.calls.table.0.statistics.map(|statistics| self.values("statistics", statistics));
        let syncs = self.syncs()?.map(|syncs| Setting::read_back(COUNTED_BY_LIBRARY, syncs));
        Ok(own_statistics.transpose()?.unwrap_or_default().into_iter().chain(syncs).collect())
    }

    fn close(mut self: Box<Self>) -> Result<()> {
        self.close_once()
    }
}

struct LibrarySession<'a> {
    calls: LibraryCalls,
    session: *mut c_void,
    error: ErrorBuffer,
    /// The value shown last, where it lies until the next call.
    shown: (*const u8, usize),
    copies: bool,
    /// Kept, so that a batch takes no memory.
    changes: Vec<ffi::Change>,
    max_key_bytes: usize,
    #[allow(dead_code, reason = "the session ends before the store is closed")]
    store: &'a LibraryStore,
}

impl LibrarySession<'_> {
    #[inline(always)]
    fn check_key(&self, key: &[u8]) -> Result<()> {
        if key.len() <= self.max_key_bytes { Ok(()) } else { Err(too_long(key.len(), self.max_key_bytes)) }
    }

    #[inline(always)]
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.check_key(key)?;
        let (put, session) = (self.calls.put, self.session);
        let (first_key_byte, first_value_byte) = (key.as_ptr().cast(), value.as_ptr().cast());
        // SAFETY: the session is open, and this thread's; what is passed lives until it returns.
        self.error.call("put", |error| unsafe {
            put(session, first_key_byte, key.len(), first_value_byte, value.len(), error)
        })
    }

    fn batch(&mut self) -> Result<()> {
        let (batch, session, changes) = (self.calls.batch, self.session, &self.changes);
        // SAFETY: as for put.
        self.error.call("batch", |error| unsafe { batch(session, changes.as_ptr(), changes.len(), error) })
    }
}

#[cold]
fn too_long(length: usize, max_bytes: usize) -> StoreError {
    StoreError::Unsupported(format!("a key of {length} bytes; the longest has {max_bytes}"))
}

#[inline(always)]
fn bytes<'a>(function_name: &str, first: *const c_void, length: usize) -> Result<&'a [u8]> {
    if length == 0 {
        return Ok(&[]);
    }
    if first.is_null() || length > isize::MAX as usize {
        let why = format!("the library's {function_name} showed {length} bytes at {first:?}");
        return Err(StoreError::Engine(why));
    }
    // SAFETY: by the header, `length` bytes are there until the next call.
    Ok(unsafe { slice::from_raw_parts(first.cast(), length) })
}

impl Drop for LibrarySession<'_> {
    fn drop(&mut self) {
        // SAFETY: it is open, this thread's, and not used again.
        unsafe { (self.calls.end)(self.session) }
    }
}

struct ScanContext<'a> {
    visit: &'a mut dyn FnMut(&[u8], &[u8]),
    shown_count: usize,
    limit: usize,
    outcome: Result<()>,
    /// The panic of the visitor, which must not pass the library.
    panic: Option<Box<dyn Any + Send>>,
}

unsafe extern "C" fn show_record(
    context: *mut c_void,
    key: *const c_void,
    key_len: usize,
    value: *const c_void,
    value_len: usize,
) {
    // SAFETY: it is what `scan` below passes, and nobody else's meanwhile.
    let scanning = unsafe { &mut *context.cast::<ScanContext<'_>>() };
    scanning.shown_count += 1;
    if scanning.shown_count > scanning.limit || scanning.panic.is_some() {
        return;
    }
    match bytes("scan", key, key_len).and_then(|key| Ok((key, bytes("scan", value, value_len)?))) {
        Ok((key, value)) => {
            let visited = catch_unwind(AssertUnwindSafe(|| (scanning.visit)(key, value)));
            scanning.panic = visited.err();
        }
        Err(error) => scanning.outcome = Err(error),
    }
}

impl Session for LibrarySession<'_> {
    fn insert(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.put(key, value)
    }

    fn update(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.put(key, value)
    }

    fn get(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        let (mut first, mut length) = (ptr::null(), 0);
        // SAFETY: as for put.
        let code = unsafe {
            (self.calls.get)(
                self.session,
                key.as_ptr().cast(),
                key.len(),
                &raw mut first,
                &raw mut length,
                &raw mut self.error.0,
            )
        };
        match code {
            ffi::OK => {
                let value = bytes("get", first, length)?;
                self.shown = (value.as_ptr(), value.len());
                visit(value);
                Ok(true)
            }
            ffi::MISSING => Ok(false),
            code => Err(self.error.take_error("get", code)),
        }
    }

    fn copied(&self) -> Option<&[u8]> {
        let (first, length) = self.shown;
        if !self.copies {
            return None;
        }
        // SAFETY: it was shown by the last call, and lies there until the next one.
        Some(if length == 0 { &[] } else { unsafe { slice::from_raw_parts(first, length) } })
    }

    fn remove(&mut self, key: &[u8]) -> Result<()> {
        let (remove, session) = (self.calls.remove, self.session);
        // SAFETY: as for put.
        match unsafe { remove(session, key.as_ptr().cast(), key.len(), &raw mut self.error.0) } {
            ffi::OK | ffi::MISSING => Ok(()),
            code => Err(self.error.take_error("remove", code)),
        }
    }

    fn scan(&mut self, from: &[u8], limit: usize, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize> {
        let Some(scan) = self.calls.table.0.scan.filter(|_| self.calls.table.0.flags & ffi::ORDERED != 0)
        else {
            return Err(StoreError::Unsupported("this store keeps no order".into()));
        };
        let mut scanning = ScanContext { visit, shown_count: 0, limit, outcome: Ok(()), panic: None };
        let (session, context) = (self.session, (&raw mut scanning).cast());
        // SAFETY: as for put; the context is what `show_record` expects.
        let called = self.error.call("scan", |error| unsafe {
            scan(session, from.as_ptr().cast(), from.len(), limit, show_record, context, error)
        });
        let ScanContext { shown_count, outcome, panic, .. } = scanning;
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
        called.and(outcome)?;
        if shown_count > limit {
            let why = format!("the library's scan showed {shown_count} records, but {limit} were asked for");
            return Err(StoreError::Engine(why));
        }
        Ok(shown_count)
    }

    fn insert_batch(&mut self, records: &[(&[u8], &[u8])]) -> Result<()> {
        self.changes.clear();
        for (key, value) in records {
            self.check_key(key)?;
            self.changes.push(change(key, value.as_ptr().cast(), value.len()));
        }
        self.batch()
    }

    fn remove_batch(&mut self, keys: &[&[u8]]) -> Result<()> {
        self.changes.clear();
        self.changes.extend(keys.iter().map(|key| change(key, ptr::null(), 0)));
        self.batch()
    }
}

fn change(key: &[u8], value: *const c_void, value_len: usize) -> ffi::Change {
    ffi::Change { key: key.as_ptr().cast(), key_len: key.len(), value, value_len }
}
