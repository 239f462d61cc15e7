//! Runs on images of file systems, with servers, that are killed at any moment: nothing is left of them, and they can be resumed.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use storebench_model::error::Exit;

use super::tries;
use crate::cli::support::{STOREBENCH, assert_complete, faulty, skipped, wait_for};
use crate::file_systems::{assert_gone, can_mount, left_of, with_disk};

const SMALL: &str = "--records 20 --record-size 1B..1KiB --data incompressible --guarantee default --operations 5 --trials 1 \
    --timeout 10m --at disk";

/// The cgroups that a process has made and that are there.
pub fn cgroups_of(process: u32) -> Vec<PathBuf> {
    fn collect(folder: &Path, name: &str, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                if entry.file_name().to_string_lossy().starts_with(name) {
                    found.push(entry.path());
                }
                collect(&entry.path(), name, found);
            }
        }
    }
    let mut found = Vec::new();
    collect(Path::new("/sys/fs/cgroup"), &format!("storebench-{process}-"), &mut found);
    found
}

/// Kills a run with this number of cells after a number of milliseconds, cleans, looks for what is left, and resumes it.
fn kill_and_resume(
    random: &mut fastrand::Rng,
    program: &Path,
    arguments: &str,
    cells: usize,
    longest_ms: u64,
) {
    let scratch = with_disk();
    let run = scratch.start(program, &format!("run crud {arguments} {SMALL}"));
    let process = run.id();
    std::thread::sleep(Duration::from_millis(random.u64(0..longest_ms)));
    run.signal("KILL");
    run.end();
    wait_for("its trial to end", || {
        // A file system's own daemon lives as long as its mount.
        let is_daemon = |line: &String| line.contains("exfat") || line.contains("ntfs");
        scratch.processes().iter().all(is_daemon)
    });
    let run_command = |arguments: &str| scratch.start(program, arguments).end().ends(Exit::Success);
    run_command("clean disk");
    wait_for("programs that were making or mounting an image to end", || left_of(&scratch).is_empty());
    assert_gone(&scratch);
    assert!(cgroups_of(process).is_empty(), "{:?} is left", cgroups_of(process));
    if scratch.runs().is_empty() {
        return;
    }
    let before = scratch.results().trials;
    run_command("run --resume latest");
    let run = scratch.results();
    assert_complete(&run, cells, 1);
    assert_eq!(run.trials[..before.len()], before, "what had ended is not run again");
    assert!(run.trials.iter().all(|trial| trial.ok().is_some()), "{:#?}", run.trials);
    assert_gone(&scratch);
}

#[test]
fn runs_on_images_are_killed_at_any_moment_and_resumed() {
    if !can_mount("ext4:1024") || !can_mount("exfat") {
        return;
    }
    let arguments = "--store flat-folder,null,memory --place ext4:1024,exfat";
    tries(3, |random| kill_and_resume(random, &faulty(), arguments, 6, 5000));
}

#[test]
fn runs_with_servers_on_images_are_killed_at_any_moment_and_resumed() {
    if !can_mount("ext4:1024") || !can_mount("ntfs:4096") {
        return;
    }
    let scratch = with_disk();
    let dry_run = scratch.storebench(&format!("run crud --dry-run --store postgres {SMALL}"));
    if dry_run.code != Some(Exit::Success.code().into()) {
        return skipped("servers that are killed", &dry_run.err);
    }
    let arguments = "--store sqlite,postgres --place ext4:1024,ntfs:4096";
    tries(2, |random| kill_and_resume(random, Path::new(STOREBENCH), arguments, 4, 12_000));
}
