//! MariaDB as a kind of server: its settings, which guarantee they give, and the things that it does in its own way.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::process::Signal;
use storebench_model::server::ServerKind;
use storebench_model::server::running::{Address, URL};
use storebench_model::store::sql::{BulkLoad, Rows, SqlType, SqlValue};
use storebench_model::store::{
    Capabilities, GivenSettings, Guarantee, MemoryShare, OpenOptions, Result, Session, Setting, SettingDef,
    StoreError, Upkeep,
};

use super::client::{Client, Login};
use super::{MAX_KEY_BYTES, PORT, load};
use crate::support::read_back;
use crate::support::server::password as password_file;
use crate::support::server::socket::Socket;
use crate::support::server::{
    Connection, Dialect, OpenSql, PROGRAMS_SETTING, Paths, Plan, Programs, RecordSession, Records,
    RunningServer, Server, sql, url_setting, wait_until,
};

const INNODB: &str = "innodb";
const ROCKSDB: &str = "rocksdb";
const ENGINE: &str = "engine";
/// InnoDB's default pool, in bytes.
const SHIPPED_POOL: u64 = 128 * MIB;
const INNODB_LOG: &str = "innodb_flush_log_at_trx_commit";
const ROCKSDB_LOG: &str = "rocksdb_flush_log_at_trx_commit";
const RECOVERY: &str = "rocksdb_wal_recovery_mode";
/// What a transaction sees of others'; plans and all server versions use this word.
const ISOLATION: &str = "transaction_isolation";
const OLDER_ISOLATION: &str = "tx_isolation";
const LATE: &str = "rocksdb_manual_wal_flush";

const BASICS: &str = "https://github.com/facebook/rocksdb/wiki/Setup-Options-and-Basic-Tuning";

pub const SETTINGS: &[SettingDef] = &read_back(
    "SHOW VARIABLES",
    2,
    [
        url_setting(
            "mysql://user@host:port/database",
            "a running server to use instead; of all settings, engine alone can be chosen there (docs/servers.md)",
        ),
        PROGRAMS_SETTING,
        SettingDef::new(ENGINE, "innodb or rocksdb", "innodb", "what keeps the tables; rocksdb is MyRocks")
            .read_by("@@default_storage_engine")
            .capabilities(compresses)
            .tune(&[ROCKSDB]),
        SettingDef::new(
            ISOLATION,
            "READ-UNCOMMITTED, READ-COMMITTED, REPEATABLE-READ or SERIALIZABLE",
            "REPEATABLE-READ; READ-COMMITTED for the workload shop",
            "what a transaction sees of concurrent ones",
        )
        .varying(),
        SettingDef::new(
            INNODB_LOG,
            "0, 1 or 2",
            "1, or the guarantee's",
            "at a commit the log is 1: synced, 2: written, 0: neither, but once a second",
        )
        .usually("1")
        .guarantee("2 is process, 0 is none"),
        SettingDef::new(
            "innodb_doublewrite",
            "ON or OFF",
            "ON",
            "whether a page is written elsewhere before it is written in its place",
        )
        .guarantee("OFF is process: a power cut can tear a page")
        .costing("a page that a power cut has torn can't be repaired"),
        SettingDef::new(
            "innodb_flush_method",
            "fsync, O_DSYNC or O_DIRECT",
            "O_DIRECT",
            "how pages and the log go to the disk; O_DIRECT passes the page cache by",
        )
        .tune(&["fsync"]),
        SettingDef::new(
            "innodb_buffer_pool_size",
            "a size from 6 MiB, in steps of 1 MiB",
            "128 MiB",
            "the cache of pages, of all sessions",
        )
        .varying()
        .bytes()
        .share(
            MemoryShare::one_in(
                10,
                "70 %, if InnoDB alone is used",
                "https://mariadb.com/kb/en/mariadb-memory-allocation/",
            )
            .times(7)
            .rounded_to(MIB)
            .only_with(ENGINE, INNODB),
        )
        .tune(&["33554432", "536870912"]),
        SettingDef::new(
            "innodb_log_file_size",
            "a size from 4 MiB, in steps of 4 KiB",
            "96 MiB",
            "how long the log grows until pages are written",
        )
        .varying()
        .bytes()
        .tune(&["16777216", "402653184"]),
        SettingDef::new(
            "innodb_page_size",
            "a size of 4, 8, 16, 32 or 64 KiB",
            "16 KiB",
            "a page; fixed when the server's files are made",
        )
        .varying()
        .bytes()
        .tune(&["4096"]),
        SettingDef::new(
            ROCKSDB_LOG,
            "0, 1 or 2",
            "1, or the guarantee's",
            "the same of the write-ahead log, if engine=rocksdb",
        )
        .usually("1")
        .guarantee("2 is process, 0 is none"),
        SettingDef::new(
            LATE,
            "ON or OFF",
            "ON; OFF for process",
            "whether a log that is not synced at a commit is kept in the server's memory until it is",
        )
        .varying()
        .guarantee("with rocksdb_flush_log_at_trx_commit=2, ON is none"),
        SettingDef::new(
            RECOVERY,
            "0, 1, 2 or 3",
            "1; 2 if a guarantee is asked for",
            "what becomes of a write-ahead log that is cut off: 1 refuses to start, 2 leaves off there",
        )
        .varying(),
        SettingDef::new(
            "rocksdb_block_cache_size",
            "a size from 1 MiB",
            "512 MiB",
            "the cache of blocks, if engine=rocksdb",
        )
        .varying()
        .bytes()
        .share(
            MemoryShare::one_in(3, "RocksDB's: about a third; the rest serves the page cache", BASICS)
                .rounded_to(MIB)
                .only_with(ENGINE, ROCKSDB),
        )
        .tune(&["33554432", "134217728"]),
        SettingDef::new(
            "rocksdb_db_write_buffer_size",
            "a size from 1 MiB",
            "no limit",
            "all memory tables together, if engine=rocksdb",
        )
        .varying()
        .bytes()
        .share(
            MemoryShare::one_in(6, "no share; memory tables have half as much as blocks", BASICS)
                .rounded_to(MIB)
                .only_with(ENGINE, ROCKSDB),
        ),
        SettingDef::new(
            "rocksdb_use_direct_reads",
            "ON or OFF",
            "OFF",
            "whether reads pass the page cache by, if engine=rocksdb",
        ),
        SettingDef::new(
            "rocksdb_use_direct_io_for_flush_and_compaction",
            "ON or OFF",
            "OFF",
            "the same of writes in the background",
        ),
    ],
);

/// The settings that a session can set, and the settings that name its server.
const SESSION_SETTINGS: [&str; 3] = [URL, ENGINE, ISOLATION];

/// Variables that are read, too, as they decide the guarantee of a running server.
const GUARANTEE_VARIABLES: [&str; 3] = ["log_bin", "sync_binlog", "rocksdb_write_disable_wal"];

/// Two memory tables, as shipped: one that is filled and one that is flushed.
const MEMORY_TABLES: u64 = 2;
const MIB: u64 = 1 << 20;

/// MyRocks compresses; InnoDB does only if a table asks, in ways that need certain file systems, and is not asked.
fn compresses(engine: &str, can: &mut Capabilities) {
    if engine == ROCKSDB {
        can.compression = Some("snappy");
    }
}

/// The tier's settings, then the cache, then the user's. Fails also for one that would do nothing.
fn plan(options: &OpenOptions<'_>) -> Result<Plan> {
    let given = GivenSettings::new(options, SETTINGS)?;
    let engine = given.word(ENGINE, &[INNODB, ROCKSDB])?.unwrap_or(INNODB);
    if given.text(URL).is_some() {
        let isolation = |name: &str, options: &OpenOptions<'_>| {
            Some(preset(name, "", options)?).filter(|_| name == ISOLATION)
        };
        return Plan::new((options, &given), SETTINGS, Some(&SESSION_SETTINGS), user_value, isolation);
    }
    let other_engine = if engine == INNODB { ROCKSDB } else { INNODB };
    if let Some(name) = options.settings.keys().find(|name| name.starts_with(other_engine)) {
        let message =
            format!("the setting {name} does nothing with engine={engine}: set engine={other_engine}");
        return Err(StoreError::BadSetting(message));
    }
    let preset = |name: &str, options: &OpenOptions<'_>| preset(name, engine, options);
    let mut plan = Plan::new((options, &given), SETTINGS, None, user_value, preset)?;
    if engine == ROCKSDB {
        plan.extra_arguments.push(format!("--rocksdb-default-cf-options={}", family_options(options)));
        plan.extra_arguments.extend(sort_arguments(&plan));
    }
    Ok(plan)
}

/// Statements for a session on a running server, each after a `;`.
fn session_statements(plan: &Plan) -> String {
    let engine = plan.value(ENGINE).map(|engine| format!("; SET SESSION default_storage_engine = {engine}"));
    let isolation = plan
        .value(ISOLATION)
        .map(|level| format!("; SET SESSION TRANSACTION ISOLATION LEVEL {}", level.replace('-', " ")));
    engine.into_iter().chain(isolation).collect()
}

fn fixed_with_files(plan: &Plan) -> Vec<String> {
    ["innodb_page_size", "innodb_log_file_size"].into_iter().filter_map(|name| option(plan, name)).collect()
}

fn option(plan: &Plan, name: &str) -> Option<String> {
    plan.value(name).map(|value| format!("--{}={value}", name.replace('_', "-")))
}

/// The folder of the server's messages, next to programs that the user names: those of an archive do not know where they are.
fn base_folder(plan: &Plan) -> Option<String> {
    let base = Path::new(plan.programs.as_deref()?).parent()?;
    let has_messages = |share: &str| base.join(share).join("english/errmsg.sys").is_file();
    let is_complete = ["share", "share/mysql", "share/mariadb"].into_iter().any(has_messages);
    is_complete.then(|| format!("--basedir={}", base.display()))
}

/// MyRocks sorts a new index in up to a gigabyte, as shipped: with a set block cache, in half of that, in pieces of an eighth.
fn sort_arguments(plan: &Plan) -> Vec<String> {
    let cache = plan.parsed::<u64>("rocksdb_block_cache_size");
    cache.map_or_else(Vec::new, |cache| {
        let (piece, total) = ((cache / 8).max(MIB), (cache / 2).max(4 * MIB));
        vec![
            format!("--rocksdb-merge-buf-size={piece}"),
            format!("--rocksdb-merge-combine-read-size={total}"),
        ]
    })
}

/// Keeps InnoDB from reserving addresses for a pool of 8 TiB, which not every machine has. Versions that reserve none ignore it.
fn address_limit(plan: &Plan) -> String {
    let pool = plan.parsed("innodb_buffer_pool_size");
    format!("--loose-innodb-buffer-pool-size-max={}", pool.unwrap_or(0).max(SHIPPED_POOL))
}

fn setting_arguments(plan: &Plan) -> Vec<String> {
    // It loads before it is named.
    let plugin = (plan.value(ENGINE) == Some(ROCKSDB)).then(|| "--plugin-load-add=ha_rocksdb".to_owned());
    let mut arguments: Vec<String> =
        base_folder(plan).into_iter().chain(plugin).chain(plan.extra_arguments.iter().cloned()).collect();
    arguments.extend(plan.value(ENGINE).map(|engine| format!("--default-storage-engine={engine}")));
    let others = plan.values.iter().filter(|(name, _)| *name != ENGINE);
    arguments.extend(others.filter_map(|(name, _)| option(plan, name)));
    arguments.push(address_limit(plan));
    arguments
}

fn user_value(given: &GivenSettings<'_>, name: &'static str) -> Result<Option<String>> {
    let word = |words: &[&'static str]| Ok(given.word(name, words)?.map(str::to_owned));
    let number =
        |least: u64, most: u64| Ok(given.number(name, least..=most)?.map(|number| number.to_string()));
    match name {
        ENGINE => word(&[INNODB, ROCKSDB]),
        ISOLATION => word(&["READ-UNCOMMITTED", "READ-COMMITTED", "REPEATABLE-READ", "SERIALIZABLE"]),
        INNODB_LOG | ROCKSDB_LOG => number(0, 2),
        RECOVERY => number(0, 3),
        "innodb_flush_method" => word(&["fsync", "O_DSYNC", "O_DIRECT"]),
        "innodb_page_size" => word(&["4096", "8192", "16384", "32768", "65536"]),
        "innodb_buffer_pool_size" => number(6 * MIB, 1 << 42),
        "innodb_log_file_size" => number(4 * MIB, 1 << 38),
        "rocksdb_block_cache_size" | "rocksdb_db_write_buffer_size" => number(MIB, 1 << 42),
        "innodb_doublewrite"
        | LATE
        | "rocksdb_use_direct_reads"
        | "rocksdb_use_direct_io_for_flush_and_compaction" => word(&["ON", "OFF"]),
        _ => Ok(None),
    }
}

fn preset(name: &str, engine: &str, options: &OpenOptions<'_>) -> Option<String> {
    let is_of_other = |prefix: &str| name.starts_with(prefix) && !name.starts_with(engine);
    if is_of_other("rocksdb_") {
        return None;
    }
    let at_commit = |tier| match tier {
        Guarantee::None => "0",
        Guarantee::Process => "2",
        Guarantee::Power | Guarantee::Node => "1",
    };
    match name {
        ENGINE => Some(engine.into()),
        // The workload asks for no more.
        ISOLATION => options.transactions.then(|| "READ-COMMITTED".into()),
        INNODB_LOG | ROCKSDB_LOG => options.guarantee.map(|tier| at_commit(tier).into()),
        // As shipped, what is not synced is not written either: without a binary log MyRocks does so once a second.
        LATE => options.guarantee.filter(|tier| *tier == Guarantee::Process).map(|_| "OFF".into()),
        // As shipped, a log that an accident cuts off keeps the server from starting.
        RECOVERY => options.guarantee.map(|_| "2".into()),
        // The server's cache serves all sessions. InnoDB has the server's own tables under either engine.
        "innodb_buffer_pool_size" => options.cache_bytes.map(|bytes| {
            let pool_bytes = if engine == INNODB { bytes } else { 0 };
            (pool_bytes / MIB * MIB).max(8 * MIB).to_string()
        }),
        "rocksdb_block_cache_size" => {
            options.cache_bytes.map(|bytes| (bytes - bytes / 2).max(MIB).to_string())
        }
        _ => None,
    }
}

/// The codec, and half of the cache for memory tables. Flushed ones are not kept longer; as shipped they may be.
fn family_options(options: &OpenOptions<'_>) -> String {
    let codec = if options.compression { "kSnappyCompression" } else { "kNoCompression" };
    let tables = options.cache_bytes.map(|bytes| (bytes / 2 / MEMORY_TABLES).max(64 << 10));
    let tables =
        tables.map(|bytes| format!(";write_buffer_size={bytes};max_write_buffer_size_to_maintain={bytes}"));
    format!("compression={codec};bottommost_compression={codec}{}", tables.unwrap_or_default())
}

/// The settings in the order of [`SETTINGS`], and what else decides the guarantee.
fn read_all(client: &mut Client) -> Result<Vec<Setting>> {
    let query = client.prepare("SHOW VARIABLES")?;
    let mut found = Vec::new();
    client.query(&query, &[], &mut |row| {
        if let [SqlValue::Text(name), SqlValue::Text(value)] = row {
            found.push(((*name).to_owned(), (*value).to_owned()));
        }
    })?;
    client.forget(query)?;
    let engine = sql::text(client, "SELECT LOWER(@@default_storage_engine)")?;
    let value_of =
        |name: &str| found.iter().find(|(variable, _)| variable == name).map(|(_, value)| value.clone());
    let is_of_engine = |name: &str| !name.starts_with("rocksdb_") || engine == ROCKSDB;
    let names = SETTINGS.iter().map(|def| def.name).chain(GUARANTEE_VARIABLES);
    let names = names.filter(|name| is_of_engine(name));
    let settings = names.filter_map(|name| {
        let value = match name {
            ENGINE => Some(engine.clone()),
            ISOLATION => value_of(name).or_else(|| value_of(OLDER_ISOLATION)),
            _ => value_of(name),
        };
        value.map(|value| Setting::read_back(name, value))
    });
    Ok(settings.collect())
}

fn read_family_options(client: &mut Client) -> Result<Vec<Setting>> {
    let option = |name: &str| {
        format!(
            "SELECT value FROM information_schema.rocksdb_cf_options WHERE cf_name = 'default' AND option_type = '{name}'"
        )
    };
    let mut read_option =
        |name: &str| Ok(Setting::read_back(name.to_lowercase(), sql::text(client, &option(name))?));
    Ok(vec![read_option("COMPRESSION_TYPE")?, read_option("WRITE_BUFFER_SIZE")?])
}

fn tier(settings: &[Setting]) -> Guarantee {
    let value = |name: &str| {
        settings.iter().find(|setting| setting.name == name).map(|setting| setting.value.as_str())
    };
    let has_value = |name: &str, wanted: &str| value(name) == Some(wanted);
    // A transaction that the binary log does not have is undone when the server starts again.
    let binary_log_is_safe = !has_value("log_bin", "ON") || has_value("sync_binlog", "1");
    let log_guarantee = |name: &str| match value(name) {
        Some("1" | "3") => Guarantee::Power,
        Some("2") => Guarantee::Process,
        _ => Guarantee::None,
    };
    let (engine_guarantee, keeps_pages) = match has_value(ENGINE, ROCKSDB) {
        true if has_value("rocksdb_write_disable_wal", "ON") => (Guarantee::None, true),
        true if has_value(ROCKSDB_LOG, "2") && !has_value(LATE, "OFF") => (Guarantee::None, true),
        true => (log_guarantee(ROCKSDB_LOG), true),
        false => {
            let is_synced = !value("innodb_flush_method")
                .is_some_and(|method| ["nosync", "littlesync", "O_DIRECT_NO_FSYNC"].contains(&method));
            (log_guarantee(INNODB_LOG), has_value("innodb_doublewrite", "ON") && is_synced)
        }
    };
    match keeps_pages && binary_log_is_safe {
        true => engine_guarantee,
        false => engine_guarantee.min(Guarantee::Process),
    }
}

const SOCKET: &str = "socket";
const USER: &str = "root";
const DATABASE: &str = "storebench";
/// Counts all of InnoDB's syncs, for MyRocks those of the log.
const INNODB_SYNCS: &str = "Innodb_data_fsyncs";
const ROCKSDB_SYNCS: &str = "Rocksdb_wal_synced";

static PROGRAMS: Programs = Programs {
    product: "MariaDB",
    server: "mariadbd",
    maker: Some("mariadb-install-db"),
    // Servers are not in everybody's PATH.
    folders: &["/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin", "/usr/libexec"],
    by_version: &[
        ("/opt/homebrew/opt", "mariadb@"),
        ("/usr/local/opt", "mariadb@"),
        ("/home/linuxbrew/.linuxbrew/opt", "mariadb@"),
    ],
    version: &["--no-defaults", "--version"],
    version_after: "Ver ",
    oldest: "10.5",
    get: "apt-get install mariadb-server, or brew install mariadb",
    user: "mysql",
    stop: Signal::TERM,
    ends_by_signal: false,
    last_words,
    found: OnceLock::new(),
};

pub enum Mysql {}

pub struct MariaDbFacts {
    is_rocksdb: bool,
    counter: Option<&'static str>,
    /// Loads past MyRocks's log: it syncs their files without counting.
    loads: AtomicU64,
}

impl Server for Mysql {
    type Client = Client;
    type Facts = MariaDbFacts;

    const STORE: &'static str = "mariadb";
    const KNOWN: ServerKind =
        ServerKind { programs: &["mariadbd"], users: &["mysql"], shared_memory: |_| None };
    const SCHEMES: &'static [&'static str] = &["mysql", "mariadb"];
    const START_S: f64 = 1.5;
    const SIGN: &'static str = "mysql";
    const OPENS_BY_PATH: bool = true;
    const NEEDS_TEMPORARY_FOLDER: bool = true;
    const HOLDER: &'static str = "database";
    const SYNCS: &'static str = "syncs";
    const PLAN: fn(&OpenOptions<'_>) -> Result<Plan> = plan;
    const READ_SETTINGS: fn(&mut Client) -> Result<Vec<Setting>> = read_all;
    const TIER: fn(&[Setting]) -> Guarantee = tier;
    const COUNT: fn(&mut Client) -> Result<u64> = sql::count;
    const SESSION: fn(Client) -> Result<Box<dyn Session>> = RecordSession::<Mysql>::open;
    const SQL: Option<OpenSql<Mysql>> = Some(sql::open::<Mysql>);

    fn programs() -> &'static Programs {
        &PROGRAMS
    }

    fn fixed_with_files(plan: &Plan) -> String {
        fixed_with_files(plan).join("").replace('=', "")
    }

    fn init_arguments(plan: &Plan, data: &Path) -> Vec<String> {
        let mut arguments = vec![
            "--no-defaults".to_owned(),
            format!("--datadir={}", data.display()),
            // Several servers would meet in /tmp, where each makes tables with the same names.
            format!("--tmpdir={}", data.display()),
        ];
        let options = ["--skip-test-db", "--auth-root-authentication-method=normal", "--skip-name-resolve"];
        arguments.extend(options.map(str::to_owned));
        arguments.extend(base_folder(plan));
        arguments.extend(fixed_with_files(plan));
        arguments.push(address_limit(plan));
        arguments
    }

    fn maker_error(output: &str) -> Option<String> {
        last_words(output)
    }

    fn arguments(plan: &Plan, paths: &Paths, sessions: usize) -> Vec<String> {
        let (socket, number) = (paths.socket.join(SOCKET), paths.socket.join("number"));
        let temporary = paths.temporary.as_ref();
        let path_options = [("datadir", Some(&paths.data)), ("tmpdir", temporary), ("socket", Some(&socket))];
        let path_options = path_options.into_iter().chain([("pid-file", Some(&number))]);
        let path_options =
            path_options.filter_map(|(name, path)| Some(format!("--{name}={}", path?.display())));
        let options = ["--skip-networking", "--skip-log-bin", "--skip-name-resolve"];
        let options = options.into_iter().chain(["--max-allowed-packet=1G", "--local-infile=1"]);
        let options = options.map(str::to_owned);
        let mut arguments: Vec<String> =
            ["--no-defaults".to_owned()].into_iter().chain(path_options).chain(options).collect();
        arguments.extend(setting_arguments(plan));
        // As shipped it takes 151.
        if sessions > 140 {
            arguments.push(format!("--max-connections={}", sessions + 10));
        }
        arguments
    }

    fn is_ready(_pid: u32, _data: &Path, socket: &Path) -> bool {
        begin(socket).is_ok()
    }

    fn missing_part(why: &str) -> Option<&'static str> {
        why.contains("ha_rocksdb")
            .then_some("MyRocks is not installed: apt-get install mariadb-plugin-rocksdb")
    }

    fn set_up(socket: &Path) -> Result<()> {
        begin(socket)?.execute(&format!("CREATE DATABASE IF NOT EXISTS {DATABASE} CHARACTER SET utf8mb4"))
    }

    fn connect_own(socket: &Path) -> Result<Client> {
        let mut client = begin(socket)?;
        client.execute(&format!("USE {DATABASE}"))?;
        Ok(client)
    }

    fn connect(address: &Address) -> Result<Client> {
        let socket = Socket::connect(address, PORT);
        let socket = socket.map_err(StoreError::io(format!("connecting to {}", address.at.name())))?;
        // The trial's own database is made by it, so none that the URL names is used.
        Client::begin(socket, &Login { user: &address.user, password: &password()?, database: None })
    }

    fn create(client: &mut Client, name: &str) -> Result<()> {
        client.execute(&format!("CREATE DATABASE {name} CHARACTER SET utf8mb4"))
    }

    fn enter(client: &mut Client, name: &str, plan: &Plan) -> Result<()> {
        client.execute(&format!("USE {name}{}", session_statements(plan)))
    }

    fn drop_command(name: &str) -> String {
        format!("DROP DATABASE {name}")
    }

    fn drop_if_there(client: &mut Client, name: &str) -> Result<()> {
        client.execute(&format!("SET SESSION lock_wait_timeout = 60; DROP DATABASE IF EXISTS {name}"))
    }

    fn make_table(client: &mut Client, _compression: bool) -> Result<()> {
        client.execute(&format!(
            "CREATE TABLE IF NOT EXISTS records (k VARBINARY({MAX_KEY_BYTES}) NOT NULL PRIMARY KEY, v LONGBLOB NOT NULL)"
        ))
    }

    fn examine(_client: &mut Client, settings: &[Setting], is_own: bool) -> Result<MariaDbFacts> {
        let is_rocksdb = settings.iter().any(|setting| setting.name == ENGINE && setting.value == ROCKSDB);
        let counter = is_own.then_some(if is_rocksdb { ROCKSDB_SYNCS } else { INNODB_SYNCS });
        Ok(MariaDbFacts { is_rocksdb, counter, loads: AtomicU64::new(0) })
    }

    fn count_syncs(client: &mut Client, facts: &MariaDbFacts) -> Result<Option<u64>> {
        let Some(name) = facts.counter else { return Ok(None) };
        let loads = facts.loads.load(Ordering::Relaxed);
        Ok(status(client, name)?.map(|count| count + loads))
    }

    /// InnoDB's figures; another engine has none.
    fn upkeep(client: &mut Client) -> Result<Vec<Upkeep>> {
        const FIGURES: [(&str, &str); 2] =
            [("checkpoint", "Innodb_lsn_last_checkpoint"), ("log wait", "Innodb_log_waits")];
        let figures =
            FIGURES.map(|(work, name)| Ok(status(client, name)?.map(|count| Upkeep::done(work, count))));
        figures.into_iter().filter_map(Result::transpose).collect()
    }

    fn settle(client: &mut Client, facts: &MariaDbFacts, running: Option<&RunningServer>) -> Result<()> {
        match (running, facts.is_rocksdb) {
            // The tables of others there are not ours to settle.
            (Some(_), _) => Ok(()),
            (None, true) => settle_rocksdb(client),
            (None, false) => settle_innodb(client),
        }
    }

    fn compact(client: &mut Client) -> Result<Option<&'static str>> {
        match outcome_of(client, "OPTIMIZE TABLE records")?.as_str() {
            "status: OK" => Ok(Some("OPTIMIZE TABLE")),
            outcome => Err(StoreError::Engine(format!("OPTIMIZE TABLE: {outcome}"))),
        }
    }

    fn hold_reader(client: &mut Client) -> Result<bool> {
        sql::visit_rows(client, "START TRANSACTION WITH CONSISTENT SNAPSHOT", &mut |_| ())?;
        Ok(true)
    }

    fn verify(client: &mut Client) -> Result<bool> {
        match outcome_of(client, "CHECK TABLE records EXTENDED")?.as_str() {
            "status: OK" => Ok(true),
            outcome if outcome.starts_with("note: ") => Ok(false),
            outcome => Err(StoreError::Engine(format!("CHECK TABLE: {outcome}"))),
        }
    }

    fn settings_of_table(client: &mut Client, facts: &MariaDbFacts) -> Result<Vec<Setting>> {
        if facts.is_rocksdb { read_family_options(client) } else { Ok(Vec::new()) }
    }

    fn size(client: &mut Client, _running: Option<&RunningServer>) -> Result<(&'static str, Option<u64>)> {
        let sum = "SELECT SUM(data_length + index_length) FROM information_schema.tables WHERE table_schema = DATABASE()";
        Ok(("tables_size", sql::number(client, sum)?))
    }

    fn version(client: &mut Client) -> Result<String> {
        Ok(client.version.trim_start_matches("5.5.5-").to_owned())
    }

    fn has_checks(client: &mut Client) -> Result<Option<bool>> {
        Ok(Some(sql::text(client, "SELECT VERSION()")?.contains("-debug")))
    }
}

impl Dialect for Mysql {
    const MAX_KEY_BYTES: usize = MAX_KEY_BYTES;
    const RECORDS: Records = Records {
        insert: "INSERT INTO records (k, v) VALUES (?, ?)",
        update: "UPDATE records SET v = ? WHERE k = ?",
        get: "SELECT v FROM records WHERE k = ?",
        remove: "DELETE FROM records WHERE k = ?",
        scan: "SELECT k, v FROM records WHERE k >= ? ORDER BY k LIMIT ?",
    };

    fn type_name(sql_type: SqlType) -> &'static str {
        match sql_type {
            SqlType::Integer => "BIGINT",
            SqlType::Real => "DOUBLE",
            SqlType::Text => "LONGTEXT",
            SqlType::Blob => "LONGBLOB",
        }
    }

    fn load(
        client: &mut Client,
        (plan, facts, is_own): (&Plan, &MariaDbFacts, bool),
        target: &BulkLoad<'_>,
        rows: &mut Rows<'_>,
    ) -> Result<u64> {
        let is_rocksdb = plan.value(ENGINE) == Some(ROCKSDB);
        match (is_own, is_rocksdb, target.sorted) {
            // It may not take files.
            (false, _, _) => load::load_by_statements(client, target, rows),
            (true, false, _) => client.all_or_none(|client| load::load_file(client, target, rows)),
            (true, true, false) => load::load_in_many_transactions(client, target, rows),
            (true, true, true) => {
                let count = load::load_into_sorted_files(client, target, rows)?;
                facts.loads.fetch_add(1, Ordering::Relaxed);
                Ok(count)
            }
        }
    }
}

/// The result of a statement about a table, from its last row: `status: OK`, or a `note` or `error` with its text.
fn outcome_of(client: &mut Client, statement: &str) -> Result<String> {
    let mut last = String::new();
    sql::visit_rows(client, statement, &mut |row| {
        if let [.., SqlValue::Text(kind), SqlValue::Text(text)] = row {
            last = format!("{kind}: {text}");
        }
    })?;
    Ok(last)
}

fn begin(socket: &Path) -> Result<Client> {
    let socket = Socket::connect_own(socket, SOCKET).map_err(StoreError::io("connecting to mariadbd"))?;
    Client::begin(socket, &Login { user: USER, password: "", database: None })
}

fn status(client: &mut Client, name: &str) -> Result<Option<u64>> {
    let mut found = None;
    sql::visit_rows(client, &format!("SHOW GLOBAL STATUS LIKE '{name}'"), &mut |row| {
        if let [_, SqlValue::Text(number)] = row {
            found = number.parse().ok();
        }
    })?;
    Ok(found)
}

/// Waits until InnoDB has written changed pages in place.
fn settle_innodb(client: &mut Client) -> Result<()> {
    let limit_before = sql::text(client, "SELECT CAST(@@innodb_max_dirty_pages_pct AS CHAR)")?;
    client.execute("SET GLOBAL innodb_max_dirty_pages_pct = 0")?;
    let waited = wait_until::<Mysql>(client, |client| {
        Ok(status(client, "Innodb_buffer_pool_pages_dirty")?.unwrap_or(0) == 0)
    });
    client.execute(&format!("SET GLOBAL innodb_max_dirty_pages_pct = {limit_before}"))?;
    waited
}

/// Waits until MyRocks has flushed memory tables, and merged what its rules say.
fn settle_rocksdb(client: &mut Client) -> Result<()> {
    client.execute("SET GLOBAL rocksdb_force_flush_memtable_now = 1")?;
    let pending = "SELECT CAST(SUM(value) AS UNSIGNED) FROM information_schema.rocksdb_cfstats \
                   WHERE stat_type IN ('MEM_TABLE_FLUSH_PENDING', 'COMPACTION_PENDING', 'NUM_IMMUTABLE_MEM_TABLE')";
    // One that is under way is not pending any more, but it writes.
    let mut merged = None;
    wait_until::<Mysql>(client, |client| {
        let is_pending = sql::number(client, pending)?.unwrap_or(0) > 0;
        let written_bytes = status(client, "Rocksdb_compact_write_bytes")?;
        let writes = merged.replace(written_bytes) != Some(written_bytes);
        Ok(!is_pending && !writes)
    })
}

/// The first line with an error: later ones follow from it.
fn last_words(log: &str) -> Option<String> {
    let find_error = |line: &str| {
        let message = line.split_once("[ERROR] ").map(|(_, message)| message);
        message.or_else(|| line.strip_prefix("ERROR: ")).map(str::to_owned)
    };
    log.lines().find_map(|line| find_error(line).filter(|words| words != "Aborting"))
}

/// MYSQL_PWD, else the clients' password in ~/.my.cnf, else empty. Fails when others can read the file.
fn password() -> Result<String> {
    if let Ok(password) = std::env::var("MYSQL_PWD") {
        return Ok(password);
    }
    let Some(home) = std::env::var_os("HOME") else { return Ok(String::new()) };
    let text =
        password_file::read(&PathBuf::from(home).join(".my.cnf"), |text| find_password(text).is_some())?;
    Ok(text.and_then(|text| find_password(&text)).unwrap_or_default())
}

/// The last password in a section for clients.
fn find_password(text: &str) -> Option<String> {
    let (mut is_for_clients, mut found) = (false, None);
    for line in text.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            let section = section.trim_end_matches(']');
            is_for_clients = ["client", "client-server", "client-mariadb"].contains(&section);
        } else if let Some((name, value)) = line.split_once('=').filter(|_| is_for_clients)
            && name.trim() == "password"
        {
            let value = value.trim();
            let quoted =
                ['"', '\''].into_iter().find_map(|quote| value.strip_prefix(quote)?.strip_suffix(quote));
            found = Some(quoted.unwrap_or(value).to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use storebench_model::store::Loss;

    use super::*;
    use crate::mariadb::MARIADB;
    use crate::support::testing::loss_at_power_cut;

    #[test]
    fn the_version_is_read() {
        let output = "mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)\n";
        assert_eq!(PROGRAMS.version_in(output).as_deref(), Some("10.11.19"));
        assert_eq!(PROGRAMS.version_in("of another kind"), None);
    }

    #[test]
    fn the_first_words_that_tell_something_count() {
        let log = "2026-11-23  4:52:45 0 [Note] starts\n2026-11-23  4:52:45 0 [ERROR] Aborting\nERROR: 1051  Unknown table\n";
        assert_eq!(last_words(log).as_deref(), Some("1051  Unknown table"));
        let log = "2026 0 [ERROR] no plugin\n2026 0 [ERROR] more\n";
        assert_eq!(last_words(log).as_deref(), Some("no plugin"));
        assert_eq!(last_words("all is well\n0 [ERROR] Aborting\n"), None);
    }

    fn settings(pairs: &[(&str, &str)]) -> Vec<Setting> {
        pairs.iter().map(|(name, value)| Setting::read_back(*name, value)).collect()
    }

    #[test]
    fn the_tier_follows_from_the_engine_s_log_and_pages() {
        let tier_and_loss = |pairs: &[(&str, &str)]| {
            let settings = settings(pairs);
            let tier = tier(&settings);
            (tier, loss_at_power_cut(&MARIADB, tier, &settings))
        };
        let innodb = |log, double| {
            let pages = ("innodb_doublewrite", double);
            tier_and_loss(&[(ENGINE, INNODB), (INNODB_LOG, log), pages, (ROCKSDB_LOG, "0")])
        };
        assert_eq!(innodb("1", "ON"), (Guarantee::Power, Loss::Nothing));
        assert_eq!(innodb("2", "ON"), (Guarantee::Process, Loss::Newest));
        assert_eq!(innodb("1", "OFF"), (Guarantee::Process, Loss::Whole));
        assert_eq!(innodb("2", "OFF"), (Guarantee::Process, Loss::Whole));
        assert_eq!(innodb("0", "ON"), (Guarantee::None, Loss::Newest));
        assert_eq!(innodb("0", "OFF"), (Guarantee::None, Loss::Whole));
        let rocksdb_with = |log, mode, late| {
            let logs = [(ROCKSDB_LOG, log), (INNODB_LOG, "0")];
            tier_and_loss(&[(ENGINE, ROCKSDB), logs[0], (RECOVERY, mode), (LATE, late), logs[1]])
        };
        let rocksdb = |log, mode| rocksdb_with(log, mode, "OFF");
        assert_eq!(rocksdb("1", "2"), (Guarantee::Power, Loss::Nothing));
        assert_eq!(rocksdb("2", "2"), (Guarantee::Process, Loss::Newest));
        assert_eq!(rocksdb("0", "2"), (Guarantee::None, Loss::Newest));
        assert_eq!(rocksdb("2", "1"), (Guarantee::Process, Loss::Whole));
        assert_eq!(rocksdb_with("2", "2", "ON"), (Guarantee::None, Loss::Newest));
        assert_eq!(rocksdb_with("1", "2", "ON"), (Guarantee::Power, Loss::Nothing));
    }

    #[test]
    fn a_binary_log_that_is_not_synced_takes_power_away() {
        let tier_with = |log_bin, sync| {
            tier(&settings(&[
                (ENGINE, INNODB),
                (INNODB_LOG, "1"),
                ("innodb_doublewrite", "ON"),
                ("log_bin", log_bin),
                ("sync_binlog", sync),
            ]))
        };
        assert_eq!(tier_with("OFF", "0"), Guarantee::Power);
        assert_eq!(tier_with("ON", "1"), Guarantee::Power);
        assert_eq!(tier_with("ON", "0"), Guarantee::Process);
    }

    fn planned(tier: Option<Guarantee>, cache_bytes: Option<u64>, pairs: &[(&str, &str)]) -> Result<Plan> {
        let settings = pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        plan(&OpenOptions {
            guarantee: tier,
            cache_bytes,
            settings: &settings,
            ..OpenOptions::new(std::path::Path::new("/nowhere"))
        })
    }

    #[test]
    fn tiers_cache_and_user_make_the_arguments() {
        let innodb =
            planned(Some(Guarantee::Process), Some(20_000_000), &[("innodb_page_size", "4096")]).unwrap();
        let expected = [
            "--default-storage-engine=innodb",
            "--innodb-flush-log-at-trx-commit=2",
            "--innodb-buffer-pool-size=19922944",
            "--innodb-page-size=4096",
            "--loose-innodb-buffer-pool-size-max=134217728",
        ];
        assert_eq!(setting_arguments(&innodb), expected);
        assert_eq!(fixed_with_files(&innodb), ["--innodb-page-size=4096"]);
        let rocksdb = planned(Some(Guarantee::Power), Some(20_000_000), &[(ENGINE, ROCKSDB)]).unwrap();
        let expected = [
            "--plugin-load-add=ha_rocksdb",
            "--rocksdb-default-cf-options=compression=kNoCompression;bottommost_compression=kNoCompression;\
             write_buffer_size=5000000;max_write_buffer_size_to_maintain=5000000",
            "--rocksdb-merge-buf-size=1250000",
            "--rocksdb-merge-combine-read-size=5000000",
            "--default-storage-engine=rocksdb",
            "--innodb-flush-log-at-trx-commit=1",
            "--innodb-buffer-pool-size=8388608",
            "--rocksdb-flush-log-at-trx-commit=1",
            "--rocksdb-wal-recovery-mode=2",
            "--rocksdb-block-cache-size=10000000",
            "--loose-innodb-buffer-pool-size-max=134217728",
        ];
        assert_eq!(setting_arguments(&rocksdb), expected);
        let large = planned(None, Some(1 << 30), &[]).unwrap();
        let expected = [
            "--default-storage-engine=innodb",
            "--innodb-buffer-pool-size=1073741824",
            "--loose-innodb-buffer-pool-size-max=1073741824",
        ];
        assert_eq!(setting_arguments(&large), expected);
    }

    #[test]
    fn what_would_do_nothing_is_refused() {
        let why = |pairs: &[(&str, &str)]| planned(None, None, pairs).unwrap_err().to_string();
        assert!(why(&[("rocksdb_use_direct_reads", "ON")]).contains("does nothing with engine=innodb"));
        let running = (URL, "mysql://me@box");
        assert!(why(&[running, (INNODB_LOG, "2")]).contains("running server"));
        assert!(planned(None, Some(1 << 20), &[running, (ENGINE, ROCKSDB)]).is_ok());
    }

    #[test]
    fn the_last_password_for_clients_counts() {
        let text = "password=no\n[client]\npassword = one\n[mysqld]\npassword=no\n[client-server]\n# x\npassword=\"t=w o\"\n";
        assert_eq!(find_password(text).as_deref(), Some("t=w o"));
        assert_eq!(find_password("[client]\nuser=me\n"), None);
    }
}
