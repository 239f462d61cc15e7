//! A simulated disk's part in a trial, as results hold it.

use serde::{Deserialize, Serialize};
use storebench_disk::counts::{Counts, Requests};
use storebench_disk::transit::Transit;

use super::{Doubt, Measured, OperationResult};

/// The share of the time that its model gave by which a simulated disk may answer late: beyond it, times are the host's.
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
    /// By how much it answered late, where that is too much.
    fn late(&self) -> Option<String> {
        let late = self.counts.late_share();
        (late > MOST_LATE).then(|| {
            format!(
                "the simulated disk {} answered late, by {:.0} % of the time that its model gave",
                self.name,
                late * 100.0
            )
        })
    }

    /// Doubts of the times of all operations, where it answered late.
    pub fn doubts(&self, measured: &Measured) -> Vec<Doubt> {
        let Some(reason) = self.late() else { return Vec::new() };
        let of = |operation: &str| Doubt { figure: operation.to_owned(), reason: reason.clone() };
        measured.operations.iter().map(|operation| of(&operation.operation)).collect()
    }
}

impl OperationResult {
    /// The requests to a simulated disk that were answered over it, and the operations that these are of; of one in a mix, all of the
    /// mix. None without such a disk, and where nothing was timed.
    pub fn asked_of_disk(&self) -> Option<(&Requests, u64)> {
        let own = || Some((self.counters.as_ref()?.disk.as_ref()?, self.count + self.warm_up));
        let of_phase = || self.phase_disk.as_ref().map(|phase| (&phase.requests, phase.operations));
        own().or_else(of_phase).filter(|_| self.count > 0)
    }
}

/// The requests that a simulated disk answered over a phase of several operations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseDisk {
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
            let requests = Requests { modelled_ns: 1_000_000, ..Requests::default() };
            let counts = Counts { requests, late_ns, ..Counts::default() };
            DiskReport { name: "steady".into(), transit: None, counts }
        };
        assert_eq!(report(100_000).late(), None);
        let reason = report(250_000).late().unwrap();
        assert_eq!(
            reason,
            "the simulated disk steady answered late, by 25 % of the time that its model gave"
        );
        let text = serde_json::to_string(&report(7)).unwrap();
        assert!(text.starts_with("{\"name\":\"steady\",\"reads\":{\"requests\":0"), "{text}");
        assert_eq!(serde_json::from_str::<DiskReport>(&text).unwrap(), report(7));
    }
}
