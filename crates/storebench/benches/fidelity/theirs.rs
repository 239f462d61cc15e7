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

/// Records handed over at once when loading, on both sides.
pub const BATCH: usize = 500;

/// An engine that is called directly.
pub struct Theirs<'a, E> {
    engine: E,
    clock: &'a Clock,
    records: &'a Records,
    chooser: Chooser,
    versions: Vec<u8>,
    keys: Vec<Key>,
    arena: Vec<u8>,
    /// Where a value that is read ends.
    buffer: Vec<u8>,
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
        }
    }

    /// Does what was prepared, and gives the clock's ticks around it. Values have one length.
    fn calls(&mut self, operation: Operation) -> u64 {
        let length = self.records.largest_value();
        let Theirs { engine, keys, arena, buffer, .. } = self;
        let start = self.clock.now();
        if operation == Operation::Get {
            for key in keys.iter() {
                assert_eq!(engine.get(key, buffer), length, "a value is missing or short");
                black_box(buffer.as_slice());
            }
        } else {
            for (key, value) in keys.iter().zip(arena.chunks_exact(length)) {
                engine.put(key, value);
            }
        }
        self.clock.now().saturating_sub(start)
    }
}

/// The records that both sides load.
pub fn first_values(records: &Records, count: u64) -> Vec<(Key, Vec<u8>)> {
    let first = |index| {
        let mut value = Vec::new();
        records.append_value(index, 0, &mut value);
        (records.key(index), value)
    };
    (0..count).map(first).collect()
}

impl<E: Engine> Side for Theirs<'_, E> {
    fn load(&mut self, count: u64) {
        self.versions = vec![0; count as usize];
        for batch in first_values(self.records, count).chunks(BATCH) {
            self.engine.put_all(batch);
        }
    }

    fn turn(&mut self, operation: Operation, count: u64) -> OperationTime {
        let mut ticks = 0;
        let start = Instant::now();
        let mut left = count as usize;
        while left > 0 {
            self.keys.clear();
            self.arena.clear();
            let most = left.min(QUANTUM_OPERATIONS);
            let mut chosen = [0; QUANTUM_OPERATIONS];
            self.chooser.fill(&mut chosen[..most], &self.versions);
            for index in &chosen[..most] {
                if operation == Operation::Update {
                    let version = &mut self.versions[*index as usize];
                    *version = version.wrapping_add(1);
                    self.records.append_value(*index, *version, &mut self.arena);
                }
                self.keys.push(self.records.key(*index));
            }
            ticks += self.calls(operation);
            left -= most;
        }
        let whole_ns = start.elapsed().as_nanos() as f64;
        OperationTime::new(count, self.clock.nanoseconds(0, ticks) as f64, whole_ns)
    }
}
