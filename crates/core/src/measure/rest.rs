//! Rest: whether all background work of the store has ended, such as compactions after loading. It is waited for, up to a limit,
//! not forced. An engine's threads, and a server's processes, are busy if one runs or waits for a disk, if together they have
//! used more than a twentieth of a processor since the last look, or if anything was written. Servers may use a tenth, and write
//! what threads write to wake one another, and members of a cluster to hear from the others. The calling thread is not counted,
//! so it must be the only one of the harness at work.

use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::time::ClockId;

use crate::measure::{children, counters, process};
use crate::result::Rest;

pub const AT_MOST: Duration = Duration::from_secs(30);
struct RestRule {
    step: Duration,
    /// Looks in a row without work that are rest.
    quiet: u32,
    /// The share of a processor that is no work.
    idle_share: f64,
    /// Bytes per second that are no work, for each of several servers.
    idle_bytes_per_s: f64,
}

/// 50 ms: an engine's threads begin the next compaction when the last one ends.
const OF_ENGINES: RestRule =
    RestRule { step: Duration::from_millis(5), quiet: 10, idle_share: 0.05, idle_bytes_per_s: 0.0 };
/// 1.2 s: server processes wake up many times a second, and the kernel counts their time in ticks of 10 ms, so that only a longer
/// step shows how busy they are. Several may be one store. An eventfd, by which a thread wakes another, takes eight bytes: timers
/// in Go programs write to one many times a second. Members of a cluster may send each other some 2 kB many times a second.
const OF_SERVERS: RestRule =
    RestRule { step: Duration::from_millis(400), quiet: 3, idle_share: 0.1, idle_bytes_per_s: 16_000.0 };

/// The shortest wait, for an idle store; `server` if a private server is one.
pub fn shortest(server: bool) -> Duration {
    let looks = rest_rule(usize::from(server));
    looks.step * looks.quiet
}

fn rest_rule(servers: usize) -> RestRule {
    match servers {
        0 => OF_ENGINES,
        servers => RestRule { idle_bytes_per_s: servers as f64 * OF_SERVERS.idle_bytes_per_s, ..OF_SERVERS },
    }
}

pub fn wait() -> Rest {
    let looks = rest_rule(children::count());
    let start = Instant::now();
    let mut before = ActivitySample::now();
    let at_rest = comes_to_rest(looks.quiet, || {
        if start.elapsed() >= AT_MOST {
            return None;
        }
        sleep(looks.step);
        let now = ActivitySample::now();
        let is_at_work = now.is_at_work_since(&before, &looks);
        before = now;
        Some(is_at_work)
    });
    Rest { took_ns: start.elapsed().as_nanos() as u64, at_rest }
}

/// Whether `quiet` looks in sequence without work come before the end; `look` gives whether there was work, and `None` at the end.
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

/// What others than the calling thread do at one moment.
struct ActivitySample {
    at: Instant,
    cpu: Duration,
    written_bytes: u64,
    is_busy: bool,
}

impl ActivitySample {
    fn now() -> ActivitySample {
        let own = rustix::time::clock_gettime(ClockId::ThreadCPUTime);
        let own = Duration::try_from(own).unwrap_or_default();
        ActivitySample {
            at: Instant::now(),
            cpu: process::cpu_now().saturating_sub(own),
            written_bytes: counters::written_bytes().unwrap_or_default(),
            is_busy: is_busy(std::process::id()) || children::processes().into_iter().any(is_busy),
        }
    }

    fn is_at_work_since(&self, before: &ActivitySample, looks: &RestRule) -> bool {
        let took = self.at.saturating_duration_since(before.at).as_secs_f64();
        let used = self.cpu.saturating_sub(before.cpu).as_secs_f64();
        let written = self.written_bytes.saturating_sub(before.written_bytes) as f64;
        self.is_busy || written > looks.idle_bytes_per_s * took || used > looks.idle_share * took
    }
}

/// Whether a thread of a process, other than this one, runs or waits for a disk; `false` if unknown.
fn is_busy(pid: u32) -> bool {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return false };
    let own = own_thread();
    let busy = |thread: fs::DirEntry| {
        let is_own = thread.file_name().to_str().is_some_and(|name| name == own);
        !is_own && fs::read_to_string(thread.path().join("stat")).is_ok_and(|stat| is_busy_in(&stat))
    };
    threads.flatten().any(busy)
}

fn own_thread() -> String {
    #[cfg(target_os = "linux")]
    return rustix::thread::gettid().as_raw_nonzero().to_string();
    #[cfg(not(target_os = "linux"))]
    return String::new();
}

/// The state in /proc/PID/task/TID/stat: the field after the name in parentheses, which may hold anything.
fn is_busy_in(stat: &str) -> bool {
    let state = stat.rsplit_once(')').map(|(_, fields)| fields.trim_start());
    state.is_some_and(|state| state.starts_with(['R', 'D']))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether these looks come to rest, and after how many.
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
        let before =
            ActivitySample { at: Instant::now(), cpu: Duration::ZERO, written_bytes: 5, is_busy: false };
        let later = |cpu_ms: u64, written_bytes: u64, is_busy: bool| ActivitySample {
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
        // Nine servers may each.
        assert!(!later(0, 5 + 4_096, false).is_at_work_since(&before, &rest_rule(9)));
        assert!(later(0, 5 + 9 * 4_096, false).is_at_work_since(&before, &rest_rule(9)));
        assert!(later(0, 5, true).is_at_work_since(&before, &OF_SERVERS));
    }
}
