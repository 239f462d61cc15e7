//! The starting line of threads: they wait there for one another, so that none is measured beside what another does first.

use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::measure::clock::Clock;

/// Where threads wait for one another.
pub struct StartingLine {
    barrier: Barrier,
    start: AtomicU64,
}

/// An open loop's schedule starts so long after all threads have arrived: until then they have woken up.
const LEAD_NS: f64 = 1_000_000.0;

/// A thread on its way to the line. It gets there also if it fails or panics before, as the others wait for it.
pub struct Approach<'l> {
    line: &'l StartingLine,
    clock: &'l Clock,
    crossed: bool,
}

impl StartingLine {
    /// Of so many threads.
    pub fn new(threads: usize) -> StartingLine {
        StartingLine { barrier: Barrier::new(threads), start: AtomicU64::new(0) }
    }

    /// One thread sets out for it.
    pub fn approach<'l>(&'l self, clock: &'l Clock) -> Approach<'l> {
        Approach { line: self, clock, crossed: false }
    }
}

impl Approach<'_> {
    /// Waits for the others. All get the same moment at which an open loop's schedule starts.
    pub fn cross(mut self) -> u64 {
        self.wait();
        self.line.start.load(Ordering::Relaxed)
    }

    fn wait(&mut self) {
        let StartingLine { barrier, start } = self.line;
        self.crossed = true;
        if barrier.wait().is_leader() {
            start.store(self.clock.now() + self.clock.ticks(LEAD_NS) as u64, Ordering::Relaxed);
        }
        barrier.wait();
    }
}

impl Drop for Approach<'_> {
    fn drop(&mut self) {
        if !self.crossed {
            self.wait();
        }
    }
}
