//! `unqlite`: Symisc's UnQLite, a linear hash table in one file, through its C interface. Built without locks, as shipped, a
//! handle is for one thread at a time.

mod ffi;
#[cfg(test)]
mod tests;

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::fs::File;
use std::mem::ManuallyDrop;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use storebench_model::store::{
    Capabilities, Danger, Guarantee, Loss, OpenOptions, Result, Session, Setting, SettingDef, Store,
    StoreBuild, StoreDef, StoreError, Threads,
};

use self::ffi::{
    UNQLITE_CONFIG_ERR_LOG, UNQLITE_CONFIG_MAX_PAGE_CACHE, UNQLITE_LIB_CONFIG_PAGE_SIZE, UNQLITE_NOTFOUND,
    UNQLITE_OK, UNQLITE_OPEN_CREATE,
};
use super::linked::linked;
use super::one_session::{OneSession, SessionPass};
use super::support::{GivenSettings, expect_taken, offer};

pub const UNQLITE: StoreDef = StoreDef {
    name: "unqlite",
    summary: "linear hash table in one file",
    practice: "one file; back it up while it is closed; one process at a time",
    version: &version,
    capabilities: Capabilities {
        order: false,
        threads: Threads::One,
        max_key_bytes: MAX_KEY_BYTES,
        ..Capabilities::DEFAULT
    },
    offers: &[
        offer(
            Guarantee::None,
            "one transaction, committed when the store is settled or closed",
            &[Danger::new(Loss::Newest, Loss::Newest, "all since it was opened")],
        ),
        offer(
            Guarantee::Power,
            "unqlite_commit after each write: journal, database and folder synced",
            Danger::NOTHING,
        ),
    ],
    shipped: Guarantee::None,
    syncs_at_power: 5.0,
    settings: SETTINGS,
    snippet: Some(include_str!("../snippets/unqlite.c")),
    python: Some(include_str!("../snippets/unqlite.py")),
    open: Ok(&open),
    ..StoreDef::DEFAULT
};

const SETTINGS: &[SettingDef] = &[
    SettingDef::new(
        "page_size",
        "a size, a power of two from 512 bytes to 64 KiB",
        "4096",
        "what the file is read and written in; keys must fit into a page",
    )
    .bytes()
    .capabilities(|value, can| {
        if let Ok(bytes) = value.parse() {
            can.max_key_bytes = max_key_bytes(bytes);
        }
    })
    .read_by("the file's header, once it is written")
    .tune(&["1024", "8192", "16384", "65536"]),
    SettingDef::new(
        "max_page_cache",
        "none: UnQLite takes a number and never uses it, so each is refused",
        "no limit",
        "pages to keep in memory",
    )
    .varying(),
];

/// The engine takes longer keys, but does not find them after a commit when they fill more than a page.
const fn max_key_bytes(page_bytes: u32) -> usize {
    page_bytes.saturating_sub(PAGE_OVERHEAD) as usize
}

/// More than a page's overhead for a key.
const PAGE_OVERHEAD: u32 = 96;

const MAX_KEY_BYTES: usize = max_key_bytes(PAGE_BYTES);

const FILE: &str = "records.unqlite";

/// The engine's default.
const PAGE_BYTES: u32 = 4096;

/// The engine refuses a smaller hint.
const MIN_PAGES: u64 = 256;

/// The library has process-wide lists of open files and memory without a lock. So calls that open or close a file (the journal's,
/// with a transaction's first write) take this one, which matters only with several open stores.
fn library() -> MutexGuard<'static, Library> {
    static LIBRARY: Mutex<Library> = Mutex::new(Library { open: 0, page_bytes: PAGE_BYTES });
    LIBRARY.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Library {
    open: usize,
    page_bytes: u32,
}

impl Library {
    /// Sets the page size of new files, which the engine takes only while no store is open.
    fn set_page_bytes(&mut self, page_bytes: u32) -> Result<()> {
        if self.page_bytes == page_bytes {
            return Ok(());
        }
        if self.open > 0 {
            return Err(StoreError::BadSetting(format!(
                "the setting page_size={page_bytes} can't be met: UnQLite has one page size for all stores of a process, and \
                 one with pages of {} bytes is open",
                self.page_bytes
            )));
        }
        let size = c_int::try_from(page_bytes).map_err(StoreError::engine)?;
        // SAFETY: no store is open, and who holds the library's lock is alone in it; the option takes one int.
        let code = unsafe {
            ffi::unqlite_lib_shutdown();
            ffi::unqlite_lib_config(UNQLITE_LIB_CONFIG_PAGE_SIZE, size)
        };
        if code != UNQLITE_OK {
            let why = format!("UnQLite refuses a page size of {page_bytes}: code {code}");
            return Err(StoreError::Engine(why));
        }
        self.page_bytes = page_bytes;
        Ok(())
    }
}

fn version() -> String {
    // SAFETY: the engine gives a string that lives as long as the program.
    unsafe { CStr::from_ptr(ffi::unqlite_lib_version()) }.to_string_lossy().into_owned()
}

struct UnQLite {
    db: NonNull<ffi::UnQLite>,
    guarantee: Guarantee,
    one_session: OneSession,
    file: PathBuf,
    page_bytes: u32,
    max_page_cache: Option<c_int>,
    /// Whether a transaction that many writes share is open, and its journal.
    in_transaction: AtomicBool,
}

// SAFETY: the handle is not tied to a thread, and `one_session` lets one thread at a time use it.
unsafe impl Send for UnQLite {}
// SAFETY: as above.
unsafe impl Sync for UnQLite {}

fn open(options: &OpenOptions<'_>) -> Result<Box<dyn Store>> {
    let given = GivenSettings::new(options, SETTINGS)?;
    if given.text("max_page_cache").is_some() {
        return Err(given.refuse("max_page_cache", "of any use: UnQLite takes the number and never uses it"));
    }
    let page_bytes = given.number32("page_size", 512..=64 << 10)?.unwrap_or(PAGE_BYTES);
    if !page_bytes.is_power_of_two() {
        return Err(given.refuse("page_size", "a power of two"));
    }
    let guarantee = options.guarantee.unwrap_or(UNQLITE.shipped);
    if UNQLITE.offer(guarantee).is_none() {
        return Err(StoreError::Unsupported(format!("unqlite does not offer the guarantee {guarantee}")));
    }
    let file = options.directory.join(FILE);
    let name = CString::new(file.as_os_str().as_encoded_bytes()).map_err(StoreError::engine)?;
    let mut library = library();
    library.set_page_bytes(page_bytes)?;
    let mut db = ptr::null_mut();
    // SAFETY: the name is a string; a handle that is given back is ours.
    let code = unsafe { ffi::unqlite_open(&raw mut db, name.as_ptr(), UNQLITE_OPEN_CREATE) };
    let Some(db) = NonNull::new(db).filter(|_| code == UNQLITE_OK) else {
        return Err(StoreError::Engine(format!("unqlite_open fails with code {code}")));
    };
    library.open += 1;
    let pages = options.cache_bytes.map(|bytes| (bytes / u64::from(page_bytes)).max(MIN_PAGES));
    let max_page_cache = pages.map(|pages| c_int::try_from(pages).unwrap_or(c_int::MAX));
    let (one_session, in_transaction) = (OneSession::default(), AtomicBool::new(false));
    let store = UnQLite { db, guarantee, one_session, file, page_bytes, max_page_cache, in_transaction };
    // From here on, leaving early closes it, which takes the lock.
    drop(library);
    if let Some(pages) = max_page_cache {
        // SAFETY: the handle is open; this option takes one int.
        check(db, unsafe { ffi::unqlite_config(db.as_ptr(), UNQLITE_CONFIG_MAX_PAGE_CACHE, pages) })?;
    }
    // The engine opens its file with the first call that needs it: make that call here, where it may fail.
    store.fetch(b"-", &mut Vec::new())?;
    store.check_page_size()?;
    Ok(Box::new(store))
}

fn check(db: NonNull<ffi::UnQLite>, code: c_int) -> Result<()> {
    if code == UNQLITE_OK {
        return Ok(());
    }
    let mut text: *const c_char = ptr::null();
    let mut len: c_int = 0;
    // SAFETY: the handle is open; this option takes the places for a string that ends in a zero byte, and its length.
    let log = unsafe {
        ffi::unqlite_config(db.as_ptr(), UNQLITE_CONFIG_ERR_LOG, &raw mut text, &raw mut len);
        if text.is_null() || len <= 0 { "".into() } else { CStr::from_ptr(text).to_string_lossy() }
    };
    // The log is never emptied: its last line is of this error, if the engine wrote one.
    let line = log.lines().last().unwrap_or("the engine says nothing more");
    Err(StoreError::Engine(format!("UnQLite's error {code}: {line}")))
}

/// Receives a value piece by piece, as it lies on the pages.
unsafe extern "C" fn gather(piece: *const c_void, len: c_uint, value: *mut c_void) -> c_int {
    // SAFETY: the engine shows `len` bytes, and hands on the pointer to the buffer that it was given.
    unsafe {
        let piece = std::slice::from_raw_parts(piece.cast::<u8>(), len as usize);
        (*value.cast::<Vec<u8>>()).extend_from_slice(piece);
    }
    UNQLITE_OK
}

impl UnQLite {
    /// Copies a value; gives whether it was there.
    fn fetch(&self, key: &[u8], value: &mut Vec<u8>) -> Result<bool> {
        value.clear();
        let key_len = self.key_len(key)?;
        // SAFETY: the handle is open and this thread's; `gather` gets the buffer, which lives until the call returns.
        let code = unsafe {
            let buffer = ptr::from_mut(value).cast();
            ffi::unqlite_kv_fetch_callback(
                self.db.as_ptr(),
                key.as_ptr().cast(),
                key_len,
                Some(gather),
                buffer,
            )
        };
        match code {
            UNQLITE_NOTFOUND => Ok(false),
            code => check(self.db, code).map(|()| true),
        }
    }

    fn key_len(&self, key: &[u8]) -> Result<c_int> {
        match c_int::try_from(key.len()) {
            Ok(len) if key.len() <= max_key_bytes(self.page_bytes) => Ok(len),
            _ => Err(StoreError::Unsupported(format!("a key of {} bytes is too long", key.len()))),
        }
    }

    fn check_page_size(&self) -> Result<()> {
        self.page_size()?.map_or(Ok(()), |size| expect_taken("page_size", &self.page_bytes, &size))
    }

    /// Takes the library's lock only if the next write opens a file: a transaction's first. Otherwise the lock would cost some percent.
    fn turn_to_write(&self) -> Option<MutexGuard<'static, Library>> {
        (!self.in_transaction.load(Ordering::Relaxed)).then(library)
    }

    fn commit(&self) -> Result<()> {
        self.in_transaction.store(false, Ordering::Relaxed);
        // SAFETY: the handle is open and this thread's.
        check(self.db, unsafe { ffi::unqlite_commit(self.db.as_ptr()) })
    }

    /// Commits after a write if the guarantee needs the disk; undoes a failed write.
    fn end_write(&self, written: Result<()>) -> Result<()> {
        if self.guarantee == Guarantee::None {
            self.in_transaction.store(written.is_ok(), Ordering::Relaxed);
            return written;
        }
        let written = written.and_then(|()| self.commit());
        if written.is_err() {
            // SAFETY: the handle is open and this thread's. If this fails as well, the first error says more.
            unsafe { ffi::unqlite_rollback(self.db.as_ptr()) };
        }
        written
    }

    fn store(&self, key: &[u8], value: &[u8]) -> Result<()> {
        let len = i64::try_from(value.len()).map_err(StoreError::engine)?;
        let (key_ptr, key_len) = (key.as_ptr().cast(), self.key_len(key)?);
        // SAFETY: the handle is open and this thread's; the engine copies key and value.
        let code =
            unsafe { ffi::unqlite_kv_store(self.db.as_ptr(), key_ptr, key_len, value.as_ptr().cast(), len) };
        check(self.db, code)
    }

    fn delete(&self, key: &[u8]) -> Result<bool> {
        let key_len = self.key_len(key)?;
        // SAFETY: the handle is open and this thread's.
        match unsafe { ffi::unqlite_kv_delete(self.db.as_ptr(), key.as_ptr().cast(), key_len) } {
            UNQLITE_NOTFOUND => Ok(false),
            code => check(self.db, code).map(|()| true),
        }
    }

    fn count_records(&self) -> Result<u64> {
        let mut cursor = ptr::null_mut();
        let mut count = 0;
        // SAFETY: the handle is open and this thread's, and so is the cursor until it is released.
        unsafe {
            check(self.db, ffi::unqlite_kv_cursor_init(self.db.as_ptr(), &raw mut cursor))?;
            ffi::unqlite_kv_cursor_first_entry(cursor);
            while ffi::unqlite_kv_cursor_valid_entry(cursor) != 0 {
                count += 1;
                ffi::unqlite_kv_cursor_next_entry(cursor);
            }
            check(self.db, ffi::unqlite_kv_cursor_release(self.db.as_ptr(), cursor))?;
        }
        Ok(count)
    }

    /// The fourth number of 4 bytes behind the name `unqlite` in the file's header; `None` before the first commit.
    fn page_size(&self) -> Result<Option<u32>> {
        let read_error = || StoreError::io(format!("reading {}", self.file.display()));
        let file = File::open(&self.file).map_err(read_error())?;
        let mut bytes = [0; 4];
        match file.read_exact_at(&mut bytes, 7 + 3 * 4) {
            Ok(()) => Ok(Some(u32::from_be_bytes(bytes)).filter(|size| *size > 0)),
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Ok(None),
            Err(error) => Err(read_error()(error)),
        }
    }
}

impl Store for UnQLite {
    fn session(&self) -> Result<Box<dyn Session + '_>> {
        let pass = self.one_session.session()?;
        Ok(Box::new(UnQLiteSession { store: self, _pass: pass, value: Vec::new() }))
    }

    fn guarantee(&self) -> Guarantee {
        self.guarantee
    }

    fn count(&self) -> Result<u64> {
        let _turn = self.one_session.wait_turn()?;
        self.count_records()
    }

    fn settle(&self) -> Result<()> {
        let _turn = self.one_session.wait_turn()?;
        {
            let _library = library();
            self.commit()?;
        }
        self.check_page_size()
    }

    fn build(&self) -> Option<StoreBuild> {
        Some(linked!("UNQLITE").build(ffi::unqlite_open as *const c_void))
    }

    fn settings(&self) -> Result<Vec<Setting>> {
        let mut settings = vec![Setting::unverified(
            "transactions",
            match self.guarantee {
                Guarantee::None => "committed when settled or closed",
                _ => "committed after each write",
            },
        )];
        settings.push(match self.page_size()? {
            Some(bytes) => Setting::read_back("page_size", bytes),
            None => Setting::unverified("page_size", self.page_bytes),
        });
        settings.push(match self.max_page_cache {
            // The engine takes it and does not keep to it: docs/fairness.md says so. Code that is shown needs the number alone.
            Some(pages) => Setting::unverified("max_page_cache", pages),
            None => Setting::as_shipped("max_page_cache"),
        });
        Ok(settings)
    }

    fn close(self: Box<Self>) -> Result<()> {
        let store = ManuallyDrop::new(*self);
        let mut library = library();
        library.open -= 1;
        // SAFETY: `self` is gone, and with it the session; the handle is closed nowhere else, and not used after that.
        match unsafe { ffi::unqlite_close(store.db.as_ptr()) } {
            UNQLITE_OK => Ok(()),
            code => Err(StoreError::Engine(format!("unqlite_close fails with code {code}"))),
        }
    }
}

impl Drop for UnQLite {
    fn drop(&mut self) {
        let mut library = library();
        library.open -= 1;
        // SAFETY: no session is left, and the handle is closed nowhere else.
        unsafe { ffi::unqlite_close(self.db.as_ptr()) };
    }
}

struct UnQLiteSession<'a> {
    store: &'a UnQLite,
    _pass: SessionPass<'a>,
    value: Vec<u8>,
}

impl Session for UnQLiteSession<'_> {
    fn insert(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let _turn = self.store.turn_to_write();
        self.store.end_write(self.store.store(key, value))
    }

    fn update(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.insert(key, value)
    }

    fn get(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        let found = self.store.fetch(key, &mut self.value)?;
        if found {
            visit(&self.value);
        }
        Ok(found)
    }

    fn copied(&self) -> Option<&[u8]> {
        Some(&self.value)
    }

    fn remove(&mut self, key: &[u8]) -> Result<()> {
        self.store.key_len(key)?;
        let _turn = self.store.turn_to_write();
        match self.store.delete(key) {
            Ok(false) => Ok(()),
            removed => self.store.end_write(removed.map(drop)),
        }
    }

    fn scan(&mut self, _: &[u8], _: usize, _: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize> {
        Err(StoreError::Unsupported("unqlite keeps its keys in a hash table, which has no order".into()))
    }

    fn insert_batch(&mut self, records: &[(&[u8], &[u8])]) -> Result<()> {
        let _turn = self.store.turn_to_write();
        let written = records.iter().try_for_each(|(key, value)| self.store.store(key, value));
        self.store.end_write(written)
    }

    fn remove_batch(&mut self, keys: &[&[u8]]) -> Result<()> {
        let _turn = self.store.turn_to_write();
        let removed = keys.iter().try_for_each(|key| self.store.delete(key).map(drop));
        self.store.end_write(removed)
    }
}
