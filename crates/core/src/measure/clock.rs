//! The clock of the timed loop: the processor's time-stamp counter if it is constant, else the system's.

use std::time::Instant;

/// The known error of the time-stamp counter at reads: it does not wait for memory, so that a read that ends in a cache miss
/// looks too quick by up to this share of its latency ...
pub const HIDDEN_SHARE: f64 = 0.1;

/// ... and by no more than such a miss takes, in nanoseconds. Both as measured next to a clock that waits: docs/fairness.md.
pub const HIDDEN_NS: f64 = 100.0;

/// The kind of the clock that is read without a call.
pub const TSC: &str = "tsc";

/// A calibrated clock. `quanta` chooses and calibrates it; the time-stamp counter is read here without a call.
#[derive(Debug, Clone)]
pub struct Clock {
    clock: quanta::Clock,
    tsc: bool,
    /// Nanoseconds in 2^32 ticks.
    scale: u64,
}

impl Default for Clock {
    fn default() -> Self {
        Clock::new()
    }
}

impl Clock {
    /// A clock calibrated against the system's, which takes a fraction of a millisecond at its first use in a process.
    pub fn new() -> Clock {
        let clock = quanta::Clock::new();
        let scale = clock.delta_as_nanos(0, 1 << 32);
        Clock { tsc: is_tsc(&clock), clock, scale }
    }

    /// A reading, in ticks.
    #[inline(always)]
    pub fn now(&self) -> u64 {
        if self.tsc { time_stamp() } else { self.clock.raw() }
    }

    /// Nanoseconds between two readings; 0 if the second is earlier.
    #[inline(always)]
    pub fn nanoseconds(&self, start: u64, end: u64) -> u64 {
        ((u128::from(end.saturating_sub(start)) * u128::from(self.scale)) >> 32) as u64
    }

    /// The number of ticks in this number of nanoseconds.
    pub fn ticks(&self, nanoseconds: f64) -> f64 {
        nanoseconds * (1_u64 << 32) as f64 / self.scale as f64
    }

    /// The cost of one reading, in nanoseconds: the median of several rounds.
    pub fn cost_ns(&self) -> f64 {
        const READINGS: u32 = 10_000;
        let mut rounds: Vec<f64> = (0..9)
            .map(|_| {
                let start = Instant::now();
                for _ in 0..READINGS {
                    std::hint::black_box(self.now());
                }
                start.elapsed().as_nanos() as f64 / f64::from(READINGS)
            })
            .collect();
        rounds.sort_by(f64::total_cmp);
        rounds[rounds.len() / 2]
    }

    /// `tsc` if a reading costs no system call, else `monotonic`.
    pub fn kind(&self) -> &'static str {
        if self.tsc { TSC } else { "monotonic" }
    }
}

/// Whether the clock reads the time-stamp counter: one reading lies between two of ours.
fn is_tsc(clock: &quanta::Clock) -> bool {
    let (before, reading, after) = (time_stamp(), clock.raw(), time_stamp());
    before <= reading && reading <= after && before < after
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn time_stamp() -> u64 {
    // SAFETY: every x86-64 processor has the instruction, and it touches no memory.
    unsafe { core::arch::x86_64::_rdtsc() }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn time_stamp() -> u64 {
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn it_agrees_with_the_system_clock_ticks_with_nanoseconds_and_time_does_not_run_backwards() {
        let clock = Clock::new();
        let (start, system) = (clock.now(), Instant::now());
        std::thread::sleep(Duration::from_millis(50));
        let (end, elapsed) = (clock.now(), system.elapsed());
        let ratio = clock.nanoseconds(start, end) as f64 / elapsed.as_nanos() as f64;
        assert!((0.99..1.01).contains(&ratio), "{ratio}");
        assert!(clock.nanoseconds(0, clock.ticks(1e9) as u64).abs_diff(1_000_000_000) <= 2);
        assert_eq!(clock.nanoseconds(10, 5), 0);
    }
}
