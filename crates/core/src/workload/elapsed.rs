//! The time that the timed part of a round took on all threads together, and the rates that follow.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::measure::clock::Clock;

/// One thread's timed part of a round, in the clock's moments.
#[derive(Debug, Clone, Copy, Default)]
pub struct TimedPart {
    pub begin: u64,
    pub end: u64,
    pub calls_ns: u64,
    pub put_back_ticks: u64,
    /// Ticks for which an open loop's schedule stood still.
    pub stood_still_ticks: u64,
    /// Ticks by which it ended later than an open loop's schedule.
    pub behind_ticks: u64,
}

/// The time of a round's timed part, and what of it was not in timed calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Elapsed {
    /// From the first thread's begin to the last one's end.
    pub wall: Duration,
    /// From each thread's begin to its end, summed up.
    pub at_work: Duration,
    /// The harness's work between calls, summed over the threads; in an open loop also waiting.
    pub between_calls: Duration,
    /// Summed over the threads.
    pub put_back: Duration,
    /// The part of putting records back for which an open loop's schedule had no time, summed over the threads.
    pub stood_still: Duration,
}

impl Elapsed {
    pub fn from_parts(clock: &Clock, parts: &[TimedPart]) -> Elapsed {
        let time_between = |from, to| Duration::from_nanos(clock.nanoseconds(from, to));
        let begin = parts.iter().map(|part| part.begin).min().unwrap_or(0);
        let end = parts.iter().map(|part| part.end).max().unwrap_or(0);
        let mut total = Elapsed { wall: time_between(begin, end), ..Elapsed::default() };
        for part in parts {
            let put_back = time_between(0, part.put_back_ticks);
            let called = put_back + Duration::from_nanos(part.calls_ns);
            total.put_back += put_back;
            let at_work = time_between(part.begin, part.end);
            total.at_work += at_work;
            total.between_calls += at_work.saturating_sub(called);
            total.stood_still += time_between(0, part.stood_still_ticks);
        }
        total
    }

    /// Adds later work.
    pub fn add_later(self, other: Elapsed) -> Elapsed {
        Elapsed {
            wall: self.wall + other.wall,
            at_work: self.at_work + other.at_work,
            between_calls: self.between_calls + other.between_calls,
            put_back: self.put_back + other.put_back,
            stood_still: self.stood_still + other.stood_still,
        }
    }

    /// The time that operations are a rate over, if not the sum of latencies. One thread in a closed loop is alone with the
    /// store, so the harness's work between calls can be left out. With several threads, while one is between calls, another has
    /// the store, or its lock, to itself: so theirs is a rate over wall time, less the time for putting records back. In an open
    /// loop it is the schedule's time.
    pub fn rate_over_ns(&self, is_closed: bool, threads: u64) -> Option<u64> {
        let threads = threads.max(1) as u32;
        let rate_time = match is_closed {
            true if threads == 1 => return None,
            true => self.wall.saturating_sub(self.put_back / threads),
            false => self.wall.saturating_sub(self.stood_still / threads),
        };
        Some(rate_time.as_nanos() as u64)
    }

    /// The share of the threads' time between calls. Only in a closed loop is that the harness's work.
    pub fn harness_share(&self, is_closed: bool) -> Option<f64> {
        let total_s = self.at_work.as_secs_f64();
        (is_closed && total_s > 0.0).then(|| self.between_calls.as_secs_f64() / total_s)
    }
}
