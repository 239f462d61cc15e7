//! PostgreSQL as a kind of server: its settings, which guarantee they give, and the things that it does in its own way.

use std::fs;
use std::io::ErrorKind;
use std::ops::RangeInclusive;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::process::Signal;
use storebench_model::server::running::{Address, Endpoint, URL};
use storebench_model::server::{Segment, ServerKind};
use storebench_model::store::sql::{BulkLoad, Rows, SqlType, SqlValue};
use storebench_model::store::{
    GivenSettings, Guarantee, MemoryShare, OpenOptions, Result, Session, Setting, SettingDef, StoreError,
    Upkeep,
};

use super::PORT;
use super::client::{Client, Login};
use crate::support::read_back;
use crate::support::server::password as password_file;
use crate::support::server::socket::Socket;
use crate::support::server::{
    Connection, Dialect, OpenSql, PROGRAMS_SETTING, Paths, Plan, Programs, RecordSession, Records,
    RunningServer, Server, sql, url_setting,
};

pub const SETTINGS: &[SettingDef] = &read_back(
    "pg_settings",
    2,
    [
        url_setting(
            "postgresql://user@host:port/database",
            "a running server to use instead; what a session can set for itself can be changed there (docs/servers.md)",
        ),
        PROGRAMS_SETTING,
        SettingDef::new("fsync", "on or off", "on, or the guarantee's", "whether anything is synced at all")
            .usually("on")
            .guarantee("off is process"),
        SettingDef::new(
            "synchronous_commit",
            "on, local or off",
            "on, or the guarantee's",
            "off: a commit returns before its log is written, up to 0.6 s later",
        )
        .usually("on")
        .guarantee("off is none: a kill costs the newest commits"),
        SettingDef::new(
            "full_page_writes",
            "on or off",
            "on, or the guarantee's",
            "whether the log holds a whole page when it first changes after a checkpoint",
        )
        .usually("on")
        .guarantee("off is process: a power cut can tear a page")
        .costing("a page that a power cut has torn can't be repaired"),
        SettingDef::new(
            "wal_sync_method",
            "fdatasync, fsync, open_datasync, open_sync or fsync_writethrough",
            "fdatasync on Linux",
            "how the log is synced",
        )
        .varying()
        .guarantee("on macOS, power takes fsync_writethrough"),
        SettingDef::new(
            "shared_buffers",
            "a size from 128 KiB, in steps of 8 KiB",
            "128 MiB, or less if initdb finds less memory",
            "the cache of pages, of all sessions",
        )
        .varying()
        .bytes()
        .share(
            MemoryShare::one_in(
                4,
                "25 %; more than 40 % is unlikely to do better",
                "https://www.postgresql.org/docs/current/runtime-config-resource.html",
            )
            .rounded_to(PAGE),
        )
        .tune(&["16777216", "536870912"]),
        SettingDef::new(
            "wal_buffers",
            "a size from 64 KiB to 1 GiB, in steps of 8 KiB",
            "1/32 of shared_buffers, at most 16 MiB",
            "the log that is not written yet",
        )
        .varying()
        .bytes(),
        SettingDef::new(
            "max_wal_size",
            "a size from 2 MiB, in steps of 1 MiB",
            "1 GiB",
            "how long the log grows until a checkpoint begins",
        )
        .varying()
        .bytes()
        .tune(&["67108864", "4294967296"]),
        SettingDef::new(
            "min_wal_size",
            "a size from 2 MiB, in steps of 1 MiB",
            "80 MiB",
            "how much of the log is kept to be written over",
        )
        .varying()
        .bytes(),
        SettingDef::new(
            "wal_segment_size",
            "a size, a power of two from 1 MiB to 1 GiB",
            "16 MiB",
            "the files of the log; fixed when the server's files are made",
        )
        .varying()
        .bytes(),
        SettingDef::new(
            "wal_compression",
            "off, pglz, lz4 or zstd",
            "off",
            "whether whole pages in the log are compressed; from version 15",
        )
        .tune(&["lz4"]),
        SettingDef::new(
            "checkpoint_timeout",
            "seconds, from 30 to 86400",
            "300",
            "how long a checkpoint waits at most",
        ),
        SettingDef::new(
            "commit_delay",
            "microseconds, from 0 to 100000",
            "0",
            "how long a commit waits for others to sync with",
        ),
        SettingDef::new(
            ISOLATION,
            "read uncommitted, read committed, repeatable read or serializable",
            "read committed",
            "what a transaction sees of concurrent ones",
        )
        .varying(),
        SettingDef::new(
            "autovacuum",
            "on or off",
            "on",
            "whether removed rows are cleared up in the background",
        ),
    ],
);

const SESSION_SETTINGS: [&str; 3] = [URL, "synchronous_commit", ISOLATION];
const ISOLATION: &str = "default_transaction_isolation";

/// The smallest cache, and its step, in bytes.
const LEAST_CACHE: u64 = 128 << 10;
const PAGE: u64 = 8192;
const SEGMENT: u64 = 16 << 20;
const SEGMENT_SIZE: &str = "wal_segment_size";

/// The tier's settings, then the cache, then the user's.
fn plan(options: &OpenOptions<'_>) -> Result<Plan> {
    let given = GivenSettings::new(options, SETTINGS)?;
    let session_settings = given.text(URL).map(|_| &SESSION_SETTINGS[..]);
    Plan::new((options, &given), SETTINGS, session_settings, user_value, preset)
}

fn session_statements(plan: &Plan) -> String {
    let set = |name: &&str| plan.value(name).map(|value| format!("SET {name} TO '{value}';"));
    SESSION_SETTINGS.iter().filter(|name| **name != URL).filter_map(set).collect()
}

fn segment_bytes(plan: &Plan) -> u64 {
    plan.parsed(SEGMENT_SIZE).unwrap_or(SEGMENT)
}

/// The server's arguments, as `name=value`, without settings that are fixed with its files.
fn arguments(plan: &Plan) -> Vec<String> {
    let settings = plan.values.iter().filter(|(name, _)| *name != SEGMENT_SIZE);
    let unit =
        |name: &str| if SETTINGS.iter().any(|def| def.name == name && def.is_in_bytes()) { "B" } else { "" };
    settings.map(|(name, value)| format!("{name}={value}{}", unit(name))).collect()
}

fn user_value(given: &GivenSettings<'_>, name: &'static str) -> Result<Option<String>> {
    let word = |words: &[&'static str]| Ok(given.word(name, words)?.map(str::to_owned));
    let number = |range: RangeInclusive<u64>| Ok(given.number(name, range)?.map(|number| number.to_string()));
    match name {
        "fsync" | "full_page_writes" | "autovacuum" => word(&["on", "off"]),
        ISOLATION => word(&["read uncommitted", "read committed", "repeatable read", "serializable"]),
        "synchronous_commit" => word(&["on", "local", "off"]),
        "wal_sync_method" => {
            word(&["fdatasync", "fsync", "open_datasync", "open_sync", "fsync_writethrough"])
        }
        "wal_compression" => word(&["off", "pglz", "lz4", "zstd"]),
        "shared_buffers" => number(LEAST_CACHE..=1 << 42),
        "wal_buffers" => number(64 << 10..=1 << 30),
        "max_wal_size" | "min_wal_size" => number(2 << 20..=1 << 50),
        "checkpoint_timeout" => number(30..=86_400),
        "commit_delay" => number(0..=100_000),
        "wal_segment_size" => match given.number(name, 1 << 20..=1 << 30)? {
            Some(bytes) if !bytes.is_power_of_two() => Err(given.refuse(name, "a power of two")),
            bytes => Ok(bytes.map(|bytes| bytes.to_string())),
        },
        _ => Ok(None),
    }
}

fn preset(name: &str, options: &OpenOptions<'_>) -> Option<String> {
    let on_or_off = |is_on: bool| if is_on { "on" } else { "off" }.to_owned();
    match (name, options.guarantee) {
        ("fsync" | "full_page_writes", Some(tier)) => Some(on_or_off(tier == Guarantee::Power)),
        ("synchronous_commit", Some(tier)) => Some(on_or_off(tier != Guarantee::None)),
        // On macOS the others leave the data in the drive's own cache.
        ("wal_sync_method", Some(Guarantee::Power)) if cfg!(target_os = "macos") => {
            Some("fsync_writethrough".into())
        }
        (ISOLATION, _) => options.transactions.then(|| "read committed".into()),
        // The server's cache serves all sessions.
        ("shared_buffers", _) => {
            options.cache_bytes.map(|bytes| (bytes.max(LEAST_CACHE) / PAGE * PAGE).to_string())
        }
        _ => None,
    }
}

/// The settings in the order of [`SETTINGS`], sizes in bytes.
fn read_all(client: &mut Client) -> Result<Vec<Setting>> {
    let query = client.prepare("SELECT name, setting, unit FROM pg_settings")?;
    let mut found = Vec::new();
    client.query(&query, &[], &mut |row| {
        if let [SqlValue::Text(name), SqlValue::Text(value), unit] = row {
            let unit = if let SqlValue::Text(unit) = unit { unit } else { "" };
            found.push(((*name).to_owned(), convert_to_bytes(value, unit)));
        }
    })?;
    client.forget(query)?;
    let read_setting = |def: &SettingDef| {
        let value = found.iter().find(|(name, _)| name == def.name).map(|(_, value)| value.clone());
        value.map(|value| Setting::read_back(def.name, value))
    };
    Ok(SETTINGS.iter().filter_map(read_setting).collect())
}

/// A number in a unit of memory, in bytes; anything else unchanged.
fn convert_to_bytes(value: &str, unit: &str) -> String {
    let digits = unit.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(unit.len());
    let (factor, unit) = unit.split_at(digits);
    let bytes = match unit {
        "B" => 1,
        "kB" => 1024,
        "MB" => 1 << 20,
        _ => return value.to_owned(),
    };
    let factor: u64 = factor.parse().unwrap_or(1);
    value.parse::<u64>().map_or_else(|_| value.to_owned(), |number| (number * factor * bytes).to_string())
}

fn tier(settings: &[Setting]) -> Guarantee {
    let has_value = |name: &str, value: &str| {
        settings.iter().any(|setting| setting.name == name && setting.value == value)
    };
    let reaches_the_disk = !cfg!(target_os = "macos") || has_value("wal_sync_method", "fsync_writethrough");
    if has_value("synchronous_commit", "off") {
        // The log that is not written yet is in the server's memory.
        return Guarantee::None;
    }
    match has_value("fsync", "on") && has_value("full_page_writes", "on") && reaches_the_disk {
        true => Guarantee::Power,
        false => Guarantee::Process,
    }
}

const USER: &str = "storebench";
const DATABASE: &str = "postgres";
/// The file with a server's process number, and whether it is ready.
const PID_FILE: &str = "postmaster.pid";
const TABLE: &str = "CREATE TABLE IF NOT EXISTS records (key bytea PRIMARY KEY, value bytea NOT NULL)";

static PROGRAMS: Programs = Programs {
    product: "PostgreSQL",
    server: "postgres",
    maker: Some("initdb"),
    folders: &[],
    // Debian's, Red Hat's, Homebrew's.
    by_version: &[
        ("/usr/lib/postgresql", ""),
        ("/usr", "pgsql-"),
        ("/opt/homebrew/opt", "postgresql@"),
        ("/usr/local/opt", "postgresql@"),
        ("/home/linuxbrew/.linuxbrew/opt", "postgresql@"),
    ],
    version: &["--version"],
    version_after: "(PostgreSQL) ",
    oldest: "12",
    get: "apt-get install postgresql, or brew install postgresql",
    user: "postgres",
    stop: Signal::INT,
    ends_by_signal: false,
    last_words,
    found: OnceLock::new(),
};

pub enum Postgresql {}

impl Server for Postgresql {
    type Client = Client;
    /// The query that asks for the number of syncs of the log.
    type Facts = Option<&'static str>;

    const STORE: &'static str = "postgres";
    const KNOWN: ServerKind = ServerKind { programs: &["postgres"], users: &["postgres"], shared_memory };
    const SCHEMES: &'static [&'static str] = &["postgresql", "postgres"];
    const START_S: f64 = 0.5;
    const SIGN: &'static str = "PG_VERSION";
    const HOLDER: &'static str = "schema";
    const SYNCS: &'static str = "wal_syncs";
    const PLAN: fn(&OpenOptions<'_>) -> Result<Plan> = plan;
    const READ_SETTINGS: fn(&mut Client) -> Result<Vec<Setting>> = read_all;
    const TIER: fn(&[Setting]) -> Guarantee = tier;
    const COUNT: fn(&mut Client) -> Result<u64> = sql::count;
    const SESSION: fn(Client) -> Result<Box<dyn Session>> = RecordSession::<Postgresql>::open;
    const SQL: Option<OpenSql<Postgresql>> = Some(sql::open::<Postgresql>);

    fn programs() -> &'static Programs {
        &PROGRAMS
    }

    fn fixed_with_files(plan: &Plan) -> String {
        format!("-{}", segment_bytes(plan))
    }

    fn init_arguments(plan: &Plan, data: &Path) -> Vec<String> {
        let data = data.display().to_string();
        let segment = format!("--wal-segsize={}", segment_bytes(plan) >> 20);
        let options = ["-D", &data, "-U", USER, "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"];
        // Where the server that it starts is killed, it would delete the note of what that has left.
        let options = options.into_iter().chain(["--no-clean", &segment]);
        options.map(str::to_owned).collect()
    }

    fn maker_error(output: &str) -> Option<String> {
        let is_error = |line: &&str| line.contains("error:") || line.contains("FATAL");
        output.lines().rev().find(is_error).map(str::to_owned)
    }

    fn arguments(plan: &Plan, paths: &Paths, sessions: usize) -> Vec<String> {
        let mut settings = arguments(plan);
        // As shipped it takes 100, of which some are kept back.
        if sessions > 90 {
            settings.push(format!("max_connections={}", sessions + 20));
        }
        settings.extend([
            "listen_addresses=".to_owned(),
            format!("unix_socket_directories={}", paths.socket.display()),
            "unix_socket_permissions=0700".to_owned(),
            // Other kinds would leave something outside the folder after a kill.
            "dynamic_shared_memory_type=mmap".to_owned(),
        ]);
        let settings = settings.into_iter().flat_map(|setting| ["-c".to_owned(), setting]);
        ["-D".to_owned(), paths.data.display().to_string()].into_iter().chain(settings).collect()
    }

    /// Removes the PID file: PostgreSQL takes a killed process that nobody has reaped for one at work.
    fn clear(data: &Path) -> Result<()> {
        let pid_file = data.join(PID_FILE);
        match fs::remove_file(&pid_file) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(StoreError::io(format!("deleting {}", pid_file.display()))(error))
            }
            _ => Ok(()),
        }
    }

    /// The PID file's eighth line.
    fn is_ready(pid: u32, data: &Path, _socket: &Path) -> bool {
        let text = fs::read_to_string(data.join(PID_FILE)).unwrap_or_default();
        let mut lines = text.lines().map(str::trim);
        lines.next() == Some(pid.to_string().as_str()) && lines.nth(6) == Some("ready")
    }

    fn connect_own(socket: &Path) -> Result<Client> {
        let socket = Socket::connect_own(socket, &format!(".s.PGSQL.{PORT}"));
        let socket = socket.map_err(StoreError::io("connecting to postgres"))?;
        Client::begin(socket, &Login { user: USER, database: DATABASE, password: &|| Ok(None) })
    }

    fn connect(address: &Address) -> Result<Client> {
        let port = address.port.unwrap_or(PORT);
        let socket = match &address.at {
            Endpoint::Host(name) => Socket::tcp(name, port),
            Endpoint::Socket(folder) => Socket::unix(&folder.join(format!(".s.PGSQL.{port}"))),
        };
        let socket =
            socket.map_err(StoreError::io(format!("connecting to postgres at {}", address.at.name())))?;
        let database = address.database.as_deref().unwrap_or(&address.user);
        let password = || password(address, database);
        Client::begin(socket, &Login { user: &address.user, database, password: &password })
    }

    fn create(client: &mut Client, name: &str) -> Result<()> {
        client.execute(&format!("CREATE SCHEMA {name}"))
    }

    fn enter(client: &mut Client, name: &str, plan: &Plan) -> Result<()> {
        client.execute(&format!("SET search_path TO {name};{}", session_statements(plan)))
    }

    fn drop_command(name: &str) -> String {
        format!("DROP SCHEMA {name} CASCADE")
    }

    fn drop_if_there(client: &mut Client, name: &str) -> Result<()> {
        client.execute(&format!("SET lock_timeout TO '60s'; DROP SCHEMA IF EXISTS {name} CASCADE"))
    }

    /// Compression is a property of the column.
    fn make_table(client: &mut Client, compression: bool) -> Result<()> {
        client.execute(TABLE)?;
        let expected = if compression { "extended" } else { "external" };
        if storage(client)? != expected {
            client.execute(&format!("ALTER TABLE records ALTER COLUMN value SET STORAGE {expected}"))?;
        }
        Ok(())
    }

    fn examine(client: &mut Client, _settings: &[Setting], is_own: bool) -> Result<Option<&'static str>> {
        // With these sync methods writing is syncing.
        if !is_own || sql::text(client, "SELECT current_setting('wal_sync_method')")?.starts_with("open_") {
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

    fn count_syncs(client: &mut Client, sync_query: &Option<&'static str>) -> Result<Option<u64>> {
        let Some(query) = sync_query else { return Ok(None) };
        // Counts of this session become visible with its next statement.
        client.execute("SELECT pg_stat_force_next_flush()")?;
        sql::number(client, query)
    }

    /// The newest finished checkpoint.
    fn upkeep(client: &mut Client) -> Result<Vec<Upkeep>> {
        let query = "SELECT (checkpoint_lsn - '0/0'::pg_lsn)::bigint FROM pg_control_checkpoint()";
        let position = sql::number(client, query)?;
        Ok(position.map(|position| Upkeep::done("checkpoint", position)).into_iter().collect())
    }

    /// Does the work of autovacuum and the next checkpoint.
    fn settle(
        client: &mut Client,
        _sync_query: &Option<&'static str>,
        running: Option<&RunningServer>,
    ) -> Result<()> {
        let Some(running) = running else {
            client.execute("VACUUM")?;
            return client.execute("CHECKPOINT");
        };
        for table in sql::texts(client, &schema_query("relname::text", &running.holder))? {
            client.execute(&format!("VACUUM {}.\"{}\"", running.holder, table.replace('"', "\"\"")))?;
        }
        Ok(())
    }

    fn compact(client: &mut Client) -> Result<Option<&'static str>> {
        client.execute("VACUUM FULL records")?;
        Ok(Some("VACUUM FULL"))
    }

    fn hold_reader(client: &mut Client) -> Result<bool> {
        client.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")?;
        // It keeps what is there at its first statement.
        sql::number(client, "SELECT 1")?;
        Ok(true)
    }

    fn verify(client: &mut Client) -> Result<bool> {
        const OFFERED: &str = "SELECT count(*) FROM pg_available_extensions WHERE name = 'amcheck'";
        if sql::number(client, OFFERED)? != Some(1) {
            return Ok(false);
        }
        client.execute("CREATE EXTENSION IF NOT EXISTS amcheck")?;
        client.execute("SELECT bt_index_check('records_pkey', true)")?;
        // It checks the long values kept apart from their rows, too.
        let faults = sql::texts(client, "SELECT msg FROM verify_heapam('records', check_toast => true)")?;
        match faults.first() {
            None => Ok(true),
            Some(fault) => Err(StoreError::Engine(format!("amcheck: {fault}"))),
        }
    }

    fn settings_of_table(client: &mut Client, _sync_query: &Option<&'static str>) -> Result<Vec<Setting>> {
        Ok(vec![Setting::read_back("toast_storage", storage(client)?)])
    }

    fn size(client: &mut Client, running: Option<&RunningServer>) -> Result<(&'static str, Option<u64>)> {
        let Some(running) = running else {
            let size = sql::number(client, "SELECT pg_database_size(current_database())")?;
            return Ok(("database_size", size));
        };
        let sum = "coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint";
        Ok(("schema_size", sql::number(client, &schema_query(sum, &running.holder))?))
    }

    fn version(client: &mut Client) -> Result<String> {
        sql::text(client, "SELECT current_setting('server_version')")
    }

    fn has_checks(client: &mut Client) -> Result<Option<bool>> {
        Ok(Some(sql::text(client, "SELECT current_setting('debug_assertions')")? == "on"))
    }
}

impl Dialect for Postgresql {
    const MAX_KEY_BYTES: usize = super::MAX_KEY_BYTES;
    const RECORDS: Records = Records {
        insert: "INSERT INTO records (key, value) VALUES ($1, $2)",
        update: "UPDATE records SET value = $1 WHERE key = $2",
        get: "SELECT value FROM records WHERE key = $1",
        remove: "DELETE FROM records WHERE key = $1",
        scan: "SELECT key, value FROM records WHERE key >= $1 ORDER BY key LIMIT $2",
    };

    fn type_name(sql_type: SqlType) -> &'static str {
        match sql_type {
            SqlType::Integer => "BIGINT",
            SqlType::Real => "DOUBLE PRECISION",
            SqlType::Text => "TEXT",
            SqlType::Blob => "BYTEA",
        }
    }

    fn load(
        client: &mut Client,
        _server: (&Plan, &Option<&'static str>, bool),
        target: &BulkLoad<'_>,
        rows: &mut Rows<'_>,
    ) -> Result<u64> {
        let BulkLoad { table, columns, .. } = *target;
        let columns = columns.join(", ");
        let types = client.prepare(&format!("SELECT {columns} FROM {table}"))?;
        let copy = format!("COPY {table} ({columns}) FROM STDIN (FORMAT binary)");
        let copied = client.copy_in(&copy, &types.columns, rows);
        let forgotten = client.forget(types);
        copied.and_then(|count| forgotten.map(|()| count))
    }
}

/// How values too long for a page are stored.
fn storage(client: &mut Client) -> Result<String> {
    sql::text(
        client,
        "SELECT CASE attstorage WHEN 'x' THEN 'extended' WHEN 'e' THEN 'external' ELSE 'other' END FROM pg_attribute \
         WHERE attrelid = 'records'::regclass AND attname = 'value'",
    )
}

fn schema_query(expression: &str, schema: &str) -> String {
    format!(
        "SELECT {expression} FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = '{schema}' AND c.relkind = 'r'"
    )
}

/// The shared memory by which a server knows another at work, noted in its PID file; before, only the key is known: the inode.
fn shared_memory(data: &Path) -> Option<Segment> {
    let recorded = fs::read_to_string(data.join(PID_FILE)).ok().and_then(|text| segment_in(&text));
    let inode = || fs::metadata(data).ok().filter(|data| data.is_dir()).map(|data| data.ino());
    // The server itself takes the lower half.
    recorded.or_else(|| Some(Segment { key: (inode()? as u32).cast_signed(), number: None }))
}

pub fn segment_in(text: &str) -> Option<Segment> {
    let mut words = text.lines().nth(6)?.split_whitespace();
    let key: u32 = words.next()?.parse().ok()?;
    Some(Segment { key: key.cast_signed(), number: Some(words.next()?.parse().ok()?) })
}

fn last_words(log: &str) -> Option<String> {
    let marks = ["FATAL:  ", "PANIC:  ", "postgres: "];
    let find_message = |line: &str| marks.iter().find_map(|mark| Some(line.split_once(mark)?.1.to_owned()));
    log.lines().rev().find_map(find_message)
}

/// PGPASSWORD, else the first fitting line of PGPASSFILE or ~/.pgpass, if any. Fails when others can read the file.
fn password(address: &Address, database: &str) -> Result<Option<String>> {
    if let Ok(password) = std::env::var("PGPASSWORD") {
        return Ok(Some(password));
    }
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".pgpass"));
    let Some(path) = std::env::var_os("PGPASSFILE").map(PathBuf::from).or_else(home) else { return Ok(None) };
    let Some(text) = password_file::read(&path, |_| true)? else { return Ok(None) };
    let port = address.port.unwrap_or(PORT).to_string();
    Ok(find_password(&text, [&address.at.name(), &port, database, &address.user]))
}

/// The password of the first line whose host, port, database and user are these, or `*`.
fn find_password(text: &str, wanted: [&str; 4]) -> Option<String> {
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let mut fields = password_fields(line);
        let password = (fields.len() == 5).then(|| fields.pop()).flatten()?;
        let is_match = fields.iter().zip(wanted).all(|(field, wanted)| field == "*" || field == wanted);
        is_match.then_some(password)
    })
}

/// The fields between colons; a backslash escapes the next letter.
fn password_fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        let last = fields.len() - 1;
        match letter {
            ':' => fields.push(String::new()),
            '\\' => fields[last].extend(letters.next()),
            letter => fields[last].push(letter),
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use storebench_model::store::Loss;

    use super::*;
    use crate::postgres::POSTGRES;
    use crate::support::testing::loss_at_power_cut;

    #[test]
    fn the_version_is_read() {
        let output = "postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)\n";
        assert_eq!(PROGRAMS.version_in(output).as_deref(), Some("15.18"));
        assert_eq!(PROGRAMS.version_in("postgres (PostgreSQL) 18beta1\n").as_deref(), Some("18beta1"));
        assert_eq!(PROGRAMS.version_in("postgres, of another kind"), None);
    }

    #[test]
    fn key_and_number_of_its_shared_memory_stand_in_the_seventh_line() {
        let text = "5275\n/data\n1795386360\n5432\n/run\n\n  5309225         4\nready   \n";
        assert_eq!(segment_in(text), Some(Segment { key: 5_309_225, number: Some(4) }));
        assert_eq!(segment_in("5275\n/data\n"), None);
        assert_eq!(segment_in(&text.replace("5309225", "many")), None);
    }

    #[test]
    fn the_tier_follows_from_what_is_synced_and_when() {
        let tier_and_loss = |fsync: &str, commit: &str, pages: &str| {
            let settings = [
                Setting::read_back("fsync", fsync),
                Setting::read_back("synchronous_commit", commit),
                Setting::read_back("full_page_writes", pages),
                Setting::read_back("wal_sync_method", "fsync_writethrough"),
            ];
            let tier = tier(&settings);
            (tier, loss_at_power_cut(&POSTGRES, tier, &settings))
        };
        assert_eq!(tier_and_loss("on", "on", "on"), (Guarantee::Power, Loss::Nothing));
        assert_eq!(tier_and_loss("on", "local", "on"), (Guarantee::Power, Loss::Nothing));
        assert_eq!(tier_and_loss("on", "on", "off"), (Guarantee::Process, Loss::Whole));
        assert_eq!(tier_and_loss("off", "on", "on"), (Guarantee::Process, Loss::Whole));
        assert_eq!(tier_and_loss("on", "off", "on"), (Guarantee::None, Loss::Newest));
        assert_eq!(tier_and_loss("on", "off", "off"), (Guarantee::None, Loss::Whole));
        assert_eq!(tier_and_loss("off", "off", "on"), (Guarantee::None, Loss::Whole));
    }

    #[test]
    fn sizes_are_read_in_bytes() {
        assert_eq!(convert_to_bytes("16384", "8kB"), "134217728");
        assert_eq!(convert_to_bytes("1024", "MB"), "1073741824");
        assert_eq!(convert_to_bytes("16777216", "B"), "16777216");
        for (value, unit) in [("300", "s"), ("on", ""), ("-1", "8kB")] {
            assert_eq!(convert_to_bytes(value, unit), value);
        }
    }

    #[test]
    fn tiers_cache_and_user_make_the_arguments() {
        let settings =
            [("wal_segment_size", "1048576"), ("synchronous_commit", "local"), ("commit_delay", "5")];
        let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let options = OpenOptions {
            guarantee: Some(Guarantee::Process),
            cache_bytes: Some(1_000_000),
            settings: &settings,
            ..OpenOptions::new(std::path::Path::new("/nowhere"))
        };
        let tiered = plan(&options).unwrap();
        assert_eq!(segment_bytes(&tiered), 1 << 20);
        let expected = [
            "fsync=off",
            "synchronous_commit=local",
            "full_page_writes=off",
            "shared_buffers=999424B",
            "commit_delay=5",
        ];
        assert_eq!(arguments(&tiered), expected);
        let plain =
            OpenOptions { guarantee: None, cache_bytes: None, settings: &Default::default(), ..options };
        let plain = plan(&plain).unwrap();
        assert_eq!((arguments(&plain), segment_bytes(&plain)), (Vec::new(), SEGMENT));
    }

    #[test]
    fn the_first_line_that_fits_counts() {
        let text = "# a:1:b:c:no\nbox:5432:shop:me:one\n*:*:*:me:t\\:w\\\\o\nbox:5432:shop\n";
        assert_eq!(find_password(text, ["box", "5432", "shop", "me"]).as_deref(), Some("one"));
        assert_eq!(find_password(text, ["/run", "1", "x", "me"]).as_deref(), Some("t:w\\o"));
        assert_eq!(find_password(text, ["box", "5432", "shop", "you"]), None);
    }
}
