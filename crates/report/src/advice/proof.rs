//! The findings of power cuts of the recommended store, that come with its entry.

use storebench_core::store::{Evidence, StoreDef};
use storebench_core::units::{counted, grouped};

use super::candidate::Candidate;
use super::question::Question;

/// The states in which the store lost more than its guarantee allows, in a sentence for each kind of disk; `None` where nothing is
/// written, or none were looked at.
pub(super) fn proof(table: &[StoreDef], question: &Question, best: &Candidate) -> Option<String> {
    let def = table.iter().find(|def| def.name == best.store).filter(|_| question.mix.writes())?;
    let own: Vec<&Evidence> = def.evidence().iter().filter(|one| one.guarantee == best.guarantee).collect();
    let told: Vec<String> = own.iter().map(|one| sentence(one)).collect();
    (!told.is_empty()).then(|| told.join(" "))
}

fn sentence(one: &Evidence) -> String {
    let disk = if one.torn { "a disk that tears pages" } else { "a disk" };
    let broken = if one.broken == 0 { "none".to_owned() } else { grouped(one.broken) };
    format!(
        "Of {} in which a power cut could have left {disk} ({}), {broken} broke guarantee {}: storebench's authors' check of version {}, with that \
         guarantee's settings.",
        counted(one.states, "state"),
        one.places(),
        one.guarantee,
        one.version
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
            broken: 2,
        };
        assert_eq!(
            sentence(&one),
            "Of 80 states in which a power cut could have left a disk that tears pages (ext4), 2 broke guarantee power: storebench's \
             authors' check of version 1, with that guarantee's settings."
        );
        let whole = Evidence { torn: false, broken: 0, ..one };
        assert!(sentence(&whole).contains("left a disk (ext4), none broke guarantee power: "));
    }
}
