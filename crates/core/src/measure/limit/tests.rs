//! Limits held by the kernel itself, where this process may make cgroups: elsewhere the reason is printed.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::*;
use crate::measure::cgroup::{self, CgroupParent, HeldCgroup, TrialCgroup};
use crate::measure::device::BlockDevice;
use crate::measure::environment;

#[test]
fn slices_are_short_and_hold_what_the_kernel_takes() {
    assert_eq!(slices(250_000), (10_000, 2_500));
    assert_eq!(slices(2_000_000), (10_000, 20_000));
    assert_eq!(slices(45_000), (22_223, 1_000));
    for millionths in [1_000, 5_000, 45_000, 99_999, 100_000, 333_333, 1_000_000] {
        let (period, quota) = slices(millionths);
        let share = quota as f64 / period as f64 * 1e6;
        assert!((share / millionths as f64 - 1.0).abs() < 0.01, "{millionths}: {quota} of {period}");
        assert!((10_000..=1_000_000).contains(&period) && quota >= 1_000);
    }
}

struct LimitedCgroup {
    held: Option<HeldCgroup>,
    group: TrialCgroup,
}

impl LimitedCgroup {
    fn new(limit: LimitKind, value: u64, device: Option<&str>) -> Option<LimitedCgroup> {
        let parent = CgroupParent::with_controller(Controller::from_limit(limit));
        let held = parent.and_then(|parent| parent.make(&parent.unused()?));
        let held = held.inspect_err(|reason| println!("not tried: {reason}")).ok()?;
        let group = held.group.clone();
        let limited = LimitedCgroup { held: Some(held), group };
        let folder = &limited.group.folder;
        hold(folder, limited.group.version, (limit, value), device, &[0]).unwrap();
        let found = read_limit(folder, limited.group.version, limit, device).unwrap();
        assert_eq!(found, Some(value), "{limit} is read back");
        Some(limited)
    }

    fn shell(&self, script: &str, argument: &Path) -> Command {
        let mut command = Command::new("sh");
        command.args(["-euc", &format!("echo 0 > \"$0/cgroup.procs\"; {script}")]);
        command.arg(&self.group.folder).arg(argument).stdin(Stdio::null());
        command
    }

    fn evidence(&self) -> LimitCounts {
        evidence(&self.group.folder, self.group.version)
    }
}

impl Drop for LimitedCgroup {
    fn drop(&mut self) {
        self.held.take();
        assert!(cgroup::remove(&self.group.folder), "{} is removed", self.group.folder.display());
    }
}

const LIMIT: u64 = 32 << 20;

/// On a disk, so that its files' pages can be reclaimed.
fn folder_on_disk() -> Option<tempfile::TempDir> {
    let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).ok()?;
    let place = environment::describe_location("", folder.path()).ok()?;
    place.device.is_some().then_some(folder)
}

#[test]
fn memory_over_the_limit_is_killed() {
    let Some(group) = LimitedCgroup::new(LimitKind::Memory, LIMIT, None) else { return };
    // Without a newline, all of it is the last line, which is kept.
    let script = "head -c 134217728 /dev/zero | tail -n 1 > \"$1\"";
    let status = group.shell(script, Path::new("/dev/null")).stderr(Stdio::null()).status().unwrap();
    assert!(status.code() == Some(137) || status.signal() == Some(9), "{status}");
    assert!(group.evidence().kills >= Some(1), "{:?}", group.evidence());
    assert!(group.group.peak_bytes().unwrap() <= LIMIT);
}

#[test]
fn page_cache_is_charged_and_taken_back() {
    let Some(group) = LimitedCgroup::new(LimitKind::Memory, LIMIT, None) else { return };
    let Some(folder) = folder_on_disk() else { return println!("not tried: no disk is known here") };
    let file = folder.path().join("file");
    let status = group.shell("head -c 134217728 /dev/zero > \"$1\"; cat \"$1\" > /dev/null", &file).status();
    assert!(status.unwrap().success());
    assert_eq!(fs::metadata(&file).unwrap().len(), 4 * LIMIT);
    let evidence = group.evidence();
    assert_eq!(evidence.kills.unwrap_or(0), 0);
    assert!(evidence.memory_limit_hits > Some(0), "{evidence:?}");
    let peak = group.group.peak_bytes().unwrap();
    // Nearly all of it is pages of the file.
    assert!((LIMIT / 2..=LIMIT).contains(&peak), "{peak}");
}

fn processor_ns(child: &Child) -> u64 {
    let text = fs::read_to_string(format!("/proc/{}/schedstat", child.id())).unwrap();
    text.split(' ').next().unwrap().parse().unwrap()
}

/// A busy machine only lowers what a process gets. So its time is compared from above with its share of the time that passed, and
/// from below with the slices that it used up.
#[test]
fn a_share_of_a_processor_is_held_to_within_a_tenth() {
    const SHARE: u64 = 200_000;
    let Some(group) = LimitedCgroup::new(LimitKind::Share, SHARE, None) else { return };
    let (_, quota_us) = slices(SHARE);
    let script = "echo at work; while :; do :; done";
    let mut child = group.shell(script, Path::new("")).stdout(Stdio::piped()).spawn().unwrap();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut String::new()).unwrap();
    let throttled = || group.evidence().throttled_periods.unwrap();
    let (start, used_before, periods_before) = (Instant::now(), processor_ns(&child), throttled());
    let mut periods = 0;
    // Long enough that the kernel's clock tick, which ends a part a little late, does not count.
    while start.elapsed() < Duration::from_secs(2)
        || (periods < 50 && start.elapsed() < Duration::from_secs(60))
    {
        std::thread::sleep(Duration::from_millis(50));
        periods = throttled() - periods_before;
    }
    let used_ns = (processor_ns(&child) - used_before) as f64;
    let wall = start.elapsed().as_nanos() as f64;
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(periods >= 50, "a process that spins uses its part up: {periods} slices");
    assert!(used_ns <= 1.1 * wall * SHARE as f64 / 1e6, "{used_ns} of {wall} ns");
    let least_ns = 0.9 * (periods * quota_us * 1000) as f64;
    assert!(used_ns >= least_ns, "{used_ns} ns in {periods} slices of {quota_us} µs");
    assert!(group.evidence().throttled_ns > Some(0));
}

/// A busy disk is only slower.
#[test]
fn writes_past_the_page_cache_are_held_to_a_bandwidth() {
    const RATE: u64 = 4 << 20;
    let Some(folder) = folder_on_disk() else { return println!("not tried: no disk is known here") };
    let device = environment::describe_location("", folder.path()).unwrap().device.unwrap();
    let number = BlockDevice::number(&device).unwrap();
    let Some(group) = LimitedCgroup::new(LimitKind::WriteBandwidth, RATE, Some(&number)) else { return };
    let file: PathBuf = folder.path().join("file");
    let start = Instant::now();
    let script = "dd if=/dev/zero of=\"$1\" bs=65536 count=96 oflag=direct 2>/dev/null";
    let written = group.shell(script, &file).status().unwrap();
    if !written.success() {
        return println!("not tried: the file system takes no direct writes");
    }
    // 6 MiB at 4 MiB/s take 1.5 s, less a slice that the kernel lets through at first.
    assert!(start.elapsed() > Duration::from_secs(1), "{:?}", start.elapsed());
}

#[test]
fn fewer_processors_are_seen_by_who_joins() {
    let Some(group) = LimitedCgroup::new(LimitKind::Processors, 1, None) else { return };
    let output = group.shell("nproc", Path::new("")).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "1");
}
