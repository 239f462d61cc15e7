//! A Redis Cluster as its clients see it: connections to the servers that have a part of the keys each, and the way from a key to its server.

use redis_protocol::redis_keyslot;
use storebench_core::server::running::{Address, At};
use storebench_core::store::{Result, StoreError};
use storebench_core::units::grouped;

use super::client::{Answer, Client, MAX_KEY_BYTES, Shards, odd};
use super::told::{in_info, told_of};
use super::topology::SLOTS;
use crate::stores::support::server::members::{self, Told};
use crate::stores::support::server::{Change, Keyed};

/// The slots from one to another, and the server that has them.
pub struct Range {
    slots: std::ops::RangeInclusive<usize>,
    /// The host by which it is called; empty where that is the one asked.
    host: String,
    port: u16,
    /// Its name in the cluster.
    pub name: String,
}

/// Connects to all servers that have a part of the keys, where the server of this connection is one of a cluster. `connect` is told the
/// first of the slots of each.
///
/// # Errors
/// The servers'; where a slot has no server.
pub fn join(client: &mut Client, mut connect: impl FnMut(&Range) -> Result<Client>) -> Result<()> {
    if !is_member(client)? {
        return Ok(());
    }
    let (own, ranges) = (name_of(client)?, ranges(client)?);
    let covered: usize = ranges.iter().map(|range| range.slots.clone().count()).sum();
    if covered < SLOTS {
        let (covered, all) = (grouped(covered as u64), grouped(SLOTS as u64));
        return Err(StoreError::Engine(format!("of the cluster's {all} slots, {covered} have a server")));
    }
    let mut names = vec![own.clone()];
    let mut others = Vec::new();
    let mut of_slot = vec![0; SLOTS];
    for range in &ranges {
        let number = match names.iter().position(|name| *name == range.name) {
            Some(number) => number,
            None => {
                let mut one = connect(range)?;
                expect_named(&mut one, range)?;
                others.push(one);
                names.push(range.name.clone());
                names.len() - 1
            }
        };
        of_slot[range.slots.clone()].fill(number);
    }
    if ranges.iter().all(|range| range.name != own) {
        return Err(StoreError::Engine("this server has no part of the keys".into()));
    }
    client.shards = Shards { others, of_slot };
    Ok(())
}

/// Refuses a server that is not the one of a range: its address can lead elsewhere from here.
fn expect_named(client: &mut Client, range: &Range) -> Result<()> {
    if is_member(client)? && name_of(client)? == range.name {
        return Ok(());
    }
    let (slot, called) = (range.slots.start(), format!("{}:{}", range.host, range.port));
    Err(StoreError::Engine(format!(
        "{called}, as the cluster calls the server of slot {slot}, is another server from here: name that server in the URL"
    )))
}

/// Whether a server is one of a cluster.
fn is_member(client: &mut Client) -> Result<bool> {
    Ok(in_info(&client.text(&[b"INFO", b"cluster"])?, "cluster_enabled") == Some("1"))
}

fn name_of(client: &mut Client) -> Result<String> {
    client.text(&[b"CLUSTER", b"MYID"])
}

/// The slots that have a server.
fn ranges(client: &mut Client) -> Result<Vec<Range>> {
    let Answer::Many(told) = client.run(&[b"CLUSTER", b"SLOTS"])? else { return Err(odd()) };
    told.into_iter().map(|range| range_in(client, range).ok_or_else(odd)).collect()
}

/// First slot, last slot, and servers: each its host, port, name and more. The first is not a copy.
fn range_in(client: &Client, range: Answer) -> Option<Range> {
    let Answer::Many(parts) = range else { return None };
    let mut parts = parts.into_iter();
    let (Answer::Number(from), Answer::Number(to)) = (parts.next()?, parts.next()?) else { return None };
    let slots = usize::try_from(from).ok()?..=usize::try_from(to).ok().filter(|to| *to < SLOTS)?;
    let Answer::Many(server) = parts.next()? else { return None };
    let mut server = server.into_iter();
    let (host, Answer::Number(port), Answer::Bytes(name)) = (server.next()?, server.next()?, server.next()?)
    else {
        return None;
    };
    let text = |at| String::from_utf8_lossy(client.bytes(at)).into_owned();
    let host = if let Answer::Bytes(at) = host { text(at) } else { String::new() };
    Some(Range { slots, host, port: u16::try_from(port).ok()?, name: text(name) })
}

/// Connects to the server that a URL names, or joins the cluster whose servers it names. Those are called as it names them, and others as the
/// cluster does.
///
/// # Errors
/// Where they are no cluster, or not the same, or are not of one version; where a server of a cluster is named alone; the servers'.
pub fn of_url(address: &Address, connect: impl Fn(&Address) -> Result<Client>) -> Result<Client> {
    if address.others.is_empty() {
        let mut client = connect(address)?;
        return if is_member(&mut client)? { Err(alone()) } else { Ok(client) };
    }
    let named = address.each().map(|one| Named::reach(one, &connect)).collect::<Result<Vec<_>>>()?;
    let mut client = of_named(named, connect)?;
    expect_one_version(&mut client)?;
    Ok(client)
}

/// The same, of a cluster of which servers that are named may be gone: others may have taken over from them.
///
/// # Errors
/// The first of those named, where all are gone; those of [`of_url`].
pub fn of_those_there(address: &Address, connect: impl Fn(&Address) -> Result<Client>) -> Result<Client> {
    if address.others.is_empty() {
        return of_url(address, connect);
    }
    let reached = address.each().map(|one| Named::reach(one, &connect));
    let (there, gone): (Vec<_>, Vec<_>) = reached.partition(Result::is_ok);
    match gone.into_iter().find_map(Result::err) {
        Some(error) if there.is_empty() => Err(error),
        _ => of_named(there.into_iter().flatten().collect(), connect),
    }
}

/// A server that a URL names.
struct Named {
    address: Address,
    client: Client,
    told: Told,
    /// Whether it has a part of the keys.
    has_keys: bool,
}

impl Named {
    fn reach(address: Address, connect: impl Fn(&Address) -> Result<Client>) -> Result<Named> {
        let mut client = connect(&address).map_err(members::of(&address))?;
        let (told, has_keys) = told(&mut client).map_err(members::of(&address))?;
        Ok(Named { address, client, told, has_keys })
    }
}

/// Joins the cluster of these.
fn of_named(named: Vec<Named>, connect: impl Fn(&Address) -> Result<Client>) -> Result<Client> {
    let (mut told, mut with_keys) = (Vec::new(), Vec::new());
    for one in named {
        if one.has_keys {
            with_keys.push((one.told.member.clone(), one.address.clone(), one.client));
        }
        told.push((one.address.name(), one.told));
    }
    members::expect_one_cluster(&told)?;
    if with_keys.is_empty() {
        let message = "none of the servers that are named has a part of the keys: name one that has";
        return Err(StoreError::Engine(message.into()));
    }
    let (_, asked, mut client) = with_keys.swap_remove(0);
    join(&mut client, |range| {
        if let Some(at) = with_keys.iter().position(|(name, ..)| *name == range.name) {
            return Ok(with_keys.swap_remove(at).2);
        }
        let one = address_of(range, &asked)?;
        connect(&one).map_err(members::of(&one))
    })?;
    Ok(client)
}

/// The address of a server as its cluster calls it: where it names no host, that of the server asked.
fn address_of(range: &Range, asked: &Address) -> Result<Address> {
    let at = match (range.host.as_str(), &asked.at) {
        ("", At::Host(_)) => asked.at.clone(),
        ("" | "?", _) => {
            return Err(StoreError::Engine(format!(
                "the cluster does not tell the address of the server of slot {}: name that server in the URL",
                range.slots.start()
            )));
        }
        (host, _) => At::Host(host.to_owned()),
    };
    Ok(Address { at, port: Some(range.port), others: Vec::new(), ..asked.clone() })
}

fn alone() -> StoreError {
    let message =
        "is one server of a Redis Cluster: name two of its servers or more, redis://host:port,host:port";
    StoreError::BadSetting(message.into())
}

fn expect_one_version(client: &mut Client) -> Result<()> {
    let versions = primaries(client, |one| told_of(one, "redis_version"))?;
    let Some(other) = versions.iter().find(|version| **version != versions[0]) else { return Ok(()) };
    Err(StoreError::Engine(format!(
        "one server of the cluster has version {}, and another {other}: the servers of a cluster that is measured have one",
        versions[0]
    )))
}

/// The facts that a server tells of itself, and whether it has a part of the keys. The server of the first slot stands for its cluster.
fn told(client: &mut Client) -> Result<(Told, bool)> {
    let version = told_of(client, "redis_version")?;
    if !is_member(client)? {
        return Ok((Told { cluster: None, member: String::new(), version }, false));
    }
    let (member, ranges) = (name_of(client)?, ranges(client)?);
    let first = ranges.iter().min_by_key(|range| *range.slots.start());
    let cluster = first.map(|range| format!("that of {}", range.name));
    let has_keys = ranges.iter().any(|range| range.name == member);
    Ok((Told { cluster, member, version }, has_keys))
}

/// Asks each server that has a part of the keys, or all.
///
/// # Errors
/// The servers'.
pub fn primaries<T>(client: &mut Client, mut ask: impl FnMut(&mut Client) -> Result<T>) -> Result<Vec<T>> {
    let mut told = vec![ask(client)?];
    for one in &mut client.shards.others {
        told.push(ask(one)?);
    }
    Ok(told)
}

/// Sets the connection to each of these.
pub fn set_primaries(client: &mut Client, mut set: impl FnMut(&mut Client)) {
    set(client);
    client.shards.others.iter_mut().for_each(set);
}

/// Whether each server of a cluster takes writes; of others it is so.
///
/// # Errors
/// The servers'.
pub fn is_whole(client: &mut Client) -> Result<bool> {
    if !client.shards.are_cluster() {
        return Ok(true);
    }
    let takes_writes =
        |one: &mut Client| Ok(in_info(&one.text(&[b"CLUSTER", b"INFO"])?, "cluster_state") == Some("ok"));
    Ok(primaries(client, takes_writes)?.into_iter().all(|takes_writes| takes_writes))
}

/// Connections, for records of which each server has a part.
pub struct Spread {
    first: Client,
    /// The server that showed a value last.
    last: usize,
    /// Room for a key as the server has it.
    key: Vec<u8>,
}

impl Spread {
    /// A session of a cluster.
    pub fn over(first: Client) -> Spread {
        Spread { first, last: 0, key: Vec::new() }
    }

    /// The number of the server that has a key.
    fn number(&mut self, key: &[u8]) -> usize {
        let beginning = self.first.beginning();
        let slot = if beginning.is_empty() {
            redis_keyslot(key)
        } else {
            self.key.clear();
            self.key.extend_from_slice(beginning);
            self.key.extend_from_slice(key);
            redis_keyslot(&self.key)
        };
        self.first.shards.of_slot[usize::from(slot)]
    }

    fn server(&mut self, number: usize) -> &mut Client {
        match number {
            0 => &mut self.first,
            other => &mut self.first.shards.others[other - 1],
        }
    }
}

impl Keyed for Spread {
    const PRODUCT: &'static str = "Redis";
    const MAX_KEY_BYTES: usize = MAX_KEY_BYTES;

    fn change(&mut self, change: Change<'_>) -> Result<()> {
        let number = self.number(change.0);
        let server = self.server(number);
        server.add(change);
        server.write(1).map_err(moved)
    }

    /// Each server gets its own at once, and all are waited for: what was taken before an error stays.
    fn change_all(&mut self, changes: &[Change<'_>]) -> Result<()> {
        let mut counts = vec![0; self.first.shards.count()];
        for change in changes {
            let number = self.number(change.0);
            self.server(number).add(*change);
            counts[number] += 1;
        }
        let numbers: Vec<usize> = (0..counts.len()).filter(|number| counts[*number] > 0).collect();
        let sent: Vec<Result<()>> = numbers.iter().map(|number| self.server(*number).start_write()).collect();
        // Each is waited for, so that no answer is taken for that of the next command.
        let ended = numbers
            .iter()
            .zip(sent)
            .map(|(number, sent)| sent.and_then(|()| self.server(*number).end_write(counts[*number])));
        ended.collect::<Vec<_>>().into_iter().collect::<Result<()>>().map_err(moved)
    }

    fn get(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        self.last = self.number(key);
        let number = self.last;
        self.server(number).get(key, visit).map_err(moved)
    }

    fn shown(&self) -> &[u8] {
        match self.last {
            0 => self.first.shown(),
            other => self.first.shards.others[other - 1].shown(),
        }
    }
}

/// An error, with the reason where a slot's server is another than when the session began.
fn moved(error: StoreError) -> StoreError {
    match error {
        StoreError::Engine(told) if told.starts_with("MOVED ") || told.starts_with("ASK ") => {
            StoreError::Engine(format!(
                "{told}: the cluster gave these slots to another server during the trial"
            ))
        }
        other => other,
    }
}
