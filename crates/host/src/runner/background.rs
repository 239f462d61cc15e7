//! The parent's side of a background load: starts its process, waits until it is at work, and kills it after the trial.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::{WaitId, WaitIdOptions, waitid};

use super::child_process::last_words_in;
use crate::background::Message;
use crate::background::timeline::Timeline;
use storebench_model::cell::Background;
use storebench_model::lifeline;
use storebench_model::result::BackgroundReport;

/// A load that makes no progress for this long during preparation has failed.
const PATIENCE: Duration = Duration::from_secs(30);
/// The longest wait after a trial for a report that shows that the load worked to its end; it starts again with each report
/// of a wait for the disk.
const GRACE: Duration = Duration::from_millis(750);
/// A load that was at work for a smaller share of a trial did not disturb it as required.
const LEAST_AT_WORK_SHARE: f64 = 0.9;

/// The parameters of a load's start.
#[derive(Debug, Clone, Copy)]
pub struct LoadLaunch<'a> {
    /// This program.
    pub program: &'a Path,
    /// The load.
    pub load: Background,
    /// A folder next to the stores' for the load's files, which the next load uses too.
    pub folder: &'a Path,
    /// The log of its errors.
    pub log: &'a Path,
}

/// The outcome of a start.
#[derive(Debug)]
pub enum LoadStart {
    /// The load is at work.
    AtWork(Box<RunningLoad>),
    /// This machine lacks what it needs.
    Unsupported(String),
    /// It failed.
    Failed(String),
    /// The user interrupted the run.
    Interrupted,
}

/// A load at work. Dropping it kills its process and all that it started.
#[derive(Debug)]
pub struct RunningLoad {
    process: LoadProcess,
    name: Background,
    description: String,
    unit: String,
    timeline: Timeline,
    log: PathBuf,
}

/// A load's part in a trial that has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct FinishedLoad {
    /// The report that goes into the result.
    pub report: BackgroundReport,
    /// Why the trial was not disturbed as required, if so.
    pub complaint: Option<String>,
}

impl RunningLoad {
    /// Waits until the load that was launched as `process` is at work.
    pub fn start(launch: LoadLaunch<'_>, process: LoadProcess, interrupted: &AtomicBool) -> LoadStart {
        let LoadLaunch { load: name, log, .. } = launch;
        let mut timeline = Timeline::default();
        let mut at_work = None;
        let mut last_progress = Instant::now();
        loop {
            if interrupted.load(Ordering::Relaxed) {
                return LoadStart::Interrupted;
            }
            match process.messages.recv_timeout(Duration::from_millis(100)) {
                Ok(Message::AtWork { description, unit }) => {
                    at_work = Some((description, unit));
                    timeline = Timeline::default();
                }
                Ok(Message::Progress { at_ns, done, waiting }) if timeline.push(at_ns, done, waiting) => {
                    last_progress = Instant::now();
                    if let Some((description, unit)) = at_work {
                        let log = log.to_path_buf();
                        let load = RunningLoad { process, name, description, unit, timeline, log };
                        return LoadStart::AtWork(Box::new(load));
                    }
                }
                Ok(Message::Unsupported { why }) => return LoadStart::Unsupported(why),
                Ok(Message::Failed { why }) => {
                    return LoadStart::Failed(format!("the background load {name} did not start: {why}"));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    let ending = process.describe_end(log);
                    return LoadStart::Failed(format!("the background load {name} did not start: {ending}"));
                }
                Ok(Message::Progress { .. }) | Err(RecvTimeoutError::Timeout) => {}
            }
            if last_progress.elapsed() > PATIENCE {
                let message = format!("the background load {name} made no progress for {PATIENCE:?}");
                return LoadStart::Failed(message);
            }
        }
    }

    /// The number of its process.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Reports the load's work from `from_ns` to `to_ns` ([`crate::background::now_ns`]), a span that has just ended, and kills the load.
    pub fn finish(mut self, from_ns: u64, to_ns: u64) -> FinishedLoad {
        let ended = self.read_until(to_ns);
        let at_work_share = self.timeline.active_share(from_ns, to_ns).min(1.0);
        let name = self.name;
        let complaint = match ended {
            Some(ending) => Some(format!("the background load {name} ended during the trial: {ending}")),
            None if at_work_share < LEAST_AT_WORK_SHARE => Some(format!(
                "the background load {name} was running during only {:.0} % of the trial",
                at_work_share * 100.0
            )),
            None => None,
        };
        let report = BackgroundReport {
            description: std::mem::take(&mut self.description),
            unit: std::mem::take(&mut self.unit),
            progress: self.timeline.progress(from_ns, to_ns),
            at_work_share,
        };
        FinishedLoad { report, complaint }
    }

    /// Reads all reports up to one that shows progress after `to_ns`; returns how the load ended, if it did.
    fn read_until(&mut self, to_ns: u64) -> Option<String> {
        let last_deadline = Instant::now() + PATIENCE;
        let mut deadline = Instant::now() + GRACE;
        while self.timeline.last_progress_ns.is_none_or(|last| last < to_ns) {
            match self.process.messages.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(Message::Progress { at_ns, done, waiting }) => {
                    self.timeline.push(at_ns, done, waiting);
                    if waiting {
                        deadline = last_deadline.min(Instant::now() + GRACE);
                    }
                }
                Ok(Message::Failed { why } | Message::Unsupported { why }) => return Some(why),
                Ok(Message::AtWork { .. }) => {}
                Err(RecvTimeoutError::Timeout) => return None,
                Err(RecvTimeoutError::Disconnected) => return Some(self.process.describe_end(&self.log)),
            }
        }
        None
    }
}

/// A load's process, in a separate process group. Dropping it kills the group.
#[derive(Debug)]
pub struct LoadProcess {
    child: Child,
    messages: Receiver<Message>,
    reader: Option<JoinHandle<()>>,
}

impl LoadProcess {
    /// Starts a load's process, with its errors in `output`, the open log.
    pub fn start(launch: LoadLaunch<'_>, output: File) -> io::Result<LoadProcess> {
        let mut child = Command::new(launch.program)
            .arg0(lifeline::NAME)
            .arg("__background")
            .arg(launch.load.to_string())
            .arg(launch.folder)
            .arg(std::process::id().to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(output)
            .process_group(0)
            .spawn()?;
        let output = child.stdout.take();
        let (sender, messages) = channel();
        let mut process = LoadProcess { child, messages, reader: None };
        let forward_messages = move || {
            let lines = output.into_iter().flat_map(|output| BufReader::new(output).lines());
            for line in lines.map_while(Result::ok) {
                // An incomplete line is the last one: the process has been killed.
                if let Ok(message) = serde_json::from_str(&line)
                    && sender.send(message).is_err()
                {
                    return;
                }
            }
        };
        process.reader = Some(std::thread::Builder::new().name("background".into()).spawn(forward_messages)?);
        Ok(process)
    }

    /// The process's number.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// How a process whose output has ended itself ended. It is not reaped, so that no other process gets its number.
    fn describe_end(&self, log: &Path) -> String {
        let status = lifeline::pid(&self.child)
            .and_then(|pid| Ok(waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)?));
        let ending = match status {
            Ok(Some(status)) => match (status.terminating_signal(), status.exit_status()) {
                (Some(signal), _) => format!("it was killed by signal {signal}"),
                (None, code) => format!("it ended with exit code {}", code.unwrap_or_default()),
            },
            _ => "its output ended".into(),
        };
        let last_output = last_words_in(log);
        last_output.map_or(ending.clone(), |last_output| format!("{ending}; its last output: {last_output}"))
    }
}

impl Drop for LoadProcess {
    fn drop(&mut self) {
        // Nothing more can be done about a process that can't be killed.
        let _ = lifeline::end_group(&self.child);
        let _ = self.child.wait();
        let _ = self.reader.take().map(JoinHandle::join);
    }
}
