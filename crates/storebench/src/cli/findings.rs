//! What was published, for reports: the claims of the runs' studies, and the tables that come with the program.

use crate::claims::StudyClaims;
use crate::error::Result;
use crate::plan;
use crate::published::{self, Table};
use crate::report::merge::Merged;
use crate::result::Run;

/// The runs, to be compared with what was published.
pub fn with_published<'a>(merged: Merged<'a>, runs: &[Run]) -> Result<Merged<'a>> {
    let mut claims: Vec<StudyClaims> = Vec::new();
    let mut tables: Vec<Table> = Vec::new();
    for run in runs {
        let study = &run.header.study;
        let known = |other: &StudyClaims| other.study == *study;
        if !claims.iter().any(known) {
            let origin = format!("run.json of {}, {}", run.header.hardware, run.header.started);
            claims.extend(plan::claims_of(study, &run.header.plan, &origin)?);
        }
        if !tables.iter().any(|table| table.study == *study) {
            tables.extend(published::tables(study)?);
        }
    }
    Ok(merged.with_published(claims, tables))
}
