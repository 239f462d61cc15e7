//! Advice: which store answers a user's question, why, what the others give up, how sure that is, and what would change it.
//!
//! The time of an operation is that of each kind, measured on its own, weighed by its share of the mix. What decides between
//! stores is what decides everywhere ([`crate::stats::decide`]).

mod absent;
pub mod at;
pub mod elsewhere;
mod figures;
mod find;
mod html;
pub mod judge;
pub mod question;
mod sentences;
pub mod snippet;
mod terminal;
mod tiers;
pub mod turn;

use std::collections::BTreeSet;

use indexmap::IndexMap;
use storebench_core::result::PlaceInfo;
use storebench_core::store::StoreDef;
use storebench_core::units::{CountRange, SizeRange};

use self::at::{At, at};
use self::judge::{Verdict, judge};
use self::question::Question;
use self::turn::{Turns, turns};
use crate::data::looks;
use crate::data::memory::Basis;
use crate::data::merge::Merged;
use crate::data::method;
use crate::markup::Html;
use crate::terminal::grid::Style;

pub use self::find::Uncovered;

/// Sizes and numbers of records with which a question was measured.
pub type Here = (SizeRange, CountRange);

/// An answer to a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Advice {
    /// The question.
    pub question: Question,
    /// Where the measurements were made that answer it.
    pub at: At,
    /// The machine's name.
    pub hardware: String,
    /// The place where the stores' files were.
    pub place: Option<PlaceInfo>,
    /// The stores, judged.
    pub verdict: Verdict,
    /// What would change the answer.
    pub turns: Turns,
    /// What memory was compared by.
    pub memory: Basis,
    /// In what the runs were made otherwise than runs that are made for an answer.
    pub otherwise: BTreeSet<String>,
}

/// The study whose trials are made for an answer.
const MADE_BY: &str = "crud";

impl Advice {
    /// Answers a question from runs that cover it, or that were made for it with the records `here`. Of the `table` of stores
    /// those that are missing are named, with the reason.
    ///
    /// # Errors
    /// What of the question the runs do not cover.
    pub fn from_runs(
        question: &Question,
        merged: &Merged<'_>,
        here: Option<Here>,
        table: &[StoreDef],
    ) -> Result<Advice, Uncovered> {
        let (group, here) = find::find(question, merged, here, table)?;
        let verdict = judge(merged, &group, here, question, table);
        let Some(best) = verdict.ranking.first() else {
            return Err(Uncovered::NoStore(verdict.out));
        };
        let turns = turns(merged, &group, here, question, &best.store);
        let place = merged.runs.iter().flat_map(|run| &run.header.places);
        let mut trials = group.trials.iter().filter(|entry| entry.trial.ok().is_some());
        let name = trials.next().map(|entry| entry.trial.cell.place());
        let trials = group.trials.iter().filter(|entry| at(&entry.trial.cell) == here);
        let runs: BTreeSet<usize> = trials.map(|entry| entry.run).collect();
        let otherwise = runs.into_iter().flat_map(|run| method::unlike(&merged.runs[run], MADE_BY));
        Ok(Advice {
            question: question.clone(),
            at: here,
            memory: merged.memory,
            otherwise: otherwise.collect(),
            hardware: group.key.hardware.clone(),
            place: place.into_iter().find(|place| Some(place.name.as_str()) == name).cloned(),
            verdict,
            turns,
        })
    }

    /// Whether the best is told from the second, or both are known to be alike to within `precision`, a share of 1.
    pub fn is_clear(&self, precision: f64) -> bool {
        let second = self.verdict.ranking.get(1);
        second.is_none_or(|second| looks::is_clear(second.rule, second.times_worse, precision))
    }

    /// The answer for a terminal; `snippet` opens the recommended store. Each line is ended.
    pub fn text(&self, snippet: Option<&str>, style: Style) -> String {
        terminal::text(self, snippet, style)
    }

    /// The answer as a section of the page.
    pub fn html(&self, snippet: Option<&str>) -> Html {
        html::section(self, snippet)
    }

    /// The trials of each store that answered, the best first.
    pub fn trials(&self) -> IndexMap<&str, usize> {
        self.verdict.ranking.iter().map(|store| (store.store.as_str(), store.speed.trials)).collect()
    }
}

#[cfg(test)]
mod tests;
