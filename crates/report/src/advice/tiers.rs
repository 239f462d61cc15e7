//! Stores that promise more than was asked. A question asks for a guarantee at least: a store that does not offer just that
//! one answers it at the next stronger one that it offers. Never the other way round, and nowhere but in answers: matrices
//! of winners hold one tier each.

use storebench_core::store::{Guarantee, StoreDef};

use super::question::Question;
use crate::data::merge::{Group, GroupKey};

/// The tier at which a store answers a question that asks for `asked`; `None` where all that it offers is weaker.
pub fn answering(def: &StoreDef, asked: Guarantee) -> Option<Guarantee> {
    def.offers.iter().map(|offer| offer.guarantee).filter(|offered| *offered >= asked).min()
}

/// Puts together what groups that differ in their tier alone hold of stores that answer at that tier. A store that the table
/// does not know answers at the tier asked for.
pub fn joined<'a>(groups: &[&Group<'a>], question: &Question, table: &[StoreDef]) -> Option<Group<'a>> {
    let asked = question.guarantee;
    let answers_at = |store: &str, tier: Guarantee| {
        let def = table.iter().find(|def| def.name == store);
        def.map_or(Some(asked), |def| answering(def, asked)) == Some(tier)
    };
    let first = groups.first()?;
    let key = GroupKey {
        tier: Some(asked),
        asked: Some(storebench_core::cell::GuaranteeChoice::Tier(asked)),
        ..first.key.clone()
    };
    let mut all = Group { key, trials: Vec::new(), left_out: Vec::new() };
    // The stronger first, as why such a cell was left out says more than that the weaker tier is not offered.
    let mut groups = groups.to_vec();
    groups.sort_by_key(|group| std::cmp::Reverse(group.key.tier));
    for group in groups {
        let Some(tier) = group.key.tier else { continue };
        let trials = group.trials.iter().filter(|entry| answers_at(entry.trial.cell.store(), tier));
        all.trials.extend(trials.copied());
        let left_out = group.left_out.iter();
        all.left_out
            .extend(left_out.filter(|left| tier == asked || answers_at(left.cell.store(), tier)).cloned());
    }
    Some(all)
}
