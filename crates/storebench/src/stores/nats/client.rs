//! A session with NATS: records in a bucket, as its clients have them.

use std::fs;
use std::io::{Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use serde::Deserialize;
use storebench_core::server::running::{Address, At};
use storebench_core::store::{Result, StoreError};

use super::MAX_KEY_BYTES;
use super::bucket::{self, API, OPERATION, REMOVED, State};
use super::config::CONFIG;
use super::wire::{Info, NOBODY, Wire, odd};
use crate::stores::support::server::members::{self, Told};
use crate::stores::support::server::socket::Socket;
use crate::stores::support::server::{Change, Keyed};

/// Where servers listen unless they are told otherwise; those of a trial's own add their numbers.
pub const PORT: u16 = 4222;
pub const MONITOR: u16 = 8222;
/// The user where a URL names none; a server without passwords asks for no name.
pub const USER: &str = "nobody";
/// The bucket of a trial's own server.
const OWN_BUCKET: &str = "records";
/// The name of a trial's own server, before its number.
pub const NAME: &str = "storebench";
/// The messages of one batch that a server takes as shipped...
const SHIPPED_BATCH: usize = 1000;
/// ... and that a trial's own is told to take.
pub const OWN_BATCH: usize = 1 << 20;
/// The bytes of a message that are not its value's.
const BESIDE: usize = 4 << 10;
/// The bytes of one batch for a running server: as shipped it lets 128 MiB wait.
const SHIPPED_BATCH_BYTES: usize = 64 << 20;
/// The longest time that servers of a cluster may take to find each other and choose who leads.
const LONGEST_CHOICE: Duration = Duration::from_secs(60);

/// A session.
pub struct Client {
    wire: Wire,
    place: Place,
    bucket: String,
    /// The beginning of every record's subject.
    beginning: String,
    /// Whether reads are answered by the leader alone.
    pub leader_reads: bool,
    /// The running members that the URL names, by their names; none of one server.
    members: Vec<(String, Address)>,
    /// The servers of a trial's own cluster that were started.
    started: usize,
    /// The time between servers and back, as it was asked for.
    pub round_trip: Option<String>,
    subject: String,
    shown: Shown,
}

/// Where the value lies that was shown last.
enum Shown {
    /// In what was received.
    There(Range<usize>),
    /// Apart, as it had to be decoded.
    Decoded(Vec<u8>),
}

/// The way to the server.
enum Place {
    /// The trial's own: the folder of its network's gate, and its number.
    Own(PathBuf, u16),
    Running(Address),
}

impl Place {
    fn socket(&self, port: u16) -> Result<Socket> {
        let (socket, name) = match self {
            Place::Own(folder, number) => (Socket::private(folder, port + number), "nats-server".to_owned()),
            Place::Running(address) => {
                let At::Host(name) = &address.at else {
                    return Err(StoreError::BadSetting("NATS listens at ports alone: name a host".into()));
                };
                let socket = Socket::tcp(name, port);
                (socket, format!("nats at {}", address.name()))
            }
        };
        socket.map_err(StoreError::io(format!("connecting to {name}")))
    }
}

/// The facts that a server tells of itself to whoever watches it.
#[derive(Deserialize)]
struct Monitored {
    jetstream: JetStream,
    #[serde(default)]
    cluster: Cluster,
}

#[derive(Default, Deserialize)]
struct Cluster {
    /// None where it is in no cluster.
    #[serde(default)]
    name: String,
}

/// The same of JetStream.
#[derive(Default, Deserialize)]
pub struct JetStream {
    /// Its settings; none where it is off.
    pub config: Option<JetStreamConfig>,
    /// The cluster.
    pub meta: Option<Meta>,
}

/// The settings of JetStream.
#[derive(Deserialize)]
pub struct JetStreamConfig {
    /// Between two syncs, in nanoseconds.
    #[serde(default)]
    pub sync_interval: u64,
    /// Whether each write is synced.
    #[serde(default)]
    pub sync_always: bool,
}

/// The group of all servers of a cluster.
#[derive(Deserialize)]
pub struct Meta {
    /// The servers.
    #[serde(default)]
    pub cluster_size: usize,
}

impl Client {
    /// A session with the trial's own server, whose network's gate is in this folder; where there are several, with the one that leads.
    ///
    /// # Errors
    /// The server's; where none leads.
    pub fn own(folder: &Path) -> Result<Client> {
        let entries = fs::read_dir(folder).map_err(StoreError::io("looking for servers of NATS"))?;
        let numbers = entries
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.strip_prefix(CONFIG)?.parse().ok());
        let numbers: Vec<u16> = numbers.collect();
        for number in &numbers {
            // One that is not there takes no calls.
            let Ok(mut client) = Client::of_number(folder, *number) else { continue };
            if numbers.len() == 1 {
                return Ok(client);
            }
            let Ok(stream) = bucket::look_now(&mut client.wire, OWN_BUCKET) else { continue };
            let leader = match &stream {
                None => Some(client.wire.info.server_name.clone()),
                Some(stream) => stream.leader().map(str::to_owned),
            };
            let Some(leads) = leader.as_deref().and_then(|name| name.strip_prefix(NAME)?.parse().ok()) else {
                continue;
            };
            if leads != *number {
                let Ok(other) = Client::of_number(folder, leads) else { continue };
                client = other;
            }
            client.started = numbers.len();
            return Ok(client);
        }
        Err(StoreError::Engine("no server of NATS leads".into()))
    }

    fn of_number(folder: &Path, number: u16) -> Result<Client> {
        Client::at(Place::Own(folder.to_path_buf(), number), PORT, None)
    }

    /// The number of the trial's own server that it talks to.
    #[cfg(test)]
    pub fn own_number(&self) -> usize {
        self.wire.info.server_name[NAME.len()..].parse().unwrap()
    }

    /// A session with a running server; with any, where the URL names several members of a cluster, until [`Client::go_to_leader`].
    ///
    /// # Errors
    /// The servers'; where one of them can't be reached, or they are not of one cluster and version.
    pub fn running(address: &Address) -> Result<Client> {
        if address.others.is_empty() {
            return Client::member(address);
        }
        let (mut told, mut known, mut first) = (Vec::new(), Vec::new(), None);
        for one in address.each() {
            let client = Client::member(&one).map_err(members::of(&one))?;
            let Info { server_name, version, cluster, .. } = &client.wire.info;
            let cluster = Some(cluster.clone()).filter(|name| !name.is_empty());
            told.push((one.name(), Told { cluster, member: server_name.clone(), version: version.clone() }));
            known.push((server_name.clone(), one));
            first.get_or_insert(client);
        }
        members::expect_one_cluster(&told)?;
        let mut client = first.ok_or_else(odd)?;
        client.members = known;
        Ok(client)
    }

    /// Talks to the member that leads the bucket, where the URL names it.
    ///
    /// # Errors
    /// The servers'.
    pub fn go_to_leader(&mut self) -> Result<()> {
        if self.members.is_empty() {
            return Ok(());
        }
        let stream = bucket::look(&mut self.wire, &self.bucket)?;
        let leader = stream.as_ref().and_then(|stream| stream.leader());
        if leader == Some(self.wire.info.server_name.as_str()) {
            return Ok(());
        }
        let found = self.members.iter().find(|(name, _)| Some(name.as_str()) == leader);
        let (_, address) = found.ok_or_else(|| {
            let all = self.members.iter().map(|(_, one)| one.name()).collect::<Vec<_>>().join(", ");
            StoreError::Engine(format!("of {all} none leads the bucket: name all members"))
        })?;
        let mut other = Client::member(address)?;
        other.enter(&self.bucket);
        other.members = std::mem::take(&mut self.members);
        *self = other;
        Ok(())
    }

    /// A session with one running server.
    fn member(address: &Address) -> Result<Client> {
        let password = std::env::var("NATS_PASSWORD").ok();
        if password.is_none() && address.user != USER {
            return Err(StoreError::Engine("no password for the URL's user: set NATS_PASSWORD".into()));
        }
        let user = password.as_deref().map(|password| (address.user.as_str(), password));
        let client = Client::at(Place::Running(address.clone()), address.port.unwrap_or(PORT), user)?;
        if address.database.is_some() {
            return Err(StoreError::Engine("NATS has no databases: leave out what follows the port".into()));
        }
        Ok(client)
    }

    fn at(place: Place, port: u16, user: Option<(&str, &str)>) -> Result<Client> {
        let mut client = Client {
            wire: Wire::over(place.socket(port)?, user)?,
            place,
            bucket: String::new(),
            beginning: String::new(),
            leader_reads: false,
            members: Vec::new(),
            started: 0,
            round_trip: None,
            subject: String::new(),
            shown: Shown::There(0..0),
        };
        client.enter(OWN_BUCKET);
        Ok(client)
    }

    /// The servers that have the bucket.
    ///
    /// # Errors
    /// JetStream's.
    pub fn copies(&mut self) -> Result<usize> {
        Ok(bucket::look(&mut self.wire, &self.bucket)?.map_or(1, |stream| stream.copies()))
    }

    /// From here on, records are those of this bucket.
    pub fn enter(&mut self, bucket: &str) {
        // A key begins with a letter, as none may be empty.
        (self.bucket, self.beginning) = (bucket.to_owned(), format!("$KV.{bucket}.k"));
    }

    /// The server's version.
    pub fn version(&self) -> String {
        self.wire.info.version.clone()
    }

    fn is_own(&self) -> bool {
        matches!(self.place, Place::Own(..))
    }

    /// Makes the bucket, unless it is there, and waits until it can be used.
    ///
    /// # Errors
    /// JetStream's.
    pub fn make(&mut self, copies: usize) -> Result<()> {
        let start = Instant::now();
        loop {
            let made = self.make_now(copies);
            match made {
                Ok(true) => return Ok(()),
                Err(error) if !(bucket::passes(&error) && copies > 1) => return Err(error),
                _ if start.elapsed() < LONGEST_CHOICE => std::thread::sleep(Duration::from_millis(50)),
                Ok(false) => return Err(StoreError::Engine("no server leads the bucket".into())),
                Err(error) => return Err(error),
            }
        }
    }

    /// Whether it has a leader.
    fn make_now(&mut self, copies: usize) -> Result<bool> {
        let found = match bucket::look(&mut self.wire, &self.bucket)? {
            Some(found) => Some(found),
            None => {
                bucket::create(&mut self.wire, &self.bucket, copies)?;
                bucket::look(&mut self.wire, &self.bucket)?
            }
        };
        if found.as_ref().is_some_and(|stream| !stream.has_batches()) {
            let version = self.version();
            return Err(StoreError::Unsupported(format!(
                "this server is NATS {version}, which has no atomic batches: 2.12 has"
            )));
        }
        Ok(found.is_some_and(|stream| copies == 1 || stream.leader().is_some()))
    }

    /// Deletes the bucket.
    ///
    /// # Errors
    /// JetStream's.
    pub fn delete(&mut self) -> Result<()> {
        bucket::delete(&mut self.wire, &self.bucket)
    }

    /// Writes a key's subject.
    fn address(&mut self, key: &[u8]) {
        self.subject.clear();
        self.subject.push_str(&self.beginning);
        BASE64_URL_SAFE_NO_PAD.encode_string(key, &mut self.subject);
    }

    fn fits(&self, value: &[u8]) -> Result<()> {
        let most = self.wire.info.max_payload.saturating_sub(BESIDE);
        if value.len() <= most {
            return Ok(());
        }
        Err(StoreError::Unsupported(format!(
            "this server of NATS takes values of up to {most} bytes (max_payload)"
        )))
    }

    /// Sets the value of a key.
    ///
    /// # Errors
    /// The server's.
    pub fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.fits(value)?;
        self.address(key);
        let answer = self.wire.ask(&[self.subject.as_bytes()], b"", value)?;
        bucket::is_kept(self.wire.bytes(answer.body))
    }

    /// Removes a key, which may be gone: a message stands for that from then on.
    ///
    /// # Errors
    /// The server's.
    pub fn remove(&mut self, key: &[u8]) -> Result<()> {
        self.address(key);
        let head = format!("NATS/1.0\r\n{REMOVED}\r\n");
        let answer = self.wire.ask(&[self.subject.as_bytes()], head.as_bytes(), b"")?;
        bucket::is_kept(self.wire.bytes(answer.body))
    }

    /// Any server that has a copy answers, with the message as it is.
    fn read_directly(&mut self) -> Result<Option<Shown>> {
        let bucket = self.bucket.as_bytes();
        let subject = [API.as_bytes(), b".DIRECT.GET.KV_", bucket, b".", self.subject.as_bytes()];
        let answer = self.wire.ask(&subject, b"", b"")?;
        match self.wire.state(&answer) {
            Some(b"404") => Ok(None),
            Some(_) => Err(odd()),
            None if self.wire.header(&answer, OPERATION).is_some() => Ok(None),
            None => Ok(Some(Shown::There(answer.body))),
        }
    }

    fn read_by_leader(&mut self) -> Result<Option<Shown>> {
        let Some(record) = bucket::read(&mut self.wire, &self.bucket, &self.subject)? else {
            return Ok(None);
        };
        let decoded = |text: &str| BASE64_STANDARD.decode(text).map_err(|_| odd());
        let removed =
            decoded(&record.hdrs)?.windows(OPERATION.len()).any(|word| word == OPERATION.as_bytes());
        if removed { Ok(None) } else { Ok(Some(Shown::Decoded(decoded(&record.data)?))) }
    }

    /// One batch: what is in it is kept once its last message says so.
    fn change_together(&mut self, changes: &[Change<'_>]) -> Result<()> {
        let name = self.wire.own_subject();
        let name = &name["_INBOX.".len()..];
        let mut head = Vec::new();
        for (at, (key, value)) in changes.iter().enumerate() {
            let (number, is_last) = (at + 1, at + 1 == changes.len());
            let removed = if value.is_none() { REMOVED } else { "" };
            let commit = if is_last { "Nats-Batch-Commit: 1\r\n" } else { "" };
            head.clear();
            // Nothing fails that is written to memory.
            let _ = write!(
                head,
                "NATS/1.0\r\nNats-Batch-Id: {name}\r\nNats-Batch-Sequence: {number}\r\n{removed}{commit}\r\n"
            );
            self.address(key);
            let (subject, value) = ([self.subject.as_bytes()], value.unwrap_or_default());
            if is_last {
                let answer = self.wire.ask(&subject, &head, value)?;
                bucket::is_kept(self.wire.bytes(answer.body))?;
            } else {
                self.wire.post(&subject, &head, value)?;
            }
        }
        Ok(())
    }

    /// The number of records.
    ///
    /// # Errors
    /// The server's.
    pub fn count(&mut self) -> Result<u64> {
        Ok(bucket::list(&mut self.wire, &self.bucket)?.records)
    }

    /// Forgets the messages that stand for removed records.
    ///
    /// # Errors
    /// The server's.
    pub fn forget_removed(&mut self) -> Result<()> {
        let removed = bucket::list(&mut self.wire, &self.bucket)?.removed;
        removed.iter().try_for_each(|subject| bucket::forget(&mut self.wire, &self.bucket, subject))
    }

    /// The size of the bucket.
    ///
    /// # Errors
    /// The server's.
    pub fn state(&mut self) -> Result<State> {
        let stream = bucket::look(&mut self.wire, &self.bucket)?;
        stream.map(|stream| stream.state).ok_or_else(|| StoreError::Engine("the bucket is gone".into()))
    }

    /// The facts that the server tells at its port for watching it.
    ///
    /// # Errors
    /// Where it tells nothing there.
    pub fn monitored(&mut self) -> Result<JetStream> {
        let start = Instant::now();
        loop {
            match self.monitored_now() {
                // One of several may know later than the others who leads.
                Err(error) if self.is_own() && bucket::passes(&error) && start.elapsed() < LONGEST_CHOICE => {
                    std::thread::sleep(Duration::from_millis(20));
                }
                monitored => return monitored,
            }
        }
    }

    fn monitored_now(&self) -> Result<JetStream> {
        let told = self.watched().map_err(|error| match self.is_own() {
            true => error,
            false => StoreError::Engine(format!(
                "its settings can't be read ({error}): they are told at port {MONITOR} of its host, by nats-server -m {MONITOR}"
            )),
        })?;
        // Servers get to know each other, one by one; two are none that storebench starts.
        let known = told.jetstream.meta.as_ref().map_or(0, |meta| meta.cluster_size);
        let are_known = known >= self.started.max(1) && !(self.is_own() && known == 2);
        if !told.cluster.name.is_empty() && !are_known {
            return Err(StoreError::Engine(NOBODY.into()));
        }
        if told.jetstream.config.is_none() {
            return Err(StoreError::Unsupported(
                "JetStream, which keeps records, is off (nats-server -js)".into(),
            ));
        }
        Ok(told.jetstream)
    }

    fn watched(&self) -> Result<Monitored> {
        let mut socket = self.place.socket(MONITOR)?;
        let mut told = Vec::new();
        let asked =
            socket.write_all(b"GET /varz HTTP/1.0\r\n\r\n").and_then(|()| socket.read_to_end(&mut told));
        asked.map_err(|error| socket.lost(error))?;
        let told = String::from_utf8_lossy(&told);
        let (_, body) = told.split_once("\r\n\r\n").ok_or_else(odd)?;
        serde_json::from_str(body).map_err(|_| odd())
    }
}

impl Keyed for Client {
    const PRODUCT: &'static str = "NATS";
    const MAX_KEY_BYTES: usize = MAX_KEY_BYTES;

    fn change(&mut self, (key, value): Change<'_>) -> Result<()> {
        match value {
            Some(value) => self.put(key, value),
            None => self.remove(key),
        }
    }

    /// All or none: on a running server, whose limit is not known, of as many at a time as it takes as shipped.
    fn change_all(&mut self, changes: &[Change<'_>]) -> Result<()> {
        changes.iter().try_for_each(|(_, value)| self.fits(value.unwrap_or_default()))?;
        let (most, most_bytes) =
            if self.is_own() { (OWN_BATCH, usize::MAX) } else { (SHIPPED_BATCH, SHIPPED_BATCH_BYTES) };
        let mut rest = changes;
        while !rest.is_empty() {
            let mut bytes = 0;
            let fitting = rest.iter().take(most).take_while(|(key, value)| {
                bytes += key.len() + value.unwrap_or_default().len();
                bytes <= most_bytes
            });
            let (now, later) = rest.split_at(fitting.count().max(1));
            self.change_together(now)?;
            rest = later;
        }
        Ok(())
    }

    fn get(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        self.address(key);
        let found = if self.leader_reads { self.read_by_leader()? } else { self.read_directly()? };
        let Some(shown) = found else { return Ok(false) };
        self.shown = shown;
        visit(self.shown());
        Ok(true)
    }

    fn shown(&self) -> &[u8] {
        match &self.shown {
            Shown::There(at) => self.wire.bytes(at.clone()),
            Shown::Decoded(value) => value,
        }
    }
}
