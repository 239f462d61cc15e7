//! The starting line of threads: they wait there for one another, so that none is measured beside what another does first. Where one
//! fails or panics, before the line or behind it, all are stopped.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Duration;

use crate::cell::Rate;
use crate::measure::clock::Clock;
use crate::workload::pacer::{Pacer, wait_until};
use crate::workload::stop::Stop;

/// Whether a thread has failed, so that the others need not go on.
pub type Stopped = Arc<AtomicBool>;

/// Where threads wait for one another.
pub(crate) struct StartingLine<'c> {
    clock: &'c Clock,
    /// All threads of the load, those on other machines included.
    threads: u64,
    /// The number, among these, of the first that waits here.
    first: u64,
    /// The gate behind which they wait for those on other machines, where there are any.
    gate: Option<&'c dyn Gate>,
    barrier: Barrier,
    start: AtomicU64,
    /// The ticks by which the last thread was late at the moment that a gate gave.
    late: AtomicU64,
    stopped: Stopped,
    /// The thread that failed first; [`NONE`] while none has.
    failed: AtomicUsize,
}

const NONE: usize = usize::MAX;

/// A gate at the line, which opens at one moment for the threads of several machines.
pub(crate) trait Gate: Sync {
    /// All threads of this machine have arrived: waits until the moment is known, and says it by the line's clock. `None` where it
    /// will not come.
    fn opens(&self) -> Option<u64>;
}

/// An open loop's schedule starts so long after all threads have arrived: until then they have woken up.
const LEAD_NS: f64 = 1_000_000.0;

/// A thread on its way to the line. One that fails or panics before gets there all the same, as the others wait for it.
pub(crate) struct Approach<'l> {
    line: &'l StartingLine<'l>,
    thread: usize,
    crossed: bool,
}

/// A thread behind the line.
pub struct Started<'l> {
    line: &'l StartingLine<'l>,
    thread: usize,
    /// The moment, the same for all, at which an open loop's schedule starts.
    pub start: u64,
}

impl<'c> StartingLine<'c> {
    /// Of so many threads.
    pub fn new(threads: usize, clock: &'c Clock) -> StartingLine<'c> {
        StartingLine {
            clock,
            threads: threads as u64,
            first: 0,
            gate: None,
            barrier: Barrier::new(threads),
            start: AtomicU64::new(0),
            late: AtomicU64::new(0),
            stopped: Stopped::default(),
            failed: AtomicUsize::new(NONE),
        }
    }

    /// The same of a part of a load of so many threads, which begins with this one; they start when a gate opens.
    pub fn of_part(self, first: u64, threads: u64, gate: &'c dyn Gate) -> StartingLine<'c> {
        StartingLine { first, threads, gate: Some(gate), ..self }
    }

    /// The ticks by which the last thread was late since this was last asked.
    pub(crate) fn take_late(&self) -> u64 {
        self.late.swap(0, Ordering::Relaxed)
    }

    /// The moment, the same for all, at which an open loop's schedule starts. Where a thread has failed there is none to wait for.
    fn moment(&self, thread: usize) -> u64 {
        let now = self.clock.now();
        match self.gate.filter(|_| !self.is_stopped()) {
            None => now + self.clock.ticks(LEAD_NS) as u64,
            Some(gate) => gate.opens().unwrap_or_else(|| {
                self.stop(thread);
                now
            }),
        }
    }

    /// One thread, by its number, sets out for it.
    pub(crate) fn approach(&self, thread: usize) -> Approach<'_> {
        Approach { line: self, thread, crossed: false }
    }

    /// A thread has failed: stops all.
    pub fn stop(&self, thread: usize) {
        // Of several, the first counts.
        let _ = self.failed.compare_exchange(NONE, thread, Ordering::AcqRel, Ordering::Acquire);
        self.stopped.store(true, Ordering::Release);
    }

    /// The thread that failed first.
    pub(crate) fn first_to_fail(&self) -> Option<usize> {
        Some(self.failed.load(Ordering::Acquire)).filter(|thread| *thread != NONE)
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }
}

impl<'l> Approach<'l> {
    /// Whether no other thread has failed.
    pub fn goes_on(&self) -> bool {
        !self.line.is_stopped()
    }

    /// Waits for the others. Fails when one of them has failed on its way.
    pub fn cross(mut self) -> Result<Started<'l>, Stop> {
        self.wait();
        let Approach { line, thread, .. } = self;
        if line.is_stopped() {
            return Err(Stop::after_another());
        }
        let start = line.start.load(Ordering::Relaxed);
        if line.gate.is_some() {
            wait_until(line.clock, start, &line.stopped);
            line.late.fetch_max(line.clock.now().saturating_sub(start), Ordering::Relaxed);
        }
        Ok(Started { line, thread, start })
    }

    fn wait(&mut self) {
        let StartingLine { barrier, start, .. } = self.line;
        self.crossed = true;
        if barrier.wait().is_leader() {
            start.store(self.line.moment(self.thread), Ordering::Relaxed);
        }
        barrier.wait();
    }
}

impl Drop for Approach<'_> {
    fn drop(&mut self) {
        if !self.crossed {
            self.line.stop(self.thread);
            self.wait();
        }
    }
}

impl Started<'_> {
    /// The moment at which the thread's work begins: now in a closed loop, and that of the schedule in an open one, with what keeps
    /// it.
    pub fn begin(&self, rate: Rate) -> (u64, Option<Pacer>) {
        let StartingLine { clock, threads, first, .. } = self.line;
        match rate {
            Rate::Closed => (clock.now(), None),
            Rate::PerSecond(rate) => {
                let pacer = Pacer::new(clock, self.start, rate, first + self.thread as u64, *threads);
                (self.start, Some(pacer.stopped_by(self.stopped())))
            }
        }
    }

    /// The flag that tells that another thread has failed.
    pub fn stopped(&self) -> Stopped {
        Arc::clone(&self.line.stopped)
    }

    /// Whether there is more to do for a thread that began at a moment of the clock and works for so long: while no other has
    /// failed.
    pub fn goes_on(&self, begin: u64, until: Option<Duration>) -> bool {
        let StartingLine { clock, .. } = self.line;
        let is_over = |until| Duration::from_nanos(clock.nanoseconds(begin, clock.now())) >= until;
        !self.line.is_stopped() && !until.is_some_and(is_over)
    }
}
