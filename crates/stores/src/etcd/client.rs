//! A session with etcd: each record is a key below a prefix, as it has no tables and takes no empty keys.

use std::collections::HashMap;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use prost::bytes::Bytes;
use storebench_model::server::running::Address;
use storebench_model::store::{Result, Session, StoreError};

use super::connection::Connection;
use super::kind::{expect_one_cluster, name_member};
use super::messages::{
    AskMembers, AskStatus, Authenticate, Change, Compaction, Defragment, DeleteRange, OneChange, Put, Range,
    RangeResponse, Record, Status, Transaction,
};
use crate::support::server::{socket::Socket, unreadable};

const PORT: u16 = 2379;
/// The prefix of a member's client socket: a file in the server's working folder, whose name must look like host and port.
pub const SOCKET: &str = "client:";
/// The default user; a server without passwords asks for no name.
pub const USER: &str = "root";
/// Changes per transaction that a server takes as shipped...
const SHIPPED_TRANSACTION: usize = 128;
/// ... and that a trial's own is started with.
pub const OWN_TRANSACTION: usize = 1 << 20;
/// As shipped a request has at most 1.5 MiB, keys included.
pub const MAX_KEY_BYTES: usize = 1 << 20;

pub struct Client {
    connection: Connection,
    target: ServerTarget,
    /// The prefix of every key, and the first key after all of them.
    key_prefix: Bytes,
    end: Bytes,
    /// Whether this member answers reads without asking the others.
    pub serializable: bool,
    pub round_trip: Option<String>,
    shown_bytes: Bytes,
}

enum ServerTarget {
    /// The trial's own server: its socket's folder and name.
    Own(PathBuf, String),
    Running(Address),
}

impl ServerTarget {
    fn socket(&self) -> Result<Socket> {
        let (socket, name) = match self {
            ServerTarget::Own(folder, name) => (Socket::connect_own(folder, name), "etcd".to_owned()),
            ServerTarget::Running(address) => {
                (Socket::connect(address, PORT), format!("etcd at {}", address.name()))
            }
        };
        socket.map_err(StoreError::io(format!("connecting to {name}")))
    }
}

fn is_leader(status: &Status) -> bool {
    status.leader != 0 && status.header.as_ref().is_some_and(|header| header.member == status.leader)
}

impl Client {
    /// Connects to the trial's own server in this folder; of several, to the leader. Fails also when none leads.
    pub fn connect_own(folder: &Path) -> Result<Client> {
        let entries = fs::read_dir(folder).map_err(StoreError::io("looking for etcd's socket"))?;
        let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        let names: Vec<String> = names.filter(|name| name.starts_with(SOCKET)).collect();
        for name in names {
            // One that is not there takes no calls.
            let Ok(mut client) = Client::connect(ServerTarget::Own(folder.to_path_buf(), name)) else {
                continue;
            };
            if client.leads_cluster()? {
                return Ok(client);
            }
        }
        Err(StoreError::Engine("no server of etcd leads".into()))
    }

    #[cfg(test)]
    pub fn own_number(&self) -> usize {
        match &self.target {
            ServerTarget::Own(_, name) => name[SOCKET.len()..].parse().unwrap(),
            ServerTarget::Running(_) => panic!("it is not the trial's own"),
        }
    }

    pub fn leads_cluster(&mut self) -> Result<bool> {
        Ok(is_leader(&self.status()?))
    }

    /// Connects to a running server, or the leader of a cluster. Fails also when members differ, or none leads.
    pub fn running(address: &Address) -> Result<Client> {
        if address.others.is_empty() {
            return Client::member(address);
        }
        let (mut statuses, mut leader) = (Vec::new(), None);
        for member in address.members() {
            let mut client = Client::member(&member).map_err(name_member(&member))?;
            let status = client.status().map_err(name_member(&member))?;
            if is_leader(&status) {
                leader = Some(client);
            }
            statuses.push((member.name(), status));
        }
        expect_one_cluster(&statuses)?;
        leader
            .ok_or_else(|| StoreError::Engine(format!("of {} none leads: name all members", address.name())))
    }

    fn member(address: &Address) -> Result<Client> {
        let password = std::env::var("ETCDCTL_PASSWORD").ok();
        if password.is_none() && address.user != USER {
            return Err(StoreError::Engine("no password for the URL's user: set ETCDCTL_PASSWORD".into()));
        }
        let mut client = Client::connect(ServerTarget::Running(address.clone()))?;
        if let Some(password) = password {
            let name = address.user.clone();
            client.connection.token = Some(client.connection.call(&Authenticate { name, password })?.token);
        }
        client.status()?;
        if address.database.is_some() {
            return Err(StoreError::Engine("etcd has no databases: leave out what follows the port".into()));
        }
        client.connection.end_login();
        Ok(client)
    }

    fn connect(target: ServerTarget) -> Result<Client> {
        let mut client = Client {
            connection: Connection::from_socket(target.socket()?)?,
            target,
            key_prefix: Bytes::new(),
            end: Bytes::new(),
            serializable: false,
            round_trip: None,
            shown_bytes: Bytes::new(),
        };
        client.set_key_prefix("storebench");
        Ok(client)
    }

    pub fn set_key_prefix(&mut self, name: &str) {
        // A zero is the sign after a slash.
        (self.key_prefix, self.end) = (format!("{name}/").into(), format!("{name}0").into());
    }

    pub fn own_folder(&self) -> Option<&Path> {
        match &self.target {
            ServerTarget::Own(folder, _) => Some(folder),
            ServerTarget::Running(_) => None,
        }
    }

    fn key(&self, key: &[u8]) -> Bytes {
        [&self.key_prefix[..], key].concat().into()
    }

    /// Sets or removes (`None`) keys, all or none; on a running server, whose limit is unknown, by as many at a time as it takes
    /// as shipped. Of a repeated key the last counts, as a transaction may name it once.
    fn change_all(&mut self, changes: &[(&[u8], Option<&[u8]>)]) -> Result<()> {
        let last_index: HashMap<&[u8], usize> =
            changes.iter().enumerate().map(|(index, (key, _))| (*key, index)).collect();
        let changes = changes.iter().enumerate().filter(|(index, (key, _))| last_index[key] == *index);
        let mut changes: Vec<Change> = changes.map(|(_, (key, value))| self.change(key, *value)).collect();
        let limit = if self.own_folder().is_some() { OWN_TRANSACTION } else { SHIPPED_TRANSACTION };
        while !changes.is_empty() {
            let rest = changes.split_off(changes.len().min(limit));
            self.connection.call(&Transaction { changes })?;
            changes = rest;
        }
        Ok(())
    }

    fn change(&self, key: &[u8], value: Option<&[u8]>) -> Change {
        let key = self.key(key);
        let change = match value {
            Some(value) => OneChange::Put(Put { key, value: Bytes::copy_from_slice(value) }),
            None => OneChange::Delete(DeleteRange { key, end: Bytes::new() }),
        };
        Change { change: Some(change) }
    }

    pub fn count(&mut self) -> Result<u64> {
        u64::try_from(self.count_range()?.count).map_err(StoreError::engine)
    }

    fn count_range(&mut self) -> Result<RangeResponse> {
        let range = Range {
            key: self.key_prefix.clone(),
            end: self.end.clone(),
            count_only: true,
            ..Range::default()
        };
        self.connection.call(&range)
    }

    /// Removes all records. A killed session's requests may still arrive: it ends when a look finds none.
    pub fn remove_all(&mut self) -> Result<()> {
        loop {
            let range = DeleteRange { key: self.key_prefix.clone(), end: self.end.clone() };
            if self.connection.call(&range)?.deleted == 0 {
                return Ok(());
            }
        }
    }

    /// Compacts former values, and rewrites the file of records.
    pub fn compact(&mut self) -> Result<()> {
        let revision = self.count_range()?.header.unwrap_or_default().revision;
        match self.connection.call(&Compaction { revision, physical: true }) {
            // Nothing was written since it was done last.
            Err(StoreError::Engine(message)) if message.contains("has been compacted") => {}
            result => result.map(drop)?,
        }
        self.connection.call(&Defragment {}).map(drop)
    }

    pub fn status(&mut self) -> Result<Status> {
        self.connection.call(&AskStatus {})
    }

    pub fn members(&mut self) -> Result<usize> {
        Ok(self.connection.call(&AskMembers {})?.members.len())
    }

    /// Its log's syncs since it started. Fails also when it does not report them.
    pub fn syncs(&mut self) -> Result<u64> {
        let mut socket = self.target.socket()?;
        let mut answer = Vec::new();
        let exchange =
            socket.write_all(b"GET /metrics HTTP/1.0\r\n\r\n").and_then(|()| socket.read_to_end(&mut answer));
        exchange.map_err(|error| socket.lost_error(error))?;
        let answer = String::from_utf8_lossy(&answer);
        let count =
            answer.lines().find_map(|line| line.strip_prefix("etcd_disk_wal_fsync_duration_seconds_count "));
        count.and_then(|count| count.trim().parse().ok()).ok_or_else(|| {
            StoreError::Engine("the server does not report how often it has synced (/metrics)".into())
        })
    }

    /// Whether a change makes it sync its log, by its own count: removing a missing key changes only the log.
    pub fn is_synced(&mut self) -> Result<bool> {
        let syncs_before = self.syncs()?;
        // A key outside the records'.
        let key = self.end.clone();
        self.connection.call(&DeleteRange { key, end: Bytes::new() })?;
        Ok(self.syncs()? > syncs_before)
    }
}

impl Session for Client {
    fn insert(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        check_key(key)?;
        let put = Put { key: self.key(key), value: Bytes::copy_from_slice(value) };
        self.connection.call(&put).map(drop)
    }

    fn update(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.insert(key, value)
    }

    fn get(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        let range = Range { key: self.key(key), serializable: self.serializable, ..Range::default() };
        match self.connection.call(&range)?.records.pop() {
            Some(record) => {
                self.shown_bytes = record.value;
                visit(&self.shown_bytes);
                Ok(true)
            }
            None => Ok(false),
        }
    }

    fn copied(&self) -> Option<&[u8]> {
        Some(&self.shown_bytes)
    }

    /// The key may be gone.
    fn remove(&mut self, key: &[u8]) -> Result<()> {
        let key = self.key(key);
        self.connection.call(&DeleteRange { key, end: Bytes::new() }).map(drop)
    }

    fn scan(&mut self, from: &[u8], limit: usize, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        if limit == 0 {
            return Ok(0);
        }
        let serializable = self.serializable;
        let range =
            Range { key: self.key(from), end: self.end.clone(), limit, serializable, count_only: false };
        let records = self.connection.call(&range)?.records;
        for Record { key, value } in &records {
            visit(key.strip_prefix(&self.key_prefix[..]).ok_or_else(unreadable)?, value);
        }
        Ok(records.len())
    }

    fn insert_batch(&mut self, records: &[(&[u8], &[u8])]) -> Result<()> {
        records.iter().try_for_each(|(key, _)| check_key(key))?;
        let changes: Vec<_> = records.iter().map(|(key, value)| (*key, Some(*value))).collect();
        self.change_all(&changes)
    }

    fn remove_batch(&mut self, keys: &[&[u8]]) -> Result<()> {
        let changes: Vec<_> = keys.iter().map(|key| (*key, None)).collect();
        self.change_all(&changes)
    }
}

/// Keys are a part of a request, which has a limit.
fn check_key(key: &[u8]) -> Result<()> {
    if key.len() <= MAX_KEY_BYTES {
        return Ok(());
    }
    Err(StoreError::Unsupported(format!("etcd takes keys of up to {MAX_KEY_BYTES} bytes here")))
}
