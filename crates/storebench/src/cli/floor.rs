//! Finds device runs with figures of other runs' places without a store.

use std::fs;
use std::path::{Path, PathBuf};

use storebench_figures::data::floor::is_device;
use storebench_host::folder;
use storebench_host::run::Run;

use super::runs;

/// The most device runs that are read, the newest.
const MAX_READ: usize = 20;

/// The newest device runs in the folders that contain the named runs.
pub fn find_device_runs(names: &[PathBuf], runs: &Path) -> Vec<Run> {
    let mut folders: Vec<PathBuf> = runs::folders(names, runs)
        .unwrap_or_default()
        .iter()
        .filter_map(|run| Some(fs::canonicalize(run).ok()?.parent()?.to_path_buf()))
        .collect();
    folders.sort();
    folders.dedup();
    folders.iter().flat_map(|folder| find_in_folder(folder)).collect()
}

/// The newest device runs in a folder of runs. Unreadable ones are ignored.
pub fn find_in_folder(folder: &Path) -> Vec<Run> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut device_runs: Vec<(String, PathBuf)> =
        paths.filter_map(|path| Some((device(&path)?.header.started, path))).collect();
    device_runs.sort();
    let newest = device_runs.iter().rev().take(MAX_READ);
    newest.filter_map(|(_, path)| folder::read(path).ok()).collect()
}

/// A device run without its trials; `None` for anything else.
fn device(path: &Path) -> Option<Run> {
    folder::read_without_trials(path).ok().filter(is_device)
}
