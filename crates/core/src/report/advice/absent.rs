//! Stores that one might have expected in an answer, and why they are not in it.

use std::collections::BTreeSet;

use super::judge::Out;
use super::question::Question;
use crate::report::matrix::Position;
use crate::report::merge::{Group, Merged};
use crate::store::{Guarantee, Kind, StoreDef};
use crate::units::grouped;

/// Why a store is missing whose trial was planned and not made.
pub const NO_TURN: &str = "its turn had not come when the run ended";

/// Why a store is not considered that the user did not name.
pub const NOT_CHOSEN: &str = "not among those to choose from (--store)";

/// What is known of stores that have neither an answer nor a failed trial at a position: those of the runs, and those of the
/// table that the question does not forbid. `known` names the others.
pub fn absent(
    merged: &Merged<'_>,
    group: &Group<'_>,
    at: Position,
    question: &Question,
    table: &[StoreDef],
    known: &BTreeSet<&str>,
) -> Vec<Out> {
    let here = |cell: &crate::cell::Cell| (cell.data, cell.record_size, cell.records) == at;
    let runs_here: BTreeSet<usize> =
        group.trials.iter().filter(|entry| here(&entry.trial.cell)).map(|entry| entry.run).collect();
    let planned = |store: &str| {
        let mut headers = runs_here.iter().map(|run| &merged.runs[*run].header);
        headers.any(|header| header.stores.iter().any(|info| info.name == store))
    };
    let why = |store: &str| {
        let def = table.iter().find(|def| def.name == store);
        let unable = || def.and_then(|def| unable(def, question.guarantee));
        match () {
            () if !question.allows(store) => NOT_CHOSEN.to_owned(),
            () if planned(store) => unable().unwrap_or_else(|| NO_TURN.to_owned()),
            () => unable().unwrap_or_else(|| {
                format!(
                    "not measured with {} records of {} at guarantee {}",
                    grouped(at.2.from),
                    at.1,
                    question.guarantee
                )
            }),
        }
    };
    let of_runs = merged.runs.iter().flat_map(|run| &run.header.stores).map(|info| info.name.as_str());
    let of_table = table.iter().filter(|def| def.kind != Kind::Harness && question.allows(def.name));
    let mut seen = known.clone();
    let missing = of_runs.chain(of_table.map(|def| def.name)).filter(|store| !merged.is_harness(store));
    missing
        .filter(|store| seen.insert(store))
        .map(|store| Out { store: store.to_owned(), why: why(store) })
        .collect()
}

/// Why a store can't answer a question at a tier, if it can't.
pub fn unable(def: &StoreDef, tier: Guarantee) -> Option<String> {
    if let Err(why) = def.open {
        return Some(why.into());
    }
    if def.offer(tier).is_some() {
        return None;
    }
    let stronger = def.offers.iter().map(|offer| offer.guarantee).find(|offered| *offered > tier);
    Some(match stronger {
        Some(other) => format!(
            "does not offer {tier}; it offers {other}, which is stronger and takes longer: ask with --guarantee {other}"
        ),
        None => format!("does not offer {tier}"),
    })
}
