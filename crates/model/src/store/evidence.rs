//! The findings of power cuts that come with a store's entry: what runs of the study `crash` found, by version.

use serde::Deserialize;

use super::Guarantee;
use crate::result::Harm;
use crate::units::with_commas;

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
    /// States with each kind of harm, in the order of [`Harm::ALL`]; absent if it is unknown which were cut before anything was
    /// acknowledged: they are among those that needed a hand.
    pub harms: [Option<u64>; 5],
}

impl Evidence {
    /// All findings about a store at a guarantee, with torn pages and without, or those with torn pages if they alone did harm to what
    /// was acknowledged; `None` if nothing was checked. Version and file systems are the first's.
    pub fn sum_torn(evidence: &[Evidence], guarantee: Guarantee) -> Option<Evidence> {
        let with_guarantee = || evidence.iter().filter(|entry| entry.guarantee == guarantee);
        let is_harmed = |entry: &&Evidence| {
            Harm::ALL.into_iter().any(|harm| harm != Harm::Created && entry.count(harm) > 0)
        };
        let is_only_torn_harmed = with_guarantee().any(|entry| is_harmed(&entry))
            && with_guarantee().filter(is_harmed).all(|entry| entry.torn);
        with_guarantee().filter(|entry| entry.torn || !is_only_torn_harmed).cloned().reduce(|sum, other| {
            Evidence {
                states: sum.states + other.states,
                harms: std::array::from_fn(|harm| Some(sum.harms[harm]? + other.harms[harm]?)),
                torn: sum.torn && other.torn,
                ..sum
            }
        })
    }

    /// The states with a kind of harm.
    pub fn count(&self, harm: Harm) -> u64 {
        self.harms[harm as usize].unwrap_or_default()
    }

    /// The kinds of harm that are dangers; none if all of it may have come before anything was acknowledged.
    pub fn dangers(&self) -> impl Iterator<Item = Harm> {
        let is_known = |harm: Harm| harm != Harm::ByHand || self.harms[Harm::Created as usize].is_some();
        let is_shown = move |harm: &Harm| self.count(*harm) > 0 && is_known(*harm);
        Harm::ALL.into_iter().filter(is_shown).filter(|harm| harm.is_danger(self.guarantee))
    }

    /// A sentence for all outputs: `power: of 600 power cuts none did harm (version 1.23; ext4, xfs).`
    pub fn describe(&self) -> String {
        let is_counted = |harm: &Harm| self.count(*harm) > 0;
        let describe_harm = |harm: Harm| {
            let is_unclear = harm == Harm::ByHand && self.harms[Harm::Created as usize].is_none();
            let alternative = if is_unclear { " or broke while it was created" } else { "" };
            format!("{} {}{alternative}", with_commas(self.count(harm)), harm.describe())
        };
        let harms: Vec<String> = Harm::ALL.into_iter().filter(is_counted).map(describe_harm).collect();
        let harms = if harms.is_empty() { "none did harm".into() } else { harms.join(", ") };
        let Evidence { guarantee, version, .. } = self;
        let (cuts, file_systems) = (self.cuts(), self.file_systems.replace(' ', ", "));
        format!("{guarantee}: of {cuts} {harms} (version {version}; {file_systems}).")
    }

    /// The states that were looked at: `600 power cuts`.
    pub fn cuts(&self) -> String {
        let disk = if self.torn { " with half-written pages" } else { "" };
        format!("{} power cuts{disk}", with_commas(self.states))
    }

    /// Whether it was found with this version, whatever its system's name and what follows its numbers.
    pub fn is_for_version(&self, version: &str) -> bool {
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
        let evidence = Evidence {
            version: "6.18.44".into(),
            guarantee: Guarantee::Power,
            torn: true,
            file_systems: "ext4 xfs".into(),
            states: 1_600,
            harms: [0, 2, 3, 0, 0].map(Some),
        };
        let cuts = "power: of 1,600 power cuts with half-written pages";
        let expected = "2 needed a hand to open, 3 broke while it was created (version 6.18.44; ext4, xfs).";
        assert_eq!(evidence.describe(), format!("{cuts} {expected}"));
        let dangers = |guarantee, harms| {
            Evidence { guarantee, harms, ..evidence.clone() }.dangers().collect::<Vec<_>>()
        };
        assert_eq!(dangers(Guarantee::Power, evidence.harms), [Harm::ByHand]);
        let unknown = [Some(0), Some(2), None, Some(0), Some(0)];
        let may_be_unacknowledged = dangers(Guarantee::Power, unknown);
        assert_eq!(may_be_unacknowledged, [], "they may all have been cut while it was created");
        let torn = [0, 0, 3, 1, 1].map(Some);
        assert_eq!(dangers(Guarantee::Power, torn), [Harm::Torn, Harm::Hole]);
        assert!(dangers(Guarantee::Process, torn).is_empty());
        let harmless = Evidence { harms: [Some(0); 5], torn: false, ..evidence.clone() };
        let expected = "power: of 1,600 power cuts none did harm (version 6.18.44; ext4, xfs).";
        assert_eq!(harmless.describe(), expected);
        let describe_sum =
            |entries: &[Evidence]| Evidence::sum_torn(entries, Guarantee::Power).unwrap().describe();
        let unclear = Evidence { harms: unknown, torn: false, ..evidence.clone() };
        let expected = "power: of 3,200 power cuts 2 needed a hand to open or broke while it was created (version 6.18.44; ext4, xfs).";
        assert_eq!(describe_sum(&[harmless.clone(), unclear]), expected);
        let created = Evidence { harms: [0, 0, 3, 0, 0].map(Some), ..harmless };
        let only_torn_did_harm = describe_sum(&[created.clone(), evidence.clone()]);
        assert_eq!(only_torn_did_harm, evidence.describe());
        let torn_while_created = Evidence { torn: true, ..created.clone() };
        let described = describe_sum(&[created, torn_while_created.clone()]);
        assert!(described.contains("of 3,200 power cuts 6 broke while it was created"), "{described}");
        assert_eq!(Evidence::sum_torn(&[torn_while_created], Guarantee::Process), None);
        let versions = ["Linux 6.18.44-cloud", "6.18.44", "6.18.4"];
        assert_eq!(versions.map(|version| evidence.is_for_version(version)), [true, true, false]);
    }
}
