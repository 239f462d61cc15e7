//! What a question weighs of a trial: the time of an operation of its mix, the room on disk, the memory.

use indexmap::IndexMap;

use super::question::{Goal, Mix, Question};
use crate::report::column::MEAN_LATENCY;
use crate::report::merge::{BlockKey, Entry, measured};
use crate::result::Measured;
use crate::stats::Series;

/// Memory below which stores are alike, in bytes: an application has more than that anyway, and a ratio to nothing does not
/// exist.
pub const LITTLE_MEMORY: f64 = (1 << 20) as f64;

/// The figures of one trial that advice weighs. Less is better in all.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figures {
    /// The mean time of an operation of the mix, in nanoseconds.
    pub speed_ns: f64,
    /// Bytes on disk over bytes of values.
    pub space: f64,
    /// Peak memory above the process's base, in bytes.
    pub memory_bytes: f64,
}

impl Figures {
    /// Those of a trial; `None` where it lacks an operation of the mix, or holds nothing on disk.
    pub fn of(measured: &Measured, mix: &Mix) -> Option<Figures> {
        let of = |name: &str| measured.operation(name).and_then(|found| MEAN_LATENCY.of_operation(found));
        let mut speed_ns = 0.0;
        for (operation, share) in mix.shares() {
            speed_ns += share * of(operation.name())?;
        }
        let space = 1.0 / measured.space_efficiency().filter(|efficiency| *efficiency > 0.0)?;
        Some(Figures { speed_ns, space, memory_bytes: measured.memory.peak_above_base_bytes as f64 })
    }

    /// What a goal weighs.
    pub fn weighed(&self, goal: Goal) -> f64 {
        match goal {
            Goal::Speed => self.speed_ns,
            Goal::Space => self.space,
            Goal::Memory => self.memory_bytes.max(LITTLE_MEMORY),
            Goal::Balance => (self.speed_ns * self.space * self.weighed(Goal::Memory)).cbrt(),
        }
    }
}

/// The stores at one place, each with its figures by block.
pub type Here<'a> = IndexMap<&'a str, Series<BlockKey>>;

/// What a goal weighs of each store, by block; stores without a figure are left out.
pub fn weighed<'a>(here: &IndexMap<&'a str, Vec<Entry<'a>>>, mix: &Mix, goal: Goal) -> Here<'a> {
    let series = |entries: &[Entry<'_>]| -> Series<BlockKey> {
        let trials = measured(entries).into_iter();
        trials.filter_map(|(block, m)| Some((block, Figures::of(m, mix)?.weighed(goal)))).collect()
    };
    let all = here.iter().map(|(store, entries)| (*store, series(entries)));
    all.filter(|(_, series)| !series.is_empty()).collect()
}

/// Whether a store stays within the memory that the question allows: by the largest of its trials.
pub fn fits(entries: &[Entry<'_>], question: &Question) -> bool {
    let peak = measured(entries).into_iter().map(|(_, m)| m.memory.peak_above_base_bytes).max();
    question.max_memory_bytes.is_none_or(|most| peak.is_none_or(|peak| peak <= most))
}
