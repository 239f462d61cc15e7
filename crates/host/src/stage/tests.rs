//! Every way in which a run can end, and what replaying its ledger releases.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::symlink;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::location::abandoned::{AbandonedFolders, clean};
use crate::location::directory::WorkFolder;

const NAMES: [&str; 3] = ["first", "second", "third"];

/// Gives back a [`Note::Recorded`], and records that.
pub(super) fn give_back(name: &str, log: &Path) -> io::Result<()> {
    pass_moment(&format!("giving back {name}"));
    if name == "stuck" && !log.with_extension("loose").exists() {
        return Err(io::ErrorKind::ResourceBusy.into());
    }
    record(log, &format!("gave back {name}"))?;
    pass_moment(&format!("gave back {name}"));
    Ok(())
}

fn record(log: &Path, text: &str) -> io::Result<()> {
    let mut log = fs::OpenOptions::new().append(true).create(true).open(log)?;
    writeln!(log, "{text}")
}

impl Stage<'_> {
    /// Takes what only tests take.
    fn take_recorded(&mut self, name: &str, log: &Path) -> io::Result<()> {
        let note = Note::Recorded { name: name.into(), log: log.into() };
        let make = |holdings: &mut Holdings| -> io::Result<()> {
            pass_moment(&format!("noted {name}"));
            let ledger = fs::read_to_string(holdings.folder.path().join(ledger::NAME)).unwrap();
            let last = ledger.lines().last().unwrap();
            assert!(last.contains(name), "not noted before it is made: {ledger}");
            if name == "bad" {
                return Err(io::ErrorKind::Other.into());
            }
            record(log, &format!("made {name}"))?;
            pass_moment(&format!("made {name}"));
            Ok(())
        };
        self.take(note, |error| error, make)
    }
}

/// A directory for work folders, and a log next to it.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        fs::create_dir(place.path()).unwrap();
        place
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("place")
    }

    fn log(&self) -> PathBuf {
        self.0.path().join("log")
    }

    fn log_lines(&self) -> Vec<String> {
        fs::read_to_string(self.log()).unwrap_or_default().lines().map(str::to_owned).collect()
    }

    fn is_empty(&self) -> bool {
        fs::read_dir(self.path()).unwrap().next().is_none()
    }

    fn note(&self, name: &str) -> Note {
        Note::Recorded { name: name.into(), log: self.log() }
    }

    /// A work folder that a killed run left, with this text after its marker.
    fn make_abandoned(&self, ledger: impl AsRef<[u8]>) -> PathBuf {
        let work = self.path().join("storebench-work-1");
        fs::create_dir(&work).unwrap();
        let marker = format!("{{\"pid\":{},\"started\":1,\"life\":\"lock\"}}\n", std::process::id());
        fs::write(work.join(ledger::NAME), [marker.as_bytes(), ledger.as_ref()].concat()).unwrap();
        work
    }
}

fn line(note: &Note) -> String {
    serde_json::to_string(note).unwrap() + "\n"
}

/// The log's lines when all three are made and given back.
fn all_three() -> Vec<String> {
    let made = NAMES.iter().map(|name| format!("made {name}"));
    made.chain(NAMES.iter().rev().map(|name| format!("gave back {name}"))).collect()
}

#[test]
fn a_normal_end_gives_back_in_reverse() {
    let place = Place::new();
    let mut work = WorkFolder::create(&place.path()).unwrap();
    let ledger = fs::read_dir(place.path()).unwrap().next().unwrap().unwrap().path().join(ledger::NAME);
    let marker = fs::read(&ledger).unwrap();
    for _ in 0..2 {
        fs::write(place.log(), "").unwrap();
        let mut stage = work.stage();
        NAMES.iter().for_each(|name| stage.take_recorded(name, &place.log()).unwrap());
        stage.release().unwrap();
        assert_eq!(place.log_lines(), all_three());
        drop(stage);
        assert_eq!(place.log_lines(), all_three(), "nothing is given back twice");
        assert_eq!(fs::read(&ledger).unwrap(), marker, "it does not grow with the trials");
    }
    drop(work);
    assert!(place.is_empty());
}

#[test]
fn what_is_kept_goes_when_the_run_ends() {
    let place = Place::new();
    let mut work = WorkFolder::create(&place.path()).unwrap();
    let mut stage = work.stage();
    stage.take_recorded("first", &place.log()).unwrap();
    stage.keep();
    let mut stage = work.stage();
    stage.take_recorded("second", &place.log()).unwrap();
    drop(stage);
    assert_eq!(place.log_lines(), ["made first", "made second", "gave back second"]);
    drop(work);
    assert_eq!(place.log_lines()[3..], ["gave back first"]);
    assert!(place.is_empty());
}

#[test]
fn an_error_in_taking_the_third_gives_back_all() {
    let place = Place::new();
    let mut work = WorkFolder::create(&place.path()).unwrap();
    let mut take = || -> io::Result<()> {
        let mut stage = work.stage();
        ["first", "second", "bad"].iter().try_for_each(|name| stage.take_recorded(name, &place.log()))
    };
    assert!(take().is_err());
    let expected = ["made first", "made second", "gave back bad", "gave back second", "gave back first"];
    assert_eq!(place.log_lines(), expected);
}

#[test]
fn a_panic_in_a_trial_gives_back_all() {
    let place = Place::new();
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let mut work = WorkFolder::create(&place.path()).unwrap();
        let mut stage = work.stage();
        NAMES.iter().for_each(|name| stage.take_recorded(name, &place.log()).unwrap());
        std::panic::resume_unwind(Box::new("a mistake"));
    }));
    assert!(panicked.is_err());
    assert_eq!(place.log_lines(), all_three());
    assert!(place.is_empty());
}

#[test]
fn what_can_t_be_given_back_stays_noted_and_the_rest_goes() {
    let place = Place::new();
    let mut work = WorkFolder::create(&place.path()).unwrap();
    let mut stage = work.stage();
    ["first", "stuck", "third"].iter().for_each(|name| stage.take_recorded(name, &place.log()).unwrap());
    assert!(stage.release().is_err());
    assert_eq!(place.log_lines()[3..], ["gave back third", "gave back first"]);
    drop(stage);
    drop(work);
    let ledger = fs::read_dir(place.path()).unwrap().next().unwrap().unwrap().path().join(ledger::NAME);
    let text = fs::read_to_string(&ledger).unwrap();
    let noted: String = text.split_inclusive('\n').skip(1).collect();
    assert_eq!(noted, ["first", "stuck"].map(|name| line(&place.note(name))).concat());
    // A process that another test is starting holds the ledger's lock until it runs its own program.
    let refused = (0..500).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        !clean(&place.path()).unwrap().stuck.is_empty()
    });
    assert!(refused, "the next can't, either");
    fs::write(place.log().with_extension("loose"), "").unwrap();
    fs::write(place.log(), "").unwrap();
    assert_eq!(clean(&place.path()).unwrap().deleted.len(), 1);
    assert_eq!(place.log_lines(), ["gave back stuck", "gave back first"]);
    assert!(place.is_empty());
}

/// Variables that give [`the_parent_that_is_ended`] its place, the moment of its signal, and the signal.
const PLACE: &str = "STOREBENCH_STAGE_PLACE";
const MOMENT: &str = "STOREBENCH_STAGE_WHEN";
const SIGNAL: &str = "STOREBENCH_STAGE_HOW";

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

extern "C" fn interrupt(_signal: libc::c_int) {
    INTERRUPTED.store(true, Ordering::Relaxed);
}

/// Sends this thread its signal if this is the moment.
fn pass_moment(now: &str) {
    if std::env::var(MOMENT).is_ok_and(|when| when == now) {
        let signal = std::env::var(SIGNAL).unwrap().parse().unwrap();
        // SAFETY: the handler, if any, only stores into an atomic.
        unsafe { libc::raise(signal) };
    }
}

#[test]
#[ignore = "the tests below run it, in a process of its own"]
fn the_parent_that_is_ended() {
    let place = PathBuf::from(std::env::var_os(PLACE).unwrap());
    let log = place.with_file_name("log");
    for signal in [libc::SIGINT, libc::SIGTERM] {
        // SAFETY: the handler only stores into an atomic.
        unsafe { libc::signal(signal, interrupt as extern "C" fn(libc::c_int) as libc::sighandler_t) };
    }
    let mut work = WorkFolder::create(&place).unwrap();
    let mut stage = work.stage();
    for name in NAMES {
        stage.take_recorded(name, &log).unwrap();
        if INTERRUPTED.load(Ordering::Relaxed) {
            return;
        }
    }
    let folder = stage.folder("trial").unwrap();
    fs::write(folder.join("data"), "x").unwrap();
    pass_moment("at work");
    stage.release().unwrap();
}

/// All moments at which a parent that takes three resources can be ended.
fn moments() -> Vec<String> {
    let taking = NAMES.iter().flat_map(|name| [format!("noted {name}"), format!("made {name}")]);
    let giving =
        NAMES.iter().rev().flat_map(|name| [format!("giving back {name}"), format!("gave back {name}")]);
    taking.chain(["at work".into()]).chain(giving).collect()
}

/// Ends a parent by a signal at a moment; returns whether it ended by itself.
fn end_parent(place: &Place, when: &str, signal: i32) -> bool {
    let mut parent = Command::new(std::env::current_exe().unwrap());
    parent.args(["--exact", "--ignored", "stage::tests::the_parent_that_is_ended"]);
    parent.env(PLACE, place.path()).env(MOMENT, when).env(SIGNAL, signal.to_string());
    let output = parent.stdout(Stdio::null()).output().unwrap();
    let error_output = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() || output.status.signal() == Some(signal), "{when}: {error_output}");
    output.status.success()
}

#[test]
fn an_interrupted_parent_gives_back_all() {
    for (signal, when) in [libc::SIGINT, libc::SIGTERM].into_iter().zip(["made second", "giving back third"])
    {
        let place = Place::new();
        assert!(end_parent(&place, when, signal), "{when}");
        let names = if when == "made second" { &NAMES[..2] } else { &NAMES };
        let expected = all_three().into_iter().filter(|line| names.iter().any(|name| line.ends_with(name)));
        assert_eq!(place.log_lines(), expected.collect::<Vec<_>>());
        assert!(place.is_empty());
    }
}

#[test]
fn what_a_killed_parent_left_is_given_back_in_reverse_whenever_it_was_killed() {
    for when in moments() {
        let place = Place::new();
        assert!(!end_parent(&place, &when, libc::SIGKILL), "{when}");
        let lines_before = place.log_lines();
        // Another kill, of the process that cleans up: everything is done once more.
        let work = fs::read_dir(place.path()).unwrap().next().unwrap().unwrap().path();
        let text = fs::read(work.join(ledger::NAME)).unwrap();
        assert_eq!(clean(&place.path()).unwrap().deleted, std::slice::from_ref(&work), "{when}");
        assert!(place.is_empty(), "{when}");
        let released_lines = place.log_lines()[lines_before.len()..].to_vec();
        fs::create_dir(&work).unwrap();
        fs::write(work.join(ledger::NAME), text).unwrap();
        clean(&place.path()).unwrap();
        assert_eq!(place.log_lines()[lines_before.len() + released_lines.len()..], released_lines, "{when}");
        // In reverse, with nothing left out that was made and not released.
        let position = |line: &String| NAMES.iter().position(|name| line.ends_with(name)).unwrap();
        assert!(released_lines.is_sorted_by(|a, b| position(a) > position(b)), "{when}: {released_lines:?}");
        let unreleased = NAMES.iter().filter(|name| {
            lines_before.contains(&format!("made {name}"))
                && !lines_before.contains(&format!("gave back {name}"))
        });
        for name in unreleased {
            assert!(released_lines.contains(&format!("gave back {name}")), "{when}: {released_lines:?}");
        }
    }
}

#[test]
fn a_ledger_cut_off_anywhere_is_replayed_up_to_there() {
    let lines = NAMES.map(|name| line(&Place::new().note(name)));
    for cut in 0..=lines.concat().len() {
        let place = Place::new();
        let text = NAMES.map(|name| line(&place.note(name))).concat();
        let cut = cut.min(text.len());
        let work = place.make_abandoned(&text[..cut]);
        fs::write(work.join("data"), "x").unwrap();
        assert_eq!(clean(&place.path()).unwrap().deleted, [work], "{cut}");
        let line_count = text[..cut].matches('\n').count();
        let expected: Vec<String> =
            NAMES[..line_count].iter().rev().map(|name| format!("gave back {name}")).collect();
        assert_eq!(place.log_lines(), expected, "{cut}");
    }
}

#[test]
fn a_ledger_that_can_t_be_understood_is_left_with_all_it_holds() {
    for bad in ["{\"held\":\"time-machine\"}\n", "{\"held\":\"folder\",\"name\":\"../theirs\"}\n", "x\n"] {
        let place = Place::new();
        fs::create_dir(place.path().join("theirs")).unwrap();
        let work = place.make_abandoned(line(&place.note("first")) + bad);
        let found = clean(&place.path()).unwrap();
        let [(path, why)] = found.kept.as_slice() else { panic!("{found:?}") };
        assert!(*path == work && why.contains("line 3 of its .storebench-work"), "{why}");
        assert!(found.deleted.is_empty() && place.log_lines().is_empty());
        assert!(place.path().join("theirs").exists() && work.join(ledger::NAME).exists());
    }
}

#[test]
fn a_ledger_that_was_tampered_with_leads_nowhere_else() {
    let place = Place::new();
    let theirs = place.path().join("theirs/storebench-7");
    fs::create_dir_all(&theirs).unwrap();
    let notes = [
        Note::Folder { name: "link".into() },
        Note::Group { folder: theirs.clone() },
        Note::Group { folder: "/sys/fs/cgroup".into() },
        Note::Mount { image: "link".into(), at: "link-to-a-mount".into() },
        Note::Load { process: Some(Process::from_pid(std::process::id())) },
    ];
    let work = place.make_abandoned(notes.each_ref().map(line).concat());
    symlink(&theirs, work.join("link")).unwrap();
    symlink("/proc", work.join("link-to-a-mount")).unwrap();
    let expected = AbandonedFolders { deleted: vec![work], ..AbandonedFolders::default() };
    assert_eq!(clean(&place.path()).unwrap(), expected);
    assert!(theirs.exists() && Path::new("/proc/self").exists());
    for outside in ["../theirs", "/proc", "..", ""] {
        let mount = |image: &str, at: &str| Note::Mount { image: image.into(), at: at.into() };
        for note in [mount(outside, "at"), mount("image", outside)] {
            assert!(!note.is_sound(ledger::NAME), "{note:?}");
        }
    }
}

/// A process that looks like a background load on files in a work folder, with a child process.
struct Pretender(Child);

impl Pretender {
    fn start(place: &Place, folder: &Path) -> Pretender {
        fs::write(place.0.path().join("__background"), "sleep 600 & wait\n").unwrap();
        let mut command = Command::new("sh");
        command.arg0("storebench").args(["__background", "cpu"]).arg(folder);
        command.arg(std::process::id().to_string()).current_dir(place.0.path()).process_group(0);
        Pretender(command.stdout(Stdio::null()).spawn().unwrap())
    }

    fn is_at_work(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }
}

impl Drop for Pretender {
    fn drop(&mut self) {
        let _ = storebench_model::lifeline::end_group(&self.0);
        let _ = self.0.wait();
    }
}

#[test]
fn a_load_that_outlived_its_parent_is_ended_and_no_other_process_is() {
    let place = Place::new();
    let folder = place.path().join("storebench-work-1/background");
    let mut load = Pretender::start(&place, &folder);
    let mut load_of_another_run =
        Pretender::start(&place, &place.path().join("storebench-work-2/background"));
    let mut other_process = Command::new("sleep").arg("600").process_group(0).spawn().map(Pretender).unwrap();
    let number_used_again: Process = {
        let text = serde_json::to_string(&Process::from_pid(load.0.id())).unwrap();
        let (prefix, started) = text.rsplit_once(':').unwrap();
        let started: u64 = started.trim_end_matches('}').parse().unwrap();
        serde_json::from_str(&format!("{prefix}:{}}}", started - 1)).unwrap()
    };
    let processes = [
        number_used_again,
        Process::from_pid(load_of_another_run.0.id()),
        Process::from_pid(other_process.0.id()),
    ];
    place.make_abandoned(processes.map(|process| line(&Note::Load { process: Some(process) })).concat());
    assert_eq!(clean(&place.path()).unwrap().deleted.len(), 1);
    assert!(load.is_at_work() && load_of_another_run.is_at_work() && other_process.is_at_work());
    place.make_abandoned(line(&Note::Load { process: Some(Process::from_pid(load.0.id())) }));
    assert_eq!(clean(&place.path()).unwrap().deleted.len(), 1);
    assert!(!load.is_at_work() && load_of_another_run.is_at_work() && other_process.is_at_work());
}

/// Where this process may make cgroups: elsewhere the reason is printed.
#[test]
fn a_cgroup_is_held_noted_and_given_back() {
    let place = Place::new();
    let mut work = WorkFolder::create(&place.path()).unwrap();
    let mut folders = Vec::new();
    let parent = CgroupParent::find(|parent| {
        let mut stage = work.stage();
        let groups = [stage.group(parent)?, stage.group(parent)?];
        let resources = stage.holdings.resources.iter();
        folders = resources.map(|resource| resource.note.path(stage.holdings.owner())).collect();
        assert!(groups[0] != groups[1] && folders.iter().all(|folder| folder.exists()));
        Ok(())
    });
    let parent = match parent {
        Ok(parent) => parent,
        Err(why) => return println!("not tried: {why}"),
    };
    assert!(folders.len() == 2 && !folders.iter().any(|folder| folder.exists()), "{folders:?}");
    drop(work);
    // A kill drops the lock, and leaves the cgroup.
    let folder = parent.unused().unwrap();
    drop(parent.make(&folder).unwrap());
    let work = place.make_abandoned(line(&Note::Group { folder: folder.clone() }));
    assert_eq!(clean(&place.path()).unwrap().deleted, [folder.clone(), work]);
    assert!(!folder.exists());
}
