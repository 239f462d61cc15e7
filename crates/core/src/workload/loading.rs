//! The progress of a trial's loading, as its process tells the run.

use std::fs::File;
use std::time::{Duration, Instant};

use crate::workload::told::{self, Place};

/// The interval at which it is told.
const EVERY: Duration = Duration::from_millis(500);

/// The progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loading {
    /// Records, or rows, that are loaded.
    pub done: u64,
    /// All that will be.
    pub all: u64,
    /// The time so far.
    pub took: Duration,
}

impl Loading {
    /// Records a second, so far.
    pub fn rate_per_s(&self) -> f64 {
        self.done as f64 / self.took.as_secs_f64().max(1e-9)
    }

    /// The time that the rest takes at that rate; `None` before the first.
    pub fn left(&self) -> Option<Duration> {
        Duration::try_from_secs_f64(self.all.saturating_sub(self.done) as f64 / self.rate_per_s()).ok()
    }

    /// The progress that was told last; `None` where nothing is being loaded.
    pub fn read(file: &File) -> Option<Loading> {
        let [done, all, took_ns] = told::read(file, Place::LOADING)?;
        (all > 0).then(|| Loading { done, all, took: Duration::from_nanos(took_ns) })
    }

    fn tell(&self) {
        told::tell(Place::LOADING, [self.done, self.all, self.took.as_nanos() as u64]);
    }
}

/// Tells it now and then.
#[derive(Debug)]
pub struct Teller {
    all: u64,
    start: Instant,
    due: Duration,
}

impl Teller {
    /// Before the first of so many records.
    pub fn new(all: u64) -> Teller {
        Teller { all, start: Instant::now(), due: EVERY }
    }

    /// So many are loaded.
    pub fn loaded(&mut self, done: u64) {
        let took = self.start.elapsed();
        if took >= self.due {
            self.due = took + EVERY;
            Loading { done, all: self.all, took }.tell();
        }
    }
}

impl Drop for Teller {
    fn drop(&mut self) {
        Loading { done: 0, all: 0, took: Duration::ZERO }.tell();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_tells_the_rest() {
        let told = Loading { done: 300, all: 1000, took: Duration::from_secs(3) };
        assert_eq!((told.rate_per_s(), told.left()), (100.0, Some(Duration::from_secs(7))));
    }

    #[test]
    fn nothing_is_loading_before_and_after() {
        let Some(file) = told::file() else { return };
        assert_eq!(Loading::read(&file), None, "nothing was told");
        told::write(&file, Place::LOADING, [300, 1000, 3_000_000_000]);
        let told = Loading { done: 300, all: 1000, took: Duration::from_secs(3) };
        assert_eq!(Loading::read(&file), Some(told));
        told::write(&file, Place::LOADING, [0, 0, 0]);
        assert_eq!(Loading::read(&file), None, "it is over");
    }

    #[test]
    fn nothing_loaded_yet_has_no_end_in_sight() {
        let first = Loading { done: 0, all: 10, took: Duration::from_secs(1) };
        assert_eq!((first.rate_per_s(), first.left()), (0.0, None));
    }
}
