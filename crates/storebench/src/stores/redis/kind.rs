//! Redis as a kind of server: the things that it does in its own way.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::process::Signal;
use storebench_core::server::Known;
use storebench_core::server::relay::Relay;
use storebench_core::server::running::{Address, At};
use storebench_core::store::{Guarantee, OpenOptions, Result, Session, Setting, StoreError, Upkeep};

use super::client::{Answer, Client, PORT, odd};
use super::cluster::Spread;
use super::session::Records;
use super::told::{in_info, is_idle, told_of};
use super::{cluster, config, replicas, topology};
use crate::stores::support::server::members;
use crate::stores::support::server::socket::Socket;
use crate::stores::support::server::{
    KeyedSession, Paths, Plan, Programs, Running, Saying, Server, wait_until,
};
use crate::stores::support::sync_path;

/// The user that every server has, unless it is told otherwise.
const USER: &str = "default";

static PROGRAMS: Programs = Programs {
    product: "Redis",
    server: "redis-server",
    maker: None,
    // Servers are not in everybody's PATH.
    folders: &["/usr/sbin", "/usr/local/bin", "/opt/homebrew/bin"],
    by_version: &[],
    version: &["--version"],
    version_in,
    // Before, its log is one file.
    oldest: "7.0",
    get: "apt-get install redis-server, or brew install redis",
    user: "redis",
    found: OnceLock::new(),
};

/// Redis's.
pub enum RedisServer {}

/// The facts that are known of a server for as long as its store is open.
pub struct Kept {
    /// Whether it makes snapshots.
    saves: bool,
}

impl Server for RedisServer {
    type Client = Client;
    type Kept = Kept;

    const STORE: &'static str = "redis";
    // Debian's server is a link to the other.
    const KNOWN: Known =
        Known { programs: &["redis-server", "redis-check-rdb"], users: &["redis"], shared_memory: |_| None };
    const SCHEMES: &'static [&'static str] = &["redis", "redis+unix"];
    const USER: Option<&'static str> = Some(USER);
    const START_S: f64 = 0.1;
    /// It makes its files itself, so the folder is all.
    const SIGN: &'static str = ".";
    /// While its first log is being written it refuses to end, for good.
    const SAYING: &'static Saying = &Saying {
        name: "redis-server",
        stop: Signal::TERM,
        ends_by_signal: false,
        forgets: true,
        last_words,
    };
    const DIVIDES: bool = true;
    const HOLDER: &'static str = "keys that begin with";
    const SYNCS: &'static str = "syncs";

    fn programs() -> &'static Programs {
        &PROGRAMS
    }

    fn plan(options: &OpenOptions<'_>) -> Result<Plan> {
        config::plan(options)
    }

    fn members(plan: &Plan, _data: &Path) -> Vec<usize> {
        members::all(plan)
    }

    /// It does not make the folder of its data.
    fn configure(plan: &Plan, at: &Paths, _sessions: usize) -> Result<()> {
        members::make(&at.own_data())?;
        topology::write(plan, at)
    }

    fn arguments(plan: &Plan, at: &Paths, sessions: usize) -> Vec<String> {
        let own = [
            ("unixsocket", replicas::socket_of(at).display().to_string()),
            ("unixsocketperm", "700".to_owned()),
            ("dir", at.own_data().display().to_string()),
            ("daemonize", "no".to_owned()),
        ];
        // As shipped it takes 10,000.
        let more = (sessions > 9_900).then(|| ("maxclients", (sessions + 100).to_string()));
        let of_others = topology::arguments(plan, at.member);
        let all = own.into_iter().chain(of_others).chain(more).chain(config::arguments(plan));
        all.flat_map(|(name, value)| [format!("--{name}"), value]).collect()
    }

    /// They call each other by ports alone.
    fn relay(plan: &Plan, socket: &Path) -> Result<Option<Relay>> {
        if members::servers(plan) == 1 {
            return Ok(None);
        }
        members::private(socket, &topology::ends(plan), members::one_way(plan)).map(Some)
    }

    /// While it reads its files it answers with an error. Replicas have all, and have written their logs anew, as they do then.
    fn is_ready(_pid: u32, data: &Path, socket: &Path) -> bool {
        replicas::connect(socket)
            .and_then(|mut client| replicas::are_ready(&mut client, members::count(data)))
            .unwrap_or(false)
    }

    fn connect_own(socket: &Path) -> Result<Client> {
        replicas::connect(socket)
    }

    fn connect(address: &Address) -> Result<Client> {
        cluster::of_url(address, connect)
    }

    fn connect_to_drop(address: &Address) -> Result<Client> {
        cluster::of_those_there(address, connect)
    }

    /// The servers of a cluster wait for two seconds before they take writes, and replicas until they have all.
    fn start_s(settings: &BTreeMap<String, String>) -> f64 {
        let more_s = |name, more_s| {
            let are_several = settings.get(name).is_some_and(|count| count != "1");
            if are_several { more_s } else { 0.0 }
        };
        Self::START_S + more_s(members::SHARDS, 2.3) + more_s(members::NODES, 1.0)
    }

    /// Keys need nothing that holds them.
    fn create(_client: &mut Client, _name: &str) -> Result<()> {
        Ok(())
    }

    fn enter(client: &mut Client, name: &str, plan: &Plan) -> Result<()> {
        begin_keys(client, name);
        Self::begin(client, plan);
        replicas::expect_as_many_as_wait(client)
    }

    fn begin(client: &mut Client, plan: &Plan) {
        replicas::plan(client, plan);
    }

    fn drop_command(name: &str) -> String {
        let script = "for _, key in ipairs(redis.call('KEYS', ARGV[1])) do redis.call('UNLINK', key) end";
        format!("redis-cli EVAL \"{script}\" 0 '{name}:*'")
    }

    fn drop_if_there(client: &mut Client, name: &str) -> Result<()> {
        begin_keys(client, name);
        cluster::primaries(client, Client::remove_all).map(drop)
    }

    fn settings(client: &mut Client) -> Result<Vec<Setting>> {
        config::read_all(client)
    }

    fn tier(settings: &[Setting]) -> Guarantee {
        config::tier(settings)
    }

    fn look_at(_client: &mut Client, settings: &[Setting], _is_own: bool) -> Result<Kept> {
        Ok(Kept { saves: config::saves(settings) })
    }

    /// A snapshot and a new log are written by a copy of the process.
    fn upkeep(client: &mut Client) -> Result<Vec<Upkeep>> {
        let (mut forks, mut delayed, mut under_way) = (0, 0, false);
        replicas::each(client, |one| {
            let told = one.text(&[b"INFO"])?;
            let figure =
                |name| in_info(&told, name).and_then(|figure| figure.trim().parse::<u64>().ok()).unwrap_or(0);
            under_way |= figure("rdb_bgsave_in_progress") + figure("aof_rewrite_in_progress") > 0;
            forks += figure("total_forks");
            delayed += figure("aof_delayed_fsync");
            Ok(())
        })?;
        let fork = Upkeep { work: "fork", count: forks, under_way };
        Ok(vec![fork, Upkeep::done("delayed fsync", delayed)])
    }

    /// Replicas have all, the snapshot that is due within the hour is made, and the log is on the disk. On a running server the records of
    /// others are in both.
    fn settle(client: &mut Client, kept: &Kept, running: Option<&Running>) -> Result<()> {
        if running.is_some() {
            return Ok(());
        }
        let written = replicas::written(client)?;
        wait_until::<Self>(client, |client| replicas::have(client, &written))?;
        replicas::each(client, |one| settle(one, kept.saves))
    }

    fn compact(client: &mut Client) -> Result<Option<&'static str>> {
        if told_of(client, "aof_enabled")? != "1" {
            return Ok(None);
        }
        replicas::each(client, |one| {
            one.run(&[b"BGREWRITEAOF"])?;
            wait_until::<Self>(one, is_idle)
        })?;
        Ok(Some("BGREWRITEAOF"))
    }

    /// All that its processes hold: records, and what the server needs for them.
    fn size(client: &mut Client, running: Option<&Running>) -> Result<(&'static str, Option<u64>)> {
        let (name, mut size) = ("used_memory", Some(0));
        if running.is_some() {
            return Ok((name, None));
        }
        replicas::each(client, |one| {
            let used = told_of(one, name)?.parse::<u64>().ok();
            size = size.zip(used).map(|(size, used)| size + used);
            Ok(())
        })?;
        Ok((name, size))
    }

    fn version(client: &mut Client) -> Result<String> {
        told_of(client, "redis_version")
    }

    fn count(client: &mut Client) -> Result<u64> {
        Ok(cluster::primaries(client, Client::count)?.into_iter().sum())
    }

    fn session(client: Client) -> Result<Box<dyn Session>> {
        Ok(if client.shards.are_cluster() {
            Box::new(KeyedSession(Spread::over(client)))
        } else {
            Box::new(Records(client))
        })
    }
}

/// Connects to one running server.
fn connect(address: &Address) -> Result<Client> {
    let socket = match &address.at {
        At::Host(name) => Socket::tcp(name, address.port.unwrap_or(PORT)),
        At::Socket(path) => Socket::unix(path),
    };
    let socket = socket.map_err(StoreError::io(format!("connecting to redis at {}", address.at.name())))?;
    let mut client = Client::over(socket);
    let password = std::env::var("REDISCLI_AUTH").ok();
    if let Some(password) = &password {
        client.run(&[b"AUTH", address.user.as_bytes(), password.as_bytes()])?;
    } else if address.user != USER {
        let message = "no password for the URL's user: set REDISCLI_AUTH";
        return Err(StoreError::Engine(message.into()));
    }
    // Each session begins in the first, and a cluster has no other.
    if let Some(database) = address.database.as_ref().filter(|name| *name != "0") {
        client.run(&[b"SELECT", database.as_bytes()]).map_err(wanted)?;
    }
    client.run(&[b"PING"]).map_err(wanted)?;
    client.let_in();
    Ok(client)
}

/// Makes the snapshot that is due, and has the log on the disk.
fn settle(client: &mut Client, saves: bool) -> Result<()> {
    wait_until::<RedisServer>(client, is_idle)?;
    if saves && told_of(client, "rdb_changes_since_last_save")? != "0" {
        client.run(&[b"BGSAVE"])?;
        wait_until::<RedisServer>(client, is_idle)?;
        let status = told_of(client, "rdb_last_bgsave_status")?;
        if status != "ok" {
            return Err(StoreError::Engine(format!("BGSAVE ended with {status}")));
        }
    }
    let log = folder_of(client)?.join(config::LOG);
    for entry in fs::read_dir(&log).into_iter().flatten() {
        let entry = entry.map_err(StoreError::io(format!("reading {}", log.display())))?;
        sync_path(&entry.path())?;
    }
    Ok(())
}

/// The folder of a server's data.
fn folder_of(client: &mut Client) -> Result<PathBuf> {
    let Answer::Many(told) = client.run(&[b"CONFIG", b"GET", b"dir"])? else { return Err(odd()) };
    let Some(Answer::Bytes(dir)) = told.into_iter().nth(1) else { return Err(odd()) };
    Ok(PathBuf::from(std::ffi::OsString::from_vec(client.bytes(dir).to_vec())))
}

/// Has the keys of the trial's own on running servers begin with its name.
fn begin_keys(client: &mut Client, name: &str) {
    cluster::set_primaries(client, |one| one.begin_keys_with(format!("{name}:").into_bytes()));
}

/// An error of the first commands, with what to do about it.
fn wanted(error: StoreError) -> StoreError {
    match error {
        StoreError::Engine(told) if told.starts_with("NOAUTH") => {
            StoreError::Engine(format!("{told} Set REDISCLI_AUTH to the password."))
        }
        StoreError::Engine(told) if told.contains("SELECT is not allowed in cluster mode") => {
            StoreError::BadSetting(
                "is one of a Redis Cluster, which has database 0 alone: name no other".into(),
            )
        }
        other => other,
    }
}

/// Of `Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=ae4d7c971a948f0`.
fn version_in(said: &str) -> Option<String> {
    let (_, version) = said.split_once("Redis server v=")?;
    version.split_whitespace().next().map(str::to_owned)
}

/// The fault of a setting stands in the last lines; else a warning of the log says it.
fn last_words(log: &str) -> Option<String> {
    if let Some((_, told)) = log.split_once("*** FATAL CONFIG FILE ERROR") {
        let lines: Vec<&str> = told.lines().skip(2).map(str::trim).filter(|line| !line.is_empty()).collect();
        return Some(lines.join(" "));
    }
    let warned = |line: &str| line.split_once(" # ").map(|(_, told)| told.to_owned());
    let ends = |told: &String| !told.starts_with("WARNING") && !told.starts_with("Server initialized");
    log.lines().rev().find_map(|line| warned(line).filter(ends))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_read() {
        let said =
            "Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=ae4d7c971a948f0\n";
        assert_eq!(version_in(said).as_deref(), Some("7.0.15"));
        assert_eq!(version_in("of another kind"), None);
    }

    #[test]
    fn the_last_words_say_what_is_wrong() {
        let setting = "1:C 26 Nov 2026 19:19:12.938 # Configuration loaded\n\n*** FATAL CONFIG FILE ERROR (Redis 7.0.15) ***\nReading \
                       the configuration file, at line 3\n>>> 'appendfsync \"foo\"'\nargument(s) must be one of these\n";
        assert_eq!(
            last_words(setting).as_deref(),
            Some(">>> 'appendfsync \"foo\"' argument(s) must be one of these")
        );
        let log = "1:M 26 Nov 2026 19:19:12.939 # Bad file format\n1:M 26 Nov 2026 19:19:12.939 # WARNING memory\n1:M 26 Nov 2026 \
                   19:19:12.951 * Creating\n";
        assert_eq!(last_words(log).as_deref(), Some("Bad file format"));
        assert_eq!(last_words("ready\n"), None);
    }
}
