//! `include/storebench_store.h` in Rust: the same names, the same layout.

use std::ffi::{c_char, c_void};

pub const VERSION: u32 = 1;

pub const OK: i32 = 0;
pub const MISSING: i32 = 1;
pub(crate) const UNSUPPORTED: i32 = 2;
pub(crate) const BAD_SETTING: i32 = 3;
pub(crate) const FAILED: i32 = 4;

pub const AS_SHIPPED: i32 = -1;

pub(crate) const ORDERED: u64 = 1 << 0;
pub(crate) const ATOMIC_BATCH: u64 = 1 << 1;
pub(crate) const REPLACES_WHOLE: u64 = 1 << 2;
pub(crate) const COPIES: u64 = 1 << 3;
pub(crate) const OWN_CALLS: u64 = 1 << 4;
pub(crate) const NO_EMPTY_VALUES: u64 = 1 << 5;
pub(crate) const IN_MEMORY: u64 = 1 << 6;
pub(crate) const KEEPS_NOTHING: u64 = 1 << 7;
pub(crate) const ALL_FLAGS: u64 = (1 << 8) - 1;

#[repr(C)]
pub struct Error {
    pub text: [u8; 1024],
}

#[repr(C)]
pub struct Offer {
    pub tier: i32,
    pub atomic_replace: i32,
    pub kill_costs: i32,
    pub power_cut_costs: i32,
    pub settings: *const c_char,
    pub why: *const c_char,
}

#[repr(C)]
pub struct Setting {
    pub name: *const c_char,
    pub values: *const c_char,
    pub default_value: *const c_char,
    pub help: *const c_char,
    pub promise: *const c_char,
    pub tune: *const c_char,
    pub in_bytes: i32,
}

#[repr(C)]
pub struct Value {
    pub name: *const c_char,
    pub value: *const c_char,
    pub read_back: i32,
}

#[repr(C)]
pub struct Change {
    pub key: *const c_void,
    pub key_len: usize,
    pub value: *const c_void,
    pub value_len: usize,
}

#[repr(C)]
pub struct How {
    pub size: usize,
    pub folder: *const c_char,
    pub tier: i32,
    pub compress: i32,
    pub cache_bytes: u64,
    pub sessions: u64,
    pub settings: *const Value,
    pub setting_count: usize,
}

type Handle = *mut c_void;
type Bytes = *const c_void;

pub type Visit = unsafe extern "C" fn(*mut c_void, Bytes, usize, Bytes, usize);
pub type Open = unsafe extern "C" fn(*const Store, *const How, *mut *mut c_void, *mut Error) -> i32;
pub type StoreFunction = unsafe extern "C" fn(*mut c_void, *mut Error) -> i32;
pub type Tier = unsafe extern "C" fn(*mut c_void) -> i32;
pub type Number = unsafe extern "C" fn(*mut c_void, *mut u64, *mut Error) -> i32;
pub type Values = unsafe extern "C" fn(*mut c_void, *mut *const Value, *mut usize, *mut Error) -> i32;
pub type Session = unsafe extern "C" fn(*mut c_void, *mut *mut c_void, *mut Error) -> i32;
pub type End = unsafe extern "C" fn(*mut c_void);
pub type Get = unsafe extern "C" fn(Handle, Bytes, usize, *mut Bytes, *mut usize, *mut Error) -> i32;
pub type Put = unsafe extern "C" fn(Handle, Bytes, usize, Bytes, usize, *mut Error) -> i32;
pub type Remove = unsafe extern "C" fn(Handle, Bytes, usize, *mut Error) -> i32;
pub type Batch = unsafe extern "C" fn(Handle, *const Change, usize, *mut Error) -> i32;
pub type Scan = unsafe extern "C" fn(Handle, Bytes, usize, usize, Visit, *mut c_void, *mut Error) -> i32;

#[repr(C)]
pub struct Store {
    pub size: usize,
    pub name: *const c_char,
    pub summary: *const c_char,
    pub practice: *const c_char,
    pub version: *const c_char,
    pub codec: *const c_char,
    pub flags: u64,
    pub max_key_bytes: u64,
    pub max_bytes: u64,
    pub sessions: i32,
    pub shipped: i32,
    pub offers: *const Offer,
    pub offer_count: usize,
    pub settings: *const Setting,
    pub setting_count: usize,
    pub open: Option<Open>,
    pub close: Option<StoreFunction>,
    pub tier: Option<Tier>,
    pub count: Option<Number>,
    pub settle: Option<StoreFunction>,
    pub read_settings: Option<Values>,
    pub session: Option<Session>,
    pub end: Option<End>,
    pub get: Option<Get>,
    pub put: Option<Put>,
    pub remove: Option<Remove>,
    pub batch: Option<Batch>,
    pub scan: Option<Scan>,
    pub statistics: Option<Values>,
    pub syncs: Option<Number>,
    pub verify: Option<StoreFunction>,
}

#[repr(C)]
pub struct Library {
    pub version: u32,
    pub count: u32,
    pub stores: *const *const Store,
}

pub type Stores = unsafe extern "C" fn(u32) -> *const Library;

pub const STORES: &[u8] = b"storebench_stores\0";
