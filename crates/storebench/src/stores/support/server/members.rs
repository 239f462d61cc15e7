//! Servers that are one store, a cluster: how many they are, the network between them, and the loss of one. The data of each are in a folder
//! of its number, in that of the store's data; of a single one they are there directly.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use storebench_core::server::DATA;
use storebench_core::server::running::Address;
use storebench_core::store::{Given, Guarantee, OpenOptions, Result, SettingDef, StoreError, expect_taken};
pub use storebench_core::store::{NODES, ROUND_TRIP};
use storebench_core::units;

use super::plan::Plan;

/// The most servers of a cluster.
const MOST_NODES: usize = 5;

/// The entry of the first.
pub const NODES_SETTING: SettingDef = SettingDef::new(
    NODES,
    "1, 3 or 5",
    "1, at the guarantee node 3",
    "how many servers are one cluster, on this machine and in one place: most of them have a write when it is acknowledged",
);

/// The entry of the second.
pub const ROUND_TRIP_SETTING: SettingDef = SettingDef::new(
    ROUND_TRIP,
    "a time, such as 500us",
    "none",
    "how long what a server sends to another and its answer are on their way, as between machines",
);

/// The user's value of one of the two.
///
/// # Errors
/// For a value that it can't take.
pub fn of_user(given: &Given<'_>, name: &'static str) -> Result<Option<String>> {
    match name {
        NODES => Ok(given.word(name, &["1", "3", "5"])?.map(str::to_owned)),
        _ => match given.text(name) {
            Some(text) if units::parse_duration(text).is_err() => {
                Err(given.refuse(name, "a time, such as 500us"))
            }
            text => Ok(text.map(str::to_owned)),
        },
    }
}

/// The number of servers that a guarantee takes where the user names none.
pub fn preset(options: &OpenOptions<'_>) -> Option<String> {
    (options.guarantee == Some(Guarantee::Node)).then(|| "3".into())
}

/// Refuses a network where there is one server, and as many servers as the data are not of. A single one's data have this `sign`, a
/// cluster's a folder for each that was not lost.
///
/// # Errors
/// For these, with a sentence that says how it can be had.
pub fn check(given: &Given<'_>, plan: &Plan, data: &Path, sign: &str) -> Result<()> {
    let nodes = nodes(plan);
    if nodes == 1 && plan.value(ROUND_TRIP).is_some() {
        return Err(given
            .refuse(ROUND_TRIP, "of use with one server: ask for nodes=3 too, or for the guarantee node"));
    }
    if nodes > 1 && data.join(sign).exists() {
        expect_taken(NODES, &nodes, &1)?;
    }
    if nodes == 1 && numbers(data).next().is_some() {
        expect_taken(NODES, &nodes, &numbers(data).count())?;
    }
    Ok(())
}

/// The servers of a plan.
pub fn nodes(plan: &Plan) -> usize {
    plan.parsed(NODES).unwrap_or(1)
}

/// The time that a message takes from one to another, where it is to take any.
pub fn one_way(plan: &Plan) -> Option<Duration> {
    plan.value(ROUND_TRIP).and_then(|time| units::parse_duration(time).ok()).map(|time| time / 2)
}

/// The numbers of those of several that have data in a folder.
fn numbers(data: &Path) -> impl Iterator<Item = usize> {
    (1..=MOST_NODES).filter(|number| data.join(number.to_string()).exists())
}

/// The numbers of all servers of a plan, whether they have data or not.
pub fn all(plan: &Plan) -> Vec<usize> {
    match nodes(plan) {
        1 => vec![0],
        nodes => (1..=nodes).collect(),
    }
}

/// The numbers of the servers to start on these data. One server is number 0. Of a cluster's those that were lost are not started again:
/// what they had promised is lost, too.
pub fn to_start(plan: &Plan, data: &Path) -> Vec<usize> {
    let there = numbers(data).collect::<Vec<_>>();
    if nodes(plan) == 1 || there.is_empty() { all(plan) } else { there }
}

/// Deletes the data of the first server that has any in a store's folder.
///
/// # Errors
/// The system's; where there is none.
pub fn lose(folder: &Path) -> io::Result<()> {
    let data = folder.join(DATA);
    let first = numbers(&data).next().ok_or_else(|| io::Error::other("there is no cluster's"))?;
    fs::remove_dir_all(data.join(first.to_string()))
}

/// The facts that a running member of a cluster tells of itself.
pub struct Told {
    /// The cluster that it is of; `None` of a server alone.
    pub cluster: Option<String>,
    /// Its own name or number.
    pub member: String,
    /// The server's version.
    pub version: String,
}

/// Refuses members that are of no cluster or of several, that are one and the same, or that have several versions. They have names for the
/// message.
///
/// # Errors
/// [`StoreError::Engine`] with what each of two members tells.
pub fn expect_one_cluster(members: &[(String, Told)]) -> Result<()> {
    let Some(((first, told), others)) = members.split_first() else { return Ok(()) };
    let refuse = |why: String| Err(StoreError::Engine(why));
    let Some(cluster) = &told.cluster else { return refuse(format!("{first} is of no cluster")) };
    for (at, (name, other)) in others.iter().enumerate() {
        match &other.cluster {
            Some(its) if its == cluster => {}
            Some(its) => {
                return refuse(format!("{first} and {name} are not of one cluster: {cluster} and {its}"));
            }
            None => return refuse(format!("{name} is of no cluster")),
        }
        if let Some((same, _)) = members[..=at].iter().find(|(_, one)| one.member == other.member) {
            return refuse(format!("{same} and {name} are the same server: name each member once"));
        }
        if other.version != told.version {
            return refuse(format!(
                "{first} has version {}, and {name} has {}: the members of a cluster that is measured have one",
                told.version, other.version
            ));
        }
    }
    Ok(())
}

/// Names the member of a cluster that an error is of.
pub fn of(member: &Address) -> impl Fn(StoreError) -> StoreError {
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
        let member = |name: &str, cluster: &str, version: &str| {
            let cluster = Some(cluster.to_owned()).filter(|name| !name.is_empty());
            (name.to_owned(), Told { cluster, member: name.to_uppercase(), version: version.into() })
        };
        let told = |members: &[(String, Told)]| expect_one_cluster(members).map_err(|why| why.to_string());
        assert_eq!(told(&[member("a", "1", "3.4"), member("b", "1", "3.4")]), Ok(()));
        let clusters = told(&[member("a", "1", "3.4"), member("b", "2", "3.4")]).unwrap_err();
        assert!(clusters.contains("a and b are not of one cluster: 1 and 2"), "{clusters}");
        let versions = told(&[member("a", "1", "3.4"), member("b", "1", "3.5")]).unwrap_err();
        assert!(versions.contains("a has version 3.4, and b has 3.5"), "{versions}");
        let alone = told(&[member("a", "1", "3.4"), member("b", "", "3.4")]).unwrap_err();
        assert!(alone.contains("b is of no cluster"), "{alone}");
        let twice = told(&[member("a", "1", "3.4"), member("b", "1", "3.4"), member("B", "1", "3.4")]);
        assert!(twice.unwrap_err().contains("b and B are the same server"));
    }
}
