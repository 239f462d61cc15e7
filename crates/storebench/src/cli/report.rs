//! `storebench report`: reads runs and shows or exports them.

use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};

use storebench_figures::data::merge::Merged;
use storebench_figures::data::planned_trials;
use storebench_host::run::Run;
use storebench_model::error::{Error, Exit, Result};
use storebench_model::sanitize::quoted;
use storebench_model::store::StoreDef;
use storebench_report::files::{csv, json, section};
use storebench_report::page::Lead;
use storebench_report::report::Report;
use storebench_report::section::Section;
use storebench_report::sections::{self, SECTIONS};
use storebench_report::terminal::{self, published};

use super::args::ReportArgs;
use super::extras::Extras;
use super::findings::with_published;
use super::output::{print, print_data, style};
use super::{export, files, floor, runs};

pub fn report(stores: &[StoreDef], extras: Extras, args: &ReportArgs) -> Result<Exit> {
    check_no_output(args)?;
    // The end of the process frees them at once; freeing a large run piece by piece takes a tenth of a second.
    let runs = ManuallyDrop::new(runs::read_all(&args.runs, &args.out)?);
    if runs.iter().all(|run| run.trials.is_empty()) {
        let is_finished = runs.iter().all(|run| planned_trials::unfinished(run).is_none());
        return Err(Error::new(
            Exit::Nothing,
            match is_finished {
                true => {
                    "there is nothing to measure in this part of the plan: name another, or what merge made of all"
                }
                false => "there are no results yet: resume the run with storebench run --resume RUN",
            },
        ));
    }
    let merged = Merged::new(&runs, stores).with_devices(&floor::find_device_runs(&args.runs, &args.out));
    let merged = with_published(merged, &runs)?;
    let report = ManuallyDrop::new(Report::new(&merged));
    if let Some(path) = &args.html {
        page(&report, None, path)?;
        files::print_written(path);
    }
    if let Some(path) = &args.sqlite {
        export::sqlite(&report, extras, path)?;
    }
    if args.is_printed() || !args.is_written() {
        show(&report, args)?;
    }
    Ok(Exit::Success)
}

/// Printed formats take no file name, which would be read as a run.
fn check_no_output(args: &ReportArgs) -> Result<()> {
    let printed = [("--csv", args.csv), ("--json", args.json)];
    let Some((option, _)) = printed.into_iter().find(|(_, is_set)| *is_set) else { return Ok(()) };
    let is_output = |path: &&PathBuf| {
        path.extension().is_some_and(|extension| extension == "csv" || extension == "json") && !path.is_dir()
    };
    match args.runs.iter().find(is_output) {
        Some(file) => Err(Error::bad_value(format!(
            "{option} prints to standard output and takes no file: storebench report RUN {option} > {}",
            file.display()
        ))),
        None => Ok(()),
    }
}

fn show(report: &Report<'_>, args: &ReportArgs) -> Result<()> {
    let merged = report.merged;
    if args.ycsb {
        return print_data(&export::ycsb_text(merged.runs)?);
    }
    let text = match &args.published {
        _ if args.is_data() => return print_data(&data(report, args)?),
        Some(name) => published::text(merged, find_table(merged, name)?, style()),
        None if args.table => terminal::full(report, style()),
        None => terminal::overview(report, style()),
    };
    print(&text)
}

/// The runs for other programs.
fn data(report: &Report<'_>, args: &ReportArgs) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let result = if args.csv {
        csv::write(report.merged, &mut bytes)
    } else if let Some(name) = args.section() {
        let section = find_section(name)?;
        section::write(section, report.blocks(section), &mut bytes)
    } else {
        json::write(report, &mut bytes)
    };
    result.map_err(|error| Error::new(Exit::Failure, format!("writing the report: {error}")))?;
    Ok(bytes)
}

fn find_section(name: &str) -> Result<&'static Section> {
    let known = || SECTIONS.iter().map(|section| section.name).collect::<Vec<_>>().join(", ");
    let unknown = || Error::bad_value(format!("there is no section {}: there are {}", quoted(name), known()));
    sections::find(name).ok_or_else(unknown)
}

/// The requested published table; `None` without a name.
fn find_table<'n>(merged: &Merged<'_>, name: &'n str) -> Result<Option<&'n str>> {
    let known: Vec<&str> = merged.tables.iter().map(|table| table.name.as_str()).collect();
    let refuse = |message: String| Err(Error::bad_value(message));
    match name {
        _ if known.is_empty() => refuse("no published table comes with the study of this run".into()),
        "" => Ok(None),
        name if known.contains(&name) => Ok(Some(name)),
        _ => refuse(format!("there is no published table {}: there are {}", quoted(name), known.join(", "))),
    }
}

/// A run with everything that its end shows: the device runs next to its folder, and published results.
pub fn merge_run<'r>(stores: &'r [StoreDef], run: &'r Run, folder: &Path) -> Result<Merged<'r>> {
    let runs = std::slice::from_ref(run);
    let devices = folder.parent().map(floor::find_in_folder).unwrap_or_default();
    with_published(Merged::new(runs, stores).with_devices(&devices), runs)
}

/// Writes a page, with an answer at its top if there is one.
pub fn page(report: &Report<'_>, lead: Option<&Lead>, path: &Path) -> Result<()> {
    let mut bytes = Vec::new();
    storebench_report::page::write(report, lead, &mut bytes)
        .map_err(|error| Error::new(Exit::Failure, format!("writing the page: {error}")))?;
    files::page(path, &bytes)
}
