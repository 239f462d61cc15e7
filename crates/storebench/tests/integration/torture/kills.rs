//! Runs that are killed at any moment: what had ended is kept, `clean` finds what is left, and the rest is done when the run is resumed.

use std::fs;
use std::time::Duration;

use storebench_host::folder;
use storebench_model::error::Exit;

use super::tries;
use crate::cli::support::{Scratch, Started, assert_complete, faulty, skipped, wait_for};

/// Six short trials, with the stores' files on a separate disk.
const RUN: &str = "run crud --store flat-folder,null,memory --records 20 --record-size 1B..1KiB --data incompressible \
    --guarantee default --operations 5 --trials 2 --timeout 10m --at disk";
const CELLS: usize = 3;
const BLOCKS: u32 = 2;

/// The calls at which the program is to be killed. The first are many, the others few and telling.
const CALLS: [(&str, u32); 7] = [
    ("%file,%desc", 1500),
    ("?mkdir,mkdirat", 12),
    ("flock", 12),
    ("fsync,fdatasync", 40),
    ("?unlink,?rmdir,unlinkat", 80),
    ("write,ftruncate", 60),
    ("%process", 80),
];

/// Kills a run that `start` starts, cleans up behind it, and resumes it.
fn kill_and_resume(start: impl FnOnce(&Scratch) -> Started, kill: impl FnOnce(Started)) {
    let scratch = Scratch::new();
    fs::create_dir(scratch.join("disk")).unwrap();
    kill(start(&scratch));
    wait_for("its trial to end", || scratch.processes().is_empty());
    scratch.faulty("clean disk").ends(Exit::Success);
    let left_files: Vec<_> = fs::read_dir(scratch.join("disk")).unwrap().collect();
    assert!(left_files.is_empty(), "{left_files:?}");
    if scratch.runs().is_empty() {
        // It was killed before there was a run.
        return;
    }
    let Ok(before) = folder::read(&scratch.only_run()) else {
        panic!("{:?} can't be read", scratch.contents());
    };
    scratch.faulty("run --resume latest").ends(Exit::Success);
    let run = scratch.results();
    assert_complete(&run, CELLS, BLOCKS);
    assert_eq!(run.trials[..before.trials.len()], before.trials, "what had ended is not run again");
    scratch.assert_nothing_left();
}

#[test]
fn a_run_is_killed_at_any_moment() {
    tries(4, |random| {
        let start = |scratch: &Scratch| scratch.start_faulty(RUN);
        kill_and_resume(start, |run| {
            std::thread::sleep(Duration::from_millis(random.u64(0..2500)));
            run.signal("KILL");
            run.end();
        });
    });
}

#[test]
fn a_run_is_killed_at_any_of_its_system_calls() {
    let scratch = Scratch::new();
    if !scratch.command("strace", "-o /dev/null true").output().is_ok_and(|output| output.status.success()) {
        return skipped("kills at system calls", "needs strace, and the right to trace");
    }
    tries(6, |random| {
        let (calls, most) = CALLS[random.usize(0..CALLS.len())];
        let number = random.u32(1..most);
        let injected = format!("-o /dev/null -e trace={calls} -e inject={calls}:signal=KILL:when={number}");
        let start =
            |scratch: &Scratch| scratch.start("strace", &format!("{injected} {} {RUN}", faulty().display()));
        // It may end before it gets there.
        kill_and_resume(start, |run| drop(run.end()));
    });
}
