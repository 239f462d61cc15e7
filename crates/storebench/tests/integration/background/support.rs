//! Loads to be looked at from outside, through /proc.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use storebench_host::background::now_ns;
use storebench_host::runner::background::{FinishedLoad, LoadLaunch, LoadProcess, LoadStart, RunningLoad};

use crate::cli::support::{STOREBENCH, Scratch, wait_for};

/// Starts a load, which has its files in the directory.
pub fn try_start(scratch: &Scratch, load: &str) -> LoadStart {
    let log = scratch.join("log");
    let output = std::fs::File::create(&log).unwrap();
    let launch = LoadLaunch {
        program: Path::new(STOREBENCH),
        load: load.parse().unwrap(),
        folder: scratch.path(),
        log: &log,
    };
    let process = LoadProcess::start(launch, output).unwrap();
    RunningLoad::start(launch, process, &AtomicBool::new(false))
}

/// Starts a load that must be at work.
pub fn start(scratch: &Scratch, load: &str) -> RunningLoad {
    match try_start(scratch, load) {
        LoadStart::AtWork(load) => *load,
        other => panic!("{other:?}; its log: {:?}", fs::read_to_string(scratch.join("log"))),
    }
}

/// Lets a load work until `enough`, and a second at least; what it did in between, and for how many nanoseconds.
pub fn observe(load: RunningLoad, is_enough: impl Fn() -> bool) -> (FinishedLoad, u64) {
    let from_ns = now_ns();
    thread::sleep(Duration::from_secs(1));
    wait_for("the load to do enough", is_enough);
    let to_ns = now_ns();
    (load.finish(from_ns, to_ns), to_ns - from_ns)
}

/// Processes at work in the directory, or with its path among their arguments, whose command line holds a word.
pub fn processes(scratch: &Scratch, word: &str) -> Vec<u32> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Some(id) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let is_here =
            fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(scratch.path()));
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line);
        if (is_here || line.contains(&*scratch.path().to_string_lossy())) && line.contains(word) {
            found.push(id);
        }
    }
    found
}

pub fn signal(name: &str, id: u32) {
    let status = Command::new("kill").args([format!("-{name}"), id.to_string()]).status().unwrap();
    assert!(status.success());
}

pub fn proc_file(id: u32, name: &str) -> String {
    fs::read_to_string(format!("/proc/{id}/{name}")).unwrap()
}

/// A number in such a file, after its name and a colon.
pub fn proc_number(id: u32, file: &str, name: &str) -> u64 {
    let text = proc_file(id, file);
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}
