//! A store that was measured for a question: its figures, all from the same blocks, and its ratio to the recommended one.

use std::collections::BTreeSet;

use indexmap::IndexMap;
use storebench_core::workload::operation::Operation;
use storebench_figures::column::MEAN_LATENCY;
use storebench_figures::data::memory::Basis;
use storebench_figures::data::merge::{BlockKey, Entry, measured};
use storebench_figures::judge::Verdict;
use storebench_figures::judge::recommendation::gains;
use storebench_figures::stats::{Ratio, Summary, compare_at};
use storebench_model::store::{Danger, Guarantee, Setting};
use storebench_model::units::CountRange;

use super::figures::{Figures, StoreFigures};
use super::question::{Goal, Question};

/// A store that was measured for a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// Its name.
    pub store: String,
    /// Its engine's version.
    pub version: String,
    /// The guarantee that was given: the one asked for, or the next stronger if the store does not offer it.
    pub guarantee: Guarantee,
    /// The danger with these settings: the cost of accidents; `None` for a store that is not in the table.
    pub danger: Option<&'static Danger>,
    /// Mean latency of each operation of the mix, in nanoseconds.
    pub operations: Vec<(Operation, Summary)>,
    /// The mean time of an operation of the mix, in nanoseconds.
    pub speed: Summary,
    /// Space amplification: bytes on disk per byte of values.
    pub space: Summary,
    /// Peak memory, in bytes, by [`storebench_figures::data::merge::Merged::memory`].
    pub memory: Summary,
    /// The factor by which it is worse by the goal than the recommended store; `None` for that one, and without a common block.
    pub times_worse: Option<Ratio>,
    /// Whether it is the best by the goal, or may be.
    pub verdict: Verdict,
    /// Its speed, space and memory as multiples of the recommended store's: over 1 is worse.
    pub against_best: Vec<(Goal, Option<Ratio>)>,
    /// A store that is better at speed, space or memory, and worse at none: then this one is not on the Pareto front.
    pub beaten_by: Option<String>,
    /// The number of records with which it was compared with the recommended store, if not the answer's.
    pub looked_at: Option<CountRange>,
    /// Its settings, as read back.
    pub settings: Vec<Setting>,
}

impl Candidate {
    /// Whether it is better by the goal than the recommended store, though measured too seldom to be ranked. For speed its look decides.
    pub(super) fn is_better_at(&self, goal: Goal) -> bool {
        goal != Goal::Speed && gains(self.times_worse)
    }
}

pub(super) struct CandidateContext<'m> {
    pub question: &'m Question,
    pub basis: Basis,
    pub confidence: f64,
}

impl CandidateContext<'_> {
    /// A store with its figures in these blocks; `None` if it has none.
    pub fn candidate(
        &self,
        store: &str,
        entries: &[Entry<'_>],
        blocks: &BTreeSet<BlockKey>,
        danger: Option<&'static Danger>,
    ) -> Option<Candidate> {
        let mut trials = measured(entries);
        trials.retain(|(block, _)| blocks.contains(block));
        let mix = &self.question.mix;
        let figures = trials.iter().filter_map(|(_, m)| Figures::from_trial(m, mix, self.basis));
        let figures: Vec<Figures> = figures.collect();
        let summary = |value: fn(&Figures) -> f64| {
            Summary::at_confidence(&figures.iter().map(value).collect::<Vec<_>>(), self.confidence)
        };
        let latency = |operation: Operation| {
            let latencies = trials
                .iter()
                .filter_map(|(_, m)| MEAN_LATENCY.operation_value(m.operation(operation.name())?));
            Some((operation, Summary::from_values(&latencies.collect::<Vec<_>>())?))
        };
        let (_, last) = trials.last()?;
        Some(Candidate {
            store: store.to_owned(),
            version: last.store_version.clone(),
            guarantee: last.guarantee,
            danger,
            operations: mix.shares().iter().filter_map(|(operation, _)| latency(*operation)).collect(),
            speed: summary(|figures| figures.speed_ns)?,
            space: summary(|figures| figures.space)?,
            memory: summary(|figures| figures.memory_bytes)?,
            times_worse: None,
            verdict: Verdict::GivenUp,
            against_best: Vec::new(),
            beaten_by: None,
            looked_at: None,
            settings: last.settings.clone(),
        })
    }

    /// A store's ratios to the recommended one, in the blocks that both have.
    pub fn ratios_to_best(
        &self,
        best: &str,
        store: &str,
        by_goal: &IndexMap<Goal, StoreFigures<'_>>,
    ) -> Vec<(Goal, Option<Ratio>)> {
        if best == store {
            return Vec::new();
        }
        let ratio =
            |figures: &StoreFigures<'_>| compare_at(figures.get(store)?, figures.get(best)?, self.confidence);
        [Goal::Speed, Goal::Space, Goal::Memory].map(|goal| (goal, ratio(&by_goal[&goal]))).into()
    }
}
