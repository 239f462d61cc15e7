//! SQLite takes the statements that are shown, and ends with the settings that were read back.

use std::path::Path;

use rusqlite::Connection;
use rusqlite::types::Value;

use super::{Shown, def, snippets};
use crate::cli::support::Scratch;

/// A connection on which the statements have run from the line on that begins so; all of them without one.
fn connect(shown: &Shown, file: &Path, first_line: &str) -> Connection {
    let connection = Connection::open(file).unwrap();
    let start = shown.text.find(first_line).unwrap_or_else(|| panic!("no {first_line} in {shown}"));
    connection.execute_batch(&shown.text[start..]).unwrap_or_else(|error| panic!("{error}: {shown}"));
    connection
}

pub fn read(connection: &Connection, name: &str) -> String {
    let value = connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, Value>(0)).unwrap();
    match value {
        Value::Integer(number) => number.to_string(),
        Value::Text(text) => text,
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn every_connection_has_the_settings_that_were_read_back() {
    for shown in snippets(def("sqlite")) {
        let scratch = Scratch::new();
        let file = scratch.join("records.sqlite");
        let first = connect(shown, &file, "");
        first.execute("INSERT INTO records (key, value) VALUES (?1, ?2)", (b"key", b"value")).unwrap();
        // Beside the first, by what is said to be for every connection alone.
        let second = connect(shown, &file, "-- On every connection");
        for connection in [&first, &second] {
            for setting in &shown.settings {
                assert_eq!(read(connection, &setting.name), setting.value, "{}: {shown}", setting.name);
            }
        }
        let found: Vec<u8> = second.query_row("SELECT value FROM records", [], |row| row.get(0)).unwrap();
        assert_eq!(found, b"value");
    }
}
