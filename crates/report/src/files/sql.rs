//! All results as one SQLite file, for queries in SQL (docs/exports.md). This crate has no native code: the program's main passes the
//! writer ([`OpenSqlite`]).

mod figures;
mod sections;
mod trials;

use std::collections::BTreeSet;
use std::path::Path;

use storebench_figures::column::COLUMNS;
use storebench_figures::data::merge::Merged;
use storebench_figures::layout::words;
use storebench_model::axis::{Form, Value};
use storebench_model::cell::{Axis, Cell};
use storebench_model::read_limited;

use crate::report::Report;

/// A value of a row.
#[derive(Debug, Clone, PartialEq)]
pub enum SqlValue {
    /// Unknown, or not applicable.
    Null,
    /// A whole number; booleans are 0 and 1.
    Integer(i64),
    /// A number.
    Real(f64),
    /// Text.
    Text(String),
}

/// An SQLite file that is being written.
pub trait SqlWriter {
    /// Executes statements without values or rows. Errors are SQLite's messages.
    fn execute(&mut self, statements: &str) -> Result<(), SqlError>;

    /// Executes a statement with values. The same text is used many times.
    fn insert(&mut self, statement: &str, values: &[SqlValue]) -> Result<(), SqlError>;
}

/// Creates an SQLite file.
pub type OpenSqlite = fn(&Path) -> Result<Box<dyn SqlWriter>, SqlError>;

/// Why a file could not be written, in SQLite's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SqlError {
    /// The disk is full.
    Full(String),
    /// Anything else.
    Other(String),
}

/// The application id in the header of our files: `StoB`. Files without it are never replaced.
const APPLICATION_ID: u32 = 0x5374_6f42;

/// The version of the tables, for readers (`PRAGMA user_version`).
const TABLES_VERSION: u32 = 2;

/// Whether a file is from [`write()`]: SQLite's header, with our application id.
pub fn is_ours(path: &Path) -> bool {
    let is_marked = |head: Vec<u8>| {
        head.len() == 100
            && head.get(68..72) == Some(&APPLICATION_ID.to_be_bytes()[..])
            && head.starts_with(b"SQLite format 3\0")
    };
    read_limited::start(path, 100).is_ok_and(is_marked)
}

/// Writes everything.
pub fn write(report: &Report<'_>, out: &mut dyn SqlWriter) -> Result<(), SqlError> {
    let merged = report.merged;
    // Nobody reads it before it is complete, so it needs no journal.
    out.execute(&format!(
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA application_id = {APPLICATION_ID}; \
         PRAGMA user_version = {TABLES_VERSION}; BEGIN;"
    ))?;
    out.execute(&schema(merged))?;
    let mut tables = Tables { out, axes: merged.layout.axes(), cells: BTreeSet::new() };
    trials::write(merged.runs, &mut tables)?;
    figures::write(report, &mut tables)?;
    sections::write(report, &mut tables)?;
    out.execute(&with_figures(include_str!("sql/views.sql"), ""))?;
    out.execute("COMMIT; PRAGMA synchronous = FULL;")
}

/// Every table and view with its columns, for the reference, without the axes' columns, which depend on runs.
pub fn tables() -> Vec<(String, Vec<String>)> {
    let statements =
        include_str!("sql/schema.sql").to_owned() + &sections::schema() + include_str!("sql/views.sql");
    let (first, others) = statements.split_once(FIGURES).unwrap_or_default();
    let statements = with_figures(&format!("{first}{FIGURES}"), "")
        + &others.replace(FIGURES, "    operation_figures.*,\n");
    let definitions = statements.split("\nCREATE ").filter_map(|statement| {
        let (name, rest) = statement.split_once(' ')?.1.split_once(' ')?;
        let columns = match statement.split_once(' ')?.0 {
            "TABLE" => rest.strip_prefix('(')?.split_once("\n);")?.0,
            "VIEW" => rest.split_once("SELECT")?.1.split_once("FROM ")?.0,
            _ => return None,
        };
        Some((name.to_owned(), columns.to_owned()))
    });
    let split_columns = |(name, columns): (String, String)| {
        let lines = columns.lines().filter(|line| !line.trim_start().starts_with("--")).collect::<Vec<_>>();
        (name, split(&lines.join(" ")))
    };
    definitions.map(split_columns).collect()
}

/// The names of columns: the first word of a definition, or the last word of a selected expression.
fn split(columns: &str) -> Vec<String> {
    let mut depth = 0;
    let parts = columns.split(|character| {
        depth += i32::from(character == '(') - i32::from(character == ')');
        character == ',' && depth == 0
    });
    let name = |part: &str| {
        if let Some(table) = part.strip_suffix(".*") {
            return Some(format!("all of {table}"));
        }
        let is_selected = part.contains(" AS ") || part.contains('.');
        let word =
            if is_selected { part.split([' ', '.']).next_back()? } else { part.split_whitespace().next()? };
        (word != "PRIMARY").then(|| word.trim_matches('"').to_owned())
    };
    parts.filter_map(|part| name(part.trim())).collect()
}

/// The line of the schema that the columns of the axes replace.
const AXES: &str =
    "    -- a column for each axis, and two more for the bounds of one whose values are ranges\n";

/// The line of the schema, and of the views, that the figures of operations replace.
const FIGURES: &str = "    -- a column for each figure of operations\n";

fn schema(merged: &Merged<'_>) -> String {
    let mut axes = merged.layout.axes().to_vec();
    axes.sort_by_key(|axis| (axis.place_in_id(), *axis));
    let columns: Vec<String> = axes.into_iter().flat_map(|axis| columns(merged, axis)).collect();
    let tables = include_str!("sql/schema.sql").replace(AXES, &(columns.join(",\n") + "\n"));
    // A number without a fraction is kept as a whole one.
    with_figures(&tables, " NUMERIC") + &sections::schema()
}

/// Statements with a column, and its type, for each figure of operations.
fn with_figures(statements: &str, kind: &str) -> String {
    let figures = COLUMNS.iter().filter(|column| column.is_of_operation());
    let figures: String = figures.map(|column| format!("    {}{kind},\n", column.sql_name())).collect();
    statements.replace(FIGURES, &figures)
}

/// The columns of an axis. Where some cells have no value on it, it may be null.
fn columns(merged: &Merged<'_>, axis: Axis) -> Vec<String> {
    let is_everywhere = merged.cells().all(|cell| words::value(cell, axis).is_some());
    let not_null = if is_everywhere { " NOT NULL" } else { "" };
    let kind = if axis.def().form == Form::Number { "INTEGER" } else { "TEXT" };
    let value_column = format!("    {} {kind}{not_null}", name(axis.name()));
    let bounds = words::bounds(axis).into_iter().flatten();
    let bounds = bounds.map(|bound| format!("    {} INTEGER{not_null}", name(&bound)));
    std::iter::once(value_column).chain(bounds).collect()
}

/// The name of an axis's column, quoted: `index` is an axis, and a word of SQL.
fn name(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

struct Tables<'w> {
    out: &'w mut dyn SqlWriter,
    axes: &'w [Axis],
    /// Cells that have a row.
    cells: BTreeSet<String>,
}

type Field<'a> = (&'a str, SqlValue);

impl Tables<'_> {
    fn insert(&mut self, table: &str, fields: Vec<Field<'_>>) -> Result<(), SqlError> {
        let (names, values): (Vec<&str>, Vec<SqlValue>) = fields.into_iter().unzip();
        let placeholders = vec!["?"; names.len()].join(", ");
        let statement = format!("INSERT INTO {table} ({}) VALUES ({placeholders})", names.join(", "));
        self.out.insert(&statement, &values)
    }

    /// The id of a cell, which has a row from then on.
    fn cell(&mut self, cell: &Cell) -> Result<SqlValue, SqlError> {
        let id = cell.id();
        if self.cells.insert(id.clone()) {
            let axes = self.axes;
            let bounds: Vec<(String, SqlValue)> =
                axes.iter().flat_map(|axis| self::bounds(cell, *axis)).collect();
            let names: Vec<String> = axes.iter().map(|axis| name(axis.name())).collect();
            let mut fields: Vec<Field<'_>> = vec![("cell", text(&id))];
            fields.extend(bounds.iter().map(|(name, bound)| (name.as_str(), bound.clone())));
            let values = axes.iter().map(|axis| self::value(cell, *axis));
            fields.extend(names.iter().map(String::as_str).zip(values));
            self.insert("cells", fields)?;
        }
        Ok(SqlValue::Text(id))
    }
}

fn value(cell: &Cell, axis: Axis) -> SqlValue {
    match words::value(cell, axis) {
        None => SqlValue::Null,
        Some(value) if axis.def().form == Form::Number => integer(value.lower()),
        Some(value) => text(value.text()),
    }
}

fn bounds(cell: &Cell, axis: Axis) -> Vec<(String, SqlValue)> {
    let value = words::value(cell, axis);
    let ends = [value.as_ref().map(Value::lower), value.as_ref().map(Value::upper)];
    let names = words::bounds(axis).into_iter().flatten().map(|bound| name(&bound));
    names.zip(ends.map(|end| optional(end, integer))).collect()
}

fn text(text: &str) -> SqlValue {
    SqlValue::Text(text.to_owned())
}

/// A whole number, or a real one if it is too large for SQLite.
fn integer(number: u64) -> SqlValue {
    i64::try_from(number).map_or(SqlValue::Real(number as f64), SqlValue::Integer)
}

fn boolean(truth: bool) -> SqlValue {
    SqlValue::Integer(i64::from(truth))
}

fn real(number: f64) -> SqlValue {
    SqlValue::Real(number)
}

fn optional<T>(value: Option<T>, make: impl Fn(T) -> SqlValue) -> SqlValue {
    value.map_or(SqlValue::Null, make)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_files_are_ours() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        assert!(!is_ours(&path));
        for (mark, ours) in [(0, false), (APPLICATION_ID, true)] {
            let mut header = vec![0; 4096];
            header[..16].copy_from_slice(b"SQLite format 3\0");
            header[68..72].copy_from_slice(&mark.to_be_bytes());
            std::fs::write(&path, &header).unwrap();
            assert_eq!(is_ours(&path), ours);
            std::fs::write(&path, &header[..80]).unwrap();
            assert!(!is_ours(&path), "cut off");
        }
    }
}
