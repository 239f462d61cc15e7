//! Cassandra as a kind of server: the things that it does in its own way.

use std::io;
use std::net::SocketAddrV4;
use std::path::Path;
use std::sync::OnceLock;

use rustix::process::Signal;
use scylla_cql::Consistency;
use storebench_core::server::relay::{End, Relay};
use storebench_core::server::running::Address;
use storebench_core::server::{Known, private};
use storebench_core::store::{Guarantee, OpenOptions, Result, Session, Setting, Upkeep};

use super::client::{self, Client, USER};
use super::config::{self, CALLED, LOGGED, LOGS, PEERS};
use super::rows;
use crate::stores::support::server::members::{self, ROUND_TRIP};
use crate::stores::support::server::{
    KeyedSession, Paths, Plan, Programs, Running, Saying, Server, Way, wait_until, write_settings,
};

static PROGRAMS: Programs = Programs {
    product: "Cassandra",
    server: "cassandra",
    maker: None,
    folders: &["/usr/local/bin", "/usr/sbin", "/opt/cassandra/bin", "/opt/homebrew/bin"],
    by_version: &[],
    version: &["-v"],
    version_in,
    // Before, it tells no settings.
    oldest: "4.0",
    get: "scripts/cassandra.sh brings it from Maven Central (docs/servers.md)",
    user: "nobody",
    found: OnceLock::new(),
};

/// The pools of threads that do work for later: the words for it, and their names.
const LATER: [(&str, &str); 2] = [("flush", "MemtableFlushWriter"), ("compaction", "CompactionExecutor")];

/// Cassandra's.
pub enum CassandraServer {}

impl Server for CassandraServer {
    type Client = Client;
    /// Nothing more is known of it.
    type Kept = ();

    const STORE: &'static str = "cassandra";
    const KNOWN: Known = Known { programs: &["java"], users: &[], shared_memory: |_| None };
    const SCHEMES: &'static [&'static str] = &["cassandra"];
    const USER: Option<&'static str> = Some(USER);
    const START_S: f64 = 10.0;
    /// It makes its files itself, so the folder is all.
    const SIGN: &'static str = ".";
    /// Java asks by the whole path whether a file is there.
    const WAY: Way = Way::Own;
    /// Libraries that Java unpacks.
    const NEEDS_MOMENT: bool = true;
    const SAYING: &'static Saying =
        &Saying { name: "cassandra", stop: Signal::TERM, ends_by_signal: true, forgets: false, last_words };
    const HOLDER: &'static str = "keyspace";
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

    fn configure(plan: &Plan, at: &Paths, _sessions: usize) -> Result<()> {
        write_settings(&at.socket.join(LOGGED), LOGS)?;
        write_settings(&config::path(&at.socket, at.member), &config::file(plan, at))
    }

    fn arguments(plan: &Plan, at: &Paths, _sessions: usize) -> Vec<String> {
        let moment = at.moment.as_deref().unwrap_or(&at.socket).display();
        let mut properties = vec![
            format!("cassandra.config=file://{}", config::path(&at.socket, at.member).display()),
            format!("logback.configurationFile={}", at.socket.join(LOGGED).display()),
            format!("cassandra.storagedir={}", at.own_data().display()),
            format!("cassandra.logdir={}", at.socket.display()),
            format!("java.io.tmpdir={moment}"),
            format!("jna.tmpdir={moment}"),
        ];
        if members::nodes(plan) == 1 {
            // There is nobody who would have to hear that it ends.
            properties.push("cassandra.shutdown_announce_in_ms=0".into());
        }
        ["-f".into()].into_iter().chain(properties.iter().map(|one| format!("-D{one}"))).collect()
    }

    fn environment(plan: &Plan, at: &Paths) -> Vec<(&'static str, String)> {
        let mut environment = vec![
            ("CASSANDRA_LOG_DIR", at.socket.display().to_string()),
            // Figures for other programs, in a file below /tmp.
            ("JVM_EXTRA_OPTS", "-XX:-UsePerfData".into()),
        ];
        environment.extend(config::heap(plan).map(|bytes| ("MAX_HEAP_SIZE", bytes.to_owned())));
        environment
    }

    fn members(plan: &Plan, data: &Path) -> Vec<usize> {
        members::to_start(plan, data)
    }

    /// It knows ports alone.
    fn relay(plan: &Plan, socket: &Path) -> Result<Option<Relay>> {
        let (one_way, nodes) = (members::one_way(plan), members::nodes(plan));
        let numbers = (1..=nodes).filter(|_| one_way.is_some());
        let ends = numbers.filter_map(|number| {
            let port = PEERS + number as u16;
            Some((End::At(SocketAddrV4::new(CALLED.parse().ok()?, port)), End::port(port)))
        });
        members::private(socket, &ends.collect::<Vec<_>>(), one_way).map(Some)
    }

    const LOSE: Option<fn(&Path) -> io::Result<()>> = Some(members::lose);

    fn is_ready(_pid: u32, _data: &Path, socket: &Path) -> bool {
        client::are_ready(socket).unwrap_or(false)
    }

    fn connect_own(socket: &Path) -> Result<Client> {
        Client::own(socket)
    }

    fn connect(address: &Address) -> Result<Client> {
        Client::running(address)
    }

    /// As many copies as there are servers, three at most: so many are usual.
    fn create(client: &mut Client, name: &str) -> Result<()> {
        client.enter(name);
        let copies = client.known()?.min(3);
        client.make_keyspace(copies)
    }

    fn enter(client: &mut Client, name: &str, plan: &Plan) -> Result<()> {
        client.enter(name);
        (client.writes, client.reads) = config::levels(plan, client.copies(name)?);
        Ok(())
    }

    fn furnish(socket: &Path) -> Result<()> {
        let mut client = Client::own(socket)?;
        let nodes = client.known()?;
        client.make_keyspace(nodes)
    }

    fn begin(client: &mut Client, plan: &Plan) {
        (client.writes, client.reads) = config::levels(plan, members::nodes(plan));
        client.heap = config::heap(plan).map(str::to_owned);
        client.round_trip = plan.value(ROUND_TRIP).map(str::to_owned);
    }

    fn drop_command(name: &str) -> String {
        format!("cqlsh -e 'DROP KEYSPACE {name}'")
    }

    fn drop_if_there(client: &mut Client, name: &str) -> Result<()> {
        client.enter(name);
        client.drop_keyspace()
    }

    fn settings(client: &mut Client) -> Result<Vec<Setting>> {
        config::read_all(client)
    }

    fn tier(settings: &[Setting]) -> Guarantee {
        config::tier(settings)
    }

    fn make_table(client: &mut Client, compression: bool) -> Result<()> {
        client.make_table(compression)
    }

    fn look_at(_client: &mut Client, _settings: &[Setting], _is_own: bool) -> Result<()> {
        Ok(())
    }

    /// Written rows are moved to tables on disk, and these are merged.
    fn upkeep(client: &mut Client) -> Result<Vec<Upkeep>> {
        let one = |(work, pool)| {
            let (count, under_way) = tasks(client, pool)?;
            Ok(Upkeep { work, count, under_way: under_way > 0 })
        };
        LATER.into_iter().map(one).collect()
    }

    /// Memory is written to tables on disk when there is much in it, whether there is rest or not.
    fn settle(client: &mut Client, (): &(), _running: Option<&Running>) -> Result<()> {
        wait_until::<Self>(client, |client| {
            let mut under_way = 0;
            for (_, pool) in LATER {
                under_way += tasks(client, pool)?.1;
            }
            Ok(under_way == 0)
        })
    }

    /// Only a port of Java's own takes that command.
    fn compact(_client: &mut Client) -> Result<Option<&'static str>> {
        Ok(None)
    }

    fn settings_of_table(client: &mut Client, (): &()) -> Result<Vec<Setting>> {
        let keyspace = client.keyspace().to_owned();
        let of_table = "FROM system_schema.tables WHERE keyspace_name";
        let told = client.text(&format!(
            "SELECT toJson(compression) {of_table} = '{keyspace}' AND table_name = 'records'"
        ))?;
        let told: serde_json::Value = serde_json::from_str(&told).unwrap_or_default();
        let codec = told["class"].as_str().map(|class| class.rsplit('.').next().unwrap_or(class).to_owned());
        Ok(vec![Setting::read_back("compression", codec.unwrap_or_else(|| "off".into()))])
    }

    fn size(client: &mut Client, _running: Option<&Running>) -> Result<(&'static str, Option<u64>)> {
        let asked = format!(
            "SELECT mebibytes FROM system_views.disk_usage WHERE keyspace_name = '{}'",
            client.keyspace()
        );
        let rows = client.rows(&asked, Consistency::One)?;
        Ok(("tables_mebibytes", rows.first().and_then(|row| rows::number(row, 0))))
    }

    fn version(client: &mut Client) -> Result<String> {
        client.version()
    }

    fn count(client: &mut Client) -> Result<u64> {
        client.count()
    }

    fn session(client: Client) -> Result<Box<dyn Session>> {
        Ok(Box::new(KeyedSession(client)))
    }
}

/// The tasks that a pool of the server's has done, and those that it has before it.
fn tasks(client: &mut Client, pool: &str) -> Result<(u64, u64)> {
    let asked = format!(
        "SELECT completed_tasks, active_tasks, pending_tasks FROM system_views.thread_pools WHERE name = '{pool}'"
    );
    let rows = client.rows(&asked, Consistency::One)?;
    let figure = |at| rows.first().and_then(|row| rows::number(row, at)).unwrap_or(0);
    Ok((figure(0), figure(1) + figure(2)))
}

/// Of `5.0.9`, which may stand behind warnings of Java's.
fn version_in(said: &str) -> Option<String> {
    let version = said.lines().rev().find(|line| line.starts_with(|letter: char| letter.is_ascii_digit()))?;
    version.split_whitespace().next().map(str::to_owned)
}

/// Why it did not start, or else the last error of its log.
fn last_words(log: &str) -> Option<String> {
    let start = |line: &str| Some(line.split_once(" encountered during startup: ")?.1.to_owned());
    let error = |line: &str| line.strip_prefix("ERROR ").map(|told| told.trim().to_owned());
    log.lines().rev().find_map(start).or_else(|| log.lines().rev().find_map(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_read() {
        assert_eq!(version_in("OpenJDK warning\n5.0.9\n").as_deref(), Some("5.0.9"));
        assert_eq!(version_in("of another kind"), None);
    }

    #[test]
    fn the_last_words_say_what_is_wrong() {
        let start = "Exception (org.x.ConfigurationException) encountered during startup: Invalid yaml: colour\n\
                     ERROR Exception encountered during startup\n\tat org.x.Y\n";
        assert_eq!(last_words(start).as_deref(), Some("Invalid yaml: colour"));
        assert_eq!(last_words("INFO a\nERROR no space left\n\tat b\n").as_deref(), Some("no space left"));
        assert_eq!(last_words("INFO ready\n"), None);
    }
}
