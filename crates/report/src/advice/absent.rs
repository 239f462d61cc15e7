//! Explains why stores are missing from an answer.

use std::collections::BTreeSet;

use storebench_core::result::LeftOutReason;
use storebench_core::store::{Guarantee, StoreDef, StoreKind};
use storebench_core::units::with_commas;

use super::question::Question;
use super::ranking::RuledOut;
use super::record_shape::{RecordShape, record_shape};
use super::tiers;
use crate::data::merge::{Group, Merged};

/// The reason for a store whose trial was planned and not made.
pub const NO_TURN: &str = "not reached in time";

/// The reason for a store that the user did not name.
pub const NOT_CHOSEN: &str = "not named with --store";

/// The reasons why stores have neither an answer nor a failed trial at a position: from the runs, and from
/// the table, except for stores that the question excludes. `known` names the other stores.
pub fn absent(
    merged: &Merged<'_>,
    group: &Group<'_>,
    here: RecordShape,
    question: &Question,
    table: &[StoreDef],
    known: &BTreeSet<&str>,
) -> Vec<RuledOut> {
    let trials = group.trials.iter().filter(|entry| record_shape(&entry.trial.cell) == here);
    let runs_here: BTreeSet<usize> = trials.map(|entry| entry.run).collect();
    let planned = |store: &str| {
        let mut headers = runs_here.iter().map(|run| &merged.runs[*run].header);
        headers.any(|header| header.stores.iter().any(|info| info.name == store))
    };
    // It ran at another guarantee: then only this one was not planned.
    let ran = |store: &str| {
        let mut trials = runs_here.iter().flat_map(|run| &merged.runs[*run].trials);
        trials.any(|trial| trial.cell.store() == store && record_shape(&trial.cell) == here)
    };
    let can = |store: &str| {
        let def = table.iter().find(|def| def.name == store);
        def.is_none_or(|def| def.open.is_ok() && tiers::answering(def, question.guarantee).is_some())
    };
    let not_here = || {
        let (records, size, tier) = (with_commas(here.2.from), here.1.describe(), question.guarantee);
        format!("not measured with {records} records of {size} at guarantee {tier}")
    };
    // The reason, and whether the store was merely not measured.
    let why = |store: &str| {
        let unable = || outgrown(table, store, question).or_else(|| unable(table, store, question.guarantee));
        match () {
            () if !question.allows(store) => (NOT_CHOSEN.to_owned(), false),
            () if planned(store) && can(store) && !ran(store) => (NO_TURN.to_owned(), true),
            () => unable().map_or_else(|| (not_here(), true), |why| (why, false)),
        }
    };
    let of_runs = merged.runs.iter().flat_map(|run| &run.header.stores).map(|info| info.name.as_str());
    // Who asks for a store within the application does not expect servers.
    let asks_for_servers = question.stores.is_some() || question.network.is_some();
    let is_asked = |def: &&StoreDef| match def.kind {
        StoreKind::Harness => false,
        StoreKind::Server => asks_for_servers && question.allows(def.name),
        _ => question.allows(def.name),
    };
    let of_table = table.iter().filter(is_asked);
    let mut seen = known.clone();
    let missing = of_runs.chain(of_table.map(|def| def.name)).filter(|store| !merged.is_harness(store));
    missing
        .filter(|store| seen.insert(store))
        .map(|store| (store, why(store)))
        .map(|(store, (why, unmeasured))| RuledOut { store: store.to_owned(), why, unmeasured })
        .collect()
}

/// Why a store of the table can't hold the amount of data of a question, if so.
pub fn outgrown(table: &[StoreDef], store: &str, question: &Question) -> Option<String> {
    let def = table.iter().find(|def| def.name == store)?;
    let (bytes, most_bytes) = (question.values_bytes(), def.capabilities.max_bytes);
    let why = || LeftOutReason::Outgrows { store: store.to_owned(), bytes, most_bytes }.to_string();
    (bytes > most_bytes as f64).then(why)
}

/// Why a store of the table can't answer a question at a tier, if so.
pub fn unable(table: &[StoreDef], store: &str, tier: Guarantee) -> Option<String> {
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
