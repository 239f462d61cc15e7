//! WiredTiger's settings: what is asked for, and what the engine tells.

use storebench_core::store::{Guarantee, OpenOptions, Result, Setting, SettingDef, Share, StoreError};

use super::ffi::Account;
use crate::stores::support::{Given, expect_taken};

pub const SETTINGS: &[SettingDef] = &[
    SettingDef::new(
        "transaction_sync",
        "off, none or fsync",
        "the guarantee's",
        "what a commit does with its log: leaves it in memory (off), writes it (none), syncs it (fsync)",
    )
    .promising("fsync is power, none is process, off is none; each has a log")
    .read_by("the engine's own account"),
    SettingDef::new("cache_size", "a size from 1 MiB to 10 TiB", "104857600", "the cache")
        .bytes()
        .share(Share::one_in(
            2,
            "half of the memory, as MongoDB gives it",
            "https://www.mongodb.com/docs/manual/core/wiredtiger/#memory-use",
        ))
        .read_by("the engine's statistics")
        .tune(&["16777216", "268435456"]),
    SettingDef::new(
        "leaf_page_max",
        "a size, a power of two from 4 KiB to 1 MiB",
        "32768",
        "a page of records on disk, before it is compressed",
    )
    .bytes()
    .read_by("the engine's metadata")
    .tune(&["4096", "16384", "131072"]),
    SettingDef::new(
        "log_file_max",
        "a size from 102400 bytes to 2147483648",
        "16777216",
        "a file of the log, which takes its whole room at once; where there is a log",
    )
    .bytes()
    .read_by("the engine's own account")
    .tune(&["104857600"])
    .costing("200 MB on disk, however small the data"),
    SettingDef::new(
        "checkpoint_log_size",
        "a size from 102400 bytes to 2147483648",
        "67108864",
        "log after which the engine makes a checkpoint; where there is a log",
    )
    .bytes()
    .tune(&["268435456"])
    .costing("recovery after a crash takes longer"),
];

/// The ways of a commit with its log: as it is configured, as the engine tells it, and the tier that it gives.
const SYNCS: [(&str, &str, Guarantee); 3] = [
    ("off", "none", Guarantee::None),
    ("none", "write to OS", Guarantee::Process),
    ("fsync", "fsync to disk", Guarantee::Power),
];

/// The engine's own would be 100 MB, twice: a small database would take 200 MB.
const LOG_FILE_MAX: u64 = 16 << 20;

/// By itself it makes no checkpoint. This is as much log as for Berkeley DB, and as RocksDB as shipped writes for one memory table.
const CHECKPOINT_LOG_SIZE: u64 = 64 << 20;

/// Sessions that the engine has room for as shipped, and how many of them it may need for itself.
const SESSIONS: usize = 100;
const OWN_SESSIONS: usize = 40;

/// The settings of a database that is to be opened.
pub struct Config {
    pub guarantee: Guarantee,
    /// The log's settings; `None` where there is no log.
    log: Option<Log>,
    cache: Option<u64>,
    leaf_page_max: Option<u64>,
    compressor: &'static str,
    sessions: usize,
}

struct Log {
    sync: &'static str,
    file_max: u64,
    checkpoint: u64,
}

impl Config {
    /// # Errors
    /// [`StoreError::BadSetting`], also for a setting of the log where there is none.
    pub fn new(options: &OpenOptions<'_>, given: &Given<'_>, shipped: Guarantee) -> Result<Config> {
        let asked = given.word("transaction_sync", &SYNCS.map(|(name, ..)| name))?;
        let by_tier = || match options.guarantee.unwrap_or(shipped) {
            // As shipped there is no log.
            Guarantee::None => None,
            tier => SYNCS.iter().find(|(.., gives)| *gives == tier).map(|(name, ..)| *name),
        };
        let sync = asked.or_else(by_tier);
        let of_log = |name| match given.number(name, 102_400..=2 << 30)? {
            Some(_) if sync.is_none() => Err(given.refuse(name, "for a database without a log")),
            number => Ok(number),
        };
        let (file_max, checkpoint) = (of_log("log_file_max")?, of_log("checkpoint_log_size")?);
        let leaf_page_max = given.number("leaf_page_max", 4096..=1 << 20)?;
        if leaf_page_max.is_some_and(|bytes| !bytes.is_power_of_two()) {
            return Err(given.refuse("leaf_page_max", "a power of two"));
        }
        let gives = |sync| SYNCS.iter().find(|(name, ..)| *name == sync).map(|(.., tier)| *tier);
        Ok(Config {
            guarantee: sync.and_then(gives).unwrap_or(Guarantee::None),
            log: sync.map(|sync| Log {
                sync,
                file_max: file_max.unwrap_or(LOG_FILE_MAX),
                checkpoint: checkpoint.unwrap_or(CHECKPOINT_LOG_SIZE),
            }),
            cache: given
                .number("cache_size", 1 << 20..=10 << 40)?
                .or(options.cache_bytes.map(|bytes| bytes.max(1 << 20))),
            leaf_page_max,
            compressor: if options.compression { "snappy" } else { "none" },
            sessions: options.sessions,
        })
    }

    /// As `wiredtiger_open` takes it.
    pub fn of_connection(&self) -> String {
        let sessions = SESSIONS.max(self.sessions + OWN_SESSIONS);
        // Nothing of the environment, and nothing that a file in the folder says.
        let mut text = format!("create,use_environment=false,config_base=false,session_max={sessions},");
        if let Some(bytes) = self.cache {
            text += &format!("cache_size={bytes},");
        }
        text += &self.log.as_ref().map_or_else(
            || "log=(enabled=false)".into(),
            |Log { sync, file_max, checkpoint }| {
                let sync = match *sync {
                    "off" => "enabled=false".into(),
                    method => format!("enabled=true,method={method}"),
                };
                format!(
                    "log=(enabled=true,file_max={file_max}),checkpoint=(log_size={checkpoint}),transaction_sync=({sync})"
                )
            },
        );
        text
    }

    /// As `WT_SESSION::create` takes it.
    pub fn of_table(&self) -> String {
        let compressor = self.compressor;
        let mut text = format!("key_format=u,value_format=u,block_compressor={compressor}");
        if let Some(bytes) = self.leaf_page_max {
            text += &format!(",leaf_page_max={bytes}");
        }
        text
    }

    /// Whether the engine took what was asked for.
    ///
    /// # Errors
    /// [`StoreError::SettingNotTaken`].
    pub fn check(&self, account: &Account, table: &str, cache: u64) -> Result<()> {
        expect_taken("log", &self.log.is_some(), &(account.log != 0))?;
        if let Some(log) = &self.log {
            expect_taken("transaction_sync", &log.sync.to_owned(), &sync_of(account)?)?;
            expect_taken("log_file_max", &log.file_max, &account.log_file_max)?;
        }
        if let Some(bytes) = self.leaf_page_max {
            expect_taken("leaf_page_max", &bytes, &size_in(table, "leaf_page_max")?)?;
        }
        expect_taken("block_compressor", &self.compressor.to_owned(), &compressor_in(table)?)?;
        self.cache.map_or(Ok(()), |asked| expect_taken("cache_size", &asked, &cache))
    }

    /// The settings that matter, as the engine tells them.
    ///
    /// # Errors
    /// [`StoreError::Engine`] where it does not.
    pub fn settings(&self, account: &Account, table: &str, cache: u64) -> Result<Vec<Setting>> {
        let mut settings = vec![
            Setting::read_back("log", account.log != 0),
            Setting::read_back("cache_size", cache),
            Setting::read_back("leaf_page_max", size_in(table, "leaf_page_max")?),
            Setting::read_back("block_compressor", compressor_in(table)?),
        ];
        if let Some(log) = &self.log {
            settings.push(Setting::read_back("transaction_sync", sync_of(account)?));
            settings.push(Setting::read_back("log_file_max", account.log_file_max));
            settings.push(Setting::read_back("log_prealloc", account.prealloc != 0));
            settings.push(Setting::given("checkpoint_log_size", log.checkpoint));
        }
        Ok(settings)
    }
}

/// The engine's word for what a commit does, as it is configured.
fn sync_of(account: &Account) -> Result<String> {
    let told = account.sync();
    let known = SYNCS.iter().find(|(_, word, _)| *word == told);
    known.map(|(name, ..)| (*name).to_owned()).ok_or_else(|| {
        StoreError::Engine(format!("WiredTiger syncs its log by \"{told}\", which is not known here"))
    })
}

/// A table's setting in its metadata: names and values, with lists in parentheses.
fn value_in<'t>(table: &'t str, name: &str) -> Result<&'t str> {
    let found = table.split(',').find_map(|part| part.strip_prefix(name)?.strip_prefix('='));
    found.ok_or_else(|| StoreError::Engine(format!("no {name} in WiredTiger's metadata: {table}")))
}

/// A size there: as it was given, or as the engine's authors wrote it: `32KB`.
pub fn size_in(table: &str, name: &str) -> Result<u64> {
    let text = value_in(table, name)?;
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let shift = match unit {
        "" | "B" => Some(0),
        "KB" | "K" => Some(10),
        "MB" | "M" => Some(20),
        _ => None,
    };
    let number: Option<u64> = number.parse().ok();
    number
        .zip(shift)
        .and_then(|(number, shift)| number.checked_shl(shift))
        .ok_or_else(|| StoreError::Engine(format!("{name}={text} in WiredTiger's metadata is no size")))
}

/// The codec of a table's pages.
fn compressor_in(table: &str) -> Result<String> {
    value_in(table, "block_compressor")
        .map(|name| if name.is_empty() { "none".into() } else { name.to_owned() })
}
