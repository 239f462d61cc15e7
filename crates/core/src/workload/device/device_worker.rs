//! The timed loop of one thread: offsets are drawn before a quantum's operations, and latencies recorded after them.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use storebench_model::axis::device::values::{Sync, SyncCall};
use storebench_model::cell::Rate;

use super::buffer::{AlignedBuffer, BlockPool};
use super::fault::{DeviceError, DeviceStep};
use super::route::{BlockOffsets, split_mix};
use super::spec::{Amount, Spec};
use super::transfer;
use crate::kernel::system;
use crate::measure::clock::Clock;
use crate::measure::series::{Seconds, Series};
use crate::workload::elapsed::TimedPart;
use crate::workload::quanta::{QUANTUM_OPERATIONS, run_in_quanta};
use crate::workload::recorder;
use crate::workload::start_barrier::BarrierGuard;
use crate::workload::worker_pool;

/// A thread's latencies: of operations, each with the sync that followed it, and of the syncs between writes alone.
pub(super) type Recorder = recorder::Recorder<2>;
pub(super) const OPERATIONS: usize = 0;
pub(super) const SYNCS: usize = 1;

#[derive(Debug)]
enum Direction {
    Read(AlignedBuffer),
    Write { pool: BlockPool, syncs: Option<Syncs> },
}

#[derive(Debug, Clone, Copy)]
struct Syncs {
    call: SyncCall,
    interval: u32,
    remaining: u32,
}

/// The clock's moments when an operation began, its read or write had ended, and its sync had.
#[derive(Clone, Copy)]
struct Moments {
    begin: u64,
    call_end: u64,
    end: u64,
}

#[derive(Debug)]
pub(super) struct DeviceWorker<'a> {
    thread: usize,
    clock: &'a Clock,
    file: File,
    path: PathBuf,
    route: BlockOffsets,
    direction: Direction,
    operations: u64,
    /// The time limit.
    time_limit: Option<Duration>,
    offsets: [u64; QUANTUM_OPERATIONS],
    calls: [u64; QUANTUM_OPERATIONS],
    /// 0 without a sync.
    syncs: [u64; QUANTUM_OPERATIONS],
    pub(super) recorder: Recorder,
}

impl<'a> DeviceWorker<'a> {
    /// Takes and touches all memory that it will ever use.
    pub(super) fn new(
        spec: &Spec,
        thread: u64,
        clock: &'a Clock,
        file: File,
        path: PathBuf,
    ) -> Result<DeviceWorker<'a>, String> {
        let (mut state, block) = (spec.seed.wrapping_add(thread), spec.block as usize);
        let seed = split_mix(&mut state);
        let syncs = match spec.sync {
            Sync::None => None,
            Sync::Each(call, writes) => {
                Some(Syncs { call, interval: writes.max(1), remaining: writes.max(1) })
            }
        };
        let direction = if spec.pattern.writes() {
            Direction::Write { pool: BlockPool::new(block, seed), syncs }
        } else {
            Direction::Read(AlignedBuffer::random(block, seed))
        };
        let route = BlockOffsets::new(spec, thread);
        // A block that is read a second time through the page cache is not cold.
        let reads_cold = spec.cold && !spec.pattern.writes() && !spec.io.is_direct();
        let max_operations = if reads_cold { route.lap() } else { u64::MAX };
        let (operations, time_limit) = match spec.amount {
            Amount::Operations(count) => {
                (count / spec.threads() + u64::from(thread < count % spec.threads()), None)
            }
            Amount::Duration(time) => (u64::MAX, Some(time)),
        };
        Ok(DeviceWorker {
            thread: thread as usize,
            clock,
            file,
            path,
            route,
            direction,
            operations: operations.min(max_operations),
            time_limit,
            offsets: [0; QUANTUM_OPERATIONS],
            calls: [0; QUANTUM_OPERATIONS],
            syncs: [0; QUANTUM_OPERATIONS],
            recorder: Recorder::new()?,
        })
    }

    /// Does the thread's operations, in quanta, while `can_continue`.
    fn run_quanta(
        &mut self,
        deadline: u64,
        can_continue: impl Fn() -> bool,
        seconds: &mut Seconds<'_>,
    ) -> Result<(), DeviceError> {
        run_in_quanta(self.operations, QUANTUM_OPERATIONS as u64, can_continue, |max_operations| {
            self.route.fill(&mut self.offsets[..max_operations as usize]);
            let count = self.run_quantum(max_operations as usize, deadline)?;
            self.record_latencies(count);
            seconds.add_latencies(self.recorder.latencies(OPERATIONS)).map_err(DeviceError::Harness)?;
            Ok(count as u64)
        })
    }

    /// Does a quantum's operations; gives their number when the time was over.
    fn run_quantum(&mut self, max_operations: usize, deadline: u64) -> Result<usize, DeviceError> {
        for position in 0..max_operations {
            let offset = self.offsets[position];
            let result = match &mut self.direction {
                Direction::Read(memory) => read(self.clock, &self.file, memory, offset),
                Direction::Write { pool, syncs } => {
                    write(self.clock, &self.file, pool, syncs.as_mut(), offset)
                }
            };
            let moments = result.map_err(|(step, error)| self.io_error(step, offset, error))?;
            self.calls[position] = moments.call_end.saturating_sub(moments.begin);
            self.syncs[position] = moments.end.saturating_sub(moments.call_end);
            if moments.end >= deadline {
                return Ok(position + 1);
            }
        }
        Ok(max_operations)
    }

    fn record_latencies(&mut self, count: usize) {
        let ns = |ticks| self.clock.nanoseconds(0, ticks).max(1);
        for (call, sync) in self.calls.iter().zip(&self.syncs).take(count) {
            self.recorder.record(OPERATIONS, ns(call + sync));
            if *sync > 0 {
                self.recorder.record(SYNCS, ns(*sync));
            }
        }
    }

    #[cold]
    fn io_error(&self, step: DeviceStep, offset: u64, source: io::Error) -> DeviceError {
        DeviceError::Io { step, path: self.path.clone(), offset: Some(offset), source }
    }
}

impl<'s> worker_pool::Worker<(), &'s Series> for DeviceWorker<'_> {
    type Failed = DeviceError;

    fn round(
        &mut self,
        (): &mut (),
        series: &'s Series,
        approach: BarrierGuard<'_>,
    ) -> Result<TimedPart, DeviceError> {
        let mut seconds =
            series.thread(self.thread, self.recorder.latencies(OPERATIONS)).map_err(DeviceError::Harness)?;
        let started = approach.cross()?;
        seconds.restart();
        let (begin, _) = started.start_work(Rate::Closed);
        let ticks = self.time_limit.map(|time_limit| self.clock.ticks(time_limit.as_nanos() as f64) as u64);
        let deadline = ticks.map_or(u64::MAX, |ticks| begin.saturating_add(ticks));
        let time_limit = self.time_limit;
        self.run_quanta(deadline, || started.can_continue(begin, time_limit), &mut seconds)?;
        let end = self.clock.now();
        seconds.finish(self.recorder.latencies(OPERATIONS)).map_err(DeviceError::Harness)?;
        Ok(TimedPart {
            begin,
            end,
            calls_ns: self.recorder.latencies(OPERATIONS).sum_ns(),
            ..TimedPart::default()
        })
    }
}

#[inline(always)]
fn read(
    clock: &Clock,
    file: &File,
    memory: &mut AlignedBuffer,
    offset: u64,
) -> Result<Moments, (DeviceStep, io::Error)> {
    let bytes = memory.bytes_mut();
    let begin = clock.now();
    let result = transfer::read(file, bytes, offset);
    let end = clock.now();
    result.map_err(|error| (DeviceStep::Read, error))?;
    Ok(Moments { begin, call_end: end, end })
}

/// A write, and the sync after it if due.
#[inline(always)]
fn write(
    clock: &Clock,
    file: &File,
    pool: &mut BlockPool,
    syncs: Option<&mut Syncs>,
    offset: u64,
) -> Result<Moments, (DeviceStep, io::Error)> {
    pool.advance();
    let bytes = pool.block();
    let begin = clock.now();
    let result = transfer::write(file, bytes, offset);
    let call_end = clock.now();
    result.map_err(|error| (DeviceStep::Write, error))?;
    let Some(syncs) = syncs else { return Ok(Moments { begin, call_end, end: call_end }) };
    syncs.remaining -= 1;
    if syncs.remaining > 0 {
        return Ok(Moments { begin, call_end, end: call_end });
    }
    syncs.remaining = syncs.interval;
    let result = match syncs.call {
        SyncCall::Fsync => transfer::sync(|| system::sync(file)),
        SyncCall::Fdatasync => transfer::sync(|| system::sync_data(file)),
    };
    // A sync that took no tick of a coarse clock was one all the same.
    let end = clock.now().max(call_end + 1);
    result.map_err(|error| (DeviceStep::Sync, error))?;
    Ok(Moments { begin, call_end, end })
}
