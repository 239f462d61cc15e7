//! A load ends with what started it, and says so when it did not last.

use std::thread;
use std::time::Duration;

use storebench_host::background::now_ns;

use super::support::{signal, start, try_start};
use crate::cli::support::Scratch;

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
