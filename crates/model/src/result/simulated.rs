//! A simulated disk's part in a trial, as results hold it.

use serde::{Deserialize, Serialize};
use storebench_disk::counts::{Counts, Requests};
use storebench_disk::transit::Transit;

use super::{Measurements, OperationResult, Warning};

/// The share of its model's busy time by which a simulated disk may answer late: beyond it, times are the host's.
pub const MOST_LATE: f64 = 0.1;

/// The simulated disk under a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DiskReport {
    /// Its name in cells.
    pub name: String,
    /// The time that requests take to a disk without a model, measured once as the run began; absent in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transit: Option<Transit>,
    /// Its counts from just before the trial's process was started to its end, and how late it answered.
    #[serde(flatten)]
    pub counts: Counts,
}

impl DiskReport {
    /// How late it answered, if that is too much.
    fn describe_lateness(&self, requests: &Requests) -> Option<String> {
        let late = requests.late_share();
        let by = format!("by {:.0} % of the time that its model was busy", late * 100.0);
        (late > MOST_LATE).then(|| format!("the simulated disk {} answered late, {by}", self.name))
    }

    /// Warnings of the times of operations over which it answered late; over the trial, where they were not counted by themselves.
    pub fn warnings(&self, measured: &Measurements) -> Vec<Warning> {
        let warn = |operation: &OperationResult| {
            let requests = operation.disk_requests().map_or(&self.counts.requests, |(requests, _)| requests);
            // It can't have moved by more what takes ten times as long.
            (requests.late_ns as f64 > MOST_LATE * operation.sum_ns as f64).then_some(())?;
            Some(Warning { figure: operation.operation.clone(), reason: self.describe_lateness(requests)? })
        };
        measured.operations.iter().filter_map(warn).collect()
    }
}

impl OperationResult {
    /// The requests that a simulated disk answered during it, and the operations that they belong to; for one in a mix, those of
    /// the whole mix. `None` without such a disk, and if nothing was timed.
    pub fn disk_requests(&self) -> Option<(&Requests, u64)> {
        let own_requests = || Some((self.counters.as_ref()?.disk.as_ref()?, self.count + self.warm_up));
        let phase_requests = || self.phase_disk.as_ref().map(|phase| (&phase.requests, phase.operations));
        own_requests().or_else(phase_requests).filter(|_| self.count > 0)
    }
}

/// The requests that a simulated disk answered over a phase of several operations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseRequests {
    /// All operations of the phase: of every kind, with warm-ups and records put back.
    pub operations: u64,
    /// The requests.
    #[serde(flatten)]
    pub requests: Requests,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_that_was_late_by_more_than_a_tenth_is_told() {
        let report = |late_ns: u64| {
            let requests = Requests { modelled_ns: 1_000_000, late_ns, ..Requests::default() };
            let counts = Counts { requests, ..Counts::default() };
            DiskReport { name: "steady".into(), transit: None, counts }
        };
        let late = |late_ns| report(late_ns).describe_lateness(&report(late_ns).counts.requests);
        assert_eq!(late(100_000), None);
        let reason = "the simulated disk steady answered late, by 25 % of the time that its model was busy";
        assert_eq!(late(250_000).unwrap(), reason);
        let text = serde_json::to_string(&report(7)).unwrap();
        assert!(text.starts_with("{\"name\":\"steady\",\"reads\":{\"requests\":0"), "{text}");
        assert_eq!(serde_json::from_str::<DiskReport>(&text).unwrap(), report(7));
    }
}
