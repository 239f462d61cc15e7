//! Evidence on power cuts for the recommended store, from the table of stores.

use storebench_model::store::{Evidence, StoreDef};

use super::candidate::Candidate;
use super::question::Question;

/// A sentence on the states with harm that the guarantee does not allow; `None` if nothing is written, or no states were checked.
pub(super) fn proof(table: &[StoreDef], question: &Question, best: &Candidate) -> Option<String> {
    let def = table.iter().find(|def| def.name == best.store).filter(|_| question.mix.writes())?;
    let sum = Evidence::sum_torn(def.evidence(), best.guarantee)?;
    Some(format!("As storebench's authors found, guarantee {}", sum.describe()))
}
