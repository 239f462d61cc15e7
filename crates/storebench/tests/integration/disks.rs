//! Simulated disks under stores, on real file systems by FUSE and a loop device, and nothing left of them whatever happens.

use std::process::Command;

use storebench_core::cell::Axis;
use storebench_core::error::Exit;
use storebench_core::result::{Failure, Outcome, TrialResult};
use storebench_host::run::Run;

use crate::cli::support::OWN;
use crate::cli::support::{Scratch, TINY, assert_complete, faulty, is_root, skipped, wait_for};
use crate::file_systems::{assert_gone, can_mount, mounted, with_disk};

/// A disk that takes a microsecond for each request: as quick as FUSE lets it be.
const QUICK: &str =
    "[disks.quick]\nabout = \"A quick one\"\n[disks.quick.fixed]\nread_us = 1\nwrite_us = 1\nflush_us = 1\n";

/// Whether this machine can simulate a disk under ext4; if it can't, the test says so.
pub fn can_simulate() -> bool {
    let fuse = std::path::Path::new("/dev/fuse").exists();
    if !is_root() || !fuse {
        skipped("a simulated disk", "needs root and /dev/fuse");
        return false;
    }
    can_mount("ext4:4096")
}

/// A plan that has the disk, and its name.
fn with_quick(scratch: &Scratch) -> String {
    scratch.write("quick.toml", format!("{OWN}\n{QUICK}")).display().to_string()
}

fn on_disk<'r>(run: &'r Run, disk: &str) -> Vec<&'r TrialResult> {
    run.trials.iter().filter(|trial| trial.cell.disk() == disk).collect()
}

#[test]
fn stores_live_on_a_simulated_disk_which_counts_what_they_ask_of_it() {
    if !can_simulate() {
        return;
    }
    let scratch = with_disk();
    let plan = with_quick(&scratch);
    let command =
        format!("run {plan} --store sqlite,flat-folder --disk here,quick --place ext4:4096 {TINY} --at disk");
    let study = command.replace("--guarantee process", "--guarantee power");
    scratch.storebench(&study).ends(Exit::Success);
    let run = scratch.results();
    assert_complete(&run, 4, 1);
    let (here, quick) = (on_disk(&run, "here"), on_disk(&run, "quick"));
    assert_eq!((here.len(), quick.len()), (2, 2));
    assert!(here.iter().all(|trial| trial.disk.is_none() && !trial.cell.id().contains("disk=")));
    for trial in quick {
        assert!(trial.cell.id().contains("/disk=quick"), "{}", trial.cell.id());
        let disk = trial.disk.as_ref().unwrap();
        let counts = &disk.counts;
        assert_eq!(disk.name, "quick");
        assert!(counts.requests.writes.requests > 0 && counts.requests.flushes > 0, "{disk:?}");
        // A microsecond each.
        let all = counts.requests.all() - counts.requests.discards.requests;
        assert_eq!(counts.requests.modelled_ns, all * 1_000, "{disk:?}");
    }
    let place = run.header.locations.iter().find(|place| place.disk() == "quick").unwrap();
    assert_eq!((place.name.as_str(), place.place()), ("ext4:4096 on simulated quick", "ext4:4096"));
    assert!(place.driver.as_deref().is_some_and(|driver| driver == "kernel (ext4)"), "{place:?}");
    assert!(run.header.plan.contains("[disks.quick"));
    for output in ["report latest", "report latest --table"] {
        let said = scratch.storebench(output).ends(Exit::Success);
        assert!(said.out.contains("on simulated quick"), "{said}");
    }
    let said = scratch.storebench("report latest --table").ends(Exit::Success);
    let joined = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(joined.contains("Disk quick is simulated on"), "{said}");
    assert_gone(&scratch);
}

#[test]
fn what_a_killed_run_had_on_a_simulated_disk_is_given_back() {
    if !can_simulate() {
        return;
    }
    for signal in ["INT", "KILL"] {
        let scratch = with_disk();
        let (run, _) = mounted(&scratch, "ext4:4096 --disk steady");
        run.signal(signal);
        run.end();
        if signal == "KILL" {
            scratch.faulty("clean disk").ends(Exit::Success);
        }
        assert_gone(&scratch);
    }
}

/// Its store is not blamed.
#[test]
fn a_disk_whose_server_is_killed_is_one_failed_trial() {
    if !can_simulate() {
        return;
    }
    let scratch = with_disk();
    // Nobody else sees its mount, which is dead for a while: mkfs.btrfs looks at all that there are.
    let study = TINY
        .replace("--operations 5", "--operations 120")
        .replace("--guarantee process", "--guarantee default");
    let study = format!("--store dawdles --place ext4:4096 --disk steady {study} --at disk");
    let run = scratch.start("unshare", &format!("--mount {} run crud {study}", faulty().display()));
    let of_the_trial = |word: &str| {
        let is_it =
            |line: &str| line.contains(word) && (word != "__disk " || line.contains("/trial-0.disk "));
        scratch.numbered_processes().into_iter().find(|(_, line)| is_it(line)).map(|(number, _)| number)
    };
    wait_for("its disk", || of_the_trial("__disk ").is_some());
    wait_for("its trial", || of_the_trial("__trial ").is_some());
    let server = of_the_trial("__disk ").unwrap();
    assert!(Command::new("kill").args(["-KILL", &server.to_string()]).status().unwrap().success());
    run.end().ends(Exit::TrialsFailed);
    let run = scratch.results();
    let [trial] = run.trials.as_slice() else { panic!("{:#?}", run.trials) };
    let Outcome::Failed { reason, message, .. } = &trial.outcome else { panic!("{trial:#?}") };
    assert_eq!(*reason, Failure::Harness, "{message}");
    assert!(message.contains("the server of the simulated disk steady ended"), "{message}");
    assert_gone(&scratch);
}

#[test]
fn a_run_on_a_simulated_disk_is_resumed_as_it_was() {
    if !can_simulate() {
        return;
    }
    let scratch = with_disk();
    let plan = with_quick(&scratch);
    scratch
        .storebench(&format!("run {plan} --store sqlite,lmdb --disk quick {TINY} --at disk"))
        .ends(Exit::Success);
    let results = scratch.only_run().join("results.jsonl");
    let text = std::fs::read_to_string(&results).unwrap();
    std::fs::write(&results, format!("{}\n", text.lines().next().unwrap())).unwrap();
    let before = scratch.results().header;
    scratch.write("quick.toml", format!("{OWN}\n{}", QUICK.replace("= 1", "= 9")));
    scratch.storebench("run --resume latest").ends(Exit::Success);
    let run = scratch.results();
    assert!(run.trials.len() == 2 && run.trials.iter().all(|trial| matches!(trial.outcome, Outcome::Ok)));
    assert_eq!(run.header.locations, before.locations);
    for trial in &run.trials {
        let counts = &trial.disk.as_ref().unwrap().counts;
        assert_eq!(
            counts.requests.modelled_ns,
            (counts.requests.all() - counts.requests.discards.requests) * 1_000,
            "{counts:?}"
        );
    }
    assert_gone(&scratch);
}

/// A device that takes a millisecond for each request, and a file that is read and written past the page cache.
#[test]
fn the_requests_of_each_operation_are_those_that_it_made() {
    if !can_simulate() {
        return;
    }
    let scratch = with_disk();
    let study = "--block-size 4KiB --file-size 1MiB --io direct --duration 200ms --trials 1 --disk steady --place ext4:4096 --at disk";
    scratch
        .storebench(&format!("run device --pattern rand-read,rand-write --sync none,fdatasync {study}"))
        .ends(Exit::Success);
    let run = scratch.results();
    assert_eq!(run.trials.len(), 3, "a read has nothing to sync");
    for trial in &run.trials {
        let (requests, operations) = trial.ok().unwrap().operations[0].asked_of_disk().unwrap();
        let id = trial.cell.id();
        let (reads, writes) = (&requests.reads, &requests.writes);
        let bytes = operations * 4096;
        match trial.cell.text(Axis::PATTERN) {
            "rand-read" => {
                assert_eq!((reads.requests, reads.bytes), (operations, bytes), "{id}: {requests:?}")
            }
            // The file system may write something by itself meanwhile.
            _ => assert!(writes.requests >= operations && writes.bytes >= bytes, "{id}: {requests:?}"),
        }
        let syncs = trial.cell.text(Axis::SYNC) == "fdatasync";
        assert!(!syncs || requests.flushes >= operations, "{id}: {requests:?}");
        let all = requests.all() - requests.discards.requests;
        assert!(requests.modelled_ns >= all * 1_000_000, "{id}: {requests:?}");
        assert!(
            requests.modelled_ns <= (all + 1) * 1_000_000,
            "{id}: requests that overlap count once: {requests:?}"
        );
        let disk = trial.disk.as_ref().unwrap();
        assert!(disk.transit.is_some_and(|transit| transit.requests == 400 && transit.mean_ns > 0));
        assert!(disk.counts.requests.journal.is_some(), "it is known of ext4");
        assert_eq!(disk.counts.requests.since(requests).all(), disk.counts.requests.all() - requests.all());
    }
    let said = scratch.storebench("report latest --table").ends(Exit::Success);
    let joined = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in
        ["Requests to the simulated disk", "one read = 1 read, 4.00 KiB", "through FUSE and the loop device"]
    {
        assert!(joined.contains(words), "{words}: {said}");
    }
}
