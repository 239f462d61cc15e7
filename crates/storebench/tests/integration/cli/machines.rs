//! Trials under the limits of another machine, held by the kernel itself where this user may make cgroups.

use std::fs;
use std::path::Path;

use storebench_core::error::Exit;
use storebench_core::measure::limit::Reach;
use storebench_core::result::{Limited, MachineReport, Outcome, TrialResult};
use storebench_core::store::{Kind, Setting, StoreDef};

use super::support::{Scratch, TINY, faulty, said, skipped};

const PLAN: &str = r#"
format = 1
name = "limited"
title = "t"
workload = "crud"
trials = 1
operations = 5
seed = 1
size_limit = "2GiB"
timeout = "120s"
[machines.small]
memory = "64MiB"
processors = 1
share = "50%"
[axes]
store = ["null"]
record_size = ["1B..1KiB"]
records = ["20..40"]
data = ["incompressible"]
guarantee = ["default"]
machine = ["small"]
"#;

/// Whether memory and processor time can be limited here; said if not.
pub(crate) fn can_limit(what: &str) -> bool {
    let limits = [(Limited::Memory, 64 << 20), (Limited::Share, 500_000)].into();
    let held = Reach::here().decide(&limits, &[], Err("not looked at"));
    held.inspect_err(|why| skipped(what, why)).is_ok()
}

fn limit(report: &MachineReport, limit: Limited) -> Option<u64> {
    report.limits.iter().find(|one| one.limit == limit)?.in_force
}

fn of<'t>(trials: &'t [TrialResult], store: &str) -> &'t TrialResult {
    trials.iter().find(|trial| trial.cell.store() == store).unwrap()
}

#[test]
fn a_trial_that_takes_too_much_is_killed_and_says_so() {
    if !can_limit("a trial over its machine's memory") {
        return;
    }
    let scratch = Scratch::new();
    scratch.write("plan.toml", PLAN.replace("[\"null\"]", "[\"null\", \"hoards\"]"));
    let said = said(&mut scratch.command(faulty(), "run plan.toml")).ends(Exit::TrialsFailed);
    let trials = scratch.results().trials;
    let message = "killed by the kernel for memory: limit 64.0 MiB";
    match &of(&trials, "hoards").outcome {
        Outcome::Failed { reason, message: told, .. } => {
            assert_eq!((reason.name(), told.as_str()), ("out-of-memory", message));
        }
        other => panic!("{other:?}"),
    }
    assert!(said.err.contains(message), "{}", said.err);
    for store in ["null", "hoards"] {
        let machine = of(&trials, store).machine.as_ref().unwrap();
        assert_eq!((machine.name.as_str(), machine.limits.len()), ("small", 3));
        assert_eq!(limit(machine, Limited::Memory), Some(64 << 20), "{store}: {machine:?}");
        assert_eq!(limit(machine, Limited::Share), Some(500_000), "{store}");
        assert_eq!(limit(machine, Limited::Processors), Some(1), "{store}");
    }
    assert!(of(&trials, "hoards").machine.as_ref().unwrap().memory_limit_hits > Some(0));
    scratch.assert_nothing_left();
}

#[test]
fn more_data_than_memory_are_loaded_within_the_limit() {
    if !can_limit("a store of more than its machine's memory") {
        return;
    }
    let scratch = Scratch::new();
    let more = PLAN.replace("\"20..40\"", "\"1500..1600\"").replace("1B..1KiB", "64KiB");
    scratch.write("plan.toml", more.replace("\"null\"", "\"flat-folder\""));
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
    let servers = storebench::STORES.iter().filter(|store| store.kind == Kind::Server && store.open.is_ok());
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
    scratch.write("plan.toml", PLAN.replace("\"null\"", &names).replace("64MiB", "400MiB"));
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
        assert_eq!(limit(machine, Limited::Memory), Some(400 << 20), "{store}");
        assert_eq!(limit(machine, Limited::Share), Some(500_000), "{store}");
        let doubts = &trial.measured.as_ref().unwrap().doubts;
        assert!(doubts.is_empty(), "{store}: {doubts:?}");
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
    scratch.write("plan.toml", more.replace("1B..1KiB", "1KiB").replace("\"null\"", store));
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
fn every_workload_runs_on_a_machine() {
    if !can_limit("every workload under limits") {
        return;
    }
    let sql = PLAN.replace("\"crud\"", "\"androbench\"").replace("\"null\"", "\"sqlite\"");
    let without = ["record_size", "records", "data", "operations"];
    let sql: String = sql
        .lines()
        .filter(|line| !without.iter().any(|key| line.starts_with(key)))
        .map(|line| format!("{line}\n"))
        .collect();
    let device = "--pattern rand-read --block-size 4KiB --file-size 64KiB --io buffered --cache warm \
         --operations 5 --trials 1";
    for arguments in [
        format!("run crud --store flat-folder {TINY}"),
        format!("run device {device}"),
        "run sql.toml --operations 20".to_owned(),
    ] {
        let scratch = Scratch::new();
        scratch.write("sql.toml", format!("{sql}rows = [10]\n"));
        scratch.storebench(&format!("{arguments} --machine here,raspberry-pi-zero-2")).ends(Exit::Success);
        let run = scratch.results();
        let on = |machine: &str| run.trials.iter().filter(|trial| trial.cell.machine() == machine).count();
        assert_eq!((on("here"), on("raspberry-pi-zero-2")), (1, 1), "{arguments}");
        assert!(run.trials.iter().all(|trial| (trial.cell.machine() == "here") == trial.machine.is_none()));
        assert!(run.header.plan.contains("[machines.raspberry-pi-zero-2]"), "{}", run.header.plan);
    }
}

#[test]
fn advice_for_a_slow_machine_comes_in_time_with_fewer_records() {
    if !can_limit("advice for a slow machine") {
        return;
    }
    let scratch = Scratch::new();
    let ask = "advise --machine laptop-hdd --disk here --records 50000 --size 4KiB --store flat-folder,sqlite --budget 12s";
    let said = scratch.probing(ask).ends(Exit::Success);
    assert!(said.err.contains("first, how slow it is here: each store with 100 records"), "{said}");
    assert!(said.err.contains(" records in place of 50,000: "), "{said}");
    let words = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    // A store that a busy machine did not reach is named, and then nothing is recommended.
    let answered = ["Recommended: ", "Measured alone: ", "Candidate: ", "looked best: "]
        .iter()
        .any(|answer| words.contains(answer));
    assert!(answered && words.contains("on machine laptop-hdd; on the disk here"), "{said}");
    scratch.assert_nothing_left();
}

#[test]
fn caches_get_their_share_of_the_machine_s_memory_and_a_setting_wins() {
    if !can_limit("caches that have a share of a limit") {
        return;
    }
    let scratch = Scratch::new();
    let plan = PLAN
        .replace("\"null\"", "\"flat-folder\", \"sqlite\"")
        .replace("[\"small\"]", "[\"here\", \"small\"]");
    scratch.write("plan.toml", plan.replace("[axes]", "[axes]\ntuning = [\"share\"]"));
    scratch.storebench("run plan.toml").ends(Exit::Success);
    let run = scratch.results();
    let left_out: Vec<String> = run.header.left_out.iter().map(|left| left.reason.to_string()).collect();
    let unlimited = |why: &&String| why.contains("the machine here has no limit of memory");
    assert_eq!((left_out.len(), left_out.iter().filter(unlimited).count()), (2, 2), "{left_out:?}");
    let told = |trials: &[TrialResult]| {
        let measured = of(trials, "sqlite").measured.clone().unwrap();
        measured.settings.into_iter().find(|setting| setting.name == "cache_size").unwrap()
    };
    assert_eq!(run.trials.len(), 2);
    assert_eq!(told(&run.trials), Setting::read_back("cache_size", "-16384"));
    let given = Scratch::new();
    given.write("plan.toml", fs::read_to_string(scratch.path().join("plan.toml")).unwrap());
    given.storebench("run plan.toml --store sqlite --set sqlite.cache_size=-3000").ends(Exit::Success);
    assert_eq!(told(&given.results().trials), Setting::read_back("cache_size", "-3000"));
}

#[test]
fn machines_are_ranked_where_a_plan_compares_them() {
    if !can_limit("machines against each other") {
        return;
    }
    let scratch = Scratch::new();
    let plan = PLAN.replace("machine = [\"small\"]", "machine = [\"here\", \"small\"]");
    let plan = plan.replace("\"null\"", "\"flat-folder\"");
    scratch.write("plan.toml", plan.replace("trials = 1", "trials = 1\ncompare = [\"machine\"]"));
    let said = scratch.storebench("run plan.toml").ends(Exit::Success);
    assert!(said.out.contains("machine small") || said.out.contains("machine here"), "{}", said.out);
}

#[test]
fn a_machine_that_nobody_knows_is_told_with_those_that_there_are() {
    let scratch = Scratch::new();
    let said = scratch.storebench("run crud --quick --machine raspberry-pi-zero2").ends(Exit::BadValue);
    assert!(said.err.contains("did you mean raspberry-pi-zero-2?"), "{}", said.err);
    let said = scratch.storebench("machines raspberry-pi-zero2").ends(Exit::BadValue);
    assert!(said.err.contains("did you mean raspberry-pi-zero-2?"), "{}", said.err);
    let said = scratch.storebench("advise --records 10 --size 1KiB --machine zx81").ends(Exit::BadValue);
    assert!(said.err.contains("there is no machine \"zx81\""), "{}", said.err);
}

#[test]
fn limits_on_a_place_without_a_disk_are_left_out_with_a_reason() {
    if !Path::new("/dev/shm").is_dir() {
        return skipped("limits without a disk", "there is no /dev/shm");
    }
    let scratch = Scratch::new();
    let arguments =
        format!("run crud --store flat-folder {TINY} --at /dev/shm --machine laptop-hdd --disk here");
    let said = scratch.storebench(&arguments).ends(Exit::Nothing);
    assert!(
        said.err.contains("read operations can't be limited here: no block device is known"),
        "{}",
        said.err
    );
    assert!(said.err.contains("choose a place on a disk (--at)"), "{}", said.err);
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
