//! Processes that work for this one: a server that a store has started, and what that starts. What they take is added to what
//! this process takes. Limits hold them alone, in cgroups that this process stays out of.

use std::fs;
use std::io;

use procfs_core::FromRead;
use procfs_core::process::{Stat, StatFlags};
use storebench_model::result::Cpu;
use storebench_model::server::processes as servers;

/// Checks that all server processes, and not this one, are in the cgroups that hold servers, as the kernel says.
pub(crate) fn check_held() -> Result<(), String> {
    let cgroups = servers::cgroups();
    if cgroups.is_empty() {
        return Ok(());
    }
    let own_pid = std::process::id();
    for (pid, should_be_in) in processes().into_iter().map(|pid| (pid, true)).chain([(own_pid, false)]) {
        // One that has just ended is in none.
        let Ok(membership) = fs::read_to_string(format!("/proc/{pid}/cgroup")) else { continue };
        for cgroup in &cgroups {
            let name = cgroup.file_name().unwrap_or_default().to_string_lossy();
            let is_in = membership.lines().any(|line| line.ends_with(&format!("/{name}")));
            if is_in != should_be_in && !has_ended(pid) {
                let (owner, should) =
                    if should_be_in { ("server's", "should") } else { ("trial's", "should not") };
                return Err(format!("the {owner} process {pid} {should} be in {}", cgroup.display()));
            }
        }
    }
    Ok(())
}

/// Whether a process is ending or waits to be reaped. In cgroups of version 1 it is in none any more.
fn has_ended(pid: u32) -> bool {
    Stat::from_file(format!("/proc/{pid}/stat")).map_or(true, |stat| {
        matches!(stat.state, 'Z' | 'X')
            || StatFlags::from_bits_truncate(stat.flags).contains(StatFlags::PF_EXITING)
    })
}

/// The servers' processes.
pub(super) fn processes() -> Vec<u32> {
    with_children(servers::list())
}

fn with_children(mut pids: Vec<u32>) -> Vec<u32> {
    let mut index = 0;
    while let Some(pid) = pids.get(index).copied() {
        index += 1;
        let path = format!("/proc/{pid}/task/{pid}/children");
        let children = fs::read_to_string(path).unwrap_or_default();
        pids.extend(children.split_whitespace().filter_map(|word| word.parse::<u32>().ok()));
    }
    pids
}

pub(super) fn cpu_with_children(pid: u32) -> Cpu {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let child_lists = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    let child_lists: Vec<String> = child_lists.collect();
    let child_lists = child_lists.iter().flat_map(|children| children.split_whitespace());
    let children = with_children(child_lists.filter_map(|word| word.parse().ok()).collect());
    cpu_of(&[vec![pid], children].concat())
}

/// Processor time of processes since they were started, with that of ended children. The kernel counts in ticks, mostly of 10 ms.
pub(super) fn cpu_of(processes: &[u32]) -> Cpu {
    let tick_ns = 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1);
    let mut cpu = Cpu::default();
    for pid in processes {
        let text = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        if let Some([user, system]) = parse_times(&text) {
            cpu.user_ns += user * tick_ns;
            cpu.system_ns += system * tick_ns;
        }
    }
    cpu
}

/// Ticks in user mode and in the kernel of a process and of its ended children, from /proc/PID/stat: fields 14 to 17. The second
/// field is a name in parentheses, which may hold anything.
fn parse_times(text: &str) -> Option<[u64; 2]> {
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
    Some([ticks(14)? + ticks(16)?, ticks(15)? + ticks(17)?])
}

/// Memory of processes now, in bytes: all of it, and pages of files. Shared memory counts once.
pub(super) fn memory_of(processes: &[u32]) -> io::Result<(u64, u64)> {
    let (mut total, mut files) = (0, 0);
    for pid in processes {
        let name = format!("/proc/{pid}/smaps_rollup");
        let has_just_ended = |error: &io::Error| {
            error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(libc::ESRCH)
        };
        let text = match fs::read_to_string(&name) {
            Err(error) if has_just_ended(&error) => continue,
            text => text.map_err(|error| io::Error::new(error.kind(), format!("{name}: {error}")))?,
        };
        total += parse_number(&text, "Pss:") * 1024;
        files += parse_number(&text, "Pss_File:") * 1024;
    }
    Ok((total, files))
}

/// The number behind a field's name, whatever its unit; 0 without one.
fn parse_number(text: &str, field: &str) -> u64 {
    let parse_field = |line: &str| line.strip_prefix(field)?.split_whitespace().next()?.parse().ok();
    text.lines().find_map(parse_field).unwrap_or(0)
}

/// Bytes that processes have written and read by calls, ended children included, sockets excluded.
pub(super) fn bytes_of(processes: &[u32]) -> (u64, u64) {
    (sum_field(processes, "wchar: "), sum_field(processes, "rchar: "))
}

pub(super) fn sum_field(processes: &[u32], field: &str) -> u64 {
    let read_field = |pid: &u32| {
        let text = fs::read_to_string(format!("/proc/{pid}/io")).unwrap_or_default();
        parse_number(&text, field)
    };
    processes.iter().map(read_field).sum()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::Write;
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn times_are_found_behind_any_name() {
        let text = "7 (a) b (c) S 1 7 7 0 -1 4194560 100 200 0 0 11 12 13 14 20 0 1 0 99 0 0";
        assert_eq!(parse_times(text), Some([24, 26]));
        assert_eq!(parse_times("7 (a"), None);
    }

    /// One that nobody has waited for is still listed among a server's.
    #[test]
    fn a_process_has_ended_when_it_has_before_it_is_waited_for() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        assert!(!has_ended(child.id()));
        drop(child.stdin.take());
        let start = Instant::now();
        while !has_ended(child.id()) && start.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(has_ended(child.id()));
        child.wait().unwrap();
        assert!(has_ended(child.id()));
    }

    /// A shell stands for a server. It is not registered as one: other tests of this process count only their own.
    #[test]
    fn what_a_server_and_its_children_take_is_seen() {
        let mut shell = Command::new("sh")
            .args(["-c", "head -c 4194304 /dev/zero | cat > /dev/null; read line; sleep 60; true"])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let leader = shell.id();
        let processes = || with_children(vec![leader]);
        // Until the shell has waited for its children that copied.
        while bytes_of(&[leader]).0 < 4 << 20 {
            std::thread::sleep(Duration::from_millis(5));
        }
        let (total, files) = memory_of(&processes()).unwrap();
        assert!(total > 0 && files <= total, "{total} {files}");
        assert!(cpu_of(&processes()).user_ns < 60_000_000_000);
        shell.stdin.take().unwrap().write_all(b"\n").unwrap();
        let mut children = Vec::new();
        while children.is_empty() {
            std::thread::sleep(Duration::from_millis(5));
            children = processes().split_off(1);
        }
        shell.kill().unwrap();
        shell.wait().unwrap();
        for child in children {
            let pid = rustix::process::Pid::from_raw(child as i32).unwrap();
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
        assert!(with_children(Vec::new()).is_empty());
    }
}
