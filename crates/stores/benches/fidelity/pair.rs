//! Pairs: two fresh stores, loaded alike, that take turns. One is driven by the timed loop of every trial, over the store's adapter, the
//! other by a minimal loop over an engine's own interface.

use std::hint::black_box;
use std::time::{Duration, Instant};

use storebench_core::measure::clock::Clock;
use storebench_core::record::pool::Pool;
use storebench_core::record::{Key, Records};
use storebench_core::workload::choose::Chooser;
use storebench_core::workload::driver::{Driver, QUANTUM_OPERATIONS, Quantum, Visit};
use storebench_core::workload::operation::Operation;
use storebench_figures::stats::median;
use storebench_model::cell::Data;
use storebench_model::store::{OpenOptions, Session, Store, StoreDef};
use storebench_model::units::SizeRange;

use crate::direct::Engine;
use crate::{Bench, CACHE_BYTES, RECORDS, cheapest};

pub const COMPARED: [Operation; 2] = [Operation::Get, Operation::Update];
/// Operations.
const TURN: u64 = 640;
/// The most turns of each side, and seconds that end them earlier with slow stores.
const TURNS: usize = 20;
const FEWEST_TURNS: usize = 6;
const LONG_ENOUGH: Duration = Duration::from_millis(400);

/// Nanoseconds per operation.
#[derive(Debug, Clone, Copy)]
pub struct OperationTime {
    /// Within the engine's call; on the other side, with many calls timed together.
    pub calls_ns: f64,
    /// Within the engine's call, each timed alone.
    pub clocked_ns: f64,
    /// With all that the loop does.
    pub whole_ns: f64,
}

pub trait Side {
    fn load(&mut self, count: u64);
    fn turn(&mut self, operation: Operation, count: u64) -> OperationTime;
}

/// For each of [`COMPARED`], storebench's times and the other side's.
pub type Measured = [Vec<(OperationTime, OperationTime)>; COMPARED.len()];

pub fn measure<E: Engine>(bench: &Bench, store: &StoreDef, size: SizeRange) -> Measured {
    let mut measured = Measured::default();
    for pair in 0..bench.pairs {
        let seed = pair as u64;
        let records = Records::new(seed, size, Pool::generate(Data::Incompressible, seed, size));
        let folder = tempfile::tempdir_in(&bench.folder).expect("a folder can be made for the pair");
        let (our_folder, their_folder) = (folder.path().join("storebench"), folder.path().join("direct"));
        [&our_folder, &their_folder]
            .into_iter()
            .for_each(|path| std::fs::create_dir(path).expect("folders can be made"));
        // Who comes first may find better memory, or a better place on the disk.
        let is_ours_first = pair % 2 == 0;
        let (store_under_test, engine) = if is_ours_first {
            let store_under_test = open(store, &our_folder);
            (store_under_test, E::open(&their_folder))
        } else {
            let engine = E::open(&their_folder);
            (open(store, &our_folder), engine)
        };
        let session = store_under_test.session().expect("every store has a session");
        let mut ours = Ours::new(session, &bench.clock, &records, seed);
        let mut theirs = Theirs::new(engine, &bench.clock, &records, seed);
        let times = take_turns(is_ours_first, &mut ours, &mut theirs);
        drop(ours);
        drop(theirs);
        store_under_test.close().expect("the store can be closed");
        measured.iter_mut().zip(times).for_each(|(times, pair)| times.push(pair));
    }
    measured
}

pub fn open(store: &StoreDef, folder: &std::path::Path) -> Box<dyn Store> {
    let options = OpenOptions {
        guarantee: Some(cheapest(store)),
        cache_bytes: Some(CACHE_BYTES),
        ..OpenOptions::new(folder)
    };
    store.open.expect("the store is built in")(&options).expect("the store opens")
}

fn take_turns(
    mut is_ours_first: bool,
    ours: &mut dyn Side,
    theirs: &mut dyn Side,
) -> [(OperationTime, OperationTime); COMPARED.len()] {
    let in_order: [&mut dyn Side; 2] = if is_ours_first { [ours, theirs] } else { [theirs, ours] };
    in_order.into_iter().for_each(|side| side.load(RECORDS));
    COMPARED.map(|operation| {
        // The first turns warm up.
        ours.turn(operation, TURN);
        theirs.turn(operation, TURN);
        let (mut our_times, mut their_times) = (Vec::new(), Vec::new());
        let start = Instant::now();
        while our_times.len() < TURNS && (our_times.len() < FEWEST_TURNS || start.elapsed() < LONG_ENOUGH) {
            if is_ours_first {
                our_times.push(ours.turn(operation, TURN));
            }
            their_times.push(theirs.turn(operation, TURN));
            if !is_ours_first {
                our_times.push(ours.turn(operation, TURN));
            }
            is_ours_first = !is_ours_first;
        }
        (OperationTime::median(&our_times), OperationTime::median(&their_times))
    })
}

impl OperationTime {
    pub fn new(operations: u64, calls: f64, whole: f64) -> OperationTime {
        let per_operation = |ns: f64| ns / operations as f64;
        OperationTime {
            calls_ns: per_operation(calls),
            clocked_ns: per_operation(calls),
            whole_ns: per_operation(whole),
        }
    }

    pub fn median(turns: &[OperationTime]) -> OperationTime {
        let median_of = |time: fn(&OperationTime) -> f64| {
            let times: Vec<f64> = turns.iter().map(time).filter(|time| time.is_finite()).collect();
            median(&times).map_or(f64::NAN, |median| median.value)
        };
        OperationTime {
            calls_ns: median_of(|turn| turn.calls_ns),
            clocked_ns: median_of(|turn| turn.clocked_ns),
            whole_ns: median_of(|turn| turn.whole_ns),
        }
    }
}

pub struct Ours<'a> {
    session: Box<dyn Session + 'a>,
    driver: Driver<'a>,
    records: &'a Records,
    chooser: Chooser,
    versions: Vec<u8>,
    quantum: Quantum,
}

impl<'a> Ours<'a> {
    pub fn new(
        session: Box<dyn Session + 'a>,
        clock: &'a Clock,
        records: &'a Records,
        seed: u64,
    ) -> Ours<'a> {
        Ours {
            session,
            driver: Driver::new(clock, records, Visit::Copy, true).expect("the histogram's bounds are good"),
            records,
            chooser: Chooser::uniform(seed),
            versions: Vec::new(),
            quantum: Quantum::new(records.largest_value()),
        }
    }
}

impl Side for Ours<'_> {
    fn load(&mut self, count: u64) {
        self.versions = vec![0; count as usize];
        for batch in first_values(self.records, count).chunks(BATCH) {
            let batch: Vec<_> = batch.iter().map(|(key, value)| (key.as_slice(), value.as_slice())).collect();
            self.session.insert_batch(&batch).expect("the store takes the records");
        }
    }

    fn turn(&mut self, operation: Operation, count: u64) -> OperationTime {
        let before = self.driver.latencies(operation).sum_ns();
        let start = Instant::now();
        let mut remaining = count as usize;
        while remaining > 0 {
            self.quantum.clear();
            let quantum_size = remaining.min(QUANTUM_OPERATIONS);
            let mut chosen = [0; QUANTUM_OPERATIONS];
            self.chooser.fill(&mut chosen[..quantum_size], &self.versions);
            for index in &chosen[..quantum_size] {
                let version = &mut self.versions[*index as usize];
                *version = version.wrapping_add(u8::from(operation == Operation::Update));
                self.quantum.plan(self.records, operation, *index, *version, true);
            }
            self.driver.run(self.session.as_mut(), &mut self.quantum).expect("no operation fails");
            remaining -= quantum_size;
        }
        let whole_ns = start.elapsed().as_nanos() as f64;
        OperationTime::new(count, (self.driver.latencies(operation).sum_ns() - before) as f64, whole_ns)
    }
}

/// Records per batch when loading, on both sides.
const BATCH: usize = 500;

struct Theirs<'a, E> {
    engine: E,
    clock: &'a Clock,
    records: &'a Records,
    chooser: Chooser,
    versions: Vec<u8>,
    keys: Vec<Key>,
    arena: Vec<u8>,
    buffer: Vec<u8>,
    turns: usize,
}

impl<'a, E: Engine> Theirs<'a, E> {
    fn new(engine: E, clock: &'a Clock, records: &'a Records, seed: u64) -> Theirs<'a, E> {
        let largest = records.largest_value();
        Theirs {
            engine,
            clock,
            records,
            chooser: Chooser::uniform(seed),
            versions: Vec::new(),
            keys: Vec::with_capacity(QUANTUM_OPERATIONS),
            arena: Vec::with_capacity(QUANTUM_OPERATIONS * largest),
            buffer: vec![1; largest],
            turns: 0,
        }
    }

    /// Does the prepared operations; gives the clock's ticks around them, or around each call. Values have one length.
    fn calls(&mut self, operation: Operation, timed: Timed) -> u64 {
        let length = self.records.largest_value();
        let Theirs { engine, keys, arena, buffer, clock, .. } = self;
        let read = |engine: &mut E, key: &Key, buffer: &mut [u8]| {
            assert_eq!(engine.get(key, buffer), length, "a value is missing or short");
            black_box(&*buffer);
        };
        let writes = || keys.iter().zip(arena.chunks_exact(length));
        match (operation, timed) {
            (Operation::Get, Timed::Together) => {
                ticks(clock, || keys.iter().for_each(|key| read(engine, key, buffer)))
            }
            (Operation::Get, Timed::Each) => {
                let timed_get = |key| {
                    let ticks_taken = ticks(clock, || read(engine, key, buffer));
                    // storebench checks each value after the clock has stopped: what a call still has to write waits for that.
                    black_box(buffer.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte)));
                    ticks_taken
                };
                keys.iter().map(timed_get).sum()
            }
            (_, Timed::Together) => ticks(clock, || writes().for_each(|(key, value)| engine.put(key, value))),
            (_, Timed::Each) => writes().map(|(key, value)| ticks(clock, || engine.put(key, value))).sum(),
        }
    }

    /// Gives the clock's ticks within the operations.
    fn operations(&mut self, operation: Operation, timed: Timed, count: u64) -> u64 {
        let mut ticks = 0;
        let mut remaining = count as usize;
        while remaining > 0 {
            self.keys.clear();
            self.arena.clear();
            let quantum_size = remaining.min(QUANTUM_OPERATIONS);
            let mut chosen = [0; QUANTUM_OPERATIONS];
            self.chooser.fill(&mut chosen[..quantum_size], &self.versions);
            for index in &chosen[..quantum_size] {
                if operation == Operation::Update {
                    let version = &mut self.versions[*index as usize];
                    *version = version.wrapping_add(1);
                    self.records.append_value(*index, *version, &mut self.arena);
                }
                self.keys.push(self.records.key(*index));
            }
            ticks += self.calls(operation, timed);
            remaining -= quantum_size;
        }
        ticks
    }
}

#[inline(always)]
fn ticks(clock: &Clock, calls: impl FnOnce()) -> u64 {
    let start = clock.now();
    calls();
    clock.now().saturating_sub(start)
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Timed {
    /// Up to 128 calls: the processor begins one while the one before still ends.
    Together,
    Each,
}

fn first_values(records: &Records, count: u64) -> Vec<(Key, Vec<u8>)> {
    let first_value = |index| {
        let mut value = Vec::new();
        records.append_value(index, 0, &mut value);
        (records.key(index), value)
    };
    (0..count).map(first_value).collect()
}

impl<E: Engine> Side for Theirs<'_, E> {
    fn load(&mut self, count: u64) {
        self.versions = vec![0; count as usize];
        for batch in first_values(self.records, count).chunks(BATCH) {
            self.engine.put_all(batch);
        }
    }

    /// Every other turn is timed together; all are as long as storebench's, so that occasional work falls on as many operations.
    fn turn(&mut self, operation: Operation, count: u64) -> OperationTime {
        self.turns += 1;
        let timed = if self.turns.is_multiple_of(2) { Timed::Together } else { Timed::Each };
        let start = Instant::now();
        let ticks = self.operations(operation, timed, count);
        let whole_ns = start.elapsed().as_nanos() as f64;
        let time = OperationTime::new(count, self.clock.nanoseconds(0, ticks) as f64, whole_ns);
        match timed {
            Timed::Together => OperationTime { clocked_ns: f64::NAN, ..time },
            Timed::Each => OperationTime { calls_ns: f64::NAN, whole_ns: f64::NAN, ..time },
        }
    }
}
