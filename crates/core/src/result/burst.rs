//! Bursts, as results hold them.

use serde::{Deserialize, Serialize};

use super::latency::Latency;
use super::pauses::Pauses;

/// Steps came by a schedule: evenly, for a 60th of the period many times as often, evenly again, and after a pause. Latency counts from the
/// moment at which a step was to begin.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Burst {
    /// The share of the speed that the store had shown before, in per cent.
    pub percent: f64,
    /// The steps of a second, outside of the burst.
    pub per_second: f64,
    /// So many times as many came in the burst.
    pub times: f64,
    /// The time from the begin until the pause was over, in nanoseconds.
    pub period_ns: u64,
    /// Latencies of all steps.
    pub latency: Latency,
    /// The steps of the burst.
    pub steps: u64,
    /// Those of them that came before the first which took more than 10 ms.
    pub within_10_ms: u64,
    /// Those before the first that took more than 100 ms.
    pub within_100_ms: u64,
    /// The longest latency in the burst, and between it and the pause, in nanoseconds.
    pub longest_ns: u64,
    /// The time from the burst's end until a step came that did not wait for those before it, in nanoseconds; absent where none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovered_ns: Option<u64>,
    /// Whether that came only with the pause, in which no steps come.
    #[serde(default)]
    pub in_pause: bool,
    /// Steps that were left out: the store was so late that they had not begun when all should have ended twice.
    #[serde(default)]
    pub left_out: u64,
    /// The calls that took long, and the work that the engine did for itself; absent in results of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pauses: Option<Pauses>,
}
