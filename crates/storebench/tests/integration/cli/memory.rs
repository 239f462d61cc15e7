//! A trial that runs out of memory: refused by a limit of its own, or killed by the system.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use storebench_core::error::Exit;

use super::support::{Scratch, TINY, faulty, is_root, outcomes, said, skipped};

const STORES: &str = "hoards,flat-folder,null";

/// Runs storebench through a shell that sets a limit first.
fn run_limited(scratch: &Scratch, limit: &str) -> (String, Vec<(String, String)>) {
    let arguments =
        format!("run crud --store {STORES} {TINY}").replace("--guarantee process", "--guarantee default");
    let mut command = Command::new("sh");
    command.args(["-euc", &format!("{limit}; exec \"$0\" \"$@\"")]).arg(faulty());
    command.args(arguments.split_whitespace()).current_dir(scratch.path());
    let said = said(&mut command).ends(Exit::TrialsFailed);
    let run = scratch.results();
    let mut found: Vec<_> =
        outcomes(&run).into_iter().map(|(store, how)| (store.to_owned(), how.to_owned())).collect();
    found.sort();
    (said.err, found)
}

fn expected() -> Vec<(String, String)> {
    [("flat-folder", "ok"), ("hoards", "out-of-memory"), ("null", "ok")]
        .map(|(store, how)| (store.to_owned(), how.to_owned()))
        .into()
}

#[test]
fn memory_that_a_limit_refuses_is_one_failed_result() {
    let scratch = Scratch::new();
    let (err, found) = run_limited(&scratch, "ulimit -v 1000000");
    assert_eq!(found, expected());
    assert!(err.contains("memory allocation of"), "{err}");
    scratch.assert_nothing_left();
}

#[test]
fn memory_that_the_system_takes_back_is_one_failed_result() {
    let Some(group) = Group::new(256 << 20) else {
        return skipped(
            "a trial that is killed for memory",
            "needs root and a memory cgroup that can be written",
        );
    };
    let scratch = Scratch::new();
    let (err, found) = run_limited(&scratch, &format!("echo $$ > {}/cgroup.procs", group.path.display()));
    assert_eq!(found, expected());
    assert!(err.contains("was killed because memory ran out"), "{err}");
    scratch.assert_nothing_left();
}

/// Where trials can't have cgroups of their own, each says why.
#[test]
fn the_page_cache_counts_where_a_cgroup_tells_it() {
    let scratch = Scratch::new();
    let narrow = "--records 1000 --record-size 8KiB --data incompressible --guarantee default --operations 5";
    scratch.storebench(&format!("run crud --store flat-folder,null {narrow} --trials 1")).ends(Exit::Success);
    let results = scratch.results();
    for (store, at_least, at_most) in [("flat-folder", 8_000_000, 60_000_000), ("null", 0, 4_000_000)] {
        let trial = results.trials.iter().find(|trial| trial.cell.store() == store).unwrap();
        let measured = trial.measured.as_ref().unwrap();
        let why = measured.unknown.iter().find(|unknown| unknown.figure == "peak_with_page_cache_bytes");
        match measured.memory.peak_with_page_cache_bytes {
            Some(bytes) => assert!((at_least..at_most).contains(&bytes), "{store}: {bytes}"),
            None => assert!(why.is_some_and(|unknown| !unknown.reason.is_empty()), "{measured:?}"),
        }
        let without = measured.memory.peak_without_mapped_files_bytes.unwrap();
        assert!(without <= measured.memory.peak_above_base_bytes + (1 << 20), "{measured:?}");
    }
}

/// `memory` shows a value where it lies, and the application copies it; `flat-folder` reads it into a buffer of its own.
#[test]
fn the_buffer_that_a_value_is_copied_into_counts_for_every_store() {
    let peaks = |order: &str| {
        let scratch = Scratch::new();
        let narrow =
            "--records 4 --record-size 8MiB --data incompressible --guarantee default --operations 5";
        let arguments = format!("run crud --store memory,flat-folder {narrow} --trials 1 --order {order}");
        said(&mut scratch.command(faulty(), &arguments)).ends(Exit::Success);
        let run = scratch.results();
        ["memory", "flat-folder"].map(|store| {
            let trial = run.trials.iter().find(|trial| trial.cell.store() == store).unwrap();
            trial.ok().unwrap().memory.peak_above_base_bytes
        })
    };
    let (reading, writing) = (peaks("get"), peaks("update"));
    for (reading, writing) in reading.iter().zip(writing) {
        let buffer = reading.saturating_sub(writing);
        // Resident memory differs between equal processes by a few hundred KiB: values are large beside that.
        assert!((7 << 20..20 << 20).contains(&buffer), "{buffer} bytes more for values of 8 MiB");
    }
}

/// A control group with a limit of memory, of version 2 or 1; removed when dropped.
struct Group {
    path: PathBuf,
}

impl Group {
    fn new(limit_bytes: u64) -> Option<Group> {
        if !is_root() {
            return None;
        }
        let own = fs::read_to_string("/proc/self/cgroup").ok()?;
        let path_of = |prefix: &str| {
            let line = own.lines().find_map(|line| line.split_once(':')?.1.strip_prefix(prefix))?;
            Some(line.trim_start_matches('/').to_owned())
        };
        // A group that has processes of its own can't have limited groups below it, so the root's are used.
        let (parent, file) = if Path::new("/sys/fs/cgroup/cgroup.controllers").exists() {
            (PathBuf::from("/sys/fs/cgroup"), "memory.max")
        } else {
            (Path::new("/sys/fs/cgroup/memory").join(path_of("memory:")?), "memory.limit_in_bytes")
        };
        let path = parent.join(format!("storebench-test-{}", std::process::id()));
        fs::create_dir(&path).ok()?;
        let group = Group { path };
        fs::write(group.path.join(file), limit_bytes.to_string()).ok()?;
        // Memory that may be swapped out has no bound.
        for (file, limit) in [("memory.swap.max", 0), ("memory.memsw.limit_in_bytes", limit_bytes)] {
            if group.path.join(file).exists() {
                fs::write(group.path.join(file), limit.to_string()).ok()?;
            }
        }
        Some(group)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.path);
    }
}
