//! What writes SQLite files for `storebench report --sqlite`, by the SQLite that is measured.

use std::path::Path;

use rusqlite::types::{ToSqlOutput, Value};
use rusqlite::{Connection, ToSql, params_from_iter};
use storebench_report::files::sql::{SqlValue, SqlWriter};

/// Opens a file that is to be written.
///
/// # Errors
/// What SQLite says.
pub fn open(path: &Path) -> Result<Box<dyn SqlWriter>, String> {
    let connection = Connection::open(path).map_err(|error| error.to_string())?;
    Ok(Box::new(Writer(connection)))
}

struct Writer(Connection);

impl SqlWriter for Writer {
    fn execute(&mut self, statements: &str) -> Result<(), String> {
        self.0.execute_batch(statements).map_err(|error| error.to_string())
    }

    fn insert(&mut self, statement: &str, values: &[SqlValue]) -> Result<(), String> {
        let mut statement = self.0.prepare_cached(statement).map_err(|error| error.to_string())?;
        let inserted = statement.execute(params_from_iter(values.iter().map(Bound)));
        inserted.map(drop).map_err(|error| error.to_string())
    }
}

/// A value as SQLite takes it.
struct Bound<'a>(&'a SqlValue);

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self.0 {
            SqlValue::Null => ToSqlOutput::Owned(Value::Null),
            SqlValue::Integer(number) => (*number).into(),
            SqlValue::Real(number) => (*number).into(),
            SqlValue::Text(text) => text.as_str().into(),
        })
    }
}
