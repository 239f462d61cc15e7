//! Trials in scopes of the user's systemd, which here is a program of the test's own: it notes what it is asked for, writes the
//! limits where the kernel would show them, and starts the trial.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use storebench_core::error::Exit;
use storebench_core::result::{Limited, Outcome};

use super::support::{STOREBENCH, Said, Scratch, is_root, said, skipped};

const PLAN: &str = r#"
format = 1
name = "scoped"
title = "t"
workload = "crud"
trials = 1
operations = 5
seed = 1
size_limit = "1GiB"
timeout = "120s"
[machines.small]
memory = "64MiB"
processors = 1
share = "50%"
[axes]
store = ["flat-folder"]
record_size = ["1B..1KiB"]
records = ["20..40"]
data = ["incompressible"]
guarantee = ["process"]
machine = ["small"]
"#;

/// Where no cgroup can be made, and the user's systemd may limit memory and time. Only the test's processes see it.
const WITHOUT_CGROUPS: &str = "mount -t tmpfs tmpfs /sys/fs/cgroup && \
    service=/sys/fs/cgroup/user.slice/user-0.slice/user@0.service && mkdir -p $service && \
    echo 'cpu memory pids' >$service/cgroup.controllers && exec \"$@\"";

/// Notes its arguments in the file `asked`, and holds a trial to what was asked for.
const HOLDS: &str = r#"#!/bin/sh
echo "$*" >>"$XDG_RUNTIME_DIR/asked"
group=/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)
mkdir -p "$group"
while [ "$1" != -- ]; do
    case "$1" in
        MemoryMax=*) echo "${1#*=}" >"$group/memory.max" ;;
        CPUQuota=*) quota=${1#*=} ;;
        CPUQuotaPeriodSec=*) period=${1#*=} ;;
    esac
    shift
done
shift
echo "$quota $period" | awk '{ printf "%d %d\n", $1 * $2 / 100, $2 }' >"$group/cpu.max"
exec "$@"
"#;

/// The command that runs a program where there are no cgroups; `None` where this user may not do that.
fn without_cgroups() -> Option<Command> {
    let mut command = Command::new("unshare");
    command.arg("--mount");
    if !is_root() {
        command.arg("--map-root-user");
    }
    command.args(["sh", "-c", WITHOUT_CGROUPS, "sh"]);
    let membership = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let can = |command: &Command| {
        let mut tried = Command::new(command.get_program());
        tried.args(command.get_args()).arg("true").output().is_ok_and(|output| output.status.success())
    };
    (membership.lines().any(|line| line.starts_with("0::/")) && can(&command)).then_some(command)
}

/// Runs the plan with a program as systemd-run.
fn run(scratch: &Scratch, systemd_run: &str) -> Option<Said> {
    let Some(mut command) = without_cgroups() else {
        skipped("scopes of systemd", "this user may have no view of the file system of its own (unshare)");
        return None;
    };
    let program = scratch.write("bin/systemd-run", systemd_run);
    fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
    scratch.write("runtime/systemd/private", "");
    scratch.write("plan.toml", PLAN);
    let path = format!("{}:{}", scratch.join("bin").display(), std::env::var("PATH").unwrap());
    command.args([STOREBENCH, "run", "plan.toml"]).current_dir(scratch.path());
    Some(said(command.env("PATH", path).env("XDG_RUNTIME_DIR", scratch.join("runtime"))))
}

#[test]
fn a_trial_in_a_scope_is_held_and_tells_by_what() {
    let scratch = Scratch::in_memory();
    let Some(said) = run(&scratch, HOLDS) else { return };
    said.ends(Exit::Success);
    let asked = fs::read_to_string(scratch.join("runtime/asked")).unwrap();
    let expected = "--user --scope --quiet --collect -p MemoryMax=67108864 -p MemorySwapMax=0 -p CPUQuota=50.00% \
                    -p CPUQuotaPeriodSec=10000us -- ";
    assert!(asked.starts_with(expected), "{asked}");
    let run = scratch.results();
    let machine = run.trials[0].machine.as_ref().unwrap();
    let held = |limit: Limited| {
        let one = machine.limits.iter().find(|one| one.limit == limit).unwrap();
        (one.in_force, one.by.clone().unwrap())
    };
    assert_eq!(held(Limited::Memory), (Some(64 << 20), "systemd-run --user".into()));
    assert_eq!(held(Limited::Share), (Some(500_000), "systemd-run --user".into()));
    assert_eq!(held(Limited::Processors), (Some(1), "affinity".into()));
    scratch.assert_nothing_left();
}

#[test]
fn a_scope_that_does_not_hold_measures_nothing() {
    let scratch = Scratch::in_memory();
    let lax = HOLDS.replace("echo \"${1#*=}\" >\"$group/memory.max\"", "echo max >\"$group/memory.max\"");
    assert_ne!(lax, HOLDS);
    let Some(said) = run(&scratch, &lax) else { return };
    said.ends(Exit::Success);
    let [trial] = &scratch.results().trials[..] else { panic!("one trial") };
    let Outcome::Unsupported { message } = &trial.outcome else { panic!("{:?}", trial.outcome) };
    assert!(
        message.contains("systemd-run --user holds memory to no limit where 67108864 was asked for"),
        "{message}"
    );
    assert!(trial.measured.is_none());
    scratch.assert_nothing_left();
}

#[test]
fn a_scope_that_can_not_be_made_says_why() {
    let scratch = Scratch::in_memory();
    let refuses = "#!/bin/sh\necho 'Failed to connect to bus: No medium found' >&2\nexit 1\n";
    let Some(said) = run(&scratch, refuses) else { return };
    said.ends(Exit::TrialsFailed);
    let [trial] = &scratch.results().trials[..] else { panic!("one trial") };
    let Outcome::Failed { message, .. } = &trial.outcome else { panic!("{:?}", trial.outcome) };
    assert!(message.contains("Failed to connect to bus: No medium found"), "{message}");
    scratch.assert_nothing_left();
}
