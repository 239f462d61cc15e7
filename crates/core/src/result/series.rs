//! An operation over time: by seconds, and by epochs.

use serde::{Deserialize, Serialize};

/// One second of an operation, for time series.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Second {
    /// Seconds since the phase began.
    pub at_s: u32,
    /// Operations that ended in it.
    pub count: u64,
    /// Median latency in nanoseconds.
    pub p50_ns: u64,
    /// 99th percentile in nanoseconds.
    pub p99_ns: u64,
    /// The longest in nanoseconds.
    pub max_ns: u64,
    /// When it began, in milliseconds since the trial's process was started; absent where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_trial_ms: Option<u64>,
}

/// One epoch of an operation, where a workload is looked at by epochs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Epoch {
    /// When it began, in milliseconds since the phase did.
    pub at_ms: u64,
    /// Its duration, in milliseconds: the last one may be shorter than the others.
    pub lasted_ms: u64,
    /// Operations that ended in it.
    pub count: u64,
    /// Mean latency in nanoseconds, to three digits.
    pub mean_ns: f64,
    /// Median latency in nanoseconds.
    pub p50_ns: u64,
    /// 99th percentile in nanoseconds.
    pub p99_ns: u64,
    /// 99.9th percentile in nanoseconds.
    pub p999_ns: u64,
    /// The longest in nanoseconds.
    pub max_ns: u64,
}
