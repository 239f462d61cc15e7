//! A section as CSV: the rows of all its tables under all of their columns; columns that a table lacks stay empty.

use std::io::{self, Write};

use crate::files::spreadsheet_safe::put;
use crate::section::{Block, Column, Section, Table, Value};

/// The columns of a section.
pub fn header(section: &Section) -> Vec<String> {
    let mut header: Vec<String> = Vec::new();
    for name in section.shapes.iter().flat_map(|shape| shape.columns).flat_map(Column::csv_names) {
        if !header.contains(&name) {
            header.push(name);
        }
    }
    header
}

/// Writes the rows; only the header if the section is empty.
pub fn write(section: &Section, blocks: &[Block], out: &mut dyn Write) -> io::Result<()> {
    let header = header(section);
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(&header)?;
    for table in Block::tables(blocks) {
        rows(table, &header, &mut writer)?;
    }
    writer.flush()
}

fn rows<W: Write>(table: &Table, header: &[String], writer: &mut csv::Writer<W>) -> io::Result<()> {
    let columns = table.shape.columns;
    let names: Vec<String> = columns.iter().flat_map(Column::csv_names).collect();
    let places: Vec<Option<usize>> =
        header.iter().map(|name| names.iter().position(|other| other == name)).collect();
    for row in table.file_rows() {
        let exported = columns.iter().zip(&row.cells).filter(|(column, _)| column.in_csv);
        let values = exported.flat_map(|(column, cell)| cell.value.file_values(column.kind));
        let texts: Vec<String> = values.map(|value| text(&value)).collect();
        put(writer, places.iter().map(|place| place.map_or("", |place| texts[place].as_str())))?;
    }
    Ok(())
}

fn text(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::List(texts) => texts.join("; "),
        Value::Whole(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Truth(truth) => u8::from(*truth).to_string(),
        // An estimate is written as three numbers.
        Value::None | Value::Estimate(_) => String::new(),
    }
}
