//! Parts of a plan (`--shard`): repeating the command resumes the part, so that a scheduler may simply repeat what was interrupted.

use std::path::{Path, PathBuf};

use storebench_figures::data::planned_trials;
use storebench_host::folder::{self, ResumedRun, RunFolder};
use storebench_host::run::Run;
use storebench_model::error::{Error, Result};
use storebench_model::result::RunHeader;
use storebench_report::compare::run_differences;

use super::output::print_note;
use super::runs;

/// An earlier run of the same part in the directory of runs: of the same plan, by the same program with the same stores,
/// on the same machine.
pub fn find_earlier(header: &RunHeader, out: &Path) -> Result<Option<ResumedRun>> {
    if header.shard.is_none() {
        return Ok(None);
    }
    let entries = std::fs::read_dir(out).map_err(Error::io("reading", out))?;
    let mut folders: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    folders.sort();
    // A folder that is no run, or was written by another version, does not count.
    let is_same = |path: &PathBuf| {
        folder::read_without_trials(path).is_ok_and(|earlier| is_continued_by(&earlier.header, header))
    };
    let Some(path) = folders.into_iter().find(is_same) else { return Ok(None) };
    let resumed = RunFolder::resume(&path)?;
    runs::print_notes(&resumed.notes);
    Ok(Some(resumed))
}

fn is_continued_by(earlier: &RunHeader, header: &RunHeader) -> bool {
    let paths = |run: &RunHeader| -> Vec<(String, String)> {
        run.locations.iter().map(|place| (place.name.clone(), place.path.clone())).collect()
    };
    (&earlier.shard, &earlier.plan, &earlier.storebench, &earlier.stores)
        == (&header.shard, &header.plan, &header.storebench, &header.stores)
        && paths(earlier) == paths(header)
        && run_differences::machines(earlier, header).is_empty()
}

/// Whether a part needs no more trials: a spent budget does not start again.
pub fn is_over(run: &Run) -> bool {
    let has_precision = run.plan().is_some_and(|plan| plan.precision.is_some());
    !has_precision && planned_trials::unfinished(run).is_none()
}

pub fn print_earlier(run: &ResumedRun) {
    let Some(parts) = &run.run.header.shard else { return };
    let path = run.folder.path().display();
    print_note(&match is_over(&run.run) {
        true => format!("{parts} is finished, in {path}: to measure it again, name another --out"),
        false => format!("{parts} is resumed, in {path}"),
    });
}

pub fn print_idle(header: &RunHeader) {
    if let Some(parts) = &header.shard {
        print_note(&format!("{parts} has nothing to measure: the plan has fewer positions than parts"));
    }
}
