//! The findings of power cuts that come with a store's entry: what runs of the study `crash` found, by version.

use serde::Deserialize;

use super::guarantee::Guarantee;
use crate::units::grouped;

/// The states in which made-up power cuts left a store, with the settings of one of its guarantees.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Evidence {
    // Rows of files are read by the order of these fields.
    /// The guarantee.
    pub guarantee: Guarantee,
    /// Whether the disk tears pages.
    pub torn: bool,
    /// The engine's version: its numbers alone.
    pub version: String,
    /// The file systems that it was on, with blanks between them.
    pub file_systems: String,
    /// States that were looked at.
    pub states: u64,
    /// Those of them in which it lost more than the guarantee allows, or did not open or work any more.
    pub broken: u64,
}

impl Evidence {
    /// As in `power: 0 of 600 (ext4, xfs, btrfs)`.
    pub fn in_words(&self) -> String {
        let torn = if self.torn { ", disk that tears pages" } else { "" };
        let (broken, states) = (grouped(self.broken), grouped(self.states));
        format!("{}{torn}: {broken} of {states} ({})", self.guarantee, self.places())
    }

    /// The file systems in words, as in `ext4, xfs`.
    pub fn places(&self) -> String {
        self.file_systems.replace(' ', ", ")
    }

    /// Whether it was found with this version, whatever its system's name and what follows its numbers.
    pub fn is_of(&self, version: &str) -> bool {
        numbers(version) == self.version
    }
}

/// A version without the name of the system and without what follows its numbers.
pub fn numbers(version: &str) -> &str {
    let last = version.split(' ').next_back().unwrap_or_default();
    last.split('-').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_is_told_with_its_version() {
        let one = Evidence {
            version: "6.18.44".into(),
            guarantee: Guarantee::Power,
            torn: true,
            file_systems: "ext4 xfs".into(),
            states: 1_600,
            broken: 2,
        };
        assert_eq!(one.in_words(), "power, disk that tears pages: 2 of 1,600 (ext4, xfs)");
        assert!(one.is_of("Linux 6.18.44-cloud") && one.is_of("6.18.44") && !one.is_of("6.18.4"));
    }
}
