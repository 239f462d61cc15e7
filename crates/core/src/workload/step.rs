//! The steps of a trial, and how long each may take at most: where a process hangs, its run says in which.

use std::fs::File;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use storebench_model::words::words;

use crate::workload::progress_shm::{self, ProgressSlot};

/// A step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::VariantArray, strum::VariantNames)]
pub enum TrialStep {
    /// The preparations before the store: values and the harness's memory.
    #[strum(serialize = "preparing the trial")]
    Preparing,
    /// A server's files are made.
    #[strum(serialize = "making the server's files")]
    MakingServer,
    /// The store is opened in an empty folder.
    #[strum(serialize = "opening the store")]
    Opening,
    /// Records are loaded, operations done, and in the end what the store holds is read back.
    #[strum(serialize = "working on the store")]
    Working,
    /// The store settles.
    #[strum(serialize = "letting the store settle")]
    Settling,
    /// The store is closed.
    #[strum(serialize = "closing the store")]
    Closing,
    /// The store is opened on what it has written.
    #[strum(serialize = "opening the store again")]
    Reopening,
}

words!(TrialStep, all);

impl TrialStep {
    /// The longest that it may take, where that doesn't depend on how much there is to do; else the trial's limit holds alone.
    pub fn limit(self) -> Option<Duration> {
        let minutes = match self {
            TrialStep::Preparing | TrialStep::Working | TrialStep::Settling => return None,
            TrialStep::Opening => 2,
            // A log may have to be replayed.
            TrialStep::Reopening | TrialStep::MakingServer => 5,
            // Records in memory may have to be written.
            TrialStep::Closing => 10,
        };
        Some(Duration::from_secs(minutes * 60))
    }

    /// Reports that this process begins the step.
    pub fn begin(self) {
        static BEGUN: AtomicU64 = AtomicU64::new(0);
        let begun = BEGUN.fetch_add(1, Ordering::Relaxed);
        progress_shm::store_numbers(ProgressSlot::STEP, [self as u64, begun]);
    }
}

/// A step of another process: which, and how many it had begun before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BegunSteps(pub TrialStep, pub u64);

impl BegunSteps {
    /// The last one that was begun; `None` before the first.
    pub fn read(file: &File) -> Option<BegunSteps> {
        let [step, begun] = progress_shm::read(file, ProgressSlot::STEP)?;
        TrialStep::ALL.get(usize::try_from(step).ok()?).map(|step| BegunSteps(*step, begun))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_step_is_read_as_it_was_reported() {
        let Some(file) = progress_shm::file() else { return };
        assert_eq!(BegunSteps::read(&file), None);
        for (begun, step) in (0..).zip(TrialStep::ALL) {
            progress_shm::write(&file, ProgressSlot::STEP, [step as u64, begun]);
            assert_eq!(BegunSteps::read(&file), Some(BegunSteps(step, begun)));
        }
        progress_shm::write(&file, ProgressSlot::STEP, [TrialStep::ALL.len() as u64, 0]);
        assert_eq!(BegunSteps::read(&file), None);
    }
}
