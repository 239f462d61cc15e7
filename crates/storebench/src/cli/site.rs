//! `storebench site`: turns a folder of runs into a static site.

mod site_folder;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use storebench_figures::data::merge::Merged;
use storebench_host::folder;
use storebench_host::run::Run;
use storebench_model::error::{Error, Exit, Result};
use storebench_model::store::StoreDef;
use storebench_model::units::plural;
use storebench_report::markup::escape_fragment;
use storebench_report::report::Report;
use storebench_report::site::{self, MOST_PAIRED, RunFacts, Source};

use self::site_folder::SiteFolder;
use super::args::SiteArgs;
use super::findings::{sentences, with_published};
use super::output::{complain, print_note};
use super::runs;

/// The depth of folders that are searched for runs.
const DEPTH: usize = 8;
/// Runs that are named; the rest is counted.
const MAX_LINES: usize = 10;

/// A run: its facts, an identity for each trial, and damage to its files.
struct SiteRun {
    path: PathBuf,
    facts: RunFacts,
    trials: Vec<u64>,
    notes: Vec<String>,
}

/// Makes the site; [`Exit::NotStorebench`] if the target holds anything that `site` has not made, if there is no run, and, after the
/// site of the others is written, if a run could not be read.
pub fn build_site(stores: &[StoreDef], args: &SiteArgs) -> Result<Exit> {
    let directory = runs::directory("the folder of runs", &args.directory)?;
    let folders = folders(&directory)?;
    if folders.is_empty() {
        let message =
            format!("there is no run in {}: name a folder with runs in it", args.directory.display());
        return Err(Error::new(Exit::NotStorebench, message));
    }
    let target = SiteFolder::open(&args.out)?;
    let roots = Folders { directory: &directory, out: target.path() };
    let (mut site_runs, mut broken) = (Vec::new(), Vec::new());
    for (path, facts) in folders.iter().zip(map_in_threads(&folders, |path| read_run(stores, path, &roots))) {
        match facts {
            Ok(facts) => site_runs.push(facts),
            Err(error) => broken.push(left_out_line(path, &error.message)),
        }
    }
    let mut notes: Vec<String> =
        site_runs.iter().flat_map(|run| &run.notes).map(|note| format!("note: {note}")).collect();
    notes.extend(without_copies(&mut site_runs));
    let empty = site_runs.extract_if(.., |run| run.trials.is_empty());
    notes.extend(empty.map(|run| left_out_line(&run.path, "it has no trial yet")));
    print_first(&notes, print_note);
    print_first(&broken, complain);
    if site_runs.is_empty() {
        let message = "there is nothing to show: no run has a trial that can be read";
        return Err(Error::new(Exit::Nothing, message));
    }
    let number = site_runs.len();
    let linked_runs = site_runs.iter().filter(|run| run.path.join("report.html").is_file()).count();
    let facts = site_runs.into_iter().map(|run| run.facts).collect();
    let pages = site::pages(facts, stores)
        .map_err(|error| Error::new(Exit::Failure, format!("making the site: {error}")))?;
    target.write(&pages)?;
    let index = args.out.join("index.html");
    print_note(&format!(
        "written: {} of {}: open {} in a browser",
        plural(pages.len(), "file"),
        plural(number, "run"),
        index.display()
    ));
    if linked_runs > 0 {
        print_note(&format!(
            "to publish it, take {} along, in the same place next to it: the pages link the reports of {}",
            directory.display(),
            plural(linked_runs, "run")
        ));
    }
    match broken.len() {
        0 => Ok(Exit::Success),
        number => {
            let message =
                format!("the site lacks {}, named above, that could not be read", plural(number, "run"));
            Err(Error::new(Exit::NotStorebench, message))
        }
    }
}

fn left_out_line(path: &Path, why: &str) -> String {
    format!("left out: {}: {why}", path.display())
}

/// Reports the first lines, and the number of the others.
fn print_first(lines: &[String], print_line: fn(&str)) {
    lines.iter().take(MAX_LINES).for_each(|line| print_line(line));
    if lines.len() > MAX_LINES {
        print_line(&format!("and {} more lines like these", lines.len() - MAX_LINES));
    }
}

/// The folders of runs in a folder, sorted.
pub fn folders(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    find(directory, DEPTH, &mut folders)?;
    Ok(folders)
}

/// The same, to a depth. No link is followed, and neither runs nor sites are looked into.
fn find(folder: &Path, depth: usize, folders: &mut Vec<PathBuf>) -> Result<()> {
    if folder.join("run.json").exists() {
        folders.push(folder.to_path_buf());
        return Ok(());
    }
    if depth == 0 || site_folder::is_site(folder) {
        return Ok(());
    }
    let entries = fs::read_dir(folder).map_err(Error::io("looking for runs in", folder))?;
    let is_folder = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    let mut subfolders: Vec<PathBuf> =
        entries.filter_map(|entry| entry.ok().filter(is_folder).map(|entry| entry.path())).collect();
    subfolders.sort();
    subfolders.iter().try_for_each(|folder| find(folder, depth - 1, folders))
}

struct Folders<'p> {
    directory: &'p Path,
    out: &'p Path,
}

impl Folders<'_> {
    fn source(&self, run: &Path) -> Source {
        let relative = run.strip_prefix(self.directory).unwrap_or(run);
        let name = if relative.as_os_str().is_empty() {
            run.file_name().map(Path::new).unwrap_or(run)
        } else {
            relative
        };
        let report = run.join("report.html");
        let report = report.is_file().then(|| address(&self.out.join("runs"), &report)).flatten();
        Source { folder: name.display().to_string(), report }
    }
}

/// The address of a file from a page in a folder; `None` if a name is not text.
fn address(folder: &Path, file: &Path) -> Option<String> {
    let [folder, file] = [folder, file].map(|path| path.components().collect::<Vec<Component<'_>>>());
    let common = folder.iter().zip(&file).take_while(|(a, b)| a == b).count();
    let rest = file[common..].iter().map(|part| part.as_os_str().to_str().map(escape_fragment));
    let parts: Option<Vec<String>> =
        folder[common..].iter().map(|_| Some("..".to_owned())).chain(rest).collect();
    Some(parts?.join("/"))
}

/// Analyses one run alone, as its report does.
fn read_run(stores: &[StoreDef], path: &Path, roots: &Folders<'_>) -> Result<SiteRun> {
    let (run, mut notes) = folder::read_with_notes(path)?;
    let trials = trials(&run);
    let run_list = [run];
    let merged = with_published(Merged::new(&run_list, stores), &run_list)?;
    let source = roots.source(path);
    let is_of_paper = run_list[0].header.preset.as_deref() == Some("paper");
    let paper_sentences =
        is_of_paper.then(|| sentences(stores, &run_list, &notes, &source.folder)).transpose()?.flatten();
    let facts = site::facts(&Report::new(&merged), source);
    let facts = facts.ok_or_else(|| Error::new(Exit::Failure, "there is nothing in it"))?;
    let facts = RunFacts { sentences: paper_sentences, ..facts };
    let stores = facts.sides.iter().map(|side| &side.store).collect::<BTreeSet<_>>().len();
    if stores > MOST_PAIRED {
        notes.push(format!(
            "{}: of {stores} stores, the first {MOST_PAIRED} by name have pages of pairs",
            path.display()
        ));
    }
    Ok(SiteRun { path: path.to_path_buf(), facts, trials, notes })
}

/// An identity for each trial, unique wherever it was copied to.
fn trials(run: &Run) -> Vec<u64> {
    let identity = |trial: &storebench_model::result::TrialResult| {
        let mut hasher = DefaultHasher::new();
        let version = trial.ok().map(|measured| measured.store_version.as_str());
        (&run.header.hardware, trial.cell.id(), trial.block, &trial.started, version).hash(&mut hasher);
        hasher.finish()
    };
    run.trials.iter().map(identity).collect()
}

/// Leaves out the runs whose trials are all in another: copies, and parts next to their merged run.
fn without_copies(runs: &mut Vec<SiteRun>) -> Vec<String> {
    runs.sort_by(|a, b| b.trials.len().cmp(&a.trials.len()).then_with(|| a.path.cmp(&b.path)));
    let mut seen: HashMap<u64, PathBuf> = HashMap::new();
    let mut copies = BTreeMap::new();
    runs.retain(|run| {
        let first = run.trials.first().and_then(|trial| seen.get(trial));
        if let Some(first) = first.filter(|_| run.trials.iter().all(|trial| seen.contains_key(trial))) {
            copies.insert(run.path.clone(), format!("{} has the same trials", first.display()));
            return false;
        }
        seen.extend(run.trials.iter().map(|trial| (*trial, run.path.clone())));
        true
    });
    copies.into_iter().map(|(path, why)| left_out_line(&path, &why)).collect()
}

/// Maps in order, on as many threads as there are processors and the system permits.
pub fn map_in_threads<T: Sync, O: Send>(items: &[T], function: impl Fn(&T) -> O + Sync) -> Vec<O> {
    let (next, outcomes) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        let next_index = || next.fetch_add(1, Ordering::Relaxed);
        for (index, item) in
            std::iter::from_fn(|| Some(next_index()).and_then(|index| Some((index, items.get(index)?))))
        {
            let outcome = function(item);
            outcomes.lock().unwrap_or_else(PoisonError::into_inner).push((index, outcome));
        }
    };
    std::thread::scope(|scope| {
        let others = std::thread::available_parallelism().map_or(1, usize::from) - 1;
        for _ in 0..others {
            if std::thread::Builder::new().spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        work();
    });
    let mut outcomes = outcomes.into_inner().unwrap_or_else(PoisonError::into_inner);
    outcomes.sort_by_key(|(index, _)| *index);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_found_from_the_page_of_its_run() {
        let address = |file: &str| address(Path::new("/a/site/runs"), Path::new(file)).unwrap();
        assert_eq!(address("/a/runs/x y/report.html"), "../../runs/x%20y/report.html");
        assert_eq!(address("/b/report.html"), "../../../b/report.html");
    }

    #[test]
    fn outcomes_have_the_order_of_what_they_are_of() {
        let numbers: Vec<u32> = (0..1_000).collect();
        assert_eq!(
            map_in_threads(&numbers, |number| number * 2),
            (0..1_000).map(|number| number * 2).collect::<Vec<_>>()
        );
    }
}
