//! The published findings of the runs' studies: for reports, and for `storebench findings`, the document of all of them.

use std::path::Path;

use storebench_figures::claims::{self, StudyClaims};
use storebench_figures::data::merge::Merged;
use storebench_figures::published::{self, Table};
use storebench_host::folder;
use storebench_host::run::Run;
use storebench_model::error::{Error, Exit, Result};
use storebench_model::store::StoreDef;
use storebench_report::files::markdown;
use storebench_report::findings::{self, RunSentences};
use storebench_report::report::Report;

use super::args::FindingsArgs;
use super::files::{self, DOCUMENT_MARK};
use super::{runs, site};

/// Writes the document of a folder of runs; an error if it holds no run of a study with published findings.
pub fn write(stores: &[StoreDef], args: &FindingsArgs) -> Result<Exit> {
    let directory = runs::directory("the folder of runs", &args.directory)?;
    let name = |path: &Path| args.directory.join(path.strip_prefix(&directory).unwrap_or(path));
    let results = site::map_in_threads(&site::folders(&directory)?, |path| {
        let (run, notes) = folder::read_with_notes(path)?;
        sentences(stores, &[run], &notes, &name(path).display().to_string())
    });
    let all_runs: Vec<RunSentences> =
        results.into_iter().filter_map(Result::transpose).collect::<Result<_>>()?;
    if all_runs.is_empty() {
        let message =
            format!("there is no run of a study with published findings in {}", args.directory.display());
        return Err(Error::new(Exit::NotStorebench, message));
    }
    let parts = markdown::parts(&findings::blocks(all_runs.iter().collect()), 2);
    let text = format!("{DOCUMENT_MARK}findings`. -->\n\n# What came of the papers' sentences\n{parts}");
    files::page(&args.out, text.as_bytes())?;
    files::print_written(&args.out);
    Ok(Exit::Success)
}

/// What a run says of the sentences of its study, as this version has them, under the name of its folder; `None` if there are none.
pub fn sentences(
    stores: &[StoreDef],
    run: &[Run; 1],
    notes: &[String],
    name: &str,
) -> Result<Option<RunSentences>> {
    let [Run { header, trials, .. }] = run;
    if trials.is_empty() {
        return Ok(None);
    }
    let study = &header.study;
    let merged = Merged::new(run, stores)
        .with_published(claims::study_claims(study)?.into_iter().collect(), published::tables(study)?);
    Ok(findings::run_sentences(&Report::new(&merged), name, notes))
}

/// The runs, ready for comparison with published results.
pub fn with_published<'a>(merged: Merged<'a>, runs: &[Run]) -> Result<Merged<'a>> {
    let mut claims_of_studies: Vec<StudyClaims> = Vec::new();
    let mut tables: Vec<Table> = Vec::new();
    for run in runs {
        let study = &run.header.study;
        let is_same_study = |other: &StudyClaims| other.study == *study;
        if !claims_of_studies.iter().any(is_same_study) {
            let origin = format!("run.json of {}, {}", run.header.hardware, run.header.started);
            claims_of_studies.extend(claims::run_claims(study, &run.header.plan, &origin)?);
        }
        if !tables.iter().any(|table| table.study == *study) {
            tables.extend(published::tables(study)?);
        }
    }
    Ok(merged.with_published(claims_of_studies, tables))
}
