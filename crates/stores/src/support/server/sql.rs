//! What servers that speak SQL share: their dialects, sessions over records and for SQL, and single answers.

use std::marker::PhantomData;

use storebench_model::store::sql::{self, BulkLoad, Rows, SqlSession, SqlType, SqlValue, StatementId};
use storebench_model::store::{Result, Session, StoreError};

use super::kind::{Plan, Server};

pub trait Dialect: Server<Client: Connection> {
    const MAX_KEY_BYTES: usize;
    const RECORDS: Records;

    fn type_name(sql_type: SqlType) -> &'static str;
    fn load(
        client: &mut Self::Client,
        server: (&Plan, &Self::Facts, bool),
        target: &BulkLoad<'_>,
        rows: &mut Rows<'_>,
    ) -> Result<u64>;
}

/// Statements on records. Parameters are the key and the value, in the order of these comments.
pub struct Records {
    pub insert: &'static str,
    /// The value, then the key.
    pub update: &'static str,
    pub get: &'static str,
    pub remove: &'static str,
    /// From a key on, at most a number of records.
    pub scan: &'static str,
}

#[derive(Debug, Clone, Copy)]
pub enum TransactionCommand {
    Begin,
    Commit,
    RollBack,
}

/// A connection to a server. One call is one call of a store's session: generic code is compiled for each kind.
pub trait Connection: Sized + Send {
    type Statement;
    /// Prepared statements that add many records.
    type Inserts;
    type Commands;

    /// Runs statements without parameters, separated by `;`, and ignores their rows.
    fn execute(&mut self, sql: &str) -> Result<()>;
    /// Prepares a statement with the server's parameter syntax.
    fn prepare(&mut self, sql: &str) -> Result<Self::Statement>;
    /// Prepares a statement whose parameters are `?`.
    fn prepare_portable(&mut self, sql: &str) -> Result<Self::Statement> {
        self.prepare(sql)
    }
    fn forget(&mut self, statement: Self::Statement) -> Result<()>;
    /// Gives the number of rows that it gave or changed.
    fn run(&mut self, statement: &Self::Statement, values: &[SqlValue<'_>]) -> Result<u64>;
    fn query(
        &mut self,
        statement: &Self::Statement,
        values: &[SqlValue<'_>],
        visit: &mut dyn FnMut(&[SqlValue<'_>]),
    ) -> Result<u64>;

    fn get(&mut self, get: &Self::Statement, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool>;
    fn shown_value(&self) -> &[u8];
    fn scan(
        &mut self,
        scan: &Self::Statement,
        values: &[SqlValue<'_>; 2],
        visit: &mut dyn FnMut(&[u8], &[u8]),
    ) -> Result<u64>;
    fn prepare_inserts(&mut self) -> Result<Self::Inserts>;
    fn insert_all(
        &mut self,
        insert: &Self::Statement,
        inserts: &Self::Inserts,
        records: &[(&[u8], &[u8])],
    ) -> Result<()>;
    /// Fails also when a record is missing.
    fn remove_all(&mut self, remove: &Self::Statement, keys: &[&[u8]]) -> Result<()>;

    fn prepare_commands(&mut self) -> Result<Self::Commands>;
    fn send_command(&mut self, commands: &Self::Commands, command: TransactionCommand) -> Result<()>;
}

type Statement<D> = <<D as Server>::Client as Connection>::Statement;

/// Records, by statements that are prepared once for each session.
pub struct RecordSession<D: Dialect> {
    client: D::Client,
    insert: Statement<D>,
    inserts: <D::Client as Connection>::Inserts,
    update: Statement<D>,
    get: Statement<D>,
    remove: Statement<D>,
    scan: Statement<D>,
    dialect: PhantomData<D>,
}

impl<D: Dialect> RecordSession<D> {
    pub fn open(mut client: D::Client) -> Result<Box<dyn Session>> {
        Ok(Box::new(Self {
            insert: client.prepare(D::RECORDS.insert)?,
            inserts: client.prepare_inserts()?,
            update: client.prepare(D::RECORDS.update)?,
            get: client.prepare(D::RECORDS.get)?,
            remove: client.prepare(D::RECORDS.remove)?,
            scan: client.prepare(D::RECORDS.scan)?,
            client,
            dialect: PhantomData,
        }))
    }
}

impl<D: Dialect> Session for RecordSession<D> {
    fn insert(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        check_key::<D>(key)?;
        self.client.run(&self.insert, &[SqlValue::Blob(key), SqlValue::Blob(value)]).map(drop)
    }

    fn update(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        check_key::<D>(key)?;
        check_found(self.client.run(&self.update, &[SqlValue::Blob(value), SqlValue::Blob(key)])?)
    }

    fn get(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        self.client.get(&self.get, key, visit)
    }

    fn copied(&self) -> Option<&[u8]> {
        Some(self.client.shown_value())
    }

    fn remove(&mut self, key: &[u8]) -> Result<()> {
        check_found(self.client.run(&self.remove, &[SqlValue::Blob(key)])?)
    }

    fn scan(&mut self, from: &[u8], limit: usize, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize> {
        let limit = SqlValue::Integer(i64::try_from(limit).unwrap_or(i64::MAX));
        let rows = self.client.scan(&self.scan, &[SqlValue::Blob(from), limit], visit)?;
        usize::try_from(rows).map_err(StoreError::engine)
    }

    fn insert_batch(&mut self, records: &[(&[u8], &[u8])]) -> Result<()> {
        records.iter().try_for_each(|(key, _)| check_key::<D>(key))?;
        self.client.insert_all(&self.insert, &self.inserts, records)
    }

    fn remove_batch(&mut self, keys: &[&[u8]]) -> Result<()> {
        self.client.remove_all(&self.remove, keys)
    }
}

/// An index limits the length of its entries.
fn check_key<D: Dialect>(key: &[u8]) -> Result<()> {
    if key.len() <= D::MAX_KEY_BYTES {
        return Ok(());
    }
    Err(StoreError::Unsupported(format!(
        "{}'s index takes keys of up to {} bytes here",
        D::programs().product,
        D::MAX_KEY_BYTES
    )))
}

fn check_found(changed: u64) -> Result<()> {
    if changed > 0 { Ok(()) } else { Err(StoreError::Missing) }
}

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
