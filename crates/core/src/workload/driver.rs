//! The timed loop. Operations are planned in quanta, with keys and values made before the clock starts; each is timed from just
//! before the store's call to just after it; latencies are recorded when the quantum has ended.

use std::ops::Range;

use storebench_model::result::WrittenRecords;
use storebench_model::store::{Session, StoreError};
use storebench_model::units::as_text;
use storebench_model::words::words;

use crate::measure::clock::Clock;
use crate::measure::latency::Latencies;
use crate::measure::syncs::{self, Syncs};
use crate::record::{KEY_BYTES, Key, Records};
use crate::workload::operation::Operation;
use crate::workload::pacer::Pacer;
pub use crate::workload::quanta::QUANTUM_OPERATIONS;
use crate::workload::read_buffer::ReadBuffer;
use crate::workload::recorder;
use crate::workload::workload_error::WorkloadError;

/// The application's use of a value that it gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::VariantNames, strum::VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Visit {
    /// Copies it into a buffer, as most applications do, unless the session does ([`Session::copied`]).
    Copy,
    /// Reads a byte of every cache line where it lies.
    Touch,
}

words!(Visit, "{} is nothing to do with a value: use copy or touch");
as_text!(Visit);

#[derive(Debug, Clone)]
struct PlannedOperation {
    operation: Operation,
    timed: bool,
    /// Whether it puts back a record that was just removed.
    puts_back: bool,
    version: u8,
    index: u64,
    value: Range<usize>,
}

/// Some operations with their keys and values. Its memory is taken once and kept.
#[derive(Debug)]
pub struct Quantum {
    planned: Vec<PlannedOperation>,
    keys: Vec<Key>,
    arena: Vec<u8>,
    ticks: Vec<u64>,
    reads: bool,
}

/// Value bytes that fill a quantum: a share of the second-level cache, so that small values stay there.
const QUANTUM_BYTES: usize = 256 << 10;

impl Quantum {
    /// An empty quantum for values of up to `largest_value` bytes.
    pub fn new(largest_value: usize) -> Quantum {
        let mut arena = vec![1; QUANTUM_BYTES + 2 * largest_value];
        arena.clear();
        Quantum {
            planned: Vec::with_capacity(QUANTUM_OPERATIONS),
            keys: Vec::with_capacity(QUANTUM_OPERATIONS),
            arena,
            ticks: vec![0; QUANTUM_OPERATIONS],
            reads: false,
        }
    }

    /// Forgets what was planned.
    pub fn clear(&mut self) {
        self.planned.clear();
        self.keys.clear();
        self.arena.clear();
        self.reads = false;
    }

    pub(crate) fn has_room_for(&self, more: usize) -> bool {
        self.planned.len() + more <= QUANTUM_OPERATIONS && self.arena.len() < QUANTUM_BYTES
    }

    /// The records that its operations hand to the store.
    pub fn written(&self) -> WrittenRecords {
        let writes =
            |planned: &&PlannedOperation| matches!(planned.operation, Operation::Insert | Operation::Update);
        let records = self.planned.iter().filter(writes).count() as u64;
        WrittenRecords {
            records,
            key_bytes: records * KEY_BYTES as u64,
            value_bytes: self.arena.len() as u64,
        }
    }

    /// Plans an operation on the record at `index`. `version` is written, or expected to be read.
    #[inline]
    pub fn plan(&mut self, records: &Records, operation: Operation, index: u64, version: u8, timed: bool) {
        let start = self.arena.len();
        match operation {
            Operation::Insert | Operation::Update => {
                records.append_value(index, version, &mut self.arena);
            }
            Operation::Get => self.reads = true,
            Operation::Remove => {}
        }
        self.keys.push(records.key(index));
        let value = start..self.arena.len();
        self.planned.push(PlannedOperation { operation, timed, puts_back: false, version, index, value });
    }

    /// Plans to check that a removed record is gone, and to put it back, untimed.
    pub(crate) fn plan_put_back(&mut self, records: &Records, index: u64, version: u8) {
        self.plan(records, Operation::Insert, index, version, false);
        if let Some(planned) = self.planned.last_mut() {
            planned.puts_back = true;
        }
    }
}

pub(crate) type Recorder = recorder::Recorder<{ Operation::ALL.len() }>;

/// Untimed work: warm-ups, and records put back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct UntimedWork {
    /// In the order of [`Operation::ALL`].
    pub counts: [u64; Operation::ALL.len()],
    pub ticks: u64,
    /// By the working threads.
    pub syncs: Syncs,
}

impl UntimedWork {
    pub fn count(&self, operation: Operation) -> u64 {
        self.counts[operation as usize]
    }

    pub fn note(&mut self, operation: Operation) {
        self.counts[operation as usize] += 1;
    }

    /// Adds work on another thread, or later.
    pub fn add(&mut self, other: &UntimedWork) {
        self.counts.iter_mut().zip(other.counts).for_each(|(mine, theirs)| *mine += theirs);
        self.ticks += other.ticks;
        self.syncs = self.syncs.plus(&other.syncs);
    }
}

/// Drives one session.
pub struct Driver<'a> {
    clock: &'a Clock,
    records: &'a Records,
    visit: Visit,
    /// Whether reads can be checked: not with a store that keeps nothing.
    checks_reads: bool,
    /// Whether the session copies what is read ([`Session::copied`]).
    copied: bool,
    /// Removed keys that were looked for before they were put back, and were gone.
    pub(crate) seen_gone: u64,
    read_buffer: ReadBuffer,
    pub(crate) recorder: Recorder,
    /// Since it was last taken.
    pub(crate) untimed: UntimedWork,
    pacer: Option<Pacer>,
}

impl<'a> Driver<'a> {
    /// Takes and touches all memory that it will ever use, except the buffer that values are copied into: that counts as the
    /// application's, so that stores with and without their own buffers are charged alike.
    pub fn new(
        clock: &'a Clock,
        records: &'a Records,
        visit: Visit,
        checks_reads: bool,
    ) -> Result<Driver<'a>, String> {
        let read_buffer = ReadBuffer::new(visit == Visit::Touch, records.largest_value());
        let (recorder, untimed) = (Recorder::new()?, UntimedWork::default());
        Ok(Driver {
            clock,
            records,
            visit,
            checks_reads,
            copied: false,
            seen_gone: 0,
            read_buffer,
            recorder,
            untimed,
            pacer: None,
        })
    }

    /// The measurements.
    pub fn finish(self) -> Recorder {
        self.recorder
    }

    /// The number of operations that were timed so far.
    pub fn timed(&self) -> u64 {
        self.recorder.all().iter().map(|record| record.latencies.count()).sum()
    }

    pub(crate) fn add_measured(&mut self, recorder: &Recorder, seen_gone: u64) -> Result<(), String> {
        self.seen_gone += seen_gone;
        self.recorder.merge(recorder)
    }

    /// Latencies of `operation` so far.
    pub fn latencies(&self, operation: Operation) -> &Latencies {
        self.recorder.latencies(operation as usize)
    }

    /// From now on operations begin by the pacer (open loop), or each after the one before it (closed loop). Gives back the earlier pacer.
    pub(crate) fn set_pacer(&mut self, pacer: Option<Pacer>) -> Option<Pacer> {
        std::mem::replace(&mut self.pacer, pacer)
    }

    /// Does what was planned. Stops at the first operation that fails or reads what is wrong.
    pub fn run(&mut self, session: &mut dyn Session, quantum: &mut Quantum) -> Result<(), WorkloadError> {
        let Quantum { planned, keys, arena, ticks, reads } = quantum;
        self.copied = session.copied().is_some();
        if *reads && !self.copied {
            self.read_buffer.make_room_for(self.records.largest_value());
        }
        let mut completed = 0;
        let mut result = Ok(());
        for ((planned, key), ticks) in planned.iter().zip(keys.iter()).zip(ticks.iter_mut()) {
            let value = &arena[planned.value.clone()];
            let outcome = if planned.timed {
                self.run_operation(session, planned, key, value)
            } else {
                self.run_untimed(session, planned, key, value)
            };
            match outcome {
                Ok(elapsed) => *ticks = elapsed,
                Err(stop) => {
                    self.recorder.kind_record_mut(planned.operation as usize).errors += 1;
                    result = Err(stop);
                    break;
                }
            }
            completed += 1;
        }
        for (planned, ticks) in
            planned[..completed].iter().zip(ticks.iter()).filter(|(planned, _)| planned.timed)
        {
            let record = self.recorder.kind_record_mut(planned.operation as usize);
            record.latencies.record(self.clock.nanoseconds(0, *ticks).max(1));
            record.value_bytes += planned.value.len() as u64;
        }
        result
    }

    /// The moment from which a latency counts: now, or when the operation was due.
    #[inline(always)]
    fn latency_start(&mut self, timed: bool) -> u64 {
        match &mut self.pacer {
            Some(pacer) if timed => pacer.wait(self.clock),
            _ => self.clock.now(),
        }
    }

    /// Does one operation; gives the ticks of the store's call.
    #[inline(always)]
    fn run_operation(
        &mut self,
        session: &mut dyn Session,
        planned: &PlannedOperation,
        key: &Key,
        value: &[u8],
    ) -> Result<u64, WorkloadError> {
        match planned.operation {
            Operation::Insert => self.write(planned, key, || session.insert(key, value)),
            Operation::Update => self.write(planned, key, || session.update(key, value)),
            Operation::Remove => self.write(planned, key, || session.remove(key)),
            Operation::Get => self.get(session, planned, key),
        }
    }

    #[inline(always)]
    fn write(
        &mut self,
        planned: &PlannedOperation,
        key: &Key,
        call: impl FnOnce() -> storebench_model::store::Result<()>,
    ) -> Result<u64, WorkloadError> {
        let start = self.latency_start(planned.timed);
        let result = call();
        let end = self.clock.now();
        result.map_err(|error| store_error(planned, key, &error))?;
        Ok(end.saturating_sub(start))
    }

    /// Does one untimed operation: its time and syncs are counted separately, and it makes no other late.
    #[inline(never)]
    fn run_untimed(
        &mut self,
        session: &mut dyn Session,
        planned: &PlannedOperation,
        key: &Key,
        value: &[u8],
    ) -> Result<u64, WorkloadError> {
        let before = syncs::count_this_thread();
        // Looking whether a removed key is gone is no more the schedule's than putting it back.
        let start = self.clock.now();
        if planned.puts_back && self.checks_reads {
            self.check_gone(session, planned, key)?;
        }
        let result = self.run_operation(session, planned, key, value);
        let end = self.clock.now();
        self.untimed.note(planned.operation);
        self.untimed.ticks += end.saturating_sub(start);
        if let Some(pacer) = &mut self.pacer {
            pacer.postpone_for_untimed(start, end);
        }
        self.untimed.syncs = self.untimed.syncs.plus(&syncs::count_this_thread().since(&before));
        result
    }

    /// Checks that a removed record is gone.
    fn check_gone(
        &mut self,
        session: &mut dyn Session,
        planned: &PlannedOperation,
        key: &Key,
    ) -> Result<(), WorkloadError> {
        match session.get(key, &mut |_| ()) {
            Ok(false) => {
                self.seen_gone += 1;
                Ok(())
            }
            Ok(true) => Err(wrong_data(planned, key, "is still there, though it was just removed")),
            Err(error) => Err(store_error(planned, key, &error)),
        }
    }

    #[inline(always)]
    fn get(
        &mut self,
        session: &mut dyn Session,
        planned: &PlannedOperation,
        key: &Key,
    ) -> Result<u64, WorkloadError> {
        let start = self.latency_start(planned.timed);
        let read_buffer = &mut self.read_buffer;
        let result = match self.visit {
            Visit::Copy if self.copied => session.get(key, &mut |value| read_buffer.length = value.len()),
            Visit::Copy => session.get(key, &mut |value| read_buffer.copy(value)),
            Visit::Touch => session.get(key, &mut |value| read_buffer.touch(value)),
        };
        let end = self.clock.now();
        match result {
            Ok(true) if !self.checks_reads => {}
            Ok(true) => self.check_value(session, planned, key)?,
            Ok(false) => return Err(wrong_data(planned, key, "is missing")),
            Err(error) => return Err(store_error(planned, key, &error)),
        }
        Ok(end.saturating_sub(start))
    }

    /// Checks the value just read, untimed. One that was only touched, and is not copied by the session, is read once more.
    fn check_value(
        &mut self,
        session: &mut dyn Session,
        planned: &PlannedOperation,
        key: &Key,
    ) -> Result<(), WorkloadError> {
        if self.visit == Visit::Touch && !self.copied {
            let read_buffer = &mut self.read_buffer;
            session
                .get(key, &mut |value| read_buffer.copy(value))
                .map_err(|error| store_error(planned, key, &error))?;
        }
        let value = if self.copied { session.copied() } else { self.read_buffer.value() }.unwrap_or_default();
        if !self.records.is_value(planned.index, planned.version, value) {
            let expected = self.records.value_length(planned.index, planned.version);
            let fault = format!(
                "is wrong: {} bytes, but {expected} were written, or other bytes",
                self.read_buffer.length
            );
            return Err(wrong_data(planned, key, &fault));
        }
        self.recorder.kind_record_mut(Operation::Get as usize).value_bytes += value.len() as u64;
        Ok(())
    }
}

#[cold]
fn store_error(planned: &PlannedOperation, key: &Key, error: &StoreError) -> WorkloadError {
    let doing = format!("{} of {}", planned.operation.name(), record_text(planned, key));
    WorkloadError { operation: Some(planned.operation), ..WorkloadError::store(&doing, error) }
}

#[cold]
fn wrong_data(planned: &PlannedOperation, key: &Key, fault: &str) -> WorkloadError {
    let message = format!("the value of {} {fault}", record_text(planned, key));
    WorkloadError { operation: Some(planned.operation), ..WorkloadError::wrong_data(message) }
}

fn record_text(planned: &PlannedOperation, key: &Key) -> String {
    format!("record {} (key {})", planned.index, String::from_utf8_lossy(key))
}

#[cfg(test)]
mod tests;
