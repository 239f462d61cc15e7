//! Adds published findings to reports: the claims of the runs' studies, and the program's tables.

use storebench_core::error::Result;
use storebench_host::run::Run;
use storebench_report::claims::{self, StudyClaims};
use storebench_report::data::merge::Merged;
use storebench_report::published::{self, Table};

/// The runs, ready for comparison with published results.
pub fn with_published<'a>(merged: Merged<'a>, runs: &[Run]) -> Result<Merged<'a>> {
    let mut of_studies: Vec<StudyClaims> = Vec::new();
    let mut tables: Vec<Table> = Vec::new();
    for run in runs {
        let study = &run.header.study;
        let known = |other: &StudyClaims| other.study == *study;
        if !of_studies.iter().any(known) {
            let origin = format!("run.json of {}, {}", run.header.hardware, run.header.started);
            of_studies.extend(claims::of_run(study, &run.header.plan, &origin)?);
        }
        if !tables.iter().any(|table| table.study == *study) {
            tables.extend(published::tables(study)?);
        }
    }
    Ok(merged.with_published(of_studies, tables))
}
