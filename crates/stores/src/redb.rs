//! `redb`: copy-on-write B-trees in one file.

use redb::{
    Builder, Database, Durability, ReadTransaction, ReadableDatabase, ReadableTable, ReadableTableMetadata,
    StorageError, Table, TableDefinition,
};
use storebench_model::store::{
    Capabilities, Danger, Guarantee, HeldReader, Loss, MemoryShare, OpenOptions, Result, Session, Setting,
    SettingDef, Store, StoreBuild, StoreDef, StoreError, Threads, Transaction, TransactionBody,
};

use super::compiled;
use super::support::{GivenSettings, flag, hold_to_tier, offer, sync_path};

pub const REDB: StoreDef = StoreDef {
    name: "redb",
    summary: "copy-on-write B-trees in one file, in Rust",
    practice: "one file; back it up while it is closed; one process at a time",
    // It has no call that says its version: this is what Cargo resolved when the program was built.
    version: &|| env!("STOREBENCH_REDB_VERSION").into(),
    capabilities: Capabilities {
        held_reader: true,
        transactions: true,
        threads: Threads::ManyReadersOneWriter,
        // Both come with the old value, which every insert and remove hands back.
        notices_existing: true,
        notices_missing: true,
        // Keys and values may have up to 3 GiB.
        max_key_bytes: 3 << 30,
        ..Capabilities::DEFAULT
    },
    // No `process`: a commit either is synced or stays in the process's memory.
    offers: &[
        offer(
            Guarantee::None,
            "Durability::None",
            &[Danger::new(Loss::Newest, Loss::Newest, "all since it was opened")],
        ),
        offer(Guarantee::Power, "Durability::Immediate", Danger::NOTHING),
    ],
    shipped: Guarantee::Power,
    settings: SETTINGS,
    snippet: Some(include_str!("../snippets/redb.rs.txt")),
    python: Some(include_str!("../snippets/redb.py")),
    open: Ok(&open),
    ..StoreDef::DEFAULT
};

const SETTINGS: &[SettingDef] = &[
    SettingDef::new("durability", "none or immediate", "the guarantee's", "whether a commit is synced")
        .varying()
        .guarantee("none is none, immediate is power"),
    flag("two_phase_commit", "two syncs a commit, against crafted data"),
    flag("quick_repair", "slower commits, instant repair after a crash"),
    SettingDef::new("cache_size", "a size", "1073741824", "the cache, for reading and writing together")
        .bytes()
        .share(MemoryShare::one_in(
            4,
            "no share; the page cache holds its file too",
            "https://docs.rs/redb/4.5.0/redb/struct.Builder.html#method.set_cache_size",
        ))
        .tune(&["16777216", "67108864"]),
];

/// The default by redb's documentation; no call reports it.
const CACHE_BYTES: usize = 1 << 30;

const FILE: &str = "records.redb";

const RECORDS: TableDefinition<&[u8], &[u8]> = TableDefinition::new("records");

fn open(options: &OpenOptions<'_>) -> Result<Box<dyn Store>> {
    let given = GivenSettings::new(options, SETTINGS)?;
    let durable = match given.text("durability") {
        Some("none") => false,
        Some("immediate") => true,
        Some(_) => return Err(given.refuse("durability", "none or immediate")),
        None => options.guarantee != Some(Guarantee::None),
    };
    let tier = if durable { Guarantee::Power } else { Guarantee::None };
    let guarantee = hold_to_tier(options, tier)?;
    let given_cache = options.cache_bytes.map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
    let cache_bytes = given.parse("cache_size", "a number of bytes")?.or(given_cache).unwrap_or(CACHE_BYTES);
    let commit = Commit {
        durable,
        two_phase: given.flag("two_phase_commit")?.unwrap_or(false),
        quick_repair: given.flag("quick_repair")?.unwrap_or(false),
    };
    let database = Builder::new()
        .set_cache_size(cache_bytes)
        .create(options.directory.join(FILE))
        .map_err(StoreError::engine)?;
    let store = Redb { database, commit, cache_bytes, guarantee };
    // Makes the table, durably, so that readers find it.
    store.write(Commit { durable: true, ..commit }, |_| Ok(()))?;
    if durable {
        // redb syncs what is in its file, but not the folder that it made the file in.
        sync_path(options.directory)?;
    }
    Ok(Box::new(store))
}

#[derive(Clone, Copy)]
struct Commit {
    durable: bool,
    two_phase: bool,
    quick_repair: bool,
}

struct Redb {
    database: Database,
    commit: Commit,
    cache_bytes: usize,
    guarantee: Guarantee,
}

type Records<'a> = Table<'a, &'static [u8], &'static [u8]>;

impl Redb {
    /// Runs `work` in a write transaction, which commits unless `work` fails.
    fn write(&self, commit: Commit, work: impl FnOnce(&mut Records<'_>) -> Result<()>) -> Result<()> {
        let mut transaction = self.database.begin_write().map_err(StoreError::engine)?;
        let durability = if commit.durable { Durability::Immediate } else { Durability::None };
        transaction.set_durability(durability).map_err(StoreError::engine)?;
        transaction.set_two_phase_commit(commit.two_phase);
        transaction.set_quick_repair(commit.quick_repair);
        work(&mut transaction.open_table(RECORDS).map_err(StoreError::engine)?)?;
        transaction.commit().map_err(StoreError::engine)
    }

    fn read(&self) -> Result<ReadTransaction> {
        self.database.begin_read().map_err(StoreError::engine)
    }
}

impl Store for Redb {
    fn session(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(self))
    }

    fn guarantee(&self) -> Guarantee {
        self.guarantee
    }

    fn count(&self) -> Result<u64> {
        let table = self.read()?.open_table(RECORDS).map_err(StoreError::engine)?;
        table.len().map_err(StoreError::engine)
    }

    fn verify(&mut self) -> Result<bool> {
        match self.database.check_integrity().map_err(StoreError::engine)? {
            true => Ok(true),
            false => {
                Err(StoreError::Engine("check_integrity found the file damaged, and repaired it".into()))
            }
        }
    }

    fn compact(&mut self) -> Result<Option<&'static str>> {
        self.database.compact().map_err(StoreError::engine)?;
        Ok(Some("compact"))
    }

    fn hold_reader(&self) -> Result<Option<Box<dyn HeldReader + '_>>> {
        Ok(Some(Box::new(self.database.begin_read().map_err(StoreError::engine)?)))
    }

    fn settle(&self) -> Result<()> {
        // A durable commit takes all the commits before it that were not.
        self.write(Commit { durable: true, ..self.commit }, |_| Ok(()))
    }

    fn build(&self) -> Option<StoreBuild> {
        Some(compiled::rust())
    }

    fn settings(&self) -> Result<Vec<Setting>> {
        let durability = if self.commit.durable { "immediate" } else { "none" };
        Ok(vec![
            Setting::unverified("durability", durability),
            Setting::unverified("two_phase_commit", self.commit.two_phase),
            Setting::unverified("quick_repair", self.commit.quick_repair),
            Setting::unverified("cache_size", self.cache_bytes),
        ])
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.database.close().map_err(StoreError::engine)
    }
}

/// A read transaction is one state of the database: to see the newest, every call begins one.
impl Session for &Redb {
    fn insert(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.write(self.commit, |table| insert_new(table, key, value))
    }

    fn update(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.write(self.commit, |table| {
            let old = table.insert(key, value).map_err(write_error)?;
            old.map(drop).ok_or(StoreError::Missing)
        })
    }

    fn get(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        let table = self.read()?.open_table(RECORDS).map_err(StoreError::engine)?;
        let value = table.get(key).map_err(StoreError::engine)?;
        Ok(value.map(|value| visit(value.value())).is_some())
    }

    fn remove(&mut self, key: &[u8]) -> Result<()> {
        self.write(self.commit, |table| remove_known(table, key))
    }

    fn scan(&mut self, from: &[u8], limit: usize, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize> {
        let table = self.read()?.open_table(RECORDS).map_err(StoreError::engine)?;
        let mut count = 0;
        for record in table.range(from..).map_err(StoreError::engine)?.take(limit) {
            let (key, value) = record.map_err(StoreError::engine)?;
            visit(key.value(), value.value());
            count += 1;
        }
        Ok(count)
    }

    fn insert_batch(&mut self, records: &[(&[u8], &[u8])]) -> Result<()> {
        self.write(self.commit, |table| {
            records.iter().try_for_each(|(key, value)| insert_new(table, key, value))
        })
    }

    fn remove_batch(&mut self, keys: &[&[u8]]) -> Result<()> {
        self.write(self.commit, |table| keys.iter().try_for_each(|key| remove_known(table, key)))
    }

    fn transact(&mut self, work: &mut TransactionBody<'_>) -> Result<()> {
        self.write(self.commit, |table| work(&mut OpenTransaction { table }))
    }
}

/// A write transaction: there is one at a time, so nobody else changes what it reads.
struct OpenTransaction<'w, 't> {
    table: &'w mut Records<'t>,
}

impl Transaction for OpenTransaction<'_, '_> {
    fn get(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        let value = self.table.get(key).map_err(StoreError::engine)?;
        Ok(value.map(|value| visit(value.value())).is_some())
    }

    fn get_to_change(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        self.get(key, visit)
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.table.insert(key, value).map(drop).map_err(write_error)
    }
}

/// A missing key rolls back.
fn remove_known(table: &mut Records<'_>, key: &[u8]) -> Result<()> {
    table.remove(key).map_err(StoreError::engine)?.map(drop).ok_or(StoreError::Missing)
}

/// An existing key rolls back.
fn insert_new(table: &mut Records<'_>, key: &[u8], value: &[u8]) -> Result<()> {
    match table.insert(key, value).map_err(write_error)? {
        None => Ok(()),
        Some(_) => Err(StoreError::Exists),
    }
}

fn write_error(error: StorageError) -> StoreError {
    match error {
        StorageError::ValueTooLarge(_) => StoreError::Unsupported(error.to_string()),
        _ => StoreError::engine(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::testing::{new_folder, opened, setting};

    #[test]
    fn durability_decides_the_tier() {
        let folder = new_folder();
        let store = opened(&REDB, &folder, None, &[("durability", "none")]);
        assert_eq!(store.guarantee(), Guarantee::None);
        assert_eq!(setting(&*store, "durability"), "none");
    }

    #[test]
    fn replacing_a_value_is_undone_when_the_key_is_missing() {
        let folder = new_folder();
        let store = opened(&REDB, &folder, None, &[]);
        let mut session = store.session().unwrap();
        assert!(matches!(session.update(b"key", b"value"), Err(StoreError::Missing)));
        assert_eq!(store.count().unwrap(), 0);
    }

    #[test]
    fn closing_keeps_what_was_not_durable() {
        let folder = new_folder();
        let store = opened(&REDB, &folder, Some(Guarantee::None), &[]);
        store.session().unwrap().insert(b"key", b"value").unwrap();
        store.close().unwrap();
        assert_eq!(opened(&REDB, &folder, None, &[]).count().unwrap(), 1);
    }
}
