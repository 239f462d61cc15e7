//! The clock of the timed loop: the processor's time-stamp counter where it is constant, else the system's.

use std::time::Instant;

/// A calibrated clock.
#[derive(Debug, Clone)]
pub struct Clock {
    clock: quanta::Clock,
}

impl Default for Clock {
    fn default() -> Self {
        Clock::new()
    }
}

impl Clock {
    /// A clock, calibrated against the system's, which takes a fraction of a millisecond at its first use in a process.
    pub fn new() -> Clock {
        Clock { clock: quanta::Clock::new() }
    }

    /// A reading, in ticks of its own.
    #[inline(always)]
    pub fn now(&self) -> u64 {
        self.clock.raw()
    }

    /// Nanoseconds between two readings; 0 where the second is earlier.
    #[inline(always)]
    pub fn nanoseconds(&self, start: u64, end: u64) -> u64 {
        self.clock.delta_as_nanos(start, end)
    }

    /// What one reading costs, in nanoseconds: the median of several rounds.
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

    /// What kind of clock this is: `tsc` when a reading costs no call into the system's clock, else `monotonic`.
    pub fn kind() -> &'static str {
        if cfg!(target_arch = "x86_64") && constant_tsc() { "tsc" } else { "monotonic" }
    }
}

/// Whether the kernel says that the time-stamp counter ticks at one rate and never stops.
fn constant_tsc() -> bool {
    std::fs::read_to_string("/proc/cpuinfo").is_ok_and(|text| {
        text.lines()
            .find(|line| line.starts_with("flags"))
            .is_some_and(|flags| flags.contains(" constant_tsc") && flags.contains(" nonstop_tsc"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn it_agrees_with_the_system_clock() {
        let clock = Clock::new();
        let (start, system) = (clock.now(), Instant::now());
        std::thread::sleep(Duration::from_millis(50));
        let (end, elapsed) = (clock.now(), system.elapsed());
        let ratio = clock.nanoseconds(start, end) as f64 / elapsed.as_nanos() as f64;
        assert!((0.99..1.01).contains(&ratio), "{ratio}");
    }

    #[test]
    fn time_does_not_run_backwards() {
        assert_eq!(Clock::new().nanoseconds(10, 5), 0);
    }
}
