//! Latencies, summed up, as results hold them.

use serde::{Deserialize, Serialize};

/// The distribution of an operation's latency in nanoseconds, and the full histogram.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Latency {
    pub mean_ns: f64,
    pub stdev_ns: f64,
    pub min_ns: u64,
    pub p50_ns: u64,
    pub p90_ns: u64,
    pub p99_ns: u64,
    pub p999_ns: u64,
    pub max_ns: u64,
    /// The histogram: HdrHistogram V2 format with deflate, in base64.
    pub histogram: String,
}
