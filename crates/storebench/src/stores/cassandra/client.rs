//! A session with Cassandra: records in a table of a keyspace.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use scylla_cql::Consistency;
use scylla_cql::frame::request::Query;
use scylla_cql::frame::request::execute::ExecuteV2;
use scylla_cql::frame::request::query::QueryParameters;
use scylla_cql::frame::response::result::cow_bytes::CowBytes;
use scylla_cql::frame::response::result::{ColumnType, NativeType, Result as Told};
use scylla_cql::serialize::row::SerializedValues;
use storebench_core::server::running::{Address, At};
use storebench_core::store::{Result, StoreError};

use super::MAX_KEY_BYTES;
use super::config::CONFIG;
use super::rows::{self, Row};
use super::wire::{Wire, odd};
use crate::stores::support::server::members::{self, Told as Member};
use crate::stores::support::server::socket::Socket;
use crate::stores::support::server::{Change, Keyed};

/// Where servers listen unless they are told otherwise; those of a trial's own add their numbers.
pub const PORT: u16 = 9042;
/// The user where a URL names none; a server without passwords asks for no name.
pub const USER: &str = "nobody";
/// The keyspace of a trial's own server.
const OWN_KEYSPACE: &str = "storebench";
/// The changes of a batch that are sent before the first is answered.
const ON_THE_WAY: usize = 128;
/// The numbers under which requests are sent.
const NUMBERS: usize = 1 << 15;
/// The most times that the records are halved to be counted.
const MOST_HALVINGS: u32 = 8;
/// The longest time that servers of a cluster may take to know each other and a new table.
const LONGEST_MEETING: Duration = Duration::from_secs(60);
/// The longest time that is waited until all know a new table, as drivers do: one that is gone does not get to know it.
const LONGEST_AGREEMENT: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(20);

/// A session.
pub struct Client {
    wire: Wire,
    place: Place,
    keyspace: String,
    /// Those for records; none before the first is used.
    statements: Option<Statements>,
    /// The servers that must have a write, and that are asked for a read.
    pub writes: Consistency,
    pub reads: Consistency,
    /// The memory of Java's heap, and the time between servers and back, as they were asked for.
    pub heap: Option<String>,
    pub round_trip: Option<String>,
    shown: Bytes,
}

/// Prepared statements, by their names.
struct Statements {
    put: Bytes,
    get: Bytes,
    remove: Bytes,
}

/// The way to the server.
enum Place {
    /// The trial's own: the folder of its network's gate.
    Own(PathBuf),
    Running,
}

impl Client {
    /// A session with a trial's own server, whose network's gate is in this folder: of several, each time with the next that answers.
    ///
    /// # Errors
    /// That of the last one.
    pub fn own(folder: &Path) -> Result<Client> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let numbers = numbers(folder)?;
        let first = NEXT.fetch_add(1, Ordering::Relaxed);
        let mut failed = odd();
        for at in 0..numbers.len() {
            match Client::of_number(folder, numbers[(first + at) % numbers.len()]) {
                Ok(client) => return Ok(client),
                Err(error) => failed = error,
            }
        }
        Err(failed)
    }

    fn of_number(folder: &Path, number: u16) -> Result<Client> {
        let socket =
            Socket::private(folder, PORT + number).map_err(StoreError::io("connecting to cassandra"))?;
        Ok(Client::over(Wire::over(socket, None)?, Place::Own(folder.to_path_buf())))
    }

    /// A session with a running server; with any of them, where the URL names several members of a cluster.
    ///
    /// # Errors
    /// The servers'; where one of them can't be reached, or they are not of one cluster and version.
    pub fn running(address: &Address) -> Result<Client> {
        if address.others.is_empty() {
            return Client::member(address);
        }
        let (mut told, mut first) = (Vec::new(), None);
        for one in address.each() {
            let mut client = Client::member(&one).map_err(members::of(&one))?;
            told.push((one.name(), client.told()?));
            first.get_or_insert(client);
        }
        members::expect_one_cluster(&told)?;
        first.ok_or_else(odd)
    }

    fn member(address: &Address) -> Result<Client> {
        let At::Host(name) = &address.at else {
            return Err(StoreError::BadSetting("Cassandra listens at ports alone: name a host".into()));
        };
        let password = std::env::var("CASSANDRA_PASSWORD").ok();
        if password.is_none() && address.user != USER {
            return Err(StoreError::Engine("no password for the URL's user: set CASSANDRA_PASSWORD".into()));
        }
        let socket = Socket::tcp(name, address.port.unwrap_or(PORT));
        let socket =
            socket.map_err(StoreError::io(format!("connecting to cassandra at {}", address.name())))?;
        let user = password.as_deref().map(|password| (address.user.as_str(), password));
        let client = Client::over(Wire::over(socket, user)?, Place::Running);
        if address.database.is_some() {
            let why = "records have a keyspace of their own: leave out what follows the port";
            return Err(StoreError::Engine(why.into()));
        }
        Ok(client)
    }

    fn over(wire: Wire, place: Place) -> Client {
        Client {
            wire,
            place,
            keyspace: OWN_KEYSPACE.into(),
            statements: None,
            writes: Consistency::One,
            reads: Consistency::One,
            heap: None,
            round_trip: None,
            shown: Bytes::new(),
        }
    }

    /// From here on, records are those of this keyspace.
    pub fn enter(&mut self, keyspace: &str) {
        (self.keyspace, self.statements) = (keyspace.to_owned(), None);
    }

    /// The keyspace of the records.
    pub fn keyspace(&self) -> &str {
        &self.keyspace
    }

    /// The rows that a statement gives.
    ///
    /// # Errors
    /// The server's.
    pub fn rows(&mut self, statement: &str, consistency: Consistency) -> Result<Vec<Row>> {
        let parameters = QueryParameters { consistency, ..QueryParameters::default() };
        self.wire.send(&Query { contents: statement.into(), parameters }, 0)?;
        match self.wire.result()? {
            Told::Rows((told, _)) => rows::all(told),
            _ => Ok(Vec::new()),
        }
    }

    /// The first column of the first row that a statement gives, a text.
    ///
    /// # Errors
    /// The server's; where there is none.
    pub fn text(&mut self, statement: &str) -> Result<String> {
        let rows = self.rows(statement, Consistency::One)?;
        rows.first().map(|row| rows::text(row, 0)).ok_or_else(odd)
    }

    /// The facts that the server tells of itself.
    fn told(&mut self) -> Result<Member> {
        let local = "SELECT cluster_name, CAST(host_id AS text), release_version FROM system.local";
        let rows = self.rows(local, Consistency::One)?;
        let row = rows.first().ok_or_else(odd)?;
        let [cluster, member, version] = [0, 1, 2].map(|at| rows::text(row, at));
        Ok(Member { cluster: Some(cluster), member, version })
    }

    /// The server's version.
    ///
    /// # Errors
    /// The server's.
    pub fn version(&mut self) -> Result<String> {
        self.text("SELECT release_version FROM system.local")
    }

    /// The servers that the one talked to knows, itself among them.
    ///
    /// # Errors
    /// The server's.
    pub fn known(&mut self) -> Result<usize> {
        Ok(self.rows("SELECT peer FROM system.peers_v2", Consistency::One)?.len() + 1)
    }

    /// Makes the keyspace, unless it is there, of so many copies of each record.
    ///
    /// # Errors
    /// The server's.
    pub fn make_keyspace(&mut self, copies: usize) -> Result<()> {
        let made = format!(
            "CREATE KEYSPACE IF NOT EXISTS {} WITH replication = {{'class': 'NetworkTopologyStrategy', 'replication_factor': {copies}}}",
            self.keyspace
        );
        self.rows(&made, Consistency::One).map(drop)
    }

    /// Makes the table of records, unless it is there, and waits until all servers know it.
    ///
    /// # Errors
    /// The server's.
    pub fn make_table(&mut self, compression: bool) -> Result<()> {
        let compression = if compression { "'class': 'LZ4Compressor'" } else { "'enabled': 'false'" };
        let made = format!(
            "CREATE TABLE IF NOT EXISTS {}.records (key blob PRIMARY KEY, value blob) WITH compression = {{{compression}}}",
            self.keyspace
        );
        self.rows(&made, Consistency::One)?;
        let start = Instant::now();
        while !self.agrees()? && start.elapsed() < LONGEST_AGREEMENT {
            std::thread::sleep(PAUSE);
        }
        self.meet()
    }

    /// Whether all servers have one version of all tables.
    fn agrees(&mut self) -> Result<bool> {
        let own = self.text("SELECT CAST(schema_version AS text) FROM system.local")?;
        let others =
            self.rows("SELECT CAST(schema_version AS text) FROM system.peers_v2", Consistency::One)?;
        Ok(others.iter().all(|row| rows::text(row, 0) == own))
    }

    /// Waits until each of the trial's own servers reaches as many others as reads and writes may take.
    fn meet(&self) -> Result<()> {
        let Place::Own(folder) = &self.place else { return Ok(()) };
        let numbers = numbers(folder)?;
        let start = Instant::now();
        for number in &numbers {
            let mut client = Client::of_number(folder, *number)?;
            let copies = client.copies(&self.keyspace)?;
            let level = if numbers.len() >= copies { Consistency::All } else { Consistency::Quorum };
            let looked = format!("SELECT key FROM {}.records LIMIT 1", self.keyspace);
            while let Err(error) = client.rows(&looked, level) {
                if start.elapsed() > LONGEST_MEETING {
                    return Err(error);
                }
                std::thread::sleep(PAUSE);
            }
        }
        Ok(())
    }

    /// The servers that have each record of a keyspace.
    ///
    /// # Errors
    /// The server's; where there is no such keyspace.
    pub fn copies(&mut self, keyspace: &str) -> Result<usize> {
        let asked = format!(
            "SELECT toJson(replication) FROM system_schema.keyspaces WHERE keyspace_name = '{keyspace}'"
        );
        let told: HashMap<String, String> = serde_json::from_str(&self.text(&asked)?).map_err(|_| odd())?;
        Ok(told
            .iter()
            .filter(|(name, _)| *name != "class")
            .filter_map(|(_, copies)| copies.parse::<usize>().ok())
            .sum())
    }

    /// Drops the keyspace, which may be gone.
    ///
    /// # Errors
    /// The server's.
    pub fn drop_keyspace(&mut self) -> Result<()> {
        self.rows(&format!("DROP KEYSPACE IF EXISTS {}", self.keyspace), Consistency::One).map(drop)
    }

    fn statements(&mut self) -> Result<&Statements> {
        if self.statements.is_none() {
            let table = format!("{}.records", self.keyspace);
            self.statements = Some(Statements {
                put: self.wire.prepare(&format!("INSERT INTO {table} (key, value) VALUES (?, ?)"))?,
                get: self.wire.prepare(&format!("SELECT value FROM {table} WHERE key = ?"))?,
                remove: self.wire.prepare(&format!("DELETE FROM {table} WHERE key = ?"))?,
            });
        }
        self.statements.as_ref().ok_or_else(odd)
    }

    /// Sends a statement's values, under a number by which it is answered.
    fn execute(
        &mut self,
        of: impl Fn(&Statements) -> &Bytes,
        values: &[&[u8]],
        consistency: Consistency,
        number: i16,
    ) -> Result<()> {
        let id = of(self.statements()?).clone();
        let mut bound = SerializedValues::new();
        for value in values {
            let added = bound.add_value(value, &ColumnType::Native(NativeType::Blob));
            added.map_err(|error| StoreError::Unsupported(error.to_string()))?;
        }
        let parameters =
            QueryParameters { consistency, values: Cow::Owned(bound), ..QueryParameters::default() };
        let id = CowBytes::from(&id[..]);
        self.wire
            .send(&ExecuteV2 { id, result_metadata_id: None, parameters, tablet_version_block: None }, number)
    }

    fn send(&mut self, (key, value): Change<'_>, number: i16) -> Result<()> {
        match value {
            Some(value) => self.execute(|all| &all.put, &[key, value], self.writes, number),
            None => self.execute(|all| &all.remove, &[key], self.writes, number),
        }
    }

    /// The number of records.
    ///
    /// # Errors
    /// The server's.
    pub fn count(&mut self) -> Result<u64> {
        self.count_between(i64::MIN, i64::MAX, MOST_HALVINGS)
    }

    /// Those whose keys' hashes are between two. A server gives up what takes it long: then each half is counted.
    fn count_between(&mut self, from: i64, to: i64, halvings: u32) -> Result<u64> {
        let counted = format!(
            "SELECT COUNT(*) FROM {}.records WHERE token(key) > {from} AND token(key) <= {to}",
            self.keyspace
        );
        match self.rows(&counted, self.reads) {
            Ok(rows) => rows.first().and_then(|row| rows::number(row, 0)).ok_or_else(odd),
            Err(StoreError::Engine(_)) if halvings > 0 => {
                let middle = i64::midpoint(from, to);
                let first = self.count_between(from, middle, halvings - 1)?;
                Ok(first + self.count_between(middle, to, halvings - 1)?)
            }
            Err(error) => Err(error),
        }
    }
}

impl Keyed for Client {
    const PRODUCT: &'static str = "Cassandra";
    const MAX_KEY_BYTES: usize = MAX_KEY_BYTES;

    fn change(&mut self, change: Change<'_>) -> Result<()> {
        self.send(change, 0)?;
        self.wire.result().map(drop)
    }

    /// They go one by one, without waiting for each: what was taken before an error stays.
    fn change_all(&mut self, changes: &[Change<'_>]) -> Result<()> {
        // The server carries out those that are on the way in any order.
        let last: HashMap<&[u8], usize> =
            changes.iter().enumerate().map(|(at, (key, _))| (*key, at)).collect();
        let mut counting = changes.iter().enumerate().filter(|(at, (key, _))| last[key] == *at);
        let mut failed = None;
        let mut under_way: usize = 0;
        loop {
            let next = if failed.is_none() && under_way < ON_THE_WAY { counting.next() } else { None };
            match next {
                Some((at, change)) => {
                    // A number is free again long before its turn comes once more.
                    match self.send(*change, (at % NUMBERS) as i16) {
                        Ok(()) => under_way += 1,
                        Err(error) => failed = Some(error),
                    }
                }
                None if under_way == 0 => return failed.map_or(Ok(()), Err),
                None => {
                    match self.wire.result() {
                        Err(error @ StoreError::Io { .. }) => return Err(error),
                        told => failed = failed.or(told.err()),
                    }
                    under_way -= 1;
                }
            }
        }
    }

    fn get(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        self.execute(|all| &all.get, &[key], self.reads, 0)?;
        let Told::Rows((told, _)) = self.wire.result()? else { return Err(odd()) };
        let Some(value) = rows::only(told)? else { return Ok(false) };
        self.shown = value;
        visit(&self.shown);
        Ok(true)
    }

    fn shown(&self) -> &[u8] {
        &self.shown
    }
}

/// The numbers of a trial's own servers whose network's gate is in this folder.
fn numbers(folder: &Path) -> Result<Vec<u16>> {
    let entries = fs::read_dir(folder).map_err(StoreError::io("looking for servers of Cassandra"))?;
    let number = |name: &str| name.strip_prefix(CONFIG)?.strip_suffix(".yaml")?.parse().ok();
    let mut numbers: Vec<u16> =
        entries.flatten().filter_map(|entry| number(entry.file_name().to_str()?)).collect();
    numbers.sort_unstable();
    if numbers.is_empty() { Err(odd()) } else { Ok(numbers) }
}

/// Whether each of a trial's own servers takes connections and knows all others.
pub fn are_ready(folder: &Path) -> Result<bool> {
    let numbers = numbers(folder)?;
    for number in &numbers {
        if Client::of_number(folder, *number)?.known()? < numbers.len() {
            return Ok(false);
        }
    }
    Ok(true)
}
