//! A column of a CSV file with a header as data: every row has one value in it.

use std::path::Path;

use super::Sample;
use storebench_model::error::meant;
use storebench_model::read_limited::{self, RationedReader};
use storebench_model::sanitize::quoted;

/// Columns that an error lists.
const LISTED: usize = 20;
/// The longest row, in bytes.
const MOST_ROW: u64 = 64 << 20;
/// Bytes that are checked for signs of another kind of file.
const START: usize = 8192;

pub fn sample_csv(file: &Path, column: &str, sample: &mut Sample) -> Result<(), String> {
    let fault = |error: csv::Error| format!("{}: {error}", file.display());
    let start = read_limited::start(file, START).map_err(|error| fault(error.into()))?;
    // Texts have no NUL.
    if start.contains(&0) {
        return Err(format!("{} is not a CSV file: it holds binary data", file.display()));
    }
    // No header of a CSV file with column names begins as JSON does.
    if start.iter().find(|byte| !byte.is_ascii_whitespace()).is_some_and(|byte| b"{[".contains(byte)) {
        return Err(format!(
            "{} is JSON, which is not read: make each record a file in a folder, or a row of a CSV file \
             (data.csv:column) or of a SQLite file (app.db:table)",
            file.display()
        ));
    }
    let text = read_limited::plain_file(file).map_err(|error| fault(error.into()))?;
    let mut rows = csv::Reader::from_reader(RationedReader::new(text, MOST_ROW));
    let headers = rows.byte_headers().map_err(fault)?.clone();
    let names: Vec<String> = headers.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
    let escape = |name: &String| name.escape_debug().to_string();
    let Some(position) = names.iter().position(|name| name == column) else {
        let hint = meant(column, names.iter().map(String::as_str));
        let hint = hint.map_or_else(String::new, |name| format!(" (did you mean {}?)", name.escape_debug()));
        let listed: Vec<String> = names.iter().take(LISTED).map(escape).collect();
        let more = names.len().saturating_sub(LISTED);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        let column_list = format!("it has {}{more}", listed.join(", "));
        let file = file.display();
        return Err(match column {
            "" => format!("name one of its columns, like {file}:column: {column_list}"),
            column => format!("{file} has no column {}{hint}; {column_list}", quoted(column)),
        });
    };
    let mut row = csv::ByteRecord::new();
    loop {
        rows.get_mut().allow_more();
        if !rows.read_byte_record(&mut row).map_err(fault)? {
            return Ok(());
        }
        let value = row.get(position).unwrap_or_default();
        sample.add(value.len() as u64, |most| Ok(value[..value.len().min(most)].to_vec()))?;
    }
}
