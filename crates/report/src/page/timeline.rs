//! Operations and latencies by second and by epoch of each cell's longest trial, and what the machine did, in as many points as fit.

use indexmap::{IndexMap, IndexSet};
use serde::Serialize;
use storebench_figures::column::{Column, MAX, P50, P99};
use storebench_figures::data::merge::Merged;
use storebench_model::result::{Epoch, Latency, OperationResult, ResourceSeries, SeriesPoint, TrialResult};

use super::cells::Row;
use super::numbers::rounded;
use crate::markup::{Html, Literal};

/// The approximate number of points of all timelines together; each takes some twenty bytes of the page.
const POINTS: usize = 60_000;

const MAX_POINTS: usize = 240;
const MIN_POINTS: usize = 8;

#[derive(Debug, Serialize)]
pub struct Timelines {
    /// By operation, second by second.
    by_operation: IndexMap<String, Vec<Timeline>>,
    /// The same epoch by epoch.
    epochs: IndexMap<String, Vec<Timeline>>,
}

#[derive(Debug, Default, Serialize)]
struct Timeline {
    cell: usize,
    block: u32,
    /// The beginning of each point, in seconds since the operation began.
    at_s: Vec<f64>,
    per_s: Vec<f64>,
    /// [`LATENCIES`]; of several seconds the worst.
    #[serde(flatten)]
    latencies: IndexMap<String, Vec<u64>>,
    /// The machine's own figures, on average, as far as known.
    #[serde(flatten)]
    machine: IndexMap<&'static str, Vec<Option<f64>>>,
}

const LATENCIES: [Column; 3] = [P50, P99, MAX];

/// Figures of the machine: the page's name, and the figures of a course that it adds up.
const MACHINE: [(&str, &[&str]); 16] = [
    ("processors", &["user_share", "system_share"]),
    ("user", &["user_share"]),
    ("system", &["system_share"]),
    ("io_wait", &["io_wait_share"]),
    ("idle", &["idle_share"]),
    ("device_read", &["read_bytes_per_s"]),
    ("device_written", &["written_bytes_per_s"]),
    ("reads", &["reads_per_s"]),
    ("writes", &["writes_per_s"]),
    ("queue", &["queue"]),
    ("busy", &["busy_share"]),
    ("memory", &["memory_bytes"]),
    ("page_cache", &["page_cache_bytes"]),
    ("processor_pressure", &["processor_pressure"]),
    ("memory_pressure", &["memory_pressure"]),
    ("io_pressure", &["io_pressure"]),
];

#[derive(Clone, Copy)]
struct FoundTimeline<'a> {
    trial: &'a TrialResult,
    operation: &'a OperationResult,
}

/// A time span: its beginning, in seconds since the operation began, and its length.
type Step = (f64, f64);

impl Timelines {
    pub fn new(rows: &[Row<'_>], operations: &IndexSet<String>) -> Timelines {
        let longest_trials = |length: fn(&OperationResult) -> usize| {
            let mut timelines: Vec<(&String, usize, FoundTimeline<'_>)> = Vec::new();
            for operation in operations {
                for (cell, row) in rows.iter().enumerate() {
                    let timeline = longest(row, operation, length);
                    timelines.extend(timeline.map(|timeline| (operation, cell, timeline)));
                }
            }
            timelines
        };
        let seconds = longest_trials(|operation| operation.series.len());
        let epochs = longest_trials(|operation| operation.epochs.len());
        let points = (POINTS / (seconds.len() + epochs.len()).max(1)).clamp(MIN_POINTS, MAX_POINTS);
        let draw_all = |timelines: Vec<(&String, usize, FoundTimeline<'_>)>,
                        draw: fn(usize, FoundTimeline<'_>, usize) -> Timeline| {
            let mut by_operation: IndexMap<String, Vec<Timeline>> = IndexMap::new();
            for (operation, cell, timeline) in timelines {
                by_operation.entry(operation.clone()).or_default().push(draw(cell, timeline, points));
            }
            by_operation
        };
        Timelines { by_operation: draw_all(seconds, by_seconds), epochs: draw_all(epochs, by_epochs) }
    }
}

/// The longest trial by a measure of length; `None` if none has two steps.
fn longest<'a>(
    row: &Row<'a>,
    operation: &str,
    length: fn(&OperationResult) -> usize,
) -> Option<FoundTimeline<'a>> {
    let trials = row.entries.iter().map(|entry| entry.trial);
    let timelines = trials
        .filter_map(|trial| Some(FoundTimeline { trial, operation: trial.ok()?.operation(operation)? }));
    timelines.filter(|line| length(line.operation) > 1).max_by_key(|line| length(line.operation))
}

/// Joins seconds to at most `points` points without losing a stall.
fn by_seconds(cell: usize, timeline: FoundTimeline<'_>, points: usize) -> Timeline {
    let seconds = &timeline.operation.series;
    let span = seconds.last().map_or(0, |last| last.at_s) as usize + 1;
    let step = span.div_ceil(points).max(1) as u32;
    let mut line = Timeline { cell, block: timeline.trial.block, ..Timeline::default() };
    let mut steps: Vec<Step> = Vec::new();
    // A second without operations has no entry in the results, but is a point here.
    for start in (0..span as u32).step_by(step as usize) {
        let joined = seconds.iter().filter(|second| (start..start + step).contains(&second.at_s));
        let worst = |column: Column| {
            let latencies = joined.clone().map(second_latency);
            latencies.filter_map(|latency| column.latency_value(&latency)).max().unwrap_or(0)
        };
        let count: u64 = joined.clone().map(|second| second.count).sum();
        steps.push((f64::from(start), f64::from(step)));
        line.push(f64::from(start), count as f64 / f64::from(step), worst);
    }
    line.with_machine(timeline, &steps)
}

/// The epochs, without a last one of less than half the length; if there are very many, an even selection.
fn by_epochs(cell: usize, timeline: FoundTimeline<'_>, points: usize) -> Timeline {
    let epochs = &timeline.operation.epochs;
    let full_ms = epochs.first().map_or(0, |first| first.lasted_ms);
    let full_epochs: Vec<&Epoch> =
        epochs.iter().filter(|epoch| epoch.lasted_ms > 0 && 2 * epoch.lasted_ms >= full_ms).collect();
    let mut line = Timeline { cell, block: timeline.trial.block, ..Timeline::default() };
    let mut steps: Vec<Step> = Vec::new();
    for epoch in full_epochs.iter().step_by(full_epochs.len().div_ceil(points).max(1)) {
        let (start, length) = (epoch.at_ms as f64 / 1000.0, epoch.lasted_ms as f64 / 1000.0);
        steps.push((start, length));
        let latency = epoch_latency(epoch);
        let value_in_column = |column: Column| column.latency_value(&latency).unwrap_or_default();
        line.push(start, epoch.count as f64 / length, value_in_column);
    }
    line.with_machine(timeline, &steps)
}

fn second_latency(second: &SeriesPoint) -> Latency {
    Latency { p50_ns: second.p50_ns, p99_ns: second.p99_ns, max_ns: second.max_ns, ..Latency::default() }
}

fn epoch_latency(epoch: &Epoch) -> Latency {
    let Epoch { mean_ns, p50_ns, p99_ns, p999_ns, max_ns, .. } = *epoch;
    Latency { mean_ns, p50_ns, p99_ns, p999_ns, max_ns, ..Latency::default() }
}

impl Timeline {
    fn push(&mut self, at_s: f64, per_s: f64, latency: impl Fn(Column) -> u64) {
        self.at_s.push(at_s);
        self.per_s.push(rounded(per_s, 4));
        for column in LATENCIES {
            self.latencies.entry(column.sql_name()).or_default().push(latency(column));
        }
    }

    /// Adds the machine's activity in these steps, if their times in the trial are known.
    fn with_machine(self, timeline: FoundTimeline<'_>, steps: &[Step]) -> Timeline {
        let FoundTimeline { trial, operation } = timeline;
        let first = trial.ok().and_then(|measured| {
            // Kinds of transactions run at the same time: any series shows when they began.
            let mut operations = std::iter::once(operation).chain(&measured.operations);
            operations.find_map(|operation| operation.series.first())
        });
        let began_s =
            first.and_then(|first| Some(first.in_trial_ms? as f64 / 1000.0 - f64::from(first.at_s)));
        match trial.resources.as_ref().zip(began_s) {
            Some((course, began_s)) => Timeline { machine: machine(course, began_s, steps), ..self },
            None => self,
        }
    }
}

/// The machine's figures in each step, given the operation's beginning in seconds after the trial's.
fn machine(
    course: &ResourceSeries,
    began_s: f64,
    steps: &[Step],
) -> IndexMap<&'static str, Vec<Option<f64>>> {
    let mean = |parts: &[&Vec<f64>], (start, length): Step| {
        let start = began_s + start;
        // A sample counts if the middle of its second is in the step.
        let is_in_step = |(_, end): &(usize, &f64)| (start..start + length).contains(&(**end - 0.5));
        let samples = || course.at_s.iter().enumerate().filter(is_in_step).map(|(number, _)| number);
        let sum: f64 = samples().map(|sample| parts.iter().map(|part| part[sample]).sum::<f64>()).sum();
        let count = samples().count();
        (count > 0).then(|| rounded(sum / count as f64, 4))
    };
    let figure = |(id, names): (&'static str, &[&str])| {
        let parts: Option<Vec<&Vec<f64>>> = names.iter().map(|name| course.figures.get(*name)).collect();
        let parts = parts?;
        Some((id, steps.iter().map(|step| mean(&parts, *step)).collect()))
    };
    MACHINE.into_iter().filter_map(figure).collect()
}

fn has_epochs(merged: &Merged<'_>) -> bool {
    let trials = merged.groups.iter().flat_map(|group| &group.trials).filter_map(|entry| entry.trial.ok());
    trials.flat_map(|measured| &measured.operations).any(|operation| operation.epochs.len() > 1)
}

pub fn epochs(merged: &Merged<'_>) -> Html {
    const SECTION: &str = "<section id=\"epochs\" tabindex=\"-1\"><h2>Epoch by epoch</h2><p class=\"where\"></p><p class=\"note\">\
                           Throughput and latency of each epoch, of the longest trial, and below them what the whole machine did \
                           meanwhile, on the same scale of time.</p><div class=\"content\"></div></section>";
    Html::new(has_epochs(merged).then_some(Literal(SECTION)))
}

pub fn epochs_link(merged: &Merged<'_>) -> Html {
    Html::new(has_epochs(merged).then_some(Literal("<li><a href=\"#go=epochs\">Epochs</a></li>")))
}

#[cfg(test)]
mod tests {
    use storebench_samples::{Sample, run};

    use super::*;

    fn trial(change: impl FnOnce(&mut OperationResult), course: Option<ResourceSeries>) -> TrialResult {
        let mut trial = run("box", &[Sample::new("lmdb")]).trials.remove(0);
        trial.resources = course;
        let operations = &mut trial.measured.as_mut().unwrap().operations;
        operations.truncate(1);
        change(&mut operations[0]);
        trial
    }

    fn timeline(trial: &TrialResult) -> FoundTimeline<'_> {
        FoundTimeline { trial, operation: &trial.measured.as_ref().unwrap().operations[0] }
    }

    #[test]
    fn a_stall_is_never_lost() {
        let second = |at_s| {
            let slow = if at_s == 501 { 1000 } else { 1 };
            SeriesPoint { at_s, count: 10, p50_ns: 5, p99_ns: 7 * slow, max_ns: 9 * slow, in_trial_ms: None }
        };
        // Nothing ended in the seconds from 600 to 699.
        let seconds: Vec<SeriesPoint> = (0..1000).filter(|at| !(600..700).contains(at)).map(second).collect();
        let trial = trial(|operation| operation.series = seconds, None);
        let line = by_seconds(3, timeline(&trial), 100);
        assert_eq!((line.at_s[1], line.at_s.len()), (10.0, 100));
        let [p99, max] = ["p99_ns", "max_ns"].map(|latency| &line.latencies[latency]);
        assert_eq!((max[50], p99[50], max[49]), (9000, 7000, 9));
        assert_eq!((line.per_s[59], line.per_s[60]), (10.0, 0.0));
    }

    fn course() -> ResourceSeries {
        let figures = [
            ("user_share", vec![0.1, 0.2, 0.3, 0.4, 0.5]),
            ("system_share", vec![0.1; 5]),
            ("memory_bytes", vec![1e6, 2e6, 3e6, 4e6, 5e6]),
        ];
        ResourceSeries {
            at_s: vec![1.0, 2.0, 3.0, 4.0, 5.0],
            figures: figures.into_iter().map(|(name, values)| (name.to_owned(), values)).collect(),
        }
    }

    fn seconds() -> Vec<SeriesPoint> {
        let second = |at_s: u32| SeriesPoint {
            at_s,
            count: 10,
            p50_ns: 5,
            p99_ns: 7,
            max_ns: 9,
            in_trial_ms: Some(3_200 + 1000 * u64::from(at_s)),
        };
        (0..4).map(second).collect()
    }

    #[test]
    fn what_the_machine_did_is_put_beside_the_seconds_in_which_it_did_it() {
        let trial = trial(|operation| operation.series = seconds(), Some(course()));
        let line = by_seconds(0, timeline(&trial), 4);
        // The operation began after 3.2 s: its first second has the sample of 3 to 4 s.
        assert_eq!(line.machine["processors"], [Some(0.5), Some(0.6), None, None]);
        assert_eq!(line.machine["memory"], [Some(4e6), Some(5e6), None, None]);
        assert!(!line.machine.contains_key("device_read"), "it is not known");
        let halves = by_seconds(0, timeline(&trial), 2);
        assert_eq!(halves.machine["memory"], [Some(4.5e6), None]);
    }

    #[test]
    fn epochs_are_whole_and_stand_above_the_machine_of_their_time() {
        let epoch = |at_ms: u64, lasted_ms: u64| Epoch {
            at_ms,
            lasted_ms,
            count: 30,
            mean_ns: 6.0,
            p50_ns: 5,
            p99_ns: 7,
            p999_ns: 8,
            max_ns: 9,
        };
        let epochs = vec![epoch(0, 1500), epoch(1500, 1500), epoch(3000, 100)];
        let change = |operation: &mut OperationResult| {
            operation.series = seconds();
            operation.epochs = epochs;
        };
        let trial = trial(change, Some(course()));
        let line = by_epochs(0, timeline(&trial), 100);
        assert_eq!((line.at_s, line.per_s[0], line.latencies["p99_ns"][1]), (vec![0.0, 1.5], 20.0, 7));
        assert_eq!(line.machine["memory"], [Some(4.5e6), None]);
    }
}
