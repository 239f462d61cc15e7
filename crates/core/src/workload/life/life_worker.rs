//! A thread's work: each call is timed from just before it to just after it. Keys and values are made before, and reads are checked after.

use std::sync::atomic::AtomicBool;

use storebench_model::cell::Rate;
use storebench_model::result::WrittenRecords;
use storebench_model::store::{Session, Store, StoreError};

use super::bursts::{BurstOutcome, Schedule};
use super::parameters::LifeParameters;
use super::pauses::PauseWatch;
use super::set::{Churn, Set, Step};
use crate::record::{KEY_BYTES, Key, Records};
use crate::workload::batch::touched;
use crate::workload::elapsed::TimedPart;
use crate::workload::gauge::Gauge;
use crate::workload::pacer::wait_until;
use crate::workload::quanta::{largest_quantum, run_in_quanta};
use crate::workload::recorder;
use crate::workload::start_barrier::{BarrierGuard, StartedRound};
use crate::workload::worker_pool;
use crate::workload::workload_error::WorkloadError;

/// The kinds of calls, by their numbers in a recorder.
pub const KINDS: [&str; 4] = ["update", "insert", "remove", "scan"];
const UPDATE: usize = 0;
const INSERT: usize = 1;
const REMOVE: usize = 2;
const SCAN: usize = 3;

/// Records that a log removes at once.
const LOT: usize = 100;

pub(crate) type Recorder = recorder::Recorder<{ KINDS.len() }>;

#[derive(Clone, Copy)]
pub struct LifeOrder<'s> {
    /// Bursts by this schedule; or a tenth of the steps, one after the other.
    pub(crate) bursts: Option<Schedule>,
    pub store: &'s dyn Store,
}

/// The next step with its keys; the worker has its value.
struct PlannedStep {
    step: Step,
    old_key: Key,
    new_key: Key,
}

/// One thread's work, with all of its memory.
pub(crate) struct LifeWorker<'a> {
    /// The thread's part of the set, after the steps so far.
    pub set: Set,
    thread: u64,
    threads: u64,
    records: &'a Records,
    gauge: &'a Gauge<'a>,
    steps: u64,
    /// For tenths, or the current bursts.
    pub watch: PauseWatch<'a>,
    spare_watches: Vec<PauseWatch<'a>>,
    /// Whether the oldest records are removed many at once.
    removes_in_lots: bool,
    lot: Vec<Key>,
    /// Whether the oldest record is looked for before it is removed.
    scans: bool,
    value: Vec<u8>,
    recorder: Recorder,
    pub measured: Vec<Recorder>,
    pub bursts: Vec<BurstOutcome>,
    spare: Vec<Recorder>,
    pub written: WrittenRecords,
    /// Writes that changed the store.
    pub writes: u64,
}

impl<'a> LifeWorker<'a> {
    pub fn new(
        work: &LifeParameters,
        thread: u64,
        (records, gauge, busy): (&'a Records, &'a Gauge<'a>, &'a AtomicBool),
        scans: bool,
        seed: u64,
    ) -> Result<LifeWorker<'a>, String> {
        let (threads, most_rounds) = (work.threads, work.most_tenths() + work.bursts.len());
        Ok(LifeWorker {
            set: Set::new(work.churn, (thread, threads), work.records, seed)?,
            thread,
            threads,
            records,
            gauge,
            steps: (work.steps + threads - 1 - thread) / threads,
            watch: PauseWatch::new(gauge.clock, threads, busy),
            spare_watches: work.bursts.iter().map(|_| PauseWatch::new(gauge.clock, threads, busy)).collect(),
            removes_in_lots: work.churn == Churn::Log,
            lot: Vec::with_capacity(LOT),
            scans,
            value: touched(records.largest_value() as u64),
            recorder: Recorder::new()?,
            measured: Vec::with_capacity(work.most_tenths()),
            bursts: Vec::with_capacity(work.bursts.len()),
            spare: (0..most_rounds).map(|_| Recorder::new()).collect::<Result<_, _>>()?,
            written: WrittenRecords::default(),
            writes: 0,
        })
    }

    #[inline(always)]
    fn timed<T>(&mut self, kind: usize, call: impl FnOnce(&[u8]) -> T) -> T {
        let clock = self.gauge.clock;
        let start = clock.now();
        let result = call(&self.value);
        let end = clock.now();
        let ns = clock.nanoseconds(start, end).max(1);
        self.recorder.record(kind, ns);
        self.watch.note_call(kind, ns, end);
        result
    }

    fn plan(&mut self) -> PlannedStep {
        let step = self.set.step();
        let Step { old, new } = step;
        self.value.clear();
        self.records.append_value(new.0, new.1, &mut self.value);
        PlannedStep { step, old_key: self.records.key(old.0), new_key: self.records.key(new.0) }
    }

    fn step(&mut self, session: &mut dyn Session, planned: &PlannedStep) -> Result<(), WorkloadError> {
        let PlannedStep { step: Step { old, new }, old_key, new_key } = planned;
        let kind = if old.0 == new.0 {
            let outcome = self.timed(UPDATE, |value| session.update(new_key, value));
            outcome.map_err(|error| record_error("overwriting", new_key, &error))?;
            self.writes += u64::from(!self.records.is_same_value(new.0, old.1, new.1));
            UPDATE
        } else {
            if self.scans {
                self.look_for_oldest(session, old_key)?;
            }
            if self.removes_in_lots {
                self.lot.push(*old_key);
            } else {
                let outcome = self.timed(REMOVE, |_| session.remove(old_key));
                outcome.map_err(|error| record_error("removing", old_key, &error))?;
                self.writes += 1;
            }
            let outcome = self.timed(INSERT, |value| session.insert(new_key, value));
            outcome.map_err(|error| record_error("inserting", new_key, &error))?;
            self.writes += 1;
            INSERT
        };
        if self.lot.len() == LOT {
            self.remove_lot(session)?;
        }
        let value_bytes = self.value.len() as u64;
        self.recorder.kind_record_mut(kind).value_bytes += value_bytes;
        self.written =
            self.written.plus(WrittenRecords { records: 1, key_bytes: KEY_BYTES as u64, value_bytes });
        Ok(())
    }

    /// Removes a log's due records, if any.
    fn remove_lot(&mut self, session: &mut dyn Session) -> Result<(), WorkloadError> {
        let lot = std::mem::take(&mut self.lot);
        if let Some(first) = lot.first() {
            let keys: Vec<&[u8]> = lot.iter().map(|key| &key[..]).collect();
            let outcome = self.timed(REMOVE, |_| session.remove_batch(&keys));
            outcome.map_err(|error| record_error("removing a batch from", first, &error))?;
            self.writes += 1;
        }
        self.lot = lot;
        self.lot.clear();
        Ok(())
    }

    /// Finds the first record, as a queue's consumer does.
    fn look_for_oldest(&mut self, session: &mut dyn Session, oldest: &Key) -> Result<(), WorkloadError> {
        let (mut first, mut bytes) = ([0; KEY_BYTES], 0);
        let found = self.timed(SCAN, |_| {
            session.scan(&[b'0'; KEY_BYTES], 1, &mut |key, value| {
                bytes = value.len() as u64;
                if let Some(first) = first.get_mut(..key.len()) {
                    first.copy_from_slice(key);
                }
            })
        });
        let found = found.map_err(|error| record_error("looking for", oldest, &error))?;
        self.recorder.kind_record_mut(SCAN).value_bytes += bytes;
        // Another thread's may come before it.
        if found == 1 && (first == *oldest || (!self.set.is_whole() && first < *oldest)) {
            return Ok(());
        }
        let key = String::from_utf8_lossy(&first).into_owned();
        let (oldest, found) =
            (String::from_utf8_lossy(oldest), if found == 0 { "nothing".into() } else { key });
        let message = format!("the oldest record has the key {oldest}, and a scan found {found} first");
        Err(WorkloadError::wrong_data(message))
    }

    /// Does this thread's steps of a schedule, each when due or as soon as the store allows, from a little after now.
    fn run_bursts(
        &mut self,
        session: &mut (dyn Session + '_),
        store: &dyn Store,
        schedule: Schedule,
        started: &StartedRound<'_>,
    ) -> Result<BurstOutcome, WorkloadError> {
        let (clock, stopped) = (self.gauge.clock, started.stopped());
        let ticks_after = |ns: f64| started.start + clock.ticks(ns) as u64;
        let deadline = ticks_after(schedule.gives_up_ns());
        let mut outcome = BurstOutcome::new(schedule).map_err(WorkloadError::harness)?;
        let mut steps = schedule.steps().skip(self.thread as usize).step_by(self.threads as usize).peekable();
        while let Some((part, due_ns)) = steps.next() {
            let planned = self.plan();
            let moment = ticks_after(due_ns);
            let is_free = clock.now() <= moment;
            wait_until(clock, moment, &stopped);
            self.step(session, &planned)?;
            let end = clock.now();
            outcome.note((part, due_ns), is_free, clock.nanoseconds(moment, end));
            if end > deadline {
                break;
            }
            let next = steps.peek().map_or(u64::MAX, |(_, due_ns)| ticks_after(*due_ns));
            self.watch.sample_before(store, next)?;
        }
        outcome.burst.left_out = steps.count() as u64;
        Ok(outcome)
    }

    fn run_tenth(
        &mut self,
        session: &mut (dyn Session + '_),
        store: &dyn Store,
        started: &StartedRound<'_>,
    ) -> Result<(), WorkloadError> {
        let Gauge { clock, series, .. } = self.gauge;
        let main = if self.set.replaces() { INSERT } else { UPDATE };
        let seconds = series.thread(self.thread as usize, self.recorder.latencies(main));
        let mut seconds = seconds.map_err(WorkloadError::harness)?;
        let begin = clock.now();
        let can_continue = || started.can_continue(begin, None);
        run_in_quanta(self.steps, largest_quantum(Rate::Closed), can_continue, |count| {
            for _ in 0..count {
                let planned = self.plan();
                self.step(session, &planned)?;
                self.watch.sample_if_due(store)?;
            }
            seconds.add_latencies(self.recorder.latencies(main)).map_err(WorkloadError::harness)?;
            Ok::<_, WorkloadError>(count)
        })?;
        seconds.finish(self.recorder.latencies(main)).map_err(WorkloadError::harness)
    }
}

impl worker_pool::Worker<dyn Session + '_, LifeOrder<'_>> for LifeWorker<'_> {
    type Failed = WorkloadError;

    fn round(
        &mut self,
        session: &mut (dyn Session + '_),
        LifeOrder { bursts, store }: LifeOrder<'_>,
        approach: BarrierGuard<'_>,
    ) -> Result<TimedPart, WorkloadError> {
        let clock = self.gauge.clock;
        // Bursts record their pauses separately.
        let bursts_watch = bursts.and_then(|_| self.spare_watches.pop());
        let tenths_watch = bursts_watch.map(|watch| std::mem::replace(&mut self.watch, watch));
        self.watch.begin(store)?;
        let started = approach.cross()?;
        let begin = clock.now();
        let burst_outcome = match bursts {
            None => self.run_tenth(session, store, &started).map(|()| None)?,
            Some(schedule) => self.run_bursts(session, store, schedule, &started).map(Some)?,
        };
        // A record that the set no longer has is gone with the round.
        self.remove_lot(session)?;
        let end = clock.now();
        if let (Some(mut burst_outcome), Some(tenths_watch)) = (burst_outcome, tenths_watch) {
            burst_outcome.pauses = Some(std::mem::replace(&mut self.watch, tenths_watch).result());
            self.bursts.push(burst_outcome);
        }
        let spare =
            self.spare.pop().ok_or_else(|| WorkloadError::harness("there is no memory for another round"))?;
        let recorder = std::mem::replace(&mut self.recorder, spare);
        let calls_ns = recorder.calls_ns();
        if bursts.is_none() {
            self.measured.push(recorder);
        }
        Ok(TimedPart { begin, end, calls_ns, ..TimedPart::default() })
    }
}

fn record_error(doing: &str, key: &Key, error: &StoreError) -> WorkloadError {
    WorkloadError::store(&format!("{doing} the record {}", String::from_utf8_lossy(key)), error)
}
