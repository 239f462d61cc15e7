//! The transactions, timed.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::check;
use super::rows::{self, GONE, Row, Source};
use super::work::Work;
use crate::cell::Rate;
use crate::measure::latency::Latencies;
use crate::result::{Failure, OperationResult, Stored, Written};
use crate::store;
use crate::store::sql::{Prepared, SqlSession};
use crate::workload::gauge::{Gauge, Gauged};
use crate::workload::pacer::Pacer;
use crate::workload::promise::Acknowledged;
use crate::workload::spec::Ended;
use crate::workload::stop::Stop;

/// What a transaction does with its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Insert,
    Update,
    Delete,
}

impl Kind {
    /// In the order in which they are done.
    pub const ALL: [Kind; 3] = [Kind::Insert, Kind::Update, Kind::Delete];

    /// The operation's name in results.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Insert => "insert",
            Kind::Update => "update",
            Kind::Delete => "delete",
        }
    }

    fn acknowledged(self) -> &'static str {
        match self {
            Kind::Insert => "transactions that insert",
            Kind::Update => "transactions that update",
            Kind::Delete => "transactions that delete",
        }
    }
}

/// The statements of a session.
pub struct Statements {
    insert: Prepared,
    update: Prepared,
    delete: Prepared,
    /// What looks at a row after the clock has stopped.
    look: Prepared,
}

impl Statements {
    pub fn prepare(session: &mut dyn SqlSession) -> Result<Statements, Stop> {
        let mut prepare =
            |sql: &str| session.prepare(sql).map_err(|error| Stop::store("preparing a statement", &error));
        Ok(Statements {
            insert: prepare(&rows::insert())?,
            update: prepare(rows::UPDATE)?,
            delete: prepare(rows::DELETE)?,
            look: prepare(&rows::look())?,
        })
    }
}

/// What came of the transactions of one kind, but for their latencies.
pub struct Phase {
    kind: Kind,
    value_bytes: u64,
    gauged: Gauged,
}

/// All transactions of a trial, and what the table holds. Its memory is taken before the store is opened.
pub struct Transactions {
    work: Work,
    source: Source,
    random: Xoshiro256PlusPlus,
    versions: Vec<u8>,
    /// Ids in the order in which they are deleted.
    to_delete: Vec<u32>,
    rows: Vec<Row>,
    /// A row as it is to be found.
    expected: Row,
    latencies: [Latencies; Kind::ALL.len()],
    written: Written,
}

impl Transactions {
    /// Takes all memory that the harness will need.
    ///
    /// # Errors
    /// As [`Latencies::new`].
    pub fn prepare(work: Work, seed: u64) -> Result<Transactions, String> {
        let source = Source { seed, body_bytes: work.body_bytes };
        let most = usize::try_from(work.most_rows()).unwrap_or(usize::MAX);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed ^ 0x616e_6472_6f62);
        let to_delete = drawn(work.most_rows(), work.touched(), &mut random);
        let mut versions = vec![GONE; most];
        versions.truncate(0);
        versions.resize(work.rows as usize, 0);
        Ok(Transactions {
            work,
            source,
            random,
            versions,
            to_delete,
            rows: (0..work.statements).map(|_| source.row()).collect(),
            expected: source.row(),
            latencies: [Latencies::new()?, Latencies::new()?, Latencies::new()?],
            written: Written::default(),
        })
    }

    /// Rows to be loaded.
    pub fn rows(&self) -> u64 {
        self.work.rows
    }

    /// What rows are made of.
    pub fn source(&self) -> Source {
        self.source
    }

    /// The version of each row, by its id.
    pub fn versions(&self) -> &[u8] {
        &self.versions
    }

    /// The first rows were loaded.
    pub fn loaded(&mut self, value_bytes: u64) {
        self.written.records += self.work.rows;
        self.written.value_bytes += value_bytes;
    }

    /// Does all transactions of one kind.
    ///
    /// # Errors
    /// At the first that fails, or changes other rows than it should.
    pub fn phase(
        &mut self,
        session: &mut dyn SqlSession,
        statements: &Statements,
        kind: Kind,
        gauge: &Gauge<'_>,
        acknowledged: &mut Vec<Acknowledged>,
    ) -> Result<Phase, Stop> {
        let (value_bytes, gauged) = gauge.over(|| self.all(session, statements, kind, gauge))?;
        let counters = &gauged.counters;
        Acknowledged::new(kind.acknowledged(), self.work.transactions, 1, counters).note(acknowledged);
        Ok(Phase { kind, value_bytes, gauged })
    }

    /// Each transaction in turn; how many bytes of values were written.
    fn all(
        &mut self,
        session: &mut dyn SqlSession,
        statements: &Statements,
        kind: Kind,
        gauge: &Gauge<'_>,
    ) -> Result<u64, Stop> {
        let clock = gauge.clock;
        let mut value_bytes = 0;
        let mut seconds = gauge.series.thread(0, &self.latencies[kind as usize]).map_err(Stop::harness)?;
        let mut pacer = match self.work.rate {
            Rate::Closed => None,
            Rate::PerSecond(rate) => Some(Pacer::new(clock, clock.now(), rate, 0, 1)),
        };
        for number in 0..self.work.transactions {
            value_bytes += self.plan(kind, number);
            let start = match &mut pacer {
                Some(pacer) => pacer.wait(clock),
                None => clock.now(),
            };
            let changed = transaction(session, statements, kind, &self.rows);
            let end = clock.now();
            let changed = changed.map_err(|error| {
                Stop::store(&format!("the {} of transaction {number}", kind.name()), &error)
            })?;
            if changed != self.rows.len() as u64 {
                return Err(wrong_count(kind, number, changed, self.rows.len()));
            }
            let latencies = &mut self.latencies[kind as usize];
            latencies.record(clock.nanoseconds(start, end).max(1));
            seconds.tell(latencies).map_err(Stop::harness)?;
            self.look(session, statements)?;
        }
        seconds.finish(&self.latencies[kind as usize]).map_err(Stop::harness)?;
        Ok(value_bytes)
    }

    /// Looks at the rows of the transaction that has just returned: they are where the engine has just been.
    fn look(&mut self, session: &mut dyn SqlSession, statements: &Statements) -> Result<(), Stop> {
        for row in &self.rows {
            let version = self.versions[row.id() as usize];
            self.source.fill(&mut self.expected, row.id(), version);
            let expected = Some(&self.expected).filter(|_| version != GONE);
            check::row(session, statements.look, row, expected)?;
        }
        Ok(())
    }

    /// Makes the rows of the next transaction; how many bytes their values have.
    fn plan(&mut self, kind: Kind, number: u64) -> u64 {
        let mut value_bytes = 0;
        for place in 0..self.rows.len() {
            let id = match kind {
                Kind::Insert => self.versions.len() as u64,
                Kind::Update => self.random.next_u64() % self.versions.len() as u64,
                Kind::Delete => u64::from(self.to_delete[(number * self.work.statements) as usize + place]),
            };
            let version = match kind {
                Kind::Insert => {
                    self.versions.push(0);
                    0
                }
                Kind::Update => rows::next(self.versions[id as usize]),
                Kind::Delete => GONE,
            };
            self.versions[id as usize] = version;
            self.source.fill(&mut self.rows[place], id, version);
            if kind != Kind::Delete {
                self.written.records += 1;
                value_bytes += self.rows[place].value_bytes();
            }
        }
        self.written.value_bytes += value_bytes;
        value_bytes
    }
}

impl Transactions {
    /// What was measured.
    ///
    /// # Errors
    /// When a histogram can't be written.
    pub fn results(&self, phases: Vec<Phase>) -> Result<Vec<OperationResult>, Ended> {
        let result = |phase: Phase| {
            let latencies = &self.latencies[phase.kind as usize];
            let is_closed = self.work.rate == Rate::Closed;
            let result = phase.gauged.result(phase.kind.name(), latencies, is_closed)?;
            Ok(OperationResult { value_bytes: phase.value_bytes, ..result })
        };
        phases.into_iter().map(result).collect()
    }

    /// What the table holds, with keys of so many bytes.
    pub fn stored(&self, key_bytes: u64) -> Stored {
        let mut row = self.source.row();
        let mut stored = Stored { records: 0, key_bytes: 0, value_bytes: 0 };
        for (id, version) in (0..).zip(&self.versions).filter(|(_, version)| **version != GONE) {
            self.source.fill(&mut row, id, *version);
            stored.records += 1;
            stored.value_bytes += row.value_bytes();
        }
        stored.key_bytes = stored.records * key_bytes;
        stored
    }

    /// What was handed to the store, with keys of so many bytes.
    pub fn written(&self, key_bytes: u64) -> Written {
        Written { key_bytes: self.written.records * key_bytes, ..self.written }
    }
}

/// So many ids below `most` in a random order, none twice.
fn drawn(most: u64, count: u64, random: &mut Xoshiro256PlusPlus) -> Vec<u32> {
    let mut all: Vec<u32> = (0..most as u32).collect();
    for place in 0..count.min(most) {
        let other = place + random.next_u64() % (most - place);
        all.swap(place as usize, other as usize);
    }
    all.truncate(count as usize);
    all
}

/// One transaction; how many rows it changed.
#[inline(always)]
fn transaction(
    session: &mut dyn SqlSession,
    statements: &Statements,
    kind: Kind,
    rows: &[Row],
) -> store::Result<u64> {
    if let [only] = rows {
        return statement(session, statements, kind, only);
    }
    session.begin()?;
    let mut changed = 0;
    for row in rows {
        match statement(session, statements, kind, row) {
            Ok(count) => changed += count,
            Err(error) => {
                // Some engines have rolled back by themselves; the first error counts.
                let _ = session.roll_back();
                return Err(error);
            }
        }
    }
    session.commit()?;
    Ok(changed)
}

#[inline(always)]
fn statement(
    session: &mut dyn SqlSession,
    statements: &Statements,
    kind: Kind,
    row: &Row,
) -> store::Result<u64> {
    match kind {
        Kind::Insert => session.run(statements.insert, &row.values()),
        Kind::Update => session.run(statements.update, &row.changes()),
        Kind::Delete => session.run(statements.delete, &row.key()),
    }
}

#[cold]
fn wrong_count(kind: Kind, number: u64, changed: u64, expected: usize) -> Stop {
    let message = format!(
        "the {} of transaction {number} changed {changed} rows where it was to change {expected}",
        kind.name()
    );
    Stop { failure: Failure::WrongData, message, operation: None }
}
