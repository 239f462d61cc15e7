//! Commands as a user types them, and what they must say: the files in `cases/`. Each case has a folder that begins as a copy of what the
//! lines before the file's first case have made. `STOREBENCH_CASE=WORDS` runs those whose names hold the words.
//!
//! | line | what it does |
//! | --- | --- |
//! | `== NAME` | begins a case, in memory; with `(disk)` after the name on a disk; with `(whole)` in `make test-all` alone |
//! | `needs COMMAND: WHY` | skips the case unless the command does well |
//! | `write FILE` | writes the indented lines that follow |
//! | `let NAME TEXT` | sets a variable for all commands that follow |
//! | `$ COMMAND` | runs it by `sh`, with `cases/helpers.sh`; it must end well unless the next line says how it ends |
//! | `= EXIT` | how it ended |
//! | `! COMMAND => EXIT: WORDS \| WORDS` | runs it; it ends so, with one line on standard error, and clap's tips below it, that hold all these words, and says nothing else |
//! | `out: TEXT`, `err: TEXT` | that it said this, whatever the white space; without a text, that it said anything there |
//! | `says: TEXT` | that it said just this on standard output, but for white space |
//! | `no out: TEXT`, `no err: TEXT` | that it did not |
//! | `keep`, `kept` | notes all files; they are as they were noted |
//! | `empty`, `no runs`, `nothing left` | there is no file; no run; no work folder, and no process |
//! | `gone` | nothing is left in the folder `disk`, nor of what was mounted there |
//! | `results [FOLDER]: STORE OUTCOME, ...` | the outcomes of a run, else of the only one, in the order of the alphabet |
//! | `complete CELLS BLOCKS` | every cell of the only run ran once in every block |

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use storebench_core::error::Exit;

use crate::cli::support::{
    STOREBENCH, Said, Scratch, TINY, assert_complete, faulty, outcomes, said, skipped,
};
use crate::file_systems::assert_gone;
use crate::tier;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/integration/cases");

/// How many cases of a file run at a time.
const AT_ONCE: usize = 4;

macro_rules! cases {
    ($($file:ident)*) => {
        const FILES: &[&str] = &[$(stringify!($file)),*];
        $(
            #[test]
            fn $file() {
                run_file(stringify!($file));
            }
        )*
    };
}

cases! {
    advise bad_input claims commands comparing exports full_disks libraries limits merging own_tables
    plans removed_stores reports resuming run_folders running servers simulated_disks tampering terminal
    tune unlike workloads
}

#[test]
fn every_file_is_run() {
    let paths = fs::read_dir(FOLDER).unwrap().map(|entry| entry.unwrap().path());
    let texts = paths.filter(|path| path.extension().is_some_and(|extension| extension == "txt"));
    let mut found: Vec<String> = texts.map(|path| path.file_stem().unwrap().display().to_string()).collect();
    found.sort_unstable();
    assert_eq!(found, FILES);
}

/// A line with its number in the file, from 1.
type Line = (usize, String);

#[derive(Default)]
struct Case {
    name: String,
    on_disk: bool,
    /// Whether it takes so long that `make test-all` alone runs it.
    is_long: bool,
    lines: Vec<Line>,
}

/// The lines before the first case, as a case without a name, and the cases.
fn parsed(text: &str) -> Vec<Case> {
    let mut cases = vec![Case::default()];
    let mut continued = false;
    for (number, line) in (1..).zip(text.lines()) {
        let case = cases.last_mut().unwrap();
        let more = line.strip_suffix('\\');
        let part = more.unwrap_or(line);
        if let Some(name) = line.strip_prefix("== ") {
            let (name, marks) = name.split_once(" (").unwrap_or((name, ""));
            let (on_disk, is_long) = (marks.contains("disk"), marks.contains("whole"));
            cases.push(Case { name: name.to_owned(), on_disk, is_long, lines: Vec::new() });
        } else if continued {
            case.lines.last_mut().unwrap().1.push_str(part.trim_start());
        } else if let Some(content) = line.strip_prefix("    ") {
            let last = &mut case.lines.last_mut().expect("indented lines follow write").1;
            last.push('\n');
            last.push_str(content);
        } else if !line.is_empty() && !line.starts_with('#') {
            case.lines.push((number, part.to_owned()));
        }
        continued = more.is_some() && (continued || !line.starts_with("    "));
    }
    cases
}

/// What a file's cases begin with, and these.
fn begin(file: &str) -> (Play, Vec<Case>) {
    let text = fs::read_to_string(Path::new(FOLDER).join(file).with_extension("txt")).unwrap();
    let mut cases = parsed(&text);
    let failed = Mutex::new(Vec::new());
    let mut first = Play::new(Scratch::in_memory(), Vec::new());
    first.play(file, &cases.remove(0), &failed);
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{}", failed.concat());
    (first, cases)
}

/// A folder with what a file's cases begin with.
pub fn begun(file: &str) -> Scratch {
    begin(file).0.scratch
}

fn run_file(file: &str) {
    let (first, mut cases) = begin(file);
    let wanted = std::env::var("STOREBENCH_CASE").unwrap_or_default();
    cases.retain(|case| case.name.contains(&wanted) && (tier::is_whole() || !case.is_long));
    // Copied before any is played: a resumed run works where it began, in the folder that all are copies of.
    let plays = cases.iter().map(|case| {
        let scratch = if case.on_disk { Scratch::new() } else { Scratch::in_memory() };
        let copied = Command::new("cp").arg("-a").arg(first.scratch.join(".")).arg(scratch.path()).status();
        assert!(copied.unwrap().success());
        (Play::new(scratch, first.variables.clone()), case)
    });
    let (left, failed) = (Mutex::new(plays.collect::<Vec<_>>().into_iter()), Mutex::new(Vec::new()));
    let work = || {
        while let Some((mut play, case)) = { left.lock().unwrap().next() } {
            play.play(file, case, &failed);
        }
    };
    std::thread::scope(|scope| (0..AT_ONCE).for_each(|_| drop(scope.spawn(work))));
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{} of {} cases failed\n{}", failed.len(), cases.len(), failed.join("\n"));
}

/// A case under way.
struct Play {
    scratch: Scratch,
    variables: Vec<(String, String)>,
    said: Option<Said>,
    /// The command that said it.
    last: String,
    /// Whether a line has said how the last command ended.
    is_judged: bool,
    kept: BTreeMap<PathBuf, Vec<u8>>,
    /// Whether something that the case needs is not here.
    is_skipped: bool,
}

impl Play {
    fn new(scratch: Scratch, variables: Vec<(String, String)>) -> Play {
        let (last, kept) = (String::new(), BTreeMap::new());
        Play { scratch, variables, said: None, last, is_judged: true, kept, is_skipped: false }
    }

    fn play(&mut self, file: &str, case: &Case, failed: &Mutex<Vec<String>>) {
        let end = (case.lines.last().map_or(0, |line| line.0), "$ true".to_owned());
        for (number, line) in case.lines.iter().chain([&end]) {
            let stepped = catch_unwind(AssertUnwindSafe(|| self.step(&case.name, line)));
            if let Err(why) = stepped {
                let why = why.downcast::<String>().map_or_else(|_| "it panicked".into(), |why| *why);
                let place = format!("cases/{file}.txt:{number}: {}: {line}", case.name);
                failed.lock().unwrap().push(format!("{place}\n{why}"));
                return;
            }
            if self.is_skipped {
                return;
            }
        }
    }

    fn step(&mut self, case: &str, line: &str) {
        let text = |prefix: &str| line.strip_prefix(prefix).map(str::trim_start);
        if let Some(command) = text("$ ") {
            self.run(command);
        } else if let Some(refused) = text("! ") {
            let (command, complaint) = refused.split_once(" => ").unwrap();
            let (name, words) = complaint.split_once(": ").unwrap_or((complaint, ""));
            self.run(command);
            self.is_judged = true;
            let words: Vec<&str> = words.split(" | ").filter(|word| !word.is_empty()).collect();
            self.said = self.said.take().map(|said| said.complains(exit(name), &words));
        } else if let Some(needed) = text("needs ") {
            let (command, why) = needed.split_once(": ").unwrap();
            self.is_skipped = !self.command(command).output().is_ok_and(|output| output.status.success());
            if self.is_skipped {
                skipped(case, why);
            }
        } else if let Some(file) = text("write ") {
            let (name, content) = file.split_once('\n').unwrap_or((file, ""));
            self.scratch.write(name, format!("{content}\n"));
        } else if let Some(variable) = text("let ") {
            let (name, value) = variable.split_once(' ').unwrap();
            self.variables.push((name.to_owned(), value.to_owned()));
        } else {
            self.check(line);
        }
    }

    fn run(&mut self, command: &str) {
        if let Some(said) = self.said.take().filter(|_| !self.is_judged) {
            assert_eq!(said.code, Some(0), "{}\n{said}", self.last);
        }
        (self.said, self.is_judged) = (Some(said(&mut self.command(command))), false);
        self.last = format!("after: {command}");
    }

    fn command(&self, script: &str) -> Command {
        let mut command = self.scratch.command("sh", "-euc");
        command.arg(format!(". \"$CASES/helpers.sh\"; {script}")).env("CASES", FOLDER);
        command.env("STOREBENCH", STOREBENCH).env("FAULTY", faulty()).env("TINY", TINY);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    /// What a line claims, of the last command or of what it has left.
    fn check(&mut self, line: &str) {
        let (claim, text) = line.split_once(": ").unwrap_or((line, ""));
        let words: Vec<&str> = claim.split(' ').collect();
        let last = || self.said.as_ref().expect("a command comes first");
        match words[..] {
            ["=", name] => {
                self.is_judged = true;
                self.said = self.said.take().map(|said| said.ends(exit(name)));
            }
            ["out"] => assert!(holds(&last().out, text), "it is missing\n{}", last()),
            ["err"] => assert!(holds(&last().err, text), "it is missing\n{}", last()),
            ["says"] => assert_eq!(joined(&last().out), text, "{}", last()),
            ["no", "out"] => assert!(!holds(&last().out, text), "it is there\n{}", last()),
            ["no", "err"] => assert!(!holds(&last().err, text), "it is there\n{}", last()),
            ["keep"] => self.kept = self.scratch.contents(),
            ["kept"] => {
                let now = self.scratch.contents();
                let names = |all: &BTreeMap<PathBuf, Vec<u8>>| all.keys().cloned().collect::<Vec<_>>();
                assert_eq!(names(&now), names(&self.kept));
                now.iter().for_each(|(path, bytes)| assert!(self.kept[path] == *bytes, "{path:?} changed"));
            }
            ["empty"] => assert_eq!(self.scratch.contents().into_keys().next(), None),
            ["no", "runs"] => assert!(self.scratch.runs().is_empty(), "{:?}", self.scratch.runs()),
            ["nothing", "left"] => self.scratch.assert_nothing_left(),
            ["gone"] => assert_gone(&self.scratch),
            ["results", ref named @ ..] => {
                let only = || self.scratch.only_run();
                let folder = named.first().map_or_else(only, |name| self.scratch.join(name));
                let run = storebench_host::folder::read(&folder).unwrap();
                let mut found: Vec<_> =
                    outcomes(&run).iter().map(|(store, how)| format!("{store} {how}")).collect();
                found.sort_unstable();
                assert_eq!(found.join(", "), text);
            }
            ["complete", cells, blocks] => {
                assert_complete(&self.scratch.results(), cells.parse().unwrap(), blocks.parse().unwrap());
            }
            _ => panic!("there is no such line: {line}"),
        }
    }
}

fn exit(name: &str) -> Exit {
    let found = Exit::ALL.into_iter().find(|exit| format!("{exit:?}") == name);
    found.unwrap_or_else(|| panic!("there is no exit {name:?}"))
}

/// Whether a text holds another, as it is or when all white space is a blank; for an empty one, whether it holds anything.
fn holds(text: &str, part: &str) -> bool {
    if part.is_empty() { !text.is_empty() } else { text.contains(part) || joined(text).contains(part) }
}

/// A text with one blank for all white space between two words.
fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_case_that_fails_is_named_with_its_line() {
    let begin = "let greeting hello\n$ echo $greeting >there\n";
    for (lines, why) in [
        ("$ cat there\nout: hello", ""),
        ("$ cat there\nout: good bye", ":5: named: out: good bye\nit is missing"),
        ("$ cat there\nno out: hello", ":5: named: no out: hello\nit is there"),
        ("$ cat there\nno err", ""),
        ("$ cat there\nsays: hello", ""),
        ("$ cat there\nsays: hell", ":5: named: says: hell"),
        ("$ exit 1", "after: exit 1"),
        ("$ exit 3\n= Usage", ":5: named: = Usage\nassertion"),
        ("! echo storebench: bad >&2; exit 1 => Failure: bad", ""),
        ("! echo storebench: bad >&2; exit 1 => Failure: bad | worse", "\"worse\" is missing"),
        ("! echo storebench: bad; exit 1 => Failure: bad", ":4: named: ! echo"),
        ("keep\n$ echo more >>there\nkept", "there\" changed"),
        ("write a/b\n    one\n    two\n$ cat a/\\\n  b\nout: one two", ""),
        ("empty", "there"),
        ("claims: hello", "there is no such line: claims: hello"),
        ("needs true: nothing\n$ cat nowhere\n= Failure\nerr: nowhere", ""),
    ] {
        let cases = parsed(&format!("{begin}== named\n{lines}\n"));
        let failed = Mutex::new(Vec::new());
        let mut play = Play::new(Scratch::in_memory(), Vec::new());
        play.play("made", &cases[0], &failed);
        play.play("made", &cases[1], &failed);
        let failed = failed.into_inner().unwrap().concat();
        assert!(failed.is_empty() == why.is_empty() && failed.contains(why), "{lines}\n{failed}");
    }
}
