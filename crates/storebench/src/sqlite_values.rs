//! Reads the values of a user's SQLite table for `advise --like`. Nothing is written, not even next to the file.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags, Row};
use storebench_host::sample_data::{SAMPLED_BYTES, ValueVisitor};
use storebench_model::read_limited;
use storebench_model::sanitize::piece;
use storebench_model::units::with_commas;
use tempfile::TempDir;

/// Names of tables or columns that a message lists.
const MOST_LISTED: usize = 20;

/// Steps of SQLite's machine between two checks of their number.
const STEPS_AT_ONCE: u64 = 1_000_000;
/// The most steps of a view: about a minute's.
const MOST_STEPS: u64 = if cfg!(test) { 2_000_000 } else { 1_000_000_000 };

/// Hands the size of every value of a column to `visit`, with its first bytes, or of every row's values together. If there is no such
/// table or column, the error lists the existing ones; an empty name asks for that list.
pub fn read(
    file: &Path,
    table: &str,
    column: Option<&str>,
    visit: &mut ValueVisitor<'_>,
) -> Result<(), String> {
    let mut reader = open(file)?;
    let connection = &mut reader.connection;
    // A view may count for ever; a table has an end.
    let view_query = "SELECT count(*) FROM sqlite_schema WHERE type = 'view' AND name = ?1 COLLATE NOCASE";
    let is_view =
        connection.query_row(view_query, [table], |row| row.get(0)).map_err(|error| error.to_string())?;
    let mut checks_left = MOST_STEPS / STEPS_AT_ONCE;
    let is_too_long = move || {
        checks_left = checks_left.saturating_sub(1);
        is_view && checks_left == 0
    };
    let handler_set = connection.progress_handler(STEPS_AT_ONCE as i32, Some(is_too_long));
    handler_set.map_err(|error| error.to_string())?;
    let describe_error = |error: rusqlite::Error| match error.sqlite_error_code() {
        Some(ErrorCode::OperationInterrupted) => format!(
            "{} takes more than {} steps of SQLite: a view may have no end; make a table of what you mean",
            piece(table),
            with_commas(MOST_STEPS)
        ),
        _ => error.to_string(),
    };
    let columns = column.map_or_else(|| "*".to_owned(), quote_name);
    let mut statement = connection
        .prepare(&format!("SELECT {columns} FROM {}", quote_name(table)))
        .map_err(|error| describe_existing(connection, table).unwrap_or_else(|_| error.to_string()))?;
    let count = statement.column_count();
    let mut rows = statement.query([]).map_err(describe_error)?;
    let mut bytes = Vec::new();
    while let Some(row) = rows.next().map_err(describe_error)? {
        bytes.clear();
        let mut size = 0;
        (0..count)
            .try_for_each(|position| append(row, position, &mut size, &mut bytes))
            .map_err(describe_error)?;
        visit(size, &bytes)?;
    }
    Ok(())
}

/// A quoted name that can't be read as text. (SQLite reads an unknown name in double quotes as text; in brackets never.)
fn quote_name(name: &str) -> String {
    format!("[{}]", name.replace(']', ""))
}

/// Adds a value to the size of its row, and its beginning to the row's first bytes, up to the limit.
fn append(row: &Row<'_>, position: usize, size: &mut u64, start: &mut Vec<u8>) -> rusqlite::Result<()> {
    let mut add = |bytes: &[u8]| {
        *size += bytes.len() as u64;
        let room = SAMPLED_BYTES - start.len();
        start.extend_from_slice(&bytes[..bytes.len().min(room)]);
    };
    match row.get_ref(position)? {
        ValueRef::Null => {}
        ValueRef::Integer(number) => add(number.to_string().as_bytes()),
        ValueRef::Real(number) => add(number.to_string().as_bytes()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => add(bytes),
    }
    Ok(())
}

/// A user's database, open read-only.
struct Reader {
    connection: Connection,
    /// The copy that is read instead of a file with unfinished changes; deleted after the connection is closed.
    _copy: Option<TempDir>,
}

/// Opens a file read-only, in the way that leaves nothing behind:
/// - in WAL mode without a log, nobody has it open. SQLite is given a flag for that; otherwise it would make a log to read it;
/// - in WAL mode with a log and its index, a program has it open, and SQLite reads it as well;
/// - with changes that a crash left unfinished, SQLite would first finish or undo them. A copy is read instead.
fn open(file: &Path) -> Result<Reader, String> {
    let describe_error = |error: io::Error| error.to_string();
    let full_path = fs::canonicalize(file).map_err(describe_error)?;
    let with_suffix = |suffix: &str| {
        let mut name = full_path.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    };
    let [log, index, journal] = ["-wal", "-shm", "-journal"].map(with_suffix);
    if is_in_wal_mode(&full_path).map_err(describe_error)? {
        return match (log.exists(), index.exists()) {
            (false, _) => {
                Ok(Reader { connection: connect(&full_path, "?mode=ro&immutable=1")?, _copy: None })
            }
            (true, true) => Ok(Reader { connection: connect(&full_path, "?mode=ro")?, _copy: None }),
            (true, false) => open_copy(&full_path, &log),
        };
    }
    let connection = connect(&full_path, "?mode=ro")?;
    let readable = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()));
    match readable {
        Err(_) if journal.exists() => open_copy(&full_path, &journal),
        Err(error) => Err(error.to_string()),
        Ok(()) => Ok(Reader { connection, _copy: None }),
    }
}

/// Reads a copy of a file and its log or journal.
fn open_copy(file: &Path, log: &Path) -> Result<Reader, String> {
    let describe_error =
        |error: io::Error| format!("copying it, as its last changes are unfinished: {error}");
    let folder = tempfile::tempdir().map_err(describe_error)?;
    let mut copies = Vec::new();
    for path in [file, log] {
        let copy = folder.path().join(path.file_name().unwrap_or_default());
        fs::copy(path, &copy).map_err(describe_error)?;
        copies.push(copy);
    }
    let connection = Connection::open(&copies[0]).map_err(|error| error.to_string())?;
    Ok(Reader { connection, _copy: Some(folder) })
}

/// Whether a database is in WAL mode, by its 19th byte (SQLite's file format, 1.3.1).
fn is_in_wal_mode(file: &Path) -> io::Result<bool> {
    Ok(read_limited::start(file, 20)?.get(18) == Some(&2))
}

fn connect(file: &Path, query: &str) -> Result<Connection, String> {
    let name = file.to_str().ok_or("its name is not UTF-8")?;
    let mut uri = String::from("file:");
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => uri.push(char::from(byte)),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri.push_str(query);
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(&uri, flags).map_err(|error| error.to_string())
}

/// A sentence with the existing tables, or the columns of this one.
fn describe_existing(connection: &Connection, table: &str) -> rusqlite::Result<String> {
    let read_names = |sql: &str| -> rusqlite::Result<Vec<String>> {
        connection.prepare(sql)?.query_map([], |row| row.get(0))?.collect()
    };
    let columns =
        read_names(&format!("SELECT name FROM pragma_table_info('{}')", table.replace('\'', "''")))?;
    if !columns.is_empty() {
        return Ok(format!("its table {} has the columns {}", piece(table), join_names(&columns)));
    }
    let tables = read_names("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') ORDER BY name")?;
    let contents = match tables.as_slice() {
        [] => "it has no tables".into(),
        tables => format!("it has {}", join_names(tables)),
    };
    Ok(match table {
        "" => contents,
        table => format!("it has no table {}; {contents}", piece(table)),
    })
}

fn join_names(names: &[String]) -> String {
    let more = names.len().saturating_sub(MOST_LISTED);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    let names: Vec<_> = names.iter().take(MOST_LISTED).map(|name| piece(name)).collect();
    format!("{}{more}", names.join(", "))
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
        let read_values = |table: &str, column: Option<&str>| {
            let mut found = Vec::new();
            read(&file, table, column, &mut |_, value| {
                found.push(value.to_vec());
                Ok(())
            })
            .map(|()| found)
        };
        assert_eq!(read_values("notes", Some("body")).unwrap(), [b"abc".to_vec(), Vec::new()]);
        assert_eq!(read_values("notes", None).unwrap(), [b"12abc\x00\xff".to_vec(), b"3".to_vec()]);
        let error = read_values("notes", Some("nothing")).unwrap_err();
        assert_eq!(error, "its table notes has the columns id, body, more");
        let error = read_values("nothing; DROP TABLE notes", None).unwrap_err();
        assert_eq!(error, "it has no table nothing; DROP TABLE notes; it has notes");
        assert_eq!(read_values("", None).unwrap_err(), "it has notes");
        let error = read_values(&"x".repeat(10_000), None).unwrap_err();
        assert!(error.ends_with("xxx...; it has notes") && error.len() < 100, "{error}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_view_without_an_end_is_an_error_and_a_long_value_is_not_copied() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.db");
        let tables = "CREATE TABLE t (x); INSERT INTO t VALUES (zeroblob(9000000)); CREATE VIEW endless AS WITH RECURSIVE
            n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n";
        Connection::open(&file).unwrap().execute_batch(tables).unwrap();
        let mut seen = (0_u64, 0);
        let note_size = &mut |size: u64, start: &[u8]| {
            seen = (size, start.len());
            Ok(())
        };
        read(&file, "t", None, note_size).unwrap();
        assert_eq!(seen, (9_000_000, SAMPLED_BYTES));
        let error = read(&file, "endless", None, &mut |_, _| Ok(())).unwrap_err();
        assert!(error.contains("2,000,000 steps of SQLite"), "{error}");
    }

    fn contents(folder: &Path) -> Vec<(std::ffi::OsString, Vec<u8>)> {
        let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
        let mut files: Vec<_> = entries.map(|e| (e.file_name(), fs::read(e.path()).unwrap())).collect();
        files.sort();
        files
    }

    fn count(file: &Path) -> usize {
        let mut count = 0;
        read(file, "t", None, &mut |_, _| {
            count += 1;
            Ok(())
        })
        .unwrap();
        count
    }

    #[test]
    fn changes_that_a_crash_left_unfinished_are_read_from_a_copy() {
        for (mode, suffix, rows) in [("wal", "-wal", 2000), ("delete", "-journal", 1000)] {
            let (folder, crashed) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            let file = folder.path().join("a.db");
            let connection = Connection::open(&file).unwrap();
            let insert = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
                INSERT INTO t SELECT randomblob(500) FROM n";
            let table = format!("PRAGMA journal_mode = {mode}; CREATE TABLE t (x); {insert};");
            connection.execute_batch(&table).unwrap();
            // Pages that are spilled before the end of a transaction are in the file already, and its journal undoes
            // them.
            let more = format!("PRAGMA cache_size = 10; BEGIN; {insert}; UPDATE t SET x = randomblob(500);");
            connection.execute_batch(&more).unwrap();
            if mode == "wal" {
                connection.execute_batch("COMMIT").unwrap();
            }
            for name in ["a.db".to_owned(), format!("a.db{suffix}")] {
                fs::copy(folder.path().join(&name), crashed.path().join(&name)).unwrap();
            }
            let before = contents(crashed.path());
            assert_eq!(count(&crashed.path().join("a.db")), rows, "{mode}");
            assert!(contents(crashed.path()) == before, "{mode}: something was written");
            // The open one can be read too, and no file appears or disappears.
            if mode == "wal" {
                let names =
                    |folder: &Path| contents(folder).into_iter().map(|(name, _)| name).collect::<Vec<_>>();
                let before = names(folder.path());
                assert_eq!(count(&file), rows);
                assert_eq!(names(folder.path()), before);
            }
        }
    }
}
