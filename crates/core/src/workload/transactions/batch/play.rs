//! The transactions on the small table.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use storebench_model::result::WrittenRecords;
use storebench_model::store;

use super::parameters::BatchParameters;
use super::rows::{KEY_BYTES, Row};
use super::table::{ReadBuffer, Table};
use crate::workload::transactions::{KINDS, Kind, Timer, Transactions};
use crate::workload::workload_error::WorkloadError;

const INSERT: usize = 0;
const SELECT: usize = 1;
const DELETE: usize = 2;

/// A trial's transactions. Its memory is taken before the store is opened.
pub struct BatchTransactions {
    seed: u64,
    random: Xoshiro256PlusPlus,
    /// All ids in the order of insertion, then of deletion.
    order: Vec<u32>,
    rows: Vec<Row>,
    read_buffer: ReadBuffer,
    /// Whether the store keeps what it is given: else nothing is checked.
    keeps: bool,
    written: WrittenRecords,
}

impl BatchTransactions {
    pub fn prepare(work: BatchParameters, seed: u64, keeps: bool) -> BatchTransactions {
        let statements = usize::try_from(work.statements).unwrap_or(usize::MAX);
        BatchTransactions {
            seed,
            random: Xoshiro256PlusPlus::seed_from_u64(seed ^ 0x0062_6174_6368),
            order: (0..work.rows() as u32).collect(),
            rows: (0..statements).map(|_| Row::new()).collect(),
            read_buffer: ReadBuffer::new(statements),
            keeps,
            written: WrittenRecords::default(),
        }
    }

    pub fn written(&self) -> WrittenRecords {
        WrittenRecords { key_bytes: self.written.records * KEY_BYTES as u64, ..self.written }
    }
}

impl<'t> Transactions<dyn Table + 't> for BatchTransactions {
    const KINDS: [Kind; KINDS] = [
        Kind { name: "insert", acknowledged: Some("transactions that insert") },
        Kind { name: "select", acknowledged: None },
        Kind { name: "delete", acknowledged: Some("transactions that delete") },
    ];

    fn begin(&mut self, kind: usize) {
        if kind != SELECT {
            shuffle(&mut self.order, &mut self.random);
        }
    }

    fn plan(&mut self, kind: usize, number: u64) -> u64 {
        let first = number as usize * self.rows.len();
        let mut value_bytes = 0;
        for (index, row) in self.rows.iter_mut().enumerate() {
            let id = match kind {
                // Evenly, so that a row may come more than once.
                SELECT => (self.random.next_u64() % self.order.len() as u64) as u32,
                _ => self.order[first + index],
            };
            row.fill(self.seed, id);
            if kind != DELETE {
                value_bytes += row.value().len() as u64;
            }
        }
        if kind == INSERT {
            self.written.records += self.rows.len() as u64;
            self.written.value_bytes += value_bytes;
        }
        self.read_buffer.clear();
        value_bytes
    }

    #[inline(always)]
    fn run_timed(
        &mut self,
        handle: &mut (dyn Table + 't),
        kind: usize,
        timer: &mut Timer<'_>,
    ) -> (u64, store::Result<u64>) {
        let records: Vec<(&[u8], &[u8])> = match kind {
            INSERT => self.rows.iter().map(|row| (row.key(), row.value())).collect(),
            _ => Vec::new(),
        };
        let keys: Vec<&[u8]> = match kind {
            DELETE => self.rows.iter().map(Row::key).collect(),
            _ => Vec::new(),
        };
        let (rows, read_buffer) = (&self.rows, &mut self.read_buffer);
        timer.time(|| match kind {
            INSERT => handle.insert(rows, &records),
            SELECT => handle.select(rows, read_buffer),
            _ => handle.delete(rows, &keys),
        })
    }

    fn check(
        &mut self,
        _: &mut (dyn Table + 't),
        kind: usize,
        number: u64,
        rows: u64,
    ) -> Result<(), WorkloadError> {
        let (expected, name) = (self.rows.len() as u64, <Self as Transactions<dyn Table>>::KINDS[kind].name);
        if self.keeps && rows != expected {
            return Err(WorkloadError::wrong_data(format!(
                "the {name} of transaction {number} had {rows} rows, but should have {expected}"
            )));
        }
        match self.read_buffer.first_wrong(&self.rows).filter(|_| self.keeps && kind == SELECT) {
            None => Ok(()),
            Some(index) => Err(WorkloadError::wrong_data(format!(
                "the select of transaction {number} found the row {:?} otherwise than it was inserted",
                self.rows[index].id()
            ))),
        }
    }
}

/// Every order is equally likely.
fn shuffle(ids: &mut [u32], random: &mut Xoshiro256PlusPlus) {
    for last in (1..ids.len()).rev() {
        ids.swap(last, (random.next_u64() % (last as u64 + 1)) as usize);
    }
}
