//! A library in this process: loaded once, and never unloaded, as its stores may have threads.

use std::ffi::{CStr, c_char};
use std::sync::OnceLock;

use libloading::os::unix::{Library as Shared, RTLD_LOCAL, RTLD_NOW};

use super::described::{DescribedOffer, DescribedSetting, DescribedStore};
use super::ffi;
use crate::store::Library;

/// A table with more is garbage, as are the longer lists and texts below.
const MOST_STORES: u32 = 100;
const MOST_VALUES: usize = 10_000;
const MOST_TEXT: usize = 4096;

pub struct LoadedLibrary {
    pub library: Library,
    tables: OnceLock<Result<Vec<Table>, String>>,
}

/// A store's table, which stays for as long as the process lives.
#[derive(Clone, Copy)]
pub struct Table(pub &'static ffi::Store);

// SAFETY: the header says that tables stay as they are, and that any thread may call what is in them.
unsafe impl Send for Table {}
// SAFETY: as above.
unsafe impl Sync for Table {}

impl LoadedLibrary {
    pub fn new(library: Library) -> LoadedLibrary {
        LoadedLibrary { library, tables: OnceLock::new() }
    }

    fn tables(&self) -> Result<&[Table], String> {
        let tables = self.tables.get_or_init(|| {
            load(&self.library).map_err(|why| format!("the library {}: {why}", self.library.path.display()))
        });
        tables.as_deref().map_err(Clone::clone)
    }

    pub fn table(&self, name: &str) -> Result<Table, String> {
        let is_named = |table: &&Table| describe_store(table.0).is_ok_and(|described| described.name == name);
        let table = self.tables()?.iter().find(is_named);
        table
            .copied()
            .ok_or_else(|| format!("the library {} has no store {name}", self.library.path.display()))
    }

    pub fn describe_stores(&self) -> Result<Vec<DescribedStore>, String> {
        let to_error = |why: String| format!("the library {}: {why}", self.library.path.display());
        let check = |table: &Table| {
            let described = describe_store(table.0)?;
            described.check()?;
            check_functions(table.0, &described)?;
            Ok(described)
        };
        self.tables()?.iter().map(check).collect::<Result<_, String>>().map_err(to_error)
    }
}

fn load(library: &Library) -> Result<Vec<Table>, String> {
    // All symbols are bound at once, so that a missing one is an error here, and not a crash later. SAFETY: the user who named
    // the library answers for what its constructors do.
    let shared = unsafe { Shared::open(Some(&library.path), RTLD_NOW | RTLD_LOCAL) };
    let shared = shared.map_err(|error| format!("it can't be loaded: {error}"))?;
    // SAFETY: the header gives the symbol this type.
    let symbol = unsafe { shared.get::<ffi::Stores>(ffi::STORES) };
    let stores = *symbol.map_err(|_| {
        "it exports no function storebench_stores (see storebench_store.h), so it is no library of stores"
            .to_owned()
    })?;
    std::mem::forget(shared);
    // SAFETY: as the header declares it.
    let table = unsafe { stores(ffi::VERSION) };
    // SAFETY: it is NULL or a table that stays, by the header; its first field is there in every version.
    let Some(version) = (unsafe { table.as_ref() }).map(|table| table.version) else {
        return Err(format!("it does not serve version {} of storebench_store.h", ffi::VERSION));
    };
    if version != ffi::VERSION {
        return Err(format!(
            "it is of version {version} of storebench_store.h, and this storebench knows version {}: build it with the \
             header of this one",
            ffi::VERSION
        ));
    }
    // SAFETY: as above, in the version that is known.
    let table = unsafe { &*table };
    if table.count == 0 || table.count > MOST_STORES || table.stores.is_null() {
        return Err(format!("it describes {} stores", table.count));
    }
    // SAFETY: by the header, there are `count` stores.
    let entries = unsafe { std::slice::from_raw_parts(table.stores, table.count as usize) };
    entries.iter().map(|entry| check_entry(*entry)).collect()
}

/// A store's entry, as large as this version knows it.
fn check_entry(entry: *const ffi::Store) -> Result<Table, String> {
    let expected_bytes = size_of::<ffi::Store>();
    // SAFETY: it is NULL or an entry that begins with its size.
    match unsafe { entry.as_ref() } {
        None => Err("an entry of its table is NULL".into()),
        Some(store) if store.size < expected_bytes => {
            Err(format!("an entry of its table has {} bytes, but {expected_bytes} are needed", store.size))
        }
        Some(store) => Ok(Table(store)),
    }
}

pub fn text(field: &str, text: *const c_char) -> Result<String, String> {
    if text.is_null() {
        return Err(format!("{field} is NULL"));
    }
    // SAFETY: texts end with a zero, by the header.
    let bytes = unsafe { CStr::from_ptr(text) };
    let text = bytes.to_str().map_err(|_| format!("{field} is not UTF-8"))?;
    if text.len() > MOST_TEXT || text.chars().any(char::is_control) {
        return Err(format!("{field} has control characters, or more than {MOST_TEXT} bytes"));
    }
    Ok(text.to_owned())
}

fn optional_text(field: &str, pointer: *const c_char) -> Result<String, String> {
    if pointer.is_null() { Ok(String::new()) } else { text(field, pointer) }
}

pub fn list<'a, T>(field: &str, first: *const T, count: usize) -> Result<&'a [T], String> {
    if count == 0 {
        return Ok(&[]);
    }
    if first.is_null() || count > MOST_VALUES {
        return Err(format!("{field} is NULL, or has {count} entries"));
    }
    // SAFETY: there are as many, by the header.
    Ok(unsafe { std::slice::from_raw_parts(first, count) })
}

fn describe_store(store: &ffi::Store) -> Result<DescribedStore, String> {
    let name = text("name", store.name)?;
    let name_store = |why: String| format!("{name}: {why}");
    let offer = |offer: &ffi::Offer| {
        Ok(DescribedOffer {
            tier: offer.tier,
            atomic_replace: offer.atomic_replace != 0,
            kill_costs: offer.kill_costs,
            power_cut_costs: offer.power_cut_costs,
            settings: text("an offer's settings", offer.settings)?,
            why: optional_text("an offer's why", offer.why)?,
        })
    };
    let setting = |setting: &ffi::Setting| {
        Ok(DescribedSetting {
            name: text("a setting's name", setting.name)?,
            values: text("a setting's values", setting.values)?,
            default: text("a setting's default_value", setting.default_value)?,
            help: text("a setting's help", setting.help)?,
            promise: optional_text("a setting's promise", setting.promise)?,
            tune: optional_text("a setting's tune", setting.tune)?,
            in_bytes: setting.in_bytes != 0,
        })
    };
    let describe = || {
        Ok(DescribedStore {
            name: name.clone(),
            summary: text("summary", store.summary)?,
            practice: optional_text("practice", store.practice)?,
            version: text("version", store.version)?,
            codec: Some(optional_text("codec", store.codec)?).filter(|codec| !codec.is_empty()),
            flags: store.flags,
            max_key_bytes: store.max_key_bytes,
            max_bytes: store.max_bytes,
            sessions: store.sessions,
            shipped: store.shipped,
            offers: list("offers", store.offers, store.offer_count)?
                .iter()
                .map(offer)
                .collect::<Result<_, String>>()?,
            settings: list("settings", store.settings, store.setting_count)?
                .iter()
                .map(setting)
                .collect::<Result<_, String>>()?,
        })
    };
    describe().map_err(name_store)
}

/// Checks that the entry has every function that it needs.
fn check_functions(store: &ffi::Store, described: &DescribedStore) -> Result<(), String> {
    macro_rules! names_and_presence {
        ($($name:ident)+) => { [$((stringify!($name), store.$name.is_some())),+] };
    }
    let always =
        names_and_presence!(open close tier count settle read_settings session end get put remove batch);
    let scan = ("scan", store.scan.is_some() || !described.has_flag(ffi::ORDERED));
    let functions = always.into_iter().chain([scan]);
    let missing: Vec<&str> = functions.filter(|(_, is_there)| !is_there).map(|(name, _)| name).collect();
    match missing.as_slice() {
        [] => Ok(()),
        missing => Err(format!("{}: NULL instead of a function: {}", described.name, missing.join(", "))),
    }
}
