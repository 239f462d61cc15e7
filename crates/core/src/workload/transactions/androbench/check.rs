//! Checks every row and index entry at a trial's end, after the store was closed and opened anew, twice.

use std::time::Instant;

use storebench_model::result::Audit;
use storebench_model::store::sql::{SqlSession, SqlValue, StatementId};

use super::rows::{COLUMNS, DELETED, Row, TABLE};
use super::table::Messages;
use crate::workload::bench::Bench;
use crate::workload::workload_error::WorkloadError;

impl Messages {
    pub fn count_live(&self) -> u64 {
        self.live_ids().count() as u64
    }

    /// Checks the table in a store opened twice, and closes it. Fails at the first row that is missing, wrong, or there once deleted.
    pub fn audit(&self, bench: &mut Bench<'_>) -> Result<Audit, WorkloadError> {
        let start = Instant::now();
        for _ in 0..2 {
            bench.reopen()?;
            let mut session =
                bench.store()?.sql().map_err(WorkloadError::during("reading the table back"))?;
            self.check_rows(session.as_mut())?;
            self.check_index(session.as_mut())?;
        }
        bench.close()?;
        Ok(Audit {
            records: self.count_live(),
            read_back: self.count_live(),
            reopened: 2,
            took_ns: start.elapsed().as_nanos() as u64,
            ..Audit::default()
        })
    }

    /// Every row, in key order.
    fn check_rows(&self, session: &mut dyn SqlSession) -> Result<(), WorkloadError> {
        let names = COLUMNS.map(|(name, _)| name).join(", ");
        let mut expected = self.live_ids();
        let mut row = self.source.empty_row();
        let mut first_fault = None;
        let mut visit = |found: &[SqlValue<'_>]| {
            if first_fault.is_some() {
                return;
            }
            let next = expected.next().map(|id| self.fill(&mut row, id)).map(|row| row.values());
            if next.as_ref().map(|values| values.as_slice()) != Some(found) {
                let key = next.as_ref().map(|values| &values[0]);
                first_fault = Some(describe_difference(key, found.first()));
            }
        };
        visit_rows(session, &format!("SELECT {names} FROM {TABLE} ORDER BY id"), &mut visit)?;
        first_fault.map_or(Ok(()), |message| Err(wrong_data(message)))?;
        match expected.next() {
            Some(id) => Err(wrong_data(format!("the row {id} is missing"))),
            None => Ok(()),
        }
    }

    fn check_index(&self, session: &mut dyn SqlSession) -> Result<(), WorkloadError> {
        let mut row = self.source.empty_row();
        let mut seen = vec![false; self.versions.len()];
        let mut first_fault = None;
        let mut visit = |found: &[SqlValue<'_>]| {
            let id = match found.get(2) {
                Some(SqlValue::Integer(id)) => usize::try_from(*id).unwrap_or(usize::MAX),
                _ => usize::MAX,
            };
            let is_live = self.versions.get(id).is_some_and(|version| *version != DELETED);
            let is_right = is_live
                && !std::mem::replace(&mut seen[id], true)
                && self.fill(&mut row, id as u64).index_entry().as_slice() == found;
            if !is_right && first_fault.is_none() {
                first_fault = Some(format!("the index has a wrong entry: {found:?}"));
            }
        };
        let sql = format!("SELECT conversation, sent_at, id FROM {TABLE} ORDER BY conversation, sent_at, id");
        let entries = visit_rows(session, &sql, &mut visit)?;
        first_fault.map_or(Ok(()), |message| Err(wrong_data(message)))?;
        let live = self.count_live();
        if entries == live {
            return Ok(());
        }
        Err(wrong_data(format!("the index has {entries} entries, but there are {live} rows")))
    }

    /// The ids of the rows that are there.
    pub fn live_ids(&self) -> impl Iterator<Item = u64> {
        (0..).zip(&self.versions).filter(|(_, version)| **version != DELETED).map(|(id, _)| id)
    }

    /// Makes it the row of an id.
    pub fn fill<'r>(&self, row: &'r mut Row, id: u64) -> &'r Row {
        self.source.fill(row, id, self.versions[id as usize]);
        row
    }
}

/// Checks one row; `None` must be missing. Fails with `Failure::WrongData` otherwise.
pub fn check_row(
    session: &mut dyn SqlSession,
    select: StatementId,
    row: &Row,
    expected: Option<&Row>,
) -> Result<(), WorkloadError> {
    let expected = expected.map(Row::values);
    let mut is_right = expected.is_none();
    let found = session.query(select, &row.key(), &mut |found| {
        is_right = expected.as_ref().is_some_and(|values| values.as_slice() == found);
    });
    let found = found.map_err(WorkloadError::during("reading a row back"))?;
    let fault = match (found, is_right) {
        (0, true) | (1, true) => return Ok(()),
        (0, false) => "is missing, though its transaction has just returned",
        _ if expected.is_none() => "is still there, though it was just deleted",
        _ => "is not what was just written",
    };
    Err(WorkloadError::wrong_data(format!("the row {} {fault}", row.id())))
}

fn visit_rows(
    session: &mut dyn SqlSession,
    sql: &str,
    visit: &mut dyn FnMut(&[SqlValue<'_>]),
) -> Result<u64, WorkloadError> {
    let query = session.prepare(sql).and_then(|query| session.query(query, &[], visit));
    query.map_err(WorkloadError::during("reading the table back"))
}

/// How the found row differs from the expected one.
fn describe_difference(expected: Option<&SqlValue<'_>>, found: Option<&SqlValue<'_>>) -> String {
    match (expected, found) {
        (Some(SqlValue::Integer(expected)), Some(SqlValue::Integer(found))) if expected == found => {
            format!("the row {found} is not what was written last")
        }
        (Some(SqlValue::Integer(expected)), Some(SqlValue::Integer(found))) if expected < found => {
            format!("the row {expected} is missing")
        }
        (_, Some(SqlValue::Integer(found))) => {
            format!("the row {found} is there, though it was deleted or never inserted")
        }
        (_, found) => format!("a row has the key {found:?}"),
    }
}

fn wrong_data(fault: String) -> WorkloadError {
    WorkloadError::wrong_data(format!(
        "{fault}, after the trial, when the store had been closed and opened anew"
    ))
}
