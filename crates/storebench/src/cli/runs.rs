//! Finds and reads the folders of runs that a user names.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use storebench_host::folder;
use storebench_host::run::Run;
use storebench_model::cell::Cell;
use storebench_model::error::{Error, Exit, Result};

use super::output::print_note;

/// The folder of a run: a path, `latest`, or a name in the runs' directory.
pub fn find(name: &Path, runs: &Path) -> Result<PathBuf> {
    find_latest_by(name, runs, |path| change_time(&path.join("run.json")))
}

/// The folder of a run or of the runs behind an answer.
fn find_any(name: &Path, runs: &Path) -> Result<PathBuf> {
    find_latest_by(name, runs, |path| {
        change_time(&path.join("run.json"))
            .max(runs_in(path).iter().filter_map(|run| change_time(&run.join("run.json"))).max())
    })
}

fn change_time(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).and_then(|file| file.modified()).ok()
}

/// Resolves `latest` to the folder for which `time` gives the latest time.
fn find_latest_by(name: &Path, runs: &Path, time: impl Fn(&Path) -> Option<SystemTime>) -> Result<PathBuf> {
    if name == Path::new("latest") && !name.exists() {
        return find_latest(runs, time);
    }
    let path = runs.join(name);
    if !name.exists() && (path.join("run.json").exists() || !runs_in(&path).is_empty()) {
        return Ok(path);
    }
    Ok(only_run(name).unwrap_or_else(|| name.to_path_buf()))
}

/// The only run in a directory of runs; `None` if it has several, or is a run or an answer.
fn only_run(folder: &Path) -> Option<PathBuf> {
    let mut runs = list_runs(folder).into_iter();
    runs.next().filter(|_| runs.next().is_none())
}

/// The runs in a directory of runs, by name; empty if it is a run or an answer.
pub fn list_runs(folder: &Path) -> Vec<PathBuf> {
    if folder.join("run.json").exists() || !runs_in(folder).is_empty() {
        return Vec::new();
    }
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut runs: Vec<PathBuf> = paths.filter(|path| path.join("run.json").exists()).collect();
    runs.sort();
    runs
}

/// The folders that a user names; an error if `latest` is asked for and there is no run.
pub fn folders(names: &[PathBuf], runs: &Path) -> Result<Vec<PathBuf>> {
    names.iter().map(|name| find_any(name, runs)).collect()
}

/// The folders of the runs that a user names: folders of runs, or folders with an answer's runs. None may be named twice.
pub fn find_all(names: &[PathBuf], runs: &Path) -> Result<Vec<PathBuf>> {
    let paths = folders(names, runs)?;
    refuse_repeated(&paths)?;
    Ok(expand(paths))
}

/// These folders, with the runs behind an answer, or of several machines, in place of the folder that they are in.
pub fn expand(paths: Vec<PathBuf>) -> Vec<PathBuf> {
    let inner_runs = |path: PathBuf| {
        let runs = if path.join("run.json").exists() { Vec::new() } else { runs_in(&path) };
        if runs.is_empty() { vec![path] } else { runs }
    };
    paths.into_iter().flat_map(inner_runs).collect()
}

/// Checks that the new directory of `--out` is missing or empty: a slip on the command line must not cost anybody's data.
pub fn refuse_existing(path: &Path) -> Result<()> {
    let is_empty = || std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
    if std::fs::symlink_metadata(path).is_err() || (!path.is_symlink() && is_empty()) {
        return Ok(());
    }
    Err(Error::bad_value(format!("{} already exists: --out takes a new directory", path.display())))
}

/// Reads the runs that a user names: folders of runs, or folders with an answer's runs.
pub fn read_all(names: &[PathBuf], runs: &Path) -> Result<Vec<Run>> {
    let folders = find_all(names, runs)?;
    let loaded = folders.iter().map(|path| read(path)).collect::<Result<Vec<_>>>()?;
    refuse_copies(folders.iter().zip(&loaded))?;
    Ok(loaded)
}

/// Reads a run, and reports damage to its files.
pub fn read(path: &Path) -> Result<Run> {
    let (run, notes) = folder::read_with_notes(path)?;
    print_notes(&notes);
    Ok(run)
}

pub fn print_notes(notes: &[String]) {
    for note in notes {
        print_note(&format!("note: {note}"));
    }
}

/// Refuses runs with common trials, which would count twice: those of a copied run, and those of a part next to its merged run.
pub fn refuse_copies<'r>(runs: impl IntoIterator<Item = (&'r PathBuf, &'r Run)>) -> Result<()> {
    let mut seen: HashMap<(&str, &[String]), &PathBuf> = HashMap::new();
    let mut trials: HashMap<(&Cell, u32, &str), (&PathBuf, bool)> = HashMap::new();
    for (path, run) in runs {
        let is_part = run.header.shard.is_some();
        for trial in &run.trials {
            let identity = (&trial.cell, trial.block, trial.started.as_str());
            let earlier = trials.insert(identity, (path, is_part));
            if let Some((earlier, _)) = earlier.filter(|(_, was_part)| is_part || *was_part) {
                return Err(Error::bad_value(format!(
                    "{} and {} hold the same trials: one was merged of the other; name one of them",
                    earlier.display(),
                    path.display()
                )));
            }
        }
        // To the nanosecond.
        let identity = (run.header.started.as_str(), run.header.command.as_slice());
        if let Some(earlier) = seen.insert(identity, path) {
            return Err(Error::bad_value(format!(
                "{} and {} are copies of one run, begun {}: name one of them",
                earlier.display(),
                path.display(),
                run.header.started
            )));
        }
    }
    Ok(())
}

/// Refuses a folder named twice: a run that counts twice, or is compared with itself, would mean nothing.
pub fn refuse_repeated<'p>(folders: impl IntoIterator<Item = &'p PathBuf>) -> Result<()> {
    let mut seen = Vec::new();
    for path in folders {
        // A missing path is reported by its reader.
        let full_path = std::fs::canonicalize(path).unwrap_or_else(|_| path.clone());
        if seen.contains(&full_path) {
            return Err(Error::bad_value(format!("{} is named twice: name different runs", path.display())));
        }
        seen.push(full_path);
    }
    Ok(())
}

/// The prefix of the folders of `advise`, which contain the runs behind an answer.
pub const ANSWER_PREFIX: &str = "advise-";
/// The stage of `advise` that tries each store with the fewest records.
pub const PROBE_STAGE: &str = "probe";
pub const TUNING_PREFIX: &str = "tune-";

/// The prefix of the folders of runs that `merge` makes from parts of several machines.
pub const MACHINE_PREFIX: &str = "machine-";

/// The runs behind an answer, in the order of their start, or the runs of several machines, by name; empty for any other folder.
pub fn runs_in(folder: &Path) -> Vec<PathBuf> {
    let has_prefix =
        |path: &Path, prefix| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix));
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut runs: Vec<PathBuf> = paths.filter(|path| path.join("run.json").exists()).collect();
    if !has_prefix(folder, ANSWER_PREFIX) && !has_prefix(folder, TUNING_PREFIX) {
        runs.retain(|path| has_prefix(path, MACHINE_PREFIX));
        runs.sort();
        return runs;
    }
    runs.sort_by_cached_key(|path| change_time(&path.join("run.json")));
    // It only showed how much there was time for, unless the time ended with it.
    if runs.len() > 1 {
        runs.retain(|path| !path.ends_with(PROBE_STAGE));
    }
    runs
}

fn find_latest(runs: &Path, time: impl Fn(&Path) -> Option<SystemTime>) -> Result<PathBuf> {
    let entries = std::fs::read_dir(runs).map_err(|error| {
        Error::new(
            Exit::NotStorebench,
            format!("there are no runs in {}: {error}; name the folder of a run", runs.display()),
        )
    })?;
    entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter_map(|path| Some((time(&path)?, path)))
        .max()
        .map(|(_, path)| path)
        .ok_or_else(|| Error::new(Exit::NotStorebench, format!("there is no run in {}", runs.display())))
}

/// Makes a directory that a user named, unless it exists; [`Exit::BadValue`] if a file is in the way.
pub fn make_directory(doing: &str, path: &Path) -> Result<()> {
    let is_file_error = |error: &std::io::Error| {
        matches!(error.kind(), std::io::ErrorKind::AlreadyExists | std::io::ErrorKind::NotADirectory)
    };
    let dangling_link = path.ancestors().find(|ancestor| ancestor.is_symlink() && !ancestor.exists());
    if let Some((link, target)) = dangling_link.and_then(|link| Some((link, std::fs::read_link(link).ok()?)))
    {
        return Err(Error::bad_value(format!(
            "{doing} {}: {} is a link to {}, which is not there: make that directory, or name another",
            path.display(),
            link.display(),
            target.display()
        )));
    }
    std::fs::create_dir_all(path).map_err(|error| match path.ancestors().find(|ancestor| ancestor.exists()) {
        Some(ancestor) if is_file_error(&error) => {
            let message = format!(
                "{doing} {}: {} is a file, not a directory: name another",
                path.display(),
                ancestor.display()
            );
            Error::bad_value(message)
        }
        _ => Error::io(doing, path)(error),
    })
}

/// The absolute path of a directory that a user named for this purpose; an error if it is none, or its name is not text.
pub fn directory(purpose: &str, path: &Path) -> Result<PathBuf> {
    let refuse = |why: &str| Err(Error::bad_value(format!("{purpose} {}: {why}", path.display())));
    let full_path = match std::fs::canonicalize(path) {
        Ok(full_path) => full_path,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return refuse("there is no such directory: make it first, or name another");
        }
        Err(error) => return Err(Error::io(purpose, path)(error)),
    };
    if !full_path.is_dir() {
        return refuse("it is not a directory: name another");
    }
    if full_path.to_str().is_none() {
        return refuse("its name is not UTF-8, so results can't hold it: choose another");
    }
    Ok(full_path)
}
