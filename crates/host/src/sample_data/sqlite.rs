//! A table of a SQLite file as data: every row is a value, or one of its columns.

use std::path::Path;

use super::{ReadSqlite, Sample};
use storebench_model::read_limited;

/// The first bytes of every SQLite file.
const MAGIC: [u8; 16] = *b"SQLite format 3\0";

/// Whether a file is one of SQLite's.
pub fn is_sqlite(file: &Path) -> bool {
    read_limited::start(file, MAGIC.len()).is_ok_and(|start| start == MAGIC)
}

pub fn sample_database(
    file: &Path,
    table_and_column: &str,
    read: Option<ReadSqlite>,
    sample: &mut Sample,
) -> Result<(), String> {
    let Some(read) = read else {
        return Err(format!("{} is a SQLite file, and this build has no SQLite", file.display()));
    };
    let split = table_and_column.split_once('.');
    let (table, column) = split.map_or((table_and_column, None), |(table, column)| (table, Some(column)));
    let mut add = |size, start: &[u8]| sample.add(size, |most| Ok(start[..start.len().min(most)].to_vec()));
    read(file, table, column, &mut add).map_err(|why| match table_and_column {
        "" => format!("name one of its tables, like {0}:table or {0}:table.column: {why}", file.display()),
        _ => format!("{}: {why}", file.display()),
    })
}
