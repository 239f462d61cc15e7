//! The progress of a trial's loading and other long work, as its process reports it.

use std::fs::File;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use storebench_model::words::words;

use crate::workload::progress_shm::{self, ProgressSlot};

/// Between reports.
const REPORT_INTERVAL: Duration = Duration::from_millis(500);

/// The work that is under way.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, strum::VariantNames, strum::VariantArray,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum ProgressKind {
    /// Records, or rows, are loaded.
    Loading,
    /// Records that are there are written again, or others in their place.
    Writing,
    /// Most records are removed.
    Removing,
}

words!(ProgressKind, all);

/// The progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadProgress {
    /// The work.
    pub doing: ProgressKind,
    /// Records, or rows, that are done.
    pub done: u64,
    /// All that will be.
    pub all: u64,
    /// The time so far.
    pub took: Duration,
}

impl LoadProgress {
    /// Records a second, so far.
    pub fn rate_per_s(&self) -> f64 {
        self.done as f64 / self.took.as_secs_f64().max(1e-9)
    }

    /// The time that the rest takes at that rate; `None` before the first.
    pub fn time_left(&self) -> Option<Duration> {
        Duration::try_from_secs_f64(self.all.saturating_sub(self.done) as f64 / self.rate_per_s()).ok()
    }

    /// The last report; `None` if no such work is under way.
    pub fn read(file: &File) -> Option<LoadProgress> {
        let [done, all, took_ns, doing] = progress_shm::read(file, ProgressSlot::LOADING)?;
        let doing = *ProgressKind::ALL.get(usize::try_from(doing).ok()?)?;
        (all > 0).then(|| LoadProgress { doing, done, all, took: Duration::from_nanos(took_ns) })
    }
}

#[derive(Debug)]
pub(crate) struct ProgressReporter {
    doing: ProgressKind,
    pub total: u64,
    start: Instant,
    next_report: Duration,
}

impl ProgressReporter {
    pub fn new(doing: ProgressKind, total: u64) -> ProgressReporter {
        ProgressReporter { doing, total, start: Instant::now(), next_report: REPORT_INTERVAL }
    }

    pub fn report(&mut self, done: u64) {
        let took = self.start.elapsed();
        if took >= self.next_report {
            self.next_report = took + REPORT_INTERVAL;
            self.store(done, self.total, took);
        }
    }

    fn store(&self, done: u64, total: u64, took: Duration) {
        let numbers = [done, total, took.as_nanos() as u64, self.doing as u64];
        progress_shm::store_numbers(ProgressSlot::LOADING, numbers);
    }
}

impl Drop for ProgressReporter {
    fn drop(&mut self) {
        self.store(0, 0, Duration::ZERO);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress(done: u64, all: u64, took_s: u64) -> LoadProgress {
        LoadProgress { doing: ProgressKind::Writing, done, all, took: Duration::from_secs(took_s) }
    }

    #[test]
    fn a_rate_tells_the_rest() {
        let progress_and_rest = |done, all, took_s| {
            let progress = progress(done, all, took_s);
            (progress.rate_per_s(), progress.time_left())
        };
        assert_eq!(progress_and_rest(300, 1000, 3), (100.0, Some(Duration::from_secs(7))));
        assert_eq!(progress_and_rest(0, 10, 1), (0.0, None), "nothing loaded yet has no end in sight");
    }

    #[test]
    fn nothing_is_loading_before_and_after_and_each_work_is_known_by_its_number() {
        let Some(file) = progress_shm::file() else { return };
        assert_eq!(LoadProgress::read(&file), None, "nothing was reported");
        for (doing, number) in ProgressKind::ALL.into_iter().zip(0..) {
            progress_shm::write(&file, ProgressSlot::LOADING, [300, 1000, 3_000_000_000, number]);
            assert_eq!(LoadProgress::read(&file), Some(LoadProgress { doing, ..progress(300, 1000, 3) }));
            assert_eq!(doing as u64, number);
        }
        progress_shm::write(&file, ProgressSlot::LOADING, [0, 0, 0, 1]);
        assert_eq!(LoadProgress::read(&file), None, "it is over");
    }
}
