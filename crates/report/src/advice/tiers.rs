//! Stores that promise more than asked for: a store that does not offer the asked guarantee answers at the next stronger one. Never the
//! other way round, and only in answers: matrices of winners have one tier each.

use storebench_figures::data::merge::{Group, GroupKey};
use storebench_model::store::{Guarantee, StoreDef};

use super::question::Question;

/// The tier at which a store answers a question for `asked`; `None` if it offers only weaker ones.
pub fn answering(def: &StoreDef, asked: Guarantee) -> Option<Guarantee> {
    def.offers.iter().map(|offer| offer.guarantee).filter(|offered| *offered >= asked).min()
}

/// Joins groups that differ only in their tier, with the stores that answer at it; those not in the table do at the one asked for.
pub fn join_groups<'a>(groups: &[&Group<'a>], question: &Question, table: &[StoreDef]) -> Option<Group<'a>> {
    let asked = question.guarantee;
    let answers_at = |store: &str, tier: Guarantee| {
        let def = table.iter().find(|def| def.name == store);
        def.map_or(Some(asked), |def| answering(def, asked)) == Some(tier)
    };
    let first = groups.first()?;
    let key = GroupKey {
        tier: Some(asked),
        asked: Some(storebench_model::cell::GuaranteeChoice::Tier(asked)),
        ..first.key.clone()
    };
    let mut joined = Group { key, trials: Vec::new(), left_out: Vec::new() };
    // The stronger first: why such a cell was left out says more than that the weaker tier is not offered.
    let mut groups = groups.to_vec();
    groups.sort_by_key(|group| std::cmp::Reverse(group.key.tier));
    for group in groups {
        let Some(tier) = group.key.tier else { continue };
        let trials = group.trials.iter().filter(|entry| answers_at(entry.trial.cell.store(), tier));
        joined.trials.extend(trials.copied());
        let left_out = group.left_out.iter();
        joined.left_out.extend(
            left_out.filter(|omitted| tier == asked || answers_at(omitted.cell.store(), tier)).cloned(),
        );
    }
    Some(joined)
}
