//! Turso, SQLite's format in Rust, as a store of records by `storebench_store.h`: one table with a primary key. Build and run it:
//! `make -C examples rust-turso`, then `storebench --store-library examples/build/librust-turso.so ...`

#[allow(dead_code)]
#[path = "../../../crates/model/src/library/ffi.rs"]
mod ffi;
mod store;

use std::ffi::{CStr, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::slice;

use ffi::{BAD_SETTING, FAILED, MISSING, OK};
use store::{Connected, Opened, TOLD};

/// A call that did not succeed: its code, and why.
struct Failed(i32, String);

impl<E: std::error::Error> From<E> for Failed {
    fn from(error: E) -> Failed {
        Failed(FAILED, error.to_string())
    }
}

/// Runs a call, whose error and panic become a code and a text: nothing may unwind out of a library.
fn call(error: *mut ffi::Error, work: impl FnOnce() -> Result<i32, Failed>) -> i32 {
    let ended = catch_unwind(AssertUnwindSafe(work));
    let Failed(code, why) = match ended {
        Ok(Ok(code)) => return code,
        Ok(Err(failed)) => failed,
        Err(_) => Failed(FAILED, "it panicked".into()),
    };
    // SAFETY: the caller's, and good until this returns.
    if let Some(error) = unsafe { error.as_mut() } {
        let length = why.len().min(error.text.len() - 1);
        error.text[..length].copy_from_slice(&why.as_bytes()[..length]);
        error.text[length] = 0;
    }
    code
}

/// The bytes of a key or value: without an address where there are none.
///
/// # Safety
/// They are `length` bytes, good until the call returns.
unsafe fn bytes<'a>(at: *const c_void, length: usize) -> &'a [u8] {
    if length == 0 { &[] } else { unsafe { slice::from_raw_parts(at.cast(), length) } }
}

/// A text of the caller's.
///
/// # Safety
/// It ends with a zero.
unsafe fn text<'a>(at: *const c_char) -> &'a CStr {
    unsafe { CStr::from_ptr(at) }
}

// SAFETY, of all functions below: storebench calls them as the header says, with what they gave it and with addresses that are good until
// they return.

unsafe extern "C" fn open(
    _: *const ffi::Store,
    how: *const ffi::How,
    out: *mut *mut c_void,
    error: *mut ffi::Error,
) -> i32 {
    call(error, || unsafe {
        let how = &*how;
        let given: &[ffi::Value] = match how.setting_count {
            0 => &[],
            count => slice::from_raw_parts(how.settings, count),
        };
        let mut synchronous = match how.tier {
            NONE => "off",
            PROCESS => "normal",
            _ => "full",
        };
        for setting in given {
            let value = text(setting.value).to_string_lossy();
            let known = SYNCHRONOUS.into_iter().find(|known| *known == value);
            let refused = || Failed(BAD_SETTING, format!("synchronous={value} is none of off, normal, full"));
            synchronous = known.ok_or_else(refused)?;
        }
        let cache_kib = (how.cache_bytes != u64::MAX).then(|| how.cache_bytes / 1024 / how.sessions.max(1));
        *out = Box::into_raw(Box::new(Opened::open(text(how.folder), synchronous, cache_kib)?)).cast();
        Ok(OK)
    })
}

unsafe extern "C" fn close(store: *mut c_void, error: *mut ffi::Error) -> i32 {
    call(error, || unsafe {
        drop(Box::from_raw(store.cast::<Opened>()));
        Ok(OK)
    })
}

unsafe extern "C" fn tier(store: *mut c_void) -> i32 {
    match unsafe { &*store.cast::<Opened>() }.synchronous {
        "off" => NONE,
        "normal" => PROCESS,
        _ => POWER,
    }
}

unsafe extern "C" fn count(store: *mut c_void, records: *mut u64, error: *mut ffi::Error) -> i32 {
    call(error, || unsafe {
        *records = (*store.cast::<Opened>()).count()?;
        Ok(OK)
    })
}

unsafe extern "C" fn settle(store: *mut c_void, error: *mut ffi::Error) -> i32 {
    call(error, || unsafe {
        (*store.cast::<Opened>()).settle()?;
        Ok(OK)
    })
}

unsafe extern "C" fn read_settings(
    store: *mut c_void,
    values: *mut *const ffi::Value,
    count: *mut usize,
    error: *mut ffi::Error,
) -> i32 {
    call(error, || unsafe {
        let store = &mut *store.cast::<Opened>();
        store.read_settings()?;
        (*values, *count) = (store.told.as_ptr(), TOLD.len());
        Ok(OK)
    })
}

unsafe extern "C" fn session(store: *mut c_void, out: *mut *mut c_void, error: *mut ffi::Error) -> i32 {
    call(error, || unsafe {
        *out = Box::into_raw(Box::new((*store.cast::<Opened>()).session()?)).cast();
        Ok(OK)
    })
}

unsafe extern "C" fn end(session: *mut c_void) {
    call(ptr::null_mut(), || unsafe {
        drop(Box::from_raw(session.cast::<Connected>()));
        Ok(OK)
    });
}

unsafe extern "C" fn get(
    session: *mut c_void,
    key: *const c_void,
    key_len: usize,
    value: *mut *const c_void,
    value_len: *mut usize,
    error: *mut ffi::Error,
) -> i32 {
    call(error, || unsafe {
        let session = &mut *session.cast::<Connected>();
        let Some(found) = session.get(bytes(key, key_len))? else { return Ok(MISSING) };
        (*value, *value_len) = (found.as_ptr().cast(), found.len());
        Ok(OK)
    })
}

unsafe extern "C" fn put(
    session: *mut c_void,
    key: *const c_void,
    key_len: usize,
    value: *const c_void,
    value_len: usize,
    error: *mut ffi::Error,
) -> i32 {
    call(error, || unsafe {
        let change = (bytes(key, key_len), Some(bytes(value, value_len)));
        (*session.cast::<Connected>()).change([change])?;
        Ok(OK)
    })
}

unsafe extern "C" fn remove(
    session: *mut c_void,
    key: *const c_void,
    key_len: usize,
    error: *mut ffi::Error,
) -> i32 {
    call(error, || unsafe {
        (*session.cast::<Connected>()).change([(bytes(key, key_len), None)])?;
        Ok(OK)
    })
}

unsafe extern "C" fn batch(
    session: *mut c_void,
    changes: *const ffi::Change,
    count: usize,
    error: *mut ffi::Error,
) -> i32 {
    call(error, || unsafe {
        let changes = if count == 0 { &[] } else { slice::from_raw_parts(changes, count) };
        let changes = changes.iter().map(|change| {
            let value = (!change.value.is_null()).then(|| bytes(change.value, change.value_len));
            (bytes(change.key, change.key_len), value)
        });
        (*session.cast::<Connected>()).change(changes)?;
        Ok(OK)
    })
}

unsafe extern "C" fn scan(
    session: *mut c_void,
    from: *const c_void,
    from_len: usize,
    limit: usize,
    visit: ffi::Visit,
    context: *mut c_void,
    error: *mut ffi::Error,
) -> i32 {
    call(error, || unsafe {
        (*session.cast::<Connected>()).scan(bytes(from, from_len), limit, |key, value| {
            visit(context, key.as_ptr().cast(), key.len(), value.as_ptr().cast(), value.len());
        })?;
        Ok(OK)
    })
}

/// What an accident can cost, and what writes survive, by the numbers of the header.
const WHOLE: i32 = 0;
const NEWEST: i32 = 3;
const NOTHING: i32 = 6;
const NONE: i32 = 0;
const PROCESS: i32 = 1;
const POWER: i32 = 2;
const ONE_WRITER: i32 = 1;

const SYNCHRONOUS: [&str; 3] = ["off", "normal", "full"];

/// A table whose texts are all of this program.
struct Table<T>(T);

// SAFETY: nobody writes to it.
unsafe impl<T> Sync for Table<T> {}

const fn offer(tier: i32, power_cut_costs: i32, settings: &'static CStr) -> ffi::Offer {
    let (settings, why) = (settings.as_ptr(), ptr::null());
    ffi::Offer { tier, atomic_replace: 1, kill_costs: NOTHING, power_cut_costs, settings, why }
}

static OFFERS: Table<[ffi::Offer; 3]> = Table([
    offer(NONE, WHOLE, c"synchronous=off"),
    offer(PROCESS, NEWEST, c"synchronous=normal"),
    offer(POWER, NOTHING, c"synchronous=full"),
]);

static SETTINGS: Table<[ffi::Setting; 1]> = Table([ffi::Setting {
    name: c"synchronous".as_ptr(),
    values: c"off, normal, full".as_ptr(),
    default_value: c"full".as_ptr(),
    help: c"what waits for the disk: nothing, checkpoints, each commit".as_ptr(),
    promise: c"full: power; normal: process; off: none".as_ptr(),
    tune: ptr::null(),
    in_bytes: 0,
}]);

static STORE: Table<ffi::Store> = Table(ffi::Store {
    size: size_of::<ffi::Store>(),
    name: c"turso".as_ptr(),
    summary: c"SQLite's format in Rust, by its crate turso".as_ptr(),
    practice: c"SQLite's files: one, and its log; tools for SQLite read them; one process at a time".as_ptr(),
    version: c"0.8.3".as_ptr(),
    codec: ptr::null(),
    flags: ffi::ORDERED | ffi::ATOMIC_BATCH | ffi::REPLACES_WHOLE | ffi::COPIES,
    max_key_bytes: 1 << 20,
    max_bytes: u64::MAX,
    sessions: ONE_WRITER,
    shipped: POWER,
    offers: OFFERS.0.as_ptr(),
    offer_count: OFFERS.0.len(),
    settings: SETTINGS.0.as_ptr(),
    setting_count: SETTINGS.0.len(),
    open: Some(open),
    close: Some(close),
    tier: Some(tier),
    count: Some(count),
    settle: Some(settle),
    read_settings: Some(read_settings),
    session: Some(session),
    end: Some(end),
    get: Some(get),
    put: Some(put),
    remove: Some(remove),
    batch: Some(batch),
    scan: Some(scan),
    statistics: None,
    syncs: None,
    verify: None,
});

/// The table of the library, where storebench speaks this version.
#[unsafe(no_mangle)]
pub extern "C" fn storebench_stores(version: u32) -> *const ffi::Library {
    static STORES: Table<[*const ffi::Store; 1]> = Table([&raw const STORE.0]);
    static LIBRARY: Table<ffi::Library> =
        Table(ffi::Library { version: ffi::VERSION, count: 1, stores: STORES.0.as_ptr() });
    if version == ffi::VERSION { &raw const LIBRARY.0 } else { ptr::null() }
}
