//! What reads the values of a user's SQLite table for `storebench advise --like`. Nothing is written, not even beside the file.

use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Row};

/// Hands every value of a column to `value`, or every row's values one after the other.
///
/// # Errors
/// What SQLite says, or what `value` does.
pub fn read(
    file: &Path,
    table: &str,
    column: Option<&str>,
    value: &mut dyn FnMut(&[u8]) -> Result<(), String>,
) -> Result<(), String> {
    let fault = |error: rusqlite::Error| error.to_string();
    let connection = open(file)?;
    let columns = column.map_or_else(|| "*".to_owned(), quoted);
    let mut statement =
        connection.prepare(&format!("SELECT {columns} FROM {}", quoted(table))).map_err(fault)?;
    let count = statement.column_count();
    let mut rows = statement.query([]).map_err(fault)?;
    let mut bytes = Vec::new();
    while let Some(row) = rows.next().map_err(fault)? {
        bytes.clear();
        (0..count).try_for_each(|position| append(row, position, &mut bytes)).map_err(fault)?;
        value(&bytes)?;
    }
    Ok(())
}

/// A name that can be nothing but a name. (SQLite takes an unknown name in double quotes for a text; in brackets never.)
fn quoted(name: &str) -> String {
    format!("[{}]", name.replace(']', ""))
}

fn append(row: &Row<'_>, position: usize, bytes: &mut Vec<u8>) -> rusqlite::Result<()> {
    match row.get_ref(position)? {
        ValueRef::Null => {}
        ValueRef::Integer(number) => bytes.extend(number.to_string().as_bytes()),
        ValueRef::Real(number) => bytes.extend(number.to_string().as_bytes()),
        ValueRef::Text(text) => bytes.extend(text),
        ValueRef::Blob(blob) => bytes.extend(blob),
    }
    Ok(())
}

/// Opens a file for reading alone. Without a log beside it nobody is writing, and SQLite is told so: otherwise it would make
/// files beside a database in WAL mode only to read it.
fn open(file: &Path) -> Result<Connection, String> {
    let full = std::fs::canonicalize(file).map_err(|error| error.to_string())?;
    let name = full.to_str().ok_or("its name is not UTF-8")?;
    let mut uri = String::from("file:");
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => uri.push(char::from(byte)),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    let log = Path::new(&format!("{name}-wal")).exists();
    uri.push_str(if log { "?mode=ro" } else { "?mode=ro&immutable=1" });
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(&uri, flags).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_read_and_nothing_is_left_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("app data #1.db");
        {
            let connection = Connection::open(&file).unwrap();
            let table = "PRAGMA journal_mode = wal; CREATE TABLE notes (id INTEGER, body TEXT, more BLOB);
                INSERT INTO notes VALUES (12, 'abc', x'00ff'), (3, NULL, NULL)";
            connection.execute_batch(table).unwrap();
        }
        let values = |table: &str, column: Option<&str>| {
            let mut all = Vec::new();
            read(&file, table, column, &mut |value| {
                all.push(value.to_vec());
                Ok(())
            })
            .map(|()| all)
        };
        assert_eq!(values("notes", Some("body")).unwrap(), [b"abc".to_vec(), Vec::new()]);
        assert_eq!(values("notes", None).unwrap(), [b"12abc\x00\xff".to_vec(), b"3".to_vec()]);
        assert!(values("notes", Some("nothing")).unwrap_err().contains("no such column"));
        assert!(values("nothing; DROP TABLE notes", None).unwrap_err().contains("no such table"));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
