//! A column of a CSV file with a header: every row has one value in it.

use std::path::Path;

use super::Sample;
use crate::error::meant;

pub fn look(file: &Path, column: &str, sample: &mut Sample) -> Result<(), String> {
    let fault = |error: csv::Error| format!("{}: {error}", file.display());
    let mut rows = csv::ReaderBuilder::new().from_path(file).map_err(fault)?;
    let head = rows.byte_headers().map_err(fault)?.clone();
    let names: Vec<String> = head.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
    let Some(position) = names.iter().position(|name| name == column) else {
        let hint = meant(column, names.iter().map(String::as_str));
        let hint = hint.map_or_else(String::new, |name| format!(" (did you mean {name}?)"));
        return Err(format!(
            "{} has no column {column:?}{hint}; it has {}",
            file.display(),
            names.join(", ")
        ));
    };
    let mut row = csv::ByteRecord::new();
    while rows.read_byte_record(&mut row).map_err(fault)? {
        let value = row.get(position).unwrap_or_default();
        sample.add(value.len() as u64, |most| Ok(value[..value.len().min(most)].to_vec()))?;
    }
    Ok(())
}
