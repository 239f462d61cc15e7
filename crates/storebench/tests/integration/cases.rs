//! Commands as a user types them, and what they must say: the files in `cases/`. Each case has a folder that begins as a copy of what the
//! lines before the file's first case have made. `STOREBENCH_CASE=WORDS` runs those whose names hold the words.
//!
//! | line | what it does |
//! | --- | --- |
//! | `== NAME` | begins a case, in memory; with `(disk)` after the name on a disk, with `(elsewhere)` where every user may look; with `(whole)` in `make test-all` and by `STOREBENCH_CASE` alone; with `(each server)` once for each `$kind` of server that was running before |
//! | `needs COMMAND: WHY` | skips the case unless the command does well |
//! | `can WHAT` | skips the case where this machine can't: `mount FILE-SYSTEM`, `simulate` a disk and cut its power, `limit`, `trace`, `have STORE` |
//! | `server KIND` | starts one that was running before, whose address is `$url`; skips the case where it is not installed. |
//! | `made`, `as it was` | waits until it has something of a run's; it is as it was, and has nothing of storebench's |
//! | `hide`, `show`, `kill` | takes its address away, gives it back, kills it |
//! | `board` | starts another machine, whose cache is the folder `board`: this one, by ssh, under the names `board`, `alpha` and `beta` |
//! | `open FILE[#PLACE]` | opens a page in Chromium; what it may be told then, and must show: `Browser::step`. It may complain of nothing |
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
//! | `is EXPRESSION` | this, in Python, is so of the newest run: `cases/look.py` |

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{LazyLock, Mutex};

use storebench_model::axis::file_system::kind::KINDS as KINDS_OF_FILES;
use storebench_model::error::Exit;

use crate::cli::support::{
    STOREBENCH, Said, Scratch, TINY, assert_complete, example, faulty, outcomes, said, skipped, wait_for,
};
use crate::conformance::subject::is_installed;
use crate::file_systems::{assert_gone, can_limit, can_mount, can_simulate, residents};
use crate::html::browser::Browser;
use crate::remote::Board;
use crate::running_servers::{KINDS, Running};
use crate::tier;
use crate::torture::disk::has_strace;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/integration/cases");

/// What a case's head may say after its name.
const MARKS: [&str; 5] = ["", "disk", "elsewhere", "whole", "each server"];

const CASES_AT_ONCE: usize = 4;

/// Every store that takes part in all: those of this build that this machine can run, but for the one that holds 1 MiB at most.
static STORES: LazyLock<String> = LazyLock::new(tier::stores);
/// Those that live on every file system.
static RESIDENTS: LazyLock<String> = LazyLock::new(residents);

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
    advise background bad_input claims clients cluster commands comparing crash exports file_systems full_disks heights help libraries
    life limits merging own_tables page plans readers remote removed_stores reports resuming run_folders running
    running_servers servers simulated_disks site tampering terminal tune unlike without_root workloads ycsb
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
    marks: Vec<String>,
    lines: Vec<Line>,
}

impl Case {
    fn has(&self, mark: &str) -> bool {
        self.marks.iter().any(|known| known == mark)
    }

    /// It, or one for each server; with SQL and without, but for the whole matrix.
    fn per_server(self) -> Vec<Case> {
        if !self.has("each server") {
            return vec![self];
        }
        let kinds = KINDS.into_iter().filter(|kind| tier::is_whole() || ["postgres", "redis"].contains(kind));
        let for_kind = |kind| {
            let start = (0, format!("server {kind}"));
            let lines = std::iter::once(start).chain(self.lines.iter().cloned()).collect();
            Case { name: format!("{}: {kind}", self.name), marks: self.marks.clone(), lines }
        };
        kinds.map(for_kind).collect()
    }
}

/// The lines before the first case, as a case without a name, and the cases.
fn parse_cases(text: &str) -> Vec<Case> {
    let mut cases = vec![Case::default()];
    let mut is_continued = false;
    for (number, line) in (1..).zip(text.lines()) {
        let case = cases.last_mut().unwrap();
        let unfinished = line.strip_suffix('\\');
        let body = unfinished.unwrap_or(line);
        if let Some(name) = line.strip_prefix("== ") {
            let (name, marks) = name.split_once(" (").unwrap_or((name, ""));
            let marks: Vec<String> = marks.trim_end_matches(')').split(", ").map(str::to_owned).collect();
            assert!(marks.iter().all(|mark| MARKS.contains(&mark.as_str())), "{line}");
            cases.push(Case { name: name.to_owned(), marks, lines: Vec::new() });
        } else if is_continued {
            case.lines.last_mut().unwrap().1.push_str(body.trim_start());
        } else if let Some(content) = line.strip_prefix("    ") {
            let last = &mut case.lines.last_mut().expect("indented lines follow write").1;
            last.push('\n');
            last.push_str(content);
        } else if !line.is_empty() && !line.starts_with('#') {
            case.lines.push((number, body.to_owned()));
        }
        is_continued = unfinished.is_some() && (is_continued || !line.starts_with("    "));
    }
    cases
}

/// What a file's cases begin with, and these.
fn begin(file: &str) -> (Play, Vec<Case>) {
    let text = fs::read_to_string(Path::new(FOLDER).join(file).with_extension("txt")).unwrap();
    let mut cases: Vec<Case> = parse_cases(&text).into_iter().flat_map(Case::per_server).collect();
    let failures = Mutex::new(Vec::new());
    let mut first = Play::new(Scratch::in_memory(), Vec::new());
    first.play(file, &cases.remove(0), &failures);
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{}", failures.concat());
    (first, cases)
}

/// A folder with what a file's cases begin with.
pub fn prepared_folder(file: &str) -> Scratch {
    begin(file).0.scratch
}

fn run_file(file: &str) {
    let (first, mut cases) = begin(file);
    let wanted = std::env::var("STOREBENCH_CASE").unwrap_or_default();
    let is_whole = tier::is_whole() || !wanted.is_empty();
    cases.retain(|case| case.name.contains(&wanted) && (is_whole || !case.has("whole")));
    // Copied before any is played: a resumed run works where it began, in the folder that all are copies of.
    let plays = cases.iter().map(|case| {
        let scratch = match case {
            case if case.has("disk") => Scratch::new(),
            case if case.has("elsewhere") => Scratch::elsewhere(),
            _ => Scratch::in_memory(),
        };
        let status = Command::new("cp").arg("-a").arg(first.scratch.join(".")).arg(scratch.path()).status();
        assert!(status.unwrap().success());
        (Play::new(scratch, first.variables.clone()), case)
    });
    let (remaining, failures) = (Mutex::new(plays.collect::<Vec<_>>().into_iter()), Mutex::new(Vec::new()));
    let work = || {
        while let Some((mut play, case)) = { remaining.lock().unwrap().next() } {
            play.play(file, case, &failures);
        }
    };
    std::thread::scope(|scope| (0..CASES_AT_ONCE).for_each(|_| drop(scope.spawn(work))));
    let failures = failures.into_inner().unwrap();
    assert!(
        failures.is_empty(),
        "{} of {} cases failed\n{}",
        failures.len(),
        cases.len(),
        failures.join("\n")
    );
}

struct Play {
    scratch: Scratch,
    variables: Vec<(String, String)>,
    output: Option<Said>,
    /// The command that said it.
    last_command: String,
    /// Whether a line has said how the last command ended.
    is_exit_checked: bool,
    noted_files: BTreeMap<PathBuf, Vec<u8>>,
    /// Whether something that the case needs is not here.
    is_skipped: bool,
    server: Option<Running>,
    browser: Option<Browser>,
    board: Option<Board>,
}

impl Play {
    fn new(scratch: Scratch, variables: Vec<(String, String)>) -> Play {
        Play {
            scratch,
            variables,
            output: None,
            last_command: String::new(),
            is_exit_checked: true,
            noted_files: BTreeMap::new(),
            is_skipped: false,
            server: None,
            browser: None,
            board: None,
        }
    }

    fn play(&mut self, file: &str, case: &Case, failures: &Mutex<Vec<String>>) {
        let end = (case.lines.last().map_or(0, |line| line.0), "end".to_owned());
        for (number, line) in case.lines.iter().chain([&end]) {
            let outcome = catch_unwind(AssertUnwindSafe(|| self.step(&case.name, line)));
            if let Err(why) = outcome {
                let why = why.downcast::<String>().map_or_else(|_| "it panicked".into(), |why| *why);
                let place = format!("cases/{file}.txt:{number}: {}: {line}", case.name);
                failures.lock().unwrap().push(format!("{place}\n{why}"));
                return;
            }
            if self.is_skipped {
                return;
            }
        }
    }

    fn step(&mut self, case: &str, line: &str) {
        let text = |prefix: &str| line.strip_prefix(prefix).map(str::trim_start);
        if line == "end" {
            self.check_exit();
            self.check_complaints();
        } else if let Some(command) = text("$ ") {
            self.run(command);
        } else if let Some(refusal) = text("! ") {
            let (command, complaint) = refusal.split_once(" => ").unwrap();
            let (name, words) = complaint.split_once(": ").unwrap_or((complaint, ""));
            self.run(command);
            self.is_exit_checked = true;
            let words: Vec<&str> = words.split(" | ").filter(|word| !word.is_empty()).collect();
            self.output = self.output.take().map(|output| output.complains(exit(name), &words));
        } else if let Some(needed) = text("needs ") {
            self.check_exit();
            let (command, why) = needed.rsplit_once(": ").unwrap();
            self.is_skipped = !self.command(command).output().is_ok_and(|output| output.status.success());
            if self.is_skipped {
                skipped(case, why);
            }
        } else if let Some(address) = text("open ") {
            self.check_exit();
            let (file, fragment) = address.split_once('#').unwrap_or((address, ""));
            self.check_complaints();
            self.browser = Browser::open(&self.scratch.join(file), &format!("#{fragment}"));
            self.is_skipped = self.browser.is_none();
            if self.is_skipped {
                skipped(case, "needs Chromium");
            }
        } else if let Some(ability) = text("can ") {
            self.check_exit();
            self.is_skipped = !self.can(ability);
        } else if let Some(kind) = text("server ") {
            self.check_exit();
            let kind = KINDS.into_iter().find(|known| *known == kind).unwrap();
            self.server = Running::start(kind);
            self.is_skipped = self.server.is_none();
            if let Some(server) = &self.server {
                let known = [("kind", kind), ("url", server.url.as_str()), ("drop", server.told_to_drop())];
                self.variables.extend(known.map(|(name, value)| (name.to_owned(), value.to_owned())));
            }
        } else if line == "board" {
            self.check_exit();
            self.board = Board::start(&self.scratch);
            self.is_skipped = self.board.is_none();
            if let Some(board) = &self.board {
                let cache = self.scratch.join("cache").display().to_string();
                let known = [("PATH".to_owned(), board.path()), ("XDG_CACHE_HOME".to_owned(), cache)];
                self.variables.extend(known);
            }
        } else if let Some(expression) = text("is ") {
            self.check_exit();
            let mut look = self.command("look \"$IS\"");
            said(look.env("IS", expression)).ends(Exit::Success);
        } else if let Some(file) = text("write ") {
            let (name, content) = file.split_once('\n').unwrap_or((file, ""));
            self.scratch.write(name, format!("{content}\n"));
        } else if let Some(variable) = text("let ") {
            let (name, value) = variable.split_once(' ').unwrap();
            self.variables.push((name.to_owned(), value.to_owned()));
        } else if !self.browse(line) {
            self.check(line);
        }
    }

    /// Does what a line says of an open page, if it is one for a browser.
    fn browse(&mut self, line: &str) -> bool {
        let Some(browser) = &mut self.browser else { return false };
        let known = self.variables.iter();
        let line =
            known.fold(line.to_owned(), |line, (name, value)| line.replace(&format!("${name}"), value));
        browser.step(self.scratch.path(), &line)
    }

    /// Fails if a page that is open has complained.
    fn check_complaints(&mut self) {
        let complaints = self.browser.as_mut().map_or_else(Vec::new, Browser::complaints);
        assert!(complaints.is_empty(), "{complaints:#?}");
    }

    /// Fails if the last command did, and no line has said that it does.
    fn check_exit(&mut self) {
        if let Some(output) = self.output.as_ref().filter(|_| !self.is_exit_checked) {
            assert_eq!(output.code, Some(0), "{}\n{output}", self.last_command);
        }
        self.is_exit_checked = true;
    }

    fn run(&mut self, command: &str) {
        self.check_exit();
        (self.output, self.is_exit_checked) = (Some(said(&mut self.command(command))), false);
        self.last_command = format!("after: {command}");
    }

    /// Whether this machine can do something; if not, the reason is printed.
    fn can(&mut self, ability: &str) -> bool {
        match ability.split_once(' ').unwrap_or((ability, "")) {
            // `$mounts` are those of the named file systems that it can.
            ("mount", names) => {
                let all = KINDS_OF_FILES.iter().map(|kind| kind.name);
                let names: Vec<&str> =
                    if names == "any" { all.collect() } else { names.split(' ').collect() };
                let mounts: Vec<&str> = names.into_iter().filter(|name| can_mount(name)).collect();
                self.variables.push(("mounts".into(), mounts.join(",")));
                !mounts.is_empty()
            }
            ("simulate", _) => can_simulate(),
            ("limit", _) => can_limit("a trial under limits"),
            ("trace", _) => has_strace(),
            ("have", name) => {
                let store = storebench::STORES.iter().find(|store| store.name == name).unwrap();
                store.open.is_ok() && is_installed(store)
            }
            _ => panic!("nobody knows whether this machine can {ability}"),
        }
    }

    fn server(&self) -> &Running {
        self.server.as_ref().expect("a line starts a server")
    }

    fn command(&self, script: &str) -> Command {
        let mut command = self.scratch.command("sh", "-euc");
        command.arg(format!(". \"$CASES/helpers.sh\"; {script}")).env("CASES", FOLDER);
        command.env("STOREBENCH", STOREBENCH).env("FAULTY", faulty()).env("TINY", TINY);
        command.env("STORES", &*STORES).env("RESIDENTS", &*RESIDENTS).env("OWN", example("own_workload"));
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    /// What a line claims, of the last command or of what it has left.
    fn check(&mut self, line: &str) {
        let (claim, text) = line.split_once(": ").unwrap_or((line, ""));
        let words: Vec<&str> = claim.split(' ').collect();
        let last_output = || self.output.as_ref().expect("a command comes first");
        match words[..] {
            ["=", name] => {
                self.is_exit_checked = true;
                self.output = self.output.take().map(|output| output.ends(exit(name)));
            }
            ["out" | "err"] | ["no", "out" | "err"] => {
                let said = if words.ends_with(&["out"]) { &last_output().out } else { &last_output().err };
                let (is_wanted, wrong) =
                    if words.len() == 1 { (true, "it is missing") } else { (false, "it is there") };
                assert!(contains_text(said, text) == is_wanted, "{wrong}\n{}", last_output());
            }
            ["says"] => assert_eq!(join_words(&last_output().out), text, "{}", last_output()),
            ["keep"] => self.noted_files = self.scratch.contents(),
            ["kept"] => {
                let now = self.scratch.contents();
                let names = |files: &BTreeMap<PathBuf, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
                assert_eq!(names(&now), names(&self.noted_files));
                now.iter()
                    .for_each(|(path, bytes)| assert!(self.noted_files[path] == *bytes, "{path:?} changed"));
            }
            ["empty"] => assert_eq!(self.scratch.contents().into_keys().next(), None),
            ["no", "runs"] => assert!(self.scratch.runs().is_empty(), "{:?}", self.scratch.runs()),
            ["nothing", "left"] => self.scratch.assert_nothing_left(),
            ["gone"] => assert_gone(&self.scratch),
            ["made"] => {
                // Before a run has a folder, it rehearses: so the folder is looked for first.
                let is_made = || !self.scratch.runs().is_empty() && self.server().made().len() == 1;
                wait_for("a trial that is not the rehearsal", is_made);
            }
            ["as", "it", "was"] => self.server().assert_as_it_was(),
            ["hide"] => self.server().hide(true),
            ["show"] => self.server().hide(false),
            ["kill"] => self.server().signal("KILL"),
            ["results", ref named @ ..] => {
                let only = || self.scratch.only_run();
                let folder = named.first().map_or_else(only, |name| self.scratch.join(name));
                let run = storebench_host::folder::read(&folder).unwrap();
                let mut found: Vec<_> =
                    outcomes(&run).iter().map(|(store, outcome)| format!("{store} {outcome}")).collect();
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
fn contains_text(text: &str, wanted: &str) -> bool {
    if wanted.is_empty() {
        !text.is_empty()
    } else {
        text.contains(wanted) || join_words(text).contains(wanted)
    }
}

/// A text with one blank for all white space between two words.
fn join_words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_case_that_fails_is_named_with_its_line() {
    let begin = "let greeting hello\n$ echo $greeting >there\n";
    for (lines, complaint) in [
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
        ("needs false: luck\n$ exit 1", ""),
        ("needs test 'a: b': nothing\n$ exit 1", "after: exit 1"),
        ("$ exit 1\nneeds false: luck", "after: exit 1"),
    ] {
        let cases = parse_cases(&format!("{begin}== named\n{lines}\n"));
        let failures = Mutex::new(Vec::new());
        let mut play = Play::new(Scratch::in_memory(), Vec::new());
        play.play("made", &cases[0], &failures);
        play.play("made", &cases[1], &failures);
        let failures = failures.into_inner().unwrap().concat();
        assert!(
            failures.is_empty() == complaint.is_empty() && failures.contains(complaint),
            "{lines}\n{failures}"
        );
    }
}
