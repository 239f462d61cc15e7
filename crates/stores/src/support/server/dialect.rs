//! The dialect of a kind of server that speaks SQL: its statements and types.

use storebench_core::store::Result;
use storebench_core::store::sql::{BulkLoad, Rows, SqlType, SqlValue};

use super::kind::Server;
use super::plan::Plan;

pub trait Dialect: Server<Client: Connection> {
    /// In bytes.
    const MAX_KEY_BYTES: usize;
    const RECORDS: Records;

    fn type_name(sql_type: SqlType) -> &'static str;
    /// Loads many rows at once.
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
    /// Adds records, all or none.
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
