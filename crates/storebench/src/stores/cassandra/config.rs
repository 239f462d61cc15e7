//! Cassandra's settings: the file that a server is started with, and what it tells of them in a table of its own.

use std::path::Path;
use std::time::Duration;

use scylla_cql::Consistency;
use storebench_core::server::DATA;
use storebench_core::server::running::URL;
use storebench_core::store::{Given, Guarantee, OpenOptions, Result, Setting, SettingDef};
use storebench_core::units;

use super::client::{Client, PORT};
use super::rows;
use crate::stores::support::server::members::{self, NODES, NODES_SETTING, ROUND_TRIP, ROUND_TRIP_SETTING};
use crate::stores::support::server::{PROGRAMS_SETTING, Paths, Plan};

/// The beginning of the name of a server's file, before its number.
pub const CONFIG: &str = "config-";
/// The file that says what is logged.
pub const LOGGED: &str = "logback.xml";
/// Where servers of a cluster listen for each other; they add their numbers.
pub const PEERS: u16 = 7000;
/// The address at which they are called where a network lies between them, instead of that at which they listen.
pub const CALLED: &str = "127.0.1.1";
const LISTENING: &str = "127.0.0.1";
const HEAP: &str = "heap";
const OWN_HEAP: u64 = 1 << 30;
const LEAST_HEAP: u64 = 256 << 20;
const WRITES: &str = "writes";
const READS: &str = "reads";
const SYNC: &str = "commitlog_sync";
const PERIOD: &str = "commitlog_sync_period";
const WINDOW: &str = "commitlog_sync_group_window";
const PERIODIC: &str = "periodic";
const BATCH: &str = "batch";
const GROUP: &str = "group";
/// The window of a group where none is given; the server has none of its own.
const OWN_WINDOW: &str = "10ms";
const LEVELS: &[&str] = &["one", "quorum", "all"];

const READ_BY: &str = "SELECT value FROM system_views.settings";

/// The settings that a user may give.
pub const SETTINGS: &[SettingDef] = &[
    SettingDef::new(
        URL,
        "cassandra://host:port",
        "a private server for each trial",
        "a running server to use instead; writes and reads can be set there, and nothing else (docs/servers.md)",
    )
    .promising("the guarantee is what that server is set up for"),
    PROGRAMS_SETTING,
    SettingDef::new(
        HEAP,
        "a size",
        "1 GiB (as shipped a quarter of the memory)",
        "the memory of Java's heap; a quarter of it is for what was written and is in no table on disk yet",
    )
    .bytes()
    .tune(&["2147483648", "4294967296"]),
    NODES_SETTING
        .promising("with commitlog_sync=batch or group, 1 is power; 3 and 5 are node")
        .read_by("system_schema.keyspaces"),
    ROUND_TRIP_SETTING,
    SettingDef::new(
        WRITES,
        "one, quorum or all",
        "one, of a cluster quorum",
        "how many of the servers that are to have a write have it when it is acknowledged (the consistency level)",
    )
    .promising("of a cluster, one is at most power"),
    SettingDef::new(
        READS,
        "one, quorum or all",
        "as many as show every acknowledged write",
        "how many servers are asked for a read: after writes=one all, after quorum quorum, after all one",
    ),
    SettingDef::new(
        SYNC,
        "periodic, batch or group",
        "periodic, or the guarantee's",
        "when the commit log is synced: each commitlog_sync_period, before each answer, or before the answers of a window",
    )
    .promising("periodic is none; batch and group are power")
    .read_by(READ_BY)
    .tune(&[GROUP]),
    SettingDef::new(PERIOD, "a time such as 1s", "10s", "the time between two syncs with commitlog_sync=periodic")
        .read_by(READ_BY),
    SettingDef::new(
        WINDOW,
        "a time such as 1ms",
        OWN_WINDOW,
        "how long writes wait for others with commitlog_sync=group",
    )
    .read_by(READ_BY),
];

/// Works out the settings for `options`: the tier's, then the user's own above them. There is no cache of records to be set.
///
/// # Errors
/// [`storebench_core::store::StoreError::BadSetting`] for a name that is not in [`SETTINGS`], or a value that it can't take.
pub fn plan(options: &OpenOptions<'_>) -> Result<Plan> {
    let given = Given::new(options, SETTINGS)?;
    let of_session = given.text(URL).map(|_| &[URL, WRITES, READS][..]);
    let mut plan = Plan::new((options, &given), SETTINGS, of_session, of_user, preset)?;
    for (name, of) in [(PERIOD, PERIODIC), (WINDOW, GROUP)] {
        if plan.value(name).is_some() && plan.value(SYNC).unwrap_or(PERIODIC) != of {
            return Err(given.refuse(name, &format!("of use without {SYNC}={of}")));
        }
    }
    if plan.value(SYNC) == Some(GROUP) && plan.value(WINDOW).is_none() {
        plan.values.push((WINDOW, OWN_WINDOW.into()));
    }
    members::check(&given, &plan, &options.directory.join(DATA), "commitlog")?;
    Ok(plan)
}

/// The user's value of a setting, as it is read back.
fn of_user(given: &Given<'_>, name: &'static str) -> Result<Option<String>> {
    let owned = |word: Option<&str>| word.map(str::to_owned);
    match name {
        NODES | ROUND_TRIP => members::of_user(given, name),
        WRITES | READS => Ok(owned(given.word(name, LEVELS)?)),
        SYNC => Ok(owned(given.word(name, &[PERIODIC, BATCH, GROUP])?)),
        HEAP => Ok(given.number(name, LEAST_HEAP..=1 << 50)?.map(|bytes| bytes.to_string())),
        PERIOD | WINDOW => match given.text(name).map(units::parse_duration) {
            None => Ok(None),
            Some(Ok(time)) if time >= Duration::from_millis(1) => Ok(Some(words(time))),
            Some(_) => Err(given.refuse(name, "a time from 1ms on")),
        },
        _ => Ok(None),
    }
}

/// A time as the server tells it.
fn words(time: Duration) -> String {
    let ms = time.as_millis();
    if ms.is_multiple_of(1000) { format!("{}s", ms / 1000) } else { format!("{ms}ms") }
}

/// The harness's value of a setting that the user does not give.
fn preset(name: &str, options: &OpenOptions<'_>) -> Option<String> {
    match name {
        HEAP => Some(OWN_HEAP.to_string()),
        NODES => members::preset(options),
        SYNC if matches!(options.guarantee, Some(Guarantee::Power | Guarantee::Node)) => Some(BATCH.into()),
        _ => None,
    }
}

/// The servers that must have a write and that are asked for a read, where each record has so many copies.
pub fn levels(plan: &Plan, copies: usize) -> (Consistency, Consistency) {
    let level = |word: &str| match word {
        "one" => Consistency::One,
        "all" => Consistency::All,
        _ => Consistency::Quorum,
    };
    let writes =
        plan.value(WRITES).map_or(if copies > 1 { Consistency::Quorum } else { Consistency::One }, level);
    let reads = plan.value(READS).map_or(
        match writes {
            _ if copies == 1 => Consistency::One,
            Consistency::One => Consistency::All,
            Consistency::All => Consistency::One,
            _ => Consistency::Quorum,
        },
        level,
    );
    (writes, reads)
}

/// The word for a level.
fn level_word(level: Consistency) -> &'static str {
    match level {
        Consistency::One => LEVELS[0],
        Consistency::All => LEVELS[2],
        _ => LEVELS[1],
    }
}

/// The memory of the heap in bytes, as Java takes it; none of a running server.
pub fn heap(plan: &Plan) -> Option<&str> {
    plan.value(HEAP)
}

/// The file of the server of these folders.
pub fn file(plan: &Plan, at: &Paths) -> String {
    let called = if members::one_way(plan).is_some() { CALLED } else { LISTENING };
    let port = |first: u16, number: usize| usize::from(first) + number;
    let seeds: Vec<String> =
        members::all(plan).iter().map(|number| format!("{called}:{}", port(PEERS, *number))).collect();
    let data = at.own_data();
    let folder = |name: &str| data.join(name).display().to_string();
    let sync = plan.value(SYNC).unwrap_or(PERIODIC);
    let time = match sync {
        PERIODIC => format!("{PERIOD}: {}\n", plan.value(PERIOD).unwrap_or("10s")),
        GROUP => format!("{WINDOW}: {}\n", plan.value(WINDOW).unwrap_or(OWN_WINDOW)),
        _ => String::new(),
    };
    format!(
        "cluster_name: storebench\nnum_tokens: 16\npartitioner: org.apache.cassandra.dht.Murmur3Partitioner\n\
         endpoint_snitch: SimpleSnitch\nseed_provider:\n  - class_name: org.apache.cassandra.locator.SimpleSeedProvider\n    \
         parameters: [{{seeds: \"{}\"}}]\nlisten_address: {LISTENING}\nbroadcast_address: {called}\nstorage_port: {}\n\
         rpc_address: {LISTENING}\nnative_transport_port: {}\ndata_file_directories: [\"{}\"]\ncommitlog_directory: \"{}\"\n\
         saved_caches_directory: \"{}\"\nhints_directory: \"{}\"\ncdc_raw_directory: \"{}\"\n{SYNC}: {sync}\n{time}\
         disk_failure_policy: stop\ninternode_compression: dc\nauto_snapshot: false\nread_request_timeout: 60s\nrange_request_timeout: 60s\nwrite_request_timeout: 60s\n\
         request_timeout: 60s\nnative_transport_timeout: 60s\n",
        seeds.join(","),
        port(PEERS, at.member),
        port(PORT, at.member),
        folder("data"),
        folder("commitlog"),
        folder("saved_caches"),
        folder("hints"),
        folder("cdc_raw"),
    )
}

/// The file that says what is logged: all but what is of use to its authors alone.
pub const LOGS: &str = "<configuration>\n<appender name=\"OUT\" class=\"ch.qos.logback.core.ConsoleAppender\"><encoder>\
    <pattern>%-5level %msg%n%ex{short}</pattern></encoder></appender>\n<root level=\"INFO\"><appender-ref ref=\"OUT\"/></root>\n\
    </configuration>\n";

/// The path of a server's file in a folder.
pub fn path(folder: &Path, number: usize) -> std::path::PathBuf {
    folder.join(format!("{CONFIG}{number}.yaml"))
}

/// The tier that settings give.
pub fn tier(settings: &[Setting]) -> Guarantee {
    let value = |name: &str| {
        settings.iter().find(|setting| setting.name == name).map(|setting| setting.value.as_str())
    };
    match (value(SYNC), value(NODES), value(WRITES)) {
        (Some(BATCH | GROUP), Some("1" | "2"), _) | (Some(BATCH | GROUP), _, Some("one")) => Guarantee::Power,
        (Some(BATCH | GROUP), Some(_), _) => Guarantee::Node,
        _ => Guarantee::None,
    }
}

/// Every setting that the server tells, in the order of [`SETTINGS`].
///
/// # Errors
/// When it does not tell them.
pub fn read_all(client: &mut Client) -> Result<Vec<Setting>> {
    let keyspace = client.keyspace().to_owned();
    let copies = client.copies(&keyspace)?;
    let mut told = |name: &str| -> Result<Option<String>> {
        let asked = format!("SELECT value FROM system_views.settings WHERE name = '{name}'");
        let rows = client.rows(&asked, Consistency::One)?;
        Ok(rows.first().map(|row| rows::text(row, 0)))
    };
    let sync = told(SYNC)?;
    let time = match sync.as_deref() {
        Some(PERIODIC) => Some((PERIOD, told(PERIOD)?)),
        Some(GROUP) => Some((WINDOW, told(WINDOW)?)),
        _ => None,
    };
    let mut settings: Vec<Setting> = client.heap.iter().map(|heap| Setting::given(HEAP, heap)).collect();
    settings.push(Setting::read_back(NODES, copies));
    settings.extend(client.round_trip.iter().map(|time| Setting::given(ROUND_TRIP, time)));
    settings.push(Setting::given(WRITES, level_word(client.writes)));
    settings.push(Setting::given(READS, level_word(client.reads)));
    settings.extend(sync.map(|sync| Setting::read_back(SYNC, sync)));
    settings.extend(time.and_then(|(name, time)| {
        let time = units::parse_duration(&time?).ok()?;
        Some(Setting::read_back(name, words(time)))
    }));
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tier_follows_from_syncs_servers_and_writes() {
        let with = |sync: &str, nodes: &str, writes: &str| {
            tier(&[
                Setting::read_back(SYNC, sync),
                Setting::read_back(NODES, nodes),
                Setting::given(WRITES, writes),
            ])
        };
        assert_eq!(with("periodic", "3", "all"), Guarantee::None, "copies that are not synced are no tier");
        assert_eq!(with("batch", "1", "one"), Guarantee::Power);
        assert_eq!(with("group", "3", "quorum"), Guarantee::Node);
        assert_eq!(with("batch", "3", "one"), Guarantee::Power, "one may be the one that is lost");
    }
}
