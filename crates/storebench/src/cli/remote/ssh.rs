//! A running command on the other machine: its output, line by line, and its end.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use storebench_core::error::{Error, Exit, Result};

use super::host::Host;
use crate::cli::output::print_note;

/// How often an interrupt is checked for.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// Lines of standard error that are kept.
const MAX_LINES: usize = 20;

/// A running command. Dropping it ends the command.
#[derive(Debug)]
pub struct Ssh {
    child: Child,
    complaints: ErrorOutput,
}

impl Ssh {
    pub fn start(host: &Host, command: &mut Command) -> Result<(Ssh, ChildStdin, ChildStdout)> {
        let mut child = command.spawn().map_err(|error| host.program_error(&error))?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(input), Some(output), Some(errors)) = pipes else {
            return Err(host.error(&format!("{} was started without pipes", host.program())));
        };
        let complaints = ErrorOutput::default();
        complaints.collect(BufReader::new(errors));
        Ok((Ssh { child, complaints }, input, output))
    }

    /// Shows standard error as it comes from now on.
    pub fn speak(&self) {
        self.complaints.speak();
    }

    /// Waits for its end; `false` if it did not come in time.
    pub fn wait_within(&mut self, timeout: Duration) -> bool {
        let deadline = Instant::now() + timeout;
        while Instant::now() < deadline {
            if matches!(self.child.try_wait(), Ok(Some(_)) | Err(_)) {
                return true;
            }
            std::thread::sleep(CHECK_INTERVAL);
        }
        false
    }

    /// Waits for its end, or ends it on an interrupt, with [`Exit::Interrupted`].
    fn wait(&mut self, interrupted: &AtomicBool) -> Result<Option<i32>> {
        loop {
            if interrupted.load(Ordering::Relaxed) {
                return Err(Error::new(Exit::Interrupted, "interrupted before the run began"));
            }
            if let Ok(Some(status)) = self.child.try_wait() {
                return Ok(status.code());
            }
            std::thread::sleep(CHECK_INTERVAL);
        }
    }

    /// The last line of its standard error.
    pub fn complaint(&mut self) -> Option<String> {
        // Output from before its end may still arrive.
        if self.wait_within(Duration::from_secs(1)) {
            self.complaints.finish();
        }
        self.complaints.last()
    }
}

impl Drop for Ssh {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a script to its end, with some bytes as its input; returns its output after the mark, line by line, or [`Exit::Unreachable`].
pub fn answers(
    host: &Host,
    script: &str,
    arguments: &[&str],
    input: &[u8],
    interrupted: &AtomicBool,
) -> Result<Vec<String>> {
    let (mut ssh, mut pipe, output) = Ssh::start(host, &mut host.command(script, arguments))?;
    let reader = std::thread::spawn(move || {
        let lines = BufReader::new(output).lines().map_while(std::io::Result::ok);
        let answer = |line: String| line.strip_prefix(super::shell::MARK).map(str::to_owned);
        lines.filter_map(answer).collect::<Vec<_>>()
    });
    let status = std::thread::scope(|scope| {
        scope.spawn(move || {
            // A command that ends early reports the reason itself.
            let _ = pipe.write_all(input);
        });
        let status = ssh.wait(interrupted);
        if status.is_err() {
            let _ = ssh.child.kill();
        }
        status
    })?;
    let answers = reader.join().unwrap_or_default();
    match status {
        Some(0) if !answers.is_empty() => Ok(answers),
        _ => Err(host.error(
            &ssh.complaint().unwrap_or_else(|| format!("{} ended without an answer", host.program())),
        )),
    }
}

/// A command's standard error: kept, or shown as it comes.
#[derive(Debug, Clone, Default)]
struct ErrorOutput {
    state: Arc<Mutex<State>>,
    reader: Arc<Mutex<Option<JoinHandle<()>>>>,
}

#[derive(Debug, Default)]
struct State {
    lines: VecDeque<String>,
    is_shown: bool,
}

impl ErrorOutput {
    fn collect(&self, mut pipe: impl BufRead + Send + 'static) {
        let state = Arc::clone(&self.state);
        let reader = std::thread::spawn(move || {
            let mut line = Vec::new();
            while pipe.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
                let text = String::from_utf8_lossy(&line).trim_end().to_owned();
                line.clear();
                let Ok(mut state) = state.lock() else { return };
                if state.is_shown {
                    print_note(&text);
                }
                if !text.is_empty() {
                    state.lines.push_back(text);
                }
                if state.lines.len() > MAX_LINES {
                    state.lines.pop_front();
                }
            }
        });
        if let Ok(mut slot) = self.reader.lock() {
            *slot = Some(reader);
        }
    }

    fn speak(&self) {
        if let Ok(mut state) = self.state.lock() {
            state.is_shown = true;
        }
    }

    /// Waits a moment for the last output of an ended command: a shared connection that ssh leaves open may hold the pipe.
    fn finish(&self) {
        let deadline = Instant::now() + Duration::from_secs(1);
        let is_finished =
            || self.reader.lock().map_or(true, |reader| reader.as_ref().is_none_or(JoinHandle::is_finished));
        while !is_finished() && Instant::now() < deadline {
            std::thread::sleep(CHECK_INTERVAL);
        }
    }

    fn last(&self) -> Option<String> {
        self.state.lock().ok()?.lines.back().cloned()
    }
}
