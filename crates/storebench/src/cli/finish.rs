//! The end of a run: prints the answer with its tables, writes the report, and lists the written files.

use std::path::Path;

use storebench_figures::data::danger;
use storebench_host::runner::parent::RunEnd;
use storebench_model::error::{Exit, Result};
use storebench_model::store::StoreDef;
use storebench_model::units::plural;
use storebench_report::report::Report;
use storebench_report::terminal;

use super::output::{print, print_note, style};
use super::{export, files, report};

/// Prints the answer with its tables, writes YCSB's text if asked for, and lists the written files, or says how to resume.
pub fn finish(
    stores: &[StoreDef],
    path: &Path,
    end: RunEnd,
    ycsb: Option<&Path>,
    resume_command: &str,
) -> Result<Exit> {
    let folder = path.display();
    let run = storebench_host::folder::read(path)?;
    let merged = report::merge_run(stores, &run, path)?;
    let report = Report::new(&merged);
    if !end.interrupted {
        print(&terminal::end_text(&report, style()))?;
    }
    if !run.trials.is_empty() {
        let page = files::page_in(path);
        match page.and_then(|page| report::page(&report, None, &page).map(|()| page)) {
            Ok(page) => print_note(&format!("\nthe report: open {} in a browser", page.display())),
            // The results are safe, and the page can be made from them later.
            Err(error) => print_note(&format!("\nthe report could not be written: {error}")),
        }
    }
    if let Some(text) = ycsb.filter(|_| !end.interrupted) {
        files::new(text, &export::ycsb_text(std::slice::from_ref(&run))?)?;
        files::print_written(text);
    }
    print_note(&format!(
        "\nwritten: {folder}/run.json (the plan and the machine),\n         {folder}/results.jsonl (every trial)"
    ));
    if end.failed > 0 {
        print_note(&format!("{} failed; the logs are in {folder}/logs", plural(end.failed, "trial")));
    }
    if end.interrupted {
        print_note(&format!("interrupted; finished results are kept. Resume with: {resume_command}"));
        return Ok(Exit::Interrupted);
    }
    print_note(&format!("every figure: storebench report {folder} --table"));
    if let Some(trial) = run.trials.iter().find(|trial| danger::is_shown_first(stores, trial)) {
        let cell = trial.cell.id();
        print_note(&format!(
            "{cell}: a power cut costs more than was known; see storebench crash show {folder}"
        ));
        return Ok(Exit::Danger);
    }
    Ok(if end.failed > 0 { Exit::TrialsFailed } else { Exit::Success })
}
