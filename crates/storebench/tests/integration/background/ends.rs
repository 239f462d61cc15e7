//! A load ends with its trial on every way out, and a trial whose load did not last has failed.

use std::thread;
use std::time::Duration;

use storebench_core::error::Exit;
use storebench_core::result::{Failure, Outcome};
use storebench_host::background::now_ns;

use super::support::{SMALL, processes, signal, start, try_start};
use crate::cli::support::{STOREBENCH, Scratch, Started, wait_for};

/// A trial that takes two seconds, with a load.
const LONG: &str = "--store memory --trials 1 --order get --duration 2s --background";

/// Starts a run and waits until its trial is under way with its load.
fn under_way(scratch: &Scratch, load: &str) -> Started {
    let run = scratch.start(STOREBENCH, &format!("{SMALL} {LONG} {load}"));
    wait_for("the trial and its load", || {
        processes(scratch, "__trial").len() == 1 && processes(scratch, "__background").len() == 1
    });
    run
}

#[test]
fn a_load_ends_when_it_is_dropped() {
    let scratch = Scratch::new();
    for load in ["cpu", "disk:1MiB/s", "memory:1%"] {
        drop(start(&scratch, load));
        assert_eq!(scratch.processes(), [""; 0], "{load}");
    }
}

#[test]
fn a_load_that_is_killed_or_stopped_is_noticed() {
    let scratch = Scratch::new();
    for (name, complaint) in [("KILL", "killed by signal 9"), ("STOP", "was running during only")] {
        let load = start(&scratch, "cpu");
        let from_ns = now_ns();
        signal(name, load.id());
        thread::sleep(Duration::from_secs(1));
        let finished = load.finish(from_ns, now_ns());
        assert!(finished.report.at_work_share < 0.9, "{finished:?}");
        assert!(finished.complaint.is_some_and(|why| why.contains(complaint)), "{name}");
    }
    scratch.assert_nothing_left();
}

#[test]
fn a_load_that_can_t_start_says_why() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.join("disk")).unwrap();
    let started = try_start(&scratch, "disk");
    let text = format!("{started:?}");
    assert!(text.contains("did not start") && text.contains("opening the file"), "{text}");
    scratch.assert_nothing_left();
}

#[test]
fn a_killed_run_takes_its_loads_with_it() {
    for load in ["cpu", "video"] {
        let scratch = Scratch::new();
        let run = under_way(&scratch, load);
        run.signal("KILL");
        assert_eq!(run.end().code, None);
        wait_for("every process to end", || scratch.processes().is_empty());
    }
}

#[test]
fn an_interrupted_run_ends_its_loads() {
    let scratch = Scratch::new();
    let run = under_way(&scratch, "disk:1MiB/s");
    run.signal("INT");
    run.end().ends(Exit::Interrupted);
    assert_eq!(scratch.processes(), [""; 0]);
    assert_eq!(scratch.results().trials, []);
}

#[test]
fn a_trial_whose_load_did_not_last_has_failed() {
    for (name, why) in [("KILL", "ended during the trial"), ("STOP", "was running during only")] {
        let scratch = Scratch::new();
        let run = under_way(&scratch, "cpu");
        let load = processes(&scratch, "__background")[0];
        signal(name, load);
        run.end().ends(Exit::TrialsFailed);
        let run = scratch.results();
        let trial = &run.trials[0];
        let Outcome::Failed { reason, message, .. } = &trial.outcome else { panic!("{trial:?}") };
        assert_eq!(*reason, Failure::Harness);
        assert!(message.contains(why) && message.contains("cpu"), "{message}");
        assert!(trial.measured.is_none() && trial.background.as_ref().unwrap().at_work_share < 0.9);
        scratch.assert_nothing_left();
    }
}
