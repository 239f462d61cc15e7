//! The dialect of a kind of server that speaks SQL: its statements and types.

use storebench_core::store::Result;
use storebench_core::store::sql::{BulkLoad, Rows, SqlType, SqlValue};

use super::kind::Server;
use super::plan::Plan;

/// A kind of server that speaks SQL.
pub trait Dialect: Server<Client: Connection> {
    /// The longest key that its index takes, in bytes.
    const MAX_KEY_BYTES: usize;
    /// The statements on records.
    const RECORDS: Records;

    /// The name of a type.
    fn type_name(of: SqlType) -> &'static str;
    /// Loads many rows at once into a server: how it was planned, what is known of it, and whether it is the trial's own.
    fn load(
        client: &mut Self::Client,
        server: (&Plan, &Self::Kept, bool),
        into: &BulkLoad<'_>,
        rows: &mut Rows<'_>,
    ) -> Result<u64>;
}

/// The statements on records. Their parameters are the key and the value, in the order in which they are used here.
pub struct Records {
    /// Adds a key and a value.
    pub insert: &'static str,
    /// Sets the value, of the key.
    pub update: &'static str,
    /// Gives the value of the key.
    pub get: &'static str,
    /// Removes the key.
    pub remove: &'static str,
    /// Gives keys and values from the key on, as many as a number.
    pub scan: &'static str,
}

/// Where a transaction turns.
#[derive(Debug, Clone, Copy)]
pub enum Turn {
    /// It begins.
    Begin,
    /// It is committed.
    Commit,
    /// It is undone.
    RollBack,
}

/// A connection to a server. One call of it is one call of a store's session: what is generic here is compiled for each kind.
pub trait Connection: Sized + Send {
    /// A prepared statement.
    type Statement;
    /// The statement that adds many records, prepared.
    type Inserts;
    /// The statements that begin and end transactions, prepared.
    type Turns;

    /// Runs statements without parameters, separated by `;`, and passes by what they give.
    fn execute(&mut self, sql: &str) -> Result<()>;
    /// Prepares a statement, whose parameters are written as the server wants them.
    fn prepare(&mut self, sql: &str) -> Result<Self::Statement>;
    /// Prepares a statement, whose parameters are written `?`.
    fn prepare_portable(&mut self, sql: &str) -> Result<Self::Statement> {
        self.prepare(sql)
    }
    /// Gives a prepared statement back.
    fn forget(&mut self, statement: Self::Statement) -> Result<()>;
    /// Runs a statement; how many rows it gave or changed.
    fn run(&mut self, statement: &Self::Statement, values: &[SqlValue<'_>]) -> Result<u64>;
    /// Runs a statement, and shows the values of each row.
    fn query(
        &mut self,
        statement: &Self::Statement,
        values: &[SqlValue<'_>],
        visit: &mut dyn FnMut(&[SqlValue<'_>]),
    ) -> Result<u64>;

    /// Shows the value of a key, where it lies until the next call; whether it is there.
    fn get(&mut self, get: &Self::Statement, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool>;
    /// The value that was shown last.
    fn shown(&self) -> &[u8];
    /// Shows keys and values from a key on; how many.
    fn scan(
        &mut self,
        scan: &Self::Statement,
        values: &[SqlValue<'_>; 2],
        visit: &mut dyn FnMut(&[u8], &[u8]),
    ) -> Result<u64>;
    /// Prepares what adds many records.
    fn prepare_inserts(&mut self) -> Result<Self::Inserts>;
    /// Adds records, all or none.
    fn insert_all(
        &mut self,
        insert: &Self::Statement,
        many: &Self::Inserts,
        records: &[(&[u8], &[u8])],
    ) -> Result<()>;
    /// Removes records. Fails also when one is missing.
    fn remove_all(&mut self, remove: &Self::Statement, keys: &[&[u8]]) -> Result<()>;

    /// Prepares what begins and ends transactions.
    fn prepare_turns(&mut self) -> Result<Self::Turns>;
    /// Begins or ends a transaction.
    fn turn(&mut self, turns: &Self::Turns, turn: Turn) -> Result<()>;
}
