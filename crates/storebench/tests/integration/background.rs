//! Loads that run beside trials: each does what it says, and ends with what started it. In runs: cases/background.txt.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use storebench_host::background::{Message, now_ns};
use storebench_host::runner::background::{FinishedLoad, LoadLaunch, LoadProcess, LoadStart, RunningLoad};

use crate::cli::support::{STOREBENCH, Scratch, wait_for};

/// Starts a load, which has its files in the directory.
fn try_start(scratch: &Scratch, load: &str) -> LoadStart {
    let log = scratch.join("log");
    let output = fs::File::create(&log).unwrap();
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
fn start(scratch: &Scratch, load: &str) -> RunningLoad {
    match try_start(scratch, load) {
        LoadStart::AtWork(load) => *load,
        other => panic!("{other:?}; its log: {:?}", fs::read_to_string(scratch.join("log"))),
    }
}

/// Lets a load work until `enough`, and a second at least; what it did in between, and for how many nanoseconds.
fn observe(load: RunningLoad, is_enough: impl Fn() -> bool) -> (FinishedLoad, u64) {
    let from_ns = now_ns();
    thread::sleep(Duration::from_secs(1));
    wait_for("the load to do enough", is_enough);
    let to_ns = now_ns();
    (load.finish(from_ns, to_ns), to_ns - from_ns)
}

/// The command lines of processes at work in the directory that hold a word.
fn processes(scratch: &Scratch, word: &str) -> Vec<String> {
    scratch.processes().into_iter().filter(|line| line.contains(word)).collect()
}

fn proc_file(id: u32, name: &str) -> String {
    fs::read_to_string(format!("/proc/{id}/{name}")).unwrap()
}

/// A number in such a file, after its name and a colon.
fn proc_number(id: u32, file: &str, name: &str) -> u64 {
    let text = proc_file(id, file);
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

/// `value` is `expected`, give or take a tenth and a constant.
#[track_caller]
fn assert_close(what: &str, value: f64, expected: f64, slack: f64) {
    assert!((value - expected).abs() <= expected * 0.1 + slack, "{what}: {value} and {expected}");
}

/// Processor time of a process, in seconds.
fn cpu_s(id: u32) -> f64 {
    let stat = proc_file(id, "stat");
    let after_name = stat.rsplit_once(") ").unwrap().1;
    let ticks = after_name.split(' ').skip(11).take(2).map(|ticks| ticks.parse::<f64>().unwrap());
    ticks.sum::<f64>() / 100.0
}

/// The states of a process's threads of one name: R if a thread runs or waits for a processor.
fn states(id: u32, name: &str) -> Vec<char> {
    let mut states = Vec::new();
    for task in fs::read_dir(format!("/proc/{id}/task")).unwrap().flatten() {
        let stat = fs::read_to_string(task.path().join("stat")).unwrap();
        let (start, rest) = stat.rsplit_once(") ").unwrap();
        if start.ends_with(&format!("({name}")) {
            states.push(rest.chars().next().unwrap());
        }
    }
    states
}

#[test]
fn cpu_spins_with_as_many_threads_as_it_says() {
    let scratch = Scratch::new();
    for (name, threads) in [("cpu", 1), ("cpu:3", 3)] {
        let load = start(&scratch, name);
        let id = load.id();
        let before = cpu_s(id);
        // However busy the machine is, a thread that spins always runs or waits for a processor.
        let is_spinning = || (0..20).all(|_| states(id, "spin") == vec!['R'; threads]);
        wait_for("the threads to start", is_spinning);
        let cpu_seconds = std::cell::Cell::new(0.0);
        let (finished, _) = observe(load, || {
            assert!(is_spinning(), "{:?}", states(id, "spin"));
            cpu_seconds.set(cpu_s(id) - before);
            cpu_seconds.get() > 0.5
        });
        let report = finished.report;
        assert_eq!((finished.complaint, report.unit.as_str()), (None, "CPU seconds"));
        assert!(report.description.contains(&format!("{threads} threads")), "{report:?}");
        // The kernel's clock ticks a hundred times a second, and it was read a little before and after.
        assert_close("CPU seconds", report.progress, cpu_seconds.get(), 0.3);
    }
    scratch.assert_nothing_left();
}

#[test]
fn disk_writes_and_reads_as_much_as_it_says() {
    let scratch = Scratch::new();
    let load = start(&scratch, "disk:4MiB/s");
    let id = load.id();
    let counters = || (proc_number(id, "io", "rchar") as f64, proc_number(id, "io", "wchar") as f64);
    let before = counters();
    let after = std::cell::Cell::new(before);
    let (finished, ns) = observe(load, || {
        after.set(counters());
        after.get().1 - before.1 > f64::from(2 << 20) && after.get().0 - before.0 > f64::from(2 << 20)
    });
    let report = finished.report;
    assert_eq!((finished.complaint, report.unit.as_str()), (None, "bytes"));
    assert!(report.description.contains("wrote and read 4MiB/s each"), "{report:?}");
    assert!(report.description.contains("direct") || report.description.contains("buffered"), "{report:?}");
    let (read, written) = (after.get().0 - before.0, after.get().1 - before.1);
    assert_close("bytes", report.progress, read + written, 1e6);
    // Half a second's work may be made up for after a stall.
    let most = 4.0 * f64::from(1 << 20) * (ns as f64 / 1e9 + 0.6);
    assert!(read <= most && written <= most, "{read} read and {written} written in {ns} ns");
    let file = fs::metadata(scratch.path().join("disk")).unwrap();
    assert!(file.len() >= 8 << 20 && file.len() <= 256 << 20, "{}", file.len());
    scratch.assert_nothing_left();
}

#[test]
fn memory_holds_as_much_as_it_says_and_keeps_touching_it() {
    let scratch = Scratch::new();
    let meminfo = fs::read_to_string("/proc/meminfo").unwrap();
    let available = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:")).unwrap();
    let available: f64 = available.trim().trim_end_matches(" kB").parse().unwrap();
    let load = start(&scratch, "memory:1%");
    let id = load.id();
    let resident_kib = proc_number(id, "status", "VmRSS") as f64;
    // Others take and release memory meanwhile, and the program itself takes some.
    assert!(
        resident_kib >= available * 0.005 && resident_kib <= available * 0.02 + 50_000.0,
        "{resident_kib} of {available} KiB"
    );
    assert_eq!(proc_file(id, "oom_score_adj").trim(), "1000");
    fs::write(format!("/proc/{id}/clear_refs"), "1").unwrap();
    let (finished, _) = observe(load, || {
        let touched = proc_number(id, "smaps_rollup", "Referenced") as f64;
        touched > resident_kib * 0.5
    });
    let report = finished.report;
    assert_eq!((finished.complaint, report.unit.as_str()), (None, "pages"));
    assert!(report.description.contains("1 % of the memory available"), "{report:?}");
    assert!(report.progress > resident_kib / 4.0 * 0.4, "{report:?} where {resident_kib} KiB are held");
    scratch.assert_nothing_left();
}

#[test]
fn video_is_decoded_in_real_time() {
    let scratch = Scratch::new();
    let load = start(&scratch, "video");
    let id = load.id();
    let players = processes(&scratch, "framecrc");
    assert_eq!(players.len(), 1, "{players:?}");
    let (finished, ns) = observe(load, || true);
    let report = finished.report;
    assert_eq!((finished.complaint, report.unit.as_str()), (None, "frames"));
    assert!(report.description.contains("1280x720") && report.description.contains("ffmpeg"), "{report:?}");
    // Some players begin with a burst of half a second; none must decode as fast as it can.
    let most = 30.0 * (ns as f64 / 1e9 * 1.1 + 0.7);
    assert!(report.progress >= 1.0 && report.progress <= most, "{report:?} in {ns} ns");
    wait_for("the player to end with its load", || scratch.processes().is_empty());
    assert!(!Path::new(&format!("/proc/{id}")).exists());
    let second = start(&scratch, "video");
    assert_eq!(processes(&scratch, "lavfi"), [""; 0], "the video is made once");
    drop(second);
    scratch.assert_nothing_left();
}

#[test]
fn a_load_ends_when_it_is_dropped() {
    let scratch = Scratch::new();
    for load in ["cpu", "disk:1MiB/s", "memory:1%"] {
        drop(start(&scratch, load));
        assert_eq!(scratch.processes(), [""; 0], "{load}");
    }
}

#[test]
fn a_load_that_is_killed_or_stopped_is_noticed() {
    let scratch = Scratch::new();
    for (name, complaint) in [("KILL", "killed by signal 9"), ("STOP", "was running during only")] {
        let load = start(&scratch, "cpu");
        let from_ns = now_ns();
        let words = [format!("-{name}"), load.id().to_string()];
        assert!(Command::new("kill").args(words).status().unwrap().success());
        thread::sleep(Duration::from_secs(1));
        let finished = load.finish(from_ns, now_ns());
        assert!(finished.report.at_work_share < 0.9, "{finished:?}");
        assert!(finished.complaint.is_some_and(|why| why.contains(complaint)), "{name}");
    }
    scratch.assert_nothing_left();
}

#[test]
fn a_load_that_can_t_start_says_why() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.join("disk")).unwrap();
    let started = try_start(&scratch, "disk");
    let text = format!("{started:?}");
    assert!(text.contains("did not start") && text.contains("opening the file"), "{text}");
    scratch.assert_nothing_left();
}

/// A directory with links to some of this system's programs.
fn path_with(scratch: &Scratch, programs: &[&str]) -> PathBuf {
    let path = scratch.join("bin");
    fs::create_dir(&path).unwrap();
    for program in programs {
        let file = std::env::split_paths(&std::env::var_os("PATH").unwrap())
            .map(|folder| folder.join(program))
            .find(|file| file.exists());
        symlink(file.expect("scripts/setup.sh test installs it"), path.join(program)).unwrap();
    }
    path
}

/// The messages of a load for video, until `enough`.
fn read_messages(scratch: &Scratch, path: &Path, is_enough: impl Fn(&Message) -> bool) -> Vec<Message> {
    let mut load = Command::new(STOREBENCH)
        .args(["__background", "video"])
        .arg(scratch.path())
        .arg(std::process::id().to_string())
        .env("PATH", path)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut messages = Vec::new();
    for line in BufReader::new(load.stdout.take().unwrap()).lines() {
        let message: Message = serde_json::from_str(&line.unwrap()).unwrap();
        let is_last = is_enough(&message);
        messages.push(message);
        if is_last {
            break;
        }
    }
    load.kill().unwrap();
    load.wait().unwrap();
    messages
}

#[test]
fn gstreamer_plays_where_there_is_no_ffmpeg() {
    let scratch = Scratch::new();
    let path = path_with(&scratch, &["gst-launch-1.0", "gst-inspect-1.0"]);
    let at_work = std::cell::Cell::new(false);
    let messages = read_messages(&scratch, &path, |message| match message {
        Message::AtWork { description, unit } => {
            assert!(description.contains("by GStreamer") && unit == "frames", "{message:?}");
            at_work.set(true);
            false
        }
        Message::Progress { done, .. } => at_work.get() && *done >= 10.0,
        other => panic!("{other:?}"),
    });
    assert!(messages.len() > 3);
    // Its program is tied to the load, which was killed.
    scratch.assert_nothing_left();
}
