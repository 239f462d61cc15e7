//! `storebench report`: reads runs and shows them.

use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};

use storebench_core::error::{Error, Exit, Result};
use storebench_core::result::Run;
use storebench_core::shown::quoted;
use storebench_core::store::{Kind, StoreDef};
use storebench_report::data::merge::Merged;
use storebench_report::files::{csv, csv_effects, csv_long, csv_sizes, json};
use storebench_report::page::Lead;
use storebench_report::terminal::{self, published};

use super::args::ReportArgs;
use super::extras::Extras;
use super::findings::with_published;
use super::output::{print, print_data, style, tell};
use super::{export, files, floor, runs};

/// Shows runs.
pub fn report(stores: &[StoreDef], extras: Extras, args: &ReportArgs) -> Result<Exit> {
    no_output_among(args)?;
    // The end of the process frees them at once; piece by piece a large run takes a tenth of a second.
    let runs = ManuallyDrop::new(runs::read_all(&args.runs, &args.out)?);
    if runs.iter().all(|run| run.trials.is_empty()) {
        return Err(Error::new(
            Exit::Nothing,
            "there are no results yet: resume the run with storebench run --resume RUN",
        ));
    }
    let harness = harness(stores);
    let merged = Merged::new(&runs, &harness)
        .with_settings(stores)
        .with_devices(&floor::beside(&args.runs, &args.out));
    let merged = with_published(merged, &runs)?;
    if let Some(path) = &args.html {
        page(&merged, None, path)?;
        tell(&format!("written: {}", path.display()));
    }
    export::files(&merged, extras, &args.export)?;
    if args.is_printed() || !args.is_written() {
        show(&merged, args)?;
    }
    Ok(Exit::Success)
}

/// Formats that are printed take no name of a file, which would be read as a run.
fn no_output_among(args: &ReportArgs) -> Result<()> {
    let printed = [("--csv", args.csv), ("--csv-long", args.csv_long), ("--json", args.json)];
    let Some((option, _)) = printed.into_iter().find(|(_, asked)| *asked) else { return Ok(()) };
    let is_output =
        |path: &&PathBuf| path.extension().is_some_and(|end| end == "csv" || end == "json") && !path.is_dir();
    match args.runs.iter().find(is_output) {
        Some(file) => Err(Error::bad_value(format!(
            "{option} prints to standard output and takes no file: storebench report RUN {option} > {}",
            file.display()
        ))),
        None => Ok(()),
    }
}

/// Prints the form that was asked for.
fn show(merged: &Merged<'_>, args: &ReportArgs) -> Result<()> {
    if let Some(figures) = export::watched(merged, &args.export)? {
        return print_data(&figures);
    }
    let text = match &args.published {
        _ if args.csv || args.csv_long || args.csv_effects || args.csv_sizes || args.json => {
            return print_data(&data(merged, args)?);
        }
        Some(name) => published::text(merged, named(merged, name)?, style()),
        None if args.table => terminal::full(merged, style()),
        None => terminal::overview(merged, style()),
    };
    print(&text)
}

/// The runs for other programs.
fn data(merged: &Merged<'_>, args: &ReportArgs) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let written = if args.csv {
        csv::write(merged, &mut bytes)
    } else if args.csv_long {
        csv_long::write(merged.runs, &mut bytes)
    } else if args.csv_effects {
        csv_effects::write(merged, &mut bytes)
    } else if args.csv_sizes {
        csv_sizes::write(merged, &mut bytes)
    } else {
        json::write(merged, &mut bytes)
    };
    written.map_err(|error| Error::new(Exit::Failure, format!("writing the report: {error}")))?;
    Ok(bytes)
}

/// The published table that was asked for; `None` where no name was given.
fn named<'n>(merged: &Merged<'_>, name: &'n str) -> Result<Option<&'n str>> {
    let known: Vec<&str> = merged.tables.iter().map(|table| table.name.as_str()).collect();
    let wrong = |message: String| Err(Error::bad_value(message));
    match name {
        _ if known.is_empty() => wrong("no published table comes with the study of this run".into()),
        "" => Ok(None),
        name if known.contains(&name) => Ok(Some(name)),
        _ => wrong(format!("there is no published table {}: there are {}", quoted(name), known.join(", "))),
    }
}

/// The tables of winners of a run in its folder, and how many published findings are reproduced.
pub fn winners(stores: &[StoreDef], run: &Run, folder: &Path) -> Result<String> {
    let (runs, harness) = (std::slice::from_ref(run), harness(stores));
    let merged = with_published(beside(Merged::new(runs, &harness).with_settings(stores), folder), runs)?;
    Ok(terminal::brief(&merged, style()))
}

/// Writes the page of a run into its folder, and says where it is.
pub fn run_page(stores: &[StoreDef], run: &Run, folder: &Path) -> Result<PathBuf> {
    let path = folder.join("report.html");
    let (runs, harness) = (std::slice::from_ref(run), harness(stores));
    page(
        &with_published(beside(Merged::new(runs, &harness).with_settings(stores), folder), runs)?,
        None,
        &path,
    )?;
    Ok(path)
}

/// The same, with the device runs that lie beside a run's folder.
fn beside<'m>(merged: Merged<'m>, folder: &Path) -> Merged<'m> {
    merged.with_devices(&folder.parent().map(floor::in_folder).unwrap_or_default())
}

/// Writes a page, an answer at its top if there is one.
pub fn page(merged: &Merged<'_>, lead: Option<&Lead>, path: &Path) -> Result<()> {
    let mut bytes = Vec::new();
    storebench_report::page::write(merged, lead, &mut bytes)
        .map_err(|error| Error::new(Exit::Failure, format!("writing the page: {error}")))?;
    files::page(path, &bytes)
}

/// The names of the harness's own stores.
pub fn harness(stores: &[StoreDef]) -> Vec<&'static str> {
    stores.iter().filter(|store| store.kind == Kind::Harness).map(|store| store.name).collect()
}
