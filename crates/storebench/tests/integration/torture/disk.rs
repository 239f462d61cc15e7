//! Disks that fail by injected errors or fill up: no reported result is lost, and the program ends with a documented exit code.

use std::fs;
use std::path::Path;
use std::process::Command;

use storebench_host::folder;
use storebench_model::error::Exit;

use super::tries;
use crate::cli::support::{Said, Scratch, TINY, assert_complete, faulty, is_root, said, skipped};

/// Whether system calls can be made to fail here.
pub fn has_strace() -> bool {
    let traced = Command::new("strace").args(["-o", "/dev/null", "true"]).output();
    let can_trace = traced.is_ok_and(|traced| traced.status.success());
    if !can_trace {
        skipped("injected errors", "needs strace and the right to trace");
    }
    can_trace
}

/// Runs storebench with one of its system calls failing: the `when`th of this kind.
fn run_with_error(scratch: &Scratch, call: &str, error: &str, when: u32, arguments: &str) -> Said {
    let mut command = Command::new("strace");
    command.args(injection(call, error, &when.to_string())).arg(faulty());
    said(command.args(arguments.split_whitespace()).current_dir(scratch.path()))
}

/// The arguments with which strace has a system call fail.
pub fn injection(call: &str, error: &str, when: &str) -> [String; 6] {
    let inject = format!("inject={call}:error={error}:when={when}");
    ["-o", "/dev/null", "-e", &format!("trace={call}"), "-e", &inject].map(str::to_owned)
}

#[track_caller]
pub fn ends_as_documented(output: &Said, context: &str) {
    let codes = Exit::ALL.map(|exit| i32::from(exit.code()));
    assert!(output.code.is_some_and(|code| codes.contains(&code)), "{context}\n{output}");
}

/// A call that a report, or a run, makes to the system, and an error. The loader's calls come first, when nothing of ours runs yet.
pub fn choose_error(random: &mut fastrand::Rng) -> (&'static str, &'static str) {
    let calls = "write openat read statx ftruncate fsync fdatasync mkdir unlink rename clone3 flock";
    let calls: Vec<&str> = calls.split(' ').collect();
    (calls[random.usize(..calls.len())], ["EIO", "ENOSPC"][random.usize(..2)])
}

#[test]
fn a_report_survives_calls_that_fail() {
    if !has_strace() {
        return;
    }
    let scratch = Scratch::new();
    scratch.faulty(&format!("run crud --store flat-folder {TINY}")).ends(Exit::Success);
    let before = fs::read(scratch.only_run().join("results.jsonl")).unwrap();
    tries(12, |random| {
        let (call, error) = choose_error(random);
        let (when, form) =
            (random.u32(1..20), ["", "--csv", "--html page.html", "--table"][random.usize(..4)]);
        let output = run_with_error(&scratch, call, error, when, &format!("report latest {form}"));
        // Before the first call of ours the loader may end it with 127.
        if output.code != Some(127) {
            ends_as_documented(&output, &format!("{call} {error} {when} {form}"));
        }
        assert_eq!(fs::read(scratch.only_run().join("results.jsonl")).unwrap(), before);
    });
}

#[test]
fn a_run_survives_calls_that_fail_and_is_resumed() {
    if !has_strace() {
        return;
    }
    let study = TINY.replace("--trials 1", "--trials 2");
    tries(8, |random| {
        let scratch = Scratch::new();
        let (call, error) = choose_error(random);
        let when = random.u32(1..60);
        let context = format!("{call} {error} {when}");
        let output = run_with_error(
            &scratch,
            call,
            error,
            when,
            &format!("run crud --store flat-folder,fills {study}").replace(",fills", ""),
        );
        if output.code == Some(127) {
            return;
        }
        ends_as_documented(&output, &context);
        let Some(run) = scratch.runs().pop() else { return };
        let resumed = scratch.faulty(&format!("run --resume {}", run.display()));
        ends_as_documented(&resumed, &context);
        assert_complete(&folder::read(&run).unwrap(), 1, 2);
        scratch.faulty("clean").ends(Exit::Success);
        scratch.assert_nothing_left();
    });
}

/// A disk in memory of `size_kib` KiB, with the runs and the stores' files on it; the study is run, and resumed with more room.
fn on_a_small_disk(scratch: &Scratch, size_kib: u32) -> Option<Said> {
    let script = "disk=$PWD/disk; mkdir -p disk; mount -t tmpfs -o size=${size}k tmpfs disk; \
        \"$sb\" run crud --store fills,flat-folder,memory $study --out disk >out 2>err || code=$?; \
        mount -o remount,size=8m disk; \
        [ -e disk/crud-* ] || exit $code; cp -r disk/crud-* before; \
        \"$sb\" run --resume disk/crud-* >again 2>&1 || resumed=$?; cp -r disk/crud-* after; \
        echo $resumed >resumed; cat err >&2; exit $code";
    let mut command = Command::new("unshare");
    command.arg("--mount");
    if !is_root() {
        command.args(["--user", "--map-root-user"]);
    }
    let study =
        TINY.replace("--guarantee process", "--guarantee default").replace("--trials 1", "--trials 2");
    command.args(["sh", "-uc", script]).current_dir(scratch.path());
    command.env("sb", faulty()).env("study", study).env("size", size_kib.to_string());
    command.env("code", "0").env("resumed", "0");
    let tried = Command::new("unshare").args(["--mount", "true"]).output();
    if is_root() && !tried.is_ok_and(|tried| tried.status.success()) {
        skipped("disks that fill up", "needs the right to mount");
        return None;
    }
    Some(said(&mut command))
}

#[test]
fn a_disk_of_any_size_loses_no_result() {
    tries(6, |random| {
        let scratch = Scratch::new();
        let size = random.u32(16..4096);
        let Some(output) = on_a_small_disk(&scratch, size) else { return };
        ends_as_documented(&output, &format!("{size} KiB"));
        if !scratch.join("after").exists() {
            assert_eq!(output.code, Some(Exit::DiskFull.code().into()), "{size} KiB\n{output}");
            return;
        }
        let [before, after] = ["before", "after"].map(|name| folder::read(&scratch.join(name)).unwrap());
        assert_eq!(after.trials[..before.trials.len()], before.trials, "{size} KiB");
        // A cell that there was no room for was left out from the start.
        let cells = 3 - after.header.left_out.len();
        assert_complete(&after, cells, 2);
        assert!(!Path::new(&scratch.join("disk/storebench-work-1")).exists());
    });
}
