//! `berkeleydb`: Oracle's Berkeley DB 5.3, a B-tree or a hash table, through the functions of `native/berkeleydb.c`.
//! The layout depends on the guarantee and the number of sessions:
//!
//! | guarantee | one session | several sessions |
//! | --- | --- | --- |
//! | `none` | a database without an environment | an environment for concurrent access (`DB_INIT_CDB`) |
//! | `process`, `power` | transactions and a log, no locks | transactions, a log and locks |
//!
//! With transactions over records, `none` has both and a log, too, which a commit leaves in the process.

mod ffi;
mod session;
#[cfg(test)]
mod tests;

use std::ffi::{CStr, CString, c_char, c_int};
use std::fs;
use std::mem::ManuallyDrop;
use std::path::Path;
use std::ptr::{self, NonNull};

use storebench_model::store::{
    Capabilities, Danger, Guarantee, GuaranteeOffer, Loss, MemoryShare, OpenOptions, Result, Session,
    Setting, SettingDef, Store, StoreBuild, StoreDef, StoreError, Upkeep,
};

use self::session::{BerkeleySession, retry};
use super::linked::linked;
use super::one_session::{CallTurn, OneSession};
use super::support::{GivenSettings, expect_taken, offer, sync_path};

pub const BERKELEYDB: StoreDef = StoreDef {
    name: "berkeleydb",
    summary: "B-tree, with or without transactions",
    practice: "a file, and logs next to it; it can be backed up while open; several processes can share an environment",
    version: &version,
    capabilities: Capabilities {
        backup: true,
        compacts_beside: true,
        // A batch is one, too; not at `none`, which keeps nothing that a crash could leave whole or in part.
        transactions: true,
        max_key_bytes: u32::MAX as usize,
        ..Capabilities::DEFAULT
    },
    offers: &[
        GuaranteeOffer::tearing(
            Guarantee::None,
            "no environment, no log: pages are written when the cache is full or the database is closed",
            &[
                Danger {
                    settings: &[("DB_TXN_NOSYNC", "true")],
                    ..Danger::new(Loss::Newest, Loss::Newest, "the end of the log is in the process")
                },
                Danger::new(Loss::Whole, Loss::Whole, "there is no log"),
            ],
        ),
        offer(Guarantee::Process, "DB_INIT_TXN, DB_INIT_LOG, DB_RECOVER, DB_TXN_WRITE_NOSYNC", UNSYNCED),
        // As `default` without a setting: a page of 4 KiB, which a disk can tear.
        offer(Guarantee::Power, "DB_INIT_TXN, DB_INIT_LOG, DB_RECOVER, pagesize=512", SYNCED),
    ],
    shipped: Guarantee::None,
    settings: SETTINGS,
    snippet: Some(include_str!("../snippets/berkeleydb.c")),
    python: Some(include_str!("../snippets/berkeleydb.py")),
    open: Ok(&open),
    ..StoreDef::DEFAULT
};

/// Seen under simulated power cuts (docs/guarantees.md).
const TORN: Danger =
    Danger::new(Loss::Nothing, Loss::Whole, "where a page is half written; not with pagesize=512");

/// With the file system's block as a page.
const UNSYNCED: &[Danger] = &[Danger { settings: &[("pagesize", "512")], ..Danger::NEWEST[0] }, TORN];

/// None with `power`'s pages; with larger ones as at `process`.
const SYNCED: &[Danger] = &[
    Danger { settings: &[("pagesize", "1024")], ..TORN },
    Danger { settings: &[("pagesize", "2048")], ..TORN },
    Danger { settings: &[("pagesize", "4096")], ..TORN },
    Danger { settings: &[("pagesize", "8192")], ..TORN },
    Danger { settings: &[("pagesize", "16384")], ..TORN },
    Danger { settings: &[("pagesize", "32768")], ..TORN },
    Danger { settings: &[("pagesize", "65536")], ..TORN },
    Danger::NOTHING[0],
];

fn version() -> String {
    // SAFETY: the engine gives a string that lives as long as the program.
    let text = unsafe { CStr::from_ptr(ffi::sb_bdb_version()) }.to_string_lossy();
    // "Berkeley DB 5.3.28: (September  9, 2013)"
    text.trim_start_matches("Berkeley DB ").split(':').next().unwrap_or_default().to_owned()
}

/// A disk writes such a page as a whole.
const UNTORN_PAGE_BYTES: u32 = 512;

const FILE: &str = "records.db";

struct BerkeleyDb {
    db: NonNull<ffi::Db>,
    guarantee: Guarantee,
    /// Set if the engine's handles are for one thread at a time.
    one_session: Option<OneSession>,
    /// KiB of log after which a writer makes a checkpoint; 0 without a log.
    checkpoint_kbyte: u32,
    is_logged: bool,
    hash: bool,
    sessions: u32,
}

// SAFETY: the handles are not tied to a thread. With `one_session`, calls take turns (see `OneSession`); without it they were
// opened with DB_THREAD, which makes them free for all threads.
unsafe impl Send for BerkeleyDb {}
// SAFETY: as above.
unsafe impl Sync for BerkeleyDb {}

fn open(options: &OpenOptions<'_>) -> Result<Box<dyn Store>> {
    // As shipped, transactions are synced; without them, nothing is.
    let shipped = if options.transactions { Guarantee::Power } else { BERKELEYDB.shipped };
    let guarantee = options.guarantee.unwrap_or(shipped);
    let several = options.sessions > 1;
    let mode = match (guarantee, several) {
        (Guarantee::None, _) if options.transactions => ffi::LOG_KEPT,
        (Guarantee::None, false) => ffi::PLAIN,
        (Guarantee::None, true) => ffi::CONCURRENT,
        (Guarantee::Process, _) => ffi::LOG_WRITTEN,
        (Guarantee::Power | Guarantee::Node, _) => ffi::LOG_SYNCED,
    };
    let mut config =
        Config::new(&GivenSettings::new(options, SETTINGS)?, options.cache_bytes, mode >= ffi::LOG_KEPT)?;
    if options.guarantee == Some(Guarantee::Power) && config.pagesize == 0 {
        config.pagesize = UNTORN_PAGE_BYTES;
    }
    let store = BerkeleyDb {
        db: open_db(options.directory, &config, mode, several)?,
        guarantee,
        one_session: (!several).then(OneSession::default),
        checkpoint_kbyte: config.checkpoint_kbyte,
        is_logged: mode >= ffi::LOG_KEPT,
        hash: config.hash,
        sessions: u32::try_from(options.sessions.max(1)).unwrap_or(u32::MAX),
    };
    config.check(&store.facts()?)?;
    if guarantee == Guarantee::Power {
        // The engine syncs its files, but not the folder that it made them in.
        sync_path(options.directory)?;
    }
    Ok(Box::new(store))
}

fn open_db(folder: &Path, config: &Config, mode: c_int, several: bool) -> Result<NonNull<ffi::Db>> {
    let path = |path: &Path| CString::new(path.as_os_str().as_encoded_bytes()).map_err(StoreError::engine);
    let home = path(folder)?;
    if mode < ffi::LOG_KEPT {
        refuse_leftover(folder)?;
    }
    // Without an environment there is no home for a relative name.
    let file = if mode == ffi::PLAIN { path(&folder.join(FILE))? } else { path(Path::new(FILE))? };
    let config = config.for_engine(&home, &file, mode, several);
    let mut db = ptr::null_mut();
    // SAFETY: the configuration and the strings in it live until the call returns.
    check(unsafe { ffi::sb_bdb_open(&raw const config, &raw mut db) })?;
    NonNull::new(db).ok_or_else(message)
}

/// Without a log, the engine waits for ever if this file is left.
fn refuse_leftover(folder: &Path) -> Result<()> {
    let leftover = folder.join(format!("__db.{FILE}"));
    if !leftover.exists() {
        return Ok(());
    }
    let message = format!(
        "{} was left by a write that was cut off, and Berkeley DB would wait for ever: delete it",
        leftover.display()
    );
    Err(StoreError::Engine(message))
}

/// The engine's message for this thread's last error.
fn message() -> StoreError {
    // SAFETY: the string is this thread's, and stays until its next call.
    StoreError::Engine(unsafe { CStr::from_ptr(ffi::sb_bdb_message()) }.to_string_lossy().into_owned())
}

fn check(code: c_int) -> Result<()> {
    if code == ffi::OK { Ok(()) } else { Err(message()) }
}

impl BerkeleyDb {
    fn wait_turn(&self) -> Result<Option<CallTurn<'_>>> {
        self.one_session.as_ref().map(OneSession::wait_turn).transpose()
    }

    fn read_statistics(&self) -> Result<ffi::Statistics> {
        let _turn = self.wait_turn()?;
        let mut statistics = ffi::Statistics::default();
        // SAFETY: the database is open, and it is this call's turn.
        check(unsafe { ffi::sb_bdb_statistics(self.db.as_ptr(), &raw mut statistics) })?;
        Ok(statistics)
    }

    fn facts(&self) -> Result<ffi::Facts> {
        let _turn = self.wait_turn()?;
        let mut facts = ffi::Facts::default();
        // SAFETY: the database is open, and it is this call's turn.
        check(unsafe { ffi::sb_bdb_facts(self.db.as_ptr(), &raw mut facts) })?;
        Ok(facts)
    }
}

impl Store for BerkeleyDb {
    fn session(&self) -> Result<Box<dyn Session + '_>> {
        let pass = self.one_session.as_ref().map(OneSession::session).transpose()?;
        Ok(Box::new(BerkeleySession::new(self, pass)))
    }

    fn guarantee(&self) -> Guarantee {
        self.guarantee
    }

    fn count(&self) -> Result<u64> {
        let _turn = self.wait_turn()?;
        let mut count = 0;
        // SAFETY: the database is open, and it is this call's turn.
        check(retry(|| Ok(unsafe { ffi::sb_bdb_count(self.db.as_ptr(), &raw mut count) }))?)?;
        Ok(count)
    }

    fn verify(&mut self) -> Result<bool> {
        let _turn = self.wait_turn()?;
        // SAFETY: the database is open, and nobody else has it.
        check(unsafe { ffi::sb_bdb_verify(self.db.as_ptr()) }).map(|()| true)
    }

    fn compact_concurrently(&self) -> Result<Option<&'static str>> {
        let _turn = self.wait_turn()?;
        // SAFETY: the database is open; its handle is for all threads, or it is this call's turn.
        check(unsafe { ffi::sb_bdb_compact(self.db.as_ptr()) }).map(|()| Some("DB->compact"))
    }

    /// A log makes one state of pages copied at different moments. Handles for one thread would block others throughout.
    fn back_up(&self, to: &Path) -> Result<Option<&'static str>> {
        if !self.is_logged || self.one_session.is_some() {
            return Ok(None);
        }
        let path = CString::new(to.as_os_str().as_encoded_bytes()).map_err(StoreError::engine)?;
        // SAFETY: the database is open, and its handle is for all threads; the string lives until the call returns.
        check(unsafe { ffi::sb_bdb_backup(self.db.as_ptr(), path.as_ptr()) })?;
        for entry in fs::read_dir(to).map_err(StoreError::io(format!("reading {}", to.display())))? {
            sync_path(&entry.map_err(StoreError::engine)?.path())?;
        }
        sync_path(to)?;
        Ok(Some("DB_ENV->backup"))
    }

    fn settle(&self) -> Result<()> {
        let _turn = self.wait_turn()?;
        // SAFETY: the database is open, and it is this call's turn.
        check(unsafe { ffi::sb_bdb_checkpoint(self.db.as_ptr(), 0) })
    }

    fn settings(&self) -> Result<Vec<Setting>> {
        Ok(settings(&self.facts()?, self.checkpoint_kbyte))
    }

    fn build(&self) -> Option<StoreBuild> {
        // SAFETY: it takes nothing, and gives an address.
        Some(linked!("BERKELEYDB").build(unsafe { ffi::sb_bdb_code() }))
    }

    fn upkeep(&self) -> Result<Vec<Upkeep>> {
        Ok(vec![Upkeep::done("pages written", self.read_statistics()?.pages_written)])
    }

    fn statistics(&self) -> Result<Vec<Setting>> {
        let counts = self.read_statistics()?;
        let mut statistics = vec![
            Setting::read_back("st_cache_hit", counts.cache_hits),
            Setting::read_back("st_cache_miss", counts.cache_misses),
            Setting::read_back("st_page_out", counts.pages_written),
            Setting::read_back("st_rw_evict", counts.dirty_evictions),
        ];
        if self.checkpoint_kbyte > 0 {
            statistics.push(Setting::read_back("st_wcount", counts.log_writes));
            statistics.push(Setting::read_back("st_scount", counts.log_syncs));
            statistics.push(Setting::read_back("st_ncommits", counts.commits));
        }
        Ok(statistics)
    }

    fn close(self: Box<Self>) -> Result<()> {
        let settled = self.settle();
        let store = ManuallyDrop::new(*self);
        // SAFETY: `self` is gone, and with it every session; the database is closed nowhere else.
        let closed = check(unsafe { ffi::sb_bdb_close(store.db.as_ptr()) });
        settled.and(closed)
    }
}

impl Drop for BerkeleyDb {
    fn drop(&mut self) {
        // SAFETY: no session is left, and the database is closed nowhere else.
        unsafe { ffi::sb_bdb_close(self.db.as_ptr()) };
    }
}

const SETTINGS: &[SettingDef] = &[
    SettingDef::new(
        "type",
        "DB_BTREE or DB_HASH",
        "DB_BTREE",
        "how records are found: DB_HASH has no order, and can't scan",
    )
    .capabilities(|value, can| can.order &= value != DB_HASH)
    .read_by("the engine")
    .tune(&["DB_HASH"])
    .costing("it has no order, and can't scan"),
    SettingDef::new(
        "pagesize",
        "a size, a power of two from 512 bytes to 64 KiB",
        "the file system's block; at power 512",
        "a page of the B-tree",
    )
    .varying()
    .bytes()
    .read_by("the engine")
    .tune(&["1024", "8192", "16384", "65536"]),
    SettingDef::new("cachesize", "a size from 128 KiB to 1 TiB", "335872", "the cache with its overhead")
        .bytes()
        .share(MemoryShare::one_in(
            4,
            "the working set, no share; the page cache holds its file too",
            "https://docs.oracle.com/database/bdb181/html/api_reference/C/envset_cachesize.html",
        ))
        .read_by("the engine, which rounds it down")
        .tune(&["8388608", "67108864", "268435456"]),
    SettingDef::new(
        "lg_max",
        "a size from 64 bytes to 1 GiB",
        "10485760",
        "a log file; process and power alone",
    )
    .bytes()
    .read_by("the engine"),
    SettingDef::new(
        "lg_bsize",
        "a size from 64 bytes to 1 GiB",
        "32000",
        "the log's buffer; process and power alone",
    )
    .bytes()
    .read_by("the engine")
    .tune(&["1048576"]),
    SettingDef::new(
        "checkpoint_kbyte",
        "a number of KiB, from 64",
        "65536",
        "log after which a writer makes a checkpoint; process and power alone",
    )
    .tune(&["262144"])
    .costing("recovery after a crash takes longer"),
];

const DB_BTREE: &str = "DB_BTREE";
const DB_HASH: &str = "DB_HASH";

/// A transaction holds a lock on each page that it has changed, so that a batch can need more than the default's 1,000.
const MAX_LOCKS: u32 = 100_000;

/// The engine makes no checkpoint by itself. This is RocksDB's default log for one memory table.
const CHECKPOINT_KBYTE: u32 = 64 << 10;

/// From here on the engine takes a cache's size as it is. To a smaller one it adds a quarter for its overhead, and up to [`ROUNDING`].
const EXACT_CACHE_BYTES: u64 = 500 << 20;
const ROUNDING: u64 = 8 << 10;

/// Zeros are the engine's defaults.
struct Config {
    cachesize: u64,
    pagesize: u32,
    lg_max: u32,
    lg_bsize: u32,
    /// KiB of log after which a writer makes a checkpoint; 0 without a log.
    checkpoint_kbyte: u32,
    hash: bool,
}

impl Config {
    /// Fails also for a setting of the log when there is none.
    fn new(given: &GivenSettings<'_>, cache_bytes: Option<u64>, has_log: bool) -> Result<Config> {
        let log_setting = |name| match given.number32(name, 64..=1 << 30)? {
            Some(_) if !has_log => Err(given.refuse(name, "for the guarantee none, which has no log")),
            number => Ok(number),
        };
        let pagesize = given.number32("pagesize", 512..=65_536)?;
        if pagesize.is_some_and(|bytes| !bytes.is_power_of_two()) {
            return Err(given.refuse("pagesize", "a power of two"));
        }
        let checkpoint = log_setting("checkpoint_kbyte")?.unwrap_or(CHECKPOINT_KBYTE);
        Ok(Config {
            cachesize: given.number("cachesize", 128 << 10..=1 << 40)?.or(cache_bytes).unwrap_or(0),
            pagesize: pagesize.unwrap_or(0),
            lg_max: log_setting("lg_max")?.unwrap_or(0),
            lg_bsize: log_setting("lg_bsize")?.unwrap_or(0),
            checkpoint_kbyte: if has_log { checkpoint } else { 0 },
            hash: given.word("type", &[DB_BTREE, DB_HASH])? == Some(DB_HASH),
        })
    }

    fn for_engine(&self, home: &CStr, file: &CStr, mode: c_int, several: bool) -> ffi::Config {
        ffi::Config {
            home: home.as_ptr(),
            file: file.as_ptr(),
            mode,
            threads: c_int::from(several),
            cache: self.cache_without_overhead(),
            page_size: self.pagesize,
            lg_max: self.lg_max,
            lg_bsize: self.lg_bsize,
            max_locks: MAX_LOCKS,
            hash: c_int::from(self.hash),
        }
    }

    /// The size to ask for so that the cache with its overhead fits.
    fn cache_without_overhead(&self) -> u64 {
        if self.cachesize >= EXACT_CACHE_BYTES + EXACT_CACHE_BYTES / 4 {
            self.cachesize
        } else {
            self.cachesize.saturating_sub(ROUNDING) / 5 * 4
        }
    }

    /// Compares what the engine reads back: exactly, or, for the cache, rounded down.
    fn check(&self, facts: &ffi::Facts) -> Result<()> {
        let exact = [
            ("pagesize", self.pagesize, facts.page_size),
            ("lg_max", self.lg_max, facts.lg_max),
            ("lg_bsize", self.lg_bsize, facts.lg_bsize),
        ];
        for (name, wanted, read_back) in exact {
            if wanted != 0 {
                expect_taken(name, &wanted, &read_back)?;
            }
        }
        expect_taken("type", &type_name(self.hash), &type_name(facts.hash != 0))?;
        let rounded_down = facts.cache <= self.cachesize && self.cachesize - facts.cache <= 2 * ROUNDING;
        if self.cachesize != 0 && !rounded_down {
            expect_taken("cachesize", &self.cachesize, &facts.cache)?;
        }
        Ok(())
    }
}

fn type_name(hash: bool) -> &'static str {
    if hash { DB_HASH } else { DB_BTREE }
}

/// `checkpoint_kbyte` is 0 without a log.
fn settings(facts: &ffi::Facts, checkpoint_kbyte: u32) -> Vec<Setting> {
    let mut names = [0 as c_char; 256];
    // SAFETY: the engine's names are written into the buffer, cut at its size, with a zero byte at the end.
    let names = unsafe {
        ffi::sb_bdb_flag_names(facts.env_open_flags, names.as_mut_ptr(), names.len());
        CStr::from_ptr(names.as_ptr()).to_string_lossy().into_owned()
    };
    let environment = if names.is_empty() { "none".into() } else { names };
    let mut settings = vec![
        Setting::read_back("environment", environment),
        Setting::read_back("type", type_name(facts.hash != 0)),
        Setting::read_back("cachesize", facts.cache),
        Setting::read_back("pagesize", facts.page_size),
    ];
    if facts.max_locks > 0 {
        settings.push(Setting::read_back("lk_max_locks", facts.max_locks));
    }
    if checkpoint_kbyte > 0 {
        settings.push(Setting::read_back("DB_TXN_NOSYNC", facts.nosync != 0));
        settings.push(Setting::read_back("DB_TXN_WRITE_NOSYNC", facts.write_nosync != 0));
        settings.push(Setting::read_back("DB_LOG_AUTO_REMOVE", facts.auto_remove != 0));
        settings.push(Setting::read_back("lg_max", facts.lg_max));
        settings.push(Setting::read_back("lg_bsize", facts.lg_bsize));
        settings.push(Setting::unverified("checkpoint_kbyte", checkpoint_kbyte));
    }
    settings
}
