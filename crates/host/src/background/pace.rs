//! Spreads a rate evenly over time.

use std::thread;
use std::time::{Duration, Instant};

/// The longest backlog that is made up for, in seconds; anything older is dropped, so that no burst follows a stall.
const BACKLOG_S: f64 = 0.5;

pub struct RateLimiter {
    per_s: f64,
    start: Instant,
    granted: f64,
}

impl RateLimiter {
    /// A pace of `per_s`, which is positive.
    pub fn new(per_s: f64) -> RateLimiter {
        RateLimiter { per_s, start: Instant::now(), granted: 0.0 }
    }

    /// Waits until `amount` more may happen.
    pub fn wait(&mut self, amount: f64) {
        thread::sleep(self.grant(self.start.elapsed().as_secs_f64(), amount));
    }

    /// Grants `amount` at `elapsed_s` after the start; returns how long to wait before it may happen.
    fn grant(&mut self, elapsed_s: f64, amount: f64) -> Duration {
        self.granted = self.granted.max((elapsed_s - BACKLOG_S) * self.per_s);
        let due_s = self.granted / self.per_s;
        self.granted += amount;
        Duration::from_secs_f64((due_s - elapsed_s).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Follows a pace for `seconds`, each amount taking `takes_s`; returns what was done.
    fn work_done(pace: &mut RateLimiter, from_s: f64, seconds: f64, amount: f64, takes_s: f64) -> f64 {
        let (mut now, mut done) = (from_s, 0.0);
        loop {
            now += pace.grant(now, amount).as_secs_f64() + takes_s;
            if now > from_s + seconds {
                return done;
            }
            done += amount;
        }
    }

    #[test]
    fn the_rate_is_kept_where_it_can_be_and_a_stall_is_made_up_for_in_part_only() {
        let done_in_10_s = work_done(&mut RateLimiter::new(1000.0), 0.0, 10.0, 7.0, 0.001);
        assert!((9_950.0..=10_050.0).contains(&done_in_10_s), "{done_in_10_s}");
        let mut pace = RateLimiter::new(1000.0);
        work_done(&mut pace, 0.0, 1.0, 10.0, 0.0);
        // Nothing happened from 1 s to 60 s.
        let amount = work_done(&mut pace, 60.0, 1.0, 10.0, 0.0);
        assert!((1_400.0..=1_600.0).contains(&amount), "{amount}");
        // What takes too long is never waited for.
        let slow = work_done(&mut RateLimiter::new(1000.0), 0.0, 10.0, 10.0, 0.1);
        assert!((980.0..=1_000.0).contains(&slow), "{slow}");
    }
}
