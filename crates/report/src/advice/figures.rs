//! The figures of a trial that a question weighs: the time of an operation of its mix, disk space, memory.

use std::borrow::Cow;

use indexmap::IndexMap;
use storebench_core::workload::operation::Operation;
use storebench_figures::column::MEAN_LATENCY;
use storebench_figures::column::checks::LITTLE_DISK;
use storebench_figures::data::clock;
use storebench_figures::data::matrix;
use storebench_figures::data::memory::Basis;
use storebench_figures::data::merge::{BlockKey, Entry, Merged, measured};
use storebench_figures::judge::standing::Terms;
use storebench_figures::stats::{Resolution, Scale, Series};
use storebench_model::result::Measurements;

use super::question::{Goal, Mix, Question};

/// Memory below which stores are alike, in bytes: an application needs more anyway, and a ratio to zero does not exist.
pub const LITTLE_MEMORY: f64 = (1 << 20) as f64;

/// The figures of one trial that advice weighs. Less is better in all.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figures {
    pub speed_ns: f64,
    /// Space amplification: bytes on disk per byte of values.
    pub space: f64,
    pub memory_bytes: f64,
}

impl Figures {
    /// The figures of a trial, with memory by the `basis`; `None` if the trial lacks an operation of the mix, or has nothing on disk.
    pub fn from_trial(measured: &Measurements, mix: &Mix, basis: Basis) -> Option<Figures> {
        let speed_ns = time_ns(measured, mix)?;
        let space = measured.space_amplification()?;
        Some(Figures { speed_ns, space, memory_bytes: basis.bytes(&measured.memory)? as f64 })
    }

    /// The figure that a goal weighs; disk space is the space of `values_bytes` bytes of values.
    fn goal_figure(&self, goal: Goal, values_bytes: f64) -> f64 {
        let figure = |goal| self.goal_figure(goal, values_bytes);
        match goal {
            Goal::Speed => self.speed_ns,
            Goal::Space => (self.space * values_bytes).max(LITTLE_DISK),
            Goal::Memory => self.memory_bytes.max(LITTLE_MEMORY),
            Goal::Balance => (figure(Goal::Speed) * figure(Goal::Space) * figure(Goal::Memory)).cbrt(),
        }
    }
}

/// The mean time of an operation of a mix, in nanoseconds; `None` if one of its operations was not measured.
pub fn time_ns(measured: &Measurements, mix: &Mix) -> Option<f64> {
    let latency = |operation: &Operation| MEAN_LATENCY.operation_value(measured.operation(operation.name())?);
    mix.shares().iter().map(|(operation, share)| Some(share * latency(operation)?)).sum()
}

pub type StoreFigures<'a> = IndexMap<Cow<'a, str>, Series<BlockKey>>;

/// The figure that a goal weighs of each store, by block, without stores that have none.
pub fn weigh_stores<'a>(
    entries_by_store: &matrix::ContestantTrials<'a>,
    question: &Question,
    mix: &Mix,
    goal: Goal,
    basis: Basis,
) -> StoreFigures<'a> {
    let values = question.values_bytes();
    let series = |entries: &[Entry<'_>]| -> Series<BlockKey> {
        let trials = measured(entries).into_iter();
        trials
            .filter_map(|(block, m)| {
                Some((block, Figures::from_trial(m, mix, basis)?.goal_figure(goal, values)))
            })
            .collect()
    };
    let figures = entries_by_store.iter().map(|(store, entries)| (store.clone(), series(entries)));
    figures.filter(|(_, series)| !series.is_empty()).collect()
}

/// The terms on which a goal separates stores: differences within the clock's resolution, or of little disk space, do not count.
pub fn goal_terms(merged: &Merged<'_>, mix: &Mix, goal: Goal, confidence: f64) -> Terms {
    let environments = merged.runs.iter().map(|run| &run.header.environment);
    match goal {
        Goal::Speed => {
            let resolution = clock::resolution_of_mix(environments, mix.share(Operation::Get));
            Terms { confidence, resolution, ..Terms::default() }
        }
        Goal::Space => {
            let scale = Scale::Bytes { least: LITTLE_DISK };
            Terms {
                confidence,
                resolution: Resolution { scale, ..Resolution::default() },
                ..Terms::default()
            }
        }
        Goal::Memory | Goal::Balance => Terms { confidence, ..Terms::default() },
    }
}

pub fn most_memory(entries: &[Entry<'_>], basis: Basis) -> Option<u64> {
    measured(entries).into_iter().filter_map(|(_, m)| basis.bytes(&m.memory)).max()
}

pub fn fits_in_memory(entries: &[Entry<'_>], question: &Question, basis: Basis) -> bool {
    let peak = most_memory(entries, basis);
    question.max_memory_bytes.is_none_or(|most| peak.is_none_or(|peak| peak <= most))
}
