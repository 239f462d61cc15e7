//! The start barrier of threads: they wait for one another, so that none is measured during another's preparation. If one fails
//! or panics, before or after, all are stopped.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Duration;

use storebench_model::cell::Rate;

use crate::measure::clock::Clock;
use crate::workload::pacer::{Pacer, wait_until};
use crate::workload::workload_error::WorkloadError;

/// Whether a thread has failed, so that the others need not go on.
pub type StopFlag = Arc<AtomicBool>;

pub(crate) struct StartBarrier<'c> {
    clock: &'c Clock,
    /// Those on other machines included.
    threads: u64,
    /// The first that waits here.
    first: u64,
    /// Where they wait for threads on other machines.
    gate: Option<&'c dyn StartGate>,
    rendezvous: Barrier,
    start: AtomicU64,
    /// How late the last thread was at the gate's moment, in ticks.
    late: AtomicU64,
    stopped: StopFlag,
    /// Or [`NONE`].
    first_failed: AtomicUsize,
}

const NONE: usize = usize::MAX;

/// A gate at the barrier, which opens at one moment for the threads of several machines.
pub(crate) trait StartGate: Sync {
    /// Waits, with all threads of this machine, until the moment is known, by the barrier's clock. `None` if it will not come.
    fn wait_for_start(&self) -> Option<u64>;
}

/// How long after all threads' arrival an open loop's schedule starts: by then they have woken up.
const LEAD_NS: f64 = 1_000_000.0;

/// A thread on its way to the barrier. One that fails or panics gets there all the same, as the others wait for it.
pub(crate) struct BarrierGuard<'l> {
    barrier: &'l StartBarrier<'l>,
    thread: usize,
    crossed: bool,
}

pub struct StartedRound<'l> {
    barrier: &'l StartBarrier<'l>,
    thread: usize,
    /// The common start of an open loop's schedule.
    pub start: u64,
}

impl<'c> StartBarrier<'c> {
    pub fn new(threads: usize, clock: &'c Clock) -> StartBarrier<'c> {
        StartBarrier {
            clock,
            threads: threads as u64,
            first: 0,
            gate: None,
            rendezvous: Barrier::new(threads),
            start: AtomicU64::new(0),
            late: AtomicU64::new(0),
            stopped: StopFlag::default(),
            first_failed: AtomicUsize::new(NONE),
        }
    }

    /// A part of a load: `first` of `threads` is here; they start when the gate opens.
    pub fn for_part(self, first: u64, threads: u64, gate: &'c dyn StartGate) -> StartBarrier<'c> {
        StartBarrier { first, threads, gate: Some(gate), ..self }
    }

    /// The last thread's lateness in ticks, since the last call.
    pub(crate) fn take_late(&self) -> u64 {
        self.late.swap(0, Ordering::Relaxed)
    }

    /// The common start of an open loop's schedule; none after a failure.
    fn moment(&self, thread: usize) -> u64 {
        let now = self.clock.now();
        match self.gate.filter(|_| !self.is_stopped()) {
            None => now + self.clock.ticks(LEAD_NS) as u64,
            Some(gate) => gate.wait_for_start().unwrap_or_else(|| {
                self.stop(thread);
                now
            }),
        }
    }

    pub(crate) fn approach(&self, thread: usize) -> BarrierGuard<'_> {
        BarrierGuard { barrier: self, thread, crossed: false }
    }

    pub fn stop(&self, thread: usize) {
        // The first failure counts.
        let _ = self.first_failed.compare_exchange(NONE, thread, Ordering::AcqRel, Ordering::Acquire);
        self.stopped.store(true, Ordering::Release);
    }

    pub(crate) fn first_to_fail(&self) -> Option<usize> {
        Some(self.first_failed.load(Ordering::Acquire)).filter(|thread| *thread != NONE)
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }
}

impl<'l> BarrierGuard<'l> {
    pub fn can_continue(&self) -> bool {
        !self.barrier.is_stopped()
    }

    /// Waits for the others. Fails when one of them has failed.
    pub fn cross(mut self) -> Result<StartedRound<'l>, WorkloadError> {
        self.wait();
        let BarrierGuard { barrier, thread, .. } = self;
        if barrier.is_stopped() {
            // It reports its failure.
            return Err(WorkloadError::harness("another thread has failed"));
        }
        let start = barrier.start.load(Ordering::Relaxed);
        if barrier.gate.is_some() {
            wait_until(barrier.clock, start, &barrier.stopped);
            barrier.late.fetch_max(barrier.clock.now().saturating_sub(start), Ordering::Relaxed);
        }
        Ok(StartedRound { barrier, thread, start })
    }

    fn wait(&mut self) {
        let StartBarrier { rendezvous, start, .. } = self.barrier;
        self.crossed = true;
        if rendezvous.wait().is_leader() {
            start.store(self.barrier.moment(self.thread), Ordering::Relaxed);
        }
        rendezvous.wait();
    }
}

impl Drop for BarrierGuard<'_> {
    fn drop(&mut self) {
        if !self.crossed {
            self.barrier.stop(self.thread);
            self.wait();
        }
    }
}

impl StartedRound<'_> {
    /// When the thread's work begins: now in a closed loop, at the schedule's start in an open one, with its pacer.
    pub fn start_work(&self, rate: Rate) -> (u64, Option<Pacer>) {
        let StartBarrier { clock, threads, first, .. } = self.barrier;
        match rate {
            Rate::Closed => (clock.now(), None),
            Rate::PerSecond(rate) => {
                let mut pacer = Pacer::new(clock, self.start, rate, first + self.thread as u64, *threads);
                pacer.stopped = self.stopped();
                (self.start, Some(pacer))
            }
        }
    }

    pub fn stopped(&self) -> StopFlag {
        Arc::clone(&self.barrier.stopped)
    }

    /// Whether a thread that began at a moment goes on, for at most `until`, and while no other has failed.
    pub fn can_continue(&self, begin: u64, until: Option<Duration>) -> bool {
        let StartBarrier { clock, .. } = self.barrier;
        let is_over = |until| Duration::from_nanos(clock.nanoseconds(begin, clock.now())) >= until;
        !self.barrier.is_stopped() && !until.is_some_and(is_over)
    }
}
