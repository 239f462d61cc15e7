//! `leveldb`: Google's LevelDB, a log-structured merge tree, through its C interface.

mod ffi;
mod table;
#[cfg(test)]
mod tests;

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::fmt::Display;
use std::path::PathBuf;
use std::ptr;
use std::thread;
use std::time::{Duration, Instant};

use storebench_model::store::{
    Capabilities, Danger, Guarantee, HeldReader, MemoryShare, OpenOptions, Result, Session, Setting,
    SettingDef, Store, StoreBuild, StoreDef, StoreError, Upkeep,
};

use super::linked::linked;
use super::owned::OwnedPointer;
use super::support::{GivenSettings, offer};

pub const LEVELDB: StoreDef = StoreDef {
    name: "leveldb",
    summary: "log-structured merge tree",
    practice: "a folder of files; back it up while it is closed; one process at a time",
    version: &version,
    capabilities: Capabilities {
        compacts_beside: true,
        held_reader: true,
        compression: Some("snappy"),
        max_key_bytes: MAX_KEY_BYTES,
        ..Capabilities::DEFAULT
    },
    offers: &[
        offer(Guarantee::Process, "WriteOptions.sync=false", Danger::HOLES),
        offer(Guarantee::Power, "WriteOptions.sync=true", Danger::NOTHING),
    ],
    shipped: Guarantee::Process,
    settings: SETTINGS,
    snippet: Some(include_str!("../snippets/leveldb.c")),
    python: Some(include_str!("../snippets/leveldb.py")),
    open: Ok(&open),
    ..StoreDef::DEFAULT
};

/// Lengths are kept in 32 bits.
const MAX_KEY_BYTES: usize = u32::MAX as usize;

fn version() -> String {
    // SAFETY: both take nothing and touch nothing.
    unsafe { format!("{}.{}", ffi::leveldb_major_version(), ffi::leveldb_minor_version()) }
}

struct LevelDb {
    // Fields go in this order: the database first, then what it uses.
    db: OwnedPointer<ffi::Db>,
    _helpers: Helpers,
    config: Config,
    guarantee: Guarantee,
    folder: PathBuf,
}

fn open(options: &OpenOptions<'_>) -> Result<Box<dyn Store>> {
    let config = Config::new(options)?;
    let name = CString::new(options.directory.as_os_str().as_encoded_bytes()).map_err(StoreError::engine)?;
    let guarantee = options.guarantee.unwrap_or(LEVELDB.shipped);
    if LEVELDB.offer(guarantee).is_none() {
        return Err(StoreError::Unsupported(format!("leveldb does not offer the guarantee {guarantee}")));
    }
    // SAFETY: the options, the cache and the filter are made here and live as long as they must: the options until the
    // database is open, the others as long as the database. The error is checked before the database is used.
    unsafe {
        let engine_options = OwnedPointer::new(ffi::leveldb_options_create(), ffi::leveldb_options_destroy)?;
        let helpers = set_options(engine_options.as_ptr(), &config)?;
        let mut error = ptr::null_mut();
        let db = ffi::leveldb_open(engine_options.as_ptr(), name.as_ptr(), &raw mut error);
        check(error)?;
        let db = OwnedPointer::new(db, ffi::leveldb_close)?;
        let folder = options.directory.to_path_buf();
        Ok(Box::new(LevelDb { db, _helpers: helpers, config, guarantee, folder }))
    }
}

/// Turns the engine's error into ours, and frees it.
///
/// # Safety
/// `error` is null or came from the engine, and is not used afterwards.
unsafe fn check(error: *mut c_char) -> Result<()> {
    if error.is_null() {
        return Ok(());
    }
    // SAFETY: the engine's errors are strings that end in a zero byte, to be freed by `leveldb_free`.
    unsafe {
        let text = CStr::from_ptr(error).to_string_lossy().into_owned();
        ffi::leveldb_free(error.cast());
        Err(StoreError::Engine(text))
    }
}

const LEVEL_0_FILES: usize = 4;
const LEVEL_1_BYTES: u64 = 10 << 20;
const LAST_LEVEL: usize = 6;
const PAUSE: Duration = Duration::from_millis(10);
/// Equal looks in a row before the files count as settled: old files are removed after a compaction is noted.
const QUIET_LOOKS: u32 = 3;
/// A compaction writes at most a few dozen MiB before the list of tables changes.
const PATIENCE: Duration = Duration::from_secs(120);

impl LevelDb {
    /// A property of the engine, such as `leveldb.stats`; `None` if it does not know it.
    fn property(&self, name: &CStr) -> Option<String> {
        // SAFETY: the database is open; a value is a string that ends in a zero byte and is ours to free.
        unsafe {
            let value = ffi::leveldb_property_value(self.db.as_ptr(), name.as_ptr());
            if value.is_null() {
                return None;
            }
            let text = CStr::from_ptr(value).to_string_lossy().into_owned();
            ffi::leveldb_free(value.cast());
            Some(text)
        }
    }

    /// Waits until compactions in the background have nothing left to do, for which the engine has no call. Fails if one is due and
    /// nothing happens for two minutes.
    fn wait_for_compactions(&self) -> Result<()> {
        let mut previous = String::new();
        let mut equal_looks = 0;
        let mut last_change = Instant::now();
        loop {
            let Some(listing) = self.property(c"leveldb.sstables") else {
                return Err(StoreError::Engine("LevelDB does not list its tables (leveldb.sstables)".into()));
            };
            if listing == previous {
                equal_looks += 1;
            } else {
                (equal_looks, last_change) = (0, Instant::now());
            }
            if equal_looks >= QUIET_LOOKS && !compaction_is_due(&listing) {
                return Ok(());
            }
            if last_change.elapsed() > PATIENCE {
                return Err(StoreError::Engine("LevelDB's compaction is due and does not happen".into()));
            }
            previous = listing;
            thread::sleep(PAUSE);
        }
    }

    fn tables_at(&self, level: u32) -> Option<String> {
        self.property(&CString::new(format!("leveldb.num-files-at-level{level}")).ok()?)
    }

    fn iterator(&self, options: &OwnedPointer<ffi::ReadOptions>) -> Result<OwnedPointer<ffi::Iterator>> {
        // SAFETY: the database and the options are valid; the iterator is ours to free.
        unsafe {
            OwnedPointer::new(
                ffi::leveldb_create_iterator(self.db.as_ptr(), options.as_ptr()),
                ffi::leveldb_iter_destroy,
            )
        }
    }
}

/// A compaction is due while level 0 has four files or more, or a later level but the last holds more than its share: 10 MiB for
/// level 1, ten times more for each further one (LevelDB, doc/impl.md). Lines are such as `--- level 1 ---` and, with number and bytes
/// of a table, ` 17:2048['a' .. 'd']`.
fn compaction_is_due(tables: &str) -> bool {
    let mut level = 0;
    let (mut files, mut bytes) = ([0_usize; LAST_LEVEL + 1], [0_u64; LAST_LEVEL + 1]);
    for line in tables.lines() {
        if let Some(number) = line.strip_prefix("--- level ").and_then(|rest| rest.strip_suffix(" ---")) {
            level = number.trim().parse().unwrap_or(0).min(LAST_LEVEL);
        } else if let Some(size) = line.split(['[', ':']).nth(1).and_then(|size| size.parse::<u64>().ok()) {
            files[level] += 1;
            bytes[level] += size;
        }
    }
    let shares = std::iter::successors(Some(LEVEL_1_BYTES), |share| share.checked_mul(10));
    files[0] >= LEVEL_0_FILES || bytes[1..LAST_LEVEL].iter().zip(shares).any(|(bytes, share)| *bytes > share)
}

fn read_options() -> Result<OwnedPointer<ffi::ReadOptions>> {
    // SAFETY: the options are ours to free.
    unsafe { OwnedPointer::new(ffi::leveldb_readoptions_create(), ffi::leveldb_readoptions_destroy) }
}

/// # Safety
/// `iterator` is valid.
unsafe fn iterator_error(iterator: *mut ffi::Iterator) -> Result<()> {
    let mut error = ptr::null_mut();
    // SAFETY: the caller's promise; the error is handed to `check` and nowhere else.
    unsafe {
        ffi::leveldb_iter_get_error(iterator, &raw mut error);
        check(error)
    }
}

impl Store for LevelDb {
    fn session(&self) -> Result<Box<dyn Session + '_>> {
        // SAFETY: all are ours to free.
        unsafe {
            let write =
                OwnedPointer::new(ffi::leveldb_writeoptions_create(), ffi::leveldb_writeoptions_destroy)?;
            ffi::leveldb_writeoptions_set_sync(write.as_ptr(), u8::from(self.guarantee == Guarantee::Power));
            let batch = OwnedPointer::new(ffi::leveldb_writebatch_create(), ffi::leveldb_writebatch_destroy)?;
            let value = OwnedPointer::new(ffi::sb_leveldb_string_create(), ffi::sb_leveldb_string_destroy)?;
            let (read, shown) = (read_options()?, (ptr::null(), 0));
            Ok(Box::new(LevelDbSession { store: self, read, write, batch, value, shown }))
        }
    }

    fn guarantee(&self) -> Guarantee {
        self.guarantee
    }

    fn count(&self) -> Result<u64> {
        let options = read_options()?;
        let mut count = 0;
        // SAFETY: the options are valid, and so is the iterator until it is dropped here.
        unsafe {
            ffi::leveldb_readoptions_set_fill_cache(options.as_ptr(), 0);
            let iterator = self.iterator(&options)?;
            ffi::leveldb_iter_seek_to_first(iterator.as_ptr());
            while ffi::leveldb_iter_valid(iterator.as_ptr()) != 0 {
                count += 1;
                ffi::leveldb_iter_next(iterator.as_ptr());
            }
            iterator_error(iterator.as_ptr())?;
        }
        Ok(count)
    }

    fn settle(&self) -> Result<()> {
        // An empty range compacts no table: the call writes the memory table to a file, for which the engine has no other.
        let nothing = c"".as_ptr();
        // SAFETY: the database is open, and both keys are empty.
        unsafe { ffi::leveldb_compact_range(self.db.as_ptr(), nothing, 0, nothing, 0) };
        self.wait_for_compactions()
    }

    /// An iterator keeps all that it may still show, and its files.
    fn hold_reader(&self) -> Result<Option<Box<dyn HeldReader + '_>>> {
        let read = read_options()?;
        // The iterator goes before its options.
        Ok(Some(Box::new((self.iterator(&read)?, read))))
    }

    fn compact_concurrently(&self) -> Result<Option<&'static str>> {
        // SAFETY: the database is open; two absent keys stand for all records.
        unsafe { ffi::leveldb_compact_range(self.db.as_ptr(), ptr::null(), 0, ptr::null(), 0) };
        Ok(Some("CompactRange"))
    }

    fn settings(&self) -> Result<Vec<Setting>> {
        let mut settings = self.config.settings();
        settings.push(Setting::unverified("sync", self.guarantee == Guarantee::Power));
        if let Some(codec) = table::codec(&self.folder)? {
            settings.push(Setting::read_back("codec of table blocks", codec));
        }
        Ok(settings)
    }

    fn build(&self) -> Option<StoreBuild> {
        Some(linked!("LEVELDB").build(ffi::leveldb_open as *const c_void))
    }

    /// A checksum of the numbers of tables at all levels: each flush and each compaction changes some of them.
    fn upkeep(&self) -> Result<Vec<Upkeep>> {
        let tables = (0..LEVELS).fold(0, |sum: u64, level| {
            let tables = self.tables_at(level).and_then(|tables| tables.parse().ok()).unwrap_or(0);
            sum.wrapping_mul(10_007).wrapping_add(tables)
        });
        Ok(vec![Upkeep::done("new tables", tables)])
    }

    fn statistics(&self) -> Result<Vec<Setting>> {
        let mut statistics = Vec::new();
        if let Some(bytes) = self.property(c"leveldb.approximate-memory-usage") {
            statistics.push(Setting::read_back("approximate-memory-usage", bytes));
        }
        for level in 0..LEVELS {
            if let Some(tables) = self.tables_at(level).filter(|tables| tables != "0") {
                statistics.push(Setting::read_back(format!("num-files-at-level{level}"), tables));
            }
        }
        Ok(statistics)
    }

    fn close(self: Box<Self>) -> Result<()> {
        // LevelDB's own close reports no failure; dropping calls it.
        Ok(())
    }
}

const LEVELS: u32 = 7;

struct LevelDbSession<'a> {
    store: &'a LevelDb,
    read: OwnedPointer<ffi::ReadOptions>,
    write: OwnedPointer<ffi::WriteOptions>,
    batch: OwnedPointer<ffi::WriteBatch>,
    /// Where the engine copies values to, reused.
    value: OwnedPointer<ffi::CxxString>,
    /// The place in it of the value found last, and its length.
    shown: (*const u8, usize),
}

fn check_key(key: &[u8]) -> Result<()> {
    if key.len() > MAX_KEY_BYTES {
        return Err(StoreError::Unsupported(format!("a key of {} bytes is too long", key.len())));
    }
    Ok(())
}

impl Session for LevelDbSession<'_> {
    fn insert(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        check_key(key)?;
        let mut error = ptr::null_mut();
        // SAFETY: the handles are valid; the engine copies key and value before it returns.
        unsafe {
            ffi::leveldb_put(
                self.store.db.as_ptr(),
                self.write.as_ptr(),
                key.as_ptr().cast(),
                key.len(),
                value.as_ptr().cast(),
                value.len(),
                &raw mut error,
            );
            check(error)
        }
    }

    fn update(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.insert(key, value)
    }

    fn get(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        let (mut data, mut len) = (ptr::null(), 0);
        self.shown = (ptr::null(), 0);
        // SAFETY: the handles are valid; what is found, or said, stays in the string until the next call.
        unsafe {
            let string = self.value.as_ptr();
            let (db, key_ptr) = (self.store.db.as_ptr(), key.as_ptr().cast());
            match ffi::sb_leveldb_get(db, key_ptr, key.len(), string, &raw mut data, &raw mut len) {
                ffi::FOUND => {
                    self.shown = (data.cast(), len);
                    visit(std::slice::from_raw_parts(data.cast(), len));
                }
                ffi::NOT_FOUND => return Ok(false),
                _ => {
                    let text = std::slice::from_raw_parts(data.cast(), len);
                    return Err(StoreError::Engine(String::from_utf8_lossy(text).into_owned()));
                }
            }
        }
        Ok(true)
    }

    fn copied(&self) -> Option<&[u8]> {
        match self.shown {
            (start, _) if start.is_null() => Some(&[]),
            // SAFETY: the string is only changed by `get`, which then notes where the value lies; while the result is
            // borrowed, it can't be called.
            (start, length) => Some(unsafe { std::slice::from_raw_parts(start, length) }),
        }
    }

    fn remove(&mut self, key: &[u8]) -> Result<()> {
        check_key(key)?;
        let mut error = ptr::null_mut();
        // SAFETY: the handles are valid; the engine copies the key before it returns.
        unsafe {
            ffi::leveldb_delete(
                self.store.db.as_ptr(),
                self.write.as_ptr(),
                key.as_ptr().cast(),
                key.len(),
                &raw mut error,
            );
            check(error)
        }
    }

    fn scan(&mut self, from: &[u8], limit: usize, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize> {
        let iterator = self.store.iterator(&self.read)?;
        let iterator_ptr = iterator.as_ptr();
        let mut shown = 0;
        // SAFETY: the iterator is valid; key and value stay until it moves, which is after the visit.
        unsafe {
            ffi::leveldb_iter_seek(iterator_ptr, from.as_ptr().cast(), from.len());
            while shown < limit && ffi::leveldb_iter_valid(iterator_ptr) != 0 {
                let (mut key_len, mut value_len) = (0, 0);
                let key = ffi::leveldb_iter_key(iterator_ptr, &raw mut key_len);
                let value = ffi::leveldb_iter_value(iterator_ptr, &raw mut value_len);
                visit(
                    std::slice::from_raw_parts(key.cast(), key_len),
                    std::slice::from_raw_parts(value.cast(), value_len),
                );
                shown += 1;
                if shown < limit {
                    ffi::leveldb_iter_next(iterator_ptr);
                }
            }
            iterator_error(iterator_ptr)?;
        }
        Ok(shown)
    }

    fn insert_batch(&mut self, records: &[(&[u8], &[u8])]) -> Result<()> {
        let batch = self.batch.as_ptr();
        let mut error = ptr::null_mut();
        // SAFETY: the handles are valid; the batch copies keys and values, and is empty again when this returns.
        unsafe {
            for (key, value) in records {
                if let Err(error) = check_key(key) {
                    ffi::leveldb_writebatch_clear(batch);
                    return Err(error);
                }
                let (key_ptr, value_ptr) = (key.as_ptr().cast(), value.as_ptr().cast());
                ffi::leveldb_writebatch_put(batch, key_ptr, key.len(), value_ptr, value.len());
            }
            ffi::leveldb_write(self.store.db.as_ptr(), self.write.as_ptr(), batch, &raw mut error);
            ffi::leveldb_writebatch_clear(batch);
            check(error)
        }
    }

    fn remove_batch(&mut self, keys: &[&[u8]]) -> Result<()> {
        let batch = self.batch.as_ptr();
        let mut error = ptr::null_mut();
        keys.iter().try_for_each(|key| check_key(key))?;
        // SAFETY: the handles are valid; the batch copies keys, and is empty again when this returns.
        unsafe {
            for key in keys {
                ffi::leveldb_writebatch_delete(batch, key.as_ptr().cast(), key.len());
            }
            ffi::leveldb_write(self.store.db.as_ptr(), self.write.as_ptr(), batch, &raw mut error);
            ffi::leveldb_writebatch_clear(batch);
            check(error)
        }
    }
}

const SETTINGS: &[SettingDef] = &[
    SettingDef::new("write_buffer_size", "a size from 64 KiB to 1 GiB", "4194304", "the memory table")
        .bytes()
        .filled_by_writes()
        .share(MemoryShare::one_in(16, "no share; half of a quarter is for two memory tables", CACHE))
        .tune(&["16777216", "67108864"]),
    SettingDef::new("block_cache_size", "a size up to 1 TiB", "8388608", "the cache of blocks")
        .bytes()
        .share(MemoryShare::one_in(
            8,
            "no share; a quarter for all caches, half of it for blocks, as shipped",
            CACHE,
        ))
        .tune(&["67108864", "536870912"]),
    SettingDef::new("block_size", "a size from 1 KiB to 4 MiB", "4096", "a block of a table file")
        .bytes()
        .tune(&["1024", "16384"]),
    SettingDef::new("max_file_size", "a size from 1 MiB to 1 GiB", "2097152", "a table file")
        .bytes()
        .tune(&["16777216"]),
    SettingDef::new("max_open_files", "74 to 50000", "1000", "files kept open"),
    SettingDef::new("bloom_bits", "bits a key, 1 to 32", "no filter", "a Bloom filter for each table file")
        .varying()
        .tune(&["10"]),
];

const CACHE: &str = "https://github.com/google/leveldb/blob/main/doc/index.md#cache";

/// `None` is the engine's default.
struct Config {
    compression: bool,
    write_buffer_size: Option<u64>,
    block_cache_size: Option<u64>,
    block_size: Option<u64>,
    max_file_size: Option<u64>,
    max_open_files: Option<u32>,
    bloom_bits: Option<u32>,
}

impl Config {
    /// Splits the total cache as LevelDB does as shipped: half for blocks, a quarter for each of two memory tables.
    fn new(options: &OpenOptions<'_>) -> Result<Config> {
        let given = GivenSettings::new(options, SETTINGS)?;
        let memory_table = options.cache_bytes.map(|total| (total / 4).clamp(64 << 10, 1 << 30));
        let blocks =
            options.cache_bytes.zip(memory_table).map(|(total, table)| total.saturating_sub(2 * table));
        Ok(Config {
            compression: options.compression,
            write_buffer_size: given.number("write_buffer_size", 64 << 10..=1 << 30)?.or(memory_table),
            block_cache_size: given.number("block_cache_size", 0..=1 << 40)?.or(blocks),
            block_size: given.number("block_size", 1 << 10..=4 << 20)?,
            max_file_size: given.number("max_file_size", 1 << 20..=1 << 30)?,
            max_open_files: given.number32("max_open_files", 74..=50_000)?,
            bloom_bits: given.number32("bloom_bits", 1..=32)?,
        })
    }

    fn settings(&self) -> Vec<Setting> {
        fn setting<T: Display>(name: &str, value: Option<T>) -> Setting {
            value.map_or_else(|| Setting::as_shipped(name), |value| Setting::unverified(name, value))
        }
        vec![
            Setting::unverified("compression", if self.compression { "snappy" } else { "none" }),
            setting("write_buffer_size", self.write_buffer_size),
            setting("block_cache_size", self.block_cache_size),
            setting("block_size", self.block_size),
            setting("max_file_size", self.max_file_size),
            setting("max_open_files", self.max_open_files),
            setting("bloom_bits", self.bloom_bits),
        ]
    }
}

type Helpers = (Option<OwnedPointer<ffi::Cache>>, Option<OwnedPointer<ffi::FilterPolicy>>);

/// # Safety
/// `options` is valid, and what is given back outlives the database that is opened with it.
unsafe fn set_options(options: *mut ffi::Options, config: &Config) -> Result<Helpers> {
    let bytes = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    // The settings' ranges are within `c_int`.
    let int = |number: u32| c_int::try_from(number).unwrap_or(c_int::MAX);
    // SAFETY: the caller's promise; each call stores a value in the options.
    unsafe {
        ffi::leveldb_options_set_create_if_missing(options, 1);
        ffi::leveldb_options_set_compression(options, c_int::from(config.compression));
        if let Some(number) = config.write_buffer_size {
            ffi::leveldb_options_set_write_buffer_size(options, bytes(number));
        }
        if let Some(number) = config.block_size {
            ffi::leveldb_options_set_block_size(options, bytes(number));
        }
        if let Some(number) = config.max_file_size {
            ffi::leveldb_options_set_max_file_size(options, bytes(number));
        }
        if let Some(number) = config.max_open_files {
            ffi::leveldb_options_set_max_open_files(options, int(number));
        }
        let cache = match config.block_cache_size {
            None => None,
            Some(number) => {
                let cache = OwnedPointer::new(
                    ffi::leveldb_cache_create_lru(bytes(number)),
                    ffi::leveldb_cache_destroy,
                )?;
                ffi::leveldb_options_set_cache(options, cache.as_ptr());
                Some(cache)
            }
        };
        let filter = match config.bloom_bits {
            None => None,
            Some(bits) => {
                let filter = ffi::leveldb_filterpolicy_create_bloom(int(bits));
                let filter = OwnedPointer::new(filter, ffi::leveldb_filterpolicy_destroy)?;
                ffi::leveldb_options_set_filter_policy(options, filter.as_ptr());
                Some(filter)
            }
        };
        Ok((cache, filter))
    }
}
