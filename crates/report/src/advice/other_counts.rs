//! Stores that were given up before the question's own records were measured: results of a look with other numbers of records.

use indexmap::IndexMap;
use storebench_figures::data::matrix::SortedTrials;
use storebench_figures::data::merge::Merged;
use storebench_figures::stats::CONFIDENCE;
use storebench_model::store::StoreDef;

use super::candidate::{Candidate, CandidateContext};
use super::figures::{StoreFigures, weigh_stores};
use super::question::{Goal, Question};
use super::ranking::{answering, compare_with_best};
use super::record_shape::{RecordShape, position, record_shape};

/// Stores that were not run `at` the question's own place, compared with the recommended one at the nearest common number of records.
pub(super) fn find_candidates(
    merged: &Merged<'_>,
    sorted: &SortedTrials<'_, '_>,
    at: RecordShape,
    (question, table): (&Question, &[StoreDef]),
    best: &str,
) -> Vec<Candidate> {
    let distance = |shape: &RecordShape| (shape.2.from as f64 / at.2.from as f64).ln().abs();
    let is_comparable = |shape: &RecordShape| (shape.0, shape.1) == (at.0, at.1) && shape.2 != at.2;
    let shapes = sorted.entries.keys().map(|position| record_shape(&position.cell()));
    let mut places: Vec<RecordShape> = shapes.filter(is_comparable).collect();
    places.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
    let run_here = sorted.entries.get(&position(at));
    let is_known = |store: &str| run_here.is_some_and(|stores| stores.contains_key(store));
    let context = CandidateContext { question, basis: merged.memory, confidence: CONFIDENCE };
    let mut found: IndexMap<String, Candidate> = IndexMap::new();
    for place in places {
        let Some(tested) = sorted.entries.get(&position(place)) else { continue };
        let eligible = answering(merged, tested, question, table);
        let weigh = |goal| (goal, weigh_stores(&eligible, question, &question.mix, goal, merged.memory));
        let by_goal: IndexMap<Goal, StoreFigures<'_>> = Goal::ALL.into_iter().map(weigh).collect();
        let stores = eligible.keys().map(|store| &**store);
        let mut new = stores.filter(|store| !is_known(store) && !found.contains_key(*store));
        let candidates = compare_with_best(&context, (&eligible, &by_goal), table, best, &mut new);
        for candidate in candidates.into_iter().filter(|candidate| candidate.times_worse.is_some()) {
            found.insert(candidate.store.clone(), Candidate { looked_at: Some(place.2), ..candidate });
        }
    }
    found.into_values().collect()
}
