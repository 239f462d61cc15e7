//! Many rows at once.

use std::io::Write as _;

use storebench_model::store::sql::{BulkLoad, Rows, SqlValue};
use storebench_model::store::{Result, StoreError};

use super::client::{Client, Statement};
use crate::support::server::Connection;

const ROWS_AT_ONCE: usize = 100;
/// MyRocks locks each row, as shipped about a million per transaction.
const ROWS_OF_TRANSACTION: usize = 100_000;

/// Loads past MyRocks's log and memory tables, into sorted files, which it syncs and adopts.
pub fn load_into_sorted_files(
    client: &mut Client,
    target: &BulkLoad<'_>,
    rows: &mut Rows<'_>,
) -> Result<u64> {
    // Where indexes are there already, their entries are sorted.
    client.execute("SET SESSION rocksdb_bulk_load_allow_sk = 1, rocksdb_bulk_load = 1")?;
    let loaded = load_file(client, target, rows);
    let reset = client.execute("SET SESSION rocksdb_bulk_load = 0");
    loaded.and_then(|count| reset.map(|()| count))
}

/// Loads through MyRocks's log, in many transactions: files can't be adopted between existing rows.
pub fn load_in_many_transactions(
    client: &mut Client,
    target: &BulkLoad<'_>,
    rows: &mut Rows<'_>,
) -> Result<u64> {
    client.execute(&format!(
        "SET SESSION rocksdb_bulk_load_size = {ROWS_OF_TRANSACTION}, rocksdb_commit_in_the_middle = 1"
    ))?;
    let loaded = load_file(client, target, rows);
    let reset = client.execute("SET SESSION rocksdb_commit_in_the_middle = 0");
    loaded.and_then(|count| reset.map(|()| count))
}

/// Loads from a file that the server reads from this connection. Fails also when it took fewer rows, or changed some.
pub fn load_file(client: &mut Client, target: &BulkLoad<'_>, rows: &mut Rows<'_>) -> Result<u64> {
    let BulkLoad { table, columns, .. } = target;
    let sql = format!(
        "LOAD DATA LOCAL INFILE 'rows' INTO TABLE {table} CHARACTER SET binary FIELDS TERMINATED BY '\\t' ESCAPED BY '\\\\' \
         LINES TERMINATED BY '\\n' ({})",
        columns.join(", ")
    );
    let mut sent = 0;
    let (taken, warnings) = client.load(&sql, rows, |row, file| {
        check_columns(row, target)?;
        sent += 1;
        append_line(row, file);
        Ok(())
    })?;
    // From a file the server skips rows that exist, and changes values that do not fit.
    match warnings {
        _ if taken != sent => Err(StoreError::Exists),
        0 => Ok(taken),
        _ => Err(StoreError::Engine(format!("the server took {taken} rows with {warnings} warnings"))),
    }
}

fn check_columns(row: &[SqlValue<'_>], target: &BulkLoad<'_>) -> Result<()> {
    let (values, columns) = (row.len(), target.columns.len());
    if values == columns {
        return Ok(());
    }
    Err(StoreError::Engine(format!("{values} values for {columns} columns")))
}

fn append_line(row: &[SqlValue<'_>], file: &mut Vec<u8>) {
    for (number, value) in row.iter().enumerate() {
        if number > 0 {
            file.push(b'\t');
        }
        // Writing into memory does not fail.
        match value {
            SqlValue::Null => file.extend_from_slice(b"\\N"),
            SqlValue::Integer(number) => drop(write!(file, "{number}")),
            SqlValue::Real(number) => drop(write!(file, "{number}")),
            SqlValue::Text(text) => append_escaped(text.as_bytes(), file),
            SqlValue::Blob(bytes) => append_escaped(bytes, file),
        }
    }
    file.push(b'\n');
}

fn append_escaped(bytes: &[u8], file: &mut Vec<u8>) {
    for byte in bytes {
        match byte {
            b'\\' => file.extend_from_slice(b"\\\\"),
            b'\t' => file.extend_from_slice(b"\\t"),
            b'\n' => file.extend_from_slice(b"\\n"),
            0 => file.extend_from_slice(b"\\0"),
            byte => file.push(*byte),
        }
    }
}

/// Loads by statements of many rows each, which any server takes.
pub fn load_by_statements(client: &mut Client, target: &BulkLoad<'_>, rows: &mut Rows<'_>) -> Result<u64> {
    let full_statement = client.prepare(&insert(target, ROWS_AT_ONCE))?;
    let mut load = Load { client, target, pending: Vec::new(), full_statement, uncommitted: 0, count: 0 };
    load.client.execute("START TRANSACTION")?;
    let loaded = rows(&mut |row| load.add(row)).and_then(|()| load.finish());
    let Load { client, full_statement, count, .. } = load;
    client.forget(full_statement)?;
    match loaded.and_then(|()| client.execute("COMMIT")) {
        Ok(()) => Ok(count),
        Err(error) => {
            // The first error counts.
            let _ = client.execute("ROLLBACK");
            Err(error)
        }
    }
}

enum CopiedValue {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
    Blob(Vec<u8>),
}

impl CopiedValue {
    fn copy(value: &SqlValue<'_>) -> CopiedValue {
        match *value {
            SqlValue::Null => CopiedValue::Null,
            SqlValue::Integer(number) => CopiedValue::Integer(number),
            SqlValue::Real(number) => CopiedValue::Real(number),
            SqlValue::Text(text) => CopiedValue::Text(text.to_owned()),
            SqlValue::Blob(bytes) => CopiedValue::Blob(bytes.to_owned()),
        }
    }

    fn value(&self) -> SqlValue<'_> {
        match self {
            CopiedValue::Null => SqlValue::Null,
            CopiedValue::Integer(number) => SqlValue::Integer(*number),
            CopiedValue::Real(number) => SqlValue::Real(*number),
            CopiedValue::Text(text) => SqlValue::Text(text),
            CopiedValue::Blob(bytes) => SqlValue::Blob(bytes),
        }
    }
}

struct Load<'l> {
    client: &'l mut Client,
    target: &'l BulkLoad<'l>,
    pending: Vec<CopiedValue>,
    full_statement: Statement,
    uncommitted: usize,
    count: u64,
}

impl Load<'_> {
    fn add(&mut self, row: &[SqlValue<'_>]) -> Result<()> {
        check_columns(row, self.target)?;
        self.pending.extend(row.iter().map(CopiedValue::copy));
        if self.pending.len() < ROWS_AT_ONCE * self.target.columns.len() {
            return Ok(());
        }
        self.count += send(self.client, &self.full_statement, &mut self.pending)?;
        self.uncommitted += ROWS_AT_ONCE;
        if self.uncommitted >= ROWS_OF_TRANSACTION {
            self.uncommitted = 0;
            self.client.execute("COMMIT")?;
            self.client.execute("START TRANSACTION")?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        let rows = self.pending.len() / self.target.columns.len().max(1);
        if rows == 0 {
            return Ok(());
        }
        let last_statement = self.client.prepare(&insert(self.target, rows))?;
        self.count += send(self.client, &last_statement, &mut self.pending)?;
        self.client.forget(last_statement)
    }
}

fn insert(target: &BulkLoad<'_>, rows: usize) -> String {
    let BulkLoad { table, columns, .. } = target;
    let row = format!("({})", vec!["?"; columns.len()].join(", "));
    format!("INSERT INTO {table} ({}) VALUES {}", columns.join(", "), vec![row; rows].join(", "))
}

fn send(client: &mut Client, statement: &Statement, pending: &mut Vec<CopiedValue>) -> Result<u64> {
    let values: Vec<SqlValue<'_>> = pending.iter().map(CopiedValue::value).collect();
    let added = client.run(statement, &values)?;
    pending.clear();
    Ok(added)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_holds_any_bytes() {
        let mut file = Vec::new();
        let row =
            [SqlValue::Integer(-7), SqlValue::Null, SqlValue::Real(0.5), SqlValue::Blob(b"a\tb\\\n\0\xff")];
        append_line(&row, &mut file);
        append_line(&[SqlValue::Text("\u{e9}")], &mut file);
        assert_eq!(file, b"-7\t\\N\t0.5\ta\\tb\\\\\\n\\0\xff\n\xc3\xa9\n");
    }
}
