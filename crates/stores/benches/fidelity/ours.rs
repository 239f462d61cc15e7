//! storebench's side: the timed loop of every trial, over the store's adapter.

use std::time::Instant;

use storebench_core::measure::clock::Clock;
use storebench_core::record::Records;
use storebench_core::store::Session;
use storebench_core::workload::choose::Chooser;
use storebench_core::workload::driver::{Driver, QUANTUM_OPERATIONS, Quantum, Visit};
use storebench_core::workload::operation::Operation;

use crate::pair::{OperationTime, Side};
use crate::theirs::{BATCH, first_values};

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
        let ns_before = self.driver.latencies(operation).sum_ns();
        let start = Instant::now();
        let mut remaining = count as usize;
        while remaining > 0 {
            self.quantum.clear();
            let batch = remaining.min(QUANTUM_OPERATIONS);
            let mut chosen = [0; QUANTUM_OPERATIONS];
            self.chooser.fill(&mut chosen[..batch], &self.versions);
            for index in &chosen[..batch] {
                let version = &mut self.versions[*index as usize];
                *version = version.wrapping_add(u8::from(operation == Operation::Update));
                self.quantum.plan(self.records, operation, *index, *version, true);
            }
            self.driver.run(self.session.as_mut(), &mut self.quantum).expect("no operation fails");
            remaining -= batch;
        }
        let whole_ns = start.elapsed().as_nanos() as f64;
        OperationTime::new(count, (self.driver.latencies(operation).sum_ns() - ns_before) as f64, whole_ns)
    }
}
