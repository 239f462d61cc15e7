//! The findings about power cuts that come with the program: what its authors' own runs of the study `crash` found, by version.

use storebench_core::error::{Error, Exit, Result};
use storebench_core::store::StoreDef;
use storebench_core::units::grouped;

/// Made by `scripts/evidence.py` from these runs.
const EVIDENCE: &str = include_str!("../evidence.csv");

/// The states of a store at a guarantee.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Evidence {
    store: String,
    version: String,
    guarantee: String,
    is_torn: bool,
    file_systems: String,
    states: u64,
    broken: u64,
}

/// A line for each store of which there is something: at each guarantee the states in which it lost more than that allows, and
/// whether that was seen with the version that this build has.
///
/// # Errors
/// When what comes with the program can't be read.
pub fn lines(stores: &[StoreDef]) -> Result<Vec<String>> {
    let all = read(EVIDENCE)?;
    let line = |store: &StoreDef| {
        let own: Vec<&Evidence> = all.iter().filter(|one| one.store == store.name).collect();
        let found: Vec<String> = own.iter().map(|one| one.in_words()).collect();
        let version = own.first().map(|one| one.version.clone())?;
        let here = store.open.is_ok().then(|| short((store.version)()));
        let of = match here {
            Some(here) if here == version => String::new(),
            _ => format!(" (of version {version})"),
        };
        Some(format!("{}{of}: {}", store.name, found.join("; ")))
    };
    Ok(stores.iter().filter_map(line).collect())
}

/// A version without the name of the system and without what follows its numbers.
pub(super) fn short(version: String) -> String {
    let last = version.split(' ').next_back().unwrap_or_default();
    last.split('-').next().unwrap_or_default().to_owned()
}

impl Evidence {
    /// As in `power: 0 of 600, ext4 xfs btrfs`.
    fn in_words(&self) -> String {
        let torn = if self.is_torn { ", disk that tears pages" } else { "" };
        let (broken, states) = (grouped(self.broken), grouped(self.states));
        format!("{}{torn}: {broken} of {states}, {}", self.guarantee, self.file_systems)
    }
}

fn read(text: &str) -> Result<Vec<Evidence>> {
    let broken = |line: &str| Error::new(Exit::Failure, format!("evidence.csv: {line}"));
    let one = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let &[store, version, guarantee, disk, file_systems, states, bad] = cells.as_slice() else {
            return Err(broken(line));
        };
        let number = |text: &str| text.parse().map_err(|_| broken(line));
        Ok(Evidence {
            store: store.into(),
            version: version.into(),
            guarantee: guarantee.into(),
            is_torn: disk == "torn",
            file_systems: file_systems.into(),
            states: number(states)?,
            broken: number(bad)?,
        })
    };
    text.lines().skip(1).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_with_the_program_is_of_its_stores_and_stands_in_the_guarantees() {
        let page = include_str!("../../../../docs/guarantees.md");
        for one in read(EVIDENCE).unwrap() {
            assert!(crate::STORES.iter().any(|store| store.name == one.store), "{one:?}");
            assert!(one.states > 0 && one.broken <= one.states, "{one:?}");
            let disk = if one.is_torn { "tears pages" } else { "whole blocks" };
            let row = format!(
                "| {} {} | {} | {disk} | {} | {} | {} |",
                one.store, one.version, one.guarantee, one.file_systems, one.states, one.broken
            );
            assert!(page.contains(&row), "docs/guarantees.md lacks {row}");
        }
    }

    #[test]
    fn a_line_that_is_none_is_told() {
        assert!(read("head\nsqlite,3,power").unwrap_err().message.contains("sqlite,3,power"));
        assert_eq!(
            read("head\nlmdb,0.9,power,torn,ext4 xfs,600,2\n").unwrap()[0].in_words(),
            "power, disk that tears pages: 2 of 600, ext4 xfs"
        );
    }
}
