//! JSON with everything: the runs as recorded, and what is computed from them.

use std::collections::BTreeMap;
use std::io::{self, Write};

use indexmap::IndexMap;
use serde::Serialize;
use storebench_figures::data::effects::{Effects, effects};
use storebench_figures::data::findings;
use storebench_figures::data::findings::document::{StudyDocument, documents};
use storebench_figures::data::matrix::Matrix;
use storebench_figures::data::published::{self, TableDocument};
use storebench_figures::data::sizes::{Sizes, sizes};
use storebench_figures::data::slowdown::{Slowdowns, slowdowns};
use storebench_model::result::{FORMAT_VERSION, RunHeader, TrialResult};

use crate::report::Report;
use crate::section::{Block, Column, Value};
use crate::sections::SECTIONS;

#[derive(Serialize)]
struct Document<'a> {
    format: u32,
    runs: Vec<RunDocument<'a>>,
    matrices: Vec<&'a Matrix>,
    slowdowns: Vec<Slowdowns>,
    effects: Vec<Effects>,
    sizes: Vec<Sizes>,
    findings: Vec<StudyDocument<'a>>,
    published: Vec<TableDocument<'a>>,
    sections: BTreeMap<&'static str, Tables>,
}

#[derive(Serialize)]
struct RunDocument<'a> {
    header: &'a RunHeader,
    trials: &'a [TrialResult],
}

/// Writes one JSON document.
pub fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let merged = report.merged;
    let runs = merged.runs.iter().map(|run| RunDocument { header: &run.header, trials: &run.trials });
    let studies = findings::check(merged);
    let tables = published::compare_tables(merged, None);
    let document = Document {
        format: FORMAT_VERSION,
        runs: runs.collect(),
        matrices: report.matrices().iter().flatten().collect(),
        slowdowns: slowdowns(merged),
        effects: effects(merged),
        sizes: sizes(merged),
        findings: documents(merged, &studies),
        published: published::documents(merged, &tables),
        sections: sections(report),
    };
    serde_json::to_writer(&mut *out, &document)?;
    out.write_all(b"\n")
}

/// The rows of a section's tables, by the tables' names.
type Tables = IndexMap<&'static str, Vec<IndexMap<String, Value>>>;

fn sections(report: &Report<'_>) -> BTreeMap<&'static str, Tables> {
    let mut tables: BTreeMap<&'static str, Tables> = BTreeMap::new();
    for section in SECTIONS {
        for table in Block::tables(report.blocks(section)) {
            let columns = table.shape.columns;
            let names: Vec<String> = columns.iter().flat_map(Column::sql_names).collect();
            let rows = tables.entry(section.name).or_default().entry(table.shape.name).or_default();
            rows.extend(table.file_rows().map(|row| {
                let exported = columns.iter().zip(&row.cells).filter(|(column, _)| column.in_sql.is_some());
                let values = exported.flat_map(|(column, cell)| cell.value.file_values(column.kind));
                names.iter().cloned().zip(values).collect()
            }));
        }
    }
    tables
}
