//! Pauses, as results hold them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Calls that took long, and the work that the engine did for itself meanwhile.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pauses {
    /// A call that took longer is a pause, in nanoseconds.
    pub over_ns: u64,
    /// Calls that were made.
    pub calls: u64,
    /// The time that they took together, in nanoseconds.
    pub calls_ns: u64,
    /// Pauses, by the call that paused: `update`, `insert`, `remove` or `scan`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub by_call: BTreeMap<String, u64>,
    /// The time that pauses took together, in nanoseconds.
    pub total_ns: u64,
    /// The longest pause, in nanoseconds.
    pub longest_ns: u64,
    /// The part of their time in which the calling thread was in a sync, in nanoseconds; absent where syncs are not seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync_ns: Option<u64>,
    /// Samples of the engine's own work right after a pause.
    pub after: Samples,
    /// Samples without one.
    pub otherwise: Samples,
    /// The kinds of background work that the engine reports.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub upkeep: Vec<UpkeepCount>,
}

/// Samples of an engine's own work.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Samples {
    /// The number of samples.
    pub count: u64,
    /// The time from the sample before each of them, added, in nanoseconds.
    pub span_ns: u64,
}

/// A kind of work that an engine does for itself, as samples saw it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpkeepCount {
    /// Its name.
    pub work: String,
    /// The samples after pauses that found it done since the sample before, or under way.
    pub after: u64,
    /// The other samples that did.
    pub otherwise: u64,
}

impl Samples {
    fn plus(self, other: Samples) -> Samples {
        Samples { count: self.count + other.count, span_ns: self.span_ns + other.span_ns }
    }

    fn mean_span_ns(self) -> Option<f64> {
        (self.count > 0).then(|| self.span_ns as f64 / self.count as f64)
    }
}

impl Pauses {
    /// All pauses.
    pub fn count(&self) -> u64 {
        self.by_call.values().sum()
    }

    /// The share of samples after pauses that would find a kind of work by chance: if it were as frequent then as in samples without
    /// a pause, each of which covers another time. `None` without a sample without a pause.
    pub fn chance_share(&self, work: &UpkeepCount) -> Option<f64> {
        let times = self.after.mean_span_ns()? / self.otherwise.mean_span_ns().filter(|span| *span > 0.0)?;
        let otherwise = work.otherwise as f64 / self.otherwise.count as f64;
        Some(1.0 - (1.0 - otherwise).powf(times))
    }

    /// Adds other threads' pauses.
    #[must_use]
    pub fn plus(self, other: Pauses) -> Pauses {
        let (mut by_call, mut upkeep) = (self.by_call, self.upkeep);
        for (call, count) in other.by_call {
            *by_call.entry(call).or_default() += count;
        }
        for added in other.upkeep {
            match upkeep.iter_mut().find(|total| total.work == added.work) {
                Some(total) => {
                    total.after += added.after;
                    total.otherwise += added.otherwise;
                }
                None => upkeep.push(added),
            }
        }
        Pauses {
            over_ns: self.over_ns.max(other.over_ns),
            calls: self.calls + other.calls,
            calls_ns: self.calls_ns + other.calls_ns,
            by_call,
            total_ns: self.total_ns + other.total_ns,
            longest_ns: self.longest_ns.max(other.longest_ns),
            sync_ns: self.sync_ns.zip(other.sync_ns).map(|(total, added)| total + added),
            after: self.after.plus(other.after),
            otherwise: self.otherwise.plus(other.otherwise),
            upkeep,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_longer_time_between_samples_finds_more_by_chance() {
        let samples = |count, ms: u64| Samples { count, span_ns: count * ms * 1_000_000 };
        let pauses = Pauses { after: samples(4, 20), otherwise: samples(100, 10), ..Pauses::default() };
        let upkeep = |otherwise| UpkeepCount { work: "flush".into(), after: 1, otherwise };
        // A tenth of the samples of 10 ms, so that two in a row miss it in 0.81 of all cases.
        assert!((pauses.chance_share(&upkeep(10)).unwrap() - 0.19).abs() < 1e-9);
        assert_eq!([0, 100].map(|count| pauses.chance_share(&upkeep(count))), [Some(0.0), Some(1.0)]);
        assert_eq!(Pauses { otherwise: Samples::default(), ..pauses }.chance_share(&upkeep(0)), None);
    }
}
