//! Advice: which store answers a user's question, why, what the others give up, how sure that is, and what would change it.
//! The time of an operation of a mix is the mean over the kinds, weighed by their shares, or measured as a mix in runs made for the answer.

mod absent;
pub mod aged;
mod answer;
mod candidate;
mod changes;
pub mod clusters;
mod cold;
mod danger;
pub(crate) mod figures;
mod find;
mod html;
mod other_counts;
mod other_store;
mod proof;
pub mod question;
pub mod ranking;
pub(crate) mod ratios;
mod record_shape;
mod remarks;
mod sensitivity;
mod sentences;
pub(crate) mod settings;
pub mod settling_budget;
pub mod snippet;
mod terminal;
mod tiers;

use std::collections::{BTreeMap, BTreeSet};

use storebench_figures::data::merge::Merged;
use storebench_figures::data::method::{self, MIX, Method};
use storebench_host::run::Run;
use storebench_model::result::LocationInfo;
use storebench_model::store::{Danger, Guarantee, StoreDef};

use self::clusters::Clusters;
use self::cold::cold;
use self::question::{Mix, Question};
use self::ranking::{Candidate, JudgedStores, rank};
use self::record_shape::{position, record_shape};
use self::sensitivity::{AnswerChange, Sensitivity, find_changes};
use crate::markup::Html;
use crate::page::{self, Lead};
use crate::terminal::grid::{Style, one_line, wrap};

pub use self::answer::Advice;
pub use self::find::MissingCoverage;
pub use self::record_shape::SizesAndCounts;

/// The study whose trials are made for an answer.
const MADE_BY: &str = "crud";

impl Advice {
    /// Answers a question from runs that cover it, or that were made for it with the records `wanted`; missing stores of the `table` are named.
    ///
    /// # Errors
    /// The part of the question that the runs do not cover.
    pub fn from_runs(
        question: &Question,
        merged: &Merged<'_>,
        wanted: Option<SizesAndCounts>,
        table: &[StoreDef],
    ) -> Result<Advice, MissingCoverage> {
        let made_for = wanted.is_some();
        let (group, mut shape) = find::find(question, merged, wanted, table)?;
        let mut verdict = rank(merged, &group, shape, question, table);
        let is_better = |store: &&Candidate| store.is_better_at(question.goal);
        // Runs for another goal may have given up this goal's best store after a look with fewer records: there all stores were measured.
        let looked_at = verdict.given_up.iter().find(is_better).and_then(|store| store.looked_at);
        if let Some(records) =
            looked_at.filter(|records| !made_for && find::covers(shape.1, *records, question))
        {
            shape.2 = records;
            verdict = rank(merged, &group, shape, question, table);
        }
        let Some(best) = verdict.ranking.first() else {
            return Err(MissingCoverage::NoStore(verdict.out));
        };
        let turns = find_changes(merged, &group, shape, (question, table), &best.store);
        let cold = cold(merged, &group, shape, question, table, &verdict);
        let (safer, practice) = (safer(table, &verdict), practice(table, &verdict));
        let settings = settings::settings(table, best);
        let cautions = table.iter().find(|def| def.name == best.store).map_or(&[][..], |def| def.cautions);
        let proof = proof::proof(table, question, best);
        let dangers = find_dangers(table, question, &verdict, &turns);
        let mut locations = merged.runs.iter().flat_map(|run| &run.header.locations);
        let mut trials = group.trials.iter().filter(|entry| entry.trial.ok().is_some());
        let cell = trials.next().map(|entry| &entry.trial.cell);
        let is_place = |location: &LocationInfo| cell.is_some_and(|cell| location.is_location_of(cell));
        let trials = group.trials.iter().filter(|entry| record_shape(&entry.trial.cell) == shape);
        let runs: BTreeSet<usize> = trials.map(|entry| entry.run).collect();
        let list_differences = |run: &usize| method::differences_from_study(&merged.runs[*run], MADE_BY);
        let describe_mix = |run: &usize| mixed_otherwise(question, &merged.runs[*run]);
        let otherwise = runs.iter().flat_map(list_differences).chain(runs.iter().filter_map(describe_mix));
        Ok(Advice {
            question: question.clone(),
            at: shape,
            memory: merged.memory,
            start: page::address(&group.key, &position(shape)),
            otherwise: otherwise.collect(),
            hardware: group.key.hardware.clone(),
            place: locations.find(|location| is_place(location)).cloned(),
            verdict,
            turns,
            cold,
            settings,
            proof,
            dangers,
            age: cell.map_or(0, |cell| cell.age()),
            aged: Vec::new(),
            clusters: Clusters::default(),
            repeated: cold::repeated(&group, shape, question),
            safer,
            practice,
            cautions,
        })
    }

    /// The answer for a terminal; `snippet` opens the recommended store. Each line is ended.
    pub fn text(&self, snippet: Option<&str>, style: Style) -> String {
        terminal::text(self, snippet, style)
    }

    /// The last line: the answer once more.
    pub fn closing(&self, style: Style) -> String {
        wrap(&one_line(&sentences::closing(self)), style.width, "  ")
    }

    /// The answer as a section of the page.
    pub fn html(&self, snippet: Option<&str>) -> Html {
        html::section(self, snippet)
    }

    /// The answer as the beginning of the page, which opens on the question's own place.
    pub fn lead(&self, snippet: Option<&str>) -> Lead {
        Lead { html: self.html(snippet), start: self.start.clone() }
    }
}

/// How a run's mix of operations differs from the question's, in words; `None` if it doesn't.
fn mixed_otherwise(question: &Question, run: &Run) -> Option<String> {
    let mix = Method::from_run(run)?.value(MIX).map(str::to_owned);
    let is_single = question.mix.shares().len() == 1;
    match mix.map(|mix| mix.parse::<Mix>()) {
        Some(Ok(mix)) if mix == question.mix => None,
        Some(Ok(mix)) => Some(format!("a mix of {}", mix.describe())),
        _ if is_single => None,
        _ => Some("each operation on its own".into()),
    }
}

fn safer(table: &[StoreDef], verdict: &JudgedStores) -> BTreeSet<String> {
    let is_safer = |store: &&str| {
        let def = table.iter().find(|def| def.name == *store);
        let danger = def.and_then(|def| def.offer(Guarantee::Power)?.danger(&[]));
        danger.is_some_and(|danger: &Danger| !danger.can_wreck())
    };
    let riskier = verdict.riskier.iter().map(|store| store.store.as_str());
    riskier.filter(is_safer).map(str::to_owned).collect()
}

fn find_dangers(
    table: &[StoreDef],
    question: &Question,
    verdict: &JudgedStores,
    turns: &Sensitivity,
) -> BTreeMap<String, &'static Danger> {
    let measured_danger = |store: &str| verdict.all().find(|candidate| candidate.store == store)?.danger;
    let shipped_danger = |store: &str| {
        let def = table.iter().find(|def| def.name == store)?;
        def.offer(tiers::answering(def, question.guarantee)?)?.danger(&[])
    };
    let danger = |store: &str| measured_danger(store).or_else(|| shipped_danger(store));
    let stores = turns.turns.iter().filter_map(AnswerChange::store);
    stores.filter_map(|store| Some((store.to_owned(), danger(store)?))).collect()
}

/// The remarks on practice, which no benchmark sees, for the recommended store and the next.
fn practice(table: &[StoreDef], verdict: &JudgedStores) -> Vec<(String, &'static str)> {
    let practice_of = |store: &str| table.iter().find(|def| def.name == store).map_or("", |def| def.practice);
    let first = verdict.ranking.iter().take(2).map(|store| (store.store.clone(), practice_of(&store.store)));
    first.filter(|(_, practice)| !practice.is_empty()).collect()
}

#[cfg(test)]
mod cautious {
    mod tests;
}
#[cfg(test)]
mod made {
    mod tests;
}
#[cfg(test)]
pub(crate) mod tests;
