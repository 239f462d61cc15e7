//! Stores that were given up before the question's own records were measured: results of a look with other numbers of records.

use indexmap::IndexMap;
use storebench_core::store::StoreDef;

use super::candidate::{Candidate, CandidateContext};
use super::figures::{StoreFigures, weigh_stores};
use super::question::{Goal, Question};
use super::ranking::{answering, compare_with_best};
use super::record_shape::{self, RecordShape, position};
use crate::data::matrix::SortedTrials;
use crate::data::merge::Merged;
use crate::stats::CONFIDENCE;

/// The context of a look at other numbers of records.
pub(super) struct OtherCountsContext<'l> {
    pub merged: &'l Merged<'l>,
    pub at: RecordShape,
    pub question: &'l Question,
    pub table: &'l [StoreDef],
    /// The recommended store.
    pub best: &'l str,
}

impl OtherCountsContext<'_> {
    /// Stores that are not `known` at the question's own place, each compared with the recommended one at the nearest common number
    /// of records; the best first.
    pub fn find_candidates(
        &self,
        sorted: &SortedTrials<'_, '_>,
        known: &dyn Fn(&str) -> bool,
    ) -> Vec<Candidate> {
        let distance = |shape: &RecordShape| (shape.2.from as f64 / self.at.2.from as f64).ln().abs();
        let is_comparable =
            |shape: &RecordShape| (shape.0, shape.1) == (self.at.0, self.at.1) && shape.2 != self.at.2;
        let mut places: Vec<RecordShape> = sorted
            .entries
            .keys()
            .map(|position| record_shape::record_shape(&position.cell()))
            .filter(is_comparable)
            .collect();
        places.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
        let context =
            CandidateContext { question: self.question, basis: self.merged.memory, confidence: CONFIDENCE };
        let mut found: IndexMap<String, Candidate> = IndexMap::new();
        for place in places {
            let Some(tested) = sorted.entries.get(&position(place)) else { continue };
            let eligible = answering(self.merged, tested, self.question, self.table);
            let weigh = |goal| {
                (goal, weigh_stores(&eligible, self.question, &self.question.mix, goal, self.merged.memory))
            };
            let by_goal: IndexMap<Goal, StoreFigures<'_>> = Goal::ALL.into_iter().map(weigh).collect();
            let mut new = eligible.keys().map(|store| &**store);
            let mut new = new.by_ref().filter(|store| !known(store) && !found.contains_key(*store));
            let candidates =
                compare_with_best(&context, (&eligible, &by_goal), self.table, self.best, &mut new);
            let candidates = candidates.into_iter().filter(|candidate| candidate.times_worse.is_some());
            let candidates: Vec<Candidate> =
                candidates.map(|candidate| Candidate { looked_at: Some(place.2), ..candidate }).collect();
            found.extend(candidates.into_iter().map(|candidate| (candidate.store.clone(), candidate)));
        }
        found.into_values().collect()
    }
}
