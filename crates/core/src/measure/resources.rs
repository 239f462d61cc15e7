//! The state of the machine during a trial, second by second: processors, the block device, the trial's cgroup, pressure. The
//! parent reads it, so that no store is charged for it, and no operation waits.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use storebench_model::result::ResourceSeries;

use super::cgroup::TrialCgroup;
use super::device::{Activity, BlockDevice};
use super::processors::{Shares, Snapshot};

const STEP: Duration = Duration::from_secs(1);

/// The device and cgroup that are read.
#[derive(Debug, Default)]
pub struct ResourceProbe {
    /// The block device under the trial's place.
    pub device: Option<BlockDevice>,
    /// The trial's cgroup.
    pub group: Option<TrialCgroup>,
}

impl ResourceProbe {
    /// Does some work and watches meanwhile; `None` if the work was over at once.
    pub fn during<T>(&self, work: impl FnOnce() -> T) -> (T, Option<ResourceSeries>) {
        std::thread::scope(|scope| {
            let (work_guard, work_end) = channel::<()>();
            let sampler = std::thread::Builder::new().name("course".into());
            let sampler = sampler.spawn_scoped(scope, move || self.sample_until(&work_end));
            let result = work();
            drop(work_guard);
            let series = sampler.ok().and_then(|sampler| sampler.join().ok());
            (result, series.filter(|series| !series.at_s.is_empty()))
        })
    }

    fn sample_until(&self, work_end: &Receiver<()>) -> ResourceSeries {
        let start = Instant::now();
        let mut series = ResourceSeries::default();
        let (mut before, mut due) = (self.take_sample(start), STEP);
        while work_end.recv_timeout(due.saturating_sub(start.elapsed())) == Err(RecvTimeoutError::Timeout) {
            let now = self.take_sample(start);
            add_second(&mut series, &before, &now);
            before = now;
            due += STEP;
        }
        drop_incomplete(series)
    }

    fn take_sample(&self, start: Instant) -> ResourceSample {
        ResourceSample {
            taken_at: start.elapsed(),
            processors: Snapshot::now().ok(),
            device: self.device.as_ref().and_then(|device| device.activity().ok()),
            charged: self.group.as_ref().and_then(TrialCgroup::charged),
            stalled_us: PRESSURES
                .map(|(kind, _)| parse_pressure(&fs::read_to_string(self.pressure_file(kind)).ok()?)),
        }
    }

    /// The trial's own file if the kernel keeps one.
    fn pressure_file(&self, kind: &str) -> PathBuf {
        let own_file = self.group.as_ref().map(|group| group.folder.join(format!("{kind}.pressure")));
        own_file.filter(|file| file.exists()).unwrap_or_else(|| Path::new("/proc/pressure").join(kind))
    }
}

const PRESSURES: [(&str, &str); 3] =
    [("cpu", "processor_pressure"), ("memory", "memory_pressure"), ("io", "io_pressure")];

#[derive(Debug, Clone)]
struct ResourceSample {
    taken_at: Duration,
    processors: Option<Snapshot>,
    device: Option<Activity>,
    /// Bytes charged, and how many of them are page cache.
    charged: Option<(u64, u64)>,
    /// Microseconds in which something waited, since boot.
    stalled_us: [Option<u64>; 3],
}

impl ResourceSample {
    fn since(&self, before: &ResourceSample) -> Vec<(&'static str, f64)> {
        let span_s = (self.taken_at - before.taken_at).as_secs_f64();
        let mut figures = Vec::new();
        let shares = self.processors.zip(before.processors).and_then(|(now, before)| now.shares(&before));
        if let Some(Shares { user, system, io_wait, idle }) = shares {
            figures.extend([("user_share", user), ("system_share", system)]);
            figures.extend([("io_wait_share", io_wait), ("idle_share", idle)]);
        }
        if let Some((now, before)) = self.device.zip(before.device) {
            let activity = now.since(&before);
            let share = |milliseconds: u64| milliseconds as f64 / 1000.0 / span_s;
            figures.extend([
                ("reads_per_s", activity.reads as f64 / span_s),
                ("writes_per_s", activity.writes as f64 / span_s),
                ("read_bytes_per_s", activity.read_bytes as f64 / span_s),
                ("written_bytes_per_s", activity.written_bytes as f64 / span_s),
                ("queue", share(activity.waited_ms)),
                ("busy_share", share(activity.busy_ms).min(1.0)),
            ]);
        }
        if let Some((memory, page_cache)) = self.charged {
            figures.extend([("memory_bytes", memory as f64), ("page_cache_bytes", page_cache as f64)]);
        }
        let waited = self.stalled_us.into_iter().zip(before.stalled_us).zip(PRESSURES);
        figures.extend(waited.filter_map(|((now, before), (_, name))| {
            Some((name, (now?.saturating_sub(before?) as f64 / 1e6 / span_s).min(1.0)))
        }));
        figures
    }
}

fn add_second(series: &mut ResourceSeries, before: &ResourceSample, now: &ResourceSample) {
    series.at_s.push(round_to_thousandths(now.taken_at.as_secs_f64()));
    for (name, value) in now.since(before) {
        series.figures.entry(name.to_owned()).or_default().push(round_to_thousandths(value));
    }
}

/// Drops figures that lack a second: which one is not known.
fn drop_incomplete(mut series: ResourceSeries) -> ResourceSeries {
    let seconds = series.at_s.len();
    series.figures.retain(|_, values| values.len() == seconds);
    series
}

/// Results hold many figures: three digits after the point are enough.
fn round_to_thousandths(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

/// The total of the line `some` of the kernel's pressure stall information.
fn parse_pressure(text: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with("some "))?;
    line.split_whitespace().find_map(|word| word.strip_prefix("total="))?.parse().ok()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    fn sample_at(seconds: u64, device: Option<Activity>, stalled_us: u64) -> ResourceSample {
        ResourceSample {
            taken_at: Duration::from_secs(seconds),
            processors: None,
            device,
            charged: Some((100, 40)),
            stalled_us: [Some(stalled_us), None, None],
        }
    }

    #[test]
    fn figures_are_those_of_a_second() {
        let first =
            Activity { reads: 10, writes: 20, read_bytes: 1024, written_bytes: 0, waited_ms: 0, busy_ms: 0 };
        let more = Activity { reads: 30, read_bytes: 5120, ..first };
        let later = Activity { written_bytes: 4096, waited_ms: 6000, busy_ms: 1000, ..more };
        let mut series = ResourceSeries::default();
        add_second(&mut series, &sample_at(1, Some(first), 0), &sample_at(3, Some(later), 500_000));
        let figures = |names: [&str; 2]| names.map(|name| series.figures[name].as_slice());
        assert_eq!(figures(["reads_per_s", "writes_per_s"]), [[10.0], [0.0]]);
        assert_eq!(figures(["read_bytes_per_s", "written_bytes_per_s"]), [[2048.0], [2048.0]]);
        assert_eq!(figures(["queue", "busy_share"]), [[3.0], [0.5]]);
        assert_eq!(figures(["memory_bytes", "page_cache_bytes"]), [[100.0], [40.0]]);
        assert_eq!(series.figures["processor_pressure"], [0.25]);
        assert!(!series.figures.contains_key("io_pressure"));
        // The device went away.
        add_second(&mut series, &sample_at(3, Some(later), 0), &sample_at(4, None, 0));
        let complete = drop_incomplete(series);
        assert!(!complete.figures.contains_key("queue") && complete.figures.contains_key("memory_bytes"));
    }

    #[test]
    fn pressure_is_the_total_of_some() {
        let text = "some avg10=0.10 avg60=0.00 avg300=0.00 total=1234\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=9\n";
        assert_eq!(parse_pressure(text), Some(1234));
        assert_eq!((parse_pressure(""), parse_pressure("some total=x")), (None, None));
    }

    #[test]
    fn work_is_watched_and_short_work_is_not() {
        let (done, series) = ResourceProbe::default().during(|| 7);
        assert_eq!((done, series), (7, None));
        let deadline = Instant::now() + Duration::from_millis(2300);
        let work = || {
            let mut sum = 0_u64;
            while Instant::now() < deadline {
                sum = std::hint::black_box(sum.wrapping_add(1));
            }
        };
        let ((), series) = ResourceProbe::default().during(work);
        let series = series.unwrap();
        let [user, idle] = ["user_share", "idle_share"].map(|name| &series.figures[name]);
        assert!(series.at_s.len() >= 2 && user.len() == series.at_s.len());
        let are_shares = user.iter().all(|share| *share > 0.0) && idle.iter().all(|share| *share <= 1.0);
        assert!(are_shares, "{series:?}");
    }
}
