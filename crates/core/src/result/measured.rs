//! The questions that a trial's measurements answer.

use super::{DISK, DISK_GROWTH, Disk, Measured, OperationResult, SPACE};

impl Measured {
    /// Why a figure can't be as it seems, if so.
    pub fn doubt(&self, figure: &str) -> Option<&str> {
        self.doubts.iter().find(|doubt| doubt.figure == figure).map(|doubt| doubt.reason.as_str())
    }

    /// The space that the store's files take; `None` where that is unknown.
    pub fn known_disk(&self) -> Option<&Disk> {
        self.unknown.iter().all(|unknown| unknown.figure != DISK).then_some(&self.disk)
    }

    /// Space efficiency, the figure of paper 000: bytes of values over bytes allocated on disk; over 1 where compression wins. Keys
    /// don't count as data. `None` also where the space can't be as it seems.
    pub fn space_efficiency(&self) -> Option<f64> {
        (self.disk.allocated_bytes > 0 && self.doubt(SPACE).is_none())
            .then(|| self.stored.value_bytes as f64 / self.disk.allocated_bytes as f64)
    }

    /// Space amplification: bytes allocated on disk per byte of values; under 1 where compression wins. `None` also where nothing
    /// is stored, and where the space can't be as it seems.
    pub fn space_amplification(&self) -> Option<f64> {
        self.space_efficiency().filter(|efficiency| *efficiency > 0.0).map(|efficiency| 1.0 / efficiency)
    }

    /// The space that the files take on disk after the last round over that after the first. `None` where there is one round, or nothing was in
    /// files after the first, and where the figure can't be as it seems.
    pub fn disk_growth(&self) -> Option<f64> {
        let [first, .., last] = self.rounds.as_slice() else { return None };
        let known = first.disk.allocated_bytes > 0 && self.doubt(DISK_GROWTH).is_none();
        known.then(|| last.disk.allocated_bytes as f64 / first.disk.allocated_bytes as f64)
    }

    /// The measurements of one operation.
    pub fn operation(&self, name: &str) -> Option<&OperationResult> {
        self.operations.iter().find(|operation| operation.operation == name)
    }
}

impl OperationResult {
    /// Operations per second. Of one thread in a closed loop: what it does while it is within the store's calls. Of several
    /// threads, and in an open loop, where latencies overlap and hold waiting: what was achieved by wall time. `None` if none
    /// was timed.
    pub fn per_second(&self) -> Option<f64> {
        let over_ns = self.rate_over_ns.unwrap_or(self.sum_ns);
        (over_ns > 0).then(|| self.count as f64 / (over_ns as f64 / 1e9))
    }

    /// Value bytes per second, over the same time. `None` if none was timed, and for operations without values, such as
    /// removing.
    pub fn bytes_per_second(&self) -> Option<f64> {
        let bytes_each = self.value_bytes as f64 / self.count.max(1) as f64;
        self.per_second().map(|per_second| per_second * bytes_each).filter(|rate| *rate > 0.0)
    }
}
