//! etcd as a kind of server: its settings, the servers of a cluster, and the things that it does in its own way. Only its log shows
//! its settings, so a running server's are unknown. Each server of a cluster has a folder with its number in the store's data; a single
//! server's data are there directly.

use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use rustix::process::Signal;
use storebench_model::server::relay::Relay;
use storebench_model::server::running::{Address, URL};
use storebench_model::server::{DATA, ServerKind};
use storebench_model::store::{
    GivenSettings, Guarantee, NODES, OpenOptions, ROUND_TRIP, Result, Session, Setting, SettingDef,
    StoreError, expect_taken,
};
use storebench_model::{read_limited, units};

use super::client::{Client, OWN_TRANSACTION, SOCKET, USER};
use super::messages::Status;
use crate::support::server::{
    LOG, PROGRAMS_SETTING, Paths, Plan, Programs, RunningServer, Server, url_setting,
};

const READS: &str = "reads";
const SNAPSHOT_COUNT: &str = "snapshot-count";
const QUOTA: &str = "quota-backend-bytes";
/// Reads without asking other members.
const SERIALIZABLE: &str = "serializable";
const LINEARIZABLE: &str = "linearizable";

/// As shipped, a server stops writes at 2 GiB, former values included.
const OWN_QUOTA: u64 = 64 << 30;
/// The settings are in the first lines of the log.
const FIRST_BYTES: u64 = 1 << 20;
const READ_BY: &str = "the server's log";

pub const SETTINGS: &[SettingDef] = &[
    url_setting(
        "etcd://host:port or etcd+unix:///path",
        "a running server to use instead; reads can be set there, and nothing else (docs/servers.md)",
    ),
    PROGRAMS_SETTING,
    SettingDef::new(
        READS,
        "linearizable or serializable",
        "linearizable",
        "whether a read sees all that was acknowledged before it, or what the member has that is asked",
    ),
    SettingDef::new(
        NODES,
        "1, 3 or 5",
        "1, at the guarantee node 3",
        "how many servers are one cluster, on this machine and in one place: most of them have a write when it is acknowledged",
    ).varying()
    .guarantee("1 is power; 3 and 5 are node")
    .read_by("the cluster's list of members"),
    SettingDef::new(
        ROUND_TRIP,
        "a time, such as 500us",
        "none",
        "how long what a server sends to another and its answer are on their way, as between machines",
    ),
    SettingDef::new(
        SNAPSHOT_COUNT,
        "a whole number from 1",
        "100000 before version 3.6, from then on 10000",
        "changes after which the state is saved, and the log before it can go",
    ).varying()
    .read_by(READ_BY),
    SettingDef::new(
        QUOTA,
        "a size",
        "64 GiB (as shipped 2 GiB)",
        "with more data, former values among them, no write is taken",
    ).varying()
    .bytes()
    .read_by(READ_BY),
];

/// There is no cache: keys are in the server's memory, records in the page cache.
fn plan(options: &OpenOptions<'_>) -> Result<Plan> {
    let given = GivenSettings::new(options, SETTINGS)?;
    let session_settings = given.text(URL).map(|_| &[URL, READS][..]);
    let plan = Plan::new((options, &given), SETTINGS, session_settings, user_value, preset)?;
    check_members(&given, &plan, &options.directory.join(DATA))?;
    Ok(plan)
}

fn preset(name: &str, options: &OpenOptions<'_>) -> Option<String> {
    match name {
        QUOTA => Some(OWN_QUOTA.to_string()),
        NODES if options.guarantee == Some(Guarantee::Node) => Some("3".into()),
        _ => None,
    }
}

fn tier(settings: &[Setting]) -> Guarantee {
    let is_cluster = |setting: &Setting| setting.name == NODES && setting.value != "1";
    if settings.iter().any(is_cluster) { Guarantee::Node } else { Guarantee::Power }
}

fn user_value(given: &GivenSettings<'_>, name: &'static str) -> Result<Option<String>> {
    let number = |range| Ok(given.number(name, range)?.map(|number| number.to_string()));
    match name {
        READS => Ok(given.word(name, &[LINEARIZABLE, SERIALIZABLE])?.map(str::to_owned)),
        NODES => Ok(given.word(name, &["1", "3", "5"])?.map(str::to_owned)),
        ROUND_TRIP => match given.text(name) {
            Some(text) if units::parse_duration(text).is_err() => {
                Err(given.refuse(name, "a time, such as 500us"))
            }
            text => Ok(text.map(str::to_owned)),
        },
        SNAPSHOT_COUNT => number(1..=1 << 50),
        QUOTA => number(1..=1 << 50),
        _ => Ok(None),
    }
}

fn arguments(plan: &Plan) -> impl Iterator<Item = (&'static str, String)> {
    let server_settings = plan.values.iter().filter(|(name, _)| [SNAPSHOT_COUNT, QUOTA].contains(name));
    server_settings.map(|(name, value)| (*name, value.clone()))
}

/// The settings in the order of [`SETTINGS`]. Fails when the trial's own server did not report them.
fn read_all(client: &mut Client) -> Result<Vec<Setting>> {
    let reads = if client.serializable { SERIALIZABLE } else { LINEARIZABLE };
    let mut settings = vec![Setting::unverified(READS, reads), Setting::read_back(NODES, client.members()?)];
    settings.extend(client.round_trip.iter().map(|time| Setting::unverified(ROUND_TRIP, time)));
    if let Some(folder) = client.own_folder() {
        settings.extend(read_logged_settings(folder)?);
    }
    Ok(settings)
}

fn read_logged_settings(folder: &Path) -> Result<Vec<Setting>> {
    let mut log = Vec::new();
    let file = read_limited::plain_file(&folder.join(LOG));
    let result = file.and_then(|file| file.take(FIRST_BYTES).read_to_end(&mut log));
    result.map_err(StoreError::io("reading the server's log"))?;
    let log = String::from_utf8_lossy(&log);
    let line = log.lines().find(|line| line.contains("\"starting an etcd server\""));
    let line: serde_json::Value = line.and_then(|line| serde_json::from_str(line).ok()).unwrap_or_default();
    let settings =
        [SNAPSHOT_COUNT, QUOTA].map(|name| line[name].as_u64().map(|value| Setting::read_back(name, value)));
    let settings: Option<Vec<Setting>> = settings.into_iter().collect();
    settings.ok_or_else(|| StoreError::Engine("the server's log does not show its settings".into()))
}

const MAX_NODES: usize = 5;

/// The folder in a single server's data.
const SINGLE: &str = "member";

/// Refuses a network for one server, and another number of servers than the data's. A cluster's data have a folder for each that
/// was not lost. The error says how each can be had.
fn check_members(given: &GivenSettings<'_>, plan: &Plan, data: &Path) -> Result<()> {
    let nodes = nodes(plan);
    if nodes == 1 && plan.value(ROUND_TRIP).is_some() {
        return Err(given
            .refuse(ROUND_TRIP, "of use with one server: ask for nodes=3 too, or for the guarantee node"));
    }
    if nodes > 1 && data.join(SINGLE).exists() {
        expect_taken(NODES, &nodes, &1)?;
    }
    if nodes == 1 && numbers(data).next().is_some() {
        expect_taken(NODES, &nodes, &numbers(data).count())?;
    }
    Ok(())
}

fn nodes(plan: &Plan) -> usize {
    plan.parsed(NODES).unwrap_or(1)
}

fn one_way_delay(plan: &Plan) -> Option<Duration> {
    plan.value(ROUND_TRIP).and_then(|time| units::parse_duration(time).ok()).map(|time| time / 2)
}

fn numbers(data: &Path) -> impl Iterator<Item = usize> {
    (1..=MAX_NODES).filter(|number| data.join(number.to_string()).exists())
}

/// Deletes the data of the first server that has any. Fails also when there is none.
fn lose(folder: &Path) -> io::Result<()> {
    let data = folder.join(DATA);
    let first = numbers(&data).next().ok_or_else(|| io::Error::other("there is no cluster's"))?;
    fs::remove_dir_all(data.join(first.to_string()))
}

/// Refuses members of several clusters, the same one twice, or several versions. The error has what two named members report.
pub fn expect_one_cluster(members: &[(String, Status)]) -> Result<()> {
    let Some(((first, first_status), others)) = members.split_first() else { return Ok(()) };
    let refuse = |why: String| Err(StoreError::Engine(why));
    let header = |status: &Status| status.header.clone().unwrap_or_default();
    for (index, (name, status)) in others.iter().enumerate() {
        let (cluster, other_cluster) = (header(first_status).cluster, header(status).cluster);
        if cluster != other_cluster {
            return refuse(format!(
                "{first} and {name} are not of one cluster: {cluster:016x} and {other_cluster:016x}"
            ));
        }
        let mut earlier = members[..=index].iter();
        if let Some((same, _)) = earlier.find(|(_, earlier)| header(earlier).member == header(status).member)
        {
            return refuse(format!("{same} and {name} are the same server: name each member once"));
        }
        if status.version != first_status.version {
            return refuse(format!(
                "{first} has version {}, and {name} has {}: the members of a cluster that is measured have one",
                first_status.version, status.version
            ));
        }
    }
    Ok(())
}

/// Names the member of a cluster that an error is about.
pub fn name_member(member: &Address) -> impl Fn(StoreError) -> StoreError {
    let name = member.name();
    move |error| match error {
        StoreError::Io { context, source } if context.contains(&name) => StoreError::Io { context, source },
        StoreError::Io { context, source } => {
            StoreError::Io { context: format!("{name}: {context}"), source }
        }
        StoreError::Engine(why) => StoreError::Engine(format!("{name}: {why}")),
        other => other,
    }
}

/// The prefixes of socket names for other members, and for the network between them.
const PEERS: &str = "peers:";
const RELAY: &str = "relay:";
/// An advertised address that nobody calls.
const NOWHERE: &str = "http://storebench.invalid:1";
const NAME: &str = "storebench";
/// The request limit of a trial's own server, so that batches and large values go through; as shipped it is 1.5 MiB.
const OWN_REQUEST_BYTES: u32 = 256 << 20;

static PROGRAMS: Programs = Programs {
    product: "etcd",
    server: "etcd",
    maker: None,
    folders: &["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"],
    by_version: &[],
    version: &["--version"],
    version_after: "etcd Version: ",
    oldest: "3.4",
    get: "apt-get install etcd-server, or brew install etcd",
    user: "etcd",
    stop: Signal::TERM,
    ends_by_signal: true,
    last_words,
    found: OnceLock::new(),
};

pub enum EtcdServer {}

impl Server for EtcdServer {
    type Client = Client;
    /// The server counts its syncs; nothing else is kept.
    type Facts = ();

    const STORE: &'static str = "etcd";
    const KNOWN: ServerKind = ServerKind { programs: &["etcd"], users: &["etcd"], shared_memory: |_| None };
    const SCHEMES: &'static [&'static str] = &["etcd", "etcd+unix"];
    const USER: Option<&'static str> = Some(USER);
    const START_S: f64 = 1.2;
    /// The server makes its files itself, so the folder is the sign.
    const SIGN: &'static str = ".";
    const HOLDER: &'static str = "keys that begin with";
    const SYNCS: &'static str = "wal_syncs";
    const PLAN: fn(&OpenOptions<'_>) -> Result<Plan> = plan;
    const LOSE: Option<fn(&Path) -> io::Result<()>> = Some(lose);
    const READ_SETTINGS: fn(&mut Client) -> Result<Vec<Setting>> = read_all;
    const TIER: fn(&[Setting]) -> Guarantee = tier;
    const COUNT: fn(&mut Client) -> Result<u64> = Client::count;
    const SESSION: fn(Client) -> Result<Box<dyn Session>> = |client| Ok(Box::new(client));

    fn programs() -> &'static Programs {
        &PROGRAMS
    }

    fn arguments(plan: &Plan, paths: &Paths, _sessions: usize) -> Vec<String> {
        let (nodes, number) = (nodes(plan), paths.member);
        let peers = if one_way_delay(plan).is_some() { RELAY } else { PEERS };
        let peer_url =
            |number: usize| if nodes == 1 { NOWHERE.to_owned() } else { format!("unix://{peers}{number}") };
        let numbers = if nodes == 1 { 0..=0 } else { 1..=nodes };
        let cluster: Vec<String> =
            numbers.map(|number| format!("{NAME}{number}={}", peer_url(number))).collect();
        let data = if number == 0 { paths.data.clone() } else { paths.data.join(number.to_string()) };
        let options = [
            ("name", format!("{NAME}{number}")),
            ("data-dir", data.display().to_string()),
            ("listen-client-urls", format!("unix://{SOCKET}{number}")),
            ("listen-peer-urls", format!("unix://{PEERS}{number}")),
            ("advertise-client-urls", NOWHERE.to_owned()),
            ("initial-advertise-peer-urls", peer_url(number)),
            ("initial-cluster", cluster.join(",")),
            ("max-txn-ops", OWN_TRANSACTION.to_string()),
            ("max-request-bytes", OWN_REQUEST_BYTES.to_string()),
            ("logger", "zap".to_owned()),
            ("log-outputs", "stderr".to_owned()),
        ];
        let arguments = options.into_iter().chain(arguments(plan));
        arguments.flat_map(|(name, value)| [format!("--{name}"), value]).collect()
    }

    /// A single server is number 0. Lost members are not started again: their promises are lost, too.
    fn members(plan: &Plan, data: &Path) -> Vec<usize> {
        let (nodes, existing) = (nodes(plan), numbers(data).collect::<Vec<_>>());
        match nodes {
            1 => vec![0],
            _ if existing.is_empty() => (1..=nodes).collect(),
            _ => existing,
        }
    }

    fn relay(plan: &Plan, socket: &Path) -> Result<Option<Relay>> {
        let Some(one_way_delay) = one_way_delay(plan) else { return Ok(None) };
        let names = |number| (format!("{RELAY}{number}"), format!("{PEERS}{number}"));
        let names: Vec<_> = (1..=nodes(plan)).map(names).collect();
        let relay = Relay::start(socket, &names, one_way_delay)
            .map_err(StoreError::io("starting the network between servers"))?;
        Ok(Some(relay))
    }

    /// It takes connections before a leader is chosen, and calls from then on.
    fn is_ready(_pid: u32, _data: &Path, socket: &Path) -> bool {
        Client::connect_own(socket).and_then(|mut client| client.count()).is_ok()
    }

    fn connect_own(socket: &Path) -> Result<Client> {
        Client::connect_own(socket)
    }

    fn connect(address: &Address) -> Result<Client> {
        Client::running(address)
    }

    fn enter(client: &mut Client, name: &str, plan: &Plan) -> Result<()> {
        client.set_key_prefix(name);
        Self::begin(client, plan);
        Ok(())
    }

    fn begin(client: &mut Client, plan: &Plan) {
        client.serializable = plan.value(READS) == Some(SERIALIZABLE);
        client.round_trip = plan.value(ROUND_TRIP).map(str::to_owned);
    }

    fn drop_command(name: &str) -> String {
        format!("etcdctl del --prefix {name}/")
    }

    fn drop_if_there(client: &mut Client, name: &str) -> Result<()> {
        client.set_key_prefix(name);
        client.remove_all()
    }

    fn examine(client: &mut Client, _settings: &[Setting], _is_own: bool) -> Result<()> {
        // Nothing reports whether it syncs, so it is tried.
        if !client.is_synced()? {
            let why = "the server acknowledges writes without a sync (unsafe-no-fsync), which etcd has for tests alone";
            return Err(StoreError::Unsupported(why.into()));
        }
        Ok(())
    }

    fn count_syncs(client: &mut Client, (): &()) -> Result<Option<u64>> {
        client.syncs().map(Some)
    }

    /// Former values stay, as shipped, and it writes its file every 100 ms.
    fn settle(_client: &mut Client, (): &(), _running: Option<&RunningServer>) -> Result<()> {
        Ok(())
    }

    fn compact(client: &mut Client) -> Result<Option<&'static str>> {
        client.compact()?;
        Ok(Some("compact and defrag"))
    }

    fn size(client: &mut Client, running: Option<&RunningServer>) -> Result<(&'static str, Option<u64>)> {
        let size = match running {
            Some(_) => None,
            None => u64::try_from(client.status()?.size).ok(),
        };
        Ok(("db_size", size))
    }

    fn version(client: &mut Client) -> Result<String> {
        Ok(client.status()?.version)
    }
}

/// The last line above a warning says why it ended; the first names an unknown option.
fn last_words(log: &str) -> Option<String> {
    let parse_error = |line: &str| -> Option<String> {
        let line: serde_json::Value = serde_json::from_str(line).ok()?;
        if !matches!(line["level"].as_str()?, "error" | "panic" | "fatal") {
            return None;
        }
        let words = [line["msg"].as_str(), line["error"].as_str()];
        Some(words.into_iter().flatten().collect::<Vec<_>>().join(": "))
    };
    let plain_line =
        || log.lines().find(|line| !line.trim().is_empty() && !line.starts_with('{')).map(str::to_owned);
    log.lines().rev().find_map(parse_error).or_else(plain_line)
}

#[cfg(test)]
mod tests {
    use super::super::messages::Header;
    use super::*;

    #[test]
    fn the_version_is_read() {
        assert_eq!(PROGRAMS.version_in("etcd Version: 3.4.23\nGit SHA: x\n").as_deref(), Some("3.4.23"));
        assert_eq!(PROGRAMS.version_in("of another kind"), None);
    }

    #[test]
    fn the_last_words_say_what_is_wrong() {
        let log = "{\"level\":\"info\",\"msg\":\"ready\"}\n{\"level\":\"fatal\",\"msg\":\"discovery failed\",\"error\":\"no space\"}\n\
                   {\"level\":\"warn\",\"msg\":\"slow\"}\n";
        assert_eq!(last_words(log).as_deref(), Some("discovery failed: no space"));
        let option = "flag provided but not defined: -colour\nUsage:\n";
        assert_eq!(last_words(option).as_deref(), Some("flag provided but not defined: -colour"));
        assert_eq!(last_words("{\"level\":\"info\",\"msg\":\"ready\"}\n"), None);
    }

    #[test]
    fn members_of_one_cluster_have_one_version() {
        let member = |name: &str, cluster, member, version: &str| {
            let header = Some(Header { cluster, member, revision: 0 });
            (name.to_owned(), Status { header, version: version.into(), ..Status::default() })
        };
        let check = |members: &[(String, Status)]| expect_one_cluster(members).map_err(|why| why.to_string());
        let member_a = || member("a", 1, 10, "3.4");
        assert_eq!(check(&[member_a(), member("b", 1, 11, "3.4")]), Ok(()));
        let clusters = check(&[member_a(), member("b", 2, 11, "3.4")]).unwrap_err();
        assert!(clusters.contains("a and b are not of one cluster: 0000000000000001 and 00"), "{clusters}");
        let versions = check(&[member_a(), member("b", 1, 11, "3.5")]).unwrap_err();
        assert!(versions.contains("a has version 3.4, and b has 3.5"), "{versions}");
        let twice = check(&[member_a(), member("b", 1, 11, "3.4"), member("B", 1, 11, "3.4")]).unwrap_err();
        assert!(twice.contains("b and B are the same server"), "{twice}");
    }
}
