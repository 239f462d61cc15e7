//! Berkeley DB's settings: what is asked for, and what the engine reads back.

use std::ffi::{CStr, c_char, c_int};

use storebench_core::store::{MemoryShare, Result, Setting, SettingDef};

use super::ffi;
use crate::support::{GivenSettings, expect_taken};

pub const SETTINGS: &[SettingDef] = &[
    SettingDef::new(
        "type",
        "DB_BTREE or DB_HASH",
        "DB_BTREE",
        "how records are found: DB_HASH has no order, and can't scan",
    )
    .limiting(|value, can| can.order &= value != DB_HASH)
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

/// For several sessions. A transaction holds a lock on each page that it has changed, so that a batch can need more than the
/// 1,000 of the default.
const MAX_LOCKS: u32 = 100_000;

/// The engine makes no checkpoint by itself. This is RocksDB's default log for one memory table.
const CHECKPOINT_KBYTE: u32 = 64 << 10;

/// From here on the engine takes a cache's size as it is. To a smaller one it adds a quarter for its overhead, and up to [`ROUNDING`].
const EXACT_CACHE_BYTES: u64 = 500 << 20;
const ROUNDING: u64 = 8 << 10;

/// Zeros are the engine's defaults.
pub struct Config {
    cachesize: u64,
    pub pagesize: u32,
    lg_max: u32,
    lg_bsize: u32,
    /// KiB of log after which a writer makes a checkpoint; 0 without a log.
    pub checkpoint_kbyte: u32,
    pub hash: bool,
}

impl Config {
    /// Fails also for a setting of the log when there is none.
    pub fn new(given: &GivenSettings<'_>, cache_bytes: Option<u64>, has_log: bool) -> Result<Config> {
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

    pub fn for_engine(&self, home: &CStr, file: &CStr, mode: c_int, several: bool) -> ffi::Config {
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
    pub fn check(&self, facts: &ffi::Facts) -> Result<()> {
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
pub fn settings(facts: &ffi::Facts, checkpoint_kbyte: u32) -> Vec<Setting> {
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
