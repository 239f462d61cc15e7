//! etcd as a kind of server: the things that it does in its own way.

use std::io;
use std::path::Path;
use std::sync::OnceLock;

use rustix::process::Signal;
use storebench_core::server::ServerKind;
use storebench_core::server::relay::Relay;
use storebench_core::server::running::Address;
use storebench_core::store::{Guarantee, OpenOptions, ROUND_TRIP, Result, Session, Setting, StoreError};

use super::client::{Client, OWN_TRANSACTION, SOCKET, USER};
use super::config::{self, READS, SERIALIZABLE};
use super::members;
use crate::support::server::{Paths, Plan, Programs, RunningServer, Server};

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
    const PLAN: fn(&OpenOptions<'_>) -> Result<Plan> = config::plan;
    const LOSE: Option<fn(&Path) -> io::Result<()>> = Some(members::lose);
    const READ_SETTINGS: fn(&mut Client) -> Result<Vec<Setting>> = config::read_all;
    const TIER: fn(&[Setting]) -> Guarantee = config::tier;
    const COUNT: fn(&mut Client) -> Result<u64> = Client::count;
    const SESSION: fn(Client) -> Result<Box<dyn Session>> = |client| Ok(Box::new(client));

    fn programs() -> &'static Programs {
        &PROGRAMS
    }

    fn arguments(plan: &Plan, paths: &Paths, _sessions: usize) -> Vec<String> {
        let (nodes, number) = (members::nodes(plan), paths.member);
        let peers = if members::one_way_delay(plan).is_some() { RELAY } else { PEERS };
        let peer_url =
            |number: usize| if nodes == 1 { NOWHERE.to_owned() } else { format!("unix://{peers}{number}") };
        let numbers = if nodes == 1 { 0..=0 } else { 1..=nodes };
        let cluster: Vec<String> =
            numbers.map(|number| format!("{NAME}{number}={}", peer_url(number))).collect();
        let data = paths.own_data();
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
        let arguments = options.into_iter().chain(config::arguments(plan));
        arguments.flat_map(|(name, value)| [format!("--{name}"), value]).collect()
    }

    fn members(plan: &Plan, data: &Path) -> Vec<usize> {
        members::members_to_start(plan, data)
    }

    fn relay(plan: &Plan, socket: &Path) -> Result<Option<Relay>> {
        let Some(one_way_delay) = members::one_way_delay(plan) else { return Ok(None) };
        let names = |number| (format!("{RELAY}{number}"), format!("{PEERS}{number}"));
        let names: Vec<_> = (1..=members::nodes(plan)).map(names).collect();
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

    /// Keys need no holder.
    fn create(_client: &mut Client, _name: &str) -> Result<()> {
        Ok(())
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
}
