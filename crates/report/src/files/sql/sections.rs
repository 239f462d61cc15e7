//! The tables of all sections: one for each shape, with its columns.

use super::{Field, SqlError, SqlValue, Tables, name};
use crate::report::Report;
use crate::section::{Block, Column, Kind, Shape, Table, Value};
use crate::sections::SECTIONS;

pub fn schema() -> String {
    SECTIONS.iter().flat_map(|section| section.shapes).map(|shape| table(shape)).collect()
}

fn table(shape: &Shape) -> String {
    let columns = shape.columns.iter().flat_map(|column| {
        let kind = match column.kind {
            Kind::Text => "TEXT",
            Kind::Whole => "INTEGER",
            Kind::Real | Kind::Estimate => "REAL",
        };
        column.sql_names().into_iter().map(move |column| format!("    {} {kind}", name(&column)))
    });
    format!("\nCREATE TABLE {} (\n{}\n);\n", shape.name, columns.collect::<Vec<_>>().join(",\n"))
}

pub fn write(report: &Report<'_>, tables: &mut Tables<'_>) -> Result<(), SqlError> {
    let blocks = SECTIONS.iter().flat_map(|section| Block::tables(report.blocks(section)));
    for table in blocks {
        rows(table, tables)?;
    }
    Ok(())
}

fn rows(table: &Table, tables: &mut Tables<'_>) -> Result<(), SqlError> {
    let columns = table.shape.columns;
    let names: Vec<String> = columns.iter().flat_map(Column::sql_names).map(|text| name(&text)).collect();
    for row in table.file_rows() {
        let exported = columns.iter().zip(&row.cells).filter(|(column, _)| column.in_sql.is_some());
        let values = exported.flat_map(|(column, cell)| cell.value.file_values(column.kind)).map(value);
        let fields: Vec<Field<'_>> = names.iter().map(String::as_str).zip(values).collect();
        tables.insert(table.shape.name, fields)?;
    }
    Ok(())
}

fn value(value: Value) -> SqlValue {
    match value {
        // An estimate is written as three numbers.
        Value::None | Value::Estimate(_) => SqlValue::Null,
        Value::Text(text) => SqlValue::Text(text),
        Value::List(texts) => SqlValue::Text(texts.join(", ")),
        Value::Whole(number) => super::integer(number),
        Value::Real(number) => SqlValue::Real(number),
        Value::Truth(truth) => super::boolean(truth),
    }
}
