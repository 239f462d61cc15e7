//! One trial's process: started in a separate process group, watched, and killed when its time is over.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use rustix::process::{WaitId, WaitIdOptions, waitid};

use storebench_core::workload::load_progress::LoadProgress;
use storebench_core::workload::progress_shm;
use storebench_core::workload::step::{BegunSteps, TrialStep};
use storebench_model::error::{Error, Exit};
use storebench_model::result::Failure;
use storebench_model::{lifeline, read_limited};

/// The bytes at the end of a log that are searched for a process's last message.
const LAST_BYTES: u64 = 1 << 20;

#[derive(Debug)]
pub enum ProcessEnd {
    Well,
    /// It exited with an error, or a signal killed it.
    Badly {
        reason: Failure,
        message: String,
        signal: Option<i32>,
    },
    /// It exited without a result, as the run's disk could not take it.
    Unsaved(io::Error),
}

/// The error of what the user interrupts: a trial without a result.
pub fn interruption() -> Error {
    Error::new(Exit::Interrupted, "interrupted")
}

/// The time that a process may take.
#[derive(Debug, Clone, Copy)]
pub struct TimeLimit {
    pub whole: Duration,
    /// The extra time for work that is bounded by time, such as reading back.
    pub room: Duration,
    /// The name of the limit in errors.
    pub name: &'static str,
}

/// Runs `__trial SPEC OUT` with its output in `output`, the open file `log`, until it ends, its limit or that of one of its steps
/// passes, or `interrupted` is set: then it returns `None`. The program and arguments in `launcher`, if any, start it and must exec it in
/// their place. Now and then `report_progress` gets the progress of its loading.
pub fn run(
    launcher: &[OsString],
    (spec, out): (&Path, &Path),
    (log, output): (&Path, File),
    limit: TimeLimit,
    interrupted: &AtomicBool,
    report_progress: &dyn Fn(Option<LoadProgress>),
) -> io::Result<Option<ProcessEnd>> {
    let kills_before = oom_kills();
    let program = lifeline::this_program()?;
    let mut command = match launcher {
        [] => {
            let mut command = Command::new(program);
            command.arg0(lifeline::NAME);
            command
        }
        // A launcher has another link of that name.
        [first, launcher_arguments @ ..] => {
            let mut command = Command::new(first);
            command.args(launcher_arguments).arg(fs::canonicalize(program)?);
            command
        }
    };
    let shared = progress_shm::file();
    let input = match &shared {
        Some(file) => Stdio::from(file.try_clone()?),
        None => Stdio::null(),
    };
    let mut child = command
        .arg("__trial")
        .args([spec, out])
        .stdin(input)
        .stdout(output.try_clone()?)
        .stderr(output)
        .process_group(0)
        .spawn()?;
    let mut last = None;
    let read_step = || {
        let progress = shared.as_ref().and_then(LoadProgress::read);
        if progress != last {
            last = progress;
            report_progress(progress);
        }
        shared.as_ref().and_then(BegunSteps::read)
    };
    let stopped = watch(&child, limit, interrupted, read_step)?;
    // With everything that a store has forked: nothing outlives its trial.
    let ended = lifeline::end_group(&child);
    if stopped.is_some() {
        ended?;
    }
    let status = child.wait()?;
    Ok(match stopped {
        Some(StopCause::Interrupted) => None,
        Some(StopCause::TimedOut(message)) => {
            Some(ProcessEnd::Badly { reason: Failure::TimedOut, message, signal: None })
        }
        None => {
            let is_silent = fs::symlink_metadata(out).is_ok_and(|report| report.len() == 0);
            Some(judge(status, is_silent, oom_kills() > kills_before, log))
        }
    })
}

enum StopCause {
    TimedOut(String),
    Interrupted,
}

/// Why a process is stopped that has worked for `worked`, and for the second duration on its last step.
fn overdue(limit: TimeLimit, worked: Duration, step: Option<(TrialStep, Duration)>) -> Option<String> {
    let exceeded =
        step.and_then(|(step, took)| step.limit().filter(|limit| took >= *limit).map(|limit| (step, limit)));
    if let Some((step, limit)) = exceeded {
        return Some(format!("{} took longer than its limit of {limit:?}", step.name()));
    }
    let TimeLimit { whole, room, name } = limit;
    let doing = step.map(|(step, _)| format!(", while it was {}", step.name())).unwrap_or_default();
    (worked >= whole.saturating_add(room))
        .then(|| format!("took longer than the limit of {whole:?} ({name}){doing}"))
}

/// Waits until the process has exited (`None`), or must be stopped. It is not reaped here, so that no other process
/// gets its number until the caller waits for it.
fn watch(
    child: &Child,
    limit: TimeLimit,
    interrupted: &AtomicBool,
    mut read_step: impl FnMut() -> Option<BegunSteps>,
) -> io::Result<Option<StopCause>> {
    let end_receiver = notify_of_end(child)?;
    let start = Instant::now();
    let (mut last_step, mut last_step_start) = (None, start);
    loop {
        match end_receiver.recv_timeout(Duration::from_millis(100)) {
            Ok(()) | Err(RecvTimeoutError::Disconnected) => return Ok(None),
            Err(RecvTimeoutError::Timeout) if interrupted.load(Ordering::Relaxed) => {
                return Ok(Some(StopCause::Interrupted));
            }
            Err(RecvTimeoutError::Timeout) => {
                let step = read_step();
                if step != last_step {
                    (last_step, last_step_start) = (step, Instant::now());
                }
                let step_and_time = last_step.map(|BegunSteps(step, _)| (step, last_step_start.elapsed()));
                if let Some(why) = overdue(limit, start.elapsed(), step_and_time) {
                    return Ok(Some(StopCause::TimedOut(why)));
                }
            }
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
        // Nobody listens any more if the trial was stopped.
        let _ = sender.send(());
    })?;
    Ok(receiver)
}

fn judge(status: ExitStatus, is_silent: bool, memory_ran_out: bool, log: &Path) -> ProcessEnd {
    if status.success() && !is_silent {
        return ProcessEnd::Well;
    }
    let last = last_words_in(log);
    let last_output = last.as_ref().map_or(String::new(), |line| format!("; its last output: {line}"));
    let was_refused_memory =
        last.as_deref().is_some_and(|line| REFUSED_MEMORY.iter().any(|words| line.contains(words)));
    match status.signal() {
        Some(9) if memory_ran_out => {
            let message = "was killed because memory ran out".into();
            ProcessEnd::Badly { reason: Failure::OutOfMemory, message, signal: Some(9) }
        }
        Some(signal) => {
            let reason = if was_refused_memory { Failure::OutOfMemory } else { Failure::Crashed };
            let message = format!("was killed by signal {signal}{last_output}");
            ProcessEnd::Badly { reason, message, signal: Some(signal) }
        }
        None => {
            let code = status.code().unwrap_or_default();
            if let Some((_, kind)) = UNSAVED.iter().find(|(exit, _)| i32::from(exit.code()) == code) {
                return ProcessEnd::Unsaved((*kind).into());
            }
            let reason = if is_our_own(last.as_deref()) { Failure::Harness } else { Failure::Crashed };
            // The harness reports before it exits successfully: other code has ended the process.
            let early = if code == 0 { " before it had a result" } else { "" };
            let message = format!("ended with exit code {code}{early}{last_output}");
            ProcessEnd::Badly { reason, message, signal: None }
        }
    }
}

/// Whether the last message is storebench's own fatal error: no engine's messages begin like that.
fn is_our_own(last: Option<&str>) -> bool {
    last.is_some_and(|line| line.starts_with(&format!("{}: ", lifeline::NAME)))
}

/// The errors for which a trial could not write its report, by its exit.
const UNSAVED: [(Exit, io::ErrorKind); 3] = [
    (Exit::Permission, io::ErrorKind::PermissionDenied),
    (Exit::ReadOnly, io::ErrorKind::ReadOnlyFilesystem),
    (Exit::DiskFull, io::ErrorKind::StorageFull),
];

/// Messages of Rust, C++ and the system about a lack of memory.
const REFUSED_MEMORY: [&str; 3] = ["memory allocation of", "std::bad_alloc", "Cannot allocate memory"];

/// The last words of the process that wrote a log.
pub(super) fn last_words_in(log: &Path) -> Option<String> {
    last_message(&String::from_utf8_lossy(&read_limited::end(log, LAST_BYTES)))
}

/// The last message of a process: the message of a panic, or the last line that isn't empty. Backtraces and Rust's note about them
/// are left to readers of the log.
fn last_message(log: &str) -> Option<String> {
    let text = log.split("stack backtrace:").next().unwrap_or(log);
    let is_message = |line: &&str| !line.is_empty() && !line.starts_with("note: run with `RUST_BACKTRACE=");
    let mut lines = text.lines().map(str::trim).filter(is_message);
    let after_panic = lines.clone().skip_while(|line| !line.contains(" panicked at ")).nth(1);
    after_panic.or_else(|| lines.next_back()).map(str::to_owned)
}

/// The number of processes that the kernel has killed for memory since it was started.
fn oom_kills() -> u64 {
    let text = fs::read_to_string("/proc/vmstat").unwrap_or_default();
    text.lines().find_map(|line| line.strip_prefix("oom_kill ")?.trim().parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge_log(wait_status: i32, log: &str) -> (Failure, String) {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), log).unwrap();
        match judge(ExitStatus::from_raw(wait_status), true, false, file.path()) {
            ProcessEnd::Badly { reason, message, .. } => (reason, message),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_step_has_its_own_limit_and_its_name_is_in_the_error() {
        let limit =
            TimeLimit { whole: Duration::from_secs(600), room: Duration::from_secs(60), name: "--timeout" };
        let seconds = Duration::from_secs;
        assert_eq!(overdue(limit, seconds(119), Some((TrialStep::Opening, seconds(119)))), None);
        let why = overdue(limit, seconds(300), Some((TrialStep::Opening, seconds(120))));
        assert_eq!(why.as_deref(), Some("opening the store took longer than its limit of 120s"));
        assert_eq!(overdue(limit, seconds(659), Some((TrialStep::Working, seconds(659)))), None);
        let why = overdue(limit, seconds(660), Some((TrialStep::Settling, seconds(1))));
        let expected =
            "took longer than the limit of 600s (--timeout), while it was letting the store settle";
        assert_eq!(why.as_deref(), Some(expected));
        let why = overdue(limit, seconds(660), None);
        assert_eq!(why.as_deref(), Some("took longer than the limit of 600s (--timeout)"));
    }

    #[test]
    fn the_last_words_tell_why() {
        let panic = "thread 'x' (1) panicked at a.rs:1:1:\npage 7 is gone\nstack backtrace:\n 0: main\n";
        let ours = "storebench: reading trial.json: Input/output error (os error 5)\n";
        let early = "ended with exit code 0 before it had a result; its last output: bye";
        let harness = format!("ended with exit code 1; its last output: {}", ours.trim());
        let damaged = "ended with exit code 1; its last output: \x1b damaged";
        for (wait_status, log, reason, message) in [
            (1 << 8, "opening\n\x1b damaged\n\n", Failure::Crashed, damaged),
            (101 << 8, panic, Failure::Crashed, "ended with exit code 101; its last output: page 7 is gone"),
            // No store is blamed for what is ours.
            (1 << 8, ours, Failure::Harness, harness.as_str()),
            (6, "", Failure::Crashed, "was killed by signal 6"),
            (0, "bye\n", Failure::Crashed, early),
        ] {
            assert_eq!(judge_log(wait_status, log), (reason, message.to_owned()));
        }
    }

    #[test]
    fn the_signal_or_the_exit_code_of_a_process_says_what_it_lacked() {
        let log = tempfile::NamedTempFile::new().unwrap();
        let judge_end = |status, ran_out| judge(ExitStatus::from_raw(status), true, ran_out, log.path());
        let end = judge_end(9, true);
        let ProcessEnd::Badly { reason, signal, .. } = &end else { panic!("{end:?}") };
        // It is known by its signal, though memory ran out elsewhere.
        assert_eq!((*reason, *signal), (Failure::OutOfMemory, Some(9)));
        let end = judge_end(17 << 8, false);
        let is_full = |error: &io::Error| error.kind() == io::ErrorKind::StorageFull;
        assert!(matches!(&end, ProcessEnd::Unsaved(error) if is_full(error)), "{end:?}");
    }

    #[test]
    fn a_process_that_was_refused_memory_ran_out_of_it() {
        let refused = "memory allocation of 9 bytes failed\n";
        for log in [
            format!("{refused}note: run with `RUST_BACKTRACE=1` environment\n"),
            format!("{refused}stack backtrace:\n 0: x\n"),
            "terminate called\n  what():  std::bad_alloc\n".into(),
        ] {
            assert_eq!(judge_log(6, &log).0, Failure::OutOfMemory, "{log}");
        }
        assert_eq!(judge_log(11, "segmentation fault\n").0, Failure::Crashed);
    }
}
