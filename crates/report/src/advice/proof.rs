//! The findings of power cuts of the recommended store, that come with its entry.

use storebench_core::store::{Evidence, StoreDef};
use storebench_core::units::counted;

use super::candidate::Candidate;
use super::question::Question;

/// The states in which it did harm that its guarantee does not allow, in a sentence for each kind of disk; `None` where nothing is
/// written, or none were looked at.
pub(super) fn proof(table: &[StoreDef], question: &Question, best: &Candidate) -> Option<String> {
    let def = table.iter().find(|def| def.name == best.store).filter(|_| question.mix.writes())?;
    let own: Vec<&Evidence> = def.evidence().iter().filter(|one| one.guarantee == best.guarantee).collect();
    let told: Vec<String> = own.iter().map(|one| sentence(one)).collect();
    (!told.is_empty()).then(|| told.join(" "))
}

fn sentence(one: &Evidence) -> String {
    let disk = if one.torn { "a disk that tears pages" } else { "a disk" };
    format!(
        "Of {} in which a power cut could have left {disk} ({}), storebench's authors found with version {} and guarantee {}: {}.",
        counted(one.states, "state"),
        one.places(),
        one.version,
        one.guarantee,
        one.harms_in_words().trim_end_matches(',')
    )
}

#[cfg(test)]
mod tests {
    use storebench_core::store::Guarantee;

    use super::*;

    #[test]
    fn states_are_told_with_their_disk() {
        let one = Evidence {
            version: "1".into(),
            guarantee: Guarantee::Power,
            torn: true,
            file_systems: "ext4".into(),
            states: 80,
            harms: [2, 0, 0, 0, 0].map(Some),
        };
        let told = "could have left a disk that tears pages (ext4), storebench's authors found with version 1 and guarantee power: 2 lost \
            what was acknowledged.";
        assert_eq!(sentence(&one), format!("Of 80 states in which a power cut {told}"));
        let whole = Evidence { torn: false, harms: [Some(0); 5], ..one };
        assert!(sentence(&whole).ends_with("could have left a disk (ext4), storebench's authors found with version 1 and guarantee power: none."));
    }
}
