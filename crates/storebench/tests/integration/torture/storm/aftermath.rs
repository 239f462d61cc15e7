//! After a round: results are whole, nothing is left, and every error says why.

use std::fs;

use storebench_host::folder;
use storebench_host::run::Run;
use storebench_model::error::Exit;
use storebench_model::result::{Failure, Outcome};

use super::Round;
use super::weather::Damage;
use crate::cli::support::{Said, wait_for};
use crate::file_systems::left_of;
use crate::torture::disk::ends_as_documented;
use crate::torture::images::cgroups_of;

/// Looks at what a run that has ended has left, before and after `clean`.
#[track_caller]
pub fn check_run(round: &Round, damage: &Damage, output: &Said, context: &str) {
    let is_daemon = |line: &String| ["exfat", "ntfs", "fuse2fs"].iter().any(|name| line.contains(name));
    wait_for(&format!("its processes to end\n{context}"), || round.scratch.processes().iter().all(is_daemon));
    for run in round.scratch.runs() {
        let (run, notes) = folder::read_with_notes(&run).unwrap_or_else(|error| panic!("{error}\n{context}"));
        assert!(!notes.iter().any(|note| note.contains("repeats")), "{notes:?}\n{context}");
        let done = progress_counts(&output.err).map(|(done, _)| done).max().unwrap_or_default();
        assert!(run.trials.len() >= done, "{} results of {done}\n{context}", run.trials.len());
        check_reasons(&run, damage, context);
    }
    output
        .err
        .lines()
        .filter(|line| line.starts_with("storebench: "))
        .for_each(|line| assert_cause(line, context));
    clean_up(round, damage, context);
}

#[track_caller]
fn clean_up(round: &Round, damage: &Damage, context: &str) {
    let output = round.storebench("clean disk");
    assert_eq!(output.code, Some(Exit::Success.code().into()), "{output}\n{context}");
    wait_for(&format!("the end of all that was mounted\n{context}"), || {
        left_of(&round.scratch).iter().all(|line| is_disk(round, line))
    });
    let left_files = fs::read_dir(round.scratch.join("disk")).unwrap().map(|entry| entry.unwrap().path());
    let left_files: Vec<_> = left_files.filter(|path| !path.ends_with("mine")).collect();
    if damage.server_ended {
        // A server that has gone keeps what was made there, which its folder notes.
        let is_named = |path: &std::path::PathBuf| output.err.contains(&path.display().to_string());
        assert!(output.err.contains("drop it yourself") || left_files.is_empty(), "{output}\n{context}");
        assert!(left_files.iter().all(is_named), "{left_files:?}\n{output}\n{context}");
    } else {
        assert!(left_files.is_empty(), "{left_files:?} is left\n{output}\n{context}");
        round.server.iter().for_each(crate::running_servers::Running::assert_as_it_was);
    }
    if let Some(process) = damage.parent {
        assert!(cgroups_of(process).is_empty(), "{:?} is left\n{context}", cgroups_of(process));
    }
    let segments = round.namespace.as_ref().map_or_else(Vec::new, |namespace| namespace.segments());
    assert!(segments.is_empty(), "{segments:#?} is left\n{context}");
    for (path, text) in round.foreign_files() {
        let expected = if path.ends_with("mine") { "a picture" } else { "dear reader" };
        assert_eq!(String::from_utf8_lossy(&text), expected, "{}\n{context}", path.display());
    }
}

/// Whether something that is mounted is the round's own disk.
fn is_disk(round: &Round, line: &str) -> bool {
    round.small_disk && line.contains(" - tmpfs tmpfs ") && line.contains("/disk ")
}

/// Resumes the run in fair weather: the rest is done, and what had ended is not done again.
#[track_caller]
pub fn resume(round: &Round, damage: &Damage, context: &str) {
    let runs = round.scratch.runs();
    let [run] = runs.as_slice() else {
        return assert!(runs.is_empty(), "{runs:?}\n{context}");
    };
    if damage.server_ended {
        return;
    }
    let before = folder::read(run).unwrap().trials;
    let output = round.storebench(&format!("run --resume {}", run.display()));
    let context = format!("{context}\nresumed:\n{output}");
    ends_as_documented(&output, &context);
    let good_codes =
        [Exit::Success, Exit::TrialsFailed, Exit::Danger].map(|exit| Some(i32::from(exit.code())));
    if round.small_disk && output.code == Some(i32::from(Exit::DiskFull.code())) {
        assert!(output.err.contains("full") || output.err.contains("No space left"), "{context}");
        return clean_up(round, damage, &context);
    }
    // Another driver was the best that there was while the machine's calls failed, and a run has but one.
    if damage.disturbed && output.code == Some(i32::from(Exit::OtherVersion.code())) {
        assert!(output.err.contains(" was mounted by "), "{context}");
        return clean_up(round, damage, &context);
    }
    assert!(good_codes.contains(&output.code), "{context}");
    let after = folder::read(run).unwrap().trials;
    assert_eq!(after[..before.len()], before[..], "{context}");
    let total = progress_counts(&output.err).map(|(_, total)| total).max();
    assert!(
        total.is_none_or(|total| total == after.len()),
        "{total:?} trials, {} results\n{context}",
        after.len()
    );
    let mut seen = std::collections::HashSet::new();
    assert!(after.iter().all(|trial| seen.insert((trial.cell.id(), trial.block))), "{context}");
    if round.arguments().contains("--cuts") {
        let states = round.storebench(&format!("crash show {}", run.display()));
        assert_eq!(states.code, Some(i32::from(Exit::Success.code())), "{states}\n{context}");
    }
    for trial in &after[before.len()..] {
        let may_fail = trial.cell.store() == "fills" || round.small_disk;
        let is_well = matches!(trial.outcome, Outcome::Ok | Outcome::Unsupported { .. });
        assert!(is_well || may_fail, "{:?}\n{context}", trial.outcome);
    }
    clean_up(round, damage, &context);
}

/// The trials that lines of progress report as done, and their total.
fn progress_counts(err: &str) -> impl Iterator<Item = (usize, usize)> {
    err.lines().filter_map(|line| {
        let line =
            ["done: ", "interrupted: "].into_iter().find_map(|word| line.strip_prefix(word)).unwrap_or(line);
        let (done, rest) = line.split_once(" of ")?;
        let (total, _) = rest.split_once(" trials")?;
        Some((done.replace(',', "").parse().ok()?, total.replace(',', "").parse().ok()?))
    })
}

/// Every failure is reported with its cause, and none is blamed on a fault that did not happen.
#[track_caller]
fn check_reasons(run: &Run, damage: &Damage, context: &str) {
    for trial in &run.trials {
        let Outcome::Failed { reason, message, .. } = &trial.outcome else { continue };
        assert_cause(message, context);
        let fills = trial.cell.store() == "fills";
        assert!(fills || damage.disturbed, "{reason:?}: {message}\n{context}");
        if fills && !damage.disturbed {
            assert_eq!(*reason, Failure::DiskFull, "{message}\n{context}");
        }
    }
}

/// Words of the system that say nothing without what they are about.
const BARE: [&str; 6] =
    ["Broken pipe", "Connection reset", "Input/output error", "No such file", "end of file", "not connected"];

/// Fails where an error names the system's word alone, or what was being done and no more than that.
#[track_caller]
fn assert_cause(message: &str, context: &str) {
    let words = message.trim_start_matches("storebench: ");
    assert!(words.split_whitespace().count() > 2, "{message:?} has no cause\n{context}");
    assert!(!words.trim_end().ends_with(':'), "{message:?} has no cause\n{context}");
    let bare = BARE.iter().find(|bare| words.contains(**bare));
    let Some(bare) = bare else { return };
    let prefix = words.split(bare).next().unwrap_or_default();
    // Two words at least: the work that failed, and its object.
    assert!(prefix.split_whitespace().count() > 1, "{message:?} does not say of what\n{context}");
}
