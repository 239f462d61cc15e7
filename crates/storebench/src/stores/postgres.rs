//! `postgres`: a server of its own for each trial, or one that a URL names; one table, the records found by their key.

mod client;
mod cluster;
mod config;
mod installed;
mod password;
mod process;
mod running;
mod session;
mod sql;
mod wire;

use std::path::PathBuf;
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
use self::running::Postgresql;
use self::session::PostgresSession;
use self::sql::Sql;
use super::support::hold_to_tier;
use super::support::running::{Backend, Dialect, Running, drop_made};

/// PostgreSQL, as it is installed.
pub const POSTGRES: StoreDef = StoreDef {
    name: "postgres",
    kind: Kind::Server,
    summary: "PostgreSQL, a private server for each trial",
    practice: "a server that runs beside the application; many processes, languages and machines can use it; needs care",
    version: || installed::installed().map_or_else(|| "-".into(), |found| found.version.clone()),
    capabilities: Capabilities {
        sql: true,
        threads: Threads::Many,
        compression: Some("pglz"),
        batch: Batch::Atomic,
        notices_existing: true,
        notices_missing: true,
        max_key_bytes: MAX_KEY_BYTES,
        ..Capabilities::DEFAULT
    },
    offers: &[
        Offer {
            guarantee: Guarantee::None,
            settings: "fsync=off, synchronous_commit=off, full_page_writes=off",
            atomic_replace: true,
            dangers: LATE,
        },
        Offer {
            guarantee: Guarantee::Process,
            settings: "fsync=off, synchronous_commit=on, full_page_writes=off",
            atomic_replace: true,
            dangers: UNSYNCED,
        },
        Offer {
            guarantee: Guarantee::Power,
            settings: "fsync=on, synchronous_commit=on, full_page_writes=on",
            atomic_replace: true,
            dangers: Danger::NOTHING,
        },
    ],
    // On macOS, as shipped, syncs leave the data in the drive's own cache.
    shipped: if cfg!(target_os = "macos") { Guarantee::Process } else { Guarantee::Power },
    settings: config::SETTINGS,
    snippet: Some(include_str!("../snippets/postgres.conf")),
    bindings: &[],
    server: Some(&ServerDef {
        known: Known { programs: &["postgres"], users: &["postgres"], shared_memory: process::shared_memory },
        lacks: installed::lacks,
        prepare: cluster::prepare,
        start_s: 0.5,
        schemes: Postgresql::SCHEMES,
        drop: drop_made::<Postgresql>,
    }),
    open: Ok(open),
};

/// Where a server listens unless it is told otherwise.
const PORT: u16 = 5432;

/// The index takes entries of up to a third of its page, less what goes with them.
const MAX_KEY_BYTES: usize = 2600;

const NOT_SYNCED: &str = "nothing is synced, so log and pages can reach the disk in any order";
const TORN_PAGES: &str = "a page that was half written can't be repaired";

/// What the settings of `process` leave open, by PostgreSQL's documentation of fsync and full_page_writes.
const UNSYNCED: &[Danger] = &[
    // Synced, but on macOS only into the drive's cache.
    Danger {
        with: &[("fsync", "on"), ("full_page_writes", "on")],
        ..Danger::of(Loss::Nothing, Loss::Whole, "the drive's cache can hand on log and pages in any order")
    },
    Danger { with: &[("fsync", "on")], ..Danger::of(Loss::Nothing, Loss::Whole, TORN_PAGES) },
    Danger::of(Loss::Nothing, Loss::Whole, NOT_SYNCED),
];

/// The same where a commit does not wait for its log.
const LATE: &[Danger] = &[
    Danger {
        with: &[("fsync", "on"), ("full_page_writes", "on")],
        ..Danger::of(Loss::Newest, Loss::Newest, "the log of the last 0.6 s may not be written")
    },
    Danger { with: &[("fsync", "on")], ..Danger::of(Loss::Newest, Loss::Whole, TORN_PAGES) },
    Danger::of(Loss::Newest, Loss::Whole, NOT_SYNCED),
];

const TABLE: &str = "CREATE TABLE IF NOT EXISTS records (key bytea PRIMARY KEY, value bytea NOT NULL)";

fn open(options: &OpenOptions<'_>) -> Result<Box<dyn Store>> {
    let plan = Plan::new(options)?;
    let server = match options.settings.contains_key(URL) {
        true => Backend::Running(Running::open::<Postgresql>(options, &plan.of_session())?),
        false => Backend::Own(start(options, &plan)?),
    };
    let mut own = server.connect()?;
    plan.check(&mut own)?;
    let guarantee = hold_to_tier(options.guarantee, config::tier(&config::read_all(&mut own)?))?;
    make_table(&mut own, options.compression)?;
    // Of a running server others make syncs, too.
    let counts_syncs = if server.running().is_some() { None } else { counts_syncs(&mut own)? };
    let folder = options.directory.to_path_buf();
    let mut store =
        Postgres { own: Mutex::new(own), server, folder, plan, guarantee, counts_syncs, syncs_before: 0 };
    store.syncs_before = store.synced()?.unwrap_or(0);
    Ok(Box::new(store))
}

/// Starts a server of the trial's own.
fn start(options: &OpenOptions<'_>, plan: &Plan) -> Result<Server> {
    cluster::prepare(options)?;
    let mut arguments = plan.arguments();
    // As shipped it takes 100, of which some are kept back.
    if options.sessions > 90 {
        arguments.push(format!("max_connections={}", options.sessions + 20));
    }
    Server::start(options.directory, options.beside, &arguments).map_err(|error| match error {
        StoreError::Engine(message) if !options.settings.is_empty() => StoreError::BadSetting(message),
        other => other,
    })
}

/// Values are compressed, or never are; that is a property of the column.
fn make_table(client: &mut Client, compression: bool) -> Result<()> {
    client.execute(TABLE)?;
    let wanted = if compression { "extended" } else { "external" };
    if storage(client)? != wanted {
        client.execute(&format!("ALTER TABLE records ALTER COLUMN value SET STORAGE {wanted}"))?;
    }
    Ok(())
}

/// How values are stored that are too long for a page.
fn storage(client: &mut Client) -> Result<String> {
    sql::text(
        client,
        "SELECT CASE attstorage WHEN 'x' THEN 'extended' WHEN 'e' THEN 'external' ELSE 'other' END FROM pg_attribute \
         WHERE attrelid = 'records'::regclass AND attname = 'value'",
    )
}

/// The query that gives how often the log was synced since the server's files were made; `None` where it does not count that.
fn counts_syncs(client: &mut Client) -> Result<Option<&'static str>> {
    // With these, writing is syncing.
    if sql::text(client, "SELECT current_setting('wal_sync_method')")?.starts_with("open_") {
        return Ok(None);
    }
    let version = sql::number(client, "SELECT current_setting('server_version_num')::bigint")?;
    Ok(match version.unwrap_or(0) {
        // Before, counts arrive whenever they do.
        0..150_000 => None,
        150_000..180_000 => Some("SELECT wal_sync FROM pg_stat_wal"),
        _ => Some("SELECT coalesce(sum(fsyncs), 0)::bigint FROM pg_stat_io WHERE object = 'wal'"),
    })
}

/// The query of something of all tables in a schema.
fn of_schema(what: &str, schema: &str) -> String {
    format!(
        "SELECT {what} FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = '{schema}' AND c.relkind = 'r'"
    )
}

struct Postgres {
    /// For counting, settling and reading settings. Before `server`: connections end before it.
    own: Mutex<Client>,
    server: Backend<Postgresql>,
    folder: PathBuf,
    plan: Plan,
    guarantee: Guarantee,
    /// What asks for the number of syncs of the log.
    counts_syncs: Option<&'static str>,
    /// What that was when the store was opened.
    syncs_before: u64,
}

impl Postgres {
    fn own(&self) -> MutexGuard<'_, Client> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How often the log was synced since the server's files were made.
    fn synced(&self) -> Result<Option<u64>> {
        let Some(query) = self.counts_syncs else { return Ok(None) };
        let mut own = self.own();
        // What this session has counted is told with its next statement.
        own.execute("SELECT pg_stat_force_next_flush()")?;
        sql::number(&mut own, query)
    }
}

impl Store for Postgres {
    fn session(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(PostgresSession::new(self.server.connect()?)?))
    }

    fn sql(&self) -> Result<Box<dyn SqlSession + '_>> {
        Ok(Box::new(Sql::new(self.server.connect()?, &self.plan)?))
    }

    fn guarantee(&self) -> Guarantee {
        self.guarantee
    }

    fn count(&self) -> Result<u64> {
        let count = sql::number(&mut self.own(), "SELECT count(*) FROM records")?;
        count.ok_or_else(|| StoreError::Engine("postgres did not count".into()))
    }

    /// What autovacuum and the next checkpoint would do. On a running server only the tables of the trial are looked after.
    fn settle(&self) -> Result<()> {
        let mut own = self.own();
        let Some(running) = self.server.running() else {
            own.execute("VACUUM")?;
            return own.execute("CHECKPOINT");
        };
        for table in sql::texts(&mut own, &of_schema("relname::text", running.holder()))? {
            own.execute(&format!("VACUUM {}.\"{}\"", running.holder(), table.replace('"', "\"\"")))?;
        }
        Ok(())
    }

    fn settings(&self) -> Result<Vec<Setting>> {
        let mut own = self.own();
        let mut settings = config::read_all(&mut own)?;
        let url = self.server.running().map(Running::url);
        settings.extend(url.map(|url| Setting::given(URL, url)));
        settings.push(Setting::read_back("toast_storage", storage(&mut own)?));
        Ok(settings)
    }

    fn syncs(&self) -> Result<Option<u64>> {
        Ok(self.synced()?.map(|now| now.saturating_sub(self.syncs_before)))
    }

    fn build(&self) -> Option<StoreBuild> {
        let asserts = sql::text(&mut self.own(), "SELECT current_setting('debug_assertions')").ok()?;
        Some(StoreBuild::new("the server that is installed", None, Some(asserts == "on")))
    }

    fn elsewhere(&self) -> Option<String> {
        self.server.running().map(Running::whereabouts)
    }

    fn version(&self) -> Option<String> {
        self.server.running()?;
        sql::text(&mut self.own(), "SELECT current_setting('server_version')").ok()
    }

    fn statistics(&self) -> Result<Vec<Setting>> {
        let syncs = self.syncs()?.map(|syncs| Setting::read_back("wal_syncs", syncs));
        let mut own = self.own();
        let (name, query) = match self.server.running() {
            None => ("database_size", "SELECT pg_database_size(current_database())".to_owned()),
            Some(running) => {
                let sum = "coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint";
                ("schema_size", of_schema(sum, running.holder()))
            }
        };
        let size = sql::number(&mut own, &query)?.map(|bytes| Setting::read_back(name, bytes));
        Ok(syncs.into_iter().chain(size).collect())
    }

    fn close(self: Box<Self>) -> Result<()> {
        let Postgres { own, server, .. } = *self;
        drop(own);
        server.close()
    }

    fn discard(self: Box<Self>) -> Result<()> {
        let Postgres { own, server, folder, .. } = *self;
        drop(own);
        server.discard(&folder)
    }
}

#[cfg(test)]
mod tests;
