//! Rest: whether all background work of the store has ended, such as compactions after loading. It is waited for, up to a limit,
//! not forced. An engine's threads, and a server's processes, are busy if one runs or waits for a disk, if together they have
//! used more than a twentieth of a processor since the last look, or if anything was written. Servers may use a tenth, and write
//! what threads write to wake one another, and members of a cluster to hear from the others. The calling thread is not counted,
//! so it must be the only one of the harness at work.

use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::time::ClockId;
use storebench_model::result::Rest;

use crate::measure::{children, counters, process};
use storebench_model::server::processes;

pub const AT_MOST: Duration = Duration::from_secs(30);
struct RestRule {
    step: Duration,
    /// Looks in a row without work that are rest.
    quiet_steps: u32,
    /// The share of a processor that is no work.
    idle_share: f64,
    /// Bytes per second that are no work, for each of several servers.
    idle_bytes_per_s: f64,
}

/// 50 ms: an engine's threads begin the next compaction when the last one ends.
const ENGINE_RULE: RestRule =
    RestRule { step: Duration::from_millis(5), quiet_steps: 10, idle_share: 0.05, idle_bytes_per_s: 0.0 };
/// 1.2 s: server processes wake up many times a second, and the kernel counts their time in ticks of 10 ms, so that only a longer
/// step shows how busy they are. Several may be one store. An eventfd, by which a thread wakes another, takes eight bytes: timers
/// in Go programs write to one many times a second. Members of a cluster may send each other some 2 kB many times a second.
const SERVER_RULE: RestRule = RestRule {
    step: Duration::from_millis(400),
    quiet_steps: 3,
    idle_share: 0.1,
    idle_bytes_per_s: 16_000.0,
};

/// The shortest wait, for an idle store; `server` if a private server is one.
pub fn shortest(server: bool) -> Duration {
    let rule = rest_rule(usize::from(server));
    rule.step * rule.quiet_steps
}

fn rest_rule(servers: usize) -> RestRule {
    match servers {
        0 => ENGINE_RULE,
        _ => RestRule { idle_bytes_per_s: servers as f64 * SERVER_RULE.idle_bytes_per_s, ..SERVER_RULE },
    }
}

pub fn wait() -> Rest {
    let rule = rest_rule(processes::list().len());
    let start = Instant::now();
    let mut before = ActivitySample::now();
    let at_rest = wait_until_quiet(rule.quiet_steps, || {
        if start.elapsed() >= AT_MOST {
            return None;
        }
        sleep(rule.step);
        let now = ActivitySample::now();
        let is_at_work = now.is_at_work_since(&before, &rule);
        before = now;
        Some(is_at_work)
    });
    Rest { took_ns: start.elapsed().as_nanos() as u64, at_rest }
}

/// Whether `quiet_steps` looks in a row find no work before the end; `is_at_work` gives what a look finds, and `None` at the end.
fn wait_until_quiet(quiet_steps: u32, mut is_at_work: impl FnMut() -> Option<bool>) -> bool {
    let mut quiet_so_far = 0_u32;
    while quiet_so_far < quiet_steps {
        match is_at_work() {
            Some(true) => quiet_so_far = 0,
            Some(false) => quiet_so_far += 1,
            None => return false,
        }
    }
    true
}

/// What others than the calling thread do at one moment.
struct ActivitySample {
    taken_at: Instant,
    cpu: Duration,
    written_bytes: u64,
    is_busy: bool,
}

impl ActivitySample {
    fn now() -> ActivitySample {
        let own_cpu = rustix::time::clock_gettime(ClockId::ThreadCPUTime);
        let own_cpu = Duration::try_from(own_cpu).unwrap_or_default();
        ActivitySample {
            taken_at: Instant::now(),
            cpu: process::cpu_now().saturating_sub(own_cpu),
            written_bytes: counters::written_bytes().unwrap_or_default(),
            is_busy: is_busy(std::process::id()) || children::processes().into_iter().any(is_busy),
        }
    }

    fn is_at_work_since(&self, before: &ActivitySample, rule: &RestRule) -> bool {
        let wall_s = self.taken_at.saturating_duration_since(before.taken_at).as_secs_f64();
        let cpu_s = self.cpu.saturating_sub(before.cpu).as_secs_f64();
        let written = self.written_bytes.saturating_sub(before.written_bytes) as f64;
        self.is_busy || written > rule.idle_bytes_per_s * wall_s || cpu_s > rule.idle_share * wall_s
    }
}

/// Whether a thread of a process, other than this one, runs or waits for a disk; `false` if unknown.
fn is_busy(pid: u32) -> bool {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return false };
    let own_thread_id = own_thread();
    let is_busy_thread = |thread: fs::DirEntry| {
        let is_own_thread = thread.file_name().to_str().is_some_and(|name| name == own_thread_id);
        !is_own_thread && fs::read_to_string(thread.path().join("stat")).is_ok_and(|stat| is_busy_in(&stat))
    };
    threads.flatten().any(is_busy_thread)
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
    fn wait_for_rest(quiet_steps: u32, looks: &[bool]) -> (bool, usize) {
        let mut look_count = 0;
        let at_rest = wait_until_quiet(quiet_steps, || {
            look_count += 1;
            looks.get(look_count - 1).copied()
        });
        (at_rest, look_count)
    }

    #[test]
    fn rest_comes_after_so_many_looks_without_work_and_not_before() {
        assert_eq!(wait_for_rest(3, &[false; 5]), (true, 3));
        // Work begins the count anew.
        assert_eq!(wait_for_rest(3, &[false, false, true, false, false, false]), (true, 6));
        assert_eq!(wait_for_rest(3, &[true; 50]), (false, 51));
        // It pauses, and is not at rest.
        assert_eq!(wait_for_rest(3, &[false, false, true].repeat(9)), (false, 28));
    }

    #[test]
    fn a_thread_s_state_is_found_behind_any_name() {
        let stats = ["7 (a) S (b) R 1 7", "7 (compaction) D 1 7", "7 (R) S 1 7", "7 (a"];
        assert_eq!(stats.map(is_busy_in), [true, true, false, false]);
    }

    #[test]
    fn work_of_another_thread_is_seen() {
        let start = Instant::now();
        let sample = |at_ms: u64, cpu_ms: u64, written_bytes: u64, is_busy: bool| {
            let (taken_at, cpu) = (start + Duration::from_millis(at_ms), Duration::from_millis(cpu_ms));
            ActivitySample { taken_at, cpu, written_bytes, is_busy }
        };
        let before = sample(0, 0, 5, false);
        let later = |cpu_ms, written_bytes, is_busy| sample(100, cpu_ms, written_bytes, is_busy);
        assert!(!later(4, 5, false).is_at_work_since(&before, &ENGINE_RULE));
        assert!(later(6, 5, false).is_at_work_since(&before, &ENGINE_RULE));
        assert!(later(0, 6, false).is_at_work_since(&before, &ENGINE_RULE));
        assert!(later(0, 5, true).is_at_work_since(&before, &ENGINE_RULE));
        // One that wakes up now and then, a tick of the kernel's and twenty eventfds, is at rest.
        assert!(!later(10, 5 + 20 * 8, false).is_at_work_since(&before, &SERVER_RULE));
        assert!(later(20, 5, false).is_at_work_since(&before, &SERVER_RULE));
        assert!(later(0, 5 + 4_096, false).is_at_work_since(&before, &SERVER_RULE));
        // Nine servers may each.
        assert!(!later(0, 5 + 4_096, false).is_at_work_since(&before, &rest_rule(9)));
        assert!(later(0, 5 + 9 * 4_096, false).is_at_work_since(&before, &rest_rule(9)));
        assert!(later(0, 5, true).is_at_work_since(&before, &SERVER_RULE));
    }
}
