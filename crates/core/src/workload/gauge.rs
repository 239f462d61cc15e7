//! What is read before and after the operations of one phase that one thread does: the clock, what the process and the machine did
//! meanwhile, and the series.

use std::time::Duration;

use crate::measure::clock::Clock;
use crate::measure::counters::Snapshot;
use crate::measure::device::DeviceSpec;
use crate::measure::latency::Latencies;
use crate::measure::meanwhile::{Meanwhile, Seen};
use crate::measure::series::Series;
use crate::result::{Counters, OperationResult, Second};
use crate::workload::bare::operation;
use crate::workload::spec::{Ended, Spec};
use crate::workload::stop::Stop;

/// What is read over a phase. Its memory is taken before the store is opened.
pub struct Gauge<'a> {
    /// The clock that latencies are read from.
    pub clock: &'a Clock,
    /// The phase's operations, second by second.
    pub series: Series,
    /// The device under the place.
    device: &'a Result<DeviceSpec, String>,
}

/// What a phase took.
pub struct Gauged {
    wall: Duration,
    /// What the process did.
    pub counters: Counters,
    seen: Seen,
    series: Vec<Second>,
}

impl<'a> Gauge<'a> {
    /// That of a trial with one thread.
    ///
    /// # Errors
    /// As [`Series::new`].
    pub fn new(spec: &'a Spec, clock: &'a Clock) -> Result<Gauge<'a>, String> {
        Ok(Gauge { clock, series: Series::new(1)?, device: &spec.device })
    }

    /// Does a phase's operations, and reads all before and after them.
    ///
    /// # Errors
    /// Those of `all`.
    pub fn over<T>(&self, all: impl FnOnce() -> Result<T, Stop>) -> Result<(T, Gauged), Stop> {
        self.series.begin();
        let meanwhile = Meanwhile::begin(self.device);
        let before = Snapshot::now();
        let begin = self.clock.now();
        let done = all()?;
        let wall = Duration::from_nanos(self.clock.nanoseconds(begin, self.clock.now()));
        let counters = Snapshot::now().since(&before);
        let seen = meanwhile.end();
        Ok((done, Gauged { wall, counters, seen, series: self.series.finish() }))
    }
}

impl Gauged {
    /// The phase's result. The time that was not spent in operations is the harness's, so this is for closed loops; in an open
    /// one it is waiting too, and the rate is over all of the time.
    ///
    /// # Errors
    /// When the histogram can't be written.
    pub fn result(
        self,
        name: &str,
        latencies: &Latencies,
        is_closed: bool,
    ) -> Result<OperationResult, Ended> {
        let wall_ns = self.wall.as_nanos() as u64;
        let between = wall_ns.saturating_sub(latencies.sum_ns()) as f64;
        Ok(OperationResult {
            rate_over_ns: (!is_closed).then_some(wall_ns),
            harness_share: is_closed.then(|| between / wall_ns.max(1) as f64),
            counters: Some(self.counters),
            device_written_bytes: self.seen.traffic.as_ref().map(|traffic| traffic.written_bytes),
            device_read_bytes: self.seen.traffic.as_ref().map(|traffic| traffic.read_bytes),
            processors: self.seen.processors,
            series: self.series,
            ..operation(name, latencies, self.wall)?
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_DEVICE: &Result<DeviceSpec, String> = &Err(String::new());

    fn gauge(clock: &Clock) -> Gauge<'_> {
        Gauge { clock, series: Series::new(1).unwrap(), device: NO_DEVICE }
    }

    #[test]
    fn what_is_read_is_of_the_phase_alone() {
        let clock = Clock::new();
        let gauge = gauge(&clock);
        let mut latencies = Latencies::new().unwrap();
        let (done, gauged) = gauge
            .over(|| {
                latencies.record(5);
                Ok(7)
            })
            .unwrap();
        assert_eq!(done, 7);
        let result = gauged.result("get", &latencies, true).unwrap();
        assert_eq!((result.operation.as_str(), result.count, result.sum_ns), ("get", 1, 5));
        assert_eq!((result.rate_over_ns, result.device_written_bytes), (None, None));
        assert!(result.harness_share.is_some_and(|share| (0.0..=1.0).contains(&share)) && result.wall_ns > 0);
    }

    #[test]
    fn in_an_open_loop_the_rate_is_over_all_of_the_time() {
        let clock = Clock::new();
        let gauge = gauge(&clock);
        let ((), gauged) = gauge.over(|| Ok(())).unwrap();
        let result = gauged.result("get", &Latencies::new().unwrap(), false).unwrap();
        assert_eq!((result.rate_over_ns, result.harness_share), (Some(result.wall_ns), None));
    }

    #[test]
    fn a_phase_that_fails_gives_its_error() {
        let clock = Clock::new();
        let stopped = gauge(&clock).over(|| Err::<(), _>(Stop::harness("no"))).err().unwrap();
        assert_eq!(stopped.message, "no");
    }
}
