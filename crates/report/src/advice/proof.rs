//! The findings of power cuts of the recommended store, that come with its entry.

use storebench_core::store::{Evidence, StoreDef};

use super::candidate::Candidate;
use super::question::Question;

/// The states in which it did harm that its guarantee does not allow, in a sentence; `None` where nothing is written, or none were looked
/// at.
pub(super) fn proof(table: &[StoreDef], question: &Question, best: &Candidate) -> Option<String> {
    let def = table.iter().find(|def| def.name == best.store).filter(|_| question.mix.writes())?;
    let own = Evidence::together(def.evidence(), best.guarantee)?;
    Some(format!("As storebench's authors found, guarantee {}", own.in_words()))
}
