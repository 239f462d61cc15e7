//! The opening of fjall: what was asked for, the keyspace that is made of it, and what the keyspace says it got.

use fjall::config::{BlockSizePolicy, CompressionPolicy};
use fjall::{
    AbstractTree, CompressionType, Database, Keyspace, KeyspaceCreateOptions, KvSeparationOptions,
    OptimisticTxDatabase, PersistMode,
};
use storebench_core::store::{Guarantee, MemoryShare, OpenOptions, Result, Setting, SettingDef, StoreError};

use crate::support::{GivenSettings, expect_taken};

pub const SETTINGS: &[SettingDef] = &[
    SettingDef::new(
        "persist_mode",
        "none, buffer, sync_data or sync_all",
        "the guarantee's",
        "how far a write is handed on before it returns",
    )
    .varying()
    .promising("none is none, buffer is process, sync_data and sync_all are power"),
    SettingDef::new("cache_size", "a size", "33554432", "the cache of blocks")
        .bytes()
        .share(MemoryShare::one_in(
            4,
            "20 to 25 %, or more if all data fit in",
            "https://docs.rs/fjall/3.1.13/fjall/struct.DatabaseBuilder.html#method.cache_size",
        ))
        .read_by("the database's own account")
        .tune(&["134217728", "536870912"]),
    SettingDef::new(
        "max_memtable_size",
        "a size",
        "67108864",
        "how large a memory table grows before it is written out",
    )
    .bytes()
    .filled_by_writes()
    .share(MemoryShare::one_in(
        16,
        "no share; a quarter of the cache, as several can wait to be written",
        "https://docs.rs/fjall/3.1.13/fjall/struct.KeyspaceCreateOptions.html#method.max_memtable_size",
    ))
    .read_by("the keyspace's own account")
    .tune(&["16777216", "268435456"]),
    SettingDef::new("max_journaling_size", "a size from 64 MiB", "as shipped", "all journals together")
        .varying()
        .bytes(),
    SettingDef::new("data_block_size", "a size from 1 KiB to 1 MiB", "4096", "a block of a table file")
        .bytes()
        .read_by("the keyspace's own account")
        .tune(&["1024", "16384", "65536"]),
    SettingDef::new("kv_separation", "true or false", "false", "values from 1 KiB on live in separate files")
        .read_by("the keyspace's own account")
        .tune(&["true"]),
    SettingDef::new("worker_threads", "1 or more", "as shipped", "threads that flush and compact").varying(),
];

/// fjall's defaults that can't be read back.
const MEMTABLE_BYTES: u64 = 64 << 20;
const DATA_BLOCK_BYTES: u32 = 4 << 10;

/// Opens a builder by a plan. The two kinds of builders share no public trait.
macro_rules! opened {
    ($plan:expr, $builder:expr) => {{
        // Values from 4 KiB on are compressed in the journal too, as shipped: off means off there as well.
        let mut builder = $builder.journal_compression($plan.codec);
        if let Some(bytes) = $plan.cache_bytes {
            builder = builder.cache_size(bytes);
        }
        if let Some(bytes) = $plan.journal_bytes {
            builder = builder.max_journaling_size(bytes);
        }
        if let Some(workers) = $plan.workers {
            builder = builder.worker_threads(workers);
        }
        builder.open().map_err(StoreError::engine)?
    }};
}

pub struct Plan {
    /// How each write is handed on before it is acknowledged; `None` leaves it in the process's buffer.
    pub persist: Option<PersistMode>,
    codec: CompressionType,
    cache_bytes: Option<u64>,
    memtable_bytes: u64,
    journal_bytes: Option<u64>,
    block_bytes: u32,
    separates_values: bool,
    workers: Option<usize>,
}

impl Plan {
    /// Fails with [`StoreError::BadSetting`] for an unknown setting, or a value on which fjall would panic.
    pub fn new(options: &OpenOptions<'_>) -> Result<Plan> {
        let given = GivenSettings::new(options, SETTINGS)?;
        let bytes = "a number of bytes";
        // Half of a total for blocks; half for the memory table in use and the few that wait to be written out.
        let cache = options.cache_bytes.map(|total| total / 2);
        let memtable = options.cache_bytes.map_or(MEMTABLE_BYTES, |total| total / 8);
        let plan = Plan {
            persist: persist_mode(options.guarantee, given.text("persist_mode"))?,
            codec: if options.compression { CompressionType::Lz4 } else { CompressionType::None },
            cache_bytes: given.parse("cache_size", bytes)?.or(cache),
            memtable_bytes: given.parse("max_memtable_size", bytes)?.unwrap_or(memtable),
            journal_bytes: given.parse("max_journaling_size", bytes)?,
            block_bytes: given.parse("data_block_size", bytes)?.unwrap_or(DATA_BLOCK_BYTES),
            separates_values: given.flag("kv_separation")?.unwrap_or(false),
            workers: given.parse("worker_threads", "a number")?,
        };
        let bounds = [
            ("max_journaling_size", plan.journal_bytes.is_none_or(|bytes| bytes >= 64 << 20)),
            ("data_block_size", (1 << 10..=1 << 20).contains(&plan.block_bytes)),
            ("worker_threads", plan.workers.is_none_or(|workers| workers > 0)),
        ];
        match bounds.into_iter().find(|(_, is_inside)| !is_inside) {
            None => Ok(plan),
            Some((name, _)) => {
                Err(StoreError::BadSetting(format!("the setting {name} is out of its bounds")))
            }
        }
    }

    pub fn tier(&self) -> Guarantee {
        match self.persist {
            None => Guarantee::None,
            Some(PersistMode::Buffer) => Guarantee::Process,
            Some(PersistMode::SyncData | PersistMode::SyncAll) => Guarantee::Power,
        }
    }

    pub fn open_database(
        &self,
        options: &OpenOptions<'_>,
    ) -> Result<(Database, Option<OptimisticTxDatabase>)> {
        let (database, optimistic) = if options.transactions {
            let owner = opened!(self, OptimisticTxDatabase::builder(options.directory));
            (owner.inner().clone(), Some(owner))
        } else {
            (opened!(self, Database::builder(options.directory)), None)
        };
        if let Some(bytes) = self.cache_bytes {
            expect_taken("cache_size", &bytes, &database.cache_capacity())?;
        }
        Ok((database, optimistic))
    }

    pub fn open_keyspace(&self, database: &Database) -> Result<(Keyspace, FixedOptions)> {
        let existing = database.list_keyspace_names().iter().find_map(|name| FixedOptions::from_name(name));
        let wanted =
            FixedOptions { manual_persist: self.persist.is_none(), memtable_bytes: self.memtable_bytes };
        let fixed = existing.unwrap_or(wanted);
        let keyspace =
            database.keyspace(&fixed.to_name(), || self.create_options(fixed)).map_err(StoreError::engine)?;
        expect_taken("max_memtable_size", &self.memtable_bytes, &fixed.memtable_bytes)?;
        if self.persist.is_none() {
            // The other way round works: each write is then handed on by a call.
            expect_taken("manual_journal_persist", &true, &fixed.manual_persist)?;
        }
        let config = keyspace.tree.tree_config();
        expect_taken("compression", &self.codec, &codec_of(&config.data_block_compression_policy))?;
        expect_taken("data_block_size", &self.block_bytes, &block_bytes_of(&config.data_block_size_policy))?;
        expect_taken("kv_separation", &self.separates_values, &keyspace.is_kv_separated())?;
        Ok((keyspace, fixed))
    }

    fn create_options(&self, fixed: FixedOptions) -> KeyspaceCreateOptions {
        let separation =
            self.separates_values.then(|| KvSeparationOptions::default().compression(self.codec));
        KeyspaceCreateOptions::default()
            .manual_journal_persist(fixed.manual_persist)
            .max_memtable_size(fixed.memtable_bytes)
            .data_block_size_policy(BlockSizePolicy::all(self.block_bytes))
            // On every level. As shipped, the first two are not compressed, and a small store has no others.
            .data_block_compression_policy(CompressionPolicy::all(self.codec))
            .with_kv_separation(separation)
    }

    pub fn settings(&self, database: &Database, keyspace: &Keyspace, fixed: FixedOptions) -> Vec<Setting> {
        let config = keyspace.tree.tree_config();
        let mut settings = vec![
            Setting::unverified("persist_mode", name_of(self.persist)),
            Setting::read_back("manual_journal_persist", fixed.manual_persist),
            Setting::read_back("max_memtable_size", fixed.memtable_bytes),
            Setting::read_back("cache_size", database.cache_capacity()),
            Setting::read_back("compression", codec_of(&config.data_block_compression_policy)),
            Setting::unverified("journal_compression", self.codec),
            Setting::read_back("data_block_size", block_bytes_of(&config.data_block_size_policy)),
            Setting::read_back("kv_separation", keyspace.is_kv_separated()),
        ];
        settings.extend(self.journal_bytes.map(|bytes| Setting::unverified("max_journaling_size", bytes)));
        settings.extend(self.workers.map(|workers| Setting::unverified("worker_threads", workers)));
        settings
    }
}

/// Options fixed when a keyspace is made, which fjall can't read back: the keyspace's name records them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FixedOptions {
    pub manual_persist: bool,
    memtable_bytes: u64,
}

impl FixedOptions {
    fn to_name(self) -> String {
        format!("records-{}-{}", if self.manual_persist { "manual" } else { "flushed" }, self.memtable_bytes)
    }

    fn from_name(name: &str) -> Option<FixedOptions> {
        let (persist, memtable) = name.strip_prefix("records-")?.split_once('-')?;
        Some(FixedOptions { manual_persist: persist == "manual", memtable_bytes: memtable.parse().ok()? })
    }
}

const PERSIST_MODES: [(&str, Option<PersistMode>); 4] = [
    ("none", None),
    ("buffer", Some(PersistMode::Buffer)),
    ("sync_data", Some(PersistMode::SyncData)),
    ("sync_all", Some(PersistMode::SyncAll)),
];

fn persist_mode(tier: Option<Guarantee>, given: Option<&str>) -> Result<Option<PersistMode>> {
    let Some(text) = given else {
        return Ok(match tier {
            Some(Guarantee::None) => None,
            None | Some(Guarantee::Process) => Some(PersistMode::Buffer),
            // The journal is made and synced before it is written, so what fdatasync leaves out is its times.
            Some(Guarantee::Power | Guarantee::Node) => Some(PersistMode::SyncData),
        });
    };
    let mode = PERSIST_MODES.into_iter().find(|(name, _)| *name == text);
    mode.map(|(_, mode)| mode).ok_or_else(|| {
        StoreError::BadSetting(format!(
            "the setting persist_mode={text} is not none, buffer, sync_data or sync_all"
        ))
    })
}

fn name_of(persist: Option<PersistMode>) -> &'static str {
    PERSIST_MODES.into_iter().find(|(_, mode)| *mode == persist).map_or("none", |(name, _)| name)
}

/// The codec of all levels; the plan never mixes them.
fn codec_of(policy: &CompressionPolicy) -> CompressionType {
    policy.first().copied().unwrap_or(CompressionType::None)
}

fn block_bytes_of(policy: &BlockSizePolicy) -> u32 {
    policy.first().copied().unwrap_or(DATA_BLOCK_BYTES)
}
