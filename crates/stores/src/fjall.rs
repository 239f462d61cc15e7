//! `fjall`: a log-structured merge tree.

use std::time::Duration;

use fjall::config::{BlockSizePolicy, CompressionPolicy};
use fjall::{
    AbstractTree, CompressionType, Database, Keyspace, KeyspaceCreateOptions, KvSeparationOptions,
    OptimisticTxDatabase, OptimisticWriteTx, PersistMode, Readable,
};
use storebench_model::store::{
    Capabilities, Danger, Guarantee, HeldReader, Loss, MemoryShare, OpenOptions, Result, Session, Setting,
    SettingDef, Store, StoreBuild, StoreDef, StoreError, Transaction, TransactionBody, Upkeep,
};

use super::compiled;
use super::support::{GivenSettings, expect_taken, hold_to_tier, offer};

pub const FJALL: StoreDef = StoreDef {
    name: "fjall",
    summary: "log-structured merge tree, in Rust",
    practice: "a folder of files; back it up while it is closed; one process at a time",
    // It has no call that says its version: this is what Cargo resolved when the program was built.
    version: &|| env!("STOREBENCH_FJALL_VERSION").into(),
    capabilities: Capabilities {
        compacts_beside: true,
        held_reader: true,
        transactions: true,
        compression: Some("lz4"),
        max_key_bytes: MAX_KEY_BYTES,
        // To notice a key would take a read before each write, which such a tree is made to avoid.
        ..Capabilities::DEFAULT
    },
    offers: &[
        offer(
            Guarantee::None,
            "manual_journal_persist=true",
            &[Danger::new(Loss::Newest, Loss::ByHand, "its journal must be cut")],
        ),
        offer(Guarantee::Process, "PersistMode::Buffer on each write", JOURNAL),
        offer(Guarantee::Power, "PersistMode::SyncData on each write", SYNCED_JOURNAL),
    ],
    shipped: Guarantee::Process,
    settings: SETTINGS,
    snippet: Some(include_str!("../snippets/fjall.rs.txt")),
    python: Some(include_str!("../snippets/fjall.py")),
    open: Ok(&open),
    ..StoreDef::DEFAULT
};

/// A power cut can leave a journal entry with its end and without its middle, for a value of several pages (docs/guarantees.md).
const JOURNAL: &[Danger] =
    &[Danger::new(Loss::Nothing, Loss::ByHand, "its journal must be cut; the newest writes are lost, too")];

/// As above, if each write is synced.
const SYNCED_JOURNAL: &[Danger] = &[Danger::new(
    Loss::Nothing,
    Loss::ByHand,
    "where a page is half written its journal must be cut; nothing is lost",
)];

const MAX_KEY_BYTES: usize = u16::MAX as usize;

/// fjall fixes the levels of a tree.
const LEVELS: usize = 7;

fn open(options: &OpenOptions<'_>) -> Result<Box<dyn Store>> {
    let plan = Plan::new(options)?;
    let guarantee = hold_to_tier(options, plan.tier())?;
    let (database, optimistic) = plan.open_database(options)?;
    let (keyspace, fixed) = plan.open_keyspace(&database)?;
    // Handing on to the operating system is fjall's own doing, unless the keyspace was made without it.
    let after_write = plan.persist.filter(|mode| *mode != PersistMode::Buffer || fixed.manual_persist);
    Ok(Box::new(Fjall { keyspace, database, optimistic, plan, fixed, after_write, guarantee }))
}

struct Fjall {
    keyspace: Keyspace,
    database: Database,
    optimistic: Option<OptimisticTxDatabase>,
    plan: Plan,
    fixed: FixedOptions,
    /// How a session persists the journal after each write.
    after_write: Option<PersistMode>,
    guarantee: Guarantee,
}

impl Fjall {
    fn wait_for_workers(&self) -> Result<()> {
        while self.database.outstanding_flushes() > 0
            || self.keyspace.sealed_memtable_count() > 0
            || self.database.active_compactions() > 0
        {
            // Fails once a worker has, and so ends a wait that would have no end.
            self.database.persist(PersistMode::Buffer).map_err(StoreError::engine)?;
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    fn shape(&self) -> (Vec<Option<usize>>, u64) {
        let tables = (0..LEVELS).map(|level| self.keyspace.tree.level_table_count(level)).collect();
        (tables, self.keyspace.disk_space())
    }

    fn after_write(&self) -> Result<()> {
        match self.after_write {
            None => Ok(()),
            Some(mode) => self.database.persist(mode).map_err(StoreError::engine),
        }
    }
}

impl Store for Fjall {
    fn session(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(FjallSession { store: self, appender: None }))
    }

    fn guarantee(&self) -> Guarantee {
        self.guarantee
    }

    /// Reads all keys: the tree has no count of live ones.
    fn count(&self) -> Result<u64> {
        Ok(self.keyspace.len().map_err(StoreError::engine)? as u64)
    }

    fn hold_reader(&self) -> Result<Option<Box<dyn HeldReader + '_>>> {
        Ok(Some(Box::new(self.database.snapshot())))
    }

    fn settle(&self) -> Result<()> {
        self.keyspace.rotate_memtable().map_err(StoreError::engine)?;
        // fjall does not report whether its workers have to compact: so this thread runs the strategy, too, until neither finds work.
        loop {
            self.wait_for_workers()?;
            let shape_before = self.shape();
            let oldest_needed = self.database.supervisor.snapshot_tracker.get_seqno_safe_to_gc();
            let strategy = self.keyspace.config.compaction_strategy.clone();
            self.keyspace.tree.compact(strategy, oldest_needed).map_err(StoreError::engine)?;
            if self.database.active_compactions() == 0 && self.shape() == shape_before {
                return self.database.persist(PersistMode::SyncAll).map_err(StoreError::engine);
            }
        }
    }

    fn compact_concurrently(&self) -> Result<Option<&'static str>> {
        self.keyspace.major_compact().map_err(StoreError::engine)?;
        Ok(Some("major_compact"))
    }

    fn settings(&self) -> Result<Vec<Setting>> {
        let mut settings = self.plan.settings(&self.database, &self.keyspace, self.fixed);
        settings.extend(self.optimistic.as_ref().map(|_| Setting::unverified("transactions", "optimistic")));
        Ok(settings)
    }

    fn build(&self) -> Option<StoreBuild> {
        Some(compiled::rust())
    }

    fn upkeep(&self) -> Result<Vec<Upkeep>> {
        let database = &self.database;
        let entry = |work, count, under_way| Upkeep { work, count, under_way };
        let persisted = self.keyspace.tree.get_highest_persisted_seqno().map_or(0, |newest| newest + 1);
        let flushes = database.outstanding_flushes() + self.keyspace.sealed_memtable_count();
        let compactions = database.compactions_completed() as u64;
        Ok(vec![
            entry("flush", persisted, flushes > 0),
            entry("compaction", compactions, database.active_compactions() > 0),
        ])
    }

    fn statistics(&self) -> Result<Vec<Setting>> {
        let database = &self.database;
        Ok(vec![
            Setting::read_back("tables", self.keyspace.table_count()),
            Setting::read_back("journals", database.journal_count()),
            Setting::read_back("cache_used_bytes", database.cache_size()),
            Setting::read_back("memtable_bytes", database.write_buffer_size()),
            Setting::read_back("compactions", database.compactions_completed()),
            Setting::read_back("compaction_us", database.time_compacting().as_micros()),
        ])
    }

    fn close(self: Box<Self>) -> Result<()> {
        // Dropping a database does not say whether its journal was written, so this does it before.
        self.database.persist(PersistMode::Buffer).map_err(StoreError::engine)
    }
}

struct FjallSession<'a> {
    store: &'a Fjall,
    appender: Option<Appender<'a>>,
}

/// Writes records to sorted tables, past the journal and the memory table; `None` hands the tables over. fjall does not export the type.
type Appender<'a> = Box<dyn FnMut(Option<&[(&[u8], &[u8])]>) -> Result<()> + 'a>;

impl<'a> FjallSession<'a> {
    fn begin_appending(&self) -> Result<Appender<'a>> {
        let mut ingestion = Some(self.store.keyspace.start_ingestion().map_err(StoreError::engine)?);
        Ok(Box::new(move |records| match records {
            Some(records) => records.iter().try_for_each(|(key, value)| {
                check(key, value)?;
                let tables = ingestion.as_mut().ok_or_else(transaction_ended)?;
                tables.write(*key, *value).map_err(StoreError::engine)
            }),
            None => ingestion.take().ok_or_else(transaction_ended)?.finish().map_err(StoreError::engine),
        }))
    }
}

impl Session for FjallSession<'_> {
    fn insert(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        check(key, value)?;
        if self.store.optimistic.is_some() {
            // Next to transactions it must be one itself to be seen by them.
            return match self.transact(&mut |transaction| transaction.put(key, value)) {
                // It has read nothing that could have changed.
                Err(StoreError::Conflict(why)) => Err(StoreError::Engine(why)),
                result => result,
            };
        }
        self.store.keyspace.insert(key, value).map_err(StoreError::engine)?;
        self.store.after_write()
    }

    fn update(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.insert(key, value)
    }

    fn get(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        check(key, &[])?;
        let value = self.store.keyspace.get(key).map_err(StoreError::engine)?;
        Ok(value.map(|value| visit(&value)).is_some())
    }

    fn remove(&mut self, key: &[u8]) -> Result<()> {
        check(key, &[])?;
        self.store.keyspace.remove(key).map_err(StoreError::engine)?;
        self.store.after_write()
    }

    fn scan(&mut self, from: &[u8], limit: usize, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize> {
        if from.len() > MAX_KEY_BYTES {
            return Err(too_long());
        }
        let mut count = 0;
        for record in self.store.keyspace.range(from..).take(limit) {
            let (key, value) = record.into_inner().map_err(StoreError::engine)?;
            visit(&key, &value);
            count += 1;
        }
        Ok(count)
    }

    fn transact(&mut self, work: &mut TransactionBody<'_>) -> Result<()> {
        let Some(database) = &self.store.optimistic else {
            return Err(StoreError::Unsupported("this store was opened without transactions".into()));
        };
        let Fjall { keyspace, plan, .. } = self.store;
        let transaction = database.write_tx().map_err(StoreError::engine)?.durability(plan.persist);
        let mut open_transaction = OpenTransaction { transaction, keyspace };
        // Where `work` fails, the transaction is dropped, and with it all that it has put.
        work(&mut open_transaction)?;
        let committed = open_transaction.transaction.commit().map_err(StoreError::engine)?;
        committed.map_err(|conflict| StoreError::Conflict(conflict.to_string()))
    }

    /// Past the transactions, which would keep all keys in memory to compare: nobody can have read a batch's new records.
    fn insert_batch(&mut self, records: &[(&[u8], &[u8])]) -> Result<()> {
        let mut batch = self.store.database.batch().durability(self.store.plan.persist);
        for (key, value) in records {
            check(key, value)?;
            batch.insert(&self.store.keyspace, *key, *value);
        }
        batch.commit().map_err(StoreError::engine)
    }

    fn append_batch(&mut self, records: &[(&[u8], &[u8])]) -> Result<bool> {
        let mut appender = match self.appender.take() {
            Some(appender) => appender,
            None => self.begin_appending()?,
        };
        appender(Some(records))?;
        self.appender = Some(appender);
        Ok(false)
    }

    fn end_appending(&mut self) -> Result<()> {
        self.appender.take().map_or(Ok(()), |mut appender| appender(None))
    }

    fn remove_batch(&mut self, keys: &[&[u8]]) -> Result<()> {
        let mut batch = self.store.database.batch().durability(self.store.plan.persist);
        for key in keys {
            check(key, &[])?;
            batch.remove(&self.store.keyspace, *key);
        }
        batch.commit().map_err(StoreError::engine)
    }
}

/// Nothing is locked; what a transaction has read is compared when it commits.
struct OpenTransaction<'a> {
    transaction: OptimisticWriteTx,
    keyspace: &'a Keyspace,
}

impl Transaction for OpenTransaction<'_> {
    fn get(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        check(key, &[])?;
        let value = self.transaction.get(self.keyspace, key).map_err(StoreError::engine)?;
        Ok(value.map(|value| visit(&value)).is_some())
    }

    /// Every read is compared at the commit, so this is one.
    fn get_to_change(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        self.get(key, visit)
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        check(key, value)?;
        self.transaction.insert(self.keyspace, key, value);
        Ok(())
    }
}

/// Refuses what fjall would panic on.
fn check(key: &[u8], value: &[u8]) -> Result<()> {
    if key.is_empty() || key.len() > MAX_KEY_BYTES || u32::try_from(value.len()).is_err() {
        return Err(too_long());
    }
    Ok(())
}

#[cold]
fn transaction_ended() -> StoreError {
    StoreError::Engine("the tables were handed over".into())
}

#[cold]
fn too_long() -> StoreError {
    StoreError::Unsupported("fjall takes keys of 1 to 65535 bytes, and values under 4 GiB".into())
}

const SETTINGS: &[SettingDef] = &[
    SettingDef::new(
        "persist_mode",
        "none, buffer, sync_data or sync_all",
        "the guarantee's",
        "how far a write is handed on before it returns",
    )
    .varying()
    .guarantee("none is none, buffer is process, sync_data and sync_all are power"),
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

struct Plan {
    /// How each write is handed on before it is acknowledged; `None` leaves it in the process's buffer.
    persist: Option<PersistMode>,
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
    fn new(options: &OpenOptions<'_>) -> Result<Plan> {
        let given = GivenSettings::new(options, SETTINGS)?;
        let bytes = "a number of bytes";
        // Half of a total for blocks; half for the memory table in use and the few that wait to be written out.
        let cache = options.cache_bytes.map(|total| total / 2);
        let memtable = options.cache_bytes.map_or(MEMTABLE_BYTES, |total| total / 8);
        let plan = Plan {
            persist: persist_mode(options.guarantee, &given)?,
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

    fn tier(&self) -> Guarantee {
        match self.persist {
            None => Guarantee::None,
            Some(PersistMode::Buffer) => Guarantee::Process,
            Some(PersistMode::SyncData | PersistMode::SyncAll) => Guarantee::Power,
        }
    }

    fn open_database(&self, options: &OpenOptions<'_>) -> Result<(Database, Option<OptimisticTxDatabase>)> {
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

    fn open_keyspace(&self, database: &Database) -> Result<(Keyspace, FixedOptions)> {
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

    fn settings(&self, database: &Database, keyspace: &Keyspace, fixed: FixedOptions) -> Vec<Setting> {
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
struct FixedOptions {
    manual_persist: bool,
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

fn persist_mode(tier: Option<Guarantee>, given: &GivenSettings<'_>) -> Result<Option<PersistMode>> {
    let Some(text) = given.text("persist_mode") else {
        return Ok(match tier {
            Some(Guarantee::None) => None,
            None | Some(Guarantee::Process) => Some(PersistMode::Buffer),
            // The journal is made and synced before it is written, so what fdatasync leaves out is its times.
            Some(Guarantee::Power | Guarantee::Node) => Some(PersistMode::SyncData),
        });
    };
    let mode = PERSIST_MODES.into_iter().find(|(name, _)| *name == text);
    mode.map(|(_, mode)| mode)
        .ok_or_else(|| given.refuse("persist_mode", "none, buffer, sync_data or sync_all"))
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

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use tempfile::TempDir;

    use super::*;
    use crate::support::testing::{new_folder, open, opened, refused, setting};

    /// Bytes of tables with 200 records of 4,000 repetitive bytes.
    fn table_bytes(folder: &TempDir, compression: bool) -> u64 {
        let store = open(&FJALL, folder.path(), None, compression, &[]).unwrap();
        let codec = if compression { "lz4" } else { "none" };
        assert_eq!(setting(&*store, "compression"), codec);
        let mut session = store.session().unwrap();
        for number in 0..200_u32 {
            session.insert(&number.to_be_bytes(), &[b'a'; 4_000]).unwrap();
        }
        drop(session);
        store.settle().unwrap();
        store.close().unwrap();
        let tables = walk(&folder.path().join("keyspaces"));
        tables.iter().map(|file| file.metadata().unwrap().len()).sum()
    }

    fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
    }

    #[test]
    fn compression_takes_effect_on_disk_and_is_kept() {
        let (plain, compressed) = (new_folder(), new_folder());
        assert!(table_bytes(&plain, false) > 800_000);
        assert!(table_bytes(&compressed, true) < 200_000);
        let error = open(&FJALL, compressed.path(), None, false, &[]).map(drop).unwrap_err();
        assert!(matches!(error, StoreError::SettingNotTaken { read_back, .. } if read_back == "lz4"));
    }

    #[test]
    fn records_in_order_become_tables_past_the_journal() {
        let folder = new_folder();
        let store = opened(&FJALL, &folder, None, &[]);
        let mut session = store.session().unwrap();
        for number in 0..200_u32 {
            session.append_batch(&[(&number.to_be_bytes(), &[b'a'; 4_000])]).unwrap();
        }
        session.end_appending().unwrap();
        let statistic = |name: &str| {
            let statistics = store.statistics().unwrap();
            let found = statistics.iter().find(|entry| entry.name == name).unwrap();
            found.value.parse::<u64>().unwrap()
        };
        let (tables, memtable_bytes) = (statistic("tables"), statistic("memtable_bytes"));
        assert!(tables > 0 && memtable_bytes < 4_000, "{:?}", store.statistics().unwrap());
        session.append_batch(&[(b"never", b"handed over")]).unwrap();
        drop(session);
        assert_eq!(store.count().unwrap(), 200);
    }

    #[test]
    fn what_a_keyspace_was_made_with_is_read_back_and_compared() {
        let folder = new_folder();
        let tier = Some(Guarantee::None);
        opened(&FJALL, &folder, tier, &[("max_memtable_size", "1048576")]).close().unwrap();
        let error = refused(&FJALL, &folder, tier, &[]);
        assert!(matches!(error, StoreError::SettingNotTaken { read_back, .. } if read_back == "1048576"));
        // Made without flushing, opened with it: the session does it.
        let store = opened(&FJALL, &folder, None, &[("max_memtable_size", "1048576")]);
        assert_eq!(setting(&*store, "manual_journal_persist"), "true");
        assert_eq!(store.guarantee(), Guarantee::Process);
        store.session().unwrap().insert(b"key", b"value").unwrap();
    }

    #[test]
    fn values_that_would_panic_are_refused() {
        let folder = new_folder();
        let store = opened(&FJALL, &folder, None, &[]);
        let mut session = store.session().unwrap();
        assert!(matches!(session.insert(b"", b"value"), Err(StoreError::Unsupported(_))));
        assert!(matches!(session.insert(&[1; 65_536], b"value"), Err(StoreError::Unsupported(_))));
        session.insert(&[1; 65_535], b"value").unwrap();
    }

    #[test]
    fn a_total_cache_is_split_between_blocks_and_memory_tables() {
        let folder = new_folder();
        let options = OpenOptions { cache_bytes: Some(64 << 20), ..OpenOptions::new(folder.path()) };
        let store = super::open(&options).unwrap();
        assert_eq!(setting(&*store, "cache_size"), (32 << 20).to_string());
        assert_eq!(setting(&*store, "max_memtable_size"), (8 << 20).to_string());
    }

    #[test]
    fn settling_writes_the_memory_table_out() {
        let folder = new_folder();
        let store = opened(&FJALL, &folder, None, &[]);
        store.session().unwrap().insert(b"key", b"value").unwrap();
        store.settle().unwrap();
        store.settle().unwrap();
        let tables = store.statistics().unwrap().into_iter().find(|statistic| statistic.name == "tables");
        assert_eq!(tables.unwrap().value, "1");
        assert_eq!(store.count().unwrap(), 1);
    }

    /// After a power cut that loses a page of the last value, fjall refuses to open, and shows no mixture.
    #[test]
    fn a_hole_in_the_journal_is_an_error() {
        let folder = new_folder();
        let store = opened(&FJALL, &folder, None, &[]);
        store.session().unwrap().insert(b"key", &[7; 65_536]).unwrap();
        store.close().unwrap();
        let journal = walk(folder.path()).into_iter().find(|path| path.extension() == Some("jnl".as_ref()));
        let journal = std::fs::OpenOptions::new().write(true).open(journal.unwrap()).unwrap();
        journal.write_all_at(&[0; 4_096], 32_768).unwrap();
        let error = refused(&FJALL, &folder, None, &[]);
        assert!(matches!(error, StoreError::Engine(text) if text.contains("ChecksumMismatch")));
    }
}
