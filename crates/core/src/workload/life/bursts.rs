//! Bursts: steps begin by a schedule, whether or not those before have ended (open loop), at a share of the store's speed; for a
//! short time ten times as often, and then not at all for a while. Latency counts from when a step was due.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use storebench_model::cell::Rate;
use storebench_model::result::{Burst, Pauses};
use storebench_model::sanitize::quoted;
use storebench_model::units::Percent;

use crate::measure::latency::Latencies;
use crate::workload::workload_error::WorkloadError;

/// How many times as often steps begin in a burst.
pub(crate) const BURST_TIMES: f64 = 10.0;
/// The end of each part, as a share of a period: steady, the burst, steady again; the rest is a pause.
const PARTS: [f64; 3] = [0.5, 0.5 + 1.0 / 60.0, 5.0 / 6.0];
const MOST_PER_SECOND: u32 = 1_000_000;
/// Waits that are counted separately.
const SHORT_NS: u64 = 10_000_000;
const LONG_NS: u64 = 100_000_000;

/// The load outside the burst.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BurstLoad {
    /// A share of the store's speed: `50%`.
    Share(Percent),
    /// Steps per second, the same for each store: `5000/s`.
    PerSecond(u32),
}

impl fmt::Display for BurstLoad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BurstLoad::Share(share) => write!(f, "{share}"),
            BurstLoad::PerSecond(steps) => write!(f, "{steps}/s"),
        }
    }
}

impl FromStr for BurstLoad {
    type Err = String;

    fn from_str(text: &str) -> Result<BurstLoad, String> {
        match text.parse() {
            Ok(Rate::PerSecond(steps)) if steps <= MOST_PER_SECOND => Ok(BurstLoad::PerSecond(steps)),
            Err(_) if text.ends_with('%') => text.parse().map(BurstLoad::Share),
            _ => Err(format!(
                "{} is not a load: write a share like 50%, or steps a second like 5000/s, at most {MOST_PER_SECOND}/s",
                quoted(text)
            )),
        }
    }
}

/// A load with a burst and a pause, after which steps come as at first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Schedule {
    /// A share of the store's speed.
    pub percent: f64,
    /// Outside the burst and the pause.
    pub per_second: f64,
    pub period: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BurstPart {
    Before,
    Burst,
    After,
    Again,
}

impl Schedule {
    /// For a store that sustains this number of steps per second.
    pub fn for_load(load: BurstLoad, sustained_per_second: f64, period: Duration) -> Schedule {
        let (percent, per_second) = match load {
            BurstLoad::Share(Percent(percent)) => (percent, sustained_per_second * percent / 100.0),
            BurstLoad::PerSecond(steps) => (100.0 * f64::from(steps) / sustained_per_second, steps.into()),
        };
        Schedule { percent, per_second, period }
    }

    /// In nanoseconds from the begin.
    fn end_ns(self, part: BurstPart) -> f64 {
        let share = match part {
            BurstPart::Before => PARTS[0],
            BurstPart::Burst => PARTS[1],
            BurstPart::After => PARTS[2],
            // As long as the pause.
            BurstPart::Again => 2.0 - PARTS[2],
        };
        share * self.period.as_nanos() as f64
    }

    /// The moments of all steps, in nanoseconds from the begin.
    pub fn steps(self) -> impl Iterator<Item = (BurstPart, f64)> {
        let period_ns = self.period.as_nanos() as f64;
        let begins = [0.0, self.end_ns(BurstPart::Before), self.end_ns(BurstPart::Burst), period_ns];
        let parts = [BurstPart::Before, BurstPart::Burst, BurstPart::After, BurstPart::Again];
        parts.into_iter().zip(begins).flat_map(move |(part, begin)| {
            let factor = if part == BurstPart::Burst { BURST_TIMES } else { 1.0 };
            let interval_ns = 1e9 / (self.per_second * factor);
            let count = ((self.end_ns(part) - begin) / interval_ns).round() as u64;
            (0..count).map(move |step| (part, begin + step as f64 * interval_ns))
        })
    }

    /// When steps that have not begun are left out, in nanoseconds from the begin: after twice the schedule's time.
    pub fn gives_up_ns(self) -> f64 {
        2.0 * self.end_ns(BurstPart::Again)
    }
}

pub struct BurstOutcome {
    schedule: Schedule,
    latencies: Latencies,
    pub burst: Burst,
    /// Long calls, and the engine's work meanwhile.
    pub pauses: Option<Pauses>,
}

/// The steps of a burst before the first slow one, when threads take turns: `steps_within` has each thread's steps before its first
/// slow one, and its steps.
fn steps_together(steps_within: &[(u64, u64)]) -> u64 {
    let threads = steps_within.len() as u64;
    let first = (0..).zip(steps_within).filter(|(_, (steps_within, steps))| steps_within < steps);
    let first = first.map(|(thread, (steps_within, _))| steps_within * threads + thread).min();
    first.unwrap_or_else(|| steps_within.iter().map(|(_, steps)| steps).sum())
}

impl BurstOutcome {
    pub fn new(schedule: Schedule) -> Result<BurstOutcome, String> {
        Ok(BurstOutcome { schedule, latencies: Latencies::new()?, burst: Burst::default(), pauses: None })
    }

    /// Notes a step's due time and latency. `is_free` is whether all earlier steps had ended by then.
    pub fn note(&mut self, (part, due_ns): (BurstPart, f64), is_free: bool, latency_ns: u64) {
        self.latencies.record(latency_ns.max(1));
        let Burst { steps, within_10_ms, within_100_ms, longest_ns, recovered_ns, in_pause, .. } =
            &mut self.burst;
        match part {
            BurstPart::Before => {}
            BurstPart::Burst => {
                // A count that is behind has met its first long wait.
                for (within, limit_ns) in [(within_10_ms, SHORT_NS), (within_100_ms, LONG_NS)] {
                    *within += u64::from(*within == *steps && latency_ns <= limit_ns);
                }
                *steps += 1;
            }
            BurstPart::After | BurstPart::Again if is_free && recovered_ns.is_none() => {
                *recovered_ns = Some((due_ns - self.schedule.end_ns(BurstPart::Burst)).max(0.0) as u64);
                *in_pause = part == BurstPart::Again;
            }
            BurstPart::After | BurstPart::Again => {}
        }
        if matches!(part, BurstPart::Burst | BurstPart::After) {
            *longest_ns = latency_ns.max(*longest_ns);
        }
    }

    /// The result of all threads, which took turns.
    pub fn result(threads: Vec<BurstOutcome>) -> Result<Burst, WorkloadError> {
        let bursts = || threads.iter().map(|outcome| &outcome.burst);
        let within = |count_of: fn(&Burst) -> u64| {
            steps_together(&bursts().map(|burst| (count_of(burst), burst.steps)).collect::<Vec<_>>())
        };
        // Free is the load when no thread has to wait any more.
        let times = bursts().map(|burst| burst.recovered_ns).collect::<Option<Vec<_>>>();
        let recovered_ns = times.and_then(|times| times.into_iter().max());
        let total = Burst {
            times: BURST_TIMES,
            steps: bursts().map(|burst| burst.steps).sum(),
            within_10_ms: within(|burst| burst.within_10_ms),
            within_100_ms: within(|burst| burst.within_100_ms),
            longest_ns: bursts().map(|burst| burst.longest_ns).max().unwrap_or(0),
            recovered_ns,
            in_pause: recovered_ns.is_some() && bursts().any(|burst| burst.in_pause),
            left_out: bursts().map(|burst| burst.left_out).sum(),
            ..Burst::default()
        };
        let mut threads = threads.into_iter();
        let first = threads.next().ok_or_else(|| WorkloadError::harness("no thread sent bursts"))?;
        let BurstOutcome { schedule, mut latencies, mut pauses, .. } = first;
        for outcome in threads {
            latencies.merge(&outcome.latencies).map_err(WorkloadError::harness)?;
            pauses = pauses.zip(outcome.pauses).map(|(total, more)| total.plus(more));
        }
        Ok(Burst {
            percent: schedule.percent,
            per_second: schedule.per_second,
            period_ns: schedule.period.as_nanos() as u64,
            latency: latencies.summary().map_err(WorkloadError::harness)?,
            pauses,
            ..total
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 100 steps a second for a minute.
    const MINUTE: Schedule = Schedule { percent: 50.0, per_second: 100.0, period: Duration::from_secs(60) };

    #[test]
    fn a_burst_of_a_second_and_a_pause_of_ten_are_in_a_minute() {
        let steps: Vec<(BurstPart, f64)> = MINUTE.steps().collect();
        let times_of =
            |part| steps.iter().filter(|step| step.0 == part).map(|step| step.1 / 1e9).collect::<Vec<_>>();
        let ends =
            |part| (times_of(part).len(), times_of(part)[0].round(), times_of(part).last().unwrap().round());
        assert_eq!(ends(BurstPart::Before), (3_000, 0.0, 30.0));
        assert_eq!(ends(BurstPart::Burst), (1_000, 30.0, 31.0));
        assert_eq!(ends(BurstPart::After), (1_900, 31.0, 50.0));
        assert_eq!(ends(BurstPart::Again), (1_000, 60.0, 70.0));
        assert!(steps.windows(2).all(|two| two[0].1 < two[1].1), "they ascend");
    }

    /// A store that takes this long for each step, one after the other: the expected result follows by arithmetic.
    fn burst_of_store(step_ns: f64) -> Burst {
        let mut outcome = BurstOutcome::new(MINUTE).unwrap();
        let mut free_at = 0.0_f64;
        for (part, due_ns) in MINUTE.steps() {
            let is_free = free_at <= due_ns;
            free_at = free_at.max(due_ns) + step_ns;
            outcome.note((part, due_ns), is_free, (free_at - due_ns) as u64);
        }
        BurstOutcome::result(vec![outcome]).unwrap()
    }

    #[test]
    fn a_load_is_a_share_or_so_many_steps_a_second() {
        let schedule_of =
            |load: &str| Schedule::for_load(load.parse().unwrap(), 200.0, Duration::from_secs(60));
        assert_eq!((schedule_of("50%").percent, schedule_of("50%").per_second), (50.0, 100.0));
        assert_eq!((schedule_of("100/s").percent, schedule_of("100/s").per_second), (50.0, 100.0));
        assert_eq!("2500/s".parse::<BurstLoad>().unwrap().to_string(), "2500/s");
    }

    #[test]
    fn the_first_step_that_waits_is_the_first_of_any_thread() {
        assert_eq!((steps_together(&[(1_000, 1_000)]), steps_together(&[(3, 500)])), (1_000, 3));
        // With two threads in turn the first one's step 4 is the ninth of all, and the second one's step 2 the sixth.
        let steps_of_two = |first, second| steps_together(&[first, second]);
        assert_eq!((steps_of_two((4, 500), (2, 500)), steps_of_two((4, 500), (500, 500))), (5, 8));
        assert_eq!(steps_of_two((500, 500), (499, 499)), 999);
    }

    #[test]
    fn a_store_of_known_speed_takes_the_burst_that_follows_from_it() {
        // 5 ms: in a burst a step comes each millisecond, so that step k waits for 4 k ms more than its own 5.
        let burst = burst_of_store(5e6);
        assert_eq!((burst.steps, burst.within_10_ms, burst.within_100_ms), (1_000, 2, 24));
        // Give and take a nanosecond of its moment.
        assert!(burst.longest_ns.abs_diff(4_005_000_000) < 10, "{burst:?}");
        // The backlog of 4 s goes at 2 to 1: 5 ms of work come in each 10 ms.
        assert!(burst.recovered_ns.unwrap().abs_diff(8_000_000_000) < 10 && !burst.in_pause, "{burst:?}");
        // 8 ms: a backlog of 7 s would take 35 s, and is gone in the pause, 19 s after the burst.
        let busy = burst_of_store(8e6);
        assert!(busy.recovered_ns.unwrap().abs_diff(29_000_000_000) < 10 && busy.in_pause, "{busy:?}");
        // It waits for nothing.
        let quick = burst_of_store(1e5);
        assert_eq!((quick.within_10_ms, quick.within_100_ms, quick.recovered_ns), (1_000, 1_000, Some(0)));
        // It never gets free again.
        let slow = burst_of_store(11e6);
        assert_eq!((slow.within_10_ms, slow.recovered_ns), (0, None));
    }
}
