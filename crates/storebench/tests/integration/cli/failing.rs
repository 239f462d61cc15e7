//! A trial that goes wrong is one failed result with its reason and log; the run goes on.

use std::fs;

use storebench_core::error::Exit;
use storebench_core::result::Outcome;

use super::support::{Scratch, TINY, faulty, outcomes, said, wait_for};

/// Each faulty store, how its trial is judged, and what its message says.
const FAULTS: &[(&str, &str, &str)] = &[
    ("aborts", "crashed", "was killed by signal 6"),
    ("panics", "crashed", "a thread panicked: the engine is in an impossible state"),
    ("errs", "store", "page 7 is damaged"),
    ("lies", "wrong-data", "is wrong"),
    ("shortens", "wrong-data", "is wrong"),
    ("misses", "wrong-data", "is missing"),
    ("miscounts", "wrong-data", "counts 26 records where 25 were written"),
    ("weakens", "harness", "gives the guarantee none where process was promised"),
    ("refuses", "unsupported", "this system has no tape: attach one"),
    ("chatters", "ok", ""),
    ("flat-folder", "ok", ""),
];

#[test]
fn each_fault_is_one_result_and_the_run_goes_on() {
    let scratch = Scratch::new();
    let stores: Vec<&str> = FAULTS.iter().map(|(store, ..)| *store).collect();
    let mut command = scratch.command(faulty(), &format!("run crud --store {} {TINY}", stores.join(",")));
    let said = said(command.env("RUST_BACKTRACE", "1")).ends(Exit::TrialsFailed);
    let run = scratch.results();
    let mut expected: Vec<_> = FAULTS.iter().map(|(store, outcome, _)| (*store, *outcome)).collect();
    let mut found = outcomes(&run);
    expected.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, expected);
    let failed = FAULTS.iter().filter(|(_, outcome, _)| !["ok", "unsupported"].contains(outcome)).count();
    assert!(said.err.contains(&format!("{failed} trials failed; the logs are in ")), "{said}");
    let table = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    for trial in &run.trials {
        let store = trial.cell.store();
        let (_, _, says) = FAULTS.iter().find(|fault| fault.0 == store).unwrap();
        let log = match &trial.outcome {
            Outcome::Ok => continue,
            Outcome::Unsupported { message } => {
                assert!(message.contains(says), "{store}: {message}");
                None
            }
            Outcome::Failed { message, log, .. } => {
                assert!(message.contains(says), "{store}: {message}");
                Some(scratch.only_run().join(log))
            }
        };
        assert!(trial.measured.is_none(), "{store}: nothing of it counts");
        assert!(said.err.contains(says) && table.contains(says), "{store}: {says}\n{said}");
        if let Some(log) = log.filter(|_| store != "aborts") {
            let text = fs::read_to_string(&log).unwrap();
            let words = says.rsplit(": ").next().unwrap();
            assert!(text.contains(words), "{store}: {text}");
        }
    }
    scratch.assert_nothing_left();
}

#[test]
fn what_an_engine_prints_goes_to_its_log_alone() {
    let scratch = Scratch::new();
    let said = scratch.faulty(&format!("run crud --store chatters {TINY}")).ends(Exit::Success);
    assert!(!said.out.contains("WARNING") && !said.err.contains("WARNING"), "{said}");
    let log = fs::read(scratch.only_run().join("logs/000000.log")).unwrap();
    assert!(log.windows(7).filter(|bytes| bytes == b"WARNING").count() > 60);
}

#[test]
fn a_trial_without_a_word_leaves_no_log() {
    let scratch = Scratch::new();
    scratch.faulty(&format!("run crud --store flat-folder {TINY}")).ends(Exit::Success);
    assert_eq!(fs::read_dir(scratch.only_run().join("logs")).unwrap().count(), 0);
}

#[test]
fn a_trial_that_hangs_is_stopped_with_all_that_it_started() {
    let scratch = Scratch::new();
    let arguments =
        format!("run crud --store hangs,flat-folder {TINY}").replace("--timeout 60s", "--timeout 2s");
    let said = scratch.faulty(&arguments).ends(Exit::TrialsFailed);
    let run = scratch.results();
    let mut found = outcomes(&run);
    found.sort_unstable();
    assert_eq!(found, [("flat-folder", "ok"), ("hangs", "timed-out")]);
    assert!(said.err.contains("took longer than the limit of 2s (--timeout), while it was "), "{said}");
    assert!(said.err.contains("1 trial failed; the logs are in "), "{said}");
    let trial = run.trials.iter().find(|trial| trial.cell.store() == "hangs").unwrap();
    let Outcome::Failed { log, .. } = &trial.outcome else { panic!("{trial:?}") };
    let text = fs::read_to_string(scratch.only_run().join(log)).unwrap();
    let helper = text.strip_prefix("helper ").unwrap().trim().to_owned();
    wait_for("the helper to end", || {
        // Killed, and perhaps not yet reaped by whoever inherited it.
        fs::read_to_string(format!("/proc/{helper}/stat")).map_or(true, |stat| stat.contains(") Z"))
    });
    scratch.assert_nothing_left();
}

#[test]
fn a_run_that_was_told_to_ignore_the_ends_of_processes_hears_of_its_trials() {
    let scratch = Scratch::in_memory();
    let mut command = scratch.command("env", "--ignore-signal=CHLD");
    let arguments = format!("run crud --store flat-folder {TINY}");
    said(command.arg(faulty()).args(arguments.split_whitespace())).ends(Exit::Success);
    scratch.assert_nothing_left();
}

#[test]
fn a_run_of_failures_alone_can_be_shown() {
    let scratch = Scratch::new();
    scratch.faulty(&format!("run crud --store errs,misses {TINY}")).ends(Exit::TrialsFailed);
    for how in ["", "--table", "--csv", "--json"] {
        let said = scratch.faulty(&format!("report latest {how}")).ends(Exit::Success);
        assert!(said.err.is_empty(), "{said}");
        assert!(how == "--csv" || said.out.contains("page 7 is damaged"), "{how}\n{said}");
    }
}
