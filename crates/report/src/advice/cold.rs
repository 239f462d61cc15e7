//! Cold reads: how the stores of an answer compare when the page cache is empty.

use storebench_core::workload::operation::Operation;
use storebench_figures::column::{MEAN_LATENCY, Unit};
use storebench_figures::data::contention;
use storebench_figures::data::matrix::{SortedTrials, series};
use storebench_figures::data::merge::{Entry, Group, Merged, measured};
use storebench_figures::judge::Verdict;
use storebench_figures::judge::standing::{Standing, Terms, decide_on};
use storebench_figures::stats::{Better, CONFIDENCE, Summary, compare_at};
use storebench_model::cell::{Axis, Cache};
use storebench_model::store::StoreDef;
use storebench_model::units::three_digits;

use super::figures::StoreFigures as Weights;
use super::question::Question;
use super::ranking::{JudgedStores, answering};
use super::ratios::times_measured;
use super::record_shape::{RecordShape, position, record_shape};
use super::tiers;

#[derive(Debug, Clone, PartialEq)]
pub struct ColdReads {
    pub best: String,
    /// Mean latency of a cold get in nanoseconds, by store; the quickest first.
    pub gets: Vec<(String, f64)>,
    /// Whether any is named: not with few trials, nor if other programs left too few processors.
    pub is_judged: bool,
    /// Whether the recommended store is the quickest here too, or too close to call with the quickest.
    pub holds: bool,
    /// The factor by which it reads slower than the quickest, if so.
    pub slower: Option<f64>,
    pub trials: usize,
}

impl ColdReads {
    pub fn sentence(&self) -> String {
        let gets: Vec<String> =
            self.gets.iter().map(|(store, ns)| format!("{store} {}", Unit::Nanoseconds.show(*ns))).collect();
        let trials = times_measured(self.trials);
        let verdict = match (self.holds, self.gets.first(), self.slower) {
            _ if !self.is_judged => "no store is named".to_owned(),
            (false, Some((first, _)), Some(slower)) => {
                format!("{first} is fastest, {} is {}x slower", self.best, three_digits(slower))
            }
            (true, Some((first, _)), _) if *first != self.best => {
                format!("{} is too close to call with {first}", self.best)
            }
            _ => format!("{} is still fastest", self.best),
        };
        format!("Read cold, from disk: {verdict} ({}; {trials}).", gets.join(", "))
    }
}

/// Whether a trial's reads are mostly cold: with more reads than records, most repeat an earlier read.
pub fn is_cold(reads: u64, records: u64) -> bool {
    reads <= records
}

/// If a question wants cold reads and its trials read more often than there are records: how many of each.
pub fn repeated(group: &Group<'_>, shape: RecordShape, question: &Question) -> Option<(u64, u64)> {
    if !question.cold {
        return None;
    }
    let trials = group.trials.iter().filter(|entry| record_shape(&entry.trial.cell) == shape);
    let reads = |entry: &Entry<'_>| Some(entry.trial.ok()?.operation(Operation::Get.name())?.count);
    let reads = trials.filter_map(reads).max()?;
    (!is_cold(reads, shape.2.from)).then_some((reads, shape.2.from))
}

pub fn cold(
    merged: &Merged<'_>,
    group: &Group<'_>,
    shape: RecordShape,
    question: &Question,
    table: &[StoreDef],
    verdict: &JudgedStores,
) -> Option<ColdReads> {
    let best = verdict.ranking.first()?.store.as_str();
    if question.cold || !question.reads() {
        return None;
    }
    let cold = Cache::Cold.name();
    let is_cold_twin = |facets: &[(Axis, String)]| {
        let without_cache = |facets: &[(Axis, String)]| -> Vec<(Axis, String)> {
            facets.iter().filter(|(axis, _)| *axis != Axis::CACHE).cloned().collect()
        };
        let is_cold = facets.iter().any(|(axis, value)| *axis == Axis::CACHE && value == cold);
        is_cold && without_cache(facets) == without_cache(&group.key.facets)
    };
    let groups = merged.groups.iter().filter(|other| other.key.hardware == group.key.hardware);
    let groups: Vec<&Group<'_>> = groups.filter(|other| is_cold_twin(&other.key.facets)).collect();
    let joined = tiers::join_groups(&groups, question, table)?;
    let gets: Question = Question { mix: "get=1".parse().ok()?, ..question.clone() };
    let sorted = SortedTrials::new(merged, &joined);
    let eligible = answering(merged, sorted.entries.get(&position(shape))?, &gets, table);
    let get = Operation::Get.name();
    let reads = |entries: &[Entry<'_>]| {
        measured(entries).iter().filter_map(|(_, m)| Some(m.operation(get)?.count)).max()
    };
    let is_ranked = |store: &str| verdict.ranking.iter().any(|candidate| candidate.store == store);
    let weights: Weights<'_> = eligible
        .iter()
        .filter(|(store, entries)| {
            is_ranked(store) && reads(entries).is_some_and(|reads| is_cold(reads, shape.2.from))
        })
        .map(|(store, entries)| (store.clone(), series(entries, get, &MEAN_LATENCY)))
        .filter(|(_, series)| !series.is_empty())
        .collect();
    let best_series = weights.get(best)?;
    let latencies: Vec<_> = weights.values().cloned().collect();
    let headers: Vec<_> = merged.runs.iter().map(|run| &run.header).collect();
    let terms =
        Terms::default().during(contention::find_contention(&headers, eligible.values().flatten()), true);
    let standings = decide_on(&latencies, Better::Lower, terms);
    let name = |index: usize| weights.get_index(index).map(|(store, _)| store.to_string());
    let mean = |index: usize| {
        let values: Vec<f64> = latencies[index].values().copied().collect();
        Summary::from_values(&values).map(|summary| summary.mean.value)
    };
    let named = |standing: &Standing| Some((name(standing.index)?, mean(standing.index)?));
    let gets: Vec<(String, f64)> = standings.iter().filter_map(named).collect();
    let standing = standings.iter().find(|standing| name(standing.index).as_deref() == Some(best))?;
    let quickest = standings.first().and_then(|quickest| latencies.get(quickest.index))?;
    let is_open =
        |standing: &Standing| matches!(standing.verdict, Verdict::NotJudged(_) | Verdict::Candidate(_));
    let is_judged = !standings.iter().any(is_open);
    (gets.len() > 1).then(|| ColdReads {
        best: best.to_owned(),
        gets,
        is_judged,
        holds: standing.verdict.wins(),
        slower: compare_at(best_series, quickest, CONFIDENCE).map(|ratio| ratio.ratio.value),
        trials: best_series.len(),
    })
}

#[cfg(test)]
mod tests;
