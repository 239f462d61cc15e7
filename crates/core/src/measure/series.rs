//! Time series: figures for each second of a phase. Recording a latency costs nothing more: at the end of a second a thread hands
//! over by how much its histogram has grown, and seconds that all threads have left are summed up. Memory is taken before the
//! first phase, so that no store is charged for it.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use storebench_model::result::{Epoch, SeriesPoint};

use crate::measure::latency::{Latencies, decode, encode, resident_histogram};
use crate::measure::process;

/// The series of one phase after another, from all threads.
#[derive(Debug)]
pub struct Series {
    /// Each thread's histogram when it last handed over.
    reported: Vec<Mutex<Histogram<u64>>>,
    gathered: Mutex<PendingSeconds>,
    /// A second, or an epoch.
    period: Duration,
    /// If known.
    process_start: Option<Instant>,
}

#[derive(Debug, Default)]
struct PendingSeconds {
    began: Option<Instant>,
    reached: Vec<u32>,
    pending: BTreeMap<u32, Histogram<u64>>,
    /// Empty histograms for seconds to come.
    spare: Vec<Histogram<u64>>,
    /// The number of each second that was summed up, and its figures without its times.
    summaries: Vec<(u32, Epoch)>,
    /// Whether histograms are kept, for another machine to merge; and those.
    keeps_histograms: bool,
    kept_histograms: Vec<(u32, Histogram<u64>)>,
}

/// Pending seconds while threads keep pace: one that some have left, one that others are in, and one that a thread begins meanwhile.
const PENDING: usize = 3;

impl Series {
    /// For phases with this number of threads. Takes all memory that it usually needs.
    pub fn new(threads: usize) -> Result<Series, String> {
        Series::every(Duration::from_secs(1), threads)
    }

    /// A series of epochs of this length.
    pub fn every(period: Duration, threads: usize) -> Result<Series, String> {
        let histograms = |count| (0..count).map(|_| resident_histogram());
        let reported = histograms(threads).map(|histogram| histogram.map(Mutex::new));
        let spare = histograms(PENDING).collect::<Result<_, _>>()?;
        let gathered = PendingSeconds { reached: vec![0; threads], spare, ..PendingSeconds::default() };
        let reported = reported.collect::<Result<_, _>>()?;
        let process_start = process::age().and_then(|age| Instant::now().checked_sub(age));
        Ok(Series { reported, gathered: Mutex::new(gathered), period, process_start })
    }

    /// Keeps each second's histogram, to be merged on another machine.
    pub fn with_histograms(self) -> Series {
        self.gathered().keeps_histograms = true;
        self
    }

    /// Ends a phase; gives the histograms of its seconds, packed.
    pub(crate) fn finish_packed(&self) -> Result<Vec<(u32, String)>, String> {
        let mut gathered = self.gathered();
        gathered.sum_up(u32::MAX);
        gathered.summaries.clear();
        let kept_histograms = std::mem::take(&mut gathered.kept_histograms);
        kept_histograms.iter().map(|(second, histogram)| Ok((*second, encode(histogram)?))).collect()
    }

    /// Adds another machine's seconds of a phase that began at a moment. Fails when one is no histogram of latencies.
    pub(crate) fn add_packed(&self, began: Instant, seconds: &[(u32, String)]) -> Result<(), String> {
        let mut gathered = self.gathered();
        gathered.began = Some(began);
        for (second, text) in seconds {
            gathered.second(*second)?.add(decode(text)?).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    pub fn begin(&self) {
        let mut gathered = self.gathered();
        gathered.reached.fill(0);
        gathered.began = Some(Instant::now());
    }

    /// One thread's part in the phase, whose first second begins now; `earlier` are the thread's earlier latencies.
    pub fn thread(&self, thread: usize, earlier: &Latencies) -> Result<Seconds<'_>, String> {
        let seconds = Seconds { series: self, thread, start: Instant::now(), second: 0 };
        seconds.set_reported(&mut seconds.lock_reported(), earlier)?;
        Ok(seconds)
    }

    /// Ends a phase; gives its seconds, if it took longer than one.
    pub fn finish(&self) -> Vec<SeriesPoint> {
        let mut gathered = self.gathered();
        gathered.sum_up(u32::MAX);
        let summaries = std::mem::take(&mut gathered.summaries);
        if summaries.len() < 2 {
            return Vec::new();
        }
        let began = gathered.began.zip(self.process_start).map(|(began, start)| began - start);
        let second = |(at_s, summary): (u32, Epoch)| SeriesPoint {
            at_s,
            count: summary.count,
            p50_ns: summary.p50_ns,
            p99_ns: summary.p99_ns,
            max_ns: summary.max_ns,
            in_trial_ms: began.map(|began| began.as_millis() as u64 + u64::from(at_s) * 1000),
        };
        summaries.into_iter().map(second).collect()
    }

    /// Ends a phase of this length; gives its epochs. The last one may be shorter.
    pub(crate) fn finish_epochs(&self, wall: Duration) -> Vec<Epoch> {
        let mut gathered = self.gathered();
        gathered.sum_up(u32::MAX);
        let summaries = std::mem::take(&mut gathered.summaries);
        let epoch = |(number, summary): (u32, Epoch)| {
            let start = self.period * number;
            let lasted_ms = wall.saturating_sub(start).min(self.period).as_millis().max(1) as u64;
            Epoch { at_ms: start.as_millis() as u64, lasted_ms, ..summary }
        };
        summaries.into_iter().map(epoch).collect()
    }

    fn gathered(&self) -> MutexGuard<'_, PendingSeconds> {
        self.gathered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PendingSeconds {
    fn second(&mut self, at_s: u32) -> Result<&mut Histogram<u64>, String> {
        let histogram = match self.pending.remove(&at_s).or_else(|| self.spare.pop()) {
            Some(histogram) => histogram,
            // A thread has fallen behind the others by seconds.
            None => resident_histogram()?,
        };
        Ok(self.pending.entry(at_s).or_insert(histogram))
    }

    /// Sums up the seconds before `end`, and keeps or reuses their histograms.
    fn sum_up(&mut self, end: u32) {
        while let Some(entry) = self.pending.first_entry()
            && *entry.key() < end
        {
            let (at_s, mut histogram) = entry.remove_entry();
            if !histogram.is_empty() {
                let summary = Epoch {
                    at_ms: 0,
                    lasted_ms: 0,
                    count: histogram.len(),
                    mean_ns: histogram.mean(),
                    p50_ns: histogram.value_at_quantile(0.5),
                    p99_ns: histogram.value_at_quantile(0.99),
                    p999_ns: histogram.value_at_quantile(0.999),
                    max_ns: histogram.max(),
                };
                self.summaries.push((at_s, summary));
            }
            if self.keeps_histograms {
                self.kept_histograms.push((at_s, histogram));
                continue;
            }
            histogram.reset();
            self.spare.push(histogram);
        }
    }
}

#[derive(Debug)]
pub(crate) struct Seconds<'a> {
    series: &'a Series,
    thread: usize,
    start: Instant,
    second: u32,
}

impl Seconds<'_> {
    /// Restarts the first second: what came before was not measured.
    pub fn restart(&mut self) {
        self.start = Instant::now();
        self.series.gathered().began = Some(self.start);
    }

    /// Hands over what was measured since the last time, if a second has ended: operations count where their quantum ended.
    pub fn add_latencies(&mut self, latencies: &Latencies) -> Result<(), String> {
        let current_second = (self.start.elapsed().as_nanos() / self.series.period.as_nanos().max(1)) as u32;
        if current_second > self.second { self.push_second(latencies, current_second) } else { Ok(()) }
    }

    pub fn finish(mut self, latencies: &Latencies) -> Result<(), String> {
        self.push_second(latencies, u32::MAX)
    }

    fn lock_reported(&self) -> MutexGuard<'_, Histogram<u64>> {
        self.series.reported[self.thread].lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_reported(&self, reported: &mut Histogram<u64>, latencies: &Latencies) -> Result<(), String> {
        reported.reset();
        reported.add(&latencies.histogram).map_err(|error| error.to_string())
    }

    fn push_second(&mut self, latencies: &Latencies, next_second: u32) -> Result<(), String> {
        let mut reported = self.lock_reported();
        let mut gathered = self.series.gathered();
        let pending = gathered.second(self.second)?;
        pending.add(&latencies.histogram).map_err(|error| error.to_string())?;
        pending.subtract(&*reported).map_err(|error| error.to_string())?;
        gathered.reached[self.thread] = next_second;
        let finished_before = gathered.reached.iter().copied().min().unwrap_or(0);
        gathered.sum_up(finished_before);
        self.set_reported(&mut reported, latencies)?;
        drop((reported, gathered));
        self.second = next_second;
        Ok(())
    }
}

/// The longest time for a quantum, so that its operations fall into the right second.
pub(crate) const QUANTUM_TIME: Duration = Duration::from_millis(50);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_hold_what_was_measured_in_them_by_all_threads() {
        let series = Series::new(2).unwrap();
        let mut latencies = Latencies::new().unwrap();
        latencies.record(999);
        let (mut first, mut second) =
            (series.thread(0, &latencies).unwrap(), series.thread(1, &Latencies::new().unwrap()).unwrap());
        (1..=100).for_each(|_| latencies.record(10));
        first.push_second(&latencies, 1).unwrap();
        let mut others = Latencies::new().unwrap();
        others.record(5_000);
        second.push_second(&others, 2).unwrap();
        assert_eq!(series.gathered().summaries.len(), 1, "the first second has been left by both");
        latencies.record(70);
        first.start -= Duration::from_millis(3_500);
        first.add_latencies(&latencies).unwrap();
        latencies.record(80);
        first.finish(&latencies).unwrap();
        second.finish(&others).unwrap();
        let seconds = [(0, 101, 10, 10, 5_003), (1, 1, 70, 70, 70), (3, 1, 80, 80, 80)];
        let seconds = seconds.map(|(at_s, count, p50_ns, p99_ns, max_ns)| SeriesPoint {
            at_s,
            count,
            p50_ns,
            p99_ns,
            max_ns,
            in_trial_ms: None,
        });
        assert_eq!(series.finish(), seconds);
        // And the next phase begins anew.
        series.begin();
        assert_eq!(series.gathered().reached, [0, 0]);
        assert_eq!(series.finish(), []);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn seconds_tell_when_in_the_trial_they_began() {
        let series = Series::new(1).unwrap();
        series.begin();
        let mut latencies = Latencies::new().unwrap();
        let mut thread = series.thread(0, &latencies).unwrap();
        thread.restart();
        latencies.record(10);
        thread.push_second(&latencies, 2).unwrap();
        latencies.record(10);
        thread.finish(&latencies).unwrap();
        let begins: Vec<u64> = series.finish().iter().map(|second| second.in_trial_ms.unwrap()).collect();
        assert_eq!(begins[1] - begins[0], 2000);
        assert!(begins[0] <= process::age().unwrap().as_millis() as u64);
    }

    #[test]
    fn epochs_are_as_long_as_is_said_and_the_last_one_as_long_as_it_lasted() {
        let series = Series::every(Duration::from_millis(500), 1).unwrap();
        series.begin();
        let mut latencies = Latencies::new().unwrap();
        let mut thread = series.thread(0, &latencies).unwrap();
        (1..=1000).for_each(|ns| latencies.record(ns));
        thread.push_second(&latencies, 2).unwrap();
        latencies.record(70);
        thread.finish(&latencies).unwrap();
        let epochs = series.finish_epochs(Duration::from_millis(1_250));
        let figures = |epoch: &Epoch| (epoch.at_ms, epoch.lasted_ms, epoch.count, epoch.p999_ns);
        assert_eq!(epochs.iter().map(figures).collect::<Vec<_>>(), [(0, 500, 1000, 999), (1000, 250, 1, 70)]);
        assert!((epochs[0].mean_ns - 500.5).abs() < 1.0);
        assert_eq!(series.finish_epochs(Duration::ZERO), []);
    }

    #[test]
    fn seconds_of_several_machines_are_those_of_one_process() {
        let mut random = fastrand::Rng::with_seed(3);
        let values: Vec<Vec<u64>> =
            (0..2).map(|_| (0..3000).map(|_| random.u64(1..1_000_000)).collect()).collect();
        // The first thousand in the first second, the others in the second.
        let record_two_seconds = |series: &Series, thread: usize, values: &[u64]| {
            let mut latencies = Latencies::new().unwrap();
            let mut seconds = series.thread(thread, &latencies).unwrap();
            values[..1000].iter().for_each(|ns| latencies.record(*ns));
            seconds.push_second(&latencies, 1).unwrap();
            values[1000..].iter().for_each(|ns| latencies.record(*ns));
            seconds.finish(&latencies).unwrap();
        };
        let (alone, merged) = (Series::new(2).unwrap(), Series::new(2).unwrap());
        alone.begin();
        merged.begin();
        let began = Instant::now();
        for (thread, values) in values.iter().enumerate() {
            record_two_seconds(&alone, thread, values);
            let remote = Series::new(1).unwrap().with_histograms();
            remote.begin();
            record_two_seconds(&remote, 0, values);
            merged.add_packed(began, &remote.finish_packed().unwrap()).unwrap();
            assert_eq!(remote.finish_packed().unwrap(), [], "the next phase begins anew");
        }
        let finish_untimed = |series: &Series| -> Vec<SeriesPoint> {
            series.finish().into_iter().map(|second| SeriesPoint { in_trial_ms: None, ..second }).collect()
        };
        assert_eq!(finish_untimed(&merged), finish_untimed(&alone));
        assert!(merged.add_packed(began, &[(0, "no histogram".into())]).is_err());
    }

    #[test]
    fn a_phase_within_a_second_has_no_series() {
        let series = Series::new(1).unwrap();
        series.begin();
        let mut latencies = Latencies::new().unwrap();
        let mut seconds = series.thread(0, &latencies).unwrap();
        latencies.record(10);
        seconds.add_latencies(&latencies).unwrap();
        seconds.finish(&latencies).unwrap();
        assert_eq!(series.finish(), []);
    }

    #[test]
    fn no_memory_is_taken_while_threads_keep_up_with_one_another() {
        let series = Series::new(2).unwrap();
        let latencies = Latencies::new().unwrap();
        let mut threads = [series.thread(0, &latencies).unwrap(), series.thread(1, &latencies).unwrap()];
        for second in 1..100 {
            threads[0].push_second(&latencies, second).unwrap();
            threads[1].push_second(&latencies, second).unwrap();
            let gathered = series.gathered();
            assert_eq!(gathered.spare.len() + gathered.pending.len(), PENDING);
        }
    }
}
