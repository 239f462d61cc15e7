//! Trials under the limits of another machine, held by the kernel itself where this user may make cgroups.

use std::fs;

use storebench_core::error::Exit;
use storebench_core::measure::limit::LimitSupport;
use storebench_core::result::{LimitKind, MachineReport, Outcome, TrialResult};
use storebench_core::store::{StoreDef, StoreKind};

use super::support::{Scratch, skipped};

const PLAN: &str = include_str!("../cases/limited.toml");

/// Whether memory and processor time can be limited here; said if not.
pub(crate) fn can_limit(what: &str) -> bool {
    let limits = [(LimitKind::Memory, 64 << 20), (LimitKind::Share, 500_000)].into();
    let held = LimitSupport::here().decide(&limits, &[], Err("not looked at"));
    held.inspect_err(|why| skipped(what, why)).is_ok()
}

fn limit(report: &MachineReport, limit: LimitKind) -> Option<u64> {
    report.limits.iter().find(|one| one.limit == limit)?.in_force
}

fn of<'t>(trials: &'t [TrialResult], store: &str) -> &'t TrialResult {
    trials.iter().find(|trial| trial.cell.store() == store).unwrap()
}

#[test]
fn more_data_than_memory_are_loaded_within_the_limit() {
    if !can_limit("a store of more than its machine's memory") {
        return;
    }
    let scratch = Scratch::new();
    let more = PLAN.replace("\"20..40\"", "\"1500..1600\"").replace("1B..1KiB", "64KiB");
    scratch.write("plan.toml", more);
    scratch.storebench("run plan.toml").ends(Exit::Success);
    let trials = scratch.results().trials;
    let trial = of(&trials, "flat-folder");
    let measured = trial.measured.as_ref().unwrap();
    assert!(measured.stored.value_bytes > 90 << 20);
    let peak = measured.memory.peak_with_page_cache_bytes.unwrap();
    assert!((32 << 20..=64 << 20).contains(&peak), "the page cache is charged, and taken back: {peak}");
    assert!(trial.machine.as_ref().unwrap().memory_limit_hits > Some(0));
}

/// Servers that can run here.
fn servers() -> Vec<&'static str> {
    let servers =
        storebench::STORES.iter().filter(|store| store.kind == StoreKind::Server && store.open.is_ok());
    let is_there = |store: &&StoreDef| store.lacks().inspect(|why| skipped(store.name, why)).is_none();
    servers.filter(is_there).map(|store| store.name).collect()
}

/// Each trial also asks the kernel who is in the cgroups: the server and not its client.
#[test]
fn limits_hold_a_server_and_not_its_client() {
    let servers = servers();
    if !can_limit("servers under limits") || servers.is_empty() {
        return;
    }
    let scratch = Scratch::new();
    let names = format!("\"{}\"", servers.join("\", \""));
    scratch.write("plan.toml", PLAN.replace("\"flat-folder\"", &names).replace("64MiB", "400MiB"));
    scratch.storebench("run plan.toml").ends(Exit::Success);
    let trials = scratch.results().trials;
    for store in servers {
        let trial = of(&trials, store);
        let machine = trial.machine.as_ref().unwrap();
        assert_eq!(machine.limits.len(), 3, "{store}");
        for one in &machine.limits {
            let remark = one.remark.as_deref().unwrap_or_default();
            let by_group = one.by.as_deref().is_some_and(|by| by.starts_with("cgroup"));
            let expected = if by_group { "and not storebench, its client" } else { "too" };
            assert!(remark.contains(expected), "{store}: {one:?}");
        }
        assert_eq!(limit(machine, LimitKind::Memory), Some(400 << 20), "{store}");
        assert_eq!(limit(machine, LimitKind::Share), Some(500_000), "{store}");
        let warnings = &trial.measured.as_ref().unwrap().warnings;
        assert!(warnings.is_empty(), "{store}: {warnings:?}");
    }
    scratch.assert_nothing_left();
}

#[test]
fn a_server_s_trial_ends_by_its_time_limit_and_leaves_nothing() {
    for store in servers() {
        let scratch = Scratch::new();
        let long = "--records 500000 --record-size 1KiB --data incompressible --guarantee default --operations 500000";
        let said = scratch.storebench(&format!("run crud --store {store} {long} --trials 1 --timeout 6s"));
        said.ends(Exit::TrialsFailed);
        let trials = scratch.results().trials;
        match &trials[0].outcome {
            Outcome::Failed { reason, message, .. } => {
                assert_eq!(reason.name(), "timed-out", "{store}: {message}");
            }
            other => panic!("{store}: {other:?}"),
        }
        scratch.assert_nothing_left();
        let within = |entry: fs::DirEntry| {
            let at = fs::read_link(entry.path().join("cwd")).ok()?;
            at.starts_with(fs::canonicalize(scratch.path()).unwrap()).then_some(at)
        };
        let left: Vec<_> = fs::read_dir("/proc").unwrap().flatten().filter_map(within).collect();
        assert!(left.is_empty(), "{store}: {left:?}");
    }
}

/// With less than its own pages take, MariaDB reads them again and again, or is killed for memory.
#[test]
fn mariadb_with_too_little_memory_ends_with_a_clear_reason_and_leaves_nothing() {
    if !can_limit("a server with too little memory") || !servers().contains(&"mariadb") {
        return;
    }
    let scratch = Scratch::new();
    let more =
        PLAN.replace("64MiB", "112MiB").replace("\"120s\"", "\"20s\"").replace("\"20..40\"", "\"500000\"");
    let store = "\"mariadb\"]\n\"mariadb.engine\" = [\"innodb\", \"rocksdb\"";
    scratch.write("plan.toml", more.replace("1B..1KiB", "1KiB").replace("\"flat-folder\"", store));
    scratch.storebench("run plan.toml").ends(Exit::TrialsFailed);
    let trials = scratch.results().trials;
    assert_eq!(trials.len(), 2);
    for trial in &trials {
        let Outcome::Failed { reason, message, .. } = &trial.outcome else { panic!("{:?}", trial.outcome) };
        assert!(matches!(reason.name(), "timed-out" | "out-of-memory"), "{}: {message}", reason.name());
    }
    scratch.assert_nothing_left();
}

#[test]
fn a_killed_run_leaves_no_limits() {
    if !can_limit("a killed run's cgroups") {
        return;
    }
    let scratch = Scratch::new();
    let long = PLAN.replace("operations = 5", "duration = \"60s\"\norder = [\"get\"]");
    scratch.write("plan.toml", long);
    let mut run = scratch.command(super::support::STOREBENCH, "run plan.toml").spawn().unwrap();
    let pid = run.id();
    let groups = || -> Vec<_> {
        let below = |folder: &str| fs::read_dir(folder).into_iter().flatten().flatten();
        let roots =
            ["/sys/fs/cgroup", "/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpuset", "/sys/fs/cgroup/cpu,cpuacct"];
        let all = roots.into_iter().flat_map(below).map(|entry| entry.path());
        all.filter(|path| path.to_string_lossy().contains(&format!("storebench-{pid}-"))).collect()
    };
    while groups().is_empty() {
        assert!(run.try_wait().unwrap().is_none(), "it ended before it was limited");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    run.kill().unwrap();
    run.wait().unwrap();
    scratch.storebench("clean").ends(Exit::Success);
    assert_eq!(groups(), Vec::<std::path::PathBuf>::new());
    scratch.assert_nothing_left();
}
