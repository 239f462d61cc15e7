//! `storebench compare`: what changed from one run, or set of runs, to another.

use std::path::{Path, PathBuf};

use storebench_figures::column::Column;
use storebench_host::plan::Percent;
use storebench_host::run::Run;
use storebench_model::error::{Error, Exit, Result, meant};
use storebench_model::sanitize::piece;
use storebench_model::store::{StoreDef, StoreKind};
use storebench_model::units::{plural, with_commas};
use storebench_report::compare::across::Across;
use storebench_report::compare::run_differences::Difference;
use storebench_report::compare::words::{name, relative};
use storebench_report::compare::{
    Comparison, FIGURES, FigureChange, Side, comparable, html, json, markdown, terminal,
};

use super::args::CompareArgs;
use super::output::{complain, print, print_data, style};
use super::{files, runs};

/// Figures without a significant change that are listed by default.
const MAX_OTHERS: usize = 10;

pub fn compare(stores: &[StoreDef], args: &CompareArgs) -> Result<Exit> {
    let columns = columns(&args.figure, args.exact)?;
    let [base, new] = sides(args)?.map(|paths| {
        let folders = paths.iter().map(|path| folders(path, &args.out)).collect::<Result<Vec<_>>>();
        folders.and_then(|folders| LoadedRuns::read(folders.concat()))
    });
    let (mut base, mut new) = (base?, new?);
    check_different(&base, &new, &args.across)?;
    for across in &args.across {
        let narrowed = across.narrow(&mut base.runs, true).and_then(|()| across.narrow(&mut new.runs, false));
        narrowed.map_err(|wrong| Error::new(Exit::Nothing, format!("--across: {wrong}")))?;
    }
    let harness = stores.iter().filter(|store| store.kind == StoreKind::Harness);
    let harness: Vec<&str> = harness.map(|store| store.name).collect();
    let comparison = Comparison::new(base.side(), new.side(), &columns, &harness, &args.across);
    if !args.unlike {
        check_alike(&comparison.differences)?;
    }
    check_comparable(&comparison, &base, &new)?;
    if args.exact {
        check_counted(&comparison)?;
    }
    if let Some(limit) = args.fail_above {
        check_can_fail(&comparison, limit)?;
    }
    show(&comparison, args)?;
    if let Some(limit) = args.max_undetectable {
        check_detectable(&comparison, limit)?;
    }
    Ok(args.fail_above.map_or(Exit::Success, |limit| gate(&comparison, limit)))
}

fn sides(args: &CompareArgs) -> Result<[&[PathBuf]; 2]> {
    let found_runs = args.runs.first().map_or_else(Vec::new, |folder| runs::list_runs(folder));
    match (args.runs.as_slice(), args.to.as_slice(), found_runs.as_slice()) {
        (base, [_, ..], _) => Ok([base, &args.to]),
        ([base, new], [], _) => Ok([std::slice::from_ref(base), std::slice::from_ref(new)]),
        ([folder], [], [first, second, ..]) => Err(Error::new(
            Exit::Usage,
            format!(
                "{} holds {}: {}; name BASE and NEW, such as storebench compare {} {}",
                folder.display(),
                plural(found_runs.len(), "run"),
                join_paths(&found_runs),
                first.display(),
                second.display()
            ),
        )),
        (runs, [], _) => Err(Error::new(
            Exit::Usage,
            format!(
                "{} named, but BASE and NEW are needed: storebench compare BASE NEW, or sets of runs: storebench compare BASE... --to NEW...",
                plural(runs.len(), "run")
            ),
        )),
    }
}

/// Checks that no run counts twice; across an axis, each side may have different cells of the same run.
fn check_different(base: &LoadedRuns, new: &LoadedRuns, across: &[Across]) -> Result<()> {
    if across.is_empty() {
        runs::refuse_repeated(base.folders.iter().chain(&new.folders))?;
        return runs::refuse_copies(base.runs_with_folders().chain(new.runs_with_folders()));
    }
    [base, new].into_iter().try_for_each(|side| {
        runs::refuse_repeated(&side.folders)?;
        runs::refuse_copies(side.runs_with_folders())
    })
}

/// The runs of one side.
struct LoadedRuns {
    folders: Vec<PathBuf>,
    names: Vec<String>,
    runs: Vec<Run>,
}

impl LoadedRuns {
    fn read(folders: Vec<PathBuf>) -> Result<LoadedRuns> {
        let runs = folders.iter().map(|path| runs::read(path)).collect::<Result<Vec<_>>>()?;
        let name =
            |path: &PathBuf| path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        Ok(LoadedRuns { names: folders.iter().map(name).collect(), folders, runs })
    }

    fn runs_with_folders(&self) -> impl Iterator<Item = (&PathBuf, &Run)> {
        self.folders.iter().zip(&self.runs)
    }

    fn side(&self) -> Side<'_> {
        Side { names: &self.names, runs: &self.runs }
    }
}

/// The folders of a side: one, or several separated by commas.
fn folders(path: &Path, out: &Path) -> Result<Vec<PathBuf>> {
    let folder = runs::find(path, out);
    match path.to_str() {
        Some(text) if text.contains(',') && !folder.as_ref().is_ok_and(|path| path.exists()) => text
            .split(',')
            .filter(|name| !name.is_empty())
            .map(|name| single_run(runs::find(Path::new(name), out)?))
            .collect(),
        _ => Ok(vec![single_run(folder?)?]),
    }
}

/// The runs behind an answer have different plans, and the runs of a fleet different machines, so no two belong on one
/// side. Of other runs in one directory, the user says which.
fn single_run(folder: PathBuf) -> Result<PathBuf> {
    let inner_runs = [runs::runs_in(&folder), runs::list_runs(&folder)].concat();
    if folder.join("run.json").exists() || inner_runs.is_empty() {
        return Ok(folder);
    }
    let message =
        format!("{} holds several runs: name one of them: {}", folder.display(), join_paths(&inner_runs));
    Err(Error::new(Exit::NotStorebench, message))
}

fn join_paths(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

fn columns(names: &[String], exact: bool) -> Result<Vec<&'static Column>> {
    let ids: Vec<&str> =
        if names.is_empty() { FIGURES.to_vec() } else { names.iter().map(String::as_str).collect() };
    let requests = comparable().filter(|column| exact && column.counts_requests).map(|column| column.id);
    let requests = requests.filter(|id| !ids.contains(id)).collect::<Vec<_>>();
    let find = |name: &str| {
        comparable().find(|column| column.id == name).ok_or_else(|| {
            let known: Vec<&str> = comparable().map(|column| column.id).collect();
            let guess = meant(name, known.iter().copied())
                .map_or_else(String::new, |guess| format!(": did you mean {guess}?"));
            let message = format!(
                "--figure {}: no such figure can be compared{guess}; use one of {}",
                piece(name),
                known.join(", ")
            );
            Error::bad_value(message)
        })
    };
    ids.iter().copied().chain(requests).map(find).collect()
}

/// An error if requests were not counted: the check would seem to have passed.
fn check_counted(comparison: &Comparison<'_>) -> Result<()> {
    let is_request_count = |figure: &FigureChange| {
        comparable().any(|column| column.counts_requests && column.id == figure.figure)
    };
    if comparison.figures.iter().any(is_request_count) {
        return Ok(());
    }
    let message = "--exact: these runs have no requests of a simulated disk in common: run both with --disk steady, or another of \
                   those that storebench disks lists";
    Err(Error::new(Exit::Nothing, message))
}

fn check_alike(differences: &[Difference]) -> Result<()> {
    let unlike: Vec<String> = differences
        .iter()
        .filter(|difference| difference.refuses)
        .map(|difference| {
            let Difference { what, base, other, side, .. } = difference;
            let other_run = if *side == "BASE" { "another run of BASE" } else { "NEW" };
            format!("{what} ({base} in BASE, {other} in {other_run})").replace('\n', " ")
        })
        .collect();
    if unlike.is_empty() {
        return Ok(());
    }
    let message = format!(
        "these runs differ in more than their stores: {}; compare runs of one machine and plan, or add --unlike",
        unlike.join("; ")
    );
    Err(Error::new(Exit::Unlike, message))
}

fn check_comparable(comparison: &Comparison<'_>, base: &LoadedRuns, new: &LoadedRuns) -> Result<()> {
    // A broken cell is reported even if nothing is left to compare.
    if !comparison.figures.is_empty() || !comparison.broken.is_empty() {
        return Ok(());
    }
    let has_result =
        |side: &LoadedRuns| side.runs.iter().flat_map(|run| &run.trials).any(|trial| trial.ok().is_some());
    let message = match (has_result(base), has_result(new)) {
        (false, _) => "BASE has no results: resume it with storebench run --resume RUN",
        (true, false) => "NEW has no results: resume it with storebench run --resume RUN",
        (true, true) => {
            "BASE and NEW have no cell of a store in common: run the same stores, sizes, counts, data and guarantees, or name what differs with --across"
        }
    };
    Err(Error::new(Exit::Nothing, message))
}

/// An error for a check that can't fail: it would seem to have passed.
fn check_can_fail(comparison: &Comparison<'_>, limit: Percent) -> Result<()> {
    if comparison.tested() + comparison.exact() > 0 || !comparison.broken.is_empty() {
        return Ok(());
    }
    let message = format!(
        "--fail-above {limit} can't decide anything: no figure has three {} on each side; run both with --trials 5 or more",
        comparison.observations.name()
    );
    Err(Error::new(Exit::Nothing, message))
}

/// An error if a change would go unnoticed: finding none would mean nothing.
fn check_detectable(comparison: &Comparison<'_>, limit: Percent) -> Result<()> {
    let unseen = comparison.blind_to(limit.0 / 100.0);
    let Some(worst) = unseen.first() else { return Ok(()) };
    let threshold = worst.detectable.map_or_else(
        || "no change of it could be marked".to_owned(),
        |share| format!("it is marked from {} on", relative(1.0 + share)),
    );
    let message = format!(
        "--max-undetectable {limit}: a change by that much could go unseen in {} of {}; of {}, {}: {threshold}; run both \
         sides with more --trials",
        with_commas(unseen.len() as u64),
        plural(comparison.figures.len(), "figure"),
        worst.cell.id(),
        name(worst),
    );
    Err(Error::new(Exit::Nothing, message))
}

fn show(comparison: &Comparison<'_>, args: &CompareArgs) -> Result<()> {
    if let Some(path) = &args.html {
        files::page(path, html::text(comparison).as_bytes())?;
        files::print_written(path);
        if !args.json && !args.markdown && !args.all {
            return Ok(());
        }
    }
    if args.json {
        let mut bytes = Vec::new();
        json::write(comparison, &mut bytes)
            .map_err(|error| Error::new(Exit::Failure, format!("writing the comparison: {error}")))?;
        return print_data(&bytes);
    }
    if args.markdown {
        return print(&markdown::text(comparison));
    }
    let others = if args.all { usize::MAX } else { MAX_OTHERS };
    print(&terminal::text(comparison, others, style()))
}

/// The exit code for the limit.
fn gate(comparison: &Comparison<'_>, limit: Percent) -> Exit {
    let missing_cells = comparison.told_as_only().filter(|only| only.side == "BASE").count();
    if missing_cells > 0 {
        let cells = plural(missing_cells, "cell");
        complain(&format!(
            "{cells} of BASE can't be compared: NEW did not measure them at the same guarantee"
        ));
    }
    let mut reasons = Vec::new();
    match comparison.worse_by_more_than(limit.0 / 100.0).len() {
        0 => {}
        1 => reasons.push(format!("1 figure is significantly worse by more than {limit}")),
        worse => reasons.push(format!("{worse} figures are significantly worse by more than {limit}")),
    }
    match comparison.broken.len() {
        0 => {}
        1 => reasons.push("1 cell that BASE measured failed".to_owned()),
        broken => reasons.push(format!("{broken} cells that BASE measured failed")),
    }
    if reasons.is_empty() {
        return Exit::Success;
    }
    complain(&reasons.join(", and "));
    Exit::Worse
}
