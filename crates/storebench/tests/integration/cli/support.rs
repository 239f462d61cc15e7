//! A directory to work in, the programs, and what they said.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use storebench_host::folder;
use storebench_host::run::Run;
use storebench_model::error::Exit;
use storebench_model::result::Outcome;
use tempfile::TempDir;

use crate::in_memory;

/// A plan of a user.
pub const OWN: &str = include_str!("../cases/mine.toml");

/// The arguments that make a study as small as it can be, its store aside.
pub const TINY: &str = "--records 20 --record-size 1B..1KiB --data incompressible --guarantee process \
    --operations 5 --trials 1 --timeout 10m";

pub const STOREBENCH: &str = env!("CARGO_BIN_EXE_storebench");

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The program with the stores of tests/faulty.
pub fn faulty() -> PathBuf {
    example("faulty")
}

/// A program of the folder of examples, or built as one.
pub fn example(name: &str) -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let path = tests.parent().and_then(Path::parent).unwrap().join("examples").join(name);
    assert!(
        path.exists(),
        "{} is missing: cargo test --release builds it, with --test it does not",
        path.display()
    );
    path
}

/// A directory in which the programs are run; deleted with all it holds.
pub struct Scratch {
    directory: TempDir,
}

impl Scratch {
    /// One on a real disk.
    pub fn new() -> Scratch {
        Scratch { directory: tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap() }
    }

    /// One in memory, for tests to which the disk is no matter.
    pub fn in_memory() -> Scratch {
        Scratch { directory: in_memory::folder("scratch-") }
    }

    /// One where the system keeps what is temporary, which every user may enter.
    pub fn elsewhere() -> Scratch {
        Scratch { directory: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    pub fn join(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    pub fn command(&self, program: impl AsRef<Path>, arguments: &str) -> Command {
        let mut command = Command::new(program.as_ref());
        command.args(arguments.split_whitespace()).current_dir(self.path()).stdin(Stdio::null());
        command
    }

    /// Runs storebench with arguments that are separated by blanks.
    pub fn storebench(&self, arguments: &str) -> Said {
        said(&mut self.command(STOREBENCH, arguments))
    }

    pub fn faulty(&self, arguments: &str) -> Said {
        said(&mut self.command(faulty(), arguments))
    }

    pub fn start_faulty(&self, arguments: &str) -> Started {
        self.start(faulty(), arguments)
    }

    pub fn start(&self, program: impl AsRef<Path>, arguments: &str) -> Started {
        Started::new(&mut self.command(program, arguments))
    }

    /// The folders of the runs made here, oldest first.
    pub fn runs(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(self.join("storebench-runs")) else { return Vec::new() };
        let mut runs: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        runs.retain(|path| path.join("run.json").exists());
        runs.sort();
        runs
    }

    pub fn only_run(&self) -> PathBuf {
        let [run] = self.runs().try_into().unwrap();
        run
    }

    pub fn results(&self) -> Run {
        folder::read(&self.only_run()).unwrap()
    }

    pub fn contents(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        contents(self.path())
    }

    /// Fails if a work folder is left, or a process that was started with something in this directory.
    pub fn assert_nothing_left(&self) {
        let work_folders: Vec<_> = contents(self.path())
            .into_keys()
            .filter(|path| path.to_string_lossy().contains("storebench-work-"))
            .collect();
        assert!(work_folders.is_empty(), "work folders are left: {work_folders:?}");
        wait_for("its processes to end", || self.processes().is_empty());
    }

    /// Processes at work in this directory, or started with something in it.
    pub fn processes(&self) -> Vec<String> {
        self.numbered_processes().into_iter().map(|(_, line)| line).collect()
    }

    /// The same with their numbers.
    pub fn numbered_processes(&self) -> Vec<(u32, String)> {
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let Some(number) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
                continue;
            };
            let is_here =
                fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(self.path()));
            let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            if is_here || line.contains(&*self.path().to_string_lossy()) {
                found.push((number, line));
            }
        }
        found
    }
}

/// Every file below a directory with what it holds.
pub fn contents(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.insert(path.clone(), Vec::new());
            found.extend(contents(&path));
        } else {
            found.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    found
}

/// A program that has ended. It never ended by a panic.
#[derive(Debug)]
pub struct Said {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

pub fn said(command: &mut Command) -> Said {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    Said::new(&output)
}

impl Said {
    pub fn new(output: &Output) -> Said {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let output =
            Said { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) };
        assert!(!output.out.contains("panicked at") && !output.err.contains("panicked at"), "{output}");
        output
    }

    /// Fails unless it ended like this.
    #[track_caller]
    pub fn ends(self, exit: Exit) -> Said {
        assert_eq!(self.code, Some(exit.code().into()), "{exit:?} was expected\n{self}");
        self
    }

    /// Fails unless it ended like this after one line on standard error, and lines of tips, and nothing else, that hold these words.
    #[track_caller]
    pub fn complains(self, exit: Exit, words: &[&str]) -> Said {
        let output = self.ends(exit);
        assert!(output.out.is_empty(), "{output}");
        let mut lines = output.err.lines();
        let is_one_line = lines.next().is_some_and(|line| line.starts_with("storebench: "))
            && lines.all(|line| line.starts_with("  tip: "));
        assert!(is_one_line, "not one line\n{output}");
        for word in words {
            assert!(output.err.contains(word), "{word:?} is missing\n{output}");
        }
        output
    }
}

impl std::fmt::Display for Said {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "exit code {:?}\n--- out\n{}\n--- err\n{}", self.code, self.out, self.err)
    }
}

/// A program that is at work. It is killed when a test fails.
pub struct Started {
    child: Option<Child>,
}

impl Started {
    pub fn new(command: &mut Command) -> Started {
        Started { child: Some(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()) }
    }

    pub fn id(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    pub fn signal(&self, name: &str) {
        let id = self.id().to_string();
        assert!(Command::new("kill").args([format!("-{name}"), id]).status().unwrap().success());
    }

    pub fn end(mut self) -> Said {
        Said::new(&self.child.take().unwrap().wait_with_output().unwrap())
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[track_caller]
pub fn wait_for(what: &str, is_done: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_done() {
        assert!(start.elapsed() < Duration::from_secs(600), "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The outcome of each trial of a run: the store and `ok`, `unsupported` or the kind of failure.
pub fn outcomes(run: &Run) -> Vec<(&str, &str)> {
    let outcome = |outcome: &Outcome| match outcome {
        Outcome::Ok => "ok",
        Outcome::Failed { reason, .. } => reason.name(),
        Outcome::Unsupported { .. } => "unsupported",
    };
    run.trials.iter().map(|trial| (trial.cell.store(), outcome(&trial.outcome))).collect()
}

/// Fails unless every cell ran exactly once in every block.
#[track_caller]
pub fn assert_complete(run: &Run, cells: usize, blocks: u32) {
    let mut times: BTreeMap<(String, u32), u32> = BTreeMap::new();
    for trial in &run.trials {
        *times.entry((trial.cell.id(), trial.block)).or_default() += 1;
    }
    assert_eq!(times.len(), cells * blocks as usize, "{times:#?}");
    assert!(times.iter().all(|((_, block), times)| *times == 1 && *block < blocks), "{times:#?}");
}

/// Turns a copy, which is refused together with its original, into another run.
pub fn another_run(run: &Path, name: &str) {
    let header = run.join("run.json");
    let mut value: Value = serde_json::from_str(&fs::read_to_string(&header).unwrap()).unwrap();
    value["command"].as_array_mut().unwrap().push(name.into());
    fs::write(&header, serde_json::to_string_pretty(&value).unwrap()).unwrap();
}

/// Says that something could not be done here for what is not installed. With `STOREBENCH_TEST_STRICT=1` nothing may lack.
pub fn missing(what: &str, why: &str) {
    assert!(std::env::var_os("STOREBENCH_TEST_STRICT").is_none(), "{what}: {why}");
    skipped(what, why);
}

/// Says that a test, or a part of it, could not be done here. Past the test harness, which would swallow it.
pub fn skipped(what: &str, why: &str) {
    let _ = writeln!(io::stderr(), "skipped: {what}: {why}");
}

pub fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|process| std::os::unix::fs::MetadataExt::uid(&process) == 0)
}

pub fn yaml(path: &Path) -> Value {
    let script =
        "import sys, yaml, json; json.dump(yaml.load(open(sys.argv[1]), yaml.BaseLoader), sys.stdout)";
    let output = said(Command::new("python3").args(["-c", script]).arg(path));
    assert_eq!(output.code, Some(0), "{output}");
    serde_json::from_str(&output.out).unwrap()
}
