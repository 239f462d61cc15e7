//! The dialect of MariaDB: the things that it does in its own way.

use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::process::Signal;
use storebench_core::server::ServerKind;
use storebench_core::server::running::Address;
use storebench_core::store::sql::{BulkLoad, Rows, SqlType, SqlValue};
use storebench_core::store::{Guarantee, OpenOptions, Result, Session, Setting, StoreError, Upkeep};

use super::client::{Client, Login};
use super::password::password;
use super::{MAX_KEY_BYTES, PORT, config, load};
use crate::support::server::socket::Socket;
use crate::support::server::{
    Connection, Dialect, OpenSql, Paths, Plan, Programs, RecordSession, Records, RunningServer, Server, sql,
    wait_until,
};

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
    const PLAN: fn(&OpenOptions<'_>) -> Result<Plan> = config::plan;
    const READ_SETTINGS: fn(&mut Client) -> Result<Vec<Setting>> = config::read_all;
    const TIER: fn(&[Setting]) -> Guarantee = config::tier;
    const COUNT: fn(&mut Client) -> Result<u64> = sql::count;
    const SESSION: fn(Client) -> Result<Box<dyn Session>> = RecordSession::<Mysql>::open;
    const SQL: Option<OpenSql<Mysql>> = Some(sql::open::<Mysql>);

    fn programs() -> &'static Programs {
        &PROGRAMS
    }

    fn fixed_with_files(plan: &Plan) -> String {
        config::fixed_with_files(plan).join("").replace('=', "")
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
        arguments.extend(config::base_folder(plan));
        arguments.extend(config::fixed_with_files(plan));
        arguments.push(config::address_limit(plan));
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
        arguments.extend(config::arguments(plan));
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
        client.execute(&format!("USE {name}{}", config::session_statements(plan)))
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
        let is_rocksdb =
            settings.iter().any(|setting| setting.name == config::ENGINE && setting.value == config::ROCKSDB);
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
        if facts.is_rocksdb { config::read_family_options(client) } else { Ok(Vec::new()) }
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
        let is_rocksdb = plan.value(config::ENGINE) == Some(config::ROCKSDB);
        match (is_own, is_rocksdb, target.sorted) {
            // It may not take files.
            (false, _, _) => load::load_by_statements(client, target, rows),
            (true, false, _) => load::load_in_one_transaction(client, target, rows),
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

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(
            last_words("2026 0 [ERROR] no plugin\n2026 0 [ERROR] more\n").as_deref(),
            Some("no plugin")
        );
        assert_eq!(last_words("all is well\n0 [ERROR] Aborting\n"), None);
    }
}
