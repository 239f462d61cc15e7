//! `storebench check`: whether runs are complete and unchanged, and what disturbed them.

use std::path::{Path, PathBuf};

use serde::Serialize;
use storebench_host::folder;
use storebench_model::error::{Exit, Result};
use storebench_model::store::StoreDef;
use storebench_model::units::plural;
use storebench_report::check;
use storebench_report::report::Report;
use storebench_report::terminal::checklist::{Group, State};

use super::args::CheckArgs;
use super::output::{WIDTH, print, print_json};
use super::report::merge_run;
use super::runs;

/// The version of the `--json` format.
const FORMAT: u32 = 2;

#[derive(Debug, Serialize)]
struct CheckedRun {
    run: PathBuf,
    /// Whether no check failed.
    sound: bool,
    checks: Vec<Group>,
}

#[derive(Debug, Serialize)]
struct Findings {
    format: u32,
    runs: Vec<CheckedRun>,
}

pub fn check(stores: &[StoreDef], args: &CheckArgs) -> Result<Exit> {
    let folders = runs::find_all(&args.runs, &args.out)?;
    let runs: Vec<CheckedRun> = folders.iter().map(|path| check_run(stores, path)).collect::<Result<_>>()?;
    let sound = runs.iter().all(|run| run.sound);
    if args.json {
        print_json(&Findings { format: FORMAT, runs })?;
    } else {
        print(&runs.iter().map(|run| run.text()).collect::<Vec<_>>().join("\n"))?;
    }
    Ok(if sound { Exit::Success } else { Exit::Unsound })
}

fn check_run(stores: &[StoreDef], path: &Path) -> Result<CheckedRun> {
    let (run, notes) = folder::read_with_notes(path)?;
    let checks = check::all(&Report::new(&merge_run(stores, &run, path)?), path, &notes);
    let sound = check::is_sound(&checks);
    Ok(CheckedRun { run: path.to_path_buf(), sound, checks })
}

impl CheckedRun {
    fn text(&self) -> String {
        let groups: String = self.checks.iter().map(|group| format!("\n{}", group.text(WIDTH))).collect();
        let lines = self.checks.iter().flat_map(|group| &group.lines);
        let end = match (self.sound, lines.filter(|line| line.state == State::Hint).count()) {
            (true, 0) => "sound: no check failed".to_owned(),
            (true, hints) => format!("sound: no check failed; {} above", plural(hints, "hint")),
            (false, _) => "not sound: a check failed".to_owned(),
        };
        format!("{}\n{groups}\n{end}\n", self.run.display())
    }
}
