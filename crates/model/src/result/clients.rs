//! Clients of a trial: other machines that made its load.

use serde::{Deserialize, Serialize};

/// A client is saturated above this share of its processors' time.
const MOST_BUSY: f64 = 0.9;
/// A client is saturated from this share of storebench's own work.
const MOST_HARNESS: f64 = 0.05;

/// A client: a machine on which some of a trial's sessions were.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ClientReport {
    /// Its name, as the user gave it.
    pub host: String,
    /// Sessions that it had.
    pub sessions: u64,
    /// Processors that its program may use.
    pub processors: u32,
    /// The uncertainty of the start's moment there, in nanoseconds: half of the quickest ping's round trip, of the round in which
    /// that was longest.
    pub clock_uncertainty_ns: u64,
    /// The time from that moment until the last of its sessions started, in nanoseconds; of several rounds the longest.
    pub late_ns: u64,
    /// Its part of each phase.
    pub phases: Vec<ClientPhase>,
}

/// A client's part of a phase of the workload.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ClientPhase {
    /// The operation, or `mix`.
    pub operation: String,
    /// Operations that were timed.
    pub count: u64,
    /// The share of its threads' wall time that the harness spent between calls of a closed loop, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harness_share: Option<f64>,
    /// The share of its processors' time that its program took, 0 to 1.
    pub cpu_share: f64,
    /// The share that all programs took; absent if the phase was too short to show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busy_share: Option<f64>,
    /// How late the last of its threads ended in an open loop, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub behind_ns: Option<u64>,
}

impl ClientPhase {
    /// Why the client and not the store may have been the limit, if so.
    pub fn saturation(&self) -> Option<String> {
        let percent = |share: f64| format!("{:.0} %", share * 100.0);
        let busy = self.busy_share.unwrap_or(0.0).max(self.cpu_share);
        if busy > MOST_BUSY {
            return Some(format!("its processors were busy for {} of the time", percent(busy)));
        }
        let harness = self.harness_share.filter(|share| *share >= MOST_HARNESS)?;
        Some(format!("storebench's own work took {} of its threads' time", percent(harness)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_saturated_by_its_processors_or_by_storebench() {
        let saturation = |cpu_share, busy_share, harness_share| {
            ClientPhase { cpu_share, busy_share, harness_share, ..ClientPhase::default() }.saturation()
        };
        assert_eq!(saturation(0.9, None, Some(0.049)), None);
        assert_eq!(saturation(0.2, Some(0.9), None), None);
        assert_eq!(saturation(0.95, None, None).unwrap(), "its processors were busy for 95 % of the time");
        let busy = saturation(0.2, Some(0.97), Some(0.2)).unwrap();
        assert_eq!(busy, "its processors were busy for 97 % of the time");
        let harness = saturation(0.2, Some(0.3), Some(0.07)).unwrap();
        assert_eq!(harness, "storebench's own work took 7 % of its threads' time");
    }
}
