//! The transactions, timed.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::rows::{KEY_BYTES, Row};
use super::table::{Seen, Table};
use super::work::Work;
use crate::measure::clock::Clock;
use crate::measure::latency::Latencies;
use crate::result::{Failure, OperationResult, Written};
use crate::workload::gauge::{Gauge, Gauged};
use crate::workload::promise::Acknowledged;
use crate::workload::spec::Ended;
use crate::workload::stop::Stop;

/// What a transaction does with its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Insert,
    Select,
    Delete,
}

impl Kind {
    /// In the order in which they are done.
    pub const ALL: [Kind; 3] = [Kind::Insert, Kind::Select, Kind::Delete];

    /// The operation's name in results.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Insert => "insert",
            Kind::Select => "select",
            Kind::Delete => "delete",
        }
    }

    /// What is acknowledged; nothing where nothing is written.
    fn acknowledged(self) -> Option<&'static str> {
        match self {
            Kind::Insert => Some("transactions that insert"),
            Kind::Select => None,
            Kind::Delete => Some("transactions that delete"),
        }
    }
}

/// What came of the transactions of one kind, but for their latencies.
pub struct Phase {
    kind: Kind,
    value_bytes: u64,
    gauged: Gauged,
}

/// All transactions of a trial. Its memory is taken before the store is opened.
pub struct Play {
    work: Work,
    seed: u64,
    random: Xoshiro256PlusPlus,
    /// All ids in the order in which they are inserted, then in that in which they are deleted.
    order: Vec<u32>,
    rows: Vec<Row>,
    seen: Seen,
    latencies: [Latencies; Kind::ALL.len()],
    written: Written,
}

impl Play {
    /// Takes all memory that the harness will need.
    ///
    /// # Errors
    /// As [`Latencies::new`].
    pub fn prepare(work: Work, seed: u64) -> Result<Play, String> {
        let statements = usize::try_from(work.statements).unwrap_or(usize::MAX);
        Ok(Play {
            work,
            seed,
            random: Xoshiro256PlusPlus::seed_from_u64(seed ^ 0x0062_6174_6368),
            order: (0..work.rows() as u32).collect(),
            rows: (0..statements).map(|_| Row::new()).collect(),
            seen: Seen::new(statements),
            latencies: [Latencies::new()?, Latencies::new()?, Latencies::new()?],
            written: Written::default(),
        })
    }

    /// What was handed to the store.
    pub fn written(&self) -> Written {
        Written { key_bytes: self.written.records * KEY_BYTES as u64, ..self.written }
    }

    /// Does all transactions of one kind. What a store `keeps` nothing of is not looked at.
    ///
    /// # Errors
    /// At the first that fails, or does not find what was inserted.
    pub fn phase(
        &mut self,
        table: &mut dyn Table,
        kind: Kind,
        keeps: bool,
        gauge: &Gauge<'_>,
        acknowledged: &mut Vec<Acknowledged>,
    ) -> Result<Phase, Stop> {
        if kind != Kind::Select {
            shuffle(&mut self.order, &mut self.random);
        }
        std::thread::sleep(self.work.rest);
        let (value_bytes, gauged) = gauge.over(|| self.all(table, kind, keeps, gauge))?;
        if let Some(what) = kind.acknowledged() {
            Acknowledged::new(what, self.work.transactions, 1, &gauged.counters).note(acknowledged);
        }
        Ok(Phase { kind, value_bytes, gauged })
    }

    /// Each transaction in turn; how many bytes of values were written or read.
    fn all(
        &mut self,
        table: &mut dyn Table,
        kind: Kind,
        keeps: bool,
        gauge: &Gauge<'_>,
    ) -> Result<u64, Stop> {
        let mut value_bytes = 0;
        let mut seconds = gauge.series.thread(0, &self.latencies[kind as usize]).map_err(Stop::harness)?;
        for number in 0..self.work.transactions {
            value_bytes += self.plan(kind, number);
            self.seen.clear();
            let (taken, done) = self.transaction(table, kind, gauge.clock);
            let done = done.map_err(|error| {
                Stop::store(&format!("the {} of transaction {number}", kind.name()), &error)
            })?;
            if keeps {
                self.check(kind, number, done)?;
            }
            let latencies = &mut self.latencies[kind as usize];
            latencies.record(taken.max(1));
            seconds.tell(latencies).map_err(Stop::harness)?;
        }
        seconds.finish(&self.latencies[kind as usize]).map_err(Stop::harness)?;
        Ok(value_bytes)
    }

    /// One transaction: how long it took in nanoseconds, and how many rows it says that it had.
    fn transaction(
        &mut self,
        table: &mut dyn Table,
        kind: Kind,
        clock: &Clock,
    ) -> (u64, crate::store::Result<u64>) {
        let records: Vec<(&[u8], &[u8])> = match kind {
            Kind::Insert => self.rows.iter().map(|row| (row.key(), row.value())).collect(),
            _ => Vec::new(),
        };
        let keys: Vec<&[u8]> = match kind {
            Kind::Delete => self.rows.iter().map(Row::key).collect(),
            _ => Vec::new(),
        };
        let start = clock.now();
        let done = match kind {
            Kind::Insert => table.insert(&self.rows, &records),
            Kind::Select => table.select(&self.rows, &mut self.seen),
            Kind::Delete => table.delete(&self.rows, &keys),
        };
        let end = clock.now();
        (clock.nanoseconds(start, end), done)
    }

    /// Holds a transaction that has just returned to its rows.
    fn check(&self, kind: Kind, number: u64, done: u64) -> Result<(), Stop> {
        let wrong = |message| Err(Stop { failure: Failure::WrongData, message, operation: None });
        let all = self.rows.len() as u64;
        if done != all {
            return wrong(format!(
                "the {} of transaction {number} had {done} rows where it was to have {all}",
                kind.name()
            ));
        }
        match self.seen.first_wrong(&self.rows).filter(|_| kind == Kind::Select) {
            None => Ok(()),
            Some(place) => {
                let id = self.rows[place].id();
                wrong(format!(
                    "the select of transaction {number} found the row {id:?} otherwise than it was inserted"
                ))
            }
        }
    }

    /// Makes the rows of the next transaction; how many bytes their values have.
    fn plan(&mut self, kind: Kind, number: u64) -> u64 {
        let first = (number * self.work.statements) as usize;
        let mut value_bytes = 0;
        for (place, row) in self.rows.iter_mut().enumerate() {
            let id = match kind {
                Kind::Insert | Kind::Delete => self.order[first + place],
                // Evenly, so that a row may come more than once.
                Kind::Select => (self.random.next_u64() % self.order.len() as u64) as u32,
            };
            row.fill(self.seed, id);
            if kind != Kind::Delete {
                value_bytes += row.value().len() as u64;
            }
        }
        if kind == Kind::Insert {
            self.written.records += self.rows.len() as u64;
            self.written.value_bytes += value_bytes;
        }
        value_bytes
    }

    /// What was measured.
    ///
    /// # Errors
    /// When a histogram can't be written.
    pub fn results(&self, phases: Vec<Phase>) -> Result<Vec<OperationResult>, Ended> {
        let result = |phase: Phase| {
            let latencies = &self.latencies[phase.kind as usize];
            let result = phase.gauged.result(phase.kind.name(), latencies, true)?;
            Ok(OperationResult { value_bytes: phase.value_bytes, ..result })
        };
        phases.into_iter().map(result).collect()
    }
}

/// Any order is as likely as any other.
fn shuffle(ids: &mut [u32], random: &mut Xoshiro256PlusPlus) {
    for last in (1..ids.len()).rev() {
        ids.swap(last, (random.next_u64() % (last as u64 + 1)) as usize);
    }
}
