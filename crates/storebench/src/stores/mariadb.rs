//! `mariadb`: a server of its own for each trial, or one that a URL names; one table, the records found by their key.

mod client;
mod config;
mod installed;
mod load;
mod password;
mod process;
mod running;
mod session;
mod settle;
mod sql;
mod wire;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use storebench_core::server::Known;
use storebench_core::server::running::URL;
use storebench_core::store::sql::SqlSession;
use storebench_core::store::{
    Batch, Capabilities, Danger, Guarantee, Kind, Loss, Offer, OpenOptions, Result, ServerDef, Session,
    Setting, Store, StoreBuild, StoreDef, StoreError, Threads,
};

use self::client::Client;
use self::config::Plan;
use self::process::Server;
use self::running::Mysql;
use self::session::MariadbSession;
use self::sql::Sql;
use super::support::hold_to_tier;
use super::support::running::{Backend, Dialect, Running, drop_made};

/// MariaDB, as it is installed.
pub const MARIADB: StoreDef = StoreDef {
    name: "mariadb",
    kind: Kind::Server,
    summary: "MariaDB with InnoDB or MyRocks, a private server for each trial",
    practice: "a server that runs beside the application; many processes, languages and machines can use it; needs care",
    version: || installed::installed().map_or_else(|| "-".into(), |found| found.version.clone()),
    capabilities: Capabilities {
        sql: true,
        threads: Threads::Many,
        batch: Batch::Atomic,
        notices_existing: true,
        notices_missing: true,
        max_key_bytes: MAX_KEY_BYTES,
        ..Capabilities::DEFAULT
    },
    offers: &[
        Offer {
            guarantee: Guarantee::None,
            settings: "innodb_flush_log_at_trx_commit=0, or rocksdb_flush_log_at_trx_commit=0",
            atomic_replace: true,
            dangers: LATE,
        },
        Offer {
            guarantee: Guarantee::Process,
            settings: "innodb_flush_log_at_trx_commit=2, or rocksdb_flush_log_at_trx_commit=2 and rocksdb_manual_wal_flush=OFF",
            atomic_replace: true,
            dangers: UNSYNCED,
        },
        Offer {
            guarantee: Guarantee::Power,
            settings: "innodb_flush_log_at_trx_commit=1, or rocksdb_flush_log_at_trx_commit=1",
            atomic_replace: true,
            dangers: Danger::NOTHING,
        },
    ],
    shipped: Guarantee::Power,
    settings: config::SETTINGS,
    snippet: Some(include_str!("../snippets/mariadb.cnf")),
    bindings: &[],
    server: Some(&ServerDef {
        known: Known { programs: &["mariadbd"], users: &["mysql"], shared_memory: |_| None },
        lacks: installed::lacks,
        prepare: process::prepare,
        start_s: 1.5,
        schemes: Mysql::SCHEMES,
        drop: drop_made::<Mysql>,
    }),
    open: Ok(open),
};

/// Where a server listens unless it is told otherwise.
const PORT: u16 = 3306;
/// An entry of InnoDB's index with pages of 4 KiB.
const MAX_KEY_BYTES: usize = 767;

const TORN_PAGES: &str = "a page that was half written can't be repaired";
const CUT_OFF: &str =
    "a log that was cut off keeps the server from starting until rocksdb_wal_recovery_mode=2 is set";

/// What the settings of `process` leave open, by the documentation of InnoDB's and RocksDB's logs.
const UNSYNCED: &[Danger] = &[
    Danger {
        with: &[("engine", "innodb"), ("innodb_doublewrite", "OFF")],
        ..Danger::of(Loss::Nothing, Loss::Whole, TORN_PAGES)
    },
    Danger {
        with: &[("engine", "rocksdb"), ("rocksdb_wal_recovery_mode", "1")],
        ..Danger::of(Loss::Nothing, Loss::Whole, CUT_OFF)
    },
    Danger::of(Loss::Nothing, Loss::Newest, "the log is synced once a second"),
];

/// The same where a commit does not wait for its log.
const LATE: &[Danger] = &[
    Danger {
        with: &[("engine", "innodb"), ("innodb_doublewrite", "OFF")],
        ..Danger::of(Loss::Newest, Loss::Whole, TORN_PAGES)
    },
    Danger {
        with: &[("engine", "rocksdb"), ("rocksdb_wal_recovery_mode", "1")],
        ..Danger::of(Loss::Newest, Loss::Whole, CUT_OFF)
    },
    Danger::of(Loss::Newest, Loss::Newest, "the log is written once a second"),
];

fn open(options: &OpenOptions<'_>) -> Result<Box<dyn Store>> {
    let plan = Plan::new(options)?;
    let server = match options.settings.contains_key(URL) {
        true => Backend::Running(Running::open::<Mysql>(options, &plan.of_session())?),
        false => Backend::Own(start(options, &plan)?),
    };
    let mut own = server.connect()?;
    plan.check(&mut own)?;
    let settings = config::read_all(&mut own)?;
    let guarantee = hold_to_tier(options.guarantee, config::tier(&settings))?;
    own.execute(&format!(
        "CREATE TABLE IF NOT EXISTS records (k VARBINARY({MAX_KEY_BYTES}) NOT NULL PRIMARY KEY, v LONGBLOB NOT NULL)"
    ))?;
    let is_rocksdb =
        settings.iter().any(|setting| setting.name == config::ENGINE && setting.value == "rocksdb");
    // Of a running server others make syncs, too.
    let counter = server.running().is_none().then_some(if is_rocksdb { ROCKSDB_SYNCS } else { INNODB_SYNCS });
    let folder = options.directory.to_path_buf();
    let mut store = Mariadb {
        own: Mutex::new(own),
        server,
        folder,
        plan,
        guarantee,
        is_rocksdb,
        counter,
        syncs_before: 0,
        loads: AtomicU64::new(0),
    };
    store.syncs_before = store.synced()?.unwrap_or(0);
    Ok(Box::new(store))
}

/// What the server counts: of InnoDB all its syncs, of MyRocks those of the log.
const INNODB_SYNCS: &str = "Innodb_data_fsyncs";
const ROCKSDB_SYNCS: &str = "Rocksdb_wal_synced";

/// Starts a server of the trial's own.
fn start(options: &OpenOptions<'_>, plan: &Plan) -> Result<Server> {
    process::prepare(options)?;
    let mut arguments = plan.arguments();
    // As shipped it takes 151.
    if options.sessions > 140 {
        arguments.push(format!("--max-connections={}", options.sessions + 10));
    }
    Server::start(options.directory, options.beside, &arguments).map_err(|error| match error {
        StoreError::Engine(message) if message.contains("ha_rocksdb") => StoreError::Unsupported(format!(
            "MyRocks is not installed: apt-get install mariadb-plugin-rocksdb ({message})"
        )),
        StoreError::Engine(message) if !options.settings.is_empty() => StoreError::BadSetting(message),
        other => other,
    })
}

struct Mariadb {
    /// For counting, settling and reading settings. Before `server`: connections end before it.
    own: Mutex<Client>,
    server: Backend<Mysql>,
    folder: PathBuf,
    plan: Plan,
    guarantee: Guarantee,
    is_rocksdb: bool,
    /// What counts the syncs.
    counter: Option<&'static str>,
    /// What that was when the store was opened.
    syncs_before: u64,
    /// Loads past MyRocks's log: their files are synced, which it does not count.
    loads: AtomicU64,
}

impl Mariadb {
    fn own(&self) -> MutexGuard<'_, Client> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn synced(&self) -> Result<Option<u64>> {
        self.counter.map_or(Ok(None), |name| sql::status(&mut self.own(), name))
    }
}

impl Store for Mariadb {
    fn session(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(MariadbSession::new(self.server.connect()?)?))
    }

    fn sql(&self) -> Result<Box<dyn SqlSession + '_>> {
        let loads = self.server.running().is_none().then_some(&self.loads);
        Ok(Box::new(Sql::new(self.server.connect()?, &self.plan, loads)))
    }

    fn guarantee(&self) -> Guarantee {
        self.guarantee
    }

    fn count(&self) -> Result<u64> {
        let count = sql::number(&mut self.own(), "SELECT COUNT(*) FROM records")?;
        count.ok_or_else(|| StoreError::Engine("mariadb did not count".into()))
    }

    fn settle(&self) -> Result<()> {
        match (self.server.running(), self.is_rocksdb) {
            // What others have written there is none of ours.
            (Some(_), _) => Ok(()),
            (None, true) => settle::rocksdb(&mut self.own()),
            (None, false) => settle::innodb(&mut self.own()),
        }
    }

    fn settings(&self) -> Result<Vec<Setting>> {
        let mut own = self.own();
        let mut settings = config::read_all(&mut own)?;
        if self.is_rocksdb {
            settings.extend(config::read_families(&mut own)?);
        }
        let url = self.server.running().map(Running::url);
        settings.extend(url.map(|url| Setting::given(URL, url)));
        Ok(settings)
    }

    fn syncs(&self) -> Result<Option<u64>> {
        let loads = self.loads.load(Ordering::Relaxed);
        Ok(self.synced()?.map(|now| now.saturating_sub(self.syncs_before) + loads))
    }

    fn build(&self) -> Option<StoreBuild> {
        let version = sql::text(&mut self.own(), "SELECT VERSION()").ok()?;
        Some(StoreBuild::new("the server that is installed", None, Some(version.contains("-debug"))))
    }

    fn elsewhere(&self) -> Option<String> {
        self.server.running().map(Running::whereabouts)
    }

    fn version(&self) -> Option<String> {
        self.server.running()?;
        Some(self.own().version().trim_start_matches("5.5.5-").to_owned())
    }

    fn statistics(&self) -> Result<Vec<Setting>> {
        let syncs = self.syncs()?.map(|syncs| Setting::read_back("syncs", syncs));
        let size = "SELECT SUM(data_length + index_length) FROM information_schema.tables WHERE table_schema = DATABASE()";
        let size = sql::number(&mut self.own(), size)?.map(|bytes| Setting::read_back("tables_size", bytes));
        Ok(syncs.into_iter().chain(size).collect())
    }

    fn close(self: Box<Self>) -> Result<()> {
        let Mariadb { own, server, .. } = *self;
        drop(own);
        server.close()
    }

    fn discard(self: Box<Self>) -> Result<()> {
        let Mariadb { own, server, folder, .. } = *self;
        drop(own);
        server.discard(&folder)
    }
}

#[cfg(test)]
mod tests;
