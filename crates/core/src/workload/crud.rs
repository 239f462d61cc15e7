//! The workload `crud` of paper 000: load, then insert, get, update and remove single records with random keys.

use std::sync::Barrier;
use std::time::Instant;

use crate::measure::clock::Clock;
use crate::measure::counters::Snapshot;
use crate::record::{KEY_BYTES, Records};
use crate::result::{Counters, Load, OperationResult, Stored, Written};
use crate::store::{Session, Store};
use crate::units::CountRange;
use crate::workload::bench::Bench;
use crate::workload::choose::Chooser;
use crate::workload::driver::{Driver, Operation, Quantum, Recorder, Stop, Untimed, Visit};

/// What the workload is asked to do.
#[derive(Debug, Clone)]
pub struct Crud {
    /// How many records are loaded, and the number that inserts never pass.
    pub records: CountRange,
    /// How many of each operation are timed.
    pub operations: u64,
    /// Which operations, in this order.
    pub order: Vec<Operation>,
    /// Records in a batch of the loader, at most.
    pub batch: usize,
    /// What is done with a value that is read.
    pub visit: Visit,
    /// Chooses the records.
    pub seed: u64,
    /// Sessions at work at once.
    pub threads: u64,
}

/// What the workload measured.
#[derive(Debug)]
pub struct Done {
    /// The last loading.
    pub load: Load,
    /// The operations, in their order.
    pub operations: Vec<OperationResult>,
    /// What the store holds now.
    pub stored: Stored,
    /// What was handed to it.
    pub written: Written,
}

/// Value bytes in a batch of the loader, at most: so that 500 records of 1 MiB do not take half a gigabyte of the harness.
const BATCH_BYTES: usize = 32 << 20;

/// The records that one thread works on: every `threads`th, so that threads never meet and each knows what it wrote.
struct Share<'a> {
    thread: u64,
    threads: u64,
    driver: Driver<'a>,
    /// The version of each record's value, by its position in the share.
    versions: Vec<u8>,
    quantum: Quantum,
    chooser: Chooser,
    written: Written,
}

impl Share<'_> {
    fn index(&self, position: u64) -> u64 {
        position * self.threads + self.thread
    }

    /// Plans one operation of the phase; `remove` puts the record back, untimed, so that keys can be chosen at random.
    fn plan(&mut self, records: &Records, operation: Operation) {
        if operation == Operation::Insert {
            let index = self.index(self.versions.len() as u64);
            self.versions.push(0);
            return self.quantum.plan(records, operation, index, 0, true);
        }
        let position = self.chooser.below(self.versions.len() as u64);
        let index = self.index(position);
        let version = &mut self.versions[position as usize];
        if operation == Operation::Get {
            return self.quantum.plan(records, operation, index, *version, true);
        }
        *version = version.wrapping_add(1);
        let version = *version;
        self.quantum.plan(records, operation, index, version, true);
        if operation == Operation::Remove {
            self.quantum.plan(records, Operation::Insert, index, version, false);
        }
    }

    /// Does `count` operations.
    fn work(
        &mut self,
        session: &mut dyn Session,
        records: &Records,
        operation: Operation,
        count: u64,
    ) -> Result<(), Stop> {
        let mut left = count;
        while left > 0 {
            self.quantum.clear();
            while left > 0 && self.quantum.has_room_for(2) {
                self.plan(records, operation);
                left -= 1;
            }
            self.driver.run(session, &mut self.quantum)?;
            self.written = self.written.plus(self.quantum.written());
        }
        Ok(())
    }
}

/// A run of the workload.
struct Running<'a> {
    plan: &'a Crud,
    records: &'a Records,
    shares: Vec<Share<'a>>,
    batch: Batch,
    /// All that was loaded.
    loaded: Written,
}

/// What is ready before the store is opened: all of the harness's memory.
pub struct Prepared<'a> {
    running: Running<'a>,
}

impl Crud {
    /// Takes all memory that the harness will need. `check` says whether the store keeps what it is given.
    ///
    /// # Errors
    /// As [`Driver::new`].
    pub fn prepare<'a>(
        &'a self,
        records: &'a Records,
        clock: &'a Clock,
        check: bool,
    ) -> Result<Prepared<'a>, String> {
        let share = |thread| {
            Ok(Share {
                thread,
                threads: self.threads,
                driver: Driver::new(clock, records, self.visit, check)?,
                versions: touched(
                    self.records.to.min(self.records.from + self.operations) / self.threads + 1,
                ),
                quantum: Quantum::new(records.largest_value()),
                chooser: Chooser::uniform(self.seed ^ thread),
                written: Written::default(),
            })
        };
        let shares = (0..self.threads).map(share).collect::<Result<_, String>>()?;
        let bytes = (records.largest_value() * self.batch).min(BATCH_BYTES + records.largest_value());
        let batch = Batch {
            arena: touched(bytes as u64),
            keys: Vec::with_capacity(self.batch),
            ends: Vec::with_capacity(self.batch),
        };
        let loaded = Written::default();
        Ok(Prepared { running: Running { plan: self, records, shares, batch, loaded } })
    }
}

/// An empty vector whose memory is resident.
fn touched(capacity: u64) -> Vec<u8> {
    let mut bytes = vec![1; capacity as usize];
    bytes.clear();
    bytes
}

impl Prepared<'_> {
    /// Loads the store and does all operations.
    ///
    /// # Errors
    /// At the first thing that goes wrong.
    pub fn run(mut self, bench: &mut Bench<'_>) -> Result<Done, Stop> {
        let running = &mut self.running;
        let mut load = running.load(bench.store()?)?;
        let mut phases = Vec::new();
        for operation in running.plan.order.clone() {
            let mut phase = Phase { operation, wall_ns: 0, counters: None };
            let mut left = running.plan.operations;
            while left > 0 {
                if operation == Operation::Insert && running.live() >= running.plan.records.to {
                    bench.fresh()?;
                    load = running.load(bench.store()?)?;
                }
                let now = match operation {
                    Operation::Insert => left.min(running.plan.records.to - running.live()),
                    _ => left,
                };
                let before = Snapshot::now();
                phase.wall_ns += running.phase(bench.store()?, operation, now)?;
                phase.add(Snapshot::now().since(&before));
                left -= now;
            }
            phases.push(phase);
        }
        let (stored, written) = (running.stored(), running.written());
        let recorder = self.recorder()?;
        let operations = phases.into_iter().map(|phase| operation_result(phase, &recorder));
        Ok(Done { load, operations: operations.collect::<Result<_, _>>()?, stored, written })
    }

    /// What all threads measured together.
    fn recorder(self) -> Result<Recorder, Stop> {
        let mut recorders = self.running.shares.into_iter().map(|share| share.driver.finish());
        let mut all = recorders.next().ok_or_else(|| Stop::harness("no thread was at work"))?;
        recorders.try_for_each(|recorder| all.merge(&recorder)).map_err(Stop::harness)?;
        Ok(all)
    }
}

impl Running<'_> {
    /// How many records the store holds.
    fn live(&self) -> u64 {
        self.shares.iter().map(|share| share.versions.len() as u64).sum()
    }

    /// Loads the first records in batches, in the order of their indexes.
    fn load(&mut self, store: &dyn Store) -> Result<Load, Stop> {
        let count = self.plan.records.from;
        let threads = self.shares.len() as u64;
        for share in &mut self.shares {
            share.versions.clear();
            share.versions.resize(((count + threads - 1 - share.thread) / threads) as usize, 0);
        }
        let mut session = store.session().map_err(|error| Stop::store("opening a session", &error))?;
        let mut load = Load { records: count, value_bytes: 0, store_ns: 0, counters: None };
        let mut next = 0;
        let before = Snapshot::now();
        while next < count {
            next = self.batch.fill(self.records, next..count, self.plan.batch);
            let batch = self.batch.records();
            let start = Instant::now();
            session.insert_batch(&batch).map_err(|error| Stop::store("loading a batch", &error))?;
            load.store_ns += start.elapsed().as_nanos() as u64;
            load.value_bytes += batch.iter().map(|(_, value)| value.len() as u64).sum::<u64>();
        }
        load.counters = Some(Snapshot::now().since(&before));
        let (key_bytes, value_bytes) = (count * KEY_BYTES as u64, load.value_bytes);
        self.loaded = self.loaded.plus(Written { records: count, key_bytes, value_bytes });
        Ok(load)
    }

    /// Does `count` operations on all threads together; returns the wall time in nanoseconds.
    fn phase(&mut self, store: &dyn Store, operation: Operation, count: u64) -> Result<u64, Stop> {
        let threads = self.shares.len() as u64;
        let (records, live) = (self.records, self.live());
        let barrier = Barrier::new(self.shares.len());
        let work = |share: &mut Share<'_>| -> Result<(Instant, Instant), Stop> {
            let session = store.session().map_err(|error| Stop::store("opening a session", &error));
            barrier.wait();
            let start = Instant::now();
            let mine = share_of(operation, count, live, share.thread, threads);
            share.work(session?.as_mut(), records, operation, mine)?;
            Ok((start, Instant::now()))
        };
        let spans: Vec<_> = if let [share] = self.shares.as_mut_slice() {
            vec![work(share)]
        } else {
            std::thread::scope(|scope| {
                let workers: Vec<_> =
                    self.shares.iter_mut().map(|share| scope.spawn(|| work(share))).collect();
                workers
                    .into_iter()
                    .map(|worker| worker.join().unwrap_or_else(|_| Err(Stop::harness("a thread panicked"))))
                    .collect()
            })
        };
        let spans = spans.into_iter().collect::<Result<Vec<_>, _>>()?;
        let first = spans.iter().map(|(start, _)| *start).min();
        let last = spans.iter().map(|(_, end)| *end).max();
        Ok(first.zip(last).map_or(0, |(first, last)| (last - first).as_nanos() as u64))
    }

    /// What the store holds, from what was written to it.
    fn stored(&self) -> Stored {
        let records = self.live();
        let value_bytes =
            self.shares.iter().flat_map(|share| {
                share.versions.iter().zip(0..).map(|(version, position)| {
                    self.records.value_length(share.index(position), *version) as u64
                })
            });
        Stored { records, key_bytes: records * KEY_BYTES as u64, value_bytes: value_bytes.sum() }
    }

    /// What was handed to the store.
    fn written(&self) -> Written {
        self.shares.iter().fold(self.loaded, |sum, share| sum.plus(share.written))
    }
}

/// What is measured of an operation besides its latencies; where it was done in several rounds, of all together.
struct Phase {
    operation: Operation,
    wall_ns: u64,
    counters: Option<Counters>,
}

impl Phase {
    fn add(&mut self, counters: Counters) {
        self.counters = Some(match self.counters.take() {
            Some(before) => before.plus(&counters),
            None => counters,
        });
    }
}

/// How many of `count` operations fall to one thread. Inserts go to the threads in turn, from the one whose turn it is,
/// so that indexes stay without a gap; the others are divided evenly.
fn share_of(operation: Operation, count: u64, live: u64, thread: u64, threads: u64) -> u64 {
    let turn =
        if operation == Operation::Insert { (thread + threads - live % threads) % threads } else { thread };
    (count + threads - 1 - turn) / threads
}

fn operation_result(phase: Phase, recorder: &Recorder) -> Result<OperationResult, Stop> {
    let record = recorder.of(phase.operation);
    // Nothing but what was removed is put back.
    let untimed = if phase.operation == Operation::Remove { recorder.untimed() } else { Untimed::default() };
    Ok(OperationResult {
        operation: phase.operation.name().into(),
        count: record.latencies.count(),
        errors: record.errors,
        wall_ns: phase.wall_ns,
        sum_ns: record.latencies.sum_ns(),
        value_bytes: record.value_bytes,
        put_back: untimed.count,
        latency: record.latencies.summary().map_err(Stop::harness)?,
        counters: phase.counters.map(|counters| counters.without_syncs(&untimed.syncs)),
        series: Vec::new(),
    })
}

/// A batch of the loader. Its memory is taken once and kept.
struct Batch {
    arena: Vec<u8>,
    keys: Vec<[u8; KEY_BYTES]>,
    ends: Vec<usize>,
}

impl Batch {
    /// Fills it with records from the start of `indexes`, up to `most` of them; returns the index after the last.
    fn fill(&mut self, records: &Records, indexes: std::ops::Range<u64>, most: usize) -> u64 {
        self.arena.clear();
        self.keys.clear();
        self.ends.clear();
        let mut next = indexes.start;
        while next < indexes.end && self.keys.len() < most && self.arena.len() < BATCH_BYTES {
            records.append_value(next, 0, &mut self.arena);
            self.keys.push(records.key(next));
            self.ends.push(self.arena.len());
            next += 1;
        }
        next
    }

    fn records(&self) -> Vec<(&[u8], &[u8])> {
        let starts = std::iter::once(&0).chain(&self.ends);
        self.keys
            .iter()
            .zip(starts.zip(&self.ends))
            .map(|(key, (start, end))| (key.as_slice(), &self.arena[*start..*end]))
            .collect()
    }
}
