//! After a round: results are whole, nothing is left, and every error says why.

use std::fs;

use storebench_core::error::Exit;
use storebench_core::result::{Failure, Outcome};
use storebench_host::folder;
use storebench_host::run::Run;

use super::Round;
use super::weather::Blown;
use crate::cli::support::{Said, wait_for};
use crate::file_systems::left_of;
use crate::torture::disk::ends_as_documented;
use crate::torture::images::cgroups_of;

/// Looks at what a run that has ended has left, before and after `clean`.
#[track_caller]
pub fn look(round: &Round, blown: &Blown, said: &Said, told: &str) {
    let daemon = |line: &String| ["exfat", "ntfs", "fuse2fs"].iter().any(|name| line.contains(name));
    wait_for(&format!("its processes to end\n{told}"), || round.scratch.processes().iter().all(daemon));
    for run in round.scratch.runs() {
        let (run, notes) = folder::read_with_notes(&run).unwrap_or_else(|error| panic!("{error}\n{told}"));
        assert!(!notes.iter().any(|note| note.contains("repeats")), "{notes:?}\n{told}");
        let done = counted(&said.err).map(|(done, _)| done).max().unwrap_or_default();
        assert!(run.trials.len() >= done, "{} results of {done}\n{told}", run.trials.len());
        check_reasons(&run, blown, told);
    }
    said.err.lines().filter(|line| line.starts_with("storebench: ")).for_each(|line| has_cause(line, told));
    cleaned(round, blown, told);
}

/// Cleans, and fails if anything is left.
#[track_caller]
fn cleaned(round: &Round, blown: &Blown, told: &str) {
    let said = round.storebench("clean disk");
    assert_eq!(said.code, Some(Exit::Success.code().into()), "{said}\n{told}");
    wait_for(&format!("the end of all that was mounted\n{told}"), || {
        left_of(&round.scratch).iter().all(|line| is_disk(round, line))
    });
    let left = fs::read_dir(round.scratch.join("disk")).unwrap().map(|entry| entry.unwrap().path());
    let left: Vec<_> = left.filter(|path| !path.ends_with("mine")).collect();
    if blown.server_ended {
        // A server that has gone keeps what was made there, which its folder notes.
        let is_told = |path: &std::path::PathBuf| said.err.contains(&path.display().to_string());
        assert!(said.err.contains("drop it yourself") || left.is_empty(), "{said}\n{told}");
        assert!(left.iter().all(is_told), "{left:?}\n{said}\n{told}");
    } else {
        assert!(left.is_empty(), "{left:?} is left\n{said}\n{told}");
        round.server.iter().for_each(crate::running_servers::Running::assert_as_it_was);
    }
    if let Some(process) = blown.parent {
        assert!(cgroups_of(process).is_empty(), "{:?} is left\n{told}", cgroups_of(process));
    }
    let segments = round.apart.as_ref().map_or_else(Vec::new, |apart| apart.segments());
    assert!(segments.is_empty(), "{segments:#?} is left\n{told}");
    for (path, text) in round.theirs() {
        let expected = if path.ends_with("mine") { "a picture" } else { "dear reader" };
        assert_eq!(String::from_utf8_lossy(&text), expected, "{}\n{told}", path.display());
    }
}

/// Whether something that is mounted is the round's own disk.
fn is_disk(round: &Round, line: &str) -> bool {
    round.small_disk && line.contains(" - tmpfs tmpfs ") && line.contains("/disk ")
}

/// Resumes the run in fair weather: the rest is done, and what had ended is not done again.
#[track_caller]
pub fn resume(round: &Round, blown: &Blown, told: &str) {
    let runs = round.scratch.runs();
    let [run] = runs.as_slice() else {
        return assert!(runs.is_empty(), "{runs:?}\n{told}");
    };
    if blown.server_ended {
        return;
    }
    let before = folder::read(run).unwrap().trials;
    let said = round.storebench(&format!("run --resume {}", run.display()));
    let told = format!("{told}\nresumed:\n{said}");
    ends_as_documented(&said, &told);
    let fair = [Exit::Success, Exit::TrialsFailed, Exit::Danger].map(|exit| Some(i32::from(exit.code())));
    if round.small_disk && said.code == Some(i32::from(Exit::DiskFull.code())) {
        assert!(said.err.contains("full") || said.err.contains("No space left"), "{told}");
        return cleaned(round, blown, &told);
    }
    // Another driver was the best that there was while the machine's calls failed, and a run has but one.
    if blown.disturbed && said.code == Some(i32::from(Exit::OtherVersion.code())) {
        assert!(said.err.contains(" was mounted by "), "{told}");
        return cleaned(round, blown, &told);
    }
    assert!(fair.contains(&said.code), "{told}");
    let after = folder::read(run).unwrap().trials;
    assert_eq!(after[..before.len()], before[..], "{told}");
    let total = counted(&said.err).map(|(_, total)| total).max();
    assert!(
        total.is_none_or(|total| total == after.len()),
        "{total:?} trials, {} results\n{told}",
        after.len()
    );
    let mut known = std::collections::HashSet::new();
    assert!(after.iter().all(|trial| known.insert((trial.cell.id(), trial.block))), "{told}");
    if round.arguments().contains("--cuts") {
        let shown = round.storebench(&format!("crash show {}", run.display()));
        assert_eq!(shown.code, Some(i32::from(Exit::Success.code())), "{shown}\n{told}");
    }
    for trial in &after[before.len()..] {
        let may_fail = trial.cell.store() == "fills" || round.small_disk;
        let is_well = matches!(trial.outcome, Outcome::Ok | Outcome::Unsupported { .. });
        assert!(is_well || may_fail, "{:?}\n{told}", trial.outcome);
    }
    cleaned(round, blown, &told);
}

/// The trials that lines of progress report as done, and their total.
fn counted(err: &str) -> impl Iterator<Item = (usize, usize)> {
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
fn check_reasons(run: &Run, blown: &Blown, told: &str) {
    for trial in &run.trials {
        let Outcome::Failed { reason, message, .. } = &trial.outcome else { continue };
        has_cause(message, told);
        let fills = trial.cell.store() == "fills";
        assert!(fills || blown.disturbed, "{reason:?}: {message}\n{told}");
        if fills && !blown.disturbed {
            assert_eq!(*reason, Failure::DiskFull, "{message}\n{told}");
        }
    }
}

/// Words of the system that say nothing without what they are about.
const BARE: [&str; 6] =
    ["Broken pipe", "Connection reset", "Input/output error", "No such file", "end of file", "not connected"];

/// Fails where an error names the system's word alone, or what was being done and no more than that.
#[track_caller]
fn has_cause(message: &str, told: &str) {
    let words = message.trim_start_matches("storebench: ");
    assert!(words.split_whitespace().count() > 2, "{message:?} has no cause\n{told}");
    assert!(!words.trim_end().ends_with(':'), "{message:?} has no cause\n{told}");
    let bare = BARE.iter().find(|bare| words.contains(**bare));
    let Some(bare) = bare else { return };
    let before = words.split(bare).next().unwrap_or_default();
    // Two words at least: the work that failed, and its object.
    assert!(before.split_whitespace().count() > 1, "{message:?} does not say of what\n{told}");
}
