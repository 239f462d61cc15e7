//! SQLite's SQL, for workloads over tables.

use std::ffi::CString;

use storebench_core::store::sql::{self, MOST_COLUMNS, SqlSession, SqlType, SqlValue, StatementId};
use storebench_core::store::{Result, StoreError};

use super::statement::{Row, Statement};
use super::{Access, Sqlite};

pub struct Sql<'a> {
    /// Before `access`: statements are dropped before their connection. The first begin and end transactions.
    statements: Vec<Statement>,
    access: Access<'a>,
    store: &'a Sqlite,
}

const BEGIN: StatementId = StatementId(0);
const COMMIT: StatementId = StatementId(1);
const ROLL_BACK: StatementId = StatementId(2);

impl<'a> Sql<'a> {
    pub fn new(store: &'a Sqlite) -> Result<Sql<'a>> {
        let mut session = Sql { statements: Vec::new(), access: store.access()?, store };
        for sql in ["BEGIN IMMEDIATE", "COMMIT", "ROLLBACK"] {
            session.prepare(sql)?;
        }
        Ok(session)
    }

    fn step(
        &mut self,
        statement: StatementId,
        values: &[SqlValue<'_>],
        visit: impl FnMut(&Row<'_>),
    ) -> Result<usize> {
        let _lock = self.access.lock_shared();
        sql::statement(&mut self.statements, statement)?.rows(values, visit)
    }
}

impl Drop for Sql<'_> {
    fn drop(&mut self) {
        let _lock = self.access.lock_shared();
        self.statements.clear();
    }
}

impl SqlSession for Sql<'_> {
    fn type_name(&self, sql_type: SqlType) -> &'static str {
        match sql_type {
            SqlType::Integer => "INTEGER",
            SqlType::Real => "REAL",
            SqlType::Text => "TEXT",
            SqlType::Blob => "BLOB",
        }
    }

    fn execute(&mut self, sql: &str) -> Result<()> {
        self.access.with_connection(|connection| connection.execute_batch(sql).map_err(StoreError::engine))
    }

    fn prepare(&mut self, sql: &str) -> Result<StatementId> {
        let text = CString::new(sql).map_err(StoreError::engine)?;
        let statement = self.access.with_connection(|connection| Statement::prepare(connection, &text))?;
        self.statements.push(statement);
        Ok(StatementId(self.statements.len() - 1))
    }

    fn run(&mut self, statement: StatementId, values: &[SqlValue<'_>]) -> Result<u64> {
        self.step(statement, values, |_| ())?;
        let changes = sql::statement(&mut self.statements, statement)?.changes();
        Ok(u64::try_from(changes).unwrap_or(0))
    }

    fn query(
        &mut self,
        statement: StatementId,
        values: &[SqlValue<'_>],
        visit: &mut dyn FnMut(&[SqlValue<'_>]),
    ) -> Result<u64> {
        let rows = self.step(statement, values, |row| {
            let mut columns = [SqlValue::Null; MOST_COLUMNS];
            let count = row.columns().min(MOST_COLUMNS);
            for (index, column) in (0..).zip(&mut columns[..count]) {
                *column = row.value(index);
            }
            visit(&columns[..count]);
        })?;
        Ok(rows as u64)
    }

    fn begin(&mut self) -> Result<()> {
        self.step(BEGIN, &[], |_| ()).map(drop)
    }

    fn commit(&mut self) -> Result<()> {
        self.step(COMMIT, &[], |_| ()).map(drop)
    }

    fn roll_back(&mut self) -> Result<()> {
        self.step(ROLL_BACK, &[], |_| ()).map(drop)
    }

    fn check_settings(&mut self) -> Result<()> {
        self.access.with_connection(|connection| self.store.plan.check(connection))
    }
}
