//! Transactions of one thread, kind after kind, for the workloads `androbench` and `batch`. An operation is a transaction, on
//! rows by SQL or on records. Rows are made before the clock starts, and checked when it has stopped.

pub mod androbench;
pub mod batch;

use std::sync::Mutex;
use std::time::Duration;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng;
use storebench_model::cell::Rate;
use storebench_model::result::OperationResult;
use storebench_model::store;
use storebench_model::store::sql::SqlSession;

use crate::measure::clock::Clock;
use crate::workload::elapsed::TimedPart;
use crate::workload::gauge::Gauge;
use crate::workload::pacer::Pacer;
use crate::workload::recorder::Recorder;
use crate::workload::start_barrier::BarrierGuard;
use crate::workload::sync_check::AcknowledgedWrites;
use crate::workload::worker_pool::{self, WorkerPool, lock_worker};
use crate::workload::workload_error::WorkloadError;

const KINDS: usize = 3;

struct Kind {
    name: &'static str,
    /// The writes that it acknowledges; `None` for reads.
    acknowledged: Option<&'static str>,
}

/// The transactions of a workload on a handle `H`, with all of their memory. `kind` is an index of [`Self::KINDS`].
trait Transactions<H: ?Sized>: Send {
    /// In the order in which they are done.
    const KINDS: [Kind; KINDS];

    fn begin(&mut self, _kind: usize) {}

    /// Makes the next transaction's rows; gives the bytes of values that it writes or reads.
    fn plan(&mut self, kind: usize, number: u64) -> u64;

    /// Does it; gives its clock ticks, and the store's number of rows.
    fn run_timed(&mut self, handle: &mut H, kind: usize, timer: &mut Timer<'_>) -> (u64, store::Result<u64>);

    /// Checks the rows, after the clock has stopped. Fails when they are not as they should be.
    fn check(&mut self, handle: &mut H, kind: usize, number: u64, rows: u64) -> Result<(), WorkloadError>;
}

/// Times a transaction: from now, or from when it was due.
struct Timer<'c> {
    clock: &'c Clock,
    pacer: Option<Pacer>,
}

impl Timer<'_> {
    #[inline(always)]
    fn time<T>(&mut self, call: impl FnOnce() -> T) -> (u64, T) {
        let start = match &mut self.pacer {
            Some(pacer) => pacer.wait(self.clock),
            None => self.clock.now(),
        };
        let result = call();
        let end = self.clock.now();
        (end.saturating_sub(start), result)
    }
}

struct TransactionWorker<'g, T> {
    transactions: T,
    /// Transactions of each kind.
    count: u64,
    rate: Rate,
    gauge: &'g Gauge<'g>,
    recorder: Recorder<KINDS>,
}

impl<'g, T> TransactionWorker<'g, T> {
    fn new(
        transactions: T,
        count: u64,
        rate: Rate,
        gauge: &'g Gauge<'g>,
    ) -> Result<[Mutex<TransactionWorker<'g, T>>; 1], String> {
        Ok([Mutex::new(TransactionWorker { transactions, count, rate, gauge, recorder: Recorder::new()? })])
    }
}

impl<H: ?Sized, T: Transactions<H>> worker_pool::Worker<H, usize> for TransactionWorker<'_, T> {
    type Failed = WorkloadError;

    fn round(
        &mut self,
        handle: &mut H,
        kind: usize,
        approach: BarrierGuard<'_>,
    ) -> Result<TimedPart, WorkloadError> {
        let Gauge { clock, series, .. } = self.gauge;
        let mut seconds = series.thread(0, self.recorder.latencies(kind)).map_err(WorkloadError::harness)?;
        let started = approach.cross()?;
        seconds.restart();
        let (begin, pacer) = started.start_work(self.rate);
        let mut timer = Timer { clock, pacer };
        for number in 0..self.count {
            let value_bytes = self.transactions.plan(kind, number);
            let (ticks, result) = self.transactions.run_timed(handle, kind, &mut timer);
            let rows = result.map_err(|error| {
                WorkloadError::store(&format!("the {} of transaction {number}", T::KINDS[kind].name), &error)
            })?;
            self.transactions.check(handle, kind, number, rows)?;
            self.recorder.record(kind, clock.nanoseconds(0, ticks).max(1));
            self.recorder.kind_record_mut(kind).value_bytes += value_bytes;
            seconds.add_latencies(self.recorder.latencies(kind)).map_err(WorkloadError::harness)?;
        }
        let end = clock.now();
        let latencies = self.recorder.latencies(kind);
        seconds.finish(latencies).map_err(WorkloadError::harness)?;
        Ok(TimedPart { begin, end, calls_ns: latencies.sum_ns(), ..TimedPart::default() })
    }
}

/// Does all transactions, kind after kind.
fn run_phases<H: ?Sized, T: Transactions<H>>(
    worker: &Mutex<TransactionWorker<'_, T>>,
    pool: &mut WorkerPool<'_, H, TransactionWorker<'_, T>, usize>,
    rest: Duration,
    acknowledged: &mut Vec<AcknowledgedWrites>,
) -> Result<Vec<OperationResult>, WorkloadError> {
    let (gauge, count, is_closed) = {
        let worker = lock_worker(worker);
        (worker.gauge, worker.count, worker.rate == Rate::Closed)
    };
    let run_phase = |(kind, Kind { name, acknowledged: writes }): (usize, &Kind)| {
        lock_worker(worker).transactions.begin(kind);
        std::thread::sleep(rest);
        let (elapsed, reading) = gauge.measure(|| pool.round(kind))?;
        if let Some(writes) = writes {
            AcknowledgedWrites::new(writes, count, 1, &reading.counters).note(acknowledged);
        }
        let result = lock_worker(worker).recorder.kind_record(kind).result(name, &elapsed, is_closed, 1)?;
        Ok(reading.add_to(result))
    };
    T::KINDS.iter().enumerate().map(run_phase).collect()
}

fn check_settings(session: &mut dyn SqlSession) -> Result<(), WorkloadError> {
    session.check_settings().map_err(WorkloadError::during("reading the session's settings back"))
}

/// Does a statement for each row, several in a transaction; gives the number of rows.
#[inline(always)]
fn run_statements<R>(
    session: &mut dyn SqlSession,
    rows: &[R],
    mut statement: impl FnMut(&mut dyn SqlSession, &R) -> store::Result<u64>,
) -> store::Result<u64> {
    if let [row] = rows {
        return statement(session, row);
    }
    session.begin()?;
    match rows.iter().try_fold(0, |count, row| statement(session, row).map(|changed| count + changed)) {
        Ok(count) => session.commit().map(|()| count),
        Err(error) => {
            // Some engines have rolled back by themselves; the first error counts.
            let _ = session.roll_back();
            Err(error)
        }
    }
}

fn random_number(random: &mut Xoshiro256PlusPlus, least: u64, most: u64) -> u64 {
    least + random.next_u64() % (most - least + 1)
}

/// At least `least` and at most `most` letters and blanks, eight from each random number.
fn random_letters(random: &mut Xoshiro256PlusPlus, least: u64, most: u64) -> impl Iterator<Item = u8> {
    let count = random_number(random, least, most);
    let bytes = (0..count.div_ceil(8)).flat_map(move |_| random.next_u64().to_le_bytes());
    bytes.take(count as usize).map(|byte| b"abcdefghijklmnopqrstuvwxyz      "[usize::from(byte & 31)])
}
