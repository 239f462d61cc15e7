//! The calls of others while a store reclaims space: one thread reads records, another overwrites its own.

use std::sync::Barrier;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use storebench_model::result::{CallStatistics, ConcurrentCalls};
use storebench_model::store::{Session, Store, StoreError};

use super::set::Churn;
use crate::record::Records;
use crate::workload::audit::Record;
use crate::workload::worker_pool;
use crate::workload::workload_error::WorkloadError;

pub const SESSIONS: u64 = 2;
/// Between calls: they test whether others can work, and should not hold the store up.
const PAUSE: Duration = Duration::from_millis(1);
/// Calls of each before space is reclaimed, within [`MAX_TIME_BEFORE`].
const CALLS_BEFORE: u64 = 100;
const MAX_TIME_BEFORE: Duration = Duration::from_secs(2);

/// The states of the two threads' work, in order.
const STARTED: u8 = 0;
const UNDER_WAY: u8 = 1;
const OVER: u8 = 2;

/// Does `work` while one thread reads some of these existing records, and another overwrites the rest. Fails also when no session
/// can be opened, when a record that is read is not what it was, and when a refused call is refused again after the work.
pub fn run_with_calls<T>(
    store: &dyn Store,
    (records, churn): (&Records, Churn),
    existing: &mut [Record],
    work: impl FnOnce() -> Result<T, WorkloadError>,
) -> Result<(T, ConcurrentCalls), WorkloadError> {
    let middle = existing.len() / 2;
    let (read_records, overwritten_records) = existing.split_at_mut(middle);
    let (progress, ready) = (AtomicU8::new(STARTED), Barrier::new(3));
    let thread = CallingThread { store, records, churn, progress: &progress, ready: &ready };
    let (result, reader, writer) = thread::scope(|scope| {
        let reader = scope.spawn(|| thread.run_reads(read_records));
        let writer = scope.spawn(|| thread.run_writes(overwritten_records));
        ready.wait();
        progress.store(UNDER_WAY, Ordering::Release);
        let end = OnDrop(|| progress.store(OVER, Ordering::Release));
        let result = work();
        drop(end);
        (result, join_thread(reader), join_thread(writer))
    });
    let (result, reader, writer) = (result?, reader?, writer?);
    let refused: Vec<String> = [reader.refused, writer.refused].into_iter().flatten().collect();
    let calls = ConcurrentCalls {
        reads: reader.meanwhile,
        writes: writer.meanwhile,
        reads_before: reader.before,
        writes_before: writer.before,
        refused: (!refused.is_empty()).then(|| refused.join("; ")),
    };
    Ok((result, calls))
}

fn join_thread(
    thread: thread::ScopedJoinHandle<'_, Result<CallCounts, WorkloadError>>,
) -> Result<CallCounts, WorkloadError> {
    thread
        .join()
        .unwrap_or_else(|_| Err(WorkloadError::harness("a thread that worked during space reclaim panicked")))
}

#[derive(Default)]
struct CallCounts {
    before: CallStatistics,
    meanwhile: CallStatistics,
    /// The refused call, with the engine's message.
    refused: Option<String>,
}

/// A call's time and result; `None` without a record for it.
type CallResult = Option<(Duration, Result<(), StoreError>)>;

/// Does this on drop, even in a panic: others wait for it.
struct OnDrop<F: Fn()>(F);

impl<F: Fn()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

#[derive(Clone, Copy)]
struct CallingThread<'a> {
    store: &'a dyn Store,
    records: &'a Records,
    churn: Churn,
    progress: &'a AtomicU8,
    ready: &'a Barrier,
}

impl CallingThread<'_> {
    fn run_reads(self, existing: &[Record]) -> Result<CallCounts, WorkloadError> {
        let (mut expected, mut number) = (Vec::new(), 0);
        self.calls("a read", |session| {
            let record = existing.get(number % existing.len().max(1)).copied();
            let Some((index, version)) = record else { return Ok(None) };
            let key = self.records.key(index);
            expected.clear();
            self.records.append_value(index, version, &mut expected);
            let (start, mut is_right) = (Instant::now(), false);
            let found = session.get(&key, &mut |value| is_right = value == expected);
            let took = start.elapsed();
            if found.is_ok() && !is_right {
                let key = String::from_utf8_lossy(&key);
                let message = format!("the record {key} is missing or wrong during space reclaim");
                return Err(WorkloadError::wrong_data(message));
            }
            number += usize::from(found.is_ok());
            Ok(Some((took, found.map(|_| ()))))
        })
    }

    fn run_writes(self, existing: &mut [Record]) -> Result<CallCounts, WorkloadError> {
        let (mut value, mut number) = (Vec::new(), 0);
        self.calls("a write", |session| {
            let count = existing.len().max(1);
            let Some((index, version)) = existing.get_mut(number % count) else { return Ok(None) };
            let next = self.churn.version(*version, 1);
            let key = self.records.key(*index);
            value.clear();
            self.records.append_value(*index, next, &mut value);
            let start = Instant::now();
            let result = session.update(&key, &value);
            let took = start.elapsed();
            if result.is_ok() {
                *version = next;
                number += 1;
            }
            Ok(Some((took, result)))
        })
    }

    /// Calls before the work, and until it is over, one is refused or no record is left. A refused call must succeed when the work
    /// is over; `call` repeats it.
    fn calls(
        self,
        kind: &str,
        mut call: impl FnMut(&mut dyn Session) -> Result<CallResult, WorkloadError>,
    ) -> Result<CallCounts, WorkloadError> {
        let mut counts = CallCounts::default();
        let ready = OnDrop(|| {
            self.ready.wait();
        });
        let session = worker_pool::session(self.store);
        let session = session.and_then(|mut session| {
            let start = Instant::now();
            while counts.before.count < CALLS_BEFORE && start.elapsed() < MAX_TIME_BEFORE {
                let Some((took, done)) = call(&mut *session)? else { break };
                done.map_err(WorkloadError::during("working before space reclaim"))?;
                counts.before.add(took.as_nanos() as u64);
                thread::sleep(PAUSE);
            }
            Ok(session)
        });
        drop(ready);
        let mut session = session?;
        let progress = || self.progress.load(Ordering::Acquire);
        while progress() != OVER {
            let Some((took, done)) = call(&mut *session)? else { break };
            // One that began before the work and ended in it was under way at the same time, too.
            let is_before = progress() == STARTED;
            if is_before { &mut counts.before } else { &mut counts.meanwhile }.add(took.as_nanos() as u64);
            thread::sleep(PAUSE);
            let Err(error) = done else { continue };
            counts.refused = Some(format!("{kind}: {error}"));
            while progress() != OVER {
                thread::sleep(PAUSE);
            }
            if let Some((_, repeated)) = call(&mut *session)? {
                repeated.map_err(WorkloadError::during("working after space reclaim"))?;
            }
        }
        Ok(counts)
    }
}
