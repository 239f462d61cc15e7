//! The pacer of an open loop: operations are due at fixed intervals, whether or not those before have ended, and latency counts
//! from the moment when one was due. So a stall shows in the latency of all that had to wait for it. Untimed work (a record that
//! is put back) is never due. It is done while the schedule would wait; if it takes longer, the schedule stands still for the
//! rest of it. So it makes no timed operation late, and takes nothing from the lateness that timed operations have built up.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::measure::clock::Clock;

#[derive(Debug, Clone)]
pub(crate) struct Pacer {
    first_due: u64,
    interval_ticks: f64,
    next_operation: u64,
    /// The ticks for which the schedule has stood still.
    pub standstill_ticks: u64,
    /// Set when another thread has failed.
    pub stopped: Arc<AtomicBool>,
}

/// The longest sleep before `stopped` is read again.
const SLEEP_NS: f64 = 20_000_000.0;
/// The last part of a wait is spent spinning: a sleeping thread wakes up late.
const SPIN_NS: f64 = 60_000.0;

impl Pacer {
    /// A pacer for one of `threads` threads that together begin `per_second` operations each second, the first of them at `begin`
    /// by the clock, this one's first in its turn.
    pub fn new(clock: &Clock, begin: u64, per_second: u32, thread: u64, threads: u64) -> Pacer {
        let interval_ns = 1e9 / f64::from(per_second);
        let first_due = begin + clock.ticks(interval_ns * thread as f64) as u64;
        let interval_ticks = clock.ticks(interval_ns * threads as f64);
        Pacer { first_due, interval_ticks, next_operation: 0, standstill_ticks: 0, stopped: Arc::default() }
    }

    fn next_due(&self) -> u64 {
        self.first_due + (self.next_operation as f64 * self.interval_ticks) as u64
    }

    /// Adds to the schedule what it had no time for of untimed work between two moments.
    pub(crate) fn postpone_for_untimed(&mut self, begin: u64, end: u64) {
        let overrun = end.saturating_sub(begin.max(self.next_due()));
        self.first_due += overrun;
        self.standstill_ticks += overrun;
    }

    /// The ticks by which the next operation is late.
    pub fn ticks_late(&self, now: u64) -> u64 {
        now.saturating_sub(self.next_due())
    }

    /// Waits for the next operation's moment, unless it has passed; gives that moment.
    pub fn wait(&mut self, clock: &Clock) -> u64 {
        let moment = self.next_due();
        self.next_operation += 1;
        wait_until(clock, moment, &self.stopped);
        moment
    }
}

pub fn wait_until(clock: &Clock, moment: u64, stopped: &AtomicBool) {
    loop {
        let now = clock.now();
        if now >= moment {
            return;
        }
        let left_ns = clock.nanoseconds(now, moment) as f64;
        if left_ns > SPIN_NS {
            if stopped.load(Ordering::Relaxed) {
                return;
            }
            std::thread::sleep(Duration::from_nanos((left_ns - SPIN_NS).min(SLEEP_NS) as u64));
        } else {
            std::hint::spin_loop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_lie_at_even_distances_and_never_wait_for_what_is_late() {
        let clock = Clock::new();
        let begin = clock.now();
        let (mut first, mut second) =
            (Pacer::new(&clock, begin, 1000, 0, 2), Pacer::new(&clock, begin, 1000, 1, 2));
        let moments: Vec<u64> = (0..5).map(|_| first.wait(&clock)).collect();
        for pair in moments.windows(2) {
            assert!(clock.nanoseconds(pair[0], pair[1]).abs_diff(2_000_000) <= 2);
        }
        assert!(clock.now() >= moments[4]);
        std::thread::sleep(Duration::from_millis(50));
        let late: Vec<u64> = (0..10).map(|_| second.wait(&clock)).collect();
        assert!(late[9] < clock.now(), "what is late keeps its moment");
        assert!(second.ticks_late(clock.now()) > 0 && second.ticks_late(begin) == 0);
    }

    #[test]
    fn what_is_not_timed_makes_nothing_late_and_takes_no_lateness_away() {
        let clock = Clock::new();
        // Moments at 1000, 1100, 1200, ...
        let mut pacer = Pacer {
            first_due: 1000,
            interval_ticks: 100.0,
            next_operation: 1,
            standstill_ticks: 0,
            stopped: Arc::default(),
        };
        pacer.postpone_for_untimed(1010, 1090);
        assert_eq!((pacer.next_due(), pacer.standstill_ticks), (1100, 0), "there was time for it");
        pacer.postpone_for_untimed(1010, 1150);
        assert_eq!((pacer.next_due(), pacer.standstill_ticks), (1150, 50), "no longer than it took");
        assert_eq!(pacer.wait(&clock), 1150);
        // The operation ends at 1400: the next, whose moment was 1250, is 150 late, and stays so.
        pacer.postpone_for_untimed(1400, 1460);
        assert_eq!((1460 - pacer.next_due(), pacer.standstill_ticks), (150, 110));
    }
}
