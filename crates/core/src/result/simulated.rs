//! A simulated disk's part in a trial, as results hold it.

use serde::{Deserialize, Serialize};
use storebench_disk::counts::Counts;

use super::{Doubt, Measured};

/// The share of the time that its model gave by which a simulated disk may answer late: beyond it, times are the host's.
pub const MOST_LATE: f64 = 0.1;

/// The simulated disk under a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DiskReport {
    /// Its name in cells.
    pub name: String,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_that_was_late_by_more_than_a_tenth_is_told() {
        let report = |late_ns: u64| {
            let counts = Counts { modelled_ns: 1_000_000, late_ns, ..Counts::default() };
            DiskReport { name: "steady".into(), counts }
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
