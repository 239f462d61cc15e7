//! Loads and runs to be looked at from outside, through /proc.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use storebench_core::background::now_ns;
use storebench_core::folder;
use storebench_core::result::Run;
use storebench_core::runner::background::{Finished, Launch, Load, Started};
use tempfile::TempDir;

pub const STOREBENCH: &str = env!("CARGO_BIN_EXE_storebench");

/// A directory on a real disk. Every process that the tests start has its path among its arguments.
pub struct Scratch(TempDir);

impl Scratch {
    pub fn new() -> Scratch {
        Scratch(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap())
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.path().join("log")).unwrap_or_default()
    }

    /// Starts a load, which has its files here.
    pub fn try_start(&self, load: &str) -> Started {
        let launch = Launch {
            program: Path::new(STOREBENCH),
            load: load.parse().unwrap(),
            folder: self.path(),
            log: &self.path().join("log"),
        };
        Load::start(launch, &AtomicBool::new(false)).unwrap()
    }

    /// Starts a load that must be at work.
    pub fn start(&self, load: &str) -> Load {
        match self.try_start(load) {
            Started::AtWork(load) => *load,
            other => panic!("{other:?}; its log: {}", self.log()),
        }
    }

    /// Processes with this directory among their arguments, whose command line holds `word`.
    pub fn processes(&self, word: &str) -> Vec<u32> {
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let Some(id) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
            let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line);
            if line.contains(&*self.path().to_string_lossy()) && line.contains(word) {
                found.push(id);
            }
        }
        found
    }

    pub fn assert_nothing_runs(&self) {
        wait_for("every process to end", || self.processes("").is_empty());
    }

    /// `storebench run crud` with a small study, its runs here, and further arguments.
    pub fn run(&self, arguments: &str) -> Command {
        let mut command = Command::new(STOREBENCH);
        command
            .args(["run", "crud", "--records", "100", "--record-size", "1KiB", "--data", "incompressible"])
            .args(["--guarantee", "default", "--out"])
            .arg(self.path().join("runs"))
            .args(arguments.split_whitespace())
            .stdin(Stdio::null());
        command
    }

    /// Starts such a run.
    pub fn start_run(&self, arguments: &str) -> Running {
        let mut command = self.run(arguments);
        Running(Some(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()))
    }

    /// The only run made here.
    pub fn results(&self) -> Run {
        let entries = fs::read_dir(self.path().join("runs")).unwrap();
        let mut runs: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        runs.retain(|path| path.join("run.json").exists());
        assert_eq!(runs.len(), 1, "{runs:?}");
        folder::read(&runs[0]).unwrap()
    }
}

/// A run at work. It is killed when a test fails.
pub struct Running(Option<Child>);

impl Running {
    pub fn id(&self) -> u32 {
        self.0.as_ref().unwrap().id()
    }

    pub fn end(mut self) -> Output {
        self.0.take().unwrap().wait_with_output().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Lets a load work until `enough`, and a second at least; what it did in between, and for how many nanoseconds.
pub fn observe(load: Load, enough: impl Fn() -> bool) -> (Finished, u64) {
    let from_ns = now_ns();
    thread::sleep(Duration::from_secs(1));
    wait_for("the load to do enough", enough);
    let to_ns = now_ns();
    (load.finish(from_ns, to_ns), to_ns - from_ns)
}

/// Sends a signal by its name.
pub fn signal(name: &str, id: u32) {
    let status = Command::new("kill").args([format!("-{name}"), id.to_string()]).status().unwrap();
    assert!(status.success());
}

/// Waits until something is so.
#[track_caller]
pub fn wait_for(what: &str, so: impl Fn() -> bool) {
    let start = Instant::now();
    while !so() {
        assert!(start.elapsed() < Duration::from_secs(60), "waited in vain for {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// A file of a process in /proc.
pub fn proc_file(id: u32, name: &str) -> String {
    fs::read_to_string(format!("/proc/{id}/{name}")).unwrap()
}

/// A number in such a file, after its name and a colon.
pub fn proc_number(id: u32, file: &str, name: &str) -> u64 {
    let text = proc_file(id, file);
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}
