//! The other side: a minimal loop over an engine's own interface.

use std::hint::black_box;
use std::time::Instant;

use storebench_core::measure::clock::Clock;
use storebench_core::record::{Key, Records};
use storebench_core::workload::choose::Chooser;
use storebench_core::workload::driver::QUANTUM_OPERATIONS;
use storebench_core::workload::operation::Operation;

use crate::direct::Engine;
use crate::pair::{OperationTime, Side};

/// Records per batch when loading, on both sides.
pub const BATCH: usize = 500;

pub struct Theirs<'a, E> {
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
    pub fn new(engine: E, clock: &'a Clock, records: &'a Records, seed: u64) -> Theirs<'a, E> {
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
                    let elapsed = ticks(clock, || read(engine, key, buffer));
                    // storebench checks each value after the clock has stopped: what a call still has to write waits for that,
                    // and not within the next call's time.
                    black_box(buffer.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte)));
                    elapsed
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
            let batch = remaining.min(QUANTUM_OPERATIONS);
            let mut chosen = [0; QUANTUM_OPERATIONS];
            self.chooser.fill(&mut chosen[..batch], &self.versions);
            for index in &chosen[..batch] {
                if operation == Operation::Update {
                    let version = &mut self.versions[*index as usize];
                    *version = version.wrapping_add(1);
                    self.records.append_value(*index, *version, &mut self.arena);
                }
                self.keys.push(self.records.key(*index));
            }
            ticks += self.calls(operation, timed);
            remaining -= batch;
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

pub fn first_values(records: &Records, count: u64) -> Vec<(Key, Vec<u8>)> {
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

    /// Every other turn is timed together, the others one by one: as long as storebench's, so that occasional work, such as a
    /// sync, falls on as many operations.
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
