//! The servers of a cluster: their number, the network between them, and the loss of one. Each has a folder with its number in
//! the store's data; a single server's data are there directly.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use storebench_core::server::DATA;
use storebench_core::server::running::Address;
use storebench_core::store::{GivenSettings, NODES, ROUND_TRIP, Result, StoreError, expect_taken};
use storebench_core::units;

use crate::support::server::Plan;

const MAX_NODES: usize = 5;

/// The folder in a single server's data.
const SINGLE: &str = "member";

/// Refuses a network for one server, and another number of servers than the data's. A cluster's data have a folder for each that
/// was not lost. The error says how each can be had.
pub fn check(given: &GivenSettings<'_>, plan: &Plan, data: &Path) -> Result<()> {
    let nodes = nodes(plan);
    if nodes == 1 && plan.value(ROUND_TRIP).is_some() {
        return Err(given
            .refuse(ROUND_TRIP, "of use with one server: ask for nodes=3 too, or for the guarantee node"));
    }
    if nodes > 1 && data.join(SINGLE).exists() {
        expect_taken(NODES, &nodes, &1)?;
    }
    if nodes == 1 && numbers(data).next().is_some() {
        expect_taken(NODES, &nodes, &numbers(data).count())?;
    }
    Ok(())
}

pub fn nodes(plan: &Plan) -> usize {
    plan.parsed(NODES).unwrap_or(1)
}

pub fn one_way_delay(plan: &Plan) -> Option<Duration> {
    plan.value(ROUND_TRIP).and_then(|time| units::parse_duration(time).ok()).map(|time| time / 2)
}

fn numbers(data: &Path) -> impl Iterator<Item = usize> {
    (1..=MAX_NODES).filter(|number| data.join(number.to_string()).exists())
}

/// The numbers of the servers to start on these data. A single server is number 0. Lost members are not started again: their
/// promises are lost, too.
pub fn members_to_start(plan: &Plan, data: &Path) -> Vec<usize> {
    let (nodes, existing) = (nodes(plan), numbers(data).collect::<Vec<_>>());
    match nodes {
        1 => vec![0],
        _ if existing.is_empty() => (1..=nodes).collect(),
        _ => existing,
    }
}

/// Deletes the data of the first server that has any. Fails also when there is none.
pub fn lose(folder: &Path) -> io::Result<()> {
    let data = folder.join(DATA);
    let first = numbers(&data).next().ok_or_else(|| io::Error::other("there is no cluster's"))?;
    fs::remove_dir_all(data.join(first.to_string()))
}

pub struct MemberStatus {
    pub cluster: u64,
    pub member: u64,
    pub version: String,
}

/// Refuses members of several clusters, the same one twice, or several versions. The error has what two named members report.
pub fn expect_one_cluster(members: &[(String, MemberStatus)]) -> Result<()> {
    let Some(((first, first_status), others)) = members.split_first() else { return Ok(()) };
    let refuse = |why: String| Err(StoreError::Engine(why));
    for (index, (name, status)) in others.iter().enumerate() {
        if status.cluster != first_status.cluster {
            let (cluster, other_cluster) = (first_status.cluster, status.cluster);
            return refuse(format!(
                "{first} and {name} are not of one cluster: {cluster:016x} and {other_cluster:016x}"
            ));
        }
        let mut earlier = members[..=index].iter();
        if let Some((same, _)) = earlier.find(|(_, earlier)| earlier.member == status.member) {
            return refuse(format!("{same} and {name} are the same server: name each member once"));
        }
        if status.version != first_status.version {
            return refuse(format!(
                "{first} has version {}, and {name} has {}: the members of a cluster that is measured have one",
                first_status.version, status.version
            ));
        }
    }
    Ok(())
}

/// Names the member of a cluster that an error is about.
pub fn name_member(member: &Address) -> impl Fn(StoreError) -> StoreError {
    let name = member.name();
    move |error| match error {
        StoreError::Io { context, source } if context.contains(&name) => StoreError::Io { context, source },
        StoreError::Io { context, source } => {
            StoreError::Io { context: format!("{name}: {context}"), source }
        }
        StoreError::Engine(why) => StoreError::Engine(format!("{name}: {why}")),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_of_one_cluster_have_one_version() {
        let member = |name: &str, cluster, member, version: &str| {
            (name.to_owned(), MemberStatus { cluster, member, version: version.into() })
        };
        let check =
            |members: &[(String, MemberStatus)]| expect_one_cluster(members).map_err(|why| why.to_string());
        let member_a = || member("a", 1, 10, "3.4");
        assert_eq!(check(&[member_a(), member("b", 1, 11, "3.4")]), Ok(()));
        let clusters = check(&[member_a(), member("b", 2, 11, "3.4")]).unwrap_err();
        assert!(clusters.contains("a and b are not of one cluster: 0000000000000001 and 00"), "{clusters}");
        let versions = check(&[member_a(), member("b", 1, 11, "3.5")]).unwrap_err();
        assert!(versions.contains("a has version 3.4, and b has 3.5"), "{versions}");
        let twice = check(&[member_a(), member("b", 1, 11, "3.4"), member("B", 1, 11, "3.4")]).unwrap_err();
        assert!(twice.contains("b and B are the same server"), "{twice}");
    }
}
