//! Redis as a kind of server: its settings, which guarantee they give, and the things that it does in its own way.

use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::process::Signal;
use storebench_model::server::running::{Address, URL};
use storebench_model::server::{DATA, ServerKind, identifies_server};
use storebench_model::store::{
    GivenSettings, Guarantee, OpenOptions, Result, Session, Setting, SettingDef, StoreError, Upkeep,
    expect_taken,
};

use super::client::{Answer, Client, PORT};
use crate::support::server::socket::Socket;
use crate::support::server::{
    PROGRAMS_SETTING, Paths, Plan, Programs, RunningServer, Server, unreadable, url_setting, wait_until,
};
use crate::support::{read_back, sync_path};

/// The folder of the log in the data.
const LOG: &str = "appendonlydir";
const SNAPSHOT: &str = "dump.rdb";
const APPENDONLY: &str = "appendonly";
const APPENDFSYNC: &str = "appendfsync";
const SAVE: &str = "save";
const UNSYNCED_REWRITE: &str = "no-appendfsync-on-rewrite";
const REWRITE_SIZE: &str = "auto-aof-rewrite-min-size";
const REWRITE_GROWTH: &str = "auto-aof-rewrite-percentage";
const COMPRESSION: &str = "rdbcompression";
const THREADS: &str = "io-threads";
/// The word for no snapshots; the server uses an empty text.
const OFF: &str = "off";

pub const SETTINGS: &[SettingDef] = &read_back("CONFIG GET", 2, [
    url_setting(
        "redis://host:port/database or redis+unix:///path",
        "a running server to use instead; no other setting can be changed there (docs/servers.md)",
    ),
    PROGRAMS_SETTING,
    SettingDef::new(
        APPENDONLY,
        "yes or no",
        "no, or the guarantee's",
        "whether every write is appended to a log, the append-only file",
    ).usually("no")
    .guarantee("no is none: a kill costs all since the last snapshot"),
    SettingDef::new(
        APPENDFSYNC,
        "always, everysec or no",
        "everysec, or the guarantee's",
        "when the log is synced: before each answer, once a second, or when the system likes",
    ).usually("everysec")
    .guarantee("no is process; everysec is none: while a sync lasts, up to 2 s, writes are acknowledged and not written")
    .tune(&["everysec"]),
    SettingDef::new(
        UNSYNCED_REWRITE,
        "yes or no",
        "no",
        "whether nothing is synced while the log is rewritten or a snapshot made",
    )
    .guarantee("with appendfsync=always, yes is process"),
    SettingDef::new(
        SAVE,
        "seconds and changes, in pairs, or off",
        "3600 1 300 100 60 10000",
        "a snapshot of all records is made after these seconds if there were as many changes; one more when the server ends",
    ).varying(),
    SettingDef::new(
        REWRITE_GROWTH,
        "a whole number of percent, 0 for never",
        "100",
        "how much the log has grown when it is rewritten to what is needed",
    ),
    SettingDef::new(
        REWRITE_SIZE,
        "a size",
        "64 MiB",
        "a shorter log is not rewritten",
    ).varying()
    .bytes(),
    SettingDef::new(
        COMPRESSION,
        "yes or no",
        "no",
        "whether long values are compressed in snapshots, and when the log is rewritten",
    ),
    SettingDef::new(
        THREADS,
        "a whole number from 1 to 128",
        "1",
        "threads that write answers; commands are carried out by one",
    ),
]);

/// The tier's settings, then the user's. There is no cache: all is in memory.
fn plan(options: &OpenOptions<'_>) -> Result<Plan> {
    let given = GivenSettings::new(options, SETTINGS)?;
    let session_settings = given.text(URL).map(|_| &[URL][..]);
    let plan = Plan::new((options, &given), SETTINGS, session_settings, user_value, preset)?;
    if plan.value(SAVE) == Some(OFF) && plan.value(APPENDONLY) != Some("yes") {
        return Err(
            given.refuse(SAVE, "of use without appendonly=yes: no record would be there after a restart")
        );
    }
    let data = options.directory.join(DATA);
    let (has_log, has_snapshot) = (data.join(LOG).exists(), data.join(SNAPSHOT).exists());
    if has_log || has_snapshot {
        // It reads the log if it is to have one, else the snapshot, and ignores the other.
        let yes_or_no = |is_on: bool| if is_on { "yes" } else { "no" };
        expect_taken(APPENDONLY, &yes_or_no(plan.value(APPENDONLY) == Some("yes")), &yes_or_no(has_log))?;
    }
    Ok(plan)
}

fn user_value(given: &GivenSettings<'_>, name: &'static str) -> Result<Option<String>> {
    let word = |words: &[&'static str]| Ok(given.word(name, words)?.map(str::to_owned));
    let number = |range| Ok(given.number(name, range)?.map(|number| number.to_string()));
    match name {
        APPENDONLY | UNSYNCED_REWRITE | COMPRESSION => word(&["yes", "no"]),
        APPENDFSYNC => word(&["always", "everysec", "no"]),
        REWRITE_GROWTH => number(0..=1 << 30),
        REWRITE_SIZE => number(0..=1 << 50),
        THREADS => number(1..=128),
        SAVE => match given.text(name) {
            Some(text) if text != OFF && !is_pairs(text) => {
                Err(given.refuse(name, "off, or numbers of seconds and changes, in pairs"))
            }
            text => Ok(text.map(str::to_owned)),
        },
        _ => Ok(None),
    }
}

fn is_pairs(text: &str) -> bool {
    let words: Vec<&str> = text.split(' ').collect();
    words.len().is_multiple_of(2)
        && words.iter().all(|word| word.parse::<u32>().is_ok_and(|number| number > 0))
}

fn preset(name: &str, options: &OpenOptions<'_>) -> Option<String> {
    let value = match (name, options.guarantee) {
        (APPENDONLY, Some(Guarantee::None)) => "no",
        (APPENDONLY, Some(_)) => "yes",
        (APPENDFSYNC, Some(Guarantee::Process)) => "no",
        (APPENDFSYNC, Some(Guarantee::Power)) => "always",
        // The log has no compression, so neither have the snapshots.
        (COMPRESSION, _) => "no",
        _ => return None,
    };
    Some(value.into())
}

fn argument_value(name: &str, value: &str) -> String {
    if name == SAVE && value == OFF { String::new() } else { value.to_owned() }
}

fn read_all(client: &mut Client) -> Result<Vec<Setting>> {
    let names = SETTINGS.iter().map(|def| def.name).filter(|name| !identifies_server(name));
    let words: Vec<&[u8]> = ["CONFIG", "GET"].into_iter().chain(names.clone()).map(str::as_bytes).collect();
    let answer = client.run(&words).map_err(|error| match error {
        StoreError::Engine(message) => StoreError::Engine(format!("its settings can't be read: {message}")),
        other => other,
    })?;
    let Answer::Many(values) = answer else { return Err(unreadable()) };
    let texts = values.into_iter().map(|answer| match answer {
        Answer::Bytes(range) => Ok(String::from_utf8_lossy(client.bytes(range)).into_owned()),
        _ => Err(unreadable()),
    });
    let texts = texts.collect::<Result<Vec<String>>>()?;
    let value = |name: &str| {
        let pair = texts.chunks_exact(2).find(|pair| pair[0] == name)?;
        Some(if pair[1].is_empty() { OFF.to_owned() } else { pair[1].clone() })
    };
    Ok(names.filter_map(|name| Some(Setting::read_back(name, value(name)?))).collect())
}

fn has_value(settings: &[Setting], name: &str, value: &str) -> bool {
    settings.iter().any(|setting| setting.name == name && setting.value == value)
}

fn tier(settings: &[Setting]) -> Guarantee {
    if !has_value(settings, APPENDONLY, "yes") {
        return Guarantee::None;
    }
    match (has_value(settings, APPENDFSYNC, "always"), has_value(settings, APPENDFSYNC, "no")) {
        (true, _) if has_value(settings, UNSYNCED_REWRITE, "no") => Guarantee::Power,
        // A log that is not synced once a second is written before each answer.
        (true, _) | (_, true) => Guarantee::Process,
        _ => Guarantee::None,
    }
}

const SOCKET: &str = "socket";
const USER: &str = "default";

static PROGRAMS: Programs = Programs {
    product: "Redis",
    server: "redis-server",
    maker: None,
    // Servers are not in everybody's PATH.
    folders: &["/usr/sbin", "/usr/local/bin", "/opt/homebrew/bin"],
    by_version: &[],
    version: &["--version"],
    version_after: "Redis server v=",
    // Before, its log is one file.
    oldest: "7.0",
    get: "apt-get install redis-server, or brew install redis",
    user: "redis",
    stop: Signal::TERM,
    ends_by_signal: false,
    last_words,
    found: OnceLock::new(),
};

pub enum RedisServer {}

impl Server for RedisServer {
    type Client = Client;
    /// Whether it makes snapshots.
    type Facts = bool;

    const STORE: &'static str = "redis";
    // Debian's server is a link to the other.
    const KNOWN: ServerKind = ServerKind {
        programs: &["redis-server", "redis-check-rdb"],
        users: &["redis"],
        shared_memory: |_| None,
    };
    const SCHEMES: &'static [&'static str] = &["redis", "redis+unix"];
    const USER: Option<&'static str> = Some(USER);
    const START_S: f64 = 0.1;
    /// The server makes its files itself, so the folder is the sign.
    const SIGN: &'static str = ".";
    const HOLDER: &'static str = "keys that begin with";
    const SYNCS: &'static str = "syncs";
    const PLAN: fn(&OpenOptions<'_>) -> Result<Plan> = plan;
    const READ_SETTINGS: fn(&mut Client) -> Result<Vec<Setting>> = read_all;
    const TIER: fn(&[Setting]) -> Guarantee = tier;
    const COUNT: fn(&mut Client) -> Result<u64> = Client::count;
    const SESSION: fn(Client) -> Result<Box<dyn Session>> = |client| Ok(Box::new(client));

    fn programs() -> &'static Programs {
        &PROGRAMS
    }

    fn arguments(plan: &Plan, paths: &Paths, sessions: usize) -> Vec<String> {
        let options = [
            ("port", "0".to_owned()),
            ("unixsocket", paths.socket.join(SOCKET).display().to_string()),
            ("unixsocketperm", "700".to_owned()),
            ("dir", paths.data.display().to_string()),
            ("daemonize", "no".to_owned()),
        ];
        // As shipped it takes 10,000.
        let max_clients = (sessions > 9_900).then(|| ("maxclients", (sessions + 100).to_string()));
        let planned = plan.values.iter().map(|(name, value)| (*name, argument_value(name, value)));
        let arguments = options.into_iter().chain(max_clients).chain(planned);
        arguments.flat_map(|(name, value)| [format!("--{name}"), value]).collect()
    }

    /// While it reads its files it answers with an error.
    fn is_ready(_pid: u32, _data: &Path, socket: &Path) -> bool {
        Self::connect_own(socket).is_ok_and(|mut client| client.run(&[b"PING"]).is_ok())
    }

    fn connect_own(socket: &Path) -> Result<Client> {
        let socket =
            Socket::connect_own(socket, SOCKET).map_err(StoreError::io("connecting to redis-server"))?;
        Ok(Client::from_socket(socket))
    }

    fn connect(address: &Address) -> Result<Client> {
        let socket = Socket::connect(address, PORT);
        let socket =
            socket.map_err(StoreError::io(format!("connecting to redis at {}", address.at.name())))?;
        let mut client = Client::from_socket(socket);
        let password = std::env::var("REDISCLI_AUTH").ok();
        if let Some(password) = &password {
            client.run(&[b"AUTH", address.user.as_bytes(), password.as_bytes()])?;
        } else if address.user != USER {
            let message = "no password for the URL's user: set REDISCLI_AUTH";
            return Err(StoreError::Engine(message.into()));
        }
        if let Some(database) = &address.database {
            client.run(&[b"SELECT", database.as_bytes()]).map_err(explain_missing_password)?;
        }
        client.run(&[b"PING"]).map_err(explain_missing_password)?;
        expect_all_keys(&mut client)?;
        client.stream.end_login();
        Ok(client)
    }

    fn enter(client: &mut Client, name: &str, _plan: &Plan) -> Result<()> {
        client.key_prefix = key_prefix(name);
        Ok(())
    }

    fn drop_command(name: &str) -> String {
        let script = "for _, key in ipairs(redis.call('KEYS', ARGV[1])) do redis.call('UNLINK', key) end";
        format!("redis-cli EVAL \"{script}\" 0 '{name}:*'")
    }

    fn drop_if_there(client: &mut Client, name: &str) -> Result<()> {
        client.key_prefix = key_prefix(name);
        client.remove_all()
    }

    fn examine(_client: &mut Client, settings: &[Setting], _is_own: bool) -> Result<bool> {
        Ok(!has_value(settings, SAVE, OFF))
    }

    /// A forked process writes a snapshot or a new log.
    fn upkeep(client: &mut Client) -> Result<Vec<Upkeep>> {
        let info = client.text(&[b"INFO"])?;
        let figure = |name| {
            find_in_info(&info, name).and_then(|figure| figure.trim().parse::<u64>().ok()).unwrap_or(0)
        };
        let under_way = figure("rdb_bgsave_in_progress") + figure("aof_rewrite_in_progress") > 0;
        let fork = Upkeep { work: "fork", count: figure("total_forks"), under_way };
        Ok(vec![fork, Upkeep::done("delayed fsync", figure("aof_delayed_fsync"))])
    }

    /// Makes the snapshot that is due within the hour, and syncs the log. On a running server both hold others' records, too.
    fn settle(client: &mut Client, makes_snapshots: &bool, running: Option<&RunningServer>) -> Result<()> {
        if running.is_some() {
            return Ok(());
        }
        wait_until::<Self>(client, is_idle)?;
        if *makes_snapshots && info_value(client, "rdb_changes_since_last_save")? != "0" {
            client.run(&[b"BGSAVE"])?;
            wait_until::<Self>(client, is_idle)?;
            let status = info_value(client, "rdb_last_bgsave_status")?;
            if status != "ok" {
                return Err(StoreError::Engine(format!("BGSAVE ended with {status}")));
            }
        }
        let log = data_folder(client)?.join(LOG);
        for entry in fs::read_dir(&log).into_iter().flatten() {
            let entry = entry.map_err(StoreError::io(format!("reading {}", log.display())))?;
            sync_path(&entry.path())?;
        }
        Ok(())
    }

    fn compact(client: &mut Client) -> Result<Option<&'static str>> {
        if info_value(client, "aof_enabled")? != "1" {
            return Ok(None);
        }
        client.run(&[b"BGREWRITEAOF"])?;
        wait_until::<Self>(client, is_idle)?;
        Ok(Some("BGREWRITEAOF"))
    }

    /// All that its processes hold: records, and overhead.
    fn size(client: &mut Client, running: Option<&RunningServer>) -> Result<(&'static str, Option<u64>)> {
        let name = "used_memory";
        match running {
            Some(_) => Ok((name, None)),
            None => Ok((name, info_value(client, name)?.parse().ok())),
        }
    }

    fn version(client: &mut Client) -> Result<String> {
        info_value(client, "redis_version")
    }
}

fn data_folder(client: &mut Client) -> Result<PathBuf> {
    let Answer::Many(values) = client.run(&[b"CONFIG", b"GET", b"dir"])? else { return Err(unreadable()) };
    let Some(Answer::Bytes(dir)) = values.into_iter().nth(1) else { return Err(unreadable()) };
    Ok(PathBuf::from(std::ffi::OsString::from_vec(client.bytes(dir).to_vec())))
}

fn key_prefix(name: &str) -> Vec<u8> {
    format!("{name}:").into_bytes()
}

/// Refuses a server of a cluster, which holds only a part of the keys.
fn expect_all_keys(client: &mut Client) -> Result<()> {
    match find_in_info(&client.text(&[b"INFO", b"cluster"])?, "cluster_enabled") {
        Some("1") => Err(StoreError::BadSetting("shares its keys with others: name one that has all".into())),
        _ => Ok(()),
    }
}

/// An error of the first commands, with what to do about it.
fn explain_missing_password(error: StoreError) -> StoreError {
    match error {
        StoreError::Engine(message) if message.starts_with("NOAUTH") => {
            StoreError::Engine(format!("{message} Set REDISCLI_AUTH to the password."))
        }
        other => other,
    }
}

/// Whether it makes no snapshot, rewrites no log, and is not behind with the log.
fn is_idle(client: &mut Client) -> Result<bool> {
    let info = client.text(&[b"INFO", b"persistence"])?;
    let busy = [
        "rdb_bgsave_in_progress",
        "aof_rewrite_in_progress",
        "aof_rewrite_scheduled",
        "aof_buffer_length",
        "aof_pending_bio_fsync",
    ];
    // The last two are there if there is a log.
    Ok(busy.iter().all(|name| find_in_info(&info, name).is_none_or(|value| value == "0")))
}

fn info_value(client: &mut Client, name: &str) -> Result<String> {
    let info = client.text(&[b"INFO"])?;
    let found = find_in_info(&info, name).map(str::to_owned);
    found.ok_or_else(|| StoreError::Engine(format!("the server does not report its {name}")))
}

fn find_in_info<'t>(info: &'t str, name: &str) -> Option<&'t str> {
    info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
}

/// A setting's fault is in the last lines; else a warning of the log has the reason.
fn last_words(log: &str) -> Option<String> {
    if let Some((_, message)) = log.split_once("*** FATAL CONFIG FILE ERROR") {
        let lines = message.lines().skip(2).map(str::trim).filter(|line| !line.is_empty());
        let lines: Vec<&str> = lines.collect();
        return Some(lines.join(" "));
    }
    let find_warning = |line: &str| line.split_once(" # ").map(|(_, message)| message.to_owned());
    let is_reason =
        |message: &String| !message.starts_with("WARNING") && !message.starts_with("Server initialized");
    log.lines().rev().find_map(|line| find_warning(line).filter(is_reason))
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    use super::*;
    use crate::redis::REDIS;
    use crate::support::testing::loss_at_power_cut;

    #[test]
    fn the_version_is_read() {
        let output =
            "Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=ae4d7c971a948f0\n";
        assert_eq!(PROGRAMS.version_in(output).as_deref(), Some("7.0.15"));
        assert_eq!(PROGRAMS.version_in("of another kind"), None);
    }

    #[test]
    fn the_last_words_say_what_is_wrong() {
        let setting = "1:C 26 Nov 2026 19:19:12.938 # Configuration loaded\n\n*** FATAL CONFIG FILE ERROR (Redis 7.0.15) ***\nReading \
                       the configuration file, at line 3\n>>> 'appendfsync \"foo\"'\nargument(s) must be one of these\n";
        let why = ">>> 'appendfsync \"foo\"' argument(s) must be one of these";
        assert_eq!(last_words(setting).as_deref(), Some(why));
        let log = "1:M 26 Nov 2026 19:19:12.939 # Bad file format\n1:M 26 Nov 2026 19:19:12.939 # WARNING memory\n1:M 26 Nov 2026 \
                   19:19:12.951 * Creating\n";
        assert_eq!(last_words(log).as_deref(), Some("Bad file format"));
        assert_eq!(last_words("ready\n"), None);
    }

    #[test]
    fn facts_are_found_by_their_whole_names() {
        let info = "# Memory\r\nused_memory_human:1M\r\nused_memory:17\r\n";
        assert_eq!((find_in_info(info, "used_memory"), find_in_info(info, "used")), (Some("17"), None));
    }

    #[test]
    fn a_server_that_has_a_part_of_the_keys_is_refused() {
        for (answer, is_refused) in
            [("$19\r\ncluster_enabled:1\r\n\r\n", true), ("$19\r\ncluster_enabled:0\r\n\r\n", false)]
        {
            let (near, mut far) = UnixStream::pair().unwrap();
            far.write_all(answer.as_bytes()).unwrap();
            let outcome = expect_all_keys(&mut Client::from_socket(near.into()));
            assert_eq!(outcome.is_err(), is_refused, "{answer}");
        }
    }

    #[test]
    fn the_tier_follows_from_when_the_log_is_written_and_synced() {
        let tier_with = |log: &str, sync: &str, rewrite: &str| {
            let settings = [
                Setting::read_back(APPENDONLY, log),
                Setting::read_back(APPENDFSYNC, sync),
                Setting::read_back(UNSYNCED_REWRITE, rewrite),
            ];
            let tier = tier(&settings);
            loss_at_power_cut(&REDIS, tier, &settings);
            tier
        };
        assert_eq!(tier_with("yes", "always", "no"), Guarantee::Power);
        assert_eq!(tier_with("yes", "always", "yes"), Guarantee::Process);
        assert_eq!(tier_with("yes", "no", "no"), Guarantee::Process);
        assert_eq!(tier_with("yes", "everysec", "no"), Guarantee::None);
        assert_eq!(tier_with("no", "always", "no"), Guarantee::None);
    }

    #[test]
    fn snapshots_are_pairs_of_numbers_or_off() {
        for (text, is_valid) in
            [("3600 1", true), ("60 1 1 5", true), ("60", false), ("60 x", false), ("", false)]
        {
            assert_eq!(is_pairs(text), is_valid, "{text}");
        }
        assert_eq!((argument_value(SAVE, OFF), argument_value(APPENDONLY, OFF)), (String::new(), OFF.into()));
    }
}
