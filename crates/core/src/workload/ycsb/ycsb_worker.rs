//! One thread's work: requests are planned some at a time, with their keys; then each is timed from just before the store's call
//! to just after it. A value to write is made right before, what was read is checked right after.

use storebench_model::result::WrittenRecords;
use storebench_model::store::{Session, StoreError};

use super::choice::{KeySpace, LengthChooser, RecordChooser};
use super::definition::Kind;
use super::record_key::RecordKey;
use super::recorder::{PART_READ, PART_UPDATE, PLACES, Recorder, calls_ns};
use super::scanned_records::ScannedRecords;
use super::shared::YcsbContext;
use super::versions::KnownVersions;
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
    key: RecordKey,
}

/// One thread's work, with all of its memory.
pub(crate) struct YcsbWorker<'a> {
    thread: u64,
    shared: &'a YcsbContext<'a>,
    chooser: RecordChooser,
    lengths: LengthChooser,
    turn: u64,
    queue: Vec<PlannedRequest>,
    value: Vec<u8>,
    replaced_value: Vec<u8>,
    read_buffer: ReadBuffer,
    scanned: ScannedRecords,
    /// The oldest versions in which the current record may be read.
    floors: Vec<u32>,
    ticks: Vec<(usize, u64)>,
    /// Of the round that is done next, or the last one.
    recorder: Recorder,
    finished_rounds: Vec<Recorder>,
    spare_recorders: Vec<Recorder>,
    pacer: Option<Pacer>,
    store_copies: bool,
    /// The records handed to the store.
    pub written: WrittenRecords,
    /// Writes that certainly changed what the store holds.
    pub writes: u64,
}

impl<'a> YcsbWorker<'a> {
    pub fn new(shared: &'a YcsbContext<'a>, thread: u64, seed: u64) -> Result<YcsbWorker<'a>, String> {
        let work = &shared.work;
        let (largest, scans) = (shared.fields.largest(), shared.definition().includes(Kind::Scan));
        let space = KeySpace { loaded: work.loaded, max_records: work.most_records() };
        let longest_scan = if scans { shared.definition().scan.most } else { 0 };
        Ok(YcsbWorker {
            thread,
            shared,
            chooser: RecordChooser::new(work.definition.distribution, space, seed, (thread, work.threads))?,
            lengths: LengthChooser::new(shared.definition().scan, seed ^ thread)?,
            turn: thread << 32,
            queue: Vec::with_capacity(QUANTUM_OPERATIONS),
            value: touched(largest as u64),
            replaced_value: touched(largest as u64),
            read_buffer: ReadBuffer::new(false, largest),
            scanned: ScannedRecords::new(longest_scan, largest, shared.versions.slots()),
            floors: vec![1; shared.versions.slots()],
            ticks: Vec::with_capacity(QUANTUM_OPERATIONS * PLACES),
            recorder: Recorder::new()?,
            finished_rounds: Vec::with_capacity(work.rounds),
            spare_recorders: (1..work.rounds).map(|_| Recorder::new()).collect::<Result<_, _>>()?,
            pacer: None,
            store_copies: false,
            written: WrittenRecords::default(),
            writes: 0,
        })
    }

    /// Plans up to `max_requests` requests; gives their number. Versions of their records are read in one go, so that memory is
    /// waited for once, not for each.
    fn plan(&mut self, max_requests: u64) -> u64 {
        let shared = self.shared;
        self.queue.clear();
        for _ in 0..max_requests {
            let Some(request) = self.draw() else { break };
            self.queue.push(request);
        }
        let floors = self.queue.iter().map(|request| shared.versions.floor(request.record, 0));
        std::hint::black_box(floors.fold(0, |mixed, floor| mixed ^ floor));
        let naming = shared.definition().naming;
        self.queue.iter_mut().for_each(|request| request.key = naming.key(request.record));
        self.queue.len() as u64
    }

    /// Draws a request, without its key; `None` if there is no room for more records.
    #[inline]
    fn draw(&mut self) -> Option<PlannedRequest> {
        let shared = self.shared;
        let kind = Kind::ALL[shared.turns.choose(self.turn)];
        let record = match kind {
            Kind::Insert => shared.versions.claim_record()?,
            // Records that this thread has planned to insert are there by then, if there is no other thread.
            _ if shared.versions.is_shared() => self.chooser.next(shared.versions.live()),
            _ => self.chooser.next(shared.versions.inserted()),
        };
        self.turn = self.turn.wrapping_add(1);
        let uses_one_field = shared.definition().uses_one_field(kind);
        let field = if uses_one_field { self.chooser.choose_index(shared.fields.count) } else { 0 };
        let length = if kind == Kind::Scan { self.lengths.draw() } else { 0 };
        Some(PlannedRequest { kind, record, field, length, key: RecordKey::EMPTY })
    }

    fn run_quantum(&mut self, session: &mut dyn Session) -> Result<(), WorkloadError> {
        self.ticks.clear();
        if !self.store_copies {
            self.read_buffer.make_room_for(self.shared.fields.largest());
        }
        let mut result = Ok(());
        let queue = std::mem::take(&mut self.queue);
        for request in &queue {
            result = self.run_request(session, request);
            if result.is_err() {
                break;
            }
        }
        self.queue = queue;
        for (place, ticks) in &self.ticks {
            self.recorder.record(*place, self.shared.clock.nanoseconds(0, *ticks).max(1));
        }
        result
    }

    #[inline]
    fn run_request(
        &mut self,
        session: &mut dyn Session,
        request: &PlannedRequest,
    ) -> Result<(), WorkloadError> {
        let place = request.kind as usize;
        let ticks = match request.kind {
            Kind::Read => self.read(session, request, place)?,
            Kind::Update => self.update(session, request, place, Self::start)?,
            Kind::Insert => self.insert(session, request)?,
            Kind::Scan => self.scan(session, request)?,
            Kind::ReadModifyWrite => {
                let read = self.read(session, request, PART_READ)?;
                self.ticks.push((PART_READ, read));
                // The value that was read has been checked meanwhile; what follows belongs to the same request.
                let update =
                    self.update(session, request, PART_UPDATE, |worker| worker.shared.clock.now())?;
                self.ticks.push((PART_UPDATE, update));
                read + update
            }
        };
        self.ticks.push((place, ticks));
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

    #[inline(always)]
    fn read(
        &mut self,
        session: &mut dyn Session,
        request: &PlannedRequest,
        place: usize,
    ) -> Result<u64, WorkloadError> {
        // What it may show. With one thread, that is known afterwards, too.
        if self.shared.versions.is_shared() {
            self.shared.versions.copy_floors(request.record, &mut self.floors);
        }
        let start = self.start();
        let read_buffer = &mut self.read_buffer;
        let result = if self.store_copies {
            session.get(request.key.bytes(), &mut |value| read_buffer.length = value.len())
        } else {
            session.get(request.key.bytes(), &mut |value| read_buffer.copy(value))
        };
        let end = self.shared.clock.now();
        self.check_found(request, result)?;
        if self.shared.can_check {
            let value = if self.store_copies { session.copied() } else { self.read_buffer.value() };
            let (value, length) = (value.unwrap_or_default(), self.read_buffer.length);
            check(self.shared, &mut self.floors, request, value, length)?;
            self.recorder.kind_record_mut(place).value_bytes += length as u64;
        }
        Ok(end.saturating_sub(start))
    }

    /// Writes a value; or reads one, replaces a field and writes it, as an application that keeps a record as one value.
    #[inline(always)]
    fn update(
        &mut self,
        session: &mut dyn Session,
        request: &PlannedRequest,
        place: usize,
        begin: impl FnOnce(&mut YcsbWorker<'a>) -> u64,
    ) -> Result<u64, WorkloadError> {
        let shared = self.shared;
        let PlannedRequest { record, key, .. } = request;
        let is_partial = shared.definition().is_partial();
        let field = if is_partial { request.field } else { 0 };
        if is_partial {
            // What the value around the field may be: its own write will change that.
            shared.versions.copy_floors(*record, &mut self.floors);
            self.read_buffer.make_room_for(shared.fields.largest());
        }
        let write = shared.versions.begin_write(*record, field);
        if is_partial {
            shared.fields.make_field(*record, field, write.version, &mut self.value);
        } else {
            shared.fields.make(*record, write.version, &mut self.value);
        }
        let start = begin(self);
        let read = if is_partial { Some(self.replace_field(session, request)) } else { None };
        let was_replaced = read.as_ref().is_some_and(|(_, was_replaced)| *was_replaced);
        let new = if was_replaced { &self.replaced_value } else { &self.value };
        let result = session.update(key.bytes(), new);
        let end = shared.clock.now();
        let bytes = new.len();
        if let Some((read, was_replaced)) = read {
            self.check_replaced(request, read, was_replaced)?;
        }
        result.map_err(|error| store_error(request, &error))?;
        shared.versions.end_write(*record, field, write);
        self.count_write(place, request, bytes);
        Ok(end.saturating_sub(start))
    }

    /// Reads a value and replaces a field; gives whether it was a value.
    #[inline(always)]
    fn replace_field(
        &mut self,
        session: &mut dyn Session,
        request: &PlannedRequest,
    ) -> (Result<bool, StoreError>, bool) {
        let read_buffer = &mut self.read_buffer;
        let read = session.get(request.key.bytes(), &mut |value| read_buffer.copy(value));
        let old = self.read_buffer.value().unwrap_or_default();
        let was_replaced =
            self.shared.fields.replace(old, request.field, &self.value, &mut self.replaced_value);
        (read, was_replaced)
    }

    /// Checks the value in which a field was replaced.
    #[inline(always)]
    fn check_replaced(
        &self,
        request: &PlannedRequest,
        read: Result<bool, StoreError>,
        was_replaced: bool,
    ) -> Result<(), WorkloadError> {
        let shared = self.shared;
        self.check_found(request, read)?;
        let newest = shared.versions.newest(request.record, &self.floors);
        let old = self.read_buffer.value().unwrap_or_default();
        let is_value =
            || shared.fields.is_value(request.record, &KnownVersions::from_slots(&self.floors, newest), old);
        match shared.can_check && !(was_replaced && is_value()) {
            true => Err(wrong_data(request, &describe_stale(self.read_buffer.length))),
            false => Ok(()),
        }
    }

    #[inline(always)]
    fn insert(&mut self, session: &mut dyn Session, request: &PlannedRequest) -> Result<u64, WorkloadError> {
        let shared = self.shared;
        shared.fields.make(request.record, 1, &mut self.value);
        let start = self.start();
        let result = session.insert(request.key.bytes(), &self.value);
        let end = shared.clock.now();
        result.map_err(|error| store_error(request, &error))?;
        shared.versions.mark_inserted(request.record);
        self.count_write(Kind::Insert as usize, request, self.value.len());
        Ok(end.saturating_sub(start))
    }

    #[inline(always)]
    fn scan(&mut self, session: &mut dyn Session, request: &PlannedRequest) -> Result<u64, WorkloadError> {
        let shared = self.shared;
        // Not what is planned to be inserted after it.
        let live = shared.versions.live();
        self.scanned.clear();
        let start = self.start();
        let scanned = &mut self.scanned;
        let result = session.scan(request.key.bytes(), request.length as usize, &mut |key, value| {
            scanned.add(key, value);
        });
        let end = shared.clock.now();
        let reported = result.map_err(|error| store_error(request, &error))?;
        if shared.can_check {
            let result = self.scanned.check(shared, request.record, request.length, live, reported);
            result.map_err(|fault| wrong_data(request, &fault))?;
        }
        self.recorder.kind_record_mut(Kind::Scan as usize).value_bytes += self.scanned.value_bytes;
        Ok(end.saturating_sub(start))
    }

    #[inline(always)]
    fn count_write(&mut self, place: usize, request: &PlannedRequest, bytes: usize) {
        self.recorder.kind_record_mut(place).value_bytes += bytes as u64;
        self.written.records += 1;
        self.written.key_bytes += request.key.bytes().len() as u64;
        self.written.value_bytes += bytes as u64;
        self.writes += u64::from(request.kind == Kind::Insert || !self.shared.may_be_alike);
    }

    #[inline(always)]
    fn check_found(
        &self,
        request: &PlannedRequest,
        result: Result<bool, StoreError>,
    ) -> Result<(), WorkloadError> {
        match result {
            Ok(found) if found || !self.shared.can_check => Ok(()),
            Ok(_) => Err(wrong_data(request, "is missing")),
            Err(error) => Err(store_error(request, &error)),
        }
    }

    pub fn finish(mut self) -> Vec<Recorder> {
        self.finished_rounds.push(self.recorder);
        self.finished_rounds
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
        let (shared, work) = (self.shared, &self.shared.work);
        self.store_copies = session.copied().is_some();
        let main = work.definition.main_kind() as usize;
        let series = shared.series.thread(self.thread as usize, self.recorder.latencies(main));
        let mut seconds = series.map_err(WorkloadError::harness)?;
        let started = approach.cross()?;
        seconds.restart();
        let (begin, pacer) = started.start_work(work.rate);
        self.pacer = pacer;
        let goes_on = || started.can_continue(begin, work.time_limit);
        // Until there is no room for more records.
        run_in_quanta(
            work.operations_of(self.thread),
            largest_quantum(work.rate),
            goes_on,
            |max_requests| {
                let count = self.plan(max_requests);
                self.run_quantum(session)?;
                seconds.add_latencies(self.recorder.latencies(main)).map_err(WorkloadError::harness)?;
                Ok::<_, WorkloadError>(count)
            },
        )?;
        let end = shared.clock.now();
        seconds.finish(self.recorder.latencies(main)).map_err(WorkloadError::harness)?;
        let calls_ns = calls_ns(&self.recorder);
        if let Some(spare) = self.spare_recorders.pop() {
            self.finished_rounds.push(std::mem::replace(&mut self.recorder, spare));
        }
        Ok(TimedPart { begin, end, calls_ns, ..TimedPart::default() })
    }
}

/// Checks a read against the versions that it may have.
#[inline(always)]
fn check(
    shared: &YcsbContext<'_>,
    floors: &mut [u32],
    request: &PlannedRequest,
    value: &[u8],
    length: usize,
) -> Result<(), WorkloadError> {
    if !shared.versions.is_shared() {
        shared.versions.copy_floors(request.record, floors);
    }
    let newest = shared.versions.newest(request.record, floors);
    let known = KnownVersions::from_slots(floors, newest);
    let is_right = if shared.definition().reads_one_field() {
        shared.fields.is_field(request.record, request.field, &known, value)
    } else {
        shared.fields.is_value(request.record, &known, value)
    };
    if is_right { Ok(()) } else { Err(wrong_data(request, &describe_stale(length))) }
}

#[cold]
fn describe_stale(length: usize) -> String {
    format!("is wrong: {length} bytes that were not written last")
}

#[cold]
fn store_error(request: &PlannedRequest, error: &StoreError) -> WorkloadError {
    let PlannedRequest { kind, record, key, .. } = request;
    let key = String::from_utf8_lossy(key.bytes());
    WorkloadError::store(&format!("{} of record {record} (key {key})", kind.name()), error)
}

#[cold]
fn wrong_data(request: &PlannedRequest, fault: &str) -> WorkloadError {
    let PlannedRequest { kind, record, key, .. } = request;
    let key = String::from_utf8_lossy(key.bytes());
    let what = if *kind == Kind::Scan { "a scan from" } else { "the value of" };
    WorkloadError::wrong_data(format!("{what} record {record} (key {key}) {fault}"))
}
