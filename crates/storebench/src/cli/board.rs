//! The other machine's side of `run --remote`. It ends on request, or when that machine is gone; its results stay until that has them.

use std::io::{self, BufRead, BufReader, Stdout};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use clap::{CommandFactory, FromArgMatches};
use serde::de::DeserializeOwned;

use storebench_core::measure::environment;
use storebench_core::workload::load_progress::LoadProgress;
use storebench_host::folder::{self, ResumedRun, RunFolder};
use storebench_host::plan::PlanSource;
use storebench_host::runner::event::{Event, Listener};
use storebench_host::runner::parent::RunEnd;
use storebench_model::error::{Error, Exit, Result};
use storebench_model::result::{FORMAT_VERSION, RunHeader, TrialResult};
use storebench_model::sanitize::plain_json;
use storebench_model::store::StoreDef;

use super::args::{Args, Command, RunArgs};
use super::prepare::StartOutcome;
use super::remote::wire::{self, BoardSignal, KnownTrials, Message, Request, SILENCE};
use super::start::{Start, start};
use super::{resume, runs, signals, usage};

mod client;

/// How often the connection is checked.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);
/// The longest wait for the end of an earlier run.
const RESUME_TIMEOUT: Duration = Duration::from_secs(20);

/// Carries out the request of the machine that started this; every error but the lack of one is sent to that machine.
pub fn main(stores: &[StoreDef], folder: &Path) -> Result<Exit> {
    let interrupted = signals::listen()?;
    let mut out = LineWriter::new(Arc::clone(&interrupted));
    out.send(&Message::Hello { version: env!("CARGO_PKG_VERSION").into(), format: FORMAT_VERSION });
    let (requests, signals) = start_listening(BufReader::new(io::stdin()), Arc::clone(&interrupted));
    let (request, results) = wait_for_request(&requests, &interrupted)?;
    if let Some(task) = &request.client {
        return client::serve(stores, task, folder, out, signals, &interrupted);
    }
    let mut board = Board { stores, runs: folder.join("runs"), out, interrupted: &interrupted, folder: None };
    let outcome = match &request.resume {
        Some(header) => board.resume(header, &results),
        None => board.start(&request),
    };
    let exit = match outcome {
        Ok(RunEnd { interrupted, failed }) => {
            board.out.send(&Message::Ended { interrupted, failed });
            if interrupted { Exit::Interrupted } else { Exit::Success }
        }
        Err(error) => {
            // The other machine can't use the advice on how to resume the run.
            board.out.send(&Message::Failed { exit: error.exit.code(), message: error.message });
            return Ok(error.exit);
        }
    };
    if signals.recv_timeout(SILENCE) == Ok(BoardSignal::Thanks) {
        board.delete()?;
    }
    Ok(exit)
}

/// A request, and the results that the other machine has.
type BoardRequest = (Request, Vec<String>);

/// Listens to the other machine: interrupts the run when it asks for that, is gone, or falls silent. Returns its request, and later
/// messages except signs of life and stop requests.
fn start_listening(
    input: impl BufRead + Send + 'static,
    interrupted: Arc<AtomicBool>,
) -> (Receiver<io::Result<BoardRequest>>, Receiver<BoardSignal>) {
    let ((request_sender, requests), (signal_sender, signals)) = (mpsc::channel(), mpsc::channel());
    let last_heard = Arc::new(Mutex::new(Instant::now()));
    let shared = (Arc::clone(&last_heard), Arc::clone(&interrupted));
    std::thread::spawn(move || {
        let (last_heard, interrupted) = shared;
        while last_heard.lock().is_ok_and(|last_heard| last_heard.elapsed() < SILENCE) {
            std::thread::sleep(CHECK_INTERVAL);
        }
        interrupted.store(true, Ordering::Relaxed);
    });
    std::thread::spawn(move || {
        let mut reader = LineReader { input, last_heard };
        let request = reader.read_request();
        if request_sender.send(request).is_ok() {
            // However it ends, the other machine is gone.
            let _ = reader.listen(&interrupted, &signal_sender);
        }
        interrupted.store(true, Ordering::Relaxed);
    });
    (requests, signals)
}

/// The input, and the time of the last message.
struct LineReader<R> {
    input: R,
    last_heard: Arc<Mutex<Instant>>,
}

impl<R: BufRead> LineReader<R> {
    fn receive<T: DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        let received = wire::receive(&mut self.input)?;
        if let Ok(mut last_heard) = self.last_heard.lock() {
            *last_heard = Instant::now();
        }
        Ok(received)
    }

    fn read_request(&mut self) -> io::Result<BoardRequest> {
        let eof_error = || io::Error::from(io::ErrorKind::UnexpectedEof);
        let request: Request = self.receive()?.ok_or_else(eof_error)?;
        let results =
            (0..request.results).map(|_| self.receive()?.ok_or_else(eof_error)).collect::<io::Result<_>>()?;
        Ok((request, results))
    }

    fn listen(&mut self, interrupted: &AtomicBool, signals: &Sender<BoardSignal>) -> io::Result<()> {
        while let Some(signal) = self.receive()? {
            match signal {
                BoardSignal::Beat => {}
                BoardSignal::Stop => interrupted.store(true, Ordering::Relaxed),
                BoardSignal::Thanks | BoardSignal::Order(_) => drop(signals.send(signal)),
            }
        }
        Ok(())
    }
}

fn wait_for_request(
    requests: &Receiver<io::Result<BoardRequest>>,
    interrupted: &AtomicBool,
) -> Result<BoardRequest> {
    loop {
        match requests.recv_timeout(CHECK_INTERVAL) {
            Ok(request) => return request.map_err(Error::io("reading", Path::new("the request"))),
            Err(RecvTimeoutError::Timeout) if !interrupted.load(Ordering::Relaxed) => {}
            Err(_) => return Err(Error::new(Exit::Interrupted, "interrupted before the run began")),
        }
    }
}

struct Board<'a> {
    stores: &'a [StoreDef],
    runs: PathBuf,
    out: LineWriter,
    interrupted: &'a AtomicBool,
    /// The run's folder, once it exists.
    folder: Option<PathBuf>,
}

impl Board<'_> {
    fn start(&mut self, request: &Request) -> Result<RunEnd> {
        let args = run_args(&request.arguments)?;
        let (runs, stores, interrupted) = (self.runs.clone(), self.stores, self.interrupted);
        let parameters = Start {
            args: &args,
            source: PlanSource { text: request.text.clone().into(), origin: request.origin.clone() },
            texts: &request.properties,
            out: &runs,
        };
        let outcome = start(stores, &parameters, interrupted, |mut launch| {
            launch.header.command = request.command.clone();
            let folder = launch.folder(&runs, &folder_name(&launch.header))?;
            let path = folder.path().to_path_buf();
            self.folder = Some(path.clone());
            self.out.send(&Message::Header(Box::new(launch.header.clone())));
            let mut events = EventSender { out: &mut self.out, folder: path };
            launch.run(&[], folder, &mut events, interrupted).map(|(_, end)| end)
        })?;
        Ok(match outcome {
            StartOutcome::Ran(end) => end,
            StartOutcome::Listed(text, error) => {
                self.out.send(&Message::Text(text));
                error.map_or(Ok(RunEnd { interrupted: false, failed: 0 }), Err)?
            }
            StartOutcome::Interrupted => RunEnd { interrupted: true, failed: 0 },
        })
    }

    /// Resumes a run; either machine may have results that the other lacks.
    fn resume(&mut self, header: &RunHeader, client_lines: &[String]) -> Result<RunEnd> {
        check_machine(header)?;
        let path = self.runs.join(folder_name(header));
        runs::make_directory("making the runs' directory", &self.runs)?;
        if !path.exists() {
            RunFolder::create(&self.runs, &folder_name(header), header)?;
        }
        let ResumedRun { folder: mut run_folder, .. } = open_when_free(&path)?;
        self.folder = Some(path.clone());
        let (mut client_trials, mut board_trials) = (KnownTrials::default(), KnownTrials::default());
        let board_results = run_folder.results()?;
        for (result, _) in &board_results {
            board_trials.add(result);
        }
        for line in client_lines {
            let result: TrialResult =
                serde_json::from_slice(&plain_json(line.as_bytes())).map_err(|error| {
                    Error::new(Exit::NotStorebench, format!("a line that is no result: {error}"))
                })?;
            client_trials.add(&result);
            if board_trials.add(&result) {
                run_folder.append_line(line)?;
            }
        }
        for (result, line) in board_results {
            if client_trials.add(&result) {
                self.out.result(&folder::logs(&path, result.position), line);
            }
        }
        drop(run_folder);
        let resumed = RunFolder::resume(&path)?;
        let mut events = EventSender { out: &mut self.out, folder: path };
        resume::resume(self.stores, resumed, &mut events, self.interrupted).map(|(_, end)| end)
    }

    /// Deletes the run's folder: the other machine has all of it.
    fn delete(&self) -> Result<()> {
        match &self.folder {
            Some(path) => RunFolder::resume(path)?.folder.delete(),
            None => Ok(()),
        }
    }
}

fn run_args(arguments: &[String]) -> Result<RunArgs> {
    let line = ["storebench", "run"].into_iter().map(str::to_owned).chain(arguments.iter().cloned());
    let args =
        Args::command().try_get_matches_from(line).and_then(|matches| Args::from_arg_matches(&matches));
    match args.map_err(|error| usage::explain(&error))?.command {
        Command::Run(args) => Ok(*args),
        _ => Err(Error::new(Exit::Usage, "only runs are made for another machine")),
    }
}

/// The name of a run's folder here: from its start time, so that both machines know it by its header.
fn folder_name(header: &RunHeader) -> String {
    let safe_letter = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
    format!("{}-{}", header.study, header.started).chars().map(safe_letter).collect()
}

/// Results of two machines can't form one run.
fn check_machine(header: &RunHeader) -> Result<()> {
    let (then, now) = (&header.environment, environment::machine());
    if (&then.cpu, then.cores) == (&now.cpu, now.cores) {
        return Ok(());
    }
    let message = format!(
        "the run was started on another machine ({} of {}, and this one has {} of {}): name that one with --remote",
        then.cores,
        then.cpu.as_deref().unwrap_or("an unknown kind"),
        now.cores,
        now.cpu.as_deref().unwrap_or("an unknown kind")
    );
    Err(Error::new(Exit::Unlike, message))
}

/// Opens a run's folder, which a run with a lost connection may be about to leave.
fn open_when_free(path: &Path) -> Result<ResumedRun> {
    let deadline = Instant::now() + RESUME_TIMEOUT;
    loop {
        match RunFolder::resume(path) {
            Err(error) if error.exit == Exit::Busy && Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(200));
            }
            result => return result,
        }
    }
}

/// Standard output; the run ends when nobody reads it any more.
struct LineWriter {
    out: Stdout,
    interrupted: Arc<AtomicBool>,
}

impl LineWriter {
    fn new(interrupted: Arc<AtomicBool>) -> LineWriter {
        LineWriter { out: io::stdout(), interrupted }
    }

    fn send(&mut self, message: &Message) {
        if wire::send(&mut self.out, message).is_err() {
            self.interrupted.store(true, Ordering::Relaxed);
        }
    }

    /// Sends a result's line, after its logs.
    fn result(&mut self, logs: &[(String, String)], line: String) {
        for (name, text) in logs {
            self.send(&Message::Log { name: name.clone(), text: text.clone() });
        }
        self.send(&Message::Result(line));
    }
}

struct EventSender<'a> {
    out: &'a mut LineWriter,
    folder: PathBuf,
}

impl Listener for EventSender<'_> {
    fn handle_event(&mut self, event: &Event<'_>) {
        match *event {
            Event::Started { total, done } => self.out.send(&Message::Started { total, done }),
            Event::Extended { by } => self.out.send(&Message::Extended { by }),
            Event::TrialStarted { cell, position, left } => {
                let left_s = left.map(|left| left.as_secs_f64());
                self.out.send(&Message::Trial { cell: cell.clone(), position, left_s });
            }
            Event::Loading { loading } => {
                let loading = loading
                    .map(|LoadProgress { doing, done, all, took }| (doing, done, all, took.as_secs_f64()));
                self.out.send(&Message::Loading { loading });
            }
            Event::Left { why } => self.out.send(&Message::Left { why: why.into() }),
            // A result that can't be written as JSON can't have been kept either.
            Event::TrialEnded { result } => {
                if let Ok(line) = serde_json::to_string(result) {
                    self.out.result(&folder::logs(&self.folder, result.position), line);
                }
            }
            Event::Ended { .. } => {}
        }
    }
}
