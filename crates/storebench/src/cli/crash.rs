//! `storebench crash`: shows and exports states after power cuts in which a store lost more than it may, as kept with a run.

use std::fs::{self, File};
use std::path::Path;

use storebench_core::workload::cut::step_progress::{StepProgress, steps_of};
use storebench_host::saved_states;
use storebench_model::error::{Error, Exit, Result};
use storebench_model::result::{BadState, KeptState, Measurements, StateFinding, TrialResult};
use storebench_model::store::Guarantee;
use storebench_model::units::{plural, rough_bytes, with_commas};

use super::args::CrashCommand;
use super::output::{fitted, print};
use super::{files, runs};

struct SavedState<'r> {
    trial: &'r TrialResult,
    measured: &'r Measurements,
    bad: &'r BadState,
    kept: &'r KeptState,
}

/// Shows or exports a state; [`Exit::BadValue`] if the run does not have it.
pub fn run(command: &CrashCommand) -> Result<Exit> {
    let (CrashCommand::Show { run, out, .. } | CrashCommand::Export { run, out, .. }) = command;
    let folder = runs::find(run, out)?;
    let run = runs::read(&folder)?;
    let states = kept_states(&run.trials);
    match command {
        CrashCommand::Show { state: None, .. } => print(&list(&states, &folder))?,
        CrashCommand::Show { state: Some(name), .. } => {
            let state = find(&states, name)?;
            print(&(describe_state(state) + &what_to_do(state, &run.trials, &folder)))?;
        }
        CrashCommand::Export { state, to, .. } => {
            let state = find(&states, state)?;
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

fn kept_states(trials: &[TrialResult]) -> Vec<SavedState<'_>> {
    let mut states = Vec::new();
    for trial in trials {
        let Some(measured) = trial.ok() else { continue };
        for bad in measured.cuts().into_iter().flat_map(|cuts| &cuts.bad) {
            states.extend(bad.kept.as_ref().map(|kept| SavedState { trial, measured, bad, kept }));
        }
    }
    states
}

fn find<'k, 'r>(states: &'k [SavedState<'r>], name: &str) -> Result<&'k SavedState<'r>> {
    states.iter().find(|state| state.name() == name).ok_or_else(|| {
        let names: Vec<String> = states.iter().map(SavedState::name).collect();
        let choice = match names.as_slice() {
            [] => "no state of this run was kept: in none did a store lose more than it may".to_owned(),
            names => format!("there are {}", names.join(", ")),
        };
        Error::bad_value(format!("no state {name}: {choice}"))
    })
}

impl SavedState<'_> {
    fn name(&self) -> String {
        self.bad.name(self.trial.position)
    }

    fn describe_store(&self) -> String {
        let cell = &self.trial.cell;
        format!(
            "{} {} at {} on {}",
            cell.store(),
            self.measured.store_version,
            cell.guarantee(),
            cell.location_name()
        )
    }

    fn settings(&self) -> String {
        let settings = self.measured.settings.iter();
        let texts: Vec<String> =
            settings.map(|setting| format!("{}={}", setting.name, setting.value)).collect();
        texts.join(", ")
    }
}

fn list(states: &[SavedState<'_>], run: &Path) -> String {
    if states.is_empty() {
        return "No state was kept: in none did a store lose more than it may.\n".into();
    }
    let mut text = String::new();
    for state in states {
        let line = format!("{}: {}: {}", state.name(), state.describe_store(), state.bad.finding.describe());
        text.push_str(&fitted(&line, 0));
    }
    text.push_str(&fitted(
        &format!("What is lost in one, and what to do: storebench crash show {} STATE", run.display()),
        0,
    ));
    text
}

/// Whether the guarantee excluded the loss, and what helps.
fn what_to_do(state: &SavedState<'_>, trials: &[TrialResult], run: &Path) -> String {
    let (store, actual) = (state.trial.cell.store(), state.measured.guarantee);
    let tier = state.trial.cell.guarantee().tier().unwrap_or(actual);
    let is_unacknowledged = state.bad.acknowledged.iter().all(|steps| *steps == 0);
    let is_danger = state.bad.finding.harm(tier, is_unacknowledged).is_some_and(|harm| harm.is_danger(tier));
    let is_at_power = tier >= Guarantee::Power;
    let promise = match (is_at_power, is_danger) {
        (true, _) if actual < tier => {
            format!("{tier} excludes that; with these settings the store gives {actual}")
        }
        (true, true) => format!("{tier} excludes that: the store or the file system broke it"),
        (true, false) => format!("{tier} is about what was acknowledged, and nothing was"),
        (false, true) => format!(
            "{tier} says nothing of power cuts, but a store should lose no more than its newest writes"
        ),
        (false, false) => format!("{tier} says nothing of power cuts"),
    };
    let mut text = fitted(&format!("promised: {promise}"), 2);
    let store_trials = trials.iter().filter(|trial| trial.cell.store() == store);
    let power_trials =
        store_trials.filter_map(TrialResult::ok).filter(|measured| measured.guarantee >= Guarantee::Power);
    let cuts = power_trials.filter_map(Measurements::cuts);
    let (held, states) = cuts
        .fold((0, 0), |(held, states), cuts| (held + cuts.count(StateFinding::Held), states + cuts.states()));
    let help = match (is_at_power, states) {
        (true, _) if actual < tier => format!("do: leave out the settings that make it give {actual}"),
        (true, _) if !is_danger => "do: delete the store, and make it anew".to_owned(),
        (true, _) => {
            "do: choose another store or other settings, and send the state to the store's authors".to_owned()
        }
        (false, 0) => format!("do: ask for --guarantee power, if {store} offers it"),
        (false, _) => format!(
            "do: ask for --guarantee power: in this run {store} held all that it had acknowledged in {} of {} there",
            with_commas(held),
            plural(states, "state")
        ),
    };
    text.push_str(&fitted(&help, 2));
    text.push_str(&fitted(
        &format!(
            "its disk, and which records each step wrote: storebench crash export {} {} --to DIR",
            run.display(),
            state.name()
        ),
        2,
    ));
    text
}

fn describe_loss(finding: StateFinding) -> &'static str {
    match finding {
        StateFinding::Held => "nothing",
        StateFinding::Lost => "the newest acknowledged steps; all before them are there",
        StateFinding::Hole => "an acknowledged step, although a later one is there",
        StateFinding::Resurrected => "an acknowledged removal: its record is back",
        StateFinding::Torn => "a part of a value",
        StateFinding::Wrong => "a value: another is in its place, or the store counts what it doesn't have",
        StateFinding::Refused => "the store as a whole, until someone repairs it: it does not open",
        StateFinding::Unusable => "the store as a whole, until someone repairs it: it opens and fails",
        StateFinding::Unsound => "nothing yet, but its own check finds a fault in its files",
        StateFinding::NoSpace => "the store, until there is more room on its file system",
        StateFinding::Hung | StateFinding::Crashed => "the store, as long as its process ends so",
        StateFinding::FileSystem => "the file system: the store was not asked",
    }
}

fn describe_state(state: &SavedState<'_>) -> String {
    let (bad, kept) = (state.bad, state.kept);
    let sum_steps = |steps: &[u64]| steps.iter().fold(0_u64, |total, steps| total.saturating_add(*steps));
    let activity = bad.phase.map_or("took steps", |phase| phase.describe());
    let mut text = fitted(&format!("State {}: {}", state.name(), state.describe_store()), 0);
    let mut add_line = |sentence: String| text.push_str(&fitted(&sentence, 2));
    add_line(format!("lost: {}", describe_loss(bad.finding)));
    add_line(format!("found: {}: {}", bad.finding.describe(), bad.message));
    add_line(format!(
        "the cut: when the store {activity}, after {}; {} more begun",
        plural(sum_steps(&bad.acknowledged), "acknowledged step"),
        sum_steps(&bad.begun).saturating_sub(sum_steps(&bad.acknowledged))
    ));
    add_line(match kept.missing.len() {
        0 => "not written: nothing that the disk was asked for".to_owned(),
        few => format!(
            "not written: {few} of {} that were not flushed yet; {} showed that no fewer do the same",
            plural(kept.pieces_before, "piece"),
            plural(kept.states_tried, "more state")
        ),
    });
    kept.missing.iter().for_each(|missing| {
        add_line(format!(
            "  {missing} (on the disk at {}, {})",
            missing.at,
            rough_bytes(missing.bytes as f64)
        ));
    });
    add_line(format!("settings: {}", state.settings()));
    text
}

/// Writes a state's disk, its history and a script to a new folder.
fn export(run: &Path, state: &SavedState<'_>, to: &Path) -> Result<()> {
    files::refuse_standard_output("--to", to, "there are several files; name a directory")?;
    let steps = steps_of(state.bad).ok_or_else(|| {
        let message =
            format!("the state {} has more steps than any history: its run was tampered with", state.name());
        Error::new(Exit::NotStorebench, message)
    })?;
    files::fill("making", to, || export_into(run, state, steps, to))
}

fn export_into(
    run: &Path,
    state: &SavedState<'_>,
    steps: impl Iterator<Item = StepProgress>,
    to: &Path,
) -> Result<()> {
    let write = |name: &str, text: &str| {
        let path = to.join(name);
        fs::write(&path, text).map_err(Error::io("writing", &path))
    };
    let path = to.join("disk.img");
    let disk = File::create_new(&path).map_err(Error::io("making", &path))?;
    saved_states::restore(run, state.kept, &disk).map_err(Error::io("writing", &path))?;
    let lines = steps.filter_map(|step| serde_json::to_string(&step).ok());
    write("history.jsonl", &lines.map(|line| line + "\n").collect::<String>())?;
    write("README.txt", &(describe_state(state) + ABOUT_HISTORY))?;
    write("look.sh", SCRIPT)?;
    let path = to.join("look.sh");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&path, executable).map_err(Error::io("changing", &path))
}

const ABOUT_HISTORY: &str = "\
history.jsonl has the steps that were begun before the cut, in order: which were acknowledged, and their records. A key is text; a
value is given in hexadecimal.
";

/// The file system of a copy may have the name of a mounted one; XFS needs an option then.
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
