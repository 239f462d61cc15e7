//! A server's SQL, for workloads over tables; and single answers.

use storebench_core::store::sql::{self, BulkLoad, Rows, SqlSession, SqlType, SqlValue, StatementId};
use storebench_core::store::{Result, StoreError};

use super::dialect::{Connection, Dialect, TransactionCommand};
use super::plan::Plan;

struct Sql<'a, D: Dialect> {
    client: D::Client,
    commands: <D::Client as Connection>::Commands,
    statements: Vec<<D::Client as Connection>::Statement>,
    plan: &'a Plan,
    facts: &'a D::Facts,
    is_own: bool,
}

/// Prepares what every session needs. `is_own` is whether the server is the trial's.
pub fn open<'s, D: Dialect>(
    mut client: D::Client,
    (plan, facts, is_own): (&'s Plan, &'s D::Facts, bool),
) -> Result<Box<dyn SqlSession + 's>> {
    let commands = client.prepare_commands()?;
    Ok(Box::new(Sql::<D> { client, commands, statements: Vec::new(), plan, facts, is_own }))
}

impl<D: Dialect> SqlSession for Sql<'_, D> {
    fn type_name(&self, sql_type: SqlType) -> &'static str {
        D::type_name(sql_type)
    }

    fn execute(&mut self, sql: &str) -> Result<()> {
        self.client.execute(sql)
    }

    fn prepare(&mut self, sql: &str) -> Result<StatementId> {
        self.statements.push(self.client.prepare_portable(sql)?);
        Ok(StatementId(self.statements.len() - 1))
    }

    fn run(&mut self, statement: StatementId, values: &[SqlValue<'_>]) -> Result<u64> {
        let statement = sql::statement(&mut self.statements, statement)?;
        self.client.run(statement, values)
    }

    fn query(
        &mut self,
        statement: StatementId,
        values: &[SqlValue<'_>],
        visit: &mut dyn FnMut(&[SqlValue<'_>]),
    ) -> Result<u64> {
        let statement = sql::statement(&mut self.statements, statement)?;
        self.client.query(statement, values, visit)
    }

    fn begin(&mut self) -> Result<()> {
        self.client.send_command(&self.commands, TransactionCommand::Begin)
    }

    fn commit(&mut self) -> Result<()> {
        self.client.send_command(&self.commands, TransactionCommand::Commit)
    }

    fn roll_back(&mut self) -> Result<()> {
        self.client.send_command(&self.commands, TransactionCommand::RollBack)
    }

    fn bulk_load(&mut self, target: &BulkLoad<'_>, rows: &mut Rows<'_>) -> Result<u64> {
        D::load(&mut self.client, (self.plan, self.facts, self.is_own), target, rows)
    }

    fn check_settings(&mut self) -> Result<()> {
        self.plan.check(&(D::READ_SETTINGS)(&mut self.client)?)
    }
}

pub fn count(client: &mut impl Connection) -> Result<u64> {
    let count = number(client, "SELECT COUNT(*) FROM records")?;
    count.ok_or_else(|| StoreError::Engine("the server did not count".into()))
}

/// The number from a query of one row and column; `None` without a row.
pub fn number(client: &mut impl Connection, sql: &str) -> Result<Option<u64>> {
    let mut found = None;
    visit_rows(client, sql, &mut |row| match row {
        [SqlValue::Integer(number)] => found = u64::try_from(*number).ok(),
        // A sum is of any length.
        [SqlValue::Text(number)] => found = number.parse().ok(),
        _ => {}
    })?;
    Ok(found)
}

/// The text from a query of one row and column. Fails also without a row.
pub fn text(client: &mut impl Connection, sql: &str) -> Result<String> {
    let found = texts(client, sql)?.pop();
    found.ok_or_else(|| StoreError::Engine(format!("no answer to {sql}")))
}

pub fn texts(client: &mut impl Connection, sql: &str) -> Result<Vec<String>> {
    let mut found = Vec::new();
    visit_rows(client, sql, &mut |row| {
        if let [SqlValue::Text(text)] = row {
            found.push((*text).to_owned());
        }
    })?;
    Ok(found)
}

pub fn visit_rows(
    client: &mut impl Connection,
    sql: &str,
    visit: &mut dyn FnMut(&[SqlValue<'_>]),
) -> Result<()> {
    let statement = client.prepare(sql)?;
    client.query(&statement, &[], visit)?;
    client.forget(statement)
}
