//! The head of every report: how many trials there are, what is odd about them, what is missing and why.

use indexmap::IndexMap;
use storebench_host::run::Run;
use storebench_model::result::{Environment, Failure, LocationInfo, Outcome};
use storebench_model::units::{plural, three_digits, with_commas};

use super::matrix::{AbsenceReason, Matrix};
use super::merge::Merged;
use super::names::LISTED;
use super::noise::{self, Outlier};
use super::planned_trials::{self, UnfinishedRun};
use crate::layout::Position;

/// Whether a location's disk rotates, in words. A virtual machine reports what its host says, mostly that its disk rotates.
pub fn rotation(place: &LocationInfo, environment: &Environment) -> Option<&'static str> {
    let says_virtual = |text: &String| text.contains("virtual machine") || text.contains("wsl");
    let is_virtual = environment.virtualisation.as_ref().is_some_and(says_virtual);
    place.rotates.map(|rotates| match (is_virtual, rotates) {
        (true, _) => "kind unknown: virtual disk",
        (false, true) => "rotating, says the kernel",
        (false, false) => "solid state",
    })
}

/// Figures with a warning by cell: once each, with the first trial's reason.
pub fn warning_lines(merged: &Merged<'_>) -> Vec<String> {
    let mut warned: IndexMap<(String, &str), &str> = IndexMap::new();
    for trial in merged.runs.iter().flat_map(|run| &run.trials) {
        let warnings = trial.ok().into_iter().flat_map(|measured| &measured.warnings);
        for warning in warnings.filter(|_| !merged.is_harness(trial.cell.store())) {
            warned.entry((trial.cell.id(), warning.figure.as_str())).or_insert(&warning.reason);
        }
    }
    let line = |((cell, figure), reason): (&(String, &str), &&str)| {
        format!("Warning, not ranked: {figure} of {cell}: {reason}.")
    };
    warned.iter().map(line).collect()
}

/// The first of some lines, the rest counted.
pub fn cut_off(mut lines: Vec<String>, noun: &str) -> Vec<String> {
    let more = lines.len().saturating_sub(LISTED);
    lines.truncate(LISTED);
    lines.extend((more > 0).then(|| format!("And {more} more {noun}.")));
    lines
}

pub fn noise_lines(merged: &Merged<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    for (index, run) in merged.runs.iter().enumerate() {
        let run_suffix = if merged.runs.len() > 1 { format!(" of run {index}") } else { String::new() };
        lines.extend(noise::drift(run).map(|drift| {
            let speed = noise::describe_drift(drift.value);
            format!("Drift{run_suffix}: the second half of the blocks was {speed} than the first.")
        }));
        let outliers = noise::outliers(run);
        lines.extend(outliers.iter().map(|outlier| {
            let Outlier { cell, block, operation, times } = outlier;
            format!(
                "Outlier{run_suffix}, not dropped: {cell}, block {block}: {operation} took {}x its median.",
                three_digits(*times)
            )
        }));
    }
    lines
}

pub fn counts(merged: &Merged<'_>) -> String {
    let (mut ok, mut failed, mut unsupported) = (0, 0, 0);
    for trial in merged.runs.iter().flat_map(|run| &run.trials) {
        match trial.outcome {
            Outcome::Ok => ok += 1,
            Outcome::Failed { .. } => failed += 1,
            Outcome::Unsupported { .. } => unsupported += 1,
        }
    }
    let left_out: usize = merged.runs.iter().map(|run| run.header.left_out.len()).sum();
    let left_out = plural(left_out, "combination");
    if ok + failed + unsupported == 0 {
        return format!("There are no trials yet; {left_out} left out.");
    }
    let [ok, failed, unsupported] = [ok, failed, unsupported].map(with_commas);
    format!("Trials: {ok} succeeded, {failed} failed, {unsupported} unsupported; {left_out} left out.")
}

/// The runs with fewer trials than their plan asks for: parts of a plan, and interrupted ones, with how to resume them.
pub fn unfinished(merged: &Merged<'_>) -> Vec<String> {
    let has_several = merged.runs.len() > 1;
    let prefix = |index: usize| if has_several { format!("Run {index}: ") } else { String::new() };
    let part_line = |(index, run): (usize, &Run)| {
        let (parts, hardware) = (run.header.shard.as_ref()?, &run.header.hardware);
        let run_name = if has_several { format!("Run {index}") } else { "This run".into() };
        Some(format!("{run_name} has {parts} of the plan alone, measured on {hardware}."))
    };
    let line = |(index, run): (usize, &Run)| {
        let UnfinishedRun { done, planned, at_least } = planned_trials::unfinished(run)?;
        let prefix = prefix(index);
        let least = if at_least { "at least " } else { "" };
        Some(format!(
            "{prefix}{} of {least}{} trials: the run is incomplete. Resume it: storebench run --resume RUN.",
            with_commas(done),
            with_commas(planned)
        ))
    };
    let runs = || merged.runs.iter().enumerate();
    runs().filter_map(part_line).chain(runs().filter_map(line)).collect()
}

pub struct RepeatedEvent {
    pub times: usize,
    pub example: String,
}

/// Events by their words, which include the reason.
pub type Lists = IndexMap<String, RepeatedEvent>;

fn count_in(list: &mut Lists, event: String, example: impl FnOnce() -> String) {
    list.entry(event).or_insert_with(|| RepeatedEvent { times: 0, example: example() }).times += 1;
}

pub struct MissingFigures {
    pub failed: Lists,
    pub unsupported: Lists,
    pub left_out: Lists,
    pub not_run: Lists,
}

/// Everything that failed, is unsupported, was left out or did not run, with reasons.
pub fn missing_figures<'m>(
    merged: &Merged<'_>,
    matrices: impl IntoIterator<Item = &'m Matrix>,
) -> MissingFigures {
    let (mut failed, mut unsupported, mut left_out) = (Lists::new(), Lists::new(), Lists::new());
    for (index, run) in merged.runs.iter().enumerate() {
        let run_suffix = if merged.runs.len() > 1 { format!(" of run {index}") } else { String::new() };
        for trial in &run.trials {
            let (id, store) = (trial.cell.id(), merged.layout.contestant(&trial.cell));
            match &trial.outcome {
                Outcome::Ok => {}
                Outcome::Failed { reason, message, log } => {
                    let event = format!("{store}, {}: {}", describe_failure(*reason), one_line(message));
                    let log = if log.is_empty() { String::new() } else { format!(", {log}") };
                    count_in(&mut failed, event, || format!("{id}, block {}{log}{run_suffix}", trial.block));
                }
                Outcome::Unsupported { message } => {
                    count_in(&mut unsupported, format!("{store}: {}", one_line(message)), || id);
                }
            }
        }
        for omitted in &run.header.left_out {
            count_in(&mut left_out, one_line(&omitted.reason.to_string()), || omitted.cell.id());
        }
    }
    MissingFigures { failed, unsupported, left_out, not_run: not_measured(merged, matrices) }
}

fn describe_failure(failure: Failure) -> &'static str {
    match failure {
        Failure::Store => "error",
        Failure::WrongData => "wrong data",
        Failure::Unsynced => "not synced",
        Failure::DiskFull => "disk full",
        Failure::OutOfMemory => "out of memory",
        Failure::Crashed => "crashed",
        Failure::TimedOut => "timed out",
        Failure::Harness => "harness failed",
    }
}

/// Removes line ends from engines' messages, as they would break the list.
fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Stores that never ran, and comparisons of matrices that a store missed though it ran in others.
fn not_measured<'m>(merged: &Merged<'_>, matrices: impl IntoIterator<Item = &'m Matrix>) -> Lists {
    let mut lists = Lists::new();
    for run in merged.runs {
        for store in &run.header.stores {
            let ran = run.trials.iter().any(|trial| trial.cell.store() == store.name)
                || run.header.left_out.iter().any(|l| l.cell.store() == store.name);
            if !ran {
                count_in(&mut lists, format!("{}: no trial ran", store.name), String::new);
            }
        }
    }
    // With paired axes, a matrix has comparisons that no plan has: no store ran there.
    let is_paired = merged.runs.iter().any(|run| run.plan().is_some_and(|plan| !plan.paired.is_empty()));
    for matrix in matrices {
        let is_unmeasured =
            |why: AbsenceReason| matches!(why, AbsenceReason::NotMeasured | AbsenceReason::NotRun);
        let absent = matrix.absent();
        let has_no_plan = |position: &Position| {
            let not_run =
                absent.iter().filter(|(at, absent)| at == position && absent.why == AbsenceReason::NotRun);
            is_paired && not_run.count() == matrix.contestants()
        };
        let missing = absent.iter().filter(|(at, absent)| is_unmeasured(absent.why) && !has_no_plan(at));
        for (position, absent) in missing {
            let event = format!("{}: {}", absent.store, matrix.name());
            count_in(&mut lists, event, || position.to_string());
        }
    }
    lists
}

#[cfg(test)]
mod tests {
    use storebench_samples::{Sample, run};

    use super::*;
    #[test]
    fn a_virtual_disk_is_not_said_to_rotate() {
        let Run { mut header, .. } = run("box", &[Sample::new("lmdb")]);
        let mut rotation_of = |virtualisation: &str, rotates| {
            header.environment.virtualisation = Some(virtualisation.into());
            header.locations[0].rotates = rotates;
            rotation(&header.locations[0], &header.environment)
        };
        assert_eq!(rotation_of("none", Some(true)), Some("rotating, says the kernel"));
        assert_eq!(rotation_of("docker", Some(false)), Some("solid state"));
        assert_eq!(rotation_of("virtual machine (QEMU)", Some(true)), Some("kind unknown: virtual disk"));
        assert_eq!(rotation_of("virtual machine (QEMU)", None), None);
    }
}
