//! One trial's process: started in a process group of its own, watched, and ended when its time is over.

use std::fs::{self, File};
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use rustix::process::{WaitId, WaitIdOptions, waitid};

use crate::lifeline;
use crate::result::Failure;

/// How a process ended.
#[derive(Debug)]
pub enum End {
    /// By itself, and well.
    Well,
    /// By itself or a signal, not well.
    Badly {
        /// What kind of failure.
        reason: Failure,
        /// What happened.
        message: String,
    },
    /// Because the user interrupted the run.
    Interrupted,
}

/// Runs `__trial SPEC OUT` with its output in `log`, until it ends, `timeout` passes, or `interrupted` is set.
///
/// # Errors
/// When it can't be started or waited for.
pub fn run(
    spec: &Path,
    out: &Path,
    log: &Path,
    timeout: Duration,
    interrupted: &AtomicBool,
) -> io::Result<End> {
    let output = File::create(log)?;
    let kills_before = oom_kills();
    let mut child = Command::new(std::env::current_exe()?)
        .arg("__trial")
        .args([spec, out])
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output)
        .process_group(0)
        .spawn()?;
    let stopped = watch(&child, timeout, interrupted)?;
    if stopped.is_some() {
        lifeline::end_group(&child)?;
    }
    let status = child.wait()?;
    Ok(match stopped {
        Some(Stopped::Interrupted) => End::Interrupted,
        Some(Stopped::TimedOut) => End::Badly {
            reason: Failure::TimedOut,
            message: format!("took longer than the limit of {timeout:?} (--timeout)"),
        },
        None => judge(status, oom_kills() > kills_before, log),
    })
}

enum Stopped {
    TimedOut,
    Interrupted,
}

/// Waits until the process has ended by itself (`None`), or must be stopped. It is not reaped here, so that its number
/// stays its own until the caller waits for it.
fn watch(child: &Child, timeout: Duration, interrupted: &AtomicBool) -> io::Result<Option<Stopped>> {
    let ended = notify_of_end(child)?;
    let start = Instant::now();
    loop {
        match ended.recv_timeout(Duration::from_millis(100)) {
            Ok(()) | Err(RecvTimeoutError::Disconnected) => return Ok(None),
            Err(RecvTimeoutError::Timeout) if interrupted.load(Ordering::Relaxed) => {
                return Ok(Some(Stopped::Interrupted));
            }
            Err(RecvTimeoutError::Timeout) if start.elapsed() >= timeout => {
                return Ok(Some(Stopped::TimedOut));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

fn notify_of_end(child: &Child) -> io::Result<Receiver<()>> {
    let pid = lifeline::pid(child)?;
    let (sender, receiver) = channel();
    std::thread::Builder::new().name("wait".into()).spawn(move || {
        while let Err(error) = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
            if error != rustix::io::Errno::INTR {
                break;
            }
        }
        // Nobody listens any more when the trial was stopped.
        let _ = sender.send(());
    })?;
    Ok(receiver)
}

fn judge(status: ExitStatus, memory_ran_out: bool, log: &Path) -> End {
    if status.success() {
        return End::Well;
    }
    let last = last_words(log);
    match status.signal() {
        Some(9) if memory_ran_out => {
            End::Badly { reason: Failure::OutOfMemory, message: "was killed because memory ran out".into() }
        }
        Some(signal) => {
            End::Badly { reason: Failure::Crashed, message: format!("was ended by signal {signal}{last}") }
        }
        None => {
            let code = status.code().unwrap_or_default();
            End::Badly { reason: Failure::Crashed, message: format!("ended with exit code {code}{last}") }
        }
    }
}

/// What a process said last in its log, as a clause to be added to how it ended.
pub(super) fn last_words(log: &Path) -> String {
    let text = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let last = text.lines().rev().find(|line| !line.trim().is_empty());
    last.map_or_else(String::new, |line| format!("; its last words: {}", line.trim()))
}

/// How many processes the kernel has killed for memory since it was started.
fn oom_kills() -> u64 {
    fs::read_to_string("/proc/vmstat")
        .ok()
        .and_then(|text| text.lines().find_map(|line| line.strip_prefix("oom_kill ")?.trim().parse().ok()))
        .unwrap_or(0)
}
