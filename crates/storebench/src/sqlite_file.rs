//! Writes SQLite files for `storebench report --sqlite`, with the SQLite that is measured.

use std::path::Path;

use rusqlite::types::{ToSqlOutput, Value};
use rusqlite::{Connection, Error, ErrorCode, ToSql, params_from_iter};
use storebench_report::files::sql::{SqlError, SqlValue, SqlWriter};

pub fn open(path: &Path) -> Result<Box<dyn SqlWriter>, SqlError> {
    let connection = Connection::open(path).map_err(to_sql_error)?;
    Ok(Box::new(Writer(connection)))
}

fn to_sql_error(error: Error) -> SqlError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => SqlError::Full(error.to_string()),
        _ => SqlError::Other(error.to_string()),
    }
}

struct Writer(Connection);

impl SqlWriter for Writer {
    fn execute(&mut self, statements: &str) -> Result<(), SqlError> {
        self.0.execute_batch(statements).map_err(to_sql_error)
    }

    fn insert(&mut self, statement: &str, values: &[SqlValue]) -> Result<(), SqlError> {
        let mut statement = self.0.prepare_cached(statement).map_err(to_sql_error)?;
        let inserted = statement.execute(params_from_iter(values.iter().map(BoundValue)));
        inserted.map(drop).map_err(to_sql_error)
    }
}

struct BoundValue<'a>(&'a SqlValue);

impl ToSql for BoundValue<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self.0 {
            SqlValue::Null => ToSqlOutput::Owned(Value::Null),
            SqlValue::Integer(number) => (*number).into(),
            SqlValue::Real(number) => (*number).into(),
            SqlValue::Text(text) => text.as_str().into(),
        })
    }
}
