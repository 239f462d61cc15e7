//! A running command on the other machine: its output, line by line, and its end.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use storebench_model::error::{Error, Exit, Result};

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
    complaints: Arc<Mutex<ErrorOutput>>,
    reader: JoinHandle<()>,
}

impl Ssh {
    pub fn start(host: &Host, command: &mut Command) -> Result<(Ssh, ChildStdin, ChildStdout)> {
        let mut child = command.spawn().map_err(|error| host.program_error(&error))?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(input), Some(output), Some(errors)) = pipes else {
            return Err(host.error(&format!("{} was started without pipes", host.program())));
        };
        let complaints = Arc::new(Mutex::new(ErrorOutput::default()));
        let collected = Arc::clone(&complaints);
        let reader = std::thread::spawn(move || collect(BufReader::new(errors), &collected));
        Ok((Ssh { child, complaints, reader }, input, output))
    }

    /// Shows standard error as it comes from now on.
    pub fn speak(&self) {
        if let Ok(mut complaints) = self.complaints.lock() {
            complaints.is_shown = true;
        }
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
        // Output from before its end may still arrive. The pipe need not end: a shared connection that ssh leaves open may hold it.
        if self.wait_within(Duration::from_secs(1)) {
            let deadline = Instant::now() + Duration::from_secs(1);
            while !self.reader.is_finished() && Instant::now() < deadline {
                std::thread::sleep(CHECK_INTERVAL);
            }
        }
        self.complaints.lock().ok()?.lines.back().cloned()
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
#[derive(Debug, Default)]
struct ErrorOutput {
    lines: VecDeque<String>,
    is_shown: bool,
}

fn collect(mut pipe: impl BufRead, output: &Mutex<ErrorOutput>) {
    let mut line = Vec::new();
    while pipe.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
        let text = String::from_utf8_lossy(&line).trim_end().to_owned();
        line.clear();
        let Ok(mut output) = output.lock() else { return };
        if output.is_shown {
            print_note(&text);
        }
        if !text.is_empty() {
            output.lines.push_back(text);
        }
        if output.lines.len() > MAX_LINES {
            output.lines.pop_front();
        }
    }
}
