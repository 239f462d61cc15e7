//! Explains why stores are missing from an answer.

use std::collections::BTreeSet;

use storebench_figures::data::merge::{Group, Merged};
use storebench_model::result::LeftOutReason;
use storebench_model::store::{Guarantee, StoreDef, StoreKind};
use storebench_model::units::with_commas;

use super::question::Question;
use super::ranking::RuledOut;
use super::record_shape::{RecordShape, record_shape};
use super::tiers;

pub const NO_TURN: &str = "not reached in time";

pub const NOT_CHOSEN: &str = "not named with --store";

/// The stores with neither an answer nor a failed trial at a position, by the runs and the table; `known` names the others.
pub fn absent(
    merged: &Merged<'_>,
    group: &Group<'_>,
    shape: RecordShape,
    question: &Question,
    table: &[StoreDef],
    known: &BTreeSet<&str>,
) -> Vec<RuledOut> {
    let trials = group.trials.iter().filter(|entry| record_shape(&entry.trial.cell) == shape);
    let runs: BTreeSet<usize> = trials.map(|entry| entry.run).collect();
    let is_planned = |store: &str| {
        let mut headers = runs.iter().map(|run| &merged.runs[*run].header);
        headers.any(|header| header.stores.iter().any(|info| info.name == store))
    };
    // It ran at another guarantee: then only this one was not planned.
    let was_run = |store: &str| {
        let mut trials = runs.iter().flat_map(|run| &merged.runs[*run].trials);
        trials.any(|trial| trial.cell.store() == store && record_shape(&trial.cell) == shape)
    };
    let can_answer = |store: &str| {
        let def = table.iter().find(|def| def.name == store);
        def.is_none_or(|def| def.open.is_ok() && tiers::answering(def, question.guarantee).is_some())
    };
    let describe_unmeasured = || {
        let (records, size, tier) = (with_commas(shape.2.from), shape.1.describe(), question.guarantee);
        format!("not measured with {records} records of {size} at guarantee {tier}")
    };
    // The reason, and whether the store was merely not measured.
    let why = |store: &str| {
        let unable =
            || why_outgrown(table, store, question).or_else(|| why_unable(table, store, question.guarantee));
        match () {
            () if !question.allows(store) => (NOT_CHOSEN.to_owned(), false),
            () if is_planned(store) && can_answer(store) && !was_run(store) => (NO_TURN.to_owned(), true),
            () => unable().map_or_else(|| (describe_unmeasured(), true), |why| (why, false)),
        }
    };
    let run_stores = merged.runs.iter().flat_map(|run| &run.header.stores).map(|info| info.name.as_str());
    // Who asks for a store within the application does not expect servers.
    let asks_for_servers = question.stores.is_some() || question.network.is_some();
    let is_expected = |def: &&StoreDef| match def.kind {
        StoreKind::Harness => false,
        StoreKind::Server => asks_for_servers && question.allows(def.name),
        _ => question.allows(def.name),
    };
    let table_stores = table.iter().filter(is_expected);
    let mut named = known.clone();
    let missing =
        run_stores.chain(table_stores.map(|def| def.name)).filter(|store| !merged.is_harness(store));
    let rule_out = |store: &str| {
        let (why, unmeasured) = why(store);
        RuledOut { store: store.to_owned(), why, unmeasured }
    };
    missing.filter(|store| named.insert(store)).map(rule_out).collect()
}

pub fn why_outgrown(table: &[StoreDef], store: &str, question: &Question) -> Option<String> {
    let def = table.iter().find(|def| def.name == store)?;
    let (bytes, most_bytes) = (question.values_bytes(), def.capabilities.max_bytes);
    let why = || LeftOutReason::Outgrows { store: store.to_owned(), bytes, most_bytes }.to_string();
    (bytes > most_bytes as f64).then(why)
}

pub fn why_unable(table: &[StoreDef], store: &str, tier: Guarantee) -> Option<String> {
    let def = table.iter().find(|def| def.name == store)?;
    if let Err(why) = def.open {
        return Some(why.into());
    }
    Some(match tiers::answering(def, tier) {
        Some(offered) if offered == tier => return None,
        Some(other) => {
            format!("does not offer {tier}; it offers {other}, which would do, but was not measured")
        }
        None => format!("does not offer {tier}"),
    })
}
