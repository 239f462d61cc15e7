//! `rocksdb`: Meta's RocksDB, a log-structured merge tree, through its C interface (what versions 7.8 and 11.8 share), which
//! `native/rocksdb.cc` provides for the build from sources.

mod append;
mod config;
mod ffi;
mod functions;
mod library;
#[cfg(test)]
mod tests;
mod transaction;

use std::ffi::{CStr, CString, c_char};
use std::path::{Path, PathBuf};
use std::ptr;
use std::thread;
use std::time::Duration;

use storebench_model::store::{
    AgingRisk, Capabilities, Caution, Danger, Guarantee, HeldReader, Loss, OpenOptions, Result, Session,
    Setting, Store, StoreBuild, StoreDef, StoreError, TransactionBody, Upkeep,
};

use self::append::Appender;
use self::config::{Config, SETTINGS};
use self::ffi::Functions;
#[cfg(not(rocksdb_linked))]
pub use self::library::missing_library;
use self::library::{LIBRARY, Library};
use self::transaction::Transactions;
use super::owned::OwnedPointer;
use super::support::{GivenSettings, offer};

pub const ROCKSDB: StoreDef = StoreDef {
    name: "rocksdb",
    summary: "log-structured merge tree",
    practice: "a folder of files; it can be backed up while open; writes wait when flushes or compactions fall behind; one process writes",
    cautions: &[Caution {
        of: AgingRisk::Waits,
        says: "writes are slowed down, or stopped, while flushes or compactions can't keep up with them",
        source: "github.com/facebook/rocksdb/wiki/Write-Stalls",
    }],
    // The version at build time: the C interface reports none. The version that ran is read back.
    version: &|| env!("STOREBENCH_ROCKSDB_VERSION").into(),
    capabilities: Capabilities {
        compacts_beside: true,
        held_reader: true,
        backup: true,
        transactions: true,
        compression: Some("snappy"),
        max_key_bytes: MAX_KEY_BYTES,
        ..Capabilities::DEFAULT
    },
    offers: &[
        offer(
            Guarantee::None,
            "WriteOptions.disableWAL=true",
            &[Danger::new(Loss::Newest, Loss::Newest, "all that was not yet flushed")],
        ),
        offer(Guarantee::Process, "WriteOptions.sync=false", Danger::HOLES),
        offer(Guarantee::Power, "WriteOptions.sync=true", Danger::NOTHING),
    ],
    shipped: Guarantee::Process,
    settings: SETTINGS,
    snippet: Some(include_str!("../snippets/rocksdb.c")),
    python: Some(include_str!("../snippets/rocksdb.py")),
    open: Ok(&open),
    ..StoreDef::DEFAULT
};

/// Lengths are kept in 32 bits.
const MAX_KEY_BYTES: usize = u32::MAX as usize;

struct RocksDb {
    library: Library,
    /// Before `optimistic`, which owns it, and so dropped first.
    db: OwnedPointer<ffi::Db>,
    optimistic: Option<OwnedPointer<ffi::OptimisticDb>>,
    guarantee: Guarantee,
    folder: PathBuf,
    config: Config,
}

fn open(options: &OpenOptions<'_>) -> Result<Box<dyn Store>> {
    let given = GivenSettings::new(options, SETTINGS)?;
    let config = Config::new(&given, options)?;
    let library = Library::from_settings(&given)?;
    let c = &library.c;
    let name = CString::new(options.directory.as_os_str().as_encoded_bytes()).map_err(StoreError::engine)?;
    let engine_options = config.options(c)?;
    let mut error = ptr::null_mut();
    // SAFETY: the options are valid and copied by the engine; the error is checked before the database is used.
    let (db, optimistic) = unsafe {
        if options.transactions {
            let (db, owner) = transaction::open(c, engine_options.as_ptr(), &name)?;
            (db, Some(owner))
        } else {
            let db = (c.rocksdb_open)(engine_options.as_ptr(), name.as_ptr(), &raw mut error);
            check(c, error)?;
            (OwnedPointer::new(db, c.rocksdb_close)?, None)
        }
    };
    let guarantee = options.guarantee.unwrap_or(ROCKSDB.shipped);
    let store =
        RocksDb { library, db, optimistic, guarantee, folder: options.directory.to_path_buf(), config };
    store.config.check(&store.settings()?)?;
    Ok(Box::new(store))
}

/// Turns the engine's error into ours, and frees it.
///
/// # Safety
/// `error` is null or came from this build of the engine, and is not used afterwards.
unsafe fn check(c: &Functions, error: *mut c_char) -> Result<()> {
    if error.is_null() {
        return Ok(());
    }
    // SAFETY: the engine's errors are strings that end in a zero byte, to be freed by `rocksdb_free`.
    unsafe {
        let text = CStr::from_ptr(error).to_string_lossy().into_owned();
        (c.rocksdb_free)(error.cast());
        Err(StoreError::Engine(text))
    }
}

fn read_options(c: &Functions) -> Result<OwnedPointer<ffi::ReadOptions>> {
    // SAFETY: the options are ours to free.
    unsafe { OwnedPointer::new((c.rocksdb_readoptions_create)(), c.rocksdb_readoptions_destroy) }
}

impl RocksDb {
    fn property(&self, name: &str) -> Option<u64> {
        let name = CString::new(format!("rocksdb.{name}")).ok()?;
        let (c, mut value) = (&self.library.c, 0);
        // SAFETY: the database is open; the engine writes one number, and says 0 if it did.
        let status = unsafe { (c.rocksdb_property_int)(self.db.as_ptr(), name.as_ptr(), &raw mut value) };
        (status == 0).then_some(value)
    }

    fn text(&self, name: &str) -> Option<String> {
        let name = CString::new(format!("rocksdb.{name}")).ok()?;
        let c = &self.library.c;
        // SAFETY: the database is open; a value is a string that ends in a zero byte and is ours to free.
        unsafe {
            let value = (c.rocksdb_property_value)(self.db.as_ptr(), name.as_ptr());
            if value.is_null() {
                return None;
            }
            let text = CStr::from_ptr(value).to_string_lossy().into_owned();
            (c.rocksdb_free)(value.cast());
            Some(text)
        }
    }

    fn iterator(&self, options: &OwnedPointer<ffi::ReadOptions>) -> Result<OwnedPointer<ffi::Iterator>> {
        let c = &self.library.c;
        // SAFETY: the database and the options are valid; the iterator is ours to free.
        unsafe {
            OwnedPointer::new(
                (c.rocksdb_create_iterator)(self.db.as_ptr(), options.as_ptr()),
                c.rocksdb_iter_destroy,
            )
        }
    }

    fn flush(&self) -> Result<()> {
        let (c, mut error) = (&self.library.c, ptr::null_mut());
        // SAFETY: the options are ours to free; the database is open.
        unsafe {
            let options =
                OwnedPointer::new((c.rocksdb_flushoptions_create)(), c.rocksdb_flushoptions_destroy)?;
            (c.rocksdb_flushoptions_set_wait)(options.as_ptr(), 1);
            (c.rocksdb_flush)(self.db.as_ptr(), options.as_ptr(), &raw mut error);
            check(c, error)
        }
    }
}

/// # Safety
/// `iterator` is valid, and of this build of the engine.
unsafe fn iterator_error(c: &Functions, iterator: *mut ffi::Iterator) -> Result<()> {
    let mut error = ptr::null_mut();
    // SAFETY: the caller's promise; the error is handed to `check` and nowhere else.
    unsafe {
        (c.rocksdb_iter_get_error)(iterator, &raw mut error);
        check(c, error)
    }
}

impl Store for RocksDb {
    fn session(&self) -> Result<Box<dyn Session + '_>> {
        let c = &self.library.c;
        // SAFETY: all are ours to free.
        let (write, batch) = unsafe {
            let write = OwnedPointer::new((c.rocksdb_writeoptions_create)(), c.rocksdb_writeoptions_destroy)?;
            (c.rocksdb_writeoptions_set_sync)(write.as_ptr(), u8::from(self.guarantee == Guarantee::Power));
            (c.rocksdb_writeoptions_disable_WAL)(
                write.as_ptr(),
                i32::from(self.guarantee == Guarantee::None),
            );
            (write, OwnedPointer::new((c.rocksdb_writebatch_create)(), c.rocksdb_writebatch_destroy)?)
        };
        let transactions = self.optimistic.as_ref().map(|db| Transactions::new(c, db)).transpose()?;
        let read = read_options(c)?;
        Ok(Box::new(RocksDbSession { transactions, appender: None, store: self, read, write, batch }))
    }

    fn guarantee(&self) -> Guarantee {
        self.guarantee
    }

    fn count(&self) -> Result<u64> {
        let c = &self.library.c;
        let options = read_options(c)?;
        let mut count = 0;
        // SAFETY: the options are valid, and so is the iterator until it is dropped here.
        unsafe {
            (c.rocksdb_readoptions_set_fill_cache)(options.as_ptr(), 0);
            let iterator = self.iterator(&options)?;
            (c.rocksdb_iter_seek_to_first)(iterator.as_ptr());
            while (c.rocksdb_iter_valid)(iterator.as_ptr()) != 0 {
                count += 1;
                (c.rocksdb_iter_next)(iterator.as_ptr());
            }
            iterator_error(c, iterator.as_ptr())?;
        }
        Ok(count)
    }

    fn settle(&self) -> Result<()> {
        const BUSY: [&str; 4] = [
            "mem-table-flush-pending",
            "num-running-flushes",
            "compaction-pending",
            "num-running-compactions",
        ];
        self.flush()?;
        // Only newer versions have a call that waits. Between two jobs nothing may run for a moment, so two looks must find nothing.
        let mut quiet = 0;
        while quiet < 2 {
            if self.property("background-errors").is_some_and(|errors| errors > 0) {
                return Err(StoreError::Engine(
                    "RocksDB's flushes or compactions fail (background-errors)".into(),
                ));
            }
            let busy = BUSY.into_iter().any(|name| self.property(name).is_some_and(|number| number > 0));
            quiet = if busy { 0 } else { quiet + 1 };
            thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    /// An iterator keeps all that it may still show, and its files.
    fn hold_reader(&self) -> Result<Option<Box<dyn HeldReader + '_>>> {
        let read = read_options(&self.library.c)?;
        // The iterator goes before its options.
        Ok(Some(Box::new((self.iterator(&read)?, read))))
    }

    fn compact_concurrently(&self) -> Result<Option<&'static str>> {
        let c = &self.library.c;
        // SAFETY: the database is open; two absent keys stand for all records.
        unsafe { (c.rocksdb_compact_range)(self.db.as_ptr(), ptr::null(), 0, ptr::null(), 0) };
        Ok(Some("CompactRange"))
    }

    fn settings(&self) -> Result<Vec<Setting>> {
        let mut settings = config::read_back(&self.folder)?;
        if let Some(bytes) = self.property("block-cache-capacity") {
            settings.push(Setting::read_back("block_cache_size", bytes));
        }
        settings.extend(self.config.bloom_bits.map(|bits| Setting::unverified("bloom_bits", bits)));
        settings.extend(self.library.requested.iter().map(|library| Setting::unverified(LIBRARY, library)));
        settings.push(Setting::unverified("sync", self.guarantee == Guarantee::Power));
        settings.push(Setting::unverified("disableWAL", self.guarantee == Guarantee::None));
        settings.extend(self.optimistic.as_ref().map(|_| Setting::unverified("transactions", "optimistic")));
        Ok(settings)
    }

    fn build(&self) -> Option<StoreBuild> {
        Some(self.library.build())
    }

    fn version(&self) -> Option<String> {
        let settings = config::read_back(&self.folder).ok()?;
        settings.into_iter().find(|setting| setting.name == "rocksdb_version").map(|setting| setting.value)
    }

    /// The tables by hard links, and a copy of what is not in them yet.
    fn back_up(&self, to: &Path) -> Result<Option<&'static str>> {
        let target = CString::new(to.as_os_str().as_encoded_bytes()).map_err(StoreError::engine)?;
        let (c, mut error) = (&self.library.c, ptr::null_mut());
        // SAFETY: the database is open; the engine's errors are checked, and its object is ours to free.
        unsafe {
            let object = (c.rocksdb_checkpoint_object_create)(self.db.as_ptr(), &raw mut error);
            check(c, error)?;
            let checkpoint = OwnedPointer::new(object, c.rocksdb_checkpoint_object_destroy)?;
            // With 0 it flushes memory tables first.
            (c.rocksdb_checkpoint_create)(checkpoint.as_ptr(), target.as_ptr(), 0, &raw mut error);
            check(c, error)?;
        }
        Ok(Some("checkpoint"))
    }

    fn upkeep(&self) -> Result<Vec<Upkeep>> {
        let statistics = self.text("cfstats-no-file-histogram");
        let [flushes, compactions, stalls] = statistics.map_or([0; 3], |text| work_done(&text));
        let is_any = |property| self.property(property).is_some_and(|number| number > 0);
        let entry = |work, count, under_way| Upkeep { work, count, under_way };
        let is_stalled = is_any("is-write-stopped") || is_any("actual-delayed-write-rate");
        Ok(vec![
            entry("flush", flushes, is_any("num-running-flushes")),
            entry("compaction", compactions, is_any("num-running-compactions")),
            entry("write stall", stalls, is_stalled),
        ])
    }

    fn statistics(&self) -> Result<Vec<Setting>> {
        const PROPERTIES: [&str; 8] = [
            "estimate-num-keys",
            "total-sst-files-size",
            "live-sst-files-size",
            "cur-size-all-mem-tables",
            "estimate-table-readers-mem",
            "block-cache-usage",
            "num-files-at-level0",
            "actual-delayed-write-rate",
        ];
        Ok(PROPERTIES
            .into_iter()
            .filter_map(|name| self.property(name).map(|value| Setting::read_back(name, value)))
            .collect())
    }

    fn close(self: Box<Self>) -> Result<()> {
        // Without a log the engine flushes when it closes, but can't report a failure.
        if self.guarantee == Guarantee::None { self.flush() } else { Ok(()) }
    }
}

struct RocksDbSession<'a> {
    transactions: Option<Transactions<'a>>,
    appender: Option<Appender<'a>>,
    store: &'a RocksDb,
    read: OwnedPointer<ffi::ReadOptions>,
    write: OwnedPointer<ffi::WriteOptions>,
    batch: OwnedPointer<ffi::WriteBatch>,
}

impl Session for RocksDbSession<'_> {
    fn insert(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let (c, mut error) = (&self.store.library.c, ptr::null_mut());
        // SAFETY: the handles are valid; the engine copies key and value before it returns.
        unsafe {
            (c.rocksdb_put)(
                self.store.db.as_ptr(),
                self.write.as_ptr(),
                key.as_ptr().cast(),
                key.len(),
                value.as_ptr().cast(),
                value.len(),
                &raw mut error,
            );
            check(c, error)
        }
    }

    fn update(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.insert(key, value)
    }

    fn get(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        let (c, mut error) = (&self.store.library.c, ptr::null_mut());
        let mut len = 0;
        // SAFETY: the handles are valid; the slice pins the value, which stays until it is destroyed after the visit.
        unsafe {
            let (db, read) = (self.store.db.as_ptr(), self.read.as_ptr());
            let slice = (c.rocksdb_get_pinned)(db, read, key.as_ptr().cast(), key.len(), &raw mut error);
            check(c, error)?;
            if slice.is_null() {
                return Ok(false);
            }
            let value = (c.rocksdb_pinnableslice_value)(slice, &raw mut len);
            visit(if value.is_null() { &[] } else { std::slice::from_raw_parts(value.cast(), len) });
            (c.rocksdb_pinnableslice_destroy)(slice);
        }
        Ok(true)
    }

    fn remove(&mut self, key: &[u8]) -> Result<()> {
        let (c, mut error) = (&self.store.library.c, ptr::null_mut());
        // SAFETY: the handles are valid; the engine copies the key before it returns.
        unsafe {
            let (db, write) = (self.store.db.as_ptr(), self.write.as_ptr());
            (c.rocksdb_delete)(db, write, key.as_ptr().cast(), key.len(), &raw mut error);
            check(c, error)
        }
    }

    fn scan(&mut self, from: &[u8], limit: usize, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize> {
        let c = &self.store.library.c;
        let iterator = self.store.iterator(&self.read)?;
        let iterator_ptr = iterator.as_ptr();
        let mut shown = 0;
        // SAFETY: the iterator is valid; key and value stay until it moves, which is after the visit.
        unsafe {
            (c.rocksdb_iter_seek)(iterator_ptr, from.as_ptr().cast(), from.len());
            while shown < limit && (c.rocksdb_iter_valid)(iterator_ptr) != 0 {
                let (mut key_len, mut value_len) = (0, 0);
                let key = (c.rocksdb_iter_key)(iterator_ptr, &raw mut key_len);
                let value = (c.rocksdb_iter_value)(iterator_ptr, &raw mut value_len);
                visit(
                    std::slice::from_raw_parts(key.cast(), key_len),
                    std::slice::from_raw_parts(value.cast(), value_len),
                );
                shown += 1;
                if shown < limit {
                    (c.rocksdb_iter_next)(iterator_ptr);
                }
            }
            iterator_error(c, iterator_ptr)?;
        }
        Ok(shown)
    }

    fn insert_batch(&mut self, records: &[(&[u8], &[u8])]) -> Result<()> {
        let batch = self.batch.as_ptr();
        let (c, mut error) = (&self.store.library.c, ptr::null_mut());
        // SAFETY: the handles are valid; the batch copies keys and values, and is empty again when this returns.
        unsafe {
            for (key, value) in records {
                let (key_ptr, value_ptr) = (key.as_ptr().cast(), value.as_ptr().cast());
                (c.rocksdb_writebatch_put)(batch, key_ptr, key.len(), value_ptr, value.len());
            }
            (c.rocksdb_write)(self.store.db.as_ptr(), self.write.as_ptr(), batch, &raw mut error);
            (c.rocksdb_writebatch_clear)(batch);
            check(c, error)
        }
    }

    fn remove_batch(&mut self, keys: &[&[u8]]) -> Result<()> {
        let batch = self.batch.as_ptr();
        let (c, mut error) = (&self.store.library.c, ptr::null_mut());
        // SAFETY: the handles are valid; the batch copies keys, and is empty again when this returns.
        unsafe {
            for key in keys {
                (c.rocksdb_writebatch_delete)(batch, key.as_ptr().cast(), key.len());
            }
            (c.rocksdb_write)(self.store.db.as_ptr(), self.write.as_ptr(), batch, &raw mut error);
            (c.rocksdb_writebatch_clear)(batch);
            check(c, error)
        }
    }

    fn append_batch(&mut self, records: &[(&[u8], &[u8])]) -> Result<bool> {
        if records.is_empty() {
            return Ok(self.appender.is_none());
        }
        let mut appender = match self.appender.take() {
            Some(appender) => appender,
            None => Appender::begin(self.store)?,
        };
        appender.write(records)?;
        if appender.is_full() {
            return appender.end().map(|()| true);
        }
        self.appender = Some(appender);
        Ok(false)
    }

    fn end_appending(&mut self) -> Result<()> {
        self.appender.take().map_or(Ok(()), Appender::end)
    }

    fn transact(&mut self, work: &mut TransactionBody<'_>) -> Result<()> {
        match &mut self.transactions {
            Some(transactions) => transactions.run(&self.read, &self.write, work),
            None => Err(StoreError::Unsupported("this RocksDB was opened without transactions".into())),
        }
    }
}

/// Flushes, compactions, and times that writers were slowed down or stopped, since the database was opened; what is not told is 0. The
/// property `cfstats-no-file-histogram` is a text for people.
fn work_done(text: &str) -> [u64; 3] {
    let count_in_row = |row: &str| {
        let position =
            text.lines().find_map(|line| line.split_whitespace().position(|column| column == COUNT))?;
        let row = text.lines().map(str::split_whitespace).find(|line| line.clone().next() == Some(row))?;
        // The column of sizes has two words: a number and its unit.
        row.clone().nth(position + 1)?.parse::<u64>().ok()
    };
    let flushes = count_in_row("L0").unwrap_or(0);
    let stalls = text.lines().find_map(stalls_in_line).unwrap_or(0);
    [flushes, count_in_row("Sum").unwrap_or(0).saturating_sub(flushes), stalls]
}

const COUNT: &str = "Comp(cnt)";

/// From version 8 on the line has names before counts, and sums at its end; before, counts came first.
fn stalls_in_line(line: &str) -> Option<u64> {
    if let Some(counts) = line.strip_prefix("Write Stall (count):") {
        let totals = counts.split(',').filter_map(|count| count.trim().strip_prefix("total-"));
        return Some(totals.filter_map(|count| count.rsplit(' ').next()?.parse::<u64>().ok()).sum());
    }
    let counts = line.strip_prefix("Stalls(count):")?.split(',');
    let overall = counts.take_while(|count| !count.trim().starts_with("interval"));
    Some(overall.filter_map(|count| count.split_whitespace().next()?.parse::<u64>().ok()).sum())
}
