//! Rest: whether all that the store does by itself has ended, such as the compactions that loading began. Nothing is forced: it is
//! waited for, and for so long at most.
//!
//! An engine's own threads, and a server's processes, are at work at a look where one of them runs or waits for a disk, where
//! together they have used more than a twentieth of a processor since the look before, or where anything was written. Servers may
//! use a tenth, and each may write what threads write to wake one another up, and servers of a cluster to hear that the others are there.
//! The calling thread counts for nothing, so it must be the only one of the harness that is at work.

use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::time::ClockId;

use crate::measure::{children, counters, process};
use crate::result::Rest;

/// The longest wait.
pub const AT_MOST: Duration = Duration::from_secs(30);
/// The way to look whether there is work.
struct Looks {
    /// The time between two.
    step: Duration,
    /// As many in a row without work are rest.
    quiet: u32,
    /// The share of a processor that is no work.
    idle_share: f64,
    /// The bytes a second that are no work, of each server where there are several.
    idle_bytes_per_s: f64,
}

/// 50 ms: an engine's threads begin the next compaction where the last one ends.
const OF_ENGINES: Looks =
    Looks { step: Duration::from_millis(5), quiet: 10, idle_share: 0.05, idle_bytes_per_s: 0.0 };
/// 1.2 s: the processes of servers wake up many times a second to see whether there is work, and the kernel tells their processor time in
/// ticks of 10 ms, so that only a longer step tells how busy they are. Several may be one store. An eventfd, by which a thread wakes another, takes eight
/// bytes at a time: programs in Go have timers write to one many times a second. Servers of a cluster may send each other some 2 kB many times
/// a second.
const OF_SERVERS: Looks =
    Looks { step: Duration::from_millis(400), quiet: 3, idle_share: 0.1, idle_bytes_per_s: 16_000.0 };

/// The shortest wait: of a store that has nothing to do, which may be a server of the trial's own.
pub fn shortest(server: bool) -> Duration {
    let looks = looks(usize::from(server));
    looks.step * looks.quiet
}

/// The way to look at a store of so many servers.
fn looks(servers: usize) -> Looks {
    match servers {
        0 => OF_ENGINES,
        servers => Looks { idle_bytes_per_s: servers as f64 * OF_SERVERS.idle_bytes_per_s, ..OF_SERVERS },
    }
}

/// Waits until the store is at rest.
pub fn wait() -> Rest {
    let looks = looks(children::count());
    let start = Instant::now();
    let mut before = Look::now();
    let at_rest = comes_to_rest(looks.quiet, || {
        if start.elapsed() >= AT_MOST {
            return None;
        }
        sleep(looks.step);
        let now = Look::now();
        let is_at_work = now.is_at_work_since(&before, &looks);
        before = now;
        Some(is_at_work)
    });
    Rest { took_ns: start.elapsed().as_nanos() as u64, at_rest }
}

/// Whether so many looks without work come before the last one; `look` says whether there was work, and nothing when it is over.
fn comes_to_rest(quiet: u32, mut look: impl FnMut() -> Option<bool>) -> bool {
    let mut seen = 0_u32;
    while seen < quiet {
        match look() {
            Some(true) => seen = 0,
            Some(false) => seen += 1,
            None => return false,
        }
    }
    true
}

/// All that is known at one moment of what others than the calling thread do.
struct Look {
    at: Instant,
    cpu: Duration,
    written_bytes: u64,
    /// Whether a thread runs, or waits for a disk.
    is_busy: bool,
}

impl Look {
    fn now() -> Look {
        let own = rustix::time::clock_gettime(ClockId::ThreadCPUTime);
        let own = Duration::try_from(own).unwrap_or_default();
        Look {
            at: Instant::now(),
            cpu: process::cpu_now().saturating_sub(own),
            written_bytes: counters::written_bytes().unwrap_or_default(),
            is_busy: is_busy(std::process::id()) || children::processes().into_iter().any(is_busy),
        }
    }

    fn is_at_work_since(&self, before: &Look, looks: &Looks) -> bool {
        let took = self.at.saturating_duration_since(before.at).as_secs_f64();
        let used = self.cpu.saturating_sub(before.cpu).as_secs_f64();
        let written = self.written_bytes.saturating_sub(before.written_bytes) as f64;
        self.is_busy || written > looks.idle_bytes_per_s * took || used > looks.idle_share * took
    }
}

/// Whether a thread of a process, but for the calling one, runs or waits for a disk; no where the kernel does not tell.
fn is_busy(pid: u32) -> bool {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return false };
    let own = own_thread();
    let busy = |thread: fs::DirEntry| {
        let is_own = thread.file_name().to_str().is_some_and(|name| name == own);
        !is_own && fs::read_to_string(thread.path().join("stat")).is_ok_and(|stat| is_busy_in(&stat))
    };
    threads.flatten().any(busy)
}

/// The calling thread's number, as /proc names it.
fn own_thread() -> String {
    #[cfg(target_os = "linux")]
    return rustix::thread::gettid().as_raw_nonzero().to_string();
    #[cfg(not(target_os = "linux"))]
    return String::new();
}

/// The state in a line of /proc/PID/task/TID/stat: the field behind the name in parentheses, which may hold anything.
fn is_busy_in(stat: &str) -> bool {
    let state = stat.rsplit_once(')').map(|(_, fields)| fields.trim_start());
    state.is_some_and(|state| state.starts_with(['R', 'D']))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether looks in this order come to rest, and how many of them that took.
    fn after(quiet: u32, looks: &[bool]) -> (bool, usize) {
        let mut taken = 0;
        let at_rest = comes_to_rest(quiet, || {
            taken += 1;
            looks.get(taken - 1).copied()
        });
        (at_rest, taken)
    }

    #[test]
    fn rest_comes_after_so_many_looks_without_work_and_not_before() {
        assert_eq!(after(3, &[false; 5]), (true, 3));
        // Work begins the count anew.
        assert_eq!(after(3, &[false, false, true, false, false, false]), (true, 6));
        assert_eq!(after(3, &[true; 50]), (false, 51));
        assert_eq!(after(3, &[false, false, true].repeat(9)), (false, 28), "it pauses, and is not at rest");
    }

    #[test]
    fn a_thread_s_state_is_found_behind_any_name() {
        assert!(is_busy_in("7 (a) S (b) R 1 7"));
        assert!(is_busy_in("7 (compaction) D 1 7"));
        assert!(!is_busy_in("7 (R) S 1 7"));
        assert!(!is_busy_in("7 (a"));
    }

    #[test]
    fn work_of_another_thread_is_seen() {
        let before = Look { at: Instant::now(), cpu: Duration::ZERO, written_bytes: 5, is_busy: false };
        let later = |cpu_ms: u64, written_bytes: u64, is_busy: bool| Look {
            at: before.at + Duration::from_millis(100),
            cpu: Duration::from_millis(cpu_ms),
            written_bytes,
            is_busy,
        };
        assert!(!later(4, 5, false).is_at_work_since(&before, &OF_ENGINES));
        assert!(later(6, 5, false).is_at_work_since(&before, &OF_ENGINES));
        assert!(later(0, 6, false).is_at_work_since(&before, &OF_ENGINES));
        assert!(later(0, 5, true).is_at_work_since(&before, &OF_ENGINES));
        // One that wakes up now and then, a tick of the kernel's and twenty eventfds, is at rest.
        assert!(!later(10, 5 + 20 * 8, false).is_at_work_since(&before, &OF_SERVERS));
        assert!(later(20, 5, false).is_at_work_since(&before, &OF_SERVERS));
        assert!(later(0, 5 + 4_096, false).is_at_work_since(&before, &OF_SERVERS));
        // Of nine, each may.
        assert!(!later(0, 5 + 4_096, false).is_at_work_since(&before, &looks(9)));
        assert!(later(0, 5 + 9 * 4_096, false).is_at_work_since(&before, &looks(9)));
        assert!(later(0, 5, true).is_at_work_since(&before, &OF_SERVERS));
    }
}
