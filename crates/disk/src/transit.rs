//! The way to a disk and back.

use serde::{Deserialize, Serialize};

/// The time that requests of 4 KiB take through FUSE and a loop device and back, one at a time, on a disk whose model takes none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transit {
    /// Requests that were measured: half of them reads, half writes.
    pub requests: u64,
    /// Their mean, in nanoseconds.
    pub mean_ns: u64,
    /// The 99th percentile.
    pub p99_ns: u64,
    /// The part of the mean by which replies were late: what a trial's lateness counts, too.
    pub late_ns_mean: u64,
}
