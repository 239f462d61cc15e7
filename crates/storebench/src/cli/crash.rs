//! `storebench crash`: states after power cuts in which a store lost more than it may, as they were kept with a run.

use std::fs::{self, File};
use std::path::Path;

use storebench_core::error::{Error, Exit, Result};
use storebench_core::result::{BadState, KeptState, Measured, TrialResult};
use storebench_core::units::{counted, rough_bytes};
use storebench_core::workload::cut::told::{StepTold, steps_of};
use storebench_host::kept;

use super::args::CrashCommand;
use super::output::{fitted, print};
use super::{files, runs};

/// A kept state, with the trial that it is of.
struct Kept<'r> {
    trial: &'r TrialResult,
    measured: &'r Measured,
    bad: &'r BadState,
    kept: &'r KeptState,
}

/// Shows or exports one.
///
/// # Errors
/// [`Exit::BadValue`] for a state that the run has not.
pub fn run(command: &CrashCommand) -> Result<Exit> {
    let (CrashCommand::Show { run, out, .. } | CrashCommand::Export { run, out, .. }) = command;
    let folder = runs::find(run, out)?;
    let run = runs::read(&folder)?;
    let all = kept(&run.trials);
    match command {
        CrashCommand::Show { state: None, .. } => print(&list(&all))?,
        CrashCommand::Show { state: Some(name), .. } => print(&one(find(&all, name)?))?,
        CrashCommand::Export { state, to, .. } => {
            let state = find(&all, state)?;
            export(&folder, state, to)?;
            print(&fitted(
                &format!(
                    "{}: the disk (disk.img), the steps (history.jsonl), what was found (README.txt) and look.sh, which mounts a \
                     copy of the disk as root",
                    to.display()
                ),
                0,
            ))?;
        }
    }
    Ok(Exit::Success)
}

/// The states that were kept with some trials.
fn kept(trials: &[TrialResult]) -> Vec<Kept<'_>> {
    let of_trial = |trial| -> Option<Vec<Kept<'_>>> {
        let trial: &TrialResult = trial;
        let measured = trial.ok()?;
        let cuts = measured.cuts()?;
        let kept = |bad| -> Option<Kept<'_>> {
            let bad: &BadState = bad;
            Some(Kept { trial, measured, bad, kept: bad.kept.as_ref()? })
        };
        Some(cuts.bad.iter().filter_map(kept).collect())
    };
    trials.iter().filter_map(of_trial).flatten().collect()
}

fn find<'k, 'r>(all: &'k [Kept<'r>], name: &str) -> Result<&'k Kept<'r>> {
    all.iter().find(|kept| kept.name() == name).ok_or_else(|| {
        let names: Vec<String> = all.iter().map(Kept::name).collect();
        let there = match names.as_slice() {
            [] => "no state of this run was kept: in none did a store lose more than it may".to_owned(),
            names => format!("there are {}", names.join(", ")),
        };
        Error::bad_value(format!("no state {name}: {there}"))
    })
}

impl Kept<'_> {
    fn name(&self) -> String {
        self.bad.name(self.trial.position)
    }

    /// The store, and where it was.
    fn whose(&self) -> String {
        let cell = &self.trial.cell;
        format!(
            "{} {} at {} on {}",
            cell.store(),
            self.measured.store_version,
            cell.guarantee(),
            cell.place()
        )
    }

    /// The settings, as the engine read them back.
    fn settings(&self) -> String {
        let settings = self.measured.settings.iter();
        let all: Vec<String> =
            settings.map(|setting| format!("{}={}", setting.name, setting.value)).collect();
        all.join(", ")
    }
}

fn list(all: &[Kept<'_>]) -> String {
    if all.is_empty() {
        return "No state was kept: in none did a store lose more than it may.\n".into();
    }
    let mut text = String::new();
    for state in all {
        let missing = counted(state.kept.missing.len() as u64, "missing piece");
        let line = format!("{}: {}, {}, {missing}", state.name(), state.whose(), state.bad.finding.words());
        text.push_str(&fitted(&line, 0));
    }
    text
}

fn one(state: &Kept<'_>) -> String {
    let (bad, kept) = (state.bad, state.kept);
    let sum = |steps: &[u64]| steps.iter().fold(0_u64, |all, steps| all.saturating_add(*steps));
    let while_it = bad.phase.map_or("took steps", |phase| phase.words());
    let mut text = fitted(&format!("State {}: {}", state.name(), state.whose()), 0);
    let mut say = |sentence: String| text.push_str(&fitted(&sentence, 2));
    say(format!("found: {}: {}", bad.finding.words(), bad.message));
    say(format!(
        "the cut: when the store {while_it}, after {}; {} more begun",
        counted(sum(&bad.acknowledged), "acknowledged step"),
        sum(&bad.begun).saturating_sub(sum(&bad.acknowledged))
    ));
    say(match kept.missing.len() {
        0 => "missing: nothing that the disk was asked to write".to_owned(),
        few => format!(
            "missing: {few} of {} that were, found by looking at {}",
            counted(kept.pieces_before, "piece"),
            counted(kept.looks, "more state")
        ),
    });
    kept.missing.iter().for_each(|missing| {
        say(format!("  {missing} (on the disk at {}, {})", missing.at, rough_bytes(missing.bytes as f64)));
    });
    say(format!("settings: {}", state.settings()));
    text
}

/// Writes a state's disk, its history and a script to a new folder.
fn export(run: &Path, state: &Kept<'_>, to: &Path) -> Result<()> {
    files::refuse_standard_output("--to", to, "there are several files; name a directory")?;
    let steps = steps_of(state.bad).ok_or_else(|| {
        let message =
            format!("the state {} has more steps than any history: its run was tampered with", state.name());
        Error::new(Exit::NotStorebench, message)
    })?;
    files::fill("making", to, || export_into(run, state, steps, to))
}

fn export_into(run: &Path, state: &Kept<'_>, steps: impl Iterator<Item = StepTold>, to: &Path) -> Result<()> {
    let write = |name: &str, text: &str| {
        let path = to.join(name);
        fs::write(&path, text).map_err(Error::io("writing", &path))
    };
    let path = to.join("disk.img");
    let disk = File::create_new(&path).map_err(Error::io("making", &path))?;
    kept::restore(run, state.kept, &disk).map_err(Error::io("writing", &path))?;
    let lines = steps.filter_map(|step| serde_json::to_string(&step).ok());
    write("history.jsonl", &lines.map(|line| line + "\n").collect::<String>())?;
    write("README.txt", &(one(state) + ABOUT_HISTORY))?;
    write("look.sh", SCRIPT)?;
    let path = to.join("look.sh");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&path, executable).map_err(Error::io("changing", &path))
}

const ABOUT_HISTORY: &str = "\
history.jsonl has the steps that were begun before the cut, in order: which were acknowledged, and their records. A key is text; a
value is given in hexadecimal.
";

/// The file system of a copy bears the name of others that are mounted, perhaps; XFS asks for an option then.
const SCRIPT: &str = "\
#!/bin/sh
# Mounts a copy of the disk as the power cut left it: the store's files are in mnt/store.
set -eu
cd \"$(dirname \"$0\")\"
cp --sparse=always disk.img copy.img
mkdir -p mnt
mount -o loop,nosuid,nodev copy.img mnt || mount -o loop,nosuid,nodev,nouuid copy.img mnt
ls -lR mnt/store
echo \"Open the store in $PWD/mnt/store with its own tools; then: umount $PWD/mnt\"
";
