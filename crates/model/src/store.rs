//! The definition of a store: the traits that every engine, folder layout and server implements, and the table entry
//! ([`StoreDef`]) with its capabilities and guarantees.

mod capabilities;
mod danger;
mod error;
pub mod evidence;
mod given_settings;
mod memory_share;
mod pass_on;
mod setting;
pub mod sql;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use self::capabilities::{Batch, Capabilities, Threads};
pub use self::danger::{Danger, Loss};
pub use self::error::{Result, StoreError};
pub use self::evidence::{Evidence, numbers};
pub use self::given_settings::{GivenSettings, expect_taken, hold_to_tier};
pub use self::memory_share::MemoryShare;
pub use self::setting::{NODES, ROUND_TRIP, Setting, SettingDef, SettingSource, Unit};
use self::sql::SqlSession;
use crate::server;
use crate::server::running::Address;
use crate::words::words;

/// The terms on which a store is to be opened.
#[derive(Debug, Clone)]
pub struct OpenOptions<'a> {
    /// A folder of the store's own. It exists, and is empty or holds what this store left there.
    pub directory: &'a Path,
    /// The guarantee to give; `None` opens the engine as shipped.
    pub guarantee: Option<Guarantee>,
    /// Whether settings that give another guarantee are let through, to be judged against the one that is asked for.
    pub judged: bool,
    /// Whether values are compressed, for stores with [`Capabilities::compression`]; the rest ignore it.
    pub compression: bool,
    /// The total cache in bytes (every cache and write buffer of the engine, as far as it can be set); `None` leaves the engine's default.
    pub cache_bytes: Option<u64>,
    /// Settings by the store's own names ([`StoreDef::settings`]).
    pub settings: &'a BTreeMap<String, String>,
    /// The number of sessions that will be open at once.
    pub sessions: usize,
    /// Whether these will have transactions over records ([`Session::transact`]): some engines must be opened otherwise for them.
    pub transactions: bool,
    /// A folder of the run for what is no data: a server's template and socket. `None`: a store that needs one makes it in `directory`.
    pub run_folder: Option<&'a Path>,
}

impl<'a> OpenOptions<'a> {
    /// A store in `directory` as its engine ships it, for one session.
    #[must_use]
    pub const fn new(directory: &'a Path) -> Self {
        static NO_SETTINGS: BTreeMap<String, String> = BTreeMap::new();
        Self {
            directory,
            guarantee: None,
            judged: false,
            compression: false,
            cache_bytes: None,
            settings: &NO_SETTINGS,
            sessions: 1,
            transactions: false,
            run_folder: None,
        }
    }
}

/// A reader that is held: it ends when it is dropped.
pub trait HeldReader {}

impl<T> HeldReader for T {}

/// An open store. Dropping it closes it, as far as possible; [`Store::close`] says whether that worked.
pub trait Store: Send + Sync {
    /// A handle for the calling thread. Fails with [`StoreError::Unsupported`] when [`Capabilities::threads`] is [`Threads::One`]
    /// and a session is open.
    fn session(&self) -> Result<Box<dyn Session + '_>>;

    /// A connection for one thread, for stores with [`Capabilities::sql`]. Fails with [`StoreError::Unsupported`] for all others.
    fn sql(&self) -> Result<Box<dyn SqlSession + '_>> {
        Err(StoreError::Unsupported("this store does not speak SQL".into()))
    }

    /// The guarantee that this store now gives.
    fn guarantee(&self) -> Guarantee;

    /// The number of records that it holds.
    fn count(&self) -> Result<u64>;

    /// Flushes all buffers and does the engine's pending work: memory tables, checkpoints, compaction. Afterwards the files on
    /// disk are what a user would find after a while of rest.
    fn settle(&self) -> Result<()>;

    /// The settings that matter, as the engine reads them back now.
    fn settings(&self) -> Result<Vec<Setting>>;

    /// Syncs since the store was opened, as counted by its server or by an engine whose calls are not seen
    /// ([`Capabilities::calls_are_seen`]). `None` if nothing counts them.
    fn syncs(&self) -> Result<Option<u64>> {
        Ok(None)
    }

    /// Where the data are if they are not in the store's folder: on a server that was running before, in words.
    fn outside_location(&self) -> Option<String> {
        None
    }

    /// The version of the server, or in the engine's files; else the table's entry has it.
    fn version(&self) -> Option<String> {
        None
    }

    /// Closes the store, whose data are not needed any more: what of them lies outside its folder is deleted.
    fn discard(self: Box<Self>) -> Result<()> {
        self.close()
    }

    /// The build of the engine, as far as it is known. Called when the operations are over.
    fn build(&self) -> Option<StoreBuild> {
        None
    }

    /// Has the engine check its files while nobody uses the store; `false` if it has no such check. Fails with
    /// [`StoreError::Engine`] with the fault that it finds.
    fn verify(&mut self) -> Result<bool> {
        Ok(false)
    }

    /// Returns the space of removed records to the file system, in the engine's own way, and names it; `None` if it has none.
    /// Nobody uses the store meanwhile, and it is closed right afterwards.
    fn compact(&mut self) -> Result<Option<&'static str>> {
        self.compact_concurrently()
    }

    /// Compacts while sessions work; `None` if the engine needs its files alone ([`Capabilities::compacts_beside`]).
    fn compact_concurrently(&self) -> Result<Option<&'static str>> {
        Ok(None)
    }

    /// Begins to read like a long report or a backup: until the result is dropped, it sees the records as they are now, whatever
    /// is written. `None` if the engine has no such reader, or would block writers.
    fn hold_reader(&self) -> Result<Option<Box<dyn HeldReader + '_>>> {
        Ok(None)
    }

    /// Makes a backup in the engine's own way while sessions work, and names it: a new folder `to` in which a store can be
    /// opened, with all records as they were at one moment of the call. `None` if the engine can't.
    fn back_up(&self, _to: &Path) -> Result<Option<&'static str>> {
        Ok(None)
    }

    /// The engine's background work, such as flushes and compactions, as far as it is reported. Called at most some hundred times
    /// a second, and after calls that took long, while sessions work.
    fn upkeep(&self) -> Result<Vec<Upkeep>> {
        Ok(Vec::new())
    }

    /// The engine's own statistics, if it has any.
    fn statistics(&self) -> Result<Vec<Setting>> {
        Ok(Vec::new())
    }

    /// Closes the store and says whether that worked.
    fn close(self: Box<Self>) -> Result<()>;
}

/// One thread's handle on an open store. Between two calls it holds nothing that another session would wait for, and no old state
/// of the store. A write has, when it returns, the store's [`Guarantee`]. Implementations do only what an application that uses
/// the engine well would do: no needless copies, statements prepared, handles kept.
pub trait Session {
    /// Adds a record under a new key. What happens when the key exists: [`Capabilities::notices_existing`].
    fn insert(&mut self, key: &[u8], value: &[u8]) -> Result<()>;

    /// Replaces the value of a key. What happens when it is missing: [`Capabilities::notices_missing`].
    fn update(&mut self, key: &[u8], value: &[u8]) -> Result<()>;

    /// Writes the value of a key, whether it is there or not: an update, and an insert where that finds nothing.
    fn set(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        match self.update(key, value) {
            Err(StoreError::Missing) => self.insert(key, value),
            result => result,
        }
    }

    /// Shows the value of a key to `visit`, once, in the cheapest way that the engine has, and says whether it was there.
    fn get(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool>;

    /// The value that [`Session::get`] has just shown, where it lies until the next call (before the first: anything), for
    /// engines that copy every value into the application's memory anyhow. An application copies it no further, so neither does
    /// the harness. `None`: values are shown where the engine keeps them.
    fn copied(&self) -> Option<&[u8]> {
        None
    }

    /// Removes a record. What happens when it is missing: [`Capabilities::notices_missing`].
    fn remove(&mut self, key: &[u8]) -> Result<()>;

    /// Shows up to `limit` records from `from` on (inclusive) to `visit`, in ascending order of keys, and gives their number.
    /// Fails with [`StoreError::Unsupported`] when the store has no order ([`Capabilities::order`]).
    fn scan(&mut self, from: &[u8], limit: usize, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize>;

    /// Adds many new records in the engine's best way, with the store's guarantee for all of them when it returns.
    fn insert_batch(&mut self, records: &[(&[u8], &[u8])]) -> Result<()>;

    /// Removes many existing records in the engine's best way, all with the store's guarantee when it returns. A missing one is
    /// noticed as by [`Session::remove`]; which of the others are gone is then unknown. Without batches they go one by one.
    fn remove_batch(&mut self, keys: &[&[u8]]) -> Result<()> {
        keys.iter().try_for_each(|key| self.remove(key))
    }

    /// Adds many new records in key order, after every key of the store, in the engine's best way, and gives whether all records
    /// added so far by this have the store's guarantee. Otherwise the engine keeps them unread until [`Session::end_appending`];
    /// other records can be added meanwhile.
    fn append_batch(&mut self, records: &[(&[u8], &[u8])]) -> Result<bool> {
        self.insert_batch(records).map(|()| true)
    }

    /// Ends what [`Session::append_batch`] began: when it returns, all of those records are there, with the store's guarantee.
    fn end_appending(&mut self) -> Result<()> {
        Ok(())
    }

    /// Does `work`, once, in a transaction, for stores with [`Capabilities::transactions`]: afterwards all that `work` has put is
    /// kept with the store's guarantee; if `work` fails, nothing is, and its error is returned. Fails with
    /// [`StoreError::Conflict`] when it can be tried again, and [`StoreError::Unsupported`] without transactions.
    fn transact(&mut self, _work: &mut TransactionBody<'_>) -> Result<()> {
        Err(StoreError::Unsupported("this store has no transactions that read and write".into()))
    }
}

/// The work that is done in a transaction.
pub type TransactionBody<'w> = dyn FnMut(&mut dyn Transaction) -> Result<()> + 'w;

/// A transaction over records, while it lasts. It sees what it has put, and of others only what they have committed.
pub trait Transaction {
    /// Shows the value of a key to `visit`, once, and says whether it was there.
    fn get(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool>;

    /// Gets a record that this transaction will put: no other one changes it until this one has ended, or one of the two gets a conflict.
    fn get_to_change(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool>;

    /// Writes the value of a key, whether it is there or not.
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()>;
}

/// The kinds of things that stores are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, strum::VariantNames)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum StoreKind {
    /// A library that runs inside the application.
    Engine,
    /// Plain files in folders.
    Folder,
    /// A separate process behind a socket.
    Server,
    /// Part of the harness: a floor, a ceiling, or a test's helper. Runs only when named.
    Harness,
}

words!(StoreKind);

/// One guarantee that a store offers, and how.
#[derive(Debug, Clone, Copy)]
pub struct GuaranteeOffer {
    /// The guarantee.
    pub guarantee: Guarantee,
    /// The engine's settings that give it, in the engine's own words.
    pub settings: &'static str,
    /// A crash of this guarantee's kind leaves the old value or the new one of a replaced record, never a mixture or a part. (For
    /// `none` and `process`: a crash of the process; for `power`: a power cut.)
    pub atomic_replace: bool,
    /// The damage that a kill and a power cut can do: the first that holds with the settings as read back. The last holds with any.
    pub dangers: &'static [Danger],
}

impl GuaranteeOffer {
    /// An offer of a store that replaces values whole.
    pub const fn replacing_values(
        guarantee: Guarantee,
        settings: &'static str,
        dangers: &'static [Danger],
    ) -> GuaranteeOffer {
        GuaranteeOffer { guarantee, settings, atomic_replace: true, dangers }
    }

    /// An offer of a store that can leave a replaced value torn.
    pub const fn tearing(guarantee: Guarantee, settings: &'static str, dangers: &'static [Danger]) -> Self {
        GuaranteeOffer { guarantee, settings, atomic_replace: false, dangers }
    }

    /// The damage that accidents can do with these settings, as read back.
    pub fn danger(&self, settings: &[Setting]) -> Option<&'static Danger> {
        self.dangers.iter().find(|danger| danger.applies_to(settings))
    }
}

/// Opens a store.
pub type OpenFn = &'static (dyn Fn(&OpenOptions<'_>) -> Result<Box<dyn Store>> + Sync);

/// The part of a definition that only stores that are servers have.
#[derive(Debug)]
pub struct ServerDef {
    /// How the one who cleans up recognises its processes, and what they leave.
    pub known: server::ServerKind,
    /// What this machine lacks to run it, and what to install; `None` if it has all.
    pub lacks: fn() -> Option<String>,
    /// Makes the files of a new server in the store's folder, unmeasured. Existing files stay, and opening makes missing ones.
    pub prepare: fn(&OpenOptions<'_>) -> Result<()>,
    /// The time that one takes to start and to end, in seconds: a guess, for predictions of how long a trial takes.
    pub start_s: f64,
    /// The beginnings of URLs of running servers that can take its place.
    pub schemes: &'static [&'static str],
    /// The user that a URL without one means; `None` if the URL must name one.
    pub user: Option<&'static str>,
    /// Says within seconds whether the running server of a URL lets a session in.
    pub reach: fn(&str) -> Result<()>,
    /// Drops what was made on a running server: by its URL, and the name of what was made. It may have gone.
    pub drop: fn(&str, &str) -> Result<()>,
    /// Loses one of the machines that keep the records for good, with its data in the store's folder; `None` if there is only one.
    pub lose: Option<fn(&Path) -> io::Result<()>>,
}

/// A store's entry in the table.
#[derive(Clone)]
pub struct StoreDef {
    /// Its name in plans, on the command line and in results: lower case, with hyphens.
    pub name: &'static str,
    /// The kind of thing that it is.
    pub kind: StoreKind,
    /// A description of it, in half a line.
    pub summary: &'static str,
    /// Facts that no benchmark sees, in half a line: its files, how it is backed up, whether processes can share it. May be empty.
    pub practice: &'static str,
    /// Its authors' warnings about long use; `storebench advise` shows those of the store that it recommends, without a figure of its own.
    pub cautions: &'static [Caution],
    /// The engine's version, asked of the engine itself.
    pub version: &'static (dyn Fn() -> String + Sync),
    /// The abilities that it has.
    pub capabilities: Capabilities,
    /// The guarantees it offers, weakest first.
    pub offers: &'static [GuaranteeOffer],
    /// The guarantee that it gives as shipped.
    pub shipped: Guarantee,
    /// The syncs of a write at `power`, for estimates of time.
    pub syncs_at_power: f64,
    /// The syncs of a write as shipped, if they differ from those at the guarantee that it gives then.
    pub syncs_as_shipped: Option<f64>,
    /// The settings that a user may give.
    pub settings: &'static [SettingDef],
    /// Code that opens it in an application, for `storebench advise`: a template for its settings (docs/adding-a-store.md).
    pub snippet: Option<&'static str>,
    /// The code in Python.
    pub python: Option<&'static str>,
    /// The function that finds the findings of power cuts, by guarantee, from the store's name.
    pub evidence: fn(&str) -> &'static [Evidence],
    /// What a [`StoreKind::Server`] needs.
    pub server: Option<&'static ServerDef>,
    /// The user's library that it comes from (docs/store-library.md); `None` if it is built in.
    pub library: Option<&'static Library>,
    /// The function that opens it, or the reason why this build does not have it.
    pub open: std::result::Result<OpenFn, &'static str>,
}

impl StoreDef {
    /// An empty entry, from which entries of the table differ.
    pub const DEFAULT: StoreDef = StoreDef {
        name: "",
        kind: StoreKind::Engine,
        summary: "",
        practice: "",
        cautions: &[],
        version: &|| String::from("-"),
        capabilities: Capabilities::DEFAULT,
        offers: &[],
        shipped: Guarantee::None,
        syncs_at_power: 1.0,
        syncs_as_shipped: None,
        settings: &[],
        snippet: None,
        python: None,
        evidence: |_| &[],
        server: None,
        library: None,
        open: Err("it has no code"),
    };

    /// Adds findings of power cuts.
    #[must_use]
    pub const fn with_evidence(self, evidence: fn(&str) -> &'static [Evidence]) -> StoreDef {
        StoreDef { evidence, ..self }
    }

    /// Its findings of power cuts, by guarantee.
    pub fn evidence(&self) -> &'static [Evidence] {
        (self.evidence)(self.name)
    }

    /// An entry for a store that this build does not have: `why` says what to do about it.
    pub const fn not_built(
        name: &'static str,
        kind: StoreKind,
        summary: &'static str,
        why: &'static str,
    ) -> StoreDef {
        StoreDef { name, kind, summary, open: Err(why), ..StoreDef::DEFAULT }
    }

    /// The guarantee that a request resolves to, or `None` if this store does not offer it.
    pub fn resolve(&self, request: Option<Guarantee>) -> Option<Guarantee> {
        request.map_or(Some(self.shipped), |guarantee| Some(self.offer(guarantee)?.guarantee))
    }

    /// The store's offer for one guarantee.
    pub fn offer(&self, guarantee: Guarantee) -> Option<&GuaranteeOffer> {
        self.offers.iter().find(|offer| offer.guarantee == guarantee)
    }

    /// The abilities that it has with these settings.
    pub fn capabilities_with<'s>(&self, given: impl IntoIterator<Item = (&'s str, &'s str)>) -> Capabilities {
        let mut capabilities = self.capabilities.clone();
        for (name, value) in given {
            if let Some(setting) = self.setting(name) {
                (setting.capabilities)(value, &mut capabilities);
            }
        }
        capabilities
    }

    /// The definition of one of its settings.
    pub fn setting(&self, name: &str) -> Option<&'static SettingDef> {
        self.settings.iter().find(|setting| setting.name == name)
    }

    /// Whether studies run it by default. Servers do other work than libraries, and are asked for by name.
    pub fn runs_by_default(&self) -> bool {
        matches!(self.kind, StoreKind::Engine | StoreKind::Folder) && self.open.is_ok()
    }

    /// A sentence that says what this machine lacks to run it, and what to install.
    pub fn missing_need(&self) -> Option<String> {
        self.server.and_then(|server| (server.lacks)())
    }

    /// The fault of a URL of a running server that is to take the place of this store's own. It repeats nothing of the URL.
    pub fn check_url(&self, url: &str) -> std::result::Result<(), String> {
        self.server.map_or(Ok(()), |server| Address::read(url, server.schemes, server.user).map(drop))
    }

    /// The settings that have a share, each with its own.
    pub fn shares(&self) -> impl Iterator<Item = (&'static str, MemoryShare)> {
        self.settings.iter().filter_map(|setting| Some((setting.name, setting.share?)))
    }

    /// Puts the share of a machine's memory into each setting that has one and is not given.
    pub fn share_out(&self, memory: u64, sessions: u64, given: &mut BTreeMap<String, String>) {
        let value = |given: &BTreeMap<String, String>, name: &str| {
            given.get(name).cloned().or_else(|| Some(self.setting(name)?.default.to_owned()))
        };
        let is_taken = |given: &BTreeMap<String, String>, share: &MemoryShare| {
            share.only_with.is_none_or(|(name, wanted)| value(given, name).as_deref() == Some(wanted))
        };
        for (name, share) in self.shares().filter(|(_, share)| is_taken(given, share)).collect::<Vec<_>>() {
            given.entry(name.to_owned()).or_insert_with(|| share.value(memory, sessions));
        }
    }
}

/// Makes the servers of these stores known to this process, so that it can end what is left of them. Only the first call counts.
pub fn make_servers_known(stores: &[StoreDef]) {
    let known: Vec<_> = stores.iter().filter_map(|store| store.server).map(|server| &server.known).collect();
    server::add(&known);
}

/// The kind of the store of this name; one that is not in the table counts as an engine, as most are.
pub fn kind(stores: &[StoreDef], name: &str) -> StoreKind {
    stores.iter().find(|store| store.name == name).map_or(StoreKind::Engine, |store| store.kind)
}

impl fmt::Debug for StoreDef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StoreDef({})", self.name)
    }
}

/// The accidents that an acknowledged write survives. The order is the order of safety.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[derive(strum::VariantNames, strum::VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Guarantee {
    /// Not even a crash of the process.
    #[default]
    None,
    /// The process being killed, but not a power cut.
    Process,
    /// A power cut.
    Power,
    /// A power cut, and the loss of a machine for good: a majority of machines has it, each as after `power`.
    Node,
}

words!(Guarantee, "{} is not a guarantee: use default, none, process, power or node");

/// The build of a store's engine. A build that its authors would not ship is measured and shown, but never ranked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreBuild {
    /// Where the library comes from, such as `the distribution's library`.
    pub source: String,
    /// The flags that the compiler was given: optimisation, definitions. Absent where they are not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flags: Option<String>,
    /// Whether the engine checks its assertions. Absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assertions: Option<bool>,
    /// Why such a build is not ranked, in a few words; absent if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_ranked: Option<String>,
}

impl StoreBuild {
    /// A build of an engine whose authors ship it without assertions: one that has them is not ranked.
    pub fn new(source: impl Into<String>, flags: Option<String>, assertions: Option<bool>) -> StoreBuild {
        let not_ranked = (assertions == Some(true)).then(|| "built with assertions".to_owned());
        StoreBuild { source: source.into(), flags, assertions, not_ranked }
    }
}

/// A library of stores, given by `--store-library`. Two are the same where their bytes are, wherever they lie.
#[derive(Debug, Clone, Eq, Serialize, Deserialize)]
pub struct Library {
    /// Its file, by its absolute path.
    pub path: PathBuf,
    /// The SHA-256 of that, in hexadecimal digits: another build is another version.
    pub sha256: String,
}

impl PartialEq for Library {
    fn eq(&self, other: &Library) -> bool {
        self.sha256 == other.sha256
    }
}

/// A kind of work that an engine does for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Upkeep {
    /// Its name.
    pub work: &'static str,
    /// A figure that is another one when it was done once more.
    pub count: u64,
    /// Whether it runs now; false also if unknown.
    pub under_way: bool,
}

impl Upkeep {
    /// Work of which only its end is known.
    pub fn done(work: &'static str, count: u64) -> Upkeep {
        Upkeep { work, count, under_way: false }
    }
}

/// The side of a store's life that a caution is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgingRisk {
    /// Room that removed records had.
    Space,
    /// Readers that are held for long.
    Readers,
    /// Writes that wait for the engine's own work.
    Waits,
}

/// A warning to who writes to a store for long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caution {
    /// The side of its life.
    pub of: AgingRisk,
    /// A sentence without its full stop, which says no more than the source.
    pub says: &'static str,
    /// The place where its authors say so: its documentation, in most cases.
    pub source: &'static str,
}
