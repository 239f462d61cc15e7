//! Several servers of the trial's own: where they listen, which is a replica of which, and of a Redis Cluster, which part of the keys each has.
//! It is the same at every start: none takes over from another.

use std::path::{Path, PathBuf};

use storebench_core::server::relay::End;
use storebench_core::store::{Batch, Capabilities, Result, SettingDef, expect_taken};

use crate::stores::support::server::members::{self, FIRST, SHARDS};
use crate::stores::support::server::{Paths, Plan, write_own};

/// The slots into which a cluster divides keys by their hashes.
pub const SLOTS: usize = 16_384;
/// The values of [`SHARDS`].
pub const SHARD_COUNTS: &[&str] = &["1", "3"];
/// Where the first of several servers listens for the others, and the network between them before that. The next add their numbers.
const PEERS: u16 = 7379;
const RELAY: u16 = 8379;
/// Where the servers of a cluster tell each other what they know of it.
const BUS: u16 = 17_379;
/// The file in which a server finds that at its start.
const NODES_FILE: &str = "nodes.conf";

/// The entry of [`SHARDS`].
pub const SHARDS_SETTING: SettingDef = SettingDef::new(
    SHARDS,
    "1 or 3",
    "1",
    "3 is a Redis Cluster: three parts with a third of the keys each, which have as many servers each as nodes says",
)
.limiting(|value, can| divide(can, value != SHARD_COUNTS[0]))
.read_by("CLUSTER SLOTS");

/// Takes from what the store can do what a cluster can't: no command has keys of several servers.
pub fn divide(can: &mut Capabilities, is_cluster: bool) {
    if is_cluster {
        can.batch = Batch::Grouped;
    }
}

/// The file of a server's own view of a cluster, in the folder of its data.
fn file_of(data: &Path) -> PathBuf {
    data.join(NODES_FILE)
}

/// Refuses data of as many parts as are not planned.
///
/// # Errors
/// With both numbers.
pub fn check(plan: &Plan, data: &Path, has_single: bool) -> Result<()> {
    let of_cluster = members::numbers(data).any(|number| file_of(&data.join(number.to_string())).exists());
    let there = match (of_cluster, has_single || members::count(data) > 0) {
        (true, _) => SHARD_COUNTS[1],
        (false, true) => SHARD_COUNTS[0],
        (false, false) => return Ok(()),
    };
    expect_taken(SHARDS, &members::shards(plan).to_string().as_str(), &there)
}

/// Writes the file of a server's view, where there is a cluster.
///
/// # Errors
/// The system's.
pub fn write(plan: &Plan, at: &Paths) -> Result<()> {
    if members::shards(plan) == 1 {
        return Ok(());
    }
    write_own(&file_of(&at.own_data()), &view(plan, at.member))
}

/// The settings of a server by which it finds the others. To a replica records are sent at once, not seconds later together with other replicas.
pub fn arguments(plan: &Plan, member: usize) -> Vec<(&'static str, String)> {
    if members::servers(plan) == 1 {
        return vec![("port", "0".to_owned())];
    }
    let mut settings = vec![
        ("bind", "127.0.0.1".to_owned()),
        ("port", port(PEERS, member).to_string()),
        ("repl-diskless-sync-delay", "0".to_owned()),
    ];
    if members::shards(plan) > 1 {
        settings.extend([
            ("cluster-enabled", "yes".to_owned()),
            ("cluster-config-file", NODES_FILE.to_owned()),
            ("cluster-port", port(BUS, member).to_string()),
            ("cluster-announce-port", called(plan, member).to_string()),
            ("cluster-replica-no-failover", "yes".to_owned()),
        ]);
    } else if member != FIRST {
        settings.push(("replicaof", format!("127.0.0.1 {}", called(plan, FIRST))));
    }
    settings
}

/// The ends of the network between servers and their replicas.
pub fn ends(plan: &Plan) -> Vec<(End, End)> {
    let firsts = FIRST..FIRST + members::shards(plan);
    let ends = firsts.map(|member| (End::port(port(RELAY, member)), End::port(port(PEERS, member))));
    members::one_way(plan).map_or_else(Vec::new, |_| ends.collect())
}

/// The place of a server in its part: the number of the part from 0 on, and whether others of the part are copies of this one.
fn place(plan: &Plan, member: usize) -> (usize, bool) {
    let (number, shards) = (member - FIRST, members::shards(plan));
    (number % shards, number < shards)
}

/// The port by which others call a server. To reach one that has replicas they pass the network that lies between, where there is one.
fn called(plan: &Plan, member: usize) -> u16 {
    let (_, is_first) = place(plan, member);
    port(if is_first && members::one_way(plan).is_some() { RELAY } else { PEERS }, member)
}

/// The port of a server, of those that begin there.
fn port(first: u16, member: usize) -> u16 {
    first + (member - FIRST) as u16
}

/// The name of a server in its cluster: its number.
fn name(member: usize) -> String {
    format!("{member:040x}")
}

/// The number of the server of this name.
pub fn number(name: &str) -> Option<usize> {
    usize::from_str_radix(name, 16).ok()
}

/// The cluster as one of its servers sees it, in the form of the file.
fn view(plan: &Plan, own: usize) -> String {
    let shards = members::shards(plan);
    let line = |member: usize| {
        let (part, is_first) = place(plan, member);
        let myself = if member == own { "myself," } else { "" };
        let (port, bus) = (called(plan, member), port(BUS, member));
        let begin = format!("{} 127.0.0.1:{port}@{bus} {myself}", name(member));
        if !is_first {
            return format!("{begin}slave {} 0 0 {} connected\n", name(FIRST + part), part + 1);
        }
        let (from, to) = (part * SLOTS / shards, (part + 1) * SLOTS / shards - 1);
        format!("{begin}master - 0 0 {} connected {from}-{to}\n", part + 1)
    };
    let lines: String = members::all(plan).into_iter().map(line).collect();
    format!("{lines}vars currentEpoch {shards} lastVoteEpoch 0\n")
}

#[cfg(test)]
mod tests {
    use storebench_core::store::NODES;

    use super::*;

    #[test]
    fn every_slot_has_one_server_and_each_server_its_copies() {
        let values = vec![(SHARDS, "3".to_owned()), (NODES, "3".to_owned())];
        let plan = Plan { values, more: Vec::new(), programs: None };
        let view = view(&plan, 4);
        let lines: Vec<Vec<&str>> = view.lines().map(|line| line.split(' ').collect()).collect();
        assert_eq!(lines.len(), 10);
        let mut next = 0;
        for (number, line) in lines[..9].iter().enumerate() {
            assert_eq!(super::number(line[0]), Some(number + 1));
            assert_eq!(line[2].starts_with("myself,"), number + 1 == 4, "{line:?}");
            match line.get(8) {
                Some(slots) => {
                    let (from, to) = slots.split_once('-').unwrap();
                    assert_eq!((from.parse(), number < 3), (Ok(next), true));
                    next = to.parse::<usize>().unwrap() + 1;
                }
                None => assert_eq!(super::number(line[3]), Some(number % 3 + 1)),
            }
        }
        assert_eq!(next, SLOTS);
    }
}
