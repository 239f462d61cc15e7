//! `sled`: a B+tree whose pages are written to a log.

use std::cell::RefCell;
use std::fs::{self, File};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use sled::transaction::{ConflictableTransactionError, TransactionError, TransactionalTree};
use sled::{Batch, Config, Db};
use storebench_model::store::{
    Capabilities, Danger, Guarantee, Loss, MemoryShare, OpenOptions, Result, Session, Setting, SettingDef,
    Store, StoreBuild, StoreDef, StoreError, Transaction, TransactionBody,
};

use super::compiled;
use super::support::{GivenSettings, expect_taken, hold_to_tier, offer, sync_path};

pub const SLED: StoreDef = StoreDef {
    name: "sled",
    summary: "B+tree on a log of pages, in Rust",
    practice: "a folder of files; back it up while it is closed; one process at a time",
    // It has no call that says its version: this is what Cargo resolved when the program was built.
    version: &|| env!("STOREBENCH_SLED_VERSION").into(),
    capabilities: Capabilities {
        transactions: true,
        max_key_bytes: u32::MAX as usize,
        // It notices no existing key: an insert hands back the old value, but has replaced it by then.
        ..Capabilities::DEFAULT
    },
    // No `power`: on Linux flush() does not flush the disk's cache or sync the file's length, and large values are in files that
    // sled never syncs.
    offers: &[
        offer(Guarantee::None, "flushed every 500 ms", &[Danger::new(Loss::Newest, Loss::Whole, UNSYNCED)]),
        offer(
            Guarantee::Process,
            "flush() after each write",
            &[Danger::new(Loss::Nothing, Loss::Whole, UNSYNCED)],
        ),
    ],
    shipped: Guarantee::None,
    settings: SETTINGS,
    snippet: Some(include_str!("../snippets/sled.rs.txt")),
    python: Some(include_str!("../snippets/sled.py")),
    open: Ok(&open),
    ..StoreDef::DEFAULT
};

const UNSYNCED: &str = "flush() syncs neither the file's length nor the files of large values";

const SETTINGS: &[SettingDef] = &[
    SettingDef::new("flush", "true or false", "the guarantee's", "whether flush() follows each write")
        .varying()
        .guarantee("false is none, true is process"),
    SettingDef::new(
        "flush_every_ms",
        "1 to 10000, or none",
        "500",
        "how often a thread of sled flushes, syncs and cleans; never with none",
    )
    .read_by("the database's own account"),
    SettingDef::new("cache_capacity", "a size from 256 bytes", "1073741824", "the cache of pages")
        .bytes()
        .share(MemoryShare::one_in(
            4,
            "no share; the page cache holds its file too",
            "https://docs.rs/sled/0.34.7/sled/struct.Config.html#method.cache_capacity",
        ))
        .read_by("the database's own account")
        .tune(&["16777216", "67108864"]),
];

const FLUSH_EVERY_MS: u64 = 500;
/// Looks, two in a round of sled's thread, before files count as settled though pages still move: two rounds. Moving them all took up to ten
/// seconds after 1,400 writes of 10 to 100 KiB, in which the files grew from 115 to 160 MB; files of small records kept their size.
const MOST_LOOKS: u32 = 4;

fn open(options: &OpenOptions<'_>) -> Result<Box<dyn Store>> {
    let given = GivenSettings::new(options, SETTINGS)?;
    let flush = given.flag("flush")?.unwrap_or(options.guarantee == Some(Guarantee::Process));
    let tier = if flush { Guarantee::Process } else { Guarantee::None };
    let guarantee = hold_to_tier(options, tier)?;
    let every_ms = match given.text("flush_every_ms") {
        Some("none") => None,
        _ => Some(given.parse("flush_every_ms", "a number of milliseconds")?.unwrap_or(FLUSH_EVERY_MS)),
    };
    if every_ms.is_some_and(|interval| !(1..=10_000).contains(&interval)) {
        return Err(given.refuse("flush_every_ms", "from 1 to 10000"));
    }
    let cache_bytes: Option<u64> =
        given.parse("cache_capacity", "a number of bytes")?.or(options.cache_bytes);
    if cache_bytes.is_some_and(|bytes| bytes < 256) {
        return Err(given.refuse("cache_capacity", "256 bytes or more"));
    }
    let mut config = Config::new().path(options.directory).flush_every_ms(every_ms);
    if let Some(bytes) = cache_bytes {
        config = config.cache_capacity(bytes);
    }
    let db = open_when_unlocked(|| config.open())?;
    if let Some(bytes) = cache_bytes {
        // sled lowers it to the memory that it may use.
        expect_taken("cache_capacity", &bytes, &db.context.cache_capacity)?;
    }
    let unlocked = UnlockWait { file: options.directory.join(FILE) };
    Ok(Box::new(Sled { db, flush, directory: options.directory.into(), guarantee, unlocked }))
}

/// Its file may be locked a moment longer: by sled's threads, or by a process that was started and does not run its program yet.
fn open_when_unlocked(open: impl Fn() -> sled::Result<Db>) -> Result<Db> {
    let deadline = Instant::now() + Duration::from_secs(2);
    loop {
        match open() {
            Err(sled::Error::Io(error))
                if error.to_string().contains("could not acquire lock") && Instant::now() < deadline =>
            {
                thread::sleep(Duration::from_millis(1));
            }
            opened => return opened.map_err(StoreError::engine),
        }
    }
}

const FILE: &str = "db";

/// The files of values too large for the log.
const BLOBS: &str = "blobs";

struct Sled {
    db: Db,
    flush: bool,
    directory: PathBuf,
    guarantee: Guarantee,
    /// After `db`, so that it is dropped later.
    #[allow(dead_code, reason = "its drop is what it is for")]
    unlocked: UnlockWait,
}

/// Waits, on drop, until the database can be opened again: sled's threads hold its file for a moment longer.
struct UnlockWait {
    file: PathBuf,
}

impl Drop for UnlockWait {
    fn drop(&mut self) {
        let Ok(file) = File::open(&self.file) else { return };
        let deadline = Instant::now() + Duration::from_secs(10);
        while file.try_lock().is_err() && Instant::now() < deadline {
            thread::sleep(Duration::from_micros(100));
        }
    }
}

impl Sled {
    fn flush(&self) -> Result<usize> {
        self.db.flush().map_err(StoreError::engine)
    }

    fn after_write(&self) -> Result<()> {
        if self.flush { self.flush().map(drop) } else { Ok(()) }
    }

    fn write(&self, batch: Batch) -> Result<()> {
        self.db.apply_batch(batch).map_err(StoreError::engine)?;
        self.after_write()
    }

    fn size_on_disk(&self) -> Result<u64> {
        self.db.size_on_disk().map_err(StoreError::engine)
    }

    /// Waits until sled's thread has no page to move, when a whole round flushes nothing, or has done two rounds.
    fn wait_for_cleaning(&self) -> Result<()> {
        let Some(interval) = self.db.context.flush_every_ms.map(Duration::from_millis) else { return Ok(()) };
        // A log of one segment, which is written to, has none to be cleaned.
        if self.size_on_disk()? <= self.db.context.segment_size as u64 {
            return Ok(());
        }
        let mut quiet = 0;
        for _ in 0..MOST_LOOKS {
            thread::sleep(interval / 2);
            quiet = if self.flush()? == 0 { quiet + 1 } else { 0 };
            if quiet == 2 {
                break;
            }
        }
        Ok(())
    }
}

impl Store for Sled {
    fn session(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(self))
    }

    fn guarantee(&self) -> Guarantee {
        self.guarantee
    }

    /// Reads all records: the tree has no count.
    fn count(&self) -> Result<u64> {
        self.db.iter().try_fold(0, |count, record| record.map(|_| count + 1)).map_err(StoreError::engine)
    }

    fn settle(&self) -> Result<()> {
        self.flush()?;
        self.wait_for_cleaning()?;
        // The work that sled's own thread does with the log after each of its rounds, and nobody with the rest.
        let blobs = self.directory.join(BLOBS);
        let large_files =
            fs::read_dir(&blobs).map_err(StoreError::io("reading the folder of large values"))?;
        let large_files = large_files.flatten().map(|entry| entry.path()).filter(|path| path.exists());
        let other_paths = [self.directory.join(FILE), blobs, self.directory.clone()];
        large_files.chain(other_paths).try_for_each(|path| sync_path(&path))
    }

    fn settings(&self) -> Result<Vec<Setting>> {
        let interval = self.db.context.flush_every_ms;
        Ok(vec![
            Setting::unverified("flush", self.flush),
            Setting::read_back("flush_every_ms", interval.map_or("none".into(), |ms| ms.to_string())),
            Setting::read_back("cache_capacity", self.db.context.cache_capacity),
        ])
    }

    fn build(&self) -> Option<StoreBuild> {
        Some(compiled::rust())
    }

    fn statistics(&self) -> Result<Vec<Setting>> {
        let large = fs::read_dir(self.directory.join(BLOBS)).map_or(0, Iterator::count);
        let bytes = self.size_on_disk()?;
        Ok(vec![
            Setting::read_back("size_on_disk", bytes),
            Setting::unverified("files_of_large_values", large),
        ])
    }

    fn close(self: Box<Self>) -> Result<()> {
        // Dropping a database flushes it too, but does not say whether that worked.
        self.flush().map(drop)
    }
}

impl Session for &Sled {
    fn insert(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.update(key, value)
    }

    fn update(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.db.insert(key, value).map_err(StoreError::engine)?;
        self.after_write()
    }

    fn get(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        let value = self.db.get(key).map_err(StoreError::engine)?;
        Ok(value.map(|value| visit(&value)).is_some())
    }

    fn remove(&mut self, key: &[u8]) -> Result<()> {
        self.db.remove(key).map_err(StoreError::engine)?;
        self.after_write()
    }

    fn scan(&mut self, from: &[u8], limit: usize, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize> {
        let mut count = 0;
        for record in self.db.range(from..).take(limit) {
            let (key, value) = record.map_err(StoreError::engine)?;
            visit(&key, &value);
            count += 1;
        }
        Ok(count)
    }

    fn insert_batch(&mut self, records: &[(&[u8], &[u8])]) -> Result<()> {
        let mut batch = Batch::default();
        records.iter().for_each(|(key, value)| batch.insert(*key, *value));
        self.write(batch)
    }

    fn remove_batch(&mut self, keys: &[&[u8]]) -> Result<()> {
        let mut batch = Batch::default();
        keys.iter().for_each(|key| batch.remove(*key));
        self.write(batch)
    }

    fn transact(&mut self, work: &mut TransactionBody<'_>) -> Result<()> {
        // sled would do it again after a conflict, of which it has none: a transaction locks all others out.
        let work = RefCell::new(work);
        let outcome = self.db.transaction(|tree| {
            let work = &mut *work.borrow_mut();
            work(&mut OpenTransaction { tree }).map_err(ConflictableTransactionError::Abort)
        });
        match outcome {
            Ok(()) => self.after_write(),
            Err(TransactionError::Abort(error)) => Err(error),
            Err(TransactionError::Storage(error)) => Err(StoreError::engine(error)),
        }
    }
}

struct OpenTransaction<'a> {
    tree: &'a TransactionalTree,
}

impl Transaction for OpenTransaction<'_> {
    fn get(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        let value = self.tree.get(key).map_err(StoreError::engine)?;
        Ok(value.map(|value| visit(&value)).is_some())
    }

    fn get_to_change(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        self.get(key, visit)
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.tree.insert(key, value).map(drop).map_err(StoreError::engine)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::testing::{new_folder, opened, setting};

    #[test]
    fn flushing_decides_the_tier() {
        let folder = new_folder();
        let store = opened(&SLED, &folder, None, &[("flush", "true"), ("flush_every_ms", "none")]);
        assert_eq!(store.guarantee(), Guarantee::Process);
        assert_eq!(setting(&*store, "flush_every_ms"), "none");
    }

    #[test]
    fn large_values_have_files_of_their_own() {
        let folder = new_folder();
        let store = opened(&SLED, &folder, Some(Guarantee::Process), &[]);
        let mut session = store.session().unwrap();
        let files = || fs::read_dir(folder.path().join(BLOBS)).unwrap().count();
        session.insert(b"small", &[1; 100 << 10]).unwrap();
        assert_eq!(files(), 0);
        session.insert(b"large", &[1; 200 << 10]).unwrap();
        assert!(files() > 0);
        store.settle().unwrap();
    }

    #[test]
    fn it_opens_again_at_once() {
        let folder = new_folder();
        for round in 0..50_u32 {
            let store = opened(&SLED, &folder, Some(Guarantee::Process), &[]);
            store.session().unwrap().insert(&round.to_be_bytes(), b"value").unwrap();
            drop(store);
        }
        assert_eq!(opened(&SLED, &folder, None, &[]).count().unwrap(), 50);
    }
}
