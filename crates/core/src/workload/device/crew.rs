//! The threads: each with its own lane, the calling one being the first. They start together.

use std::sync::Barrier;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use super::fault::Error;
use super::lane::{Lane, Record};
use super::spec::{Amount, Spec};
use crate::measure::clock::Clock;
use crate::measure::series::Series;
use crate::result::Second;

/// What all threads did together.
#[derive(Debug)]
pub(super) struct Worked {
    pub record: Record,
    /// From the first one's begin to the last one's end.
    pub wall: Duration,
    /// Added over the threads: from begin to end.
    pub at_work: Duration,
    pub series: Vec<Second>,
    /// Whether a thread ended with its lap, and had more to do.
    pub cut: bool,
}

/// What one thread has to do.
#[derive(Debug, Clone, Copy)]
struct Task {
    operations: u64,
    /// In the clock's ticks.
    time: Option<u64>,
    /// Whether more was asked for than the operations here.
    cut: bool,
}

/// When one thread began and ended, by the clock.
#[derive(Debug, Clone, Copy)]
struct Part {
    begin: u64,
    end: u64,
    cut: bool,
}

/// Runs the lanes, one on each thread, with at most one lap each where `one_lap`.
pub(super) fn run(spec: &Spec, clock: &Clock, lanes: Vec<Lane<'_>>, one_lap: bool) -> Result<Worked, Error> {
    let series = Series::new(lanes.len()).map_err(Error::Harness)?;
    series.begin();
    let barrier = Barrier::new(lanes.len());
    let hall = Hall { clock, series: &series, barrier: &barrier };
    let task = |(lane, thread)| {
        let task = task(spec, clock, &lane, thread, one_lap);
        (lane, task)
    };
    let mut work: Vec<_> = lanes.into_iter().zip(0..).map(task).collect();
    let parts = all_parts(hall, &mut work)?;
    let took = |from, to| Duration::from_nanos(clock.nanoseconds(from, to));
    let begin = parts.iter().map(|part| part.begin).min().unwrap_or(0);
    let end = parts.iter().map(|part| part.end).max().unwrap_or(0);
    Ok(Worked {
        record: all(work.into_iter().map(|(lane, _)| lane.finish()))?,
        wall: took(begin, end),
        at_work: parts.iter().map(|part| took(part.begin, part.end)).sum(),
        series: series.finish(),
        cut: parts.iter().any(|part| part.cut),
    })
}

/// Starts a thread for each lane but the first; when all are there, they begin.
fn all_parts(hall: Hall<'_>, work: &mut [(Lane<'_>, Task)]) -> Result<Vec<Part>, Error> {
    let Some(((first, first_task), others)) = work.split_first_mut() else { return Ok(Vec::new()) };
    thread::scope(|scope| {
        let mut started = Vec::new();
        for ((lane, task), thread) in others.iter_mut().zip(1..) {
            let (go, told): (SyncSender<()>, Receiver<()>) = sync_channel(1);
            // Where not all threads could be started, those that were hear nothing, and end.
            let serve = move || told.recv().is_ok().then(|| hall.part(lane, *task, thread)).transpose();
            let handle = thread::Builder::new()
                .spawn_scoped(scope, serve)
                .map_err(|error| Error::Harness(format!("starting a thread: {error}")))?;
            started.push((go, handle));
        }
        for (go, _) in &started {
            // It is there, and waits for this.
            let _ = go.send(());
        }
        let mine = hall.part(first, *first_task, 0).map(Some);
        let panicked = |_| Err(Error::Harness("a thread panicked".into()));
        let theirs = started.into_iter().map(|(_, handle)| handle.join().unwrap_or_else(panicked));
        let parts: Vec<_> = std::iter::once(mine).chain(theirs).collect();
        parts.into_iter().filter_map(Result::transpose).collect()
    })
}

/// One thread's share of the amount.
fn task(spec: &Spec, clock: &Clock, lane: &Lane<'_>, thread: u64, one_lap: bool) -> Task {
    let most = if one_lap { lane.lap() } else { u64::MAX };
    match spec.amount {
        Amount::Operations(count) => {
            let threads = spec.threads();
            let mine = count / threads + u64::from(thread < count % threads);
            Task { operations: mine.min(most), time: None, cut: mine > most }
        }
        Amount::Duration(time) => {
            let ticks = clock.ticks(time.as_nanos() as f64) as u64;
            Task { operations: most, time: Some(ticks), cut: one_lap }
        }
    }
}

/// What all threads measured.
fn all(records: impl Iterator<Item = Record>) -> Result<Record, Error> {
    let mut records = records;
    let mut all = records.next().ok_or_else(|| Error::Harness("no thread was at work".into()))?;
    for record in records {
        all.merge(&record).map_err(Error::Harness)?;
    }
    Ok(all)
}

/// What the threads share.
#[derive(Clone, Copy)]
struct Hall<'a> {
    clock: &'a Clock,
    series: &'a Series,
    barrier: &'a Barrier,
}

impl Hall<'_> {
    /// One thread's part, when all have arrived.
    fn part(&self, lane: &mut Lane<'_>, task: Task, thread: usize) -> Result<Part, Error> {
        let seconds = self.series.thread(thread, lane.latencies());
        self.barrier.wait();
        let mut seconds = seconds.map_err(Error::Harness)?;
        seconds.restart();
        let begin = self.clock.now();
        let deadline = task.time.map_or(u64::MAX, |time| begin.saturating_add(time));
        let done = lane.run(task.operations, deadline, &mut seconds);
        let end = self.clock.now();
        done?;
        seconds.finish(lane.latencies()).map_err(Error::Harness)?;
        Ok(Part { begin, end, cut: task.cut && end < deadline })
    }
}
