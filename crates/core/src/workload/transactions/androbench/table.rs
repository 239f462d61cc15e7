//! The table of messages, and the transactions on it.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use storebench_model::result::{StoredRecords, WrittenRecords};
use storebench_model::store::sql::{SqlSession, StatementId};
use storebench_model::store::{self, Store, StoreError};

use super::check;
use super::parameters::AndrobenchParameters;
use super::rows::{self, DELETED, Row, RowSource};
use crate::workload::transactions::{KINDS, Kind, Timer, Transactions, check_settings, run_statements};
use crate::workload::workload_error::WorkloadError;

const KEY_BYTES: u64 = 8;

const INSERT: usize = 0;
const UPDATE: usize = 1;

pub struct Table<'s> {
    pub session: Box<dyn SqlSession + 's>,
    statements: Option<Statements>,
}

#[derive(Clone, Copy)]
struct Statements {
    insert: StatementId,
    update: StatementId,
    delete: StatementId,
    /// Reads a row after the clock has stopped.
    select: StatementId,
}

impl<'s> Table<'s> {
    pub fn make(store: &'s dyn Store) -> Result<Table<'s>, WorkloadError> {
        let mut session = store.sql().map_err(WorkloadError::during("opening a session"))?;
        let schema = rows::schema(|sql_type| session.type_name(sql_type));
        session.execute(&schema).map_err(WorkloadError::during("making the table"))?;
        check_settings(session.as_mut())?;
        Ok(Table { session, statements: None })
    }

    pub fn prepare(&mut self) -> Result<(), WorkloadError> {
        let session = &mut self.session;
        let mut prepare =
            |sql: &str| session.prepare(sql).map_err(WorkloadError::during("preparing a statement"));
        self.statements = Some(Statements {
            insert: prepare(&rows::insert())?,
            update: prepare(rows::UPDATE)?,
            delete: prepare(rows::DELETE)?,
            select: prepare(&rows::select())?,
        });
        Ok(())
    }
}

/// All transactions of a trial, and the table's content. Its memory is taken before the store is opened.
pub(crate) struct Messages {
    pub work: AndrobenchParameters,
    pub source: RowSource,
    random: Xoshiro256PlusPlus,
    /// By id; [`DELETED`] if deleted.
    pub versions: Vec<u8>,
    /// In the order of deletion.
    to_delete: Vec<u32>,
    rows: Vec<Row>,
    expected: Row,
    pub written: WrittenRecords,
}

impl Messages {
    /// Takes all memory that the harness will need.
    pub fn prepare(work: AndrobenchParameters, seed: u64) -> Messages {
        let source = RowSource { seed, body_bytes: work.body_bytes };
        let max_rows = usize::try_from(work.most_rows()).unwrap_or(usize::MAX);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed ^ 0x616e_6472_6f62);
        let to_delete = draw_ids(work.most_rows(), work.changed_rows(), &mut random);
        let mut versions = vec![DELETED; max_rows];
        versions.truncate(0);
        versions.resize(work.rows as usize, 0);
        Messages {
            work,
            source,
            random,
            versions,
            to_delete,
            rows: (0..work.statements).map(|_| source.empty_row()).collect(),
            expected: source.empty_row(),
            written: WrittenRecords::default(),
        }
    }

    pub fn stored(&self) -> StoredRecords {
        let (mut row, records) = (self.source.empty_row(), self.count_live());
        let value_bytes = self.live_ids().map(|id| self.fill(&mut row, id).value_bytes()).sum();
        StoredRecords { records, key_bytes: records * KEY_BYTES, value_bytes }
    }

    pub fn written(&self) -> WrittenRecords {
        WrittenRecords { key_bytes: self.written.records * KEY_BYTES, ..self.written }
    }
}

impl Transactions<Table<'_>> for Messages {
    const KINDS: [Kind; KINDS] = [
        Kind { name: "insert", acknowledged: Some("transactions that insert") },
        Kind { name: "update", acknowledged: Some("transactions that update") },
        Kind { name: "delete", acknowledged: Some("transactions that delete") },
    ];

    fn plan(&mut self, kind: usize, number: u64) -> u64 {
        let mut value_bytes = 0;
        for index in 0..self.rows.len() {
            let id = match kind {
                INSERT => self.versions.len() as u64,
                UPDATE => self.random.next_u64() % self.versions.len() as u64,
                _ => u64::from(self.to_delete[(number * self.work.statements) as usize + index]),
            };
            let version = match kind {
                INSERT => {
                    self.versions.push(0);
                    0
                }
                UPDATE => rows::next_version(self.versions[id as usize]),
                _ => DELETED,
            };
            self.versions[id as usize] = version;
            self.source.fill(&mut self.rows[index], id, version);
            if version != DELETED {
                self.written.records += 1;
                value_bytes += self.rows[index].value_bytes();
            }
        }
        self.written.value_bytes += value_bytes;
        value_bytes
    }

    #[inline(always)]
    fn run_timed(
        &mut self,
        handle: &mut Table<'_>,
        kind: usize,
        timer: &mut Timer<'_>,
    ) -> (u64, store::Result<u64>) {
        let Some(Statements { insert, update, delete, .. }) = handle.statements else {
            return (0, Err(StoreError::Engine("the statements are not prepared".into())));
        };
        let session = handle.session.as_mut();
        timer.time(|| {
            run_statements(session, &self.rows, |session, row| match kind {
                INSERT => session.run(insert, &row.values()),
                UPDATE => session.run(update, &row.update_values()),
                _ => session.run(delete, &row.key()),
            })
        })
    }

    /// Checks the transaction's rows, too: the engine has just been there.
    fn check(
        &mut self,
        handle: &mut Table<'_>,
        kind: usize,
        number: u64,
        changed: u64,
    ) -> Result<(), WorkloadError> {
        let expected = self.rows.len() as u64;
        if changed != expected {
            let name = Self::KINDS[kind].name;
            return Err(WorkloadError::wrong_data(format!(
                "the {name} of transaction {number} changed {changed} rows, but should change {expected}"
            )));
        }
        let Some(Statements { select, .. }) = handle.statements else { return Ok(()) };
        for row in &self.rows {
            let version = self.versions[row.id() as usize];
            self.source.fill(&mut self.expected, row.id(), version);
            let expected = Some(&self.expected).filter(|_| version != DELETED);
            check::check_row(handle.session.as_mut(), select, row, expected)?;
        }
        Ok(())
    }
}

/// `count` distinct random ids below `id_count`.
fn draw_ids(id_count: u64, count: u64, random: &mut Xoshiro256PlusPlus) -> Vec<u32> {
    let mut ids: Vec<u32> = (0..id_count as u32).collect();
    for index in 0..count.min(id_count) {
        let swapped = index + random.next_u64() % (id_count - index);
        ids.swap(index as usize, swapped as usize);
    }
    ids.truncate(count as usize);
    ids
}
