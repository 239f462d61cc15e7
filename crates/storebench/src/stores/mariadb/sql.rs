//! MariaDB's SQL, for workloads over tables.

use std::sync::atomic::{AtomicU64, Ordering};

use storebench_core::store::sql::{self, BulkLoad, Prepared, Rows, SqlSession, SqlType, SqlValue};
use storebench_core::store::{Result, StoreError};

use super::client::{Client, Statement};
use super::config::Plan;
use super::load;

/// A connection with the statements that were prepared on it.
pub struct Sql<'a> {
    client: Client,
    statements: Vec<Statement>,
    plan: &'a Plan,
    /// How many loads were files that MyRocks has synced. `None` on a running server, which may not take files.
    loads: Option<&'a AtomicU64>,
}

impl<'a> Sql<'a> {
    /// A session on a connection.
    pub fn new(client: Client, plan: &'a Plan, loads: Option<&'a AtomicU64>) -> Sql<'a> {
        Sql { client, statements: Vec::new(), plan, loads }
    }
}

impl SqlSession for Sql<'_> {
    fn type_name(&self, of: SqlType) -> &'static str {
        match of {
            SqlType::Integer => "BIGINT",
            SqlType::Real => "DOUBLE",
            SqlType::Text => "LONGTEXT",
            SqlType::Blob => "LONGBLOB",
        }
    }

    fn execute(&mut self, sql: &str) -> Result<()> {
        self.client.execute(sql)
    }

    fn prepare(&mut self, sql: &str) -> Result<Prepared> {
        self.statements.push(self.client.prepare(sql)?);
        Ok(Prepared(self.statements.len() - 1))
    }

    fn run(&mut self, statement: Prepared, values: &[SqlValue<'_>]) -> Result<u64> {
        let statement = sql::statement(&mut self.statements, statement)?;
        self.client.run(statement, values)
    }

    fn query(
        &mut self,
        statement: Prepared,
        values: &[SqlValue<'_>],
        visit: &mut dyn FnMut(&[SqlValue<'_>]),
    ) -> Result<u64> {
        let statement = sql::statement(&mut self.statements, statement)?;
        self.client.query(statement, values, visit)
    }

    fn begin(&mut self) -> Result<()> {
        self.client.execute("START TRANSACTION")
    }

    fn commit(&mut self) -> Result<()> {
        self.client.execute("COMMIT")
    }

    fn roll_back(&mut self) -> Result<()> {
        self.client.execute("ROLLBACK")
    }

    fn bulk_load(&mut self, into: &BulkLoad<'_>, rows: &mut Rows<'_>) -> Result<u64> {
        let client = &mut self.client;
        match (self.loads, self.plan.engine()) {
            (None, _) => load::by_statements(client, into, rows),
            (Some(_), Some("rocksdb")) if !into.sorted => load::in_transactions(client, into, rows),
            (Some(loads), Some("rocksdb")) => {
                let count = load::into_files(client, into, rows)?;
                loads.fetch_add(1, Ordering::Relaxed);
                Ok(count)
            }
            (Some(_), _) => load::in_a_transaction(client, into, rows),
        }
    }

    fn check_settings(&mut self) -> Result<()> {
        self.plan.check(&mut self.client)
    }
}

/// The count that a query of one row and column gives; `None` where it gives none.
///
/// # Errors
/// The server's.
pub fn number(client: &mut Client, sql: &str) -> Result<Option<u64>> {
    let statement = client.prepare(sql)?;
    let mut found = None;
    client.query(&statement, &[], &mut |row| match row {
        [SqlValue::Integer(number)] => found = u64::try_from(*number).ok(),
        // A sum is of any length.
        [SqlValue::Text(number)] => found = number.parse().ok(),
        _ => {}
    })?;
    client.forget(statement)?;
    Ok(found)
}

/// The text that a query of one row and column gives.
///
/// # Errors
/// The server's; when it gives none.
pub fn text(client: &mut Client, sql: &str) -> Result<String> {
    let statement = client.prepare(sql)?;
    let mut found = None;
    client.query(&statement, &[], &mut |row| {
        if let [SqlValue::Text(text)] = row {
            found = Some((*text).to_owned());
        }
    })?;
    client.forget(statement)?;
    found.ok_or_else(|| StoreError::Engine(format!("no answer to {sql}")))
}

/// A figure that the server counts; `None` where it does not.
///
/// # Errors
/// The server's.
pub fn status(client: &mut Client, name: &str) -> Result<Option<u64>> {
    let statement = client.prepare(&format!("SHOW GLOBAL STATUS LIKE '{name}'"))?;
    let mut found = None;
    client.query(&statement, &[], &mut |row| {
        if let [_, SqlValue::Text(number)] = row {
            found = number.parse().ok();
        }
    })?;
    client.forget(statement)?;
    Ok(found)
}
