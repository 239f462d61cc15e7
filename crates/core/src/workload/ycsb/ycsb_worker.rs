//! One thread's work: requests are planned some at a time, with their keys; then each is timed from just before the store's call
//! to just after it. A value to write is made right before, what was read is checked right after.

use super::definition::Kind;
use super::law::{LengthChooser, Requests};
use super::name::Name;
use super::recorder::{Recorder, Slot, calls_ns};
use super::scanned_records::ScannedRecords;
use super::shared::YcsbContext;
use super::versions::{BegunWrite, KnownVersions};
use crate::measure::series::Seconds;
use crate::result::{Failure, WrittenRecords};
use crate::store::{Session, StoreError};
use crate::workload::batch::touched;
use crate::workload::elapsed::TimedPart;
use crate::workload::pacer::Pacer;
use crate::workload::quanta::{QUANTUM_OPERATIONS, largest_quantum, run_in_quanta};
use crate::workload::read_buffer::ReadBuffer;
use crate::workload::start_barrier::BarrierGuard;
use crate::workload::worker_pool;
use crate::workload::workload_error::WorkloadError;

#[derive(Debug, Clone, Copy)]
struct PlannedRequest {
    kind: Kind,
    record: u64,
    /// The field to read or update.
    field: u64,
    length: u64,
    name: Name,
}

/// One thread's work, with all of its memory.
pub(crate) struct YcsbWorker<'a> {
    thread: u64,
    shared: &'a YcsbContext<'a>,
    requests: Requests,
    lengths: LengthChooser,
    turn: u64,
    planned: Vec<PlannedRequest>,
    value: Vec<u8>,
    replaced: Vec<u8>,
    seen: ReadBuffer,
    scanned: ScannedRecords,
    /// The oldest versions in which the current record may be read.
    floors: Vec<u32>,
    ticks: Vec<(Slot, u64)>,
    recorder: Recorder,
    measured: Vec<Recorder>,
    spare: Vec<Recorder>,
    pacer: Option<Pacer>,
    copied: bool,
    has_begun: bool,
    written: WrittenRecords,
    /// Writes that certainly changed what the store holds.
    writes: u64,
}

impl<'a> YcsbWorker<'a> {
    pub fn new(shared: &'a YcsbContext<'a>, thread: u64, seed: u64) -> Result<YcsbWorker<'a>, String> {
        let work = &shared.work;
        let (largest, scans) = (shared.fields.largest(), shared.definition().includes(Kind::Scan));
        let of_many = (thread, work.threads);
        let scanned = if scans { shared.definition().scan.most } else { 0 };
        Ok(YcsbWorker {
            thread,
            shared,
            requests: Requests::new(shared.definition().distribution, work.space(), seed, of_many)?,
            lengths: LengthChooser::new(shared.definition().scan, seed ^ thread)?,
            turn: thread << 32,
            planned: Vec::with_capacity(QUANTUM_OPERATIONS),
            value: touched(largest as u64),
            replaced: touched(largest as u64),
            seen: ReadBuffer::new(false, largest),
            scanned: ScannedRecords::new(scanned, largest, shared.versions.slots()),
            floors: vec![1; shared.versions.slots()],
            ticks: Vec::with_capacity(QUANTUM_OPERATIONS * Slot::COUNT),
            recorder: Recorder::new()?,
            measured: Vec::with_capacity(work.rounds),
            spare: (1..work.rounds).map(|_| Recorder::new()).collect::<Result<_, _>>()?,
            pacer: None,
            copied: false,
            has_begun: false,
            written: WrittenRecords::default(),
            writes: 0,
        })
    }

    fn begin_another(&mut self) -> Result<(), WorkloadError> {
        let spare =
            self.spare.pop().ok_or_else(|| WorkloadError::harness("there is no memory for another round"))?;
        self.measured.push(std::mem::replace(&mut self.recorder, spare));
        Ok(())
    }

    /// Plans up to `most` requests; gives their number. Versions of their records are read in one go, so that memory is waited
    /// for once, not for each.
    fn plan(&mut self, most: u64) -> u64 {
        let shared = self.shared;
        self.planned.clear();
        for _ in 0..most {
            let Some(planned) = self.draw() else { break };
            self.planned.push(planned);
        }
        let known = self.planned.iter().fold(0, |known, one| known ^ shared.versions.floor(one.record, 0));
        std::hint::black_box(known);
        let naming = shared.definition().naming;
        self.planned.iter_mut().for_each(|one| one.name = naming.name(one.record));
        self.planned.len() as u64
    }

    /// Draws a request, without its key; `None` if there is no room for more records.
    #[inline]
    fn draw(&mut self) -> Option<PlannedRequest> {
        let shared = self.shared;
        let kind = Kind::ALL[shared.turns.choose(self.turn)];
        let record = match kind {
            Kind::Insert => shared.versions.take()?,
            // Records that this thread has planned to insert are there by then, if there is no other thread.
            _ if shared.versions.is_shared() => self.requests.next(shared.versions.live()),
            _ => self.requests.next(shared.versions.inserted()),
        };
        self.turn = self.turn.wrapping_add(1);
        let of_one = shared.definition().is_of_one_field(kind);
        let field = if of_one { self.requests.one_of(shared.fields.count()) } else { 0 };
        let length = if kind == Kind::Scan { self.lengths.draw() } else { 0 };
        Some(PlannedRequest { kind, record, field, length, name: Name::EMPTY })
    }

    fn quantum(&mut self, session: &mut dyn Session) -> Result<(), WorkloadError> {
        self.ticks.clear();
        if !self.copied {
            self.seen.make_room_for(self.shared.fields.largest());
        }
        let mut done = Ok(());
        let planned = std::mem::take(&mut self.planned);
        for one in &planned {
            done = self.run_request(session, one);
            if done.is_err() {
                break;
            }
        }
        self.planned = planned;
        for (slot, ticks) in &self.ticks {
            self.recorder.record(*slot as usize, self.shared.clock.nanoseconds(0, *ticks).max(1));
        }
        done
    }

    #[inline]
    fn run_request(
        &mut self,
        session: &mut dyn Session,
        planned: &PlannedRequest,
    ) -> Result<(), WorkloadError> {
        let slot = Slot::from_kind(planned.kind);
        let start = |worker: &mut YcsbWorker<'a>| worker.start();
        let ticks = match planned.kind {
            Kind::Read => self.read(session, planned, slot, start)?,
            Kind::Update => self.update(session, planned, slot, start)?,
            Kind::Insert => self.insert(session, planned)?,
            Kind::Scan => self.scan(session, planned)?,
            Kind::ReadModifyWrite => {
                let read = self.read(session, planned, Slot::PartRead, start)?;
                self.ticks.push((Slot::PartRead, read));
                // The value that was read has been checked meanwhile; what follows belongs to the same request.
                let update =
                    self.update(session, planned, Slot::PartUpdate, |worker| worker.shared.clock.now())?;
                self.ticks.push((Slot::PartUpdate, update));
                read + update
            }
        };
        self.ticks.push((slot, ticks));
        Ok(())
    }

    /// The moment from which a request's latency counts: now, or when it was due.
    #[inline(always)]
    fn start(&mut self) -> u64 {
        match &mut self.pacer {
            Some(pacer) => pacer.wait(self.shared.clock),
            None => self.shared.clock.now(),
        }
    }

    /// Notes what a read that begins now may show. With one thread, that is known afterwards, too.
    #[inline(always)]
    fn note(&mut self, record: u64) {
        if self.shared.versions.is_shared() {
            self.shared.versions.note(record, &mut self.floors);
        }
    }

    #[inline(always)]
    fn read(
        &mut self,
        session: &mut dyn Session,
        planned: &PlannedRequest,
        slot: Slot,
        begin: impl FnOnce(&mut YcsbWorker<'a>) -> u64,
    ) -> Result<u64, WorkloadError> {
        self.note(planned.record);
        let start = begin(self);
        let seen = &mut self.seen;
        let result = if self.copied {
            session.get(planned.name.bytes(), &mut |value| seen.length = value.len())
        } else {
            session.get(planned.name.bytes(), &mut |value| seen.copy(value))
        };
        let end = self.shared.clock.now();
        self.check_found(planned, result)?;
        if self.shared.check {
            let value = if self.copied { session.copied() } else { self.seen.value() };
            let (value, length) = (value.unwrap_or_default(), self.seen.length);
            check(self.shared, &mut self.floors, planned, value, length)?;
            self.recorder.kind_record_mut(slot as usize).value_bytes += length as u64;
        }
        Ok(end.saturating_sub(start))
    }

    /// Writes a value; or reads one, replaces a field and writes it, as an application that keeps a record as one value.
    #[inline(always)]
    fn update(
        &mut self,
        session: &mut dyn Session,
        planned: &PlannedRequest,
        slot: Slot,
        begin: impl FnOnce(&mut YcsbWorker<'a>) -> u64,
    ) -> Result<u64, WorkloadError> {
        let shared = self.shared;
        let PlannedRequest { record, name, .. } = planned;
        let partial = shared.definition().is_partial();
        let field = if partial { planned.field } else { 0 };
        let begun = if partial { self.begin_field(planned) } else { shared.versions.begin(*record, 0) };
        if partial {
            shared.fields.make_field(*record, field, begun.version, &mut self.value);
        } else {
            shared.fields.make(*record, begun.version, &mut self.value);
        }
        let start = begin(self);
        let read = if partial { Some(self.replace_field(session, planned)) } else { None };
        let replaced = read.as_ref().is_some_and(|(_, replaced)| *replaced);
        let new = if replaced { &self.replaced } else { &self.value };
        let result = session.update(name.bytes(), new);
        let end = shared.clock.now();
        let bytes = new.len();
        if let Some((read, replaced)) = read {
            self.check_replaced(planned, read, replaced)?;
        }
        result.map_err(|error| failed(planned, &error))?;
        shared.versions.end(*record, field, begun);
        self.wrote(slot, planned, bytes);
        Ok(end.saturating_sub(start))
    }

    /// Begins a write of one field, and notes what the value around it may be.
    #[inline(always)]
    fn begin_field(&mut self, planned: &PlannedRequest) -> BegunWrite {
        let shared = self.shared;
        // Its own write will change them.
        shared.versions.note(planned.record, &mut self.floors);
        self.seen.make_room_for(shared.fields.largest());
        shared.versions.begin(planned.record, planned.field)
    }

    /// Reads a value and replaces a field; gives whether it was a value.
    #[inline(always)]
    fn replace_field(
        &mut self,
        session: &mut dyn Session,
        planned: &PlannedRequest,
    ) -> (Result<bool, StoreError>, bool) {
        let seen = &mut self.seen;
        let read = session.get(planned.name.bytes(), &mut |value| seen.copy(value));
        let old = self.seen.value().unwrap_or_default();
        let replaced = self.shared.fields.replace(old, planned.field, &self.value, &mut self.replaced);
        (read, replaced)
    }

    /// Checks the value in which a field was replaced.
    #[inline(always)]
    fn check_replaced(
        &self,
        planned: &PlannedRequest,
        read: Result<bool, StoreError>,
        replaced: bool,
    ) -> Result<(), WorkloadError> {
        let shared = self.shared;
        self.check_found(planned, read)?;
        let newest = shared.versions.newest(planned.record, &self.floors);
        let old = self.seen.value().unwrap_or_default();
        let is_value =
            || shared.fields.is_value(planned.record, &KnownVersions::from_slots(&self.floors, newest), old);
        match shared.check && !(replaced && is_value()) {
            true => Err(wrong_data(planned, &not_last(self.seen.length))),
            false => Ok(()),
        }
    }

    #[inline(always)]
    fn insert(&mut self, session: &mut dyn Session, planned: &PlannedRequest) -> Result<u64, WorkloadError> {
        let shared = self.shared;
        shared.fields.make(planned.record, 1, &mut self.value);
        let start = self.start();
        let result = session.insert(planned.name.bytes(), &self.value);
        let end = shared.clock.now();
        result.map_err(|error| failed(planned, &error))?;
        shared.versions.insert(planned.record);
        self.wrote(Slot::Insert, planned, self.value.len());
        Ok(end.saturating_sub(start))
    }

    #[inline(always)]
    fn scan(&mut self, session: &mut dyn Session, planned: &PlannedRequest) -> Result<u64, WorkloadError> {
        let shared = self.shared;
        // Not what is planned to be inserted after it.
        let there = shared.versions.live();
        self.scanned.clear();
        let start = self.start();
        let scanned = &mut self.scanned;
        let result = session.scan(planned.name.bytes(), planned.length as usize, &mut |key, value| {
            scanned.add(key, value);
        });
        let end = shared.clock.now();
        let told = result.map_err(|error| failed(planned, &error))?;
        if shared.check {
            let checked = self.scanned.check(shared, planned.record, planned.length, there, told);
            checked.map_err(|what| wrong_data(planned, &what))?;
        }
        self.recorder.kind_record_mut(Slot::Scan as usize).value_bytes += self.scanned.value_bytes();
        Ok(end.saturating_sub(start))
    }

    #[inline(always)]
    fn wrote(&mut self, slot: Slot, planned: &PlannedRequest, bytes: usize) {
        self.recorder.kind_record_mut(slot as usize).value_bytes += bytes as u64;
        self.written.records += 1;
        self.written.key_bytes += planned.name.bytes().len() as u64;
        self.written.value_bytes += bytes as u64;
        self.writes += u64::from(planned.kind == Kind::Insert || !self.shared.alike);
    }

    #[inline(always)]
    fn check_found(
        &self,
        planned: &PlannedRequest,
        result: Result<bool, StoreError>,
    ) -> Result<(), WorkloadError> {
        match result {
            Ok(found) if found || !self.shared.check => Ok(()),
            Ok(_) => Err(wrong_data(planned, "is missing")),
            Err(error) => Err(failed(planned, &error)),
        }
    }

    /// The records handed to the store, and the writes that certainly changed it.
    pub fn written(&self) -> (WrittenRecords, u64) {
        (self.written, self.writes)
    }

    pub fn finish(mut self) -> Vec<Recorder> {
        self.measured.push(self.recorder);
        self.measured
    }
}

impl YcsbWorker<'_> {
    /// Does the thread's requests, in quanta, while `goes_on`, or until there is no room for more records.
    fn run_quanta(
        &mut self,
        session: &mut dyn Session,
        goes_on: impl Fn() -> bool,
        seconds: &mut Seconds<'_>,
    ) -> Result<(), WorkloadError> {
        let work = &self.shared.work;
        let main = Slot::from_kind(self.shared.definition().main());
        run_in_quanta(work.operations_of(self.thread), largest_quantum(work.rate), goes_on, |most| {
            let planned = self.plan(most);
            self.quantum(session)?;
            seconds.add_latencies(self.recorder.latencies(main as usize)).map_err(WorkloadError::harness)?;
            Ok(planned)
        })
    }
}

impl worker_pool::Worker<dyn Session + '_, ()> for YcsbWorker<'_> {
    type Failed = WorkloadError;

    fn round(
        &mut self,
        session: &mut (dyn Session + '_),
        (): (),
        approach: BarrierGuard<'_>,
    ) -> Result<TimedPart, WorkloadError> {
        let shared = self.shared;
        if self.has_begun {
            self.begin_another()?;
        }
        self.has_begun = true;
        self.copied = session.copied().is_some();
        let main = Slot::from_kind(shared.definition().main());
        let latencies = self.recorder.latencies(main as usize);
        let mut seconds =
            shared.series.thread(self.thread as usize, latencies).map_err(WorkloadError::harness)?;
        let started = approach.cross()?;
        seconds.restart();
        let (begin, pacer) = started.start_work(shared.work.rate);
        self.pacer = pacer;
        self.run_quanta(session, || started.can_continue(begin, shared.work.until), &mut seconds)?;
        let end = shared.clock.now();
        seconds.finish(self.recorder.latencies(main as usize)).map_err(WorkloadError::harness)?;
        Ok(TimedPart { begin, end, calls_ns: calls_ns(&self.recorder), ..TimedPart::default() })
    }
}

/// Checks a read against the versions that it may have.
#[inline(always)]
fn check(
    shared: &YcsbContext<'_>,
    floors: &mut [u32],
    planned: &PlannedRequest,
    value: &[u8],
    length: usize,
) -> Result<(), WorkloadError> {
    if !shared.versions.is_shared() {
        shared.versions.note(planned.record, floors);
    }
    let newest = shared.versions.newest(planned.record, floors);
    let known = KnownVersions::from_slots(floors, newest);
    let right = if shared.definition().reads_one_field() {
        shared.fields.is_field(planned.record, planned.field, &known, value)
    } else {
        shared.fields.is_value(planned.record, &known, value)
    };
    if right { Ok(()) } else { Err(wrong_data(planned, &not_last(length))) }
}

#[cold]
fn not_last(length: usize) -> String {
    format!("is wrong: {length} bytes that were not written last")
}

#[cold]
fn failed(planned: &PlannedRequest, error: &StoreError) -> WorkloadError {
    let PlannedRequest { kind, record, name, .. } = planned;
    let key = String::from_utf8_lossy(name.bytes());
    WorkloadError::store(&format!("{} of record {record} (key {key})", kind.name()), error)
}

#[cold]
fn wrong_data(planned: &PlannedRequest, what: &str) -> WorkloadError {
    let PlannedRequest { kind, record, name, .. } = planned;
    let key = String::from_utf8_lossy(name.bytes());
    let message = match kind {
        Kind::Scan => format!("a scan from record {record} (key {key}) {what}"),
        _ => format!("the value of record {record} (key {key}) {what}"),
    };
    WorkloadError { failure: Failure::WrongData, message, operation: None }
}
