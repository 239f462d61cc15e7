//! Replicas: servers that have all records of another, some of them before a write is acknowledged.

use std::path::{Path, PathBuf};

use storebench_core::store::{Given, Result, Setting, SettingDef, StoreError};
use storebench_core::units::counted;

use super::client::{Client, Replicas, odd};
use super::told::{in_info, is_idle};
use super::{cluster, topology};
use crate::stores::support::server::members::{self, FIRST, NODES, ROUND_TRIP};
use crate::stores::support::server::socket::Socket;
use crate::stores::support::server::{Paths, Plan};

/// The number of replicas that have a write before it is acknowledged.
pub const WAIT: &str = "wait";
/// The name of the first one's socket, in a folder that is its alone. Replicas add their numbers.
const SOCKET: &str = "socket";

/// The entry of the number of servers.
pub const NODES_SETTING: SettingDef = SettingDef::new(
    NODES,
    "1, 3 or 5",
    "1",
    "how many servers there are, on this machine and in one place, for each of the shards: one takes reads and writes, and the others are its replicas",
)
.read_by("INFO replication");

/// The entry of [`WAIT`].
pub const WAIT_SETTING: SettingDef = SettingDef::new(
    WAIT,
    "a whole number of replicas",
    "as many as make most servers; with a URL 0",
    "how many replicas have a write, in memory at least, before it is acknowledged (WAIT)",
);

/// Tells a connection which replicas a plan has.
pub fn plan(client: &mut Client, plan: &Plan) {
    cluster::set_primaries(client, |one| {
        let replicas = &mut one.replicas;
        replicas.wait_for(wait(plan));
        replicas.own = members::nodes(plan) - 1;
        replicas.settings = vec![Setting::given(WAIT, replicas.wait)];
        replicas.settings.extend(plan.value(ROUND_TRIP).map(|time| Setting::given(ROUND_TRIP, time)));
    });
}

/// The replicas that have a write before it is acknowledged: of the trial's own servers, so many that most have it.
pub fn wait(plan: &Plan) -> usize {
    plan.parsed(WAIT).unwrap_or(members::nodes(plan) / 2)
}

/// Refuses a plan that its own servers can't carry out on these data, of which a single server's have this `sign`.
///
/// # Errors
/// For a setting that does not go with the others, or with the data; where only replicas have data.
pub fn check(given: &Given<'_>, plan: &Plan, data: &Path, sign: &str) -> Result<()> {
    let nodes = members::nodes(plan);
    if wait(plan) >= nodes {
        let message = format!("fewer than nodes={nodes}: one of them takes the writes");
        return Err(given.refuse(WAIT, &message));
    }
    if nodes == 1 && plan.value(ROUND_TRIP).is_some() {
        return Err(given.refuse(ROUND_TRIP, "of use without replicas: ask for nodes=3, too"));
    }
    topology::check(plan, data, data.join(sign).exists())?;
    members::check(given, plan, data, sign)?;
    members::expect_first(plan, data)?;
    members::expect_no_more(plan, data)
}

/// The path of a server's socket.
pub fn socket_of(at: &Paths) -> PathBuf {
    at.socket.join(socket_name(at.member))
}

fn socket_name(member: usize) -> String {
    if member <= FIRST { SOCKET.to_owned() } else { format!("{SOCKET}-{member}") }
}

/// Connects to the first of the trial's own servers, whose sockets are in this folder, and to all others that have a part of the keys.
///
/// # Errors
/// The servers'.
pub fn connect(folder: &Path) -> Result<Client> {
    let mut client = connect_to(folder, FIRST)?;
    cluster::join(&mut client, |range| {
        let number = topology::number(&range.name).ok_or_else(odd)?;
        connect_to(folder, number)
    })?;
    Ok(client)
}

fn connect_to(folder: &Path, member: usize) -> Result<Client> {
    let socket = Socket::own(folder, &socket_name(member));
    let socket = if member > FIRST { socket.map(|socket| socket.of_member(member)) } else { socket };
    let mut client = socket.map(Client::over).map_err(StoreError::io("connecting to redis-server"))?;
    client.replicas.folder = folder.to_owned();
    client.replicas.of = member;
    Ok(client)
}

/// Asks each server that has keys, and each of its replicas that is the trial's own.
///
/// # Errors
/// The servers'.
pub fn each(client: &mut Client, mut ask: impl FnMut(&mut Client) -> Result<()>) -> Result<()> {
    let shards = client.shards.count();
    cluster::primaries(client, |one| {
        ask(one)?;
        others(one, shards, &mut ask)
    })
    .map(drop)
}

/// Asks each replica of a server that is the trial's own, where so many servers have a part of the keys.
fn others(client: &mut Client, shards: usize, ask: impl FnMut(&mut Client) -> Result<()>) -> Result<()> {
    let Replicas { others, own, folder, of, .. } = &mut client.replicas;
    while others.len() < *own {
        others.push(connect_to(folder, *of + (1 + others.len()) * shards)?);
    }
    others.iter_mut().try_for_each(ask)
}

/// Whether the servers are at work, of which there are so many, and where there are several, all others are replicas that have all that theirs
/// has, and all are at rest.
///
/// # Errors
/// The servers'.
pub fn are_ready(client: &mut Client, servers: usize) -> Result<bool> {
    let own = (servers / client.shards.count()).saturating_sub(1);
    cluster::primaries(client, |one| {
        one.replicas.own = own;
        one.run(&[b"PING"]).map(drop)
    })?;
    if !cluster::is_whole(client)? {
        return Ok(false);
    }
    if own == 0 {
        return Ok(true);
    }
    let written = written(client)?;
    if copies(client)? <= own || !have(client, &written)? {
        return Ok(false);
    }
    let mut are_idle = true;
    each(client, |one| {
        are_idle &= is_idle(one)?;
        Ok(())
    })?;
    Ok(are_idle)
}

/// The replicas to which a server sends what it writes.
fn count(client: &mut Client) -> Result<usize> {
    let told = client.text(&[b"INFO", b"replication"])?;
    Ok(told.lines().filter(|line| line.starts_with("slave") && line.contains(",state=online,")).count())
}

/// The copies that each record has at least.
///
/// # Errors
/// The servers'.
pub fn copies(client: &mut Client) -> Result<usize> {
    Ok(1 + cluster::primaries(client, count)?.into_iter().min().unwrap_or(0))
}

/// Refuses servers that have fewer replicas than are to have a write.
///
/// # Errors
/// With both numbers; the server's.
pub fn expect_as_many_as_wait(client: &mut Client) -> Result<()> {
    let wait = client.replicas.wait;
    let count = if wait == 0 { 0 } else { copies(client)? - 1 };
    if count >= wait {
        return Ok(());
    }
    let have = counted(count as u64, "replica");
    let which = if client.shards.are_cluster() { "a server of the cluster" } else { "this server" };
    Err(StoreError::BadSetting(format!("redis: wait={wait}, but {which} has {have} at work")))
}

/// The end of all that each server has written.
///
/// # Errors
/// The servers'.
pub fn written(client: &mut Client) -> Result<Vec<u64>> {
    cluster::primaries(client, |one| {
        let told = one.text(&[b"INFO", b"replication"])?;
        in_info(&told, "master_repl_offset").and_then(|offset| offset.parse().ok()).ok_or_else(odd)
    })
}

/// Whether each of the trial's own replicas says that it has all up to there. Their server is told so once a second.
///
/// # Errors
/// The servers'.
pub fn have(client: &mut Client, written: &[u64]) -> Result<bool> {
    let (mut all, mut written) = (true, written.iter());
    let shards = client.shards.count();
    cluster::primaries(client, |one| {
        let written = written.next().copied().unwrap_or_default();
        others(one, shards, |replica| {
            all &= has(&replica.text(&[b"INFO", b"replication"])?, written);
            Ok(())
        })
    })?;
    Ok(all)
}

/// Whether a replica that tells this is past its loading, and has all up to there.
fn has(told: &str, written: u64) -> bool {
    let offset = in_info(told, "slave_repl_offset").and_then(|offset| offset.parse::<u64>().ok());
    in_info(told, "master_link_status") == Some("up") && offset.is_some_and(|offset| offset >= written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replica_that_loads_or_is_behind_has_not_all() {
        let told = |link: &str, offset: u64| {
            format!("role:slave\r\nmaster_link_status:{link}\r\nslave_repl_offset:{offset}\r\n")
        };
        assert!(has(&told("up", 42), 42));
        assert!(!has(&told("up", 41), 42));
        assert!(!has(&told("down", 42), 42));
        assert!(!has("role:master\r\n", 0));
    }
}
