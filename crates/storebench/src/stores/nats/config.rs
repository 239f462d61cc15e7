//! NATS's settings: the file that a server is started with, and what it tells of them at its port for watching it.

use std::fmt::Write as _;
use std::time::Duration;

use storebench_core::server::DATA;
use storebench_core::server::running::URL;
use storebench_core::store::{Given, Guarantee, OpenOptions, Result, Setting, SettingDef, StoreError};
use storebench_core::units;

use super::client::{Client, JetStream, MONITOR, NAME, OWN_BATCH, PORT};
use crate::stores::support::server::members::{self, NODES, NODES_SETTING, ROUND_TRIP, ROUND_TRIP_SETTING};
use crate::stores::support::server::{PROGRAMS_SETTING, Paths, Plan};

/// The beginning of the name of a server's file, before its number.
pub const CONFIG: &str = "config-";
/// Where servers of a cluster listen for each other, and the network between them before that; they add their numbers.
pub const PEERS: u16 = 6222;
pub const RELAY: u16 = 7222;
const SYNC_INTERVAL: &str = "sync_interval";
/// The setting that says who answers a read.
pub const READS: &str = "reads";
const DIRECT: &str = "direct";
const LEADER: &str = "leader";
const ALWAYS: &str = "always";
/// The longest message: JetStream keeps none of more than 32 MiB, whatever the server is told to take.
const OWN_PAYLOAD: usize = 31 << 20;
/// The most that the sessions of a server may have open at once, as shipped.
const SHIPPED_BATCHES: usize = 50;

const READ_BY: &str = "/varz of the server's port for watching it";

/// The settings that a user may give.
pub const SETTINGS: &[SettingDef] = &[
    SettingDef::new(
        URL,
        "nats://host:port",
        "a private server for each trial",
        "a running server to use instead; reads can be set there, and nothing else (docs/servers.md)",
    )
    .promising("the guarantee is what that server is set up for"),
    PROGRAMS_SETTING,
    SettingDef::new(
        READS,
        "direct or leader",
        "direct, of a cluster leader",
        "whether any server that has a copy answers a read, as its clients for keys and values ask for, or the one that leads, \
         which has all that was acknowledged",
    ),
    NODES_SETTING.promising("with sync_interval=always, 1 is power; 3 and 5 are node").read_by(READ_BY),
    ROUND_TRIP_SETTING,
    SettingDef::new(
        SYNC_INTERVAL,
        "always, or a time such as 10s",
        "120s, or the guarantee's",
        "when what was written is synced: before each answer, or each time that so long has passed",
    )
    .promising("a time is process, on however many servers")
    .read_by(READ_BY),
];

/// Works out the settings for `options`: the tier's, then the user's own above them. There is no cache to be set.
///
/// # Errors
/// [`storebench_core::store::StoreError::BadSetting`] for a name that is not in [`SETTINGS`], or a value that it can't take.
pub fn plan(options: &OpenOptions<'_>) -> Result<Plan> {
    let given = Given::new(options, SETTINGS)?;
    let of_session = given.text(URL).map(|_| &[URL, READS][..]);
    let plan = Plan::new((options, &given), SETTINGS, of_session, of_user, preset)?;
    members::check(&given, &plan, &options.directory.join(DATA), "jetstream")?;
    Ok(plan)
}

/// The user's value of a setting, as it is read back.
fn of_user(given: &Given<'_>, name: &'static str) -> Result<Option<String>> {
    match name {
        READS => Ok(given.word(name, &[DIRECT, LEADER])?.map(str::to_owned)),
        NODES | ROUND_TRIP => members::of_user(given, name),
        SYNC_INTERVAL => match given.text(name) {
            None | Some(ALWAYS) => Ok(given.text(name).map(str::to_owned)),
            Some(text) => match units::parse_duration(text) {
                Ok(time) if time >= Duration::from_millis(1) => Ok(Some(words(time))),
                _ => Err(given.refuse(name, "always, or a time from 1ms on")),
            },
        },
        _ => Ok(None),
    }
}

/// A time as it is read back.
fn words(time: Duration) -> String {
    let ms = time.as_millis();
    if ms.is_multiple_of(1000) { format!("{}s", ms / 1000) } else { format!("{ms}ms") }
}

/// The harness's value of a setting that the user does not give.
fn preset(name: &str, options: &OpenOptions<'_>) -> Option<String> {
    match name {
        NODES => members::preset(options),
        SYNC_INTERVAL if matches!(options.guarantee, Some(Guarantee::Power | Guarantee::Node)) => {
            Some(ALWAYS.into())
        }
        _ => None,
    }
}

/// Whether reads are the leader's, of a bucket that so many servers have: another may be behind.
pub fn reads_by_leader(plan: &Plan, copies: usize) -> bool {
    plan.value(READS).map_or(copies > 1, |reads| reads == LEADER)
}

/// The file of the server of these folders, for so many sessions.
pub fn file(plan: &Plan, at: &Paths, sessions: usize) -> String {
    let (nodes, number) = (members::nodes(plan), at.member);
    let sync =
        plan.value(SYNC_INTERVAL).map_or_else(String::new, |value| format!("{SYNC_INTERVAL}: \"{value}\""));
    let batches = SHIPPED_BATCHES.max(2 * sessions);
    let port = |first: u16, number: usize| usize::from(first) + number;
    let mut file = format!(
        "server_name: {NAME}{number}\nlisten: \"127.0.0.1:{}\"\nhttp: \"127.0.0.1:{}\"\nmax_payload: {OWN_PAYLOAD}\nmax_pending: 1GB\n\
         jetstream {{ store_dir: \"{}\", max_file_store: 1TB, max_buffered_msgs: {OWN_BATCH}, max_buffered_size: 64GB, {sync}\n  \
         limits {{ batch {{ max_msgs: {OWN_BATCH}, max_inflight_per_stream: {batches}, max_inflight_total: {batches}, timeout: \"10m\" }} }} }}\n",
        port(PORT, number),
        port(MONITOR, number),
        at.own_data().display(),
    );
    if nodes > 1 {
        let called = if members::one_way(plan).is_some() { RELAY } else { PEERS };
        // All of them, itself too: by their number it knows how many are to choose who leads.
        let route = |server| format!("\"nats-route://127.0.0.1:{}\"", port(called, server));
        let routes: Vec<String> = (1..=nodes).map(route).collect();
        // Nothing fails that is written to memory.
        let _ = writeln!(
            file,
            "cluster {{ name: {NAME}, listen: \"127.0.0.1:{}\", advertise: \"127.0.0.1:{}\", routes: [{}] }}",
            port(PEERS, number),
            port(called, number),
            routes.join(", ")
        );
    }
    file
}

/// The tier that settings give.
pub fn tier(settings: &[Setting]) -> Guarantee {
    let value = |name: &str| {
        settings.iter().find(|setting| setting.name == name).map(|setting| setting.value.as_str())
    };
    match (value(SYNC_INTERVAL), value(NODES)) {
        (Some(ALWAYS), Some("1")) => Guarantee::Power,
        (Some(ALWAYS), _) => Guarantee::Node,
        _ => Guarantee::Process,
    }
}

/// The servers that have each record: as many as a bucket can be on, an odd number of those that there are.
fn copies(told: &JetStream) -> Result<usize> {
    match told.meta.as_ref().map_or(1, |meta| meta.cluster_size) {
        0 | 1 => Ok(1),
        2 => Err(StoreError::Unsupported(
            "of two servers of NATS one has a record, and it need not be the one that tells its settings: name a single one, or \
             one of three"
                .into(),
        )),
        3 | 4 => Ok(3),
        _ => Ok(5),
    }
}

/// Makes the bucket on as many servers.
///
/// # Errors
/// JetStream's.
pub fn make(client: &mut Client) -> Result<()> {
    let copies = copies(&client.monitored()?)?;
    client.make(copies)
}

/// Every setting that the server tells, in the order of [`SETTINGS`].
///
/// # Errors
/// When it does not tell them.
pub fn read_all(client: &mut Client) -> Result<Vec<Setting>> {
    let told = client.monitored()?;
    let reads = if client.leader_reads { LEADER } else { DIRECT };
    let copies = copies(&told)?;
    let sync = told.config.map(|config| match config.sync_always {
        true => ALWAYS.to_owned(),
        false => words(Duration::from_nanos(config.sync_interval)),
    });
    let mut settings = vec![Setting::given(READS, reads), Setting::read_back(NODES, copies)];
    settings.extend(client.round_trip.iter().map(|time| Setting::given(ROUND_TRIP, time)));
    settings.extend(sync.map(|sync| Setting::read_back(SYNC_INTERVAL, sync)));
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tier_follows_from_syncs_and_servers() {
        let with = |sync: &str, nodes: &str| {
            tier(&[Setting::read_back(SYNC_INTERVAL, sync), Setting::read_back(NODES, nodes)])
        };
        assert_eq!(with("120s", "1"), Guarantee::Process);
        assert_eq!(with("120s", "3"), Guarantee::Process, "copies that are not synced are no tier");
        assert_eq!(with("always", "1"), Guarantee::Power);
        assert_eq!(with("always", "3"), Guarantee::Node);
        assert_eq!(
            (words(Duration::from_millis(1500)), words(Duration::from_secs(120))),
            ("1500ms".into(), "120s".into())
        );
    }
}
