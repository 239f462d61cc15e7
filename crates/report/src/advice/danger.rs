//! Which stores a question is not answered with, because a power cut can wreck them.

use std::collections::BTreeSet;

use storebench_core::store::{Danger, Guarantee, StoreDef};

use super::candidate::Candidate;
use super::question::Question;
use crate::data::danger;
use crate::data::matrix::Here;
use crate::data::merge::{Entry, measured};

/// The danger of a store, by the settings that its trials read back: what accidents can cost; `None` of a store that
/// the table does not know.
pub fn danger(table: &[StoreDef], store: &str, entries: &[Entry<'_>]) -> Option<&'static Danger> {
    let (_, last) = measured(entries).pop()?;
    danger::of(table, store, last)
}

/// Whether a question minds that a power cut can cost the whole store: unless nothing is written, or nothing need survive.
fn minds(question: &Question) -> bool {
    question.guarantee > Guarantee::None && question.mix.writes()
}

/// Whether a store is not recommended, as a power cut can wreck it.
pub fn is_avoided(store: &Candidate, question: &Question) -> bool {
    minds(question) && store.danger.is_some_and(Danger::can_wreck)
}

/// The stores here that are not recommended, as a power cut can wreck them; none where there is no other.
pub fn avoided(here: &Here<'_>, question: &Question, table: &[StoreDef]) -> BTreeSet<String> {
    let wreckable =
        |store: &str, entries: &[Entry<'_>]| danger(table, store, entries).is_some_and(Danger::can_wreck);
    let avoided = here.iter().filter(|(store, entries)| minds(question) && wreckable(store, entries));
    let avoided: BTreeSet<String> = avoided.map(|(store, _)| store.to_string()).collect();
    if avoided.len() == here.len() { BTreeSet::new() } else { avoided }
}

#[cfg(test)]
mod tests;
