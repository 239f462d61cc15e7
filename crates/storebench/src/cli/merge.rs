//! `storebench merge`: joins the parts of a plan into one run, or one run for each machine.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use storebench_figures::data::merge as results;
use storebench_host::folder::RunFolder;
use storebench_host::run::Run;
use storebench_host::shard::Split;
use storebench_model::cell::Cell;
use storebench_model::error::{Error, Exit, Result};
use storebench_model::result::{PlanParts, RunHeader, TrialResult};
use storebench_model::sanitize::piece;
use storebench_model::store::StoreDef;
use storebench_model::units::{plural, with_commas};
use storebench_report::brief;
use storebench_report::compare::run_differences::{self, Difference};
use storebench_report::report::Report;

use super::args::MergeArgs;
use super::output::{print, print_note, style};
use super::{launch, resume, runs};

const MAX_NAMED_CELLS: usize = 5;

struct PlanPart {
    path: PathBuf,
    run: Run,
    parts: PlanParts,
}

/// The parts of one machine as one run, with the new positions of each folder's trials.
struct MergedMachine {
    header: RunHeader,
    trials: Vec<TrialResult>,
    positions: BTreeMap<PathBuf, HashMap<u64, u64>>,
}

/// Merges the runs on the command line, and prints the answer of all; [`Exit::Unlike`] if they are not of one plan, made in one way.
pub fn merge(stores: &[StoreDef], args: &MergeArgs) -> Result<Exit> {
    runs::refuse_existing(&args.out)?;
    let parts = read_parts(&args.runs)?;
    check_alike(&parts)?;
    let split = plan_split(stores, &parts)?;
    parts.iter().try_for_each(|part| check_covered(part, split.as_ref()))?;
    let parts = each_part_once(parts, split.as_ref())?;
    let missing = describe_missing(&parts, split.as_ref());
    let merged: Vec<MergedMachine> = group_by_machine(parts)?
        .into_values()
        .map(|parts| join_parts(parts, split.as_ref()))
        .collect::<Result<_>>()?;
    let folders = write(&args.out, &merged)?;
    missing.iter().for_each(|line| print_note(&format!("missing: {line}")));
    for (merged, folder) in merged.iter().zip(folders) {
        let parts = merged.header.shard.as_ref().map_or("the whole plan".into(), PlanParts::to_string);
        let (trials, hardware) = (plural(merged.trials.len(), "trial"), piece(&merged.header.hardware));
        print_note(&format!("written: {}: {parts}, {trials} on {hardware}", folder.display()));
    }
    let runs: Vec<Run> = merged.into_iter().map(|machine| Run::new(machine.header, machine.trials)).collect();
    let merged_runs = results::Merged::new(&runs, stores);
    print(&brief::text(&Report::new(&merged_runs), style()))?;
    Ok(Exit::Success)
}

/// Reads the runs, and separately the runs in the results of earlier merges; in an order independent of the command line.
fn read_parts(names: &[PathBuf]) -> Result<Vec<PlanPart>> {
    let paths = runs::expand(names.to_vec());
    runs::refuse_repeated(&paths)?;
    let read_part = |path: PathBuf| {
        let run = runs::read(&path)?;
        match run.header.shard.clone() {
            Some(parts) => Ok(PlanPart { path, run, parts }),
            None => {
                let message =
                    format!("{} has a whole plan: merge takes parts, run with --shard", path.display());
                Err(Error::bad_value(message))
            }
        }
    };
    let mut parts: Vec<PlanPart> = paths.into_iter().map(read_part).collect::<Result<_>>()?;
    let order_key = |part: &PlanPart| (part.parts.parts.clone(), part.run.header.started.clone());
    parts.sort_by_key(order_key);
    Ok(parts)
}

/// Each part once: a copy adds nothing. If one machine left its part unfinished and another has run it from the beginning, that counts. Among
/// others that differ, the right one is unknown.
fn each_part_once(mut parts: Vec<PlanPart>, split: Option<&Split>) -> Result<Vec<PlanPart>> {
    let mut unique: Vec<PlanPart> = Vec::new();
    // Finished ones first, so that each unfinished one meets its replacement.
    parts.sort_by_key(|part| (part.parts.parts.clone(), !is_finished(part, split)));
    for part in parts {
        let overlaps =
            |first: &PlanPart| first.parts.parts.iter().any(|number| part.parts.parts.contains(number));
        let Some(index) = unique.iter().position(overlaps) else {
            unique.push(part);
            continue;
        };
        let first = &unique[index];
        let is_elsewhere = first.parts == part.parts && first.run.header.hardware != part.run.header.hardware;
        if is_elsewhere && is_finished(first, split) && !is_finished(&part, split) {
            print_note(&format!(
                "note: {} of {} was left unfinished, and {} has done that part: it counts",
                part.path.display(),
                piece(&part.run.header.hardware),
                piece(&first.run.header.hardware),
            ));
            continue;
        }
        let (a, b) = (first.path.display(), part.path.display());
        let is_same = first.parts == part.parts && first.run.trials == part.run.trials;
        if !is_same || first.run.header.hardware != part.run.header.hardware {
            let describe_part = |part: &PlanPart| {
                let trials = plural(part.run.trials.len(), "trial");
                format!("{} ({}, {trials})", part.path.display(), part.parts)
            };
            return Err(Error::bad_value(format!(
                "{} and {} have the same part, with different results: name one",
                describe_part(first),
                describe_part(&part)
            )));
        }
        print_note(&format!("note: {b} is a copy of {a}, and counts once"));
    }
    Ok(unique)
}

/// Whether a part has all its trials, as far as known.
fn is_finished(part: &PlanPart, split: Option<&Split>) -> bool {
    let plan = part.run.plan();
    split.zip(plan).is_some_and(|(split, plan)| describe_unfinished(part, split, plan.trials).is_none())
}

/// Checks that all are parts of one plan, made in one way.
fn check_alike(parts: &[PlanPart]) -> Result<()> {
    let Some((first, others)) = parts.split_first() else { return Ok(()) };
    let mut messages = Vec::new();
    for other in others {
        let differences = run_differences::parts(&first.run, &other.run);
        messages.extend(differences.iter().map(|difference| describe_difference(difference, first, other)));
    }
    if !messages.is_empty() {
        let message = format!("these are no parts of one run: {}", messages.join("; "));
        return Err(Error::new(Exit::Unlike, message));
    }
    let (theirs, ours) = (&first.run.header.storebench, env!("CARGO_PKG_VERSION"));
    if theirs != ours {
        let message = format!(
            "the parts were made by storebench {}, and this is {ours}: merge them with that one",
            piece(theirs)
        );
        return Err(Error::new(Exit::OtherVersion, message));
    }
    Ok(())
}

fn describe_difference(
    Difference { what, base, other, .. }: &Difference,
    first: &PlanPart,
    second: &PlanPart,
) -> String {
    let (a, b) = (first.path.display(), second.path.display());
    format!("{}: {} in {a}, {} in {b}", piece(what), piece(base), piece(other))
}

/// The parts by machine: one name must mean one machine.
fn group_by_machine(parts: Vec<PlanPart>) -> Result<BTreeMap<String, Vec<PlanPart>>> {
    let mut machines: BTreeMap<String, Vec<PlanPart>> = BTreeMap::new();
    for part in parts {
        let machine = machines.entry(part.run.header.hardware.clone()).or_default();
        if let Some(first) = machine.first() {
            let differences = run_differences::machines(&first.run.header, &part.run.header);
            let messages: Vec<String> =
                differences.iter().map(|difference| describe_difference(difference, first, &part)).collect();
            if !messages.is_empty() {
                let message = format!(
                    "two machines are called {}, and figures of two are never pooled: give each a name with --hardware, \
                     or as \"hardware\" in run.json: {}",
                    piece(&part.run.header.hardware),
                    messages.join("; ")
                );
                return Err(Error::new(Exit::Unlike, message));
            }
        }
        machine.push(part);
    }
    Ok(machines)
}

/// Checks that a run has only results of the parts that its header names.
fn check_covered(part: &PlanPart, split: Option<&Split>) -> Result<()> {
    let Some(split) = split else { return Ok(()) };
    let Run { header, trials, .. } = &part.run;
    let mut cells =
        trials.iter().map(|trial| &trial.cell).chain(header.left_out.iter().map(|left| &left.cell));
    let Some(foreign_cell) = cells.find(|cell| !split.covers(&part.parts, cell)) else { return Ok(()) };
    let owner = split.part_of(foreign_cell).map_or("no part".into(), |number| format!("part {number}"));
    let message = format!(
        "{} is {} by its run.json, and has the cell {}, which is in {owner}: its files are of several runs; name the run \
         as its machine left it",
        part.path.display(),
        part.parts,
        foreign_cell.id(),
    );
    Err(Error::new(Exit::NotStorebench, message))
}

/// The split of the plan; `None` for a run with a store or key unknown to this version: the extent of its parts is unknown.
fn plan_split(stores: &[StoreDef], parts: &[PlanPart]) -> Result<Option<Split>> {
    let Some(first) = parts.first() else { return Ok(None) };
    let (plan, stores) = match resume::plan_of_run(stores, &first.run, &first.path) {
        Err(error) if matches!(error.exit, Exit::UnknownStore | Exit::BadPlan) => {
            print_note(&format!(
                "note: not checked whether each part has only its own results: {}",
                error.message
            ));
            return Ok(None);
        }
        planned => planned?,
    };
    let rooms = launch::location_rooms(&first.run.header);
    resume::split(plan, &stores, &rooms, &first.parts, &first.path).map(Some)
}

fn describe_missing(parts: &[PlanPart], split: Option<&Split>) -> Vec<String> {
    let Some(first) = parts.first() else { return Vec::new() };
    let present: BTreeSet<u32> = parts.iter().flat_map(|part| part.parts.parts.iter().copied()).collect();
    let mut lines = Vec::new();
    for number in (1..=first.parts.of).filter(|number| !present.contains(number)) {
        let part_name = format!("part {number}/{}", first.parts.of);
        match split {
            Some(split) if split.positions(number).0 == 0 => {}
            Some(split) => lines.push(format!("{part_name}: {}", first_cells(&split.combinations(number)))),
            None => lines.push(part_name),
        }
    }
    let trials = first.run.plan().map_or(1, |plan| plan.trials);
    lines.extend(parts.iter().filter_map(|part| describe_unfinished(part, split?, trials)));
    lines
}

/// The cells of a part that lack trials of the plan, if any.
fn describe_unfinished(part: &PlanPart, split: &Split, trials: u32) -> Option<String> {
    let header = &part.run.header;
    let mut trial_counts: BTreeMap<&Cell, u32> = BTreeMap::new();
    let planned_trials = part.run.trials.iter().filter(|trial| trial.block < trials);
    planned_trials.for_each(|trial| *trial_counts.entry(&trial.cell).or_default() += 1);
    let cells = part.parts.parts.iter().flat_map(|number| split.combinations(*number));
    let is_left_out = |cell: &Cell| header.left_out.iter().any(|left| left.cell == *cell);
    let is_incomplete =
        |cell: &&Cell| trial_counts.get(cell).is_none_or(|count| *count < trials) && !is_left_out(cell);
    let incomplete: Vec<&Cell> = cells.filter(is_incomplete).collect();
    (!incomplete.is_empty()).then(|| {
        let (path, hardware) = (part.path.display(), piece(&header.hardware));
        format!(
            "trials of {} in {path}: {}; resume it on {hardware}, and merge again",
            part.parts,
            first_cells(&incomplete)
        )
    })
}

/// Cells by id, as many as are readable.
fn first_cells(cells: &[&Cell]) -> String {
    let ids: Vec<String> = cells.iter().take(MAX_NAMED_CELLS).map(|cell| cell.id()).collect();
    let rest = cells.len().saturating_sub(MAX_NAMED_CELLS);
    let more = if rest == 0 { String::new() } else { format!(" and {} more", with_commas(rest as u64)) };
    format!("{} ({}{more})", plural(cells.len(), "cell"), ids.join(", "))
}

/// The parts of one machine as one run: equal to a run of the same trials, whatever the order of the parts.
fn join_parts(parts: Vec<PlanPart>, split: Option<&Split>) -> Result<MergedMachine> {
    let headers = || parts.iter().map(|part| &part.run.header);
    let first = headers().min_by_key(|header| &header.started);
    let mut header = first.cloned().ok_or_else(|| Error::bad_value("there is no part to merge"))?;
    header.command = without_shard(&header.command);
    header.environment.clock_ns = headers().map(|header| header.environment.clock_ns).fold(0.0, f64::max);
    header.left_out = headers().flat_map(|header| header.left_out.iter().cloned()).collect();
    let index_of_cell = |cell: &Cell| split.map_or(usize::MAX, |split| split.position_of(cell));
    header.left_out.sort_by_cached_key(|left| (index_of_cell(&left.cell), left.cell.clone()));
    header.shard = Some(sum_parts(&parts)).filter(|parts| !parts.is_whole());
    let mut trials: Vec<(usize, PathBuf, TrialResult)> = Vec::new();
    for (index, part) in parts.into_iter().enumerate() {
        trials.extend(part.run.trials.into_iter().map(|trial| (index, part.path.clone(), trial)));
    }
    // In order of time, block by block: positions are another run's once parts were merged before.
    trials.sort_by_cached_key(|(index, _, trial)| {
        (trial.block, trial.started.parse::<jiff::Timestamp>().ok(), trial.position, *index)
    });
    let cells = trials.iter().map(|(_, _, trial)| &trial.cell).collect::<BTreeSet<_>>().len() as u64;
    let mut merged = MergedMachine { header, trials: Vec::new(), positions: BTreeMap::new() };
    let (mut block, mut rank) = (0, 0);
    for (_, path, trial) in trials {
        if trial.block != block {
            (block, rank) = (trial.block, 0);
        }
        let position = u64::from(block) * cells + rank;
        merged.positions.entry(path).or_default().insert(trial.position, position);
        merged.trials.push(move_trial(trial, position)?);
        rank += 1;
    }
    Ok(merged)
}

fn without_shard(command: &[String]) -> Vec<String> {
    let is_value = |index: usize| index.checked_sub(1).is_some_and(|previous| command[previous] == "--shard");
    let words = command.iter().enumerate();
    let rest = words
        .filter(|(index, word)| *word != "--shard" && !word.starts_with("--shard=") && !is_value(*index));
    rest.map(|(_, word)| word.clone()).collect()
}

fn sum_parts(parts: &[PlanPart]) -> PlanParts {
    let mut numbers: Vec<u32> = parts.iter().flat_map(|part| part.parts.parts.iter().copied()).collect();
    numbers.sort_unstable();
    let combinations = parts.iter().map(|part| part.parts.combinations).sum();
    let first = parts.first().map(|part| &part.parts);
    PlanParts {
        parts: numbers,
        of: first.map_or(1, |parts| parts.of),
        combinations,
        split: first.map_or_else(String::new, |parts| parts.split.clone()),
    }
}

/// A trial at another position of a run, with the new names of its files.
fn move_trial(trial: TrialResult, position: u64) -> Result<TrialResult> {
    if trial.position == position {
        return Ok(trial);
    }
    let (old_name, new_name) = (format!("logs/{:06}", trial.position), format!("logs/{position:06}"));
    let json_error = |error: serde_json::Error| Error::new(Exit::Failure, error.to_string());
    let mut value = serde_json::to_value(&trial).map_err(json_error)?;
    rename(&mut value, &old_name, &new_name);
    let renamed = serde_json::from_value(value).map_err(json_error)?;
    Ok(TrialResult { position, ..renamed })
}

/// Renames a file in all texts that are its name.
fn rename(value: &mut Value, old_name: &str, new_name: &str) {
    match value {
        Value::String(text) => {
            if let Some(rest) = text.strip_prefix(old_name).filter(|rest| rest.starts_with(['.', '-'])) {
                *text = format!("{new_name}{rest}");
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| rename(value, old_name, new_name)),
        Value::Object(fields) => fields.values_mut().for_each(|value| rename(value, old_name, new_name)),
        _ => {}
    }
}

/// Writes the runs of all machines, all or none: they get their names when complete. Returns their folders.
fn write(out: &Path, merged: &[MergedMachine]) -> Result<Vec<PathBuf>> {
    let name = out.file_name().ok_or_else(|| Error::bad_value("--out has no name: name a new directory"))?;
    let parent = out.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    runs::make_directory("making the directory of", parent)?;
    let staged = parent.join(format!(".{}.merging-{}", name.to_string_lossy(), std::process::id()));
    let names = folder_names(merged);
    if merged.len() > 1 {
        fs::create_dir(&staged).map_err(Error::io("making", &staged))?;
    }
    let mut folders = Vec::new();
    let written = merged.iter().zip(&names).try_for_each(|(merged, name)| {
        let mut folder = RunFolder::create_at(&unused_path(&staged, name), &merged.header)?;
        let filled = fill(&mut folder, merged);
        folders.push(folder);
        filled
    });
    let renamed = written.and_then(|()| fs::rename(&staged, out).map_err(Error::io("making", out)));
    if renamed.is_err() {
        // They are storebench's, with nothing else in them. The first error is the one for the user.
        folders.into_iter().for_each(|folder| drop(folder.delete()));
        let _ = fs::remove_dir(&staged);
    }
    renamed.map(|()| names.iter().map(|name| unused_path(out, name)).collect())
}

fn unused_path(folder: &Path, name: &str) -> PathBuf {
    if name.is_empty() { folder.to_path_buf() } else { folder.join(name) }
}

fn fill(folder: &mut RunFolder, merged: &MergedMachine) -> Result<()> {
    merged.positions.iter().try_for_each(|(path, positions)| folder.keep_logs_of(path, positions))?;
    folder.append_all(&merged.trials)
}

/// The folders of the machines within the common one; for a single machine, the common one itself.
fn folder_names(merged: &[MergedMachine]) -> Vec<String> {
    if merged.len() == 1 {
        return vec![String::new()];
    }
    let mut names: Vec<String> = Vec::new();
    for machine in merged {
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
        let plain = machine.header.hardware.chars().map(|letter| if is_plain(letter) { letter } else { '_' });
        let name = format!("{}{}", runs::MACHINE_PREFIX, plain.take(100).collect::<String>());
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        let free_name = std::iter::once(name.clone()).chain(numbered).find(|name| !names.contains(name));
        names.extend(free_name);
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_of_the_whole_names_no_part() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        for line in ["a run crud --shard 3/8 --quick", "a run crud --shard=3/8 --quick", "a run crud --quick"]
        {
            assert_eq!(without_shard(&words(line)), words("a run crud --quick"));
        }
        assert_eq!(without_shard(&words("a run crud --shard")), words("a run crud"));
    }

    #[test]
    fn names_of_files_follow_their_trial_and_no_other_text_does() {
        let mut value = serde_json::json!({
            "log": "logs/000007.log",
            "more": ["logs/000007-cut-3.gz", "logs/0000071.log", "see logs/000007.log", 7],
        });
        rename(&mut value, "logs/000007", "logs/000012");
        let renamed = serde_json::json!({
            "log": "logs/000012.log",
            "more": ["logs/000012-cut-3.gz", "logs/0000071.log", "see logs/000007.log", 7],
        });
        assert_eq!(value, renamed);
    }
}
