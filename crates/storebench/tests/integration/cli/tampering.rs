//! Others who put something of theirs where storebench has its files, and others who clean.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use storebench_core::error::Exit;

use super::support::{Scratch, TINY, contents, faulty, is_root, said, skipped, wait_for};

/// Many trials of a store that takes its time.
const SLOW: &str = "run crud --store dawdles --records 20 --record-size 1B..1KiB --data incompressible \
    --guarantee default --operations 60 --trials 4 --timeout 60s";
/// A marker of a process that has gone, as storebench wrote it before it locked markers.
const GONE: &str = r#"{"pid":4000000000,"started":1}"#;

fn make_pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn man_pages_replace_man_pages_of_ours_and_nothing_else() {
    let scratch = Scratch::in_memory();
    scratch.storebench("man pages").ends(Exit::Success);
    let pages = contents(&scratch.join("pages"));
    let theirs = scratch.write("pages/storebench-run.1", "my notes on runs");
    fs::write(scratch.join("pages/storebench.1"), ".ie x\n.TH storebench 1 \"storebench 0.0.1\"\nolder\n")
        .unwrap();
    scratch
        .storebench("man pages")
        .complains(Exit::NotStorebench, &["storebench-run.1", "was not written by storebench"]);
    assert_eq!(fs::read_to_string(&theirs).unwrap(), "my notes on runs");
    assert!(
        fs::read_to_string(scratch.join("pages/storebench.1")).unwrap().ends_with("older\n"),
        "all or none"
    );
    fs::remove_file(&theirs).unwrap();
    scratch.write("page", ".TH storebench\n");
    symlink("../page", &theirs).unwrap();
    scratch.storebench("man pages").complains(Exit::NotStorebench, &["storebench-run.1"]);
    assert_eq!(fs::read_to_string(scratch.join("page")).unwrap(), ".TH storebench\n");
    fs::remove_file(&theirs).unwrap();
    scratch.storebench("man pages").ends(Exit::Success);
    assert_eq!(contents(&scratch.join("pages")), pages);
}

#[test]
fn a_pipe_in_place_of_a_lock_or_a_marker_is_not_waited_for() {
    let scratch = Scratch::in_memory();
    scratch.faulty(&format!("run crud --store flat-folder {TINY}")).ends(Exit::Success);
    let lock = scratch.only_run().join(".lock");
    fs::remove_file(&lock).unwrap();
    make_pipe(&lock);
    scratch
        .faulty("run --resume latest")
        .complains(Exit::NotStorebench, &[".lock is no file", "keeps a file of its own", "delete it"]);
    fs::create_dir(scratch.join("storebench-runs/storebench-work-1")).unwrap();
    make_pipe(&scratch.join("storebench-runs/storebench-work-1/.storebench-work"));
    let said = scratch.faulty("clean").ends(Exit::Success);
    assert!(!said.out.contains("storebench-work-1"), "{said}");
}

#[test]
fn a_link_in_place_of_a_log_is_not_followed() {
    let scratch = Scratch::in_memory();
    let run = scratch.start_faulty(SLOW);
    wait_for("a trial", || scratch.runs().iter().any(|run| run.join("trial.json").exists()));
    run.signal("INT");
    run.end().ends(Exit::Interrupted);
    let theirs = scratch.write("theirs", "text");
    let logs = scratch.only_run().join("logs");
    for position in 0..4 {
        let log = logs.join(format!("{position:06}.log"));
        let _ = fs::remove_file(&log);
        symlink(&theirs, &log).unwrap();
    }
    let said = scratch.faulty("run --resume latest").ends(Exit::NotStorebench);
    assert!(said.err.contains(".log is a link"), "{said}");
    fs::rename(&logs, scratch.join("elsewhere")).unwrap();
    symlink(scratch.join("elsewhere"), &logs).unwrap();
    scratch.faulty("run --resume latest").ends(Exit::NotStorebench);
    assert_eq!(fs::read_to_string(&theirs).unwrap(), "text");
    scratch.assert_nothing_left();
}

#[test]
fn a_run_in_another_container_keeps_its_folder() {
    let scratch = Scratch::in_memory();
    let mut command = Command::new("unshare");
    if !is_root() {
        command.args(["--user", "--map-root-user"]);
    }
    command.args(["--pid", "--fork", "--mount-proc"]).arg(faulty()).args(["clean", "disk"]);
    command.current_dir(scratch.path());
    fs::create_dir(scratch.join("disk")).unwrap();
    if !command.output().is_ok_and(|output| output.status.success()) {
        return skipped("cleaning in another container", "needs root, or user namespaces and unshare");
    }
    let run = scratch.start_faulty(&format!("{SLOW} --at disk"));
    wait_for("a trial", || scratch.runs().iter().any(|run| run.join("trial.json").exists()));
    let cleaned = said(&mut command).ends(Exit::Success);
    assert!(!cleaned.out.contains("storebench-work"), "{cleaned}");
    run.end().ends(Exit::Success);
    scratch.assert_nothing_left();
}

#[test]
fn root_leaves_what_belongs_to_others() {
    if !is_root() {
        return skipped("another user's work folder", "needs root");
    }
    let scratch = Scratch::in_memory();
    scratch.write("disk/storebench-work-1/.storebench-work", GONE);
    scratch.write("disk/storebench-work-1/trial/data", "theirs");
    let before = scratch.contents();
    for path in ["disk/storebench-work-1", "disk/storebench-work-1/trial"] {
        std::os::unix::fs::chown(scratch.join(path), Some(12345), None).unwrap();
    }
    let said = scratch.faulty("clean disk").ends(Exit::Success);
    assert!(said.err.contains("storebench-work-1: it belongs to another user, number 12345"), "{said}");
    // Nor does it keep a run from its work.
    scratch.faulty(&format!("run crud --store flat-folder {TINY} --at disk")).ends(Exit::Success);
    let mut after = scratch.contents();
    after.retain(|path, _| {
        path.starts_with(scratch.join("disk")) || !path.starts_with(scratch.join("storebench-runs"))
    });
    assert_eq!(after, before);
}

#[test]
fn a_file_system_without_locks_holds_no_run() {
    let scratch = Scratch::in_memory();
    let traced =
        format!("-f -o /dev/null -e trace=flock -e inject=flock:error=EOPNOTSUPP {}", faulty().display());
    if !scratch.command("strace", "-o /dev/null true").output().is_ok_and(|output| output.status.success()) {
        return skipped("a file system without locks", "needs strace");
    }
    said(&mut scratch.command("strace", &format!("{traced} run crud --store flat-folder {TINY}")))
        .complains(Exit::Failure, &["has no locks, which a run needs: name another --out"]);
    assert!(scratch.runs().is_empty());
    scratch.assert_nothing_left();
}
