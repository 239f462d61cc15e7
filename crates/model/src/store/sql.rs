//! SQL on stores that speak it ([`crate::store::Store::sql`]). Statements are written once for all stores, in what their dialects
//! share; the session handles the rest: parameters are written `?`, and a session whose engine numbers them (`$1`) rewrites them;
//! [`SqlSession::type_name`] gives types of columns.

use super::error::{Result, StoreError};

/// A value that is bound to a statement, or read from a row.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs)]
pub enum SqlValue<'a> {
    Null,
    Integer(i64),
    Real(f64),
    Text(&'a str),
    Blob(&'a [u8]),
}

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SqlType {
    /// Whole numbers of 64 bits.
    Integer,
    /// Floating-point numbers of 64 bits.
    Real,
    /// Text of any length.
    Text,
    /// Bytes of any length.
    Blob,
}

/// A statement that was prepared: its number within its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatementId(pub usize);

/// Columns that a row shown by [`SqlSession::query`] has at most.
pub const MOST_COLUMNS: usize = 32;

/// Where many rows go at once, and how they come.
#[derive(Debug, Clone, Copy)]
pub struct BulkLoad<'l> {
    /// The table.
    pub table: &'l str,
    /// Its columns, in the order of a row's values.
    pub columns: &'l [&'l str],
    /// Whether they come in the order of their primary keys, the first one behind all rows that are there.
    pub sorted: bool,
}

/// Hands over one row after the other: it calls what it is given once for each.
pub type Rows<'r> = dyn FnMut(&mut dyn FnMut(&[SqlValue<'_>]) -> Result<()>) -> Result<()> + 'r;

/// One thread's connection to a store that speaks SQL. Outside a transaction each statement is one by itself. A transaction has,
/// when the call that ended it returned, the store's [`super::Guarantee`].
pub trait SqlSession {
    /// The words that declare a column of a type.
    fn type_name(&self, sql_type: SqlType) -> &'static str;

    /// Runs statements that take no parameters and give no rows, separated by `;`: making tables and indexes.
    fn execute(&mut self, sql: &str) -> Result<()>;

    /// Compiles a statement, to be run many times for as long as the session is open.
    fn prepare(&mut self, sql: &str) -> Result<StatementId>;

    /// Runs a statement that gives no rows; gives the number of changed rows. [`StoreError::Exists`] is for a primary key that is there.
    fn run(&mut self, statement: StatementId, values: &[SqlValue<'_>]) -> Result<u64>;

    /// Runs a statement, shows each row to `visit`, and says how many there were.
    fn query(
        &mut self,
        statement: StatementId,
        values: &[SqlValue<'_>],
        visit: &mut dyn FnMut(&[SqlValue<'_>]),
    ) -> Result<u64>;

    /// Begins a transaction that will write.
    fn begin(&mut self) -> Result<()>;

    /// Ends the transaction, and keeps what it did.
    fn commit(&mut self) -> Result<()>;

    /// Ends the transaction, and undoes what it did.
    fn roll_back(&mut self) -> Result<()>;

    /// Adds many rows to a table in the engine's best way, and gives their number. Their primary keys are new, which an engine
    /// need not check. They have the store's guarantee when it returns; after an error some may be there.
    fn bulk_load(&mut self, load: &BulkLoad<'_>, rows: &mut Rows<'_>) -> Result<u64> {
        let BulkLoad { table, columns, .. } = *load;
        let placeholders = vec!["?"; columns.len()].join(", ");
        let columns = columns.join(", ");
        let insert = self.prepare(&format!("INSERT INTO {table} ({columns}) VALUES ({placeholders})"))?;
        self.begin()?;
        let mut count = 0;
        let loaded = rows(&mut |row| {
            count += self.run(insert, row)?;
            Ok(())
        });
        match loaded.and_then(|()| self.commit()) {
            Ok(()) => Ok(count),
            Err(error) => {
                // Some engines have rolled back by themselves; the first error counts.
                let _ = self.roll_back();
                Err(error)
            }
        }
    }

    /// Checks the session's settings again. Some engines keep settings by connection, and change them silently. Fails with
    /// [`StoreError::SettingNotTaken`] when one reads back another value.
    fn check_settings(&mut self) -> Result<()>;
}

/// The statement of a number that a session gave out. Fails with [`StoreError::Engine`] for a number of another session.
pub fn statement<S>(statements: &mut [S], prepared: StatementId) -> Result<&mut S> {
    let statement = statements.get_mut(prepared.0);
    statement.ok_or_else(|| StoreError::Engine("the statement was prepared by another session".into()))
}
