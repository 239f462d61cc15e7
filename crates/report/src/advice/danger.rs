//! Which stores are not recommended because a power cut can wreck them.

use std::borrow::Cow;
use std::collections::BTreeSet;

use storebench_figures::data::danger;
use storebench_figures::data::matrix::ContestantTrials;
use storebench_figures::data::merge::{Entry, measured};
use storebench_figures::judge::danger::{dangerous, is_dangerous};
use storebench_model::store::{Danger, StoreDef};

use super::candidate::Candidate;
use super::question::Question;

/// The danger of a store with the settings that its trials read back; `None` for a store that is not in the table.
pub fn danger(table: &[StoreDef], store: &str, entries: &[Entry<'_>]) -> Option<&'static Danger> {
    let dangers =
        measured(entries).into_iter().filter_map(|(_, trial)| danger::find_danger(table, store, trial));
    dangers.min_by_key(|danger| danger.power_cut)
}

pub fn is_avoided(store: &Candidate, question: &Question) -> bool {
    is_dangerous(store.danger, question.guarantee, question.mix.writes())
}

/// The stores here that are not recommended because a power cut can wreck them; none if no other store remains.
pub fn avoided(entries: &ContestantTrials<'_>, question: &Question, table: &[StoreDef]) -> BTreeSet<String> {
    let (guarantee, writes) = (question.guarantee, question.mix.writes());
    let check_store = |(store, entries): (&Cow<'_, str>, &Vec<Entry<'_>>)| {
        (store.to_string(), is_dangerous(danger(table, store, entries), guarantee, writes))
    };
    dangerous(entries.iter().map(check_store))
}

#[cfg(test)]
mod tests;
