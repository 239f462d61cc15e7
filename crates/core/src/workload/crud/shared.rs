//! The state that the threads of a trial share, and what they come to together.

use std::sync::{Mutex, MutexGuard};

use super::share::Share;
use crate::measure::clock::Clock;
use crate::measure::series::Series;
use crate::record::{KEY_BYTES, Records};
use crate::result::{Stored, Written};
use crate::workload::audit::Expected;
use crate::workload::crew::{held, own};
use crate::workload::driver::{Recorder, Untimed};
use crate::workload::operation::Operation;
use crate::workload::stop::Stop;
use crate::workload::task::Crud;

/// The state that the threads share while they work.
pub struct Shared<'a> {
    pub plan: &'a Crud,
    pub records: &'a Records,
    pub clock: &'a Clock,
    pub series: Series,
    /// The number of the first thread of this process: those before it are on other machines.
    pub first: u64,
}

/// The parts of all threads.
pub struct Shares<'a>(pub Vec<Mutex<Share<'a>>>);

impl<'a> Shares<'a> {
    fn shares(&self) -> impl Iterator<Item = MutexGuard<'_, Share<'a>>> {
        self.0.iter().map(held)
    }

    /// The number of records in the store.
    pub fn live(&self) -> u64 {
        self.shares().map(|share| share.versions.len() as u64).sum()
    }

    /// The store holds its first `count` records and nothing else.
    pub(crate) fn all_loaded(&self, count: u64) {
        for mut share in self.shares() {
            let mine = (count + share.threads - 1 - share.thread) / share.threads;
            share.versions.clear();
            share.versions.resize(mine as usize, 0);
        }
    }

    /// The work beside the timed operations since this was last asked.
    pub(crate) fn take_untimed(&self) -> Untimed {
        let mut untimed = Untimed::default();
        self.shares().for_each(|mut share| untimed.add(&share.driver.take_untimed()));
        untimed
    }

    /// Writes that changed what the store holds, since this was last asked.
    pub(crate) fn take_writes(&self) -> u64 {
        self.shares().map(|mut share| std::mem::take(&mut share.writes)).sum()
    }

    /// The records that the store is to hold, for the audit; nothing is done with the records any more.
    pub fn expected(&self, plan: &Crud) -> Expected {
        Expected {
            seed: plan.seed,
            loaded: plan.records.from,
            versions: self.shares().map(|mut share| std::mem::take(&mut share.versions)).collect(),
            removes: plan.does(Operation::Remove),
            seen_gone: self.shares().map(|share| share.driver.seen_gone()).sum(),
        }
    }

    /// The records in the store, from what was written to it.
    pub fn stored(&self, of: &Records) -> Stored {
        let records = self.live();
        let value_bytes = |share: MutexGuard<'_, Share<'_>>| -> u64 {
            let length = |(version, position)| of.value_length(share.index(position), version);
            share.versions.iter().copied().zip(0..).map(|record| length(record) as u64).sum()
        };
        let value_bytes = self.shares().map(value_bytes).sum();
        Stored { records, key_bytes: records * KEY_BYTES as u64, value_bytes }
    }

    /// The records handed to the store after loading.
    pub fn written(&self) -> Written {
        self.shares().fold(Written::default(), |sum, share| sum.plus(share.written))
    }

    /// Operations that were timed so far.
    pub fn timed(&self) -> u64 {
        self.shares().map(|share| share.driver.timed()).sum()
    }

    /// Records that each thread has.
    pub(crate) fn records_of_each(&self) -> Vec<u64> {
        self.shares().map(|share| share.versions.len() as u64).collect()
    }

    /// The versions of each thread's records, and the number of removed keys that were seen to be gone; nothing is done with the
    /// records any more.
    pub(crate) fn take_versions(&self) -> (Vec<Vec<u8>>, u64) {
        let versions = self.shares().map(|mut share| std::mem::take(&mut share.versions)).collect();
        (versions, self.shares().map(|share| share.driver.seen_gone()).sum())
    }

    /// The measurements of all threads together, which are kept.
    pub(crate) fn recorder_so_far(&self) -> Result<Recorder, Stop> {
        Recorder::of_all(self.shares().map(|share| share.driver.recorder().clone()))
    }

    /// The measurements of all threads together.
    pub fn recorder(self) -> Result<Recorder, Stop> {
        Recorder::of_all(self.0.into_iter().map(|share| own(share).driver.finish()))
    }
}
