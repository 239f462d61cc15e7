//! etcd's settings: what a server is started with, and whether it took them. Only its log shows them, so a running server's are unknown.

use std::io::Read;
use std::path::Path;

use storebench_core::read_limited;
use storebench_core::server::DATA;
use storebench_core::server::running::URL;
use storebench_core::store::{
    GivenSettings, Guarantee, NODES, OpenOptions, ROUND_TRIP, Result, Setting, SettingDef, StoreError,
};
use storebench_core::units;

use super::client::Client;
use super::members;
use crate::support::server::{LOG, PROGRAMS_SETTING, Plan, url_setting};

pub const READS: &str = "reads";
const SNAPSHOT_COUNT: &str = "snapshot-count";
const QUOTA: &str = "quota-backend-bytes";
/// Reads without asking other members.
pub const SERIALIZABLE: &str = "serializable";
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
    .promising("1 is power; 3 and 5 are node")
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

/// There is no cache: keys are in the server's memory, records in the page cache. Fails with [`StoreError::BadSetting`] for an
/// unknown name, or a value that it can't take.
pub fn plan(options: &OpenOptions<'_>) -> Result<Plan> {
    let given = GivenSettings::new(options, SETTINGS)?;
    let session_settings = given.text(URL).map(|_| &[URL, READS][..]);
    let plan = Plan::new((options, &given), SETTINGS, session_settings, user_value, preset)?;
    members::check(&given, &plan, &options.directory.join(DATA))?;
    Ok(plan)
}

fn preset(name: &str, options: &OpenOptions<'_>) -> Option<String> {
    match name {
        QUOTA => Some(OWN_QUOTA.to_string()),
        NODES if options.guarantee == Some(Guarantee::Node) => Some("3".into()),
        _ => None,
    }
}

pub fn tier(settings: &[Setting]) -> Guarantee {
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

pub fn arguments(plan: &Plan) -> impl Iterator<Item = (&'static str, String)> {
    let server_settings = plan.values.iter().filter(|(name, _)| [SNAPSHOT_COUNT, QUOTA].contains(name));
    server_settings.map(|(name, value)| (*name, value.clone()))
}

/// The settings in the order of [`SETTINGS`]. Fails when the trial's own server did not report them.
pub fn read_all(client: &mut Client) -> Result<Vec<Setting>> {
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
