//! The table, as a store can keep it: rows by SQL, or records under the rows' ids.

use storebench_model::store::sql::{SqlSession, SqlValue, StatementId};
use storebench_model::store::{Result, Session};

use super::rows::{self, NUMBER_BYTES, Row};
use crate::workload::transactions::{check_settings, run_statements};
use crate::workload::workload_error::WorkloadError;

/// What transactions work on. A transaction has the store's guarantee when its call returns.
pub trait Table {
    /// Inserts rows in one transaction; gives their number.
    fn insert(&mut self, rows: &[Row], records: &[(&[u8], &[u8])]) -> Result<u64>;

    /// Reads each row, in one transaction if the store has them, into `read_buffer`.
    fn select(&mut self, rows: &[Row], read_buffer: &mut ReadBuffer) -> Result<u64>;

    /// Deletes rows in one transaction; gives their number.
    fn delete(&mut self, rows: &[Row], keys: &[&[u8]]) -> Result<u64>;
}

/// Number and text of each row that was found, as in a record's value. Its memory is taken once.
#[derive(Debug)]
pub(crate) struct ReadBuffer {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl ReadBuffer {
    pub fn new(rows: usize) -> ReadBuffer {
        let bytes = rows * (NUMBER_BYTES + rows::MOST_LETTERS);
        ReadBuffer { bytes: Vec::with_capacity(bytes), ends: Vec::with_capacity(rows) }
    }

    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    fn add(&mut self, value: &[u8]) {
        self.bytes.extend_from_slice(value);
        self.ends.push(self.bytes.len());
    }

    /// A row's number and text; anything else counts as nothing.
    fn add_row(&mut self, found: &[SqlValue<'_>]) {
        if let [SqlValue::Integer(number), SqlValue::Text(text)] = found {
            self.bytes.extend_from_slice(&(*number as i32).to_be_bytes());
            self.bytes.extend_from_slice(text.as_bytes());
        }
        self.ends.push(self.bytes.len());
    }

    /// The index of the first row that was not found as it is.
    pub fn first_wrong(&self, rows: &[Row]) -> Option<usize> {
        let mut start = 0;
        for (index, row) in rows.iter().enumerate() {
            let Some(end) = self.ends.get(index) else { return Some(index) };
            if &self.bytes[start..*end] != row.value() {
                return Some(index);
            }
            start = *end;
        }
        None
    }
}

pub struct Rows<'s> {
    session: Box<dyn SqlSession + 's>,
    insert: StatementId,
    select: StatementId,
    delete: StatementId,
}

impl<'s> Rows<'s> {
    pub fn make(mut session: Box<dyn SqlSession + 's>) -> std::result::Result<Rows<'s>, WorkloadError> {
        session.execute(rows::SCHEMA).map_err(WorkloadError::during("making the table"))?;
        check_settings(session.as_mut())?;
        let mut prepare = |sql| session.prepare(sql).map_err(WorkloadError::during("preparing a statement"));
        let [insert, select, delete] =
            [prepare(rows::INSERT)?, prepare(rows::SELECT)?, prepare(rows::DELETE)?];
        Ok(Rows { session, insert, select, delete })
    }
}

impl Table for Rows<'_> {
    fn insert(&mut self, rows: &[Row], _: &[(&[u8], &[u8])]) -> Result<u64> {
        let insert = self.insert;
        run_statements(self.session.as_mut(), rows, |session, row| session.run(insert, &row.values()))
    }

    fn select(&mut self, rows: &[Row], read_buffer: &mut ReadBuffer) -> Result<u64> {
        let select = self.select;
        run_statements(self.session.as_mut(), rows, |session, row| {
            session.query(select, &[row.id()], &mut |found| read_buffer.add_row(found))
        })
    }

    fn delete(&mut self, rows: &[Row], _: &[&[u8]]) -> Result<u64> {
        let delete = self.delete;
        run_statements(self.session.as_mut(), rows, |session, row| session.run(delete, &[row.id()]))
    }
}

pub struct Records<'s>(pub Box<dyn Session + 's>);

impl Table for Records<'_> {
    fn insert(&mut self, rows: &[Row], records: &[(&[u8], &[u8])]) -> Result<u64> {
        self.0.insert_batch(records).map(|()| rows.len() as u64)
    }

    fn select(&mut self, rows: &[Row], read_buffer: &mut ReadBuffer) -> Result<u64> {
        let mut count = 0;
        for row in rows {
            count += u64::from(self.0.get(row.key(), &mut |value| read_buffer.add(value))?);
        }
        Ok(count)
    }

    fn delete(&mut self, rows: &[Row], keys: &[&[u8]]) -> Result<u64> {
        self.0.remove_batch(keys).map(|()| rows.len() as u64)
    }
}
