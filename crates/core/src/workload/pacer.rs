//! The pacer of an open loop: operations begin at fixed intervals, whether or not those before have ended, and latency counts
//! from the moment at which one was to begin. So a stall shows in the latency of all that had to wait for it.

use std::time::Duration;

use crate::measure::clock::Clock;

/// Says when one thread's operations begin.
#[derive(Debug, Clone)]
pub struct Pacer {
    start: u64,
    interval_ticks: f64,
    next: u64,
}

/// The last part of a wait, which is spent spinning: a sleeping thread wakes up late.
const SPIN_NS: f64 = 60_000.0;

impl Pacer {
    /// A pacer for one of `threads` threads that together begin `per_second` operations each second, the first of this one
    /// in its turn.
    pub fn new(clock: &Clock, per_second: u32, thread: u64, threads: u64) -> Pacer {
        let between_ns = 1e9 / f64::from(per_second);
        let start = clock.now() + clock.ticks(between_ns * thread as f64) as u64;
        Pacer { start, interval_ticks: clock.ticks(between_ns * threads as f64), next: 0 }
    }

    /// Waits for the next operation's moment, unless it has passed; returns that moment.
    pub fn wait(&mut self, clock: &Clock) -> u64 {
        let moment = self.start + (self.next as f64 * self.interval_ticks) as u64;
        self.next += 1;
        loop {
            let now = clock.now();
            if now >= moment {
                return moment;
            }
            let left_ns = clock.nanoseconds(now, moment) as f64;
            if left_ns > SPIN_NS {
                std::thread::sleep(Duration::from_nanos((left_ns - SPIN_NS) as u64));
            } else {
                std::hint::spin_loop();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_lie_at_even_distances_and_never_wait_for_what_is_late() {
        let clock = Clock::new();
        let (mut first, mut second) = (Pacer::new(&clock, 1000, 0, 2), Pacer::new(&clock, 1000, 1, 2));
        let moments: Vec<u64> = (0..5).map(|_| first.wait(&clock)).collect();
        for pair in moments.windows(2) {
            assert!(clock.nanoseconds(pair[0], pair[1]).abs_diff(2_000_000) <= 2);
        }
        assert!(clock.now() >= moments[4]);
        std::thread::sleep(Duration::from_millis(50));
        let late: Vec<u64> = (0..10).map(|_| second.wait(&clock)).collect();
        assert!(late[9] < clock.now(), "what is late keeps its moment");
    }
}
