//! Time series: what each second of a phase was like. Nothing is added to the recording of a latency: at the end of a
//! second a thread hands over by how much its histogram has grown, and seconds that all threads have left are summed up.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use crate::measure::latency::Latencies;
use crate::result::Second;

/// The series of one phase, gathered from its threads.
#[derive(Debug)]
pub struct Series {
    start: Instant,
    gathered: Mutex<Gathered>,
}

#[derive(Debug)]
struct Gathered {
    /// The second that each thread is in.
    reached: Vec<u32>,
    pending: BTreeMap<u32, Histogram<u64>>,
    done: Vec<Second>,
}

impl Series {
    /// The series of a phase that begins now, with so many threads.
    pub fn new(threads: usize) -> Series {
        let gathered = Gathered { reached: vec![0; threads], pending: BTreeMap::new(), done: Vec::new() };
        Series { start: Instant::now(), gathered: Mutex::new(gathered) }
    }

    /// One thread's part in it; `before` is what the thread had measured before the phase.
    pub fn thread(&self, thread: usize, before: &Latencies) -> Seconds<'_> {
        let told = (before.count() > 0).then(|| before.histogram().clone());
        Seconds { series: self, thread, second: 0, told }
    }

    /// All seconds, where the phase took longer than one.
    pub fn finish(self) -> Vec<Second> {
        let mut gathered = self.gathered.into_inner().unwrap_or_else(PoisonError::into_inner);
        gathered.sum_up(u32::MAX);
        if gathered.done.len() > 1 { gathered.done } else { Vec::new() }
    }

    fn is_of_one_thread(&self) -> bool {
        self.gathered.lock().unwrap_or_else(PoisonError::into_inner).reached.len() == 1
    }

    fn add(&self, thread: usize, from: u32, growth: Histogram<u64>, now: u32) -> Result<(), String> {
        let mut gathered = self.gathered.lock().unwrap_or_else(PoisonError::into_inner);
        match gathered.pending.get_mut(&from) {
            Some(pending) => pending.add(&growth).map_err(|error| error.to_string())?,
            None => drop(gathered.pending.insert(from, growth)),
        }
        gathered.reached[thread] = now;
        let left_by_all = gathered.reached.iter().copied().min().unwrap_or(0);
        gathered.sum_up(left_by_all);
        Ok(())
    }
}

impl Gathered {
    /// Sums up the seconds before `before`.
    fn sum_up(&mut self, before: u32) {
        while let Some(entry) = self.pending.first_entry()
            && *entry.key() < before
        {
            let (at_s, histogram) = entry.remove_entry();
            if !histogram.is_empty() {
                self.done.push(Second {
                    at_s,
                    count: histogram.len(),
                    p50_ns: histogram.value_at_quantile(0.5),
                    p99_ns: histogram.value_at_quantile(0.99),
                    max_ns: histogram.max(),
                });
            }
        }
    }
}

/// One thread's part in a series.
#[derive(Debug)]
pub struct Seconds<'a> {
    series: &'a Series,
    thread: usize,
    second: u32,
    /// What was handed over before; nothing yet where it is absent, which spares the memory of a histogram.
    told: Option<Histogram<u64>>,
}

impl Seconds<'_> {
    /// Hands over what was measured since the last time, when a second has ended. Operations count in the second in which the
    /// quantum that held them ended.
    ///
    /// # Errors
    /// Never, between histograms of the same bounds.
    pub fn tell(&mut self, latencies: &Latencies) -> Result<(), String> {
        let now = self.series.start.elapsed().as_secs() as u32;
        if now > self.second { self.hand_over(latencies, now) } else { Ok(()) }
    }

    /// Hands over the rest, at the end of the phase.
    ///
    /// # Errors
    /// Never, between histograms of the same bounds.
    pub fn finish(mut self, latencies: &Latencies) -> Result<(), String> {
        if self.second == 0 && self.series.is_of_one_thread() {
            // Within a second there is no series, and no memory to be taken for it from the store's account.
            return Ok(());
        }
        self.hand_over(latencies, u32::MAX)
    }

    fn hand_over(&mut self, latencies: &Latencies, now: u32) -> Result<(), String> {
        let mut growth = latencies.histogram().clone();
        if let Some(told) = &self.told {
            growth.subtract(told).map_err(|error| error.to_string())?;
        }
        self.told = Some(latencies.histogram().clone());
        self.series.add(self.thread, self.second, growth, now)?;
        self.second = now;
        Ok(())
    }
}

/// How long a quantum should take at most, so that its operations fall into the right second.
pub const QUANTUM_TIME: Duration = Duration::from_millis(50);

#[cfg(test)]
mod tests {
    use super::*;

    /// A series that began so long ago.
    fn begun(ago: Duration, threads: usize) -> Series {
        Series { start: Instant::now() - ago, ..Series::new(threads) }
    }

    #[test]
    fn seconds_hold_what_was_measured_in_them_by_all_threads() {
        let mut series = begun(Duration::from_millis(3_500), 2);
        let mut latencies = Latencies::new().unwrap();
        latencies.record(999);
        let (mut first, mut second) =
            (series.thread(0, &latencies), series.thread(1, &Latencies::new().unwrap()));
        (1..=100).for_each(|_| latencies.record(10));
        first.hand_over(&latencies, 1).unwrap();
        let mut others = Latencies::new().unwrap();
        others.record(5_000);
        second.hand_over(&others, 2).unwrap();
        assert_eq!(series.gathered.lock().unwrap().done.len(), 1, "the first second has been left by both");
        latencies.record(70);
        first.tell(&latencies).unwrap();
        latencies.record(80);
        first.finish(&latencies).unwrap();
        second.finish(&others).unwrap();
        series.start = Instant::now();
        let second = |at_s, count, p50_ns, p99_ns, max_ns| Second { at_s, count, p50_ns, p99_ns, max_ns };
        assert_eq!(
            series.finish(),
            [second(0, 101, 10, 10, 5_003), second(1, 1, 70, 70, 70), second(3, 1, 80, 80, 80)]
        );
    }

    #[test]
    fn a_phase_within_a_second_has_no_series() {
        let series = Series::new(1);
        let mut latencies = Latencies::new().unwrap();
        let mut seconds = series.thread(0, &latencies);
        latencies.record(10);
        seconds.tell(&latencies).unwrap();
        seconds.finish(&latencies).unwrap();
        assert_eq!(series.finish(), []);
    }
}
