//! PostgreSQL's SQL, for workloads over tables.

use storebench_core::store::sql::{self, BulkLoad, Prepared, Rows, SqlSession, SqlType, SqlValue};
use storebench_core::store::{Result, StoreError};

use super::client::{Client, Statement};
use super::config::Plan;
use super::wire::numbered;

/// A connection with the statements that were prepared on it. Those that begin and end transactions are the first.
pub struct Sql<'a> {
    client: Client,
    statements: Vec<Statement>,
    plan: &'a Plan,
}

const BEGIN: Prepared = Prepared(0);
const COMMIT: Prepared = Prepared(1);
const ROLL_BACK: Prepared = Prepared(2);

impl<'a> Sql<'a> {
    /// Prepares what every session needs.
    ///
    /// # Errors
    /// The server's.
    pub fn new(client: Client, plan: &'a Plan) -> Result<Sql<'a>> {
        let mut session = Sql { client, statements: Vec::new(), plan };
        for sql in ["BEGIN", "COMMIT", "ROLLBACK"] {
            session.prepare(sql)?;
        }
        Ok(session)
    }
}

impl SqlSession for Sql<'_> {
    fn type_name(&self, of: SqlType) -> &'static str {
        match of {
            SqlType::Integer => "BIGINT",
            SqlType::Real => "DOUBLE PRECISION",
            SqlType::Text => "TEXT",
            SqlType::Blob => "BYTEA",
        }
    }

    fn execute(&mut self, sql: &str) -> Result<()> {
        self.client.execute(sql)
    }

    fn prepare(&mut self, sql: &str) -> Result<Prepared> {
        self.statements.push(self.client.prepare(&numbered(sql))?);
        Ok(Prepared(self.statements.len() - 1))
    }

    fn run(&mut self, statement: Prepared, values: &[SqlValue<'_>]) -> Result<u64> {
        let statement = sql::statement(&mut self.statements, statement)?;
        self.client.run(statement, values, |_| ())
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
        self.run(BEGIN, &[]).map(drop)
    }

    /// A transaction in which a statement failed is rolled back by COMMIT, which says so by its name alone.
    fn commit(&mut self) -> Result<()> {
        self.run(COMMIT, &[]).map(drop)
    }

    fn roll_back(&mut self) -> Result<()> {
        self.run(ROLL_BACK, &[]).map(drop)
    }

    fn bulk_load(&mut self, into: &BulkLoad<'_>, rows: &mut Rows<'_>) -> Result<u64> {
        let BulkLoad { table, columns, .. } = *into;
        let columns = columns.join(", ");
        let types = self.client.prepare(&format!("SELECT {columns} FROM {table}"))?;
        let copy = format!("COPY {table} ({columns}) FROM STDIN (FORMAT binary)");
        let copied = self.client.copy_in(&copy, types.columns(), rows);
        let forgotten = self.client.forget(types);
        copied.and_then(|count| forgotten.map(|()| count))
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
    client.query(&statement, &[], &mut |row| {
        if let [SqlValue::Integer(number)] = row {
            found = u64::try_from(*number).ok();
        }
    })?;
    client.forget(statement)?;
    Ok(found)
}

/// The text that a query of one row and column gives.
///
/// # Errors
/// The server's; when it gives none.
pub fn text(client: &mut Client, sql: &str) -> Result<String> {
    let found = texts(client, sql)?.pop();
    found.ok_or_else(|| StoreError::Engine(format!("no answer to {sql}")))
}

/// The texts that a query of one column gives.
///
/// # Errors
/// The server's.
pub fn texts(client: &mut Client, sql: &str) -> Result<Vec<String>> {
    let statement = client.prepare(sql)?;
    let mut found = Vec::new();
    client.query(&statement, &[], &mut |row| {
        if let [SqlValue::Text(text)] = row {
            found.push((*text).to_owned());
        }
    })?;
    client.forget(statement)?;
    Ok(found)
}
