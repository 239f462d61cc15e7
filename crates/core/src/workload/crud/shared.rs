//! The state that the threads of a trial share, and what they come to together.

use std::sync::{Mutex, MutexGuard};

use storebench_model::result::{StoredRecords, WrittenRecords};

use super::Crud;
use super::share::RecordShare;
use crate::measure::clock::Clock;
use crate::measure::series::Series;
use crate::record::{KEY_BYTES, Records};
use crate::workload::audit::ExpectedRecords;
use crate::workload::driver::{Recorder, UntimedWork};
use crate::workload::operation::Operation;
use crate::workload::worker_pool::{into_worker, lock_worker};
use crate::workload::workload_error::WorkloadError;

pub struct SharedRecords<'a> {
    pub plan: &'a Crud,
    pub records: &'a Records,
    pub clock: &'a Clock,
    pub series: Series,
    /// The first thread's number: those before it are on other machines.
    pub first: u64,
}

pub struct Shares<'a>(pub Vec<Mutex<RecordShare<'a>>>);

impl<'a> Shares<'a> {
    fn shares(&self) -> impl Iterator<Item = MutexGuard<'_, RecordShare<'a>>> {
        self.0.iter().map(lock_worker)
    }

    pub fn live(&self) -> u64 {
        self.shares().map(|share| share.versions.len() as u64).sum()
    }

    pub(crate) fn set_loaded(&self, count: u64) {
        for mut share in self.shares() {
            let own_records = (count + share.threads - 1 - share.thread) / share.threads;
            share.versions.clear();
            share.versions.resize(own_records as usize, 0);
        }
    }

    /// Untimed work since the last call.
    pub(crate) fn take_untimed(&self) -> UntimedWork {
        let mut untimed = UntimedWork::default();
        self.shares().for_each(|mut share| untimed.add(&std::mem::take(&mut share.driver.untimed)));
        untimed
    }

    /// Changing writes since the last call.
    pub(crate) fn take_writes(&self) -> u64 {
        self.shares().map(|mut share| std::mem::take(&mut share.writes)).sum()
    }

    /// The records that the store should hold, for the audit; to be called after all work.
    pub fn expected(&self, plan: &Crud) -> ExpectedRecords {
        let (versions, seen_gone) = self.take_versions();
        let (seed, loaded) = (plan.seed, plan.records.from);
        ExpectedRecords { seed, loaded, versions, removes: plan.includes(Operation::Remove), seen_gone }
    }

    pub fn stored(&self, all_records: &Records) -> StoredRecords {
        let records = self.live();
        let value_bytes = |share: MutexGuard<'_, RecordShare<'_>>| -> u64 {
            let length = |(version, position)| all_records.value_length(share.index(position), version);
            share.versions.iter().copied().zip(0..).map(|record| length(record) as u64).sum()
        };
        let value_bytes = self.shares().map(value_bytes).sum();
        StoredRecords { records, key_bytes: records * KEY_BYTES as u64, value_bytes }
    }

    pub fn written(&self) -> WrittenRecords {
        self.shares().fold(WrittenRecords::default(), |sum, share| sum.plus(share.written))
    }

    pub fn timed(&self) -> u64 {
        self.shares().map(|share| share.driver.timed()).sum()
    }

    pub(crate) fn records_of_each(&self) -> Vec<u64> {
        self.shares().map(|share| share.versions.len() as u64).collect()
    }

    /// The versions of each thread's records, and the removed keys seen to be gone; to be called after all work.
    pub(crate) fn take_versions(&self) -> (Vec<Vec<u8>>, u64) {
        let versions = self.shares().map(|mut share| std::mem::take(&mut share.versions)).collect();
        (versions, self.shares().map(|share| share.driver.seen_gone).sum())
    }

    pub(crate) fn recorder_so_far(&self) -> Result<Recorder, WorkloadError> {
        Recorder::sum(self.shares().map(|share| share.driver.recorder.clone()))
    }

    pub fn recorder(self) -> Result<Recorder, WorkloadError> {
        Recorder::sum(self.0.into_iter().map(|share| into_worker(share).driver.finish()))
    }
}
