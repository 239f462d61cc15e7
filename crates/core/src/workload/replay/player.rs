//! One thread that plays: the timed loop, and the check of what was read.

use std::sync::atomic::{AtomicBool, Ordering};

use storebench_model::result::WrittenRecords;
use storebench_model::sanitize::quoted;
use storebench_model::store::{Result as StoreResult, Session, StoreError};
use storebench_model::words::words;

use crate::measure::clock::Clock;
use crate::measure::latency::Latencies;
use crate::measure::series::{Seconds, Series};
use crate::trace::{Facts, Form, TraceOperation, family_of, key_hash};
use crate::workload::batch::touched;
use crate::workload::elapsed::TimedPart;
use crate::workload::pacer::wait_until;
use crate::workload::recorder::Recorder;
use crate::workload::start_barrier::BarrierGuard;
use crate::workload::worker_pool::Worker;
use crate::workload::workload_error::WorkloadError;

use super::chunk::{Chunk, ChunkReceiver, ReplayStep, StepOutcome};
use super::followed_keys::{ABSENT, FollowedKeys};
use super::parameters::{ReplayParameters, Speed};
use super::values::{HEAD_BYTES, LOADED, Values};

/// Operations that are measured separately: gets that find their key, gets that don't, and the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::VariantNames, strum::VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum ReplayKind {
    Get,
    Miss,
    Set,
    Modify,
    Remove,
    Scan,
}

words!(ReplayKind, all);

impl ReplayKind {
    pub fn from_operation(operation: TraceOperation, found: bool) -> ReplayKind {
        match operation {
            TraceOperation::Get if !found => ReplayKind::Miss,
            TraceOperation::Get | TraceOperation::Skip => ReplayKind::Get,
            TraceOperation::Set => ReplayKind::Set,
            TraceOperation::Modify => ReplayKind::Modify,
            TraceOperation::Remove => ReplayKind::Remove,
            TraceOperation::Scan => ReplayKind::Scan,
        }
    }

    /// The most frequent operation of a trace.
    pub(crate) fn most_frequent(facts: &Facts) -> ReplayKind {
        use TraceOperation::{Get, Modify, Remove, Scan, Set};
        let most_frequent =
            [Get, Set, Modify, Remove, Scan].into_iter().max_by_key(|operation| facts.count(*operation));
        most_frequent.map_or(ReplayKind::Get, |operation| ReplayKind::from_operation(operation, true))
    }
}

/// How much later than an open loop the schedule starts: until then the first chunks are there.
const LEAD_NS: f64 = 4_000_000.0;

pub struct ReplayTally {
    pub recorder: Recorder<{ ReplayKind::ALL.len() }>,
    pub written: WrittenRecords,
    /// Writes whose values differ from all others, so that each changes the store.
    pub distinct_writes: u64,
    /// Values too short to show which write they are from.
    pub short_reads: u64,
}

impl ReplayTally {
    pub fn new() -> Result<ReplayTally, String> {
        Ok(ReplayTally {
            recorder: Recorder::new()?,
            written: WrittenRecords::default(),
            distinct_writes: 0,
            short_reads: 0,
        })
    }

    pub fn merge(&mut self, other: &ReplayTally) -> Result<(), String> {
        self.recorder.merge(&other.recorder)?;
        self.written = self.written.plus(other.written);
        self.distinct_writes += other.distinct_writes;
        self.short_reads += other.short_reads;
        Ok(())
    }
}

pub struct Player<'a> {
    thread: usize,
    /// Its operations, until it has played them.
    incoming: Option<ChunkReceiver>,
    /// Whether it plays at the trace's times.
    timed: bool,
    clock: &'a Clock,
    values: &'a Values,
    /// Whether reads can be checked: not with a store that keeps nothing.
    checks_reads: bool,
    /// The version of a key that is read before it is written: [`LOADED`] or [`ABSENT`].
    first_version: u64,
    /// The operation in the time series.
    main: ReplayKind,
    pub tally: ReplayTally,
    pub followed: FollowedKeys,
    read_buffer: ReadBuffer,
    scratch: Vec<u8>,
}

#[derive(Debug)]
struct ReadBuffer {
    key: Vec<u8>,
    value: Vec<u8>,
    records: usize,
    scanned_bytes: u64,
    /// Whether a scan ends with the column family that it begins in.
    ends_with_family: bool,
}

impl ReadBuffer {
    #[inline(always)]
    fn copy_value(&mut self, value: &[u8]) {
        self.value.clear();
        self.value.extend_from_slice(value);
    }

    /// Keeps the first record of a scan for the check; every value is read.
    #[inline(always)]
    fn add_record(&mut self, key: &[u8], value: &[u8]) {
        if self.records == 0 {
            self.key.clear();
            self.key.extend_from_slice(key);
            self.copy_value(value);
        } else {
            std::hint::black_box(value.iter().step_by(64).fold(0_u8, |sum, byte| sum.wrapping_add(*byte)));
        }
        self.records += 1;
        self.scanned_bytes += value.len() as u64;
    }
}

impl<'a> Player<'a> {
    /// Takes all memory that it will need.
    pub fn new(
        ReplayParameters { facts, speed, loads, .. }: &ReplayParameters,
        (clock, values): (&'a Clock, &'a Values),
        (thread, incoming): (usize, ChunkReceiver),
        checks_reads: bool,
    ) -> Result<Player<'a>, String> {
        let (key, value) = (touched(facts.longest_key.max(64)), touched(facts.largest_value + 1));
        let ends_with_family = facts.form == Form::RocksDb;
        Ok(Player {
            thread,
            incoming: Some(incoming),
            timed: *speed != Speed::Max,
            clock,
            values,
            checks_reads,
            first_version: if *loads { LOADED } else { ABSENT },
            main: ReplayKind::most_frequent(facts),
            tally: ReplayTally::new()?,
            followed: FollowedKeys::new(),
            read_buffer: ReadBuffer { key, value, records: 0, scanned_bytes: 0, ends_with_family },
            scratch: touched(facts.largest_value + 1),
        })
    }

    pub(crate) fn main_latencies(&self) -> &Latencies {
        self.tally.recorder.latencies(self.main as usize)
    }

    /// Plays from the moment `start` until the end, or until another thread has failed. Stops at the first operation that fails
    /// or reads what is wrong.
    fn play(
        &mut self,
        session: &mut dyn Session,
        incoming: &ChunkReceiver,
        (mut start, stopped): (u64, &AtomicBool),
        seconds: &mut Seconds<'_>,
    ) -> Result<TimedPart, WorkloadError> {
        let timed = self.timed;
        let begin = if timed { start } else { self.clock.now() };
        let mut stood_still = 0;
        while !stopped.load(Ordering::Relaxed) {
            let (waits_from, blocked_ns) = (self.clock.now(), incoming.blocked_ns());
            let mut chunk = match incoming.full.try_recv() {
                Ok(chunk) => chunk,
                Err(_) => {
                    let Ok(chunk) = incoming.full.recv() else { break };
                    if let Some(first) = chunk.steps.first().filter(|_| timed) {
                        // A delay of the reader makes no operation late, unless it waited for a thread whose store was behind.
                        let due = due_ticks(self.clock, start, first);
                        let delay = self.clock.now().saturating_sub(due.max(waits_from));
                        let blocked_ns = incoming.blocked_ns() - blocked_ns;
                        let delay = delay.saturating_sub(self.clock.ticks(blocked_ns as f64) as u64);
                        start += delay;
                        stood_still += delay;
                    }
                    chunk
                }
            };
            let result = self.play_chunk(session, &mut chunk, timed.then_some((start, stopped)));
            incoming.return_chunk(chunk);
            result?;
            seconds.add_latencies(self.main_latencies()).map_err(WorkloadError::harness)?;
        }
        let end = self.clock.now().max(begin);
        let calls_ns = self.tally.recorder.calls_ns();
        Ok(TimedPart { begin, end, calls_ns, stood_still_ticks: stood_still, ..TimedPart::default() })
    }

    fn play_chunk(
        &mut self,
        session: &mut dyn Session,
        chunk: &mut Chunk,
        schedule: Option<(u64, &AtomicBool)>,
    ) -> Result<(), WorkloadError> {
        let Chunk { steps, bytes, outcomes } = chunk;
        for (step, outcome) in steps.iter().zip(outcomes.iter_mut()) {
            let (key, value) = (&bytes[step.key.clone()], &bytes[step.value.clone()]);
            let start = match schedule {
                Some((first, stopped)) => {
                    let due = due_ticks(self.clock, first, step);
                    wait_until(self.clock, due, stopped);
                    due
                }
                None => self.clock.now(),
            };
            let result = call_store(session, step, key, value, &mut self.read_buffer);
            let end = self.clock.now();
            let found = result.map_err(|error| store_error(step, key, &error))?;
            *outcome = StepOutcome { ticks: end.saturating_sub(start), found, read_bytes: 0 };
            if self.checks_reads {
                self.check(session, step, key, outcome)?;
            }
        }
        for (step, outcome) in steps.iter().zip(outcomes.iter()) {
            self.record(step, outcome);
        }
        Ok(())
    }

    fn record(&mut self, step: &ReplayStep, outcome: &StepOutcome) {
        let kind = ReplayKind::from_operation(step.operation, outcome.found) as usize;
        let tally = &mut self.tally;
        tally.recorder.record(kind, self.clock.nanoseconds(0, outcome.ticks).max(1));
        let value_bytes = step.value.len() as u64;
        tally.recorder.kind_record_mut(kind).value_bytes += value_bytes + outcome.read_bytes;
        if step.operation.writes() {
            let key_bytes = step.key.len() as u64;
            tally.written = tally.written.plus(WrittenRecords { records: 1, key_bytes, value_bytes });
            tally.distinct_writes += u64::from(value_bytes >= HEAD_BYTES as u64);
        }
    }

    /// Checks reads, and notes writes. The clock has stopped.
    fn check(
        &mut self,
        session: &dyn Session,
        step: &ReplayStep,
        key: &[u8],
        outcome: &mut StepOutcome,
    ) -> Result<(), WorkloadError> {
        match step.operation {
            TraceOperation::Scan => return self.check_scan(step, key, outcome),
            TraceOperation::Get | TraceOperation::Modify => {
                // After the write of a modify, the session's own copy is of no use.
                let copied = session.copied().filter(|_| step.operation == TraceOperation::Get);
                let value = copied.unwrap_or(&self.read_buffer.value);
                outcome.read_bytes = if outcome.found { value.len() as u64 } else { 0 };
                let scratch = &mut self.scratch;
                let written = outcome.found.then(|| self.values.check(step.hash, value, scratch));
                let wrong = |()| wrong_data(step, key, "is not what was written under this key");
                self.check_version(step, key, written.transpose().map_err(wrong)?)?;
            }
            TraceOperation::Set | TraceOperation::Remove | TraceOperation::Skip => {
                let expected = self.followed.follow_key(step.hash, self.first_version);
                if !outcome.found && expected.is_some_and(|expected| expected != ABSENT) {
                    return Err(wrong_data(step, key, "is missing, but was to be removed"));
                }
            }
        }
        match step.operation {
            TraceOperation::Set | TraceOperation::Modify => {
                self.followed.note_write(step.hash, step.position);
            }
            TraceOperation::Remove => self.followed.note_write(step.hash, ABSENT),
            TraceOperation::Get | TraceOperation::Scan | TraceOperation::Skip => {}
        }
        Ok(())
    }

    /// Checks a read; `written` is the position in the value, if there was one and it is long enough.
    fn check_version(
        &mut self,
        step: &ReplayStep,
        key: &[u8],
        written: Option<Option<u64>>,
    ) -> Result<(), WorkloadError> {
        let expected = self.followed.follow_key(step.hash, self.first_version);
        match (written, expected) {
            (None, Some(expected)) if expected != ABSENT => Err(wrong_data(step, key, "is missing")),
            (None, _) => Ok(()),
            (Some(_), Some(ABSENT)) => {
                Err(wrong_data(step, key, "is there, though it was removed or never written"))
            }
            (Some(None), _) => {
                self.tally.short_reads += 1;
                Ok(())
            }
            (Some(Some(found)), _) if found >= step.position => {
                Err(wrong_data(step, key, "is from a later write"))
            }
            (Some(Some(found)), Some(expected)) if found != expected => {
                let fault = format!("is operation {found}'s, but operation {expected} wrote it last");
                Err(wrong_data(step, key, &fault))
            }
            (Some(Some(_)), _) => Ok(()),
        }
    }

    fn check_scan(
        &mut self,
        step: &ReplayStep,
        key: &[u8],
        outcome: &mut StepOutcome,
    ) -> Result<(), WorkloadError> {
        let ReadBuffer { key: first, value, records, scanned_bytes, .. } = &self.read_buffer;
        if *records > step.records {
            return Err(wrong_data(step, key, "was followed by more records than the scan asked for"));
        }
        if *records > 0 {
            let hash = key_hash(first);
            let is_right =
                first.as_slice() >= key && self.values.check(hash, value, &mut self.scratch).is_ok();
            if !is_right {
                return Err(wrong_data(step, key, "or the first one after it is not what was written"));
            }
            outcome.read_bytes = *scanned_bytes;
        }
        Ok(())
    }
}

impl<'s> Worker<dyn Session + '_, &'s Series> for Player<'_> {
    type Failed = WorkloadError;

    fn round(
        &mut self,
        session: &mut (dyn Session + '_),
        series: &'s Series,
        approach: BarrierGuard<'_>,
    ) -> Result<TimedPart, WorkloadError> {
        let incoming = self.incoming.take();
        let incoming = incoming.ok_or_else(|| WorkloadError::harness("the trace was played already"))?;
        let mut seconds =
            series.thread(self.thread, self.main_latencies()).map_err(WorkloadError::harness)?;
        let started = approach.cross()?;
        seconds.restart();
        let start = started.start + self.clock.ticks(LEAD_NS) as u64;
        let part = self.play(session, &incoming, (start, &started.stopped()), &mut seconds)?;
        seconds.finish(self.main_latencies()).map_err(WorkloadError::harness)?;
        Ok(part)
    }
}

/// When a step is due by the clock, if the first one is due at `first`.
#[inline(always)]
fn due_ticks(clock: &Clock, first: u64, step: &ReplayStep) -> u64 {
    first + clock.ticks(step.due_ns as f64) as u64
}

/// The store's call, or the two of a modify; gives whether the key was there.
#[inline(always)]
fn call_store(
    session: &mut dyn Session,
    step: &ReplayStep,
    key: &[u8],
    value: &[u8],
    read_buffer: &mut ReadBuffer,
) -> StoreResult<bool> {
    match step.operation {
        TraceOperation::Get if session.copied().is_some() => session.get(key, &mut |_| ()),
        TraceOperation::Get => session.get(key, &mut |value| read_buffer.copy_value(value)),
        TraceOperation::Set => session.set(key, value).map(|()| true),
        TraceOperation::Modify => {
            let found = session.get(key, &mut |value| read_buffer.copy_value(value))?;
            session.set(key, value).map(|()| found)
        }
        TraceOperation::Remove => match session.remove(key) {
            Ok(()) => Ok(true),
            Err(StoreError::Missing) => Ok(false),
            Err(error) => Err(error),
        },
        TraceOperation::Scan => {
            (read_buffer.records, read_buffer.scanned_bytes) = (0, 0);
            let family = read_buffer.ends_with_family.then(|| family_of(key));
            let mut visit = |key: &[u8], value: &[u8]| {
                if family.is_none_or(|family| family == family_of(key)) {
                    read_buffer.add_record(key, value);
                }
            };
            session.scan(key, step.records, &mut visit)?;
            Ok(read_buffer.records > 0)
        }
        TraceOperation::Skip => Ok(false),
    }
}

#[cold]
fn store_error(step: &ReplayStep, key: &[u8], error: &StoreError) -> WorkloadError {
    WorkloadError::store(&format!("{} of {}", step.operation.name(), describe_operation(step, key)), error)
}

#[cold]
fn wrong_data(step: &ReplayStep, key: &[u8], fault: &str) -> WorkloadError {
    WorkloadError::wrong_data(format!("the value of {} {fault}", describe_operation(step, key)))
}

fn describe_operation(step: &ReplayStep, key: &[u8]) -> String {
    let key: String = String::from_utf8_lossy(key).chars().take(80).collect();
    format!("key {} (operation {} of the trace)", quoted(&key), step.position)
}
