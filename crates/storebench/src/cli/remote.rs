//! `storebench run --remote`. This machine has the folder of the run; the other keeps a copy until this one has all results.

mod arguments;
pub mod client;
mod connection;
pub(super) mod host;
mod program;
mod shell;
mod ssh;
pub(super) mod wire;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use storebench_core::workload::load_progress::LoadProgress;
use storebench_host::folder::{ResumedRun, RunFolder};
use storebench_host::plan;
use storebench_host::runner::event::{Event, Listener};
use storebench_host::runner::parent::RunEnd;
use storebench_host::runner::progress;
use storebench_model::error::{Error, Exit, Result};
use storebench_model::result::{RunHeader, TrialResult};
use storebench_model::sanitize::plain_json;
use storebench_model::store::StoreDef;

pub use self::arguments::host_of;
use self::connection::{Connection, END_TIMEOUT};
use self::host::{AdbServer, Host};
use self::wire::{BoardSignal, KnownTrials, Message, Request};
use super::args::{BoardArgs, RunArgs, study};
use super::finish::finish;
use super::output::print;
use super::{launch, properties, runs};

/// Runs a study on another machine, or resumes such a run; [`Exit::Unreachable`] if it can't be reached, or the connection is lost.
pub fn run(stores: &[StoreDef], args: &RunArgs, host: &str, interrupted: &AtomicBool) -> Result<Exit> {
    let host = Host::new(host, "--remote")?;
    let _server = AdbServer::start_for([&*host.to_string()]);
    let (request, mut local) = match &args.resume {
        Some(name) => resume(runs::find(name, &args.out)?)?,
        None => start(args)?,
    };
    let mut connection = connection::connect(&host, &args.board, interrupted)?;
    connection.send(&request)?;
    if let Some(folder) = &local.folder {
        folder.results()?.iter().try_for_each(|(_, line)| connection.send(line))?;
    }
    let result = local.follow(&mut connection, interrupted);
    let resume_command = |path: &PathBuf| remote_resume_command(path, &host, args);
    let path = local.folder.as_ref().map(|folder| folder.path().to_path_buf());
    let end = result.map_err(|error| match &path {
        Some(path) => {
            let advice =
                format!("the results are kept here and there; resume with: {}", resume_command(path));
            Error::new(error.exit, format!("{error}; {advice}"))
        }
        None => error,
    })?;
    // Everything is here and synced.
    let _ = connection.send(&BoardSignal::Thanks);
    connection.end();
    drop(local);
    match path {
        Some(path) => finish(stores, &path, end, args.properties.ycsb.as_deref(), &resume_command(&path)),
        None if end.interrupted => Ok(Exit::Interrupted),
        None => Ok(Exit::Success),
    }
}

fn remote_resume_command(path: &std::path::Path, host: &Host, args: &RunArgs) -> String {
    let BoardArgs { remote_dir, remote_program, .. } = &args.board;
    let program = remote_program.as_ref().map(|program| program.display().to_string());
    let mut command = format!("{} --remote {}", launch::resume_command(path), shell::word(&host.to_string()));
    for (option, value) in [("--remote-dir", remote_dir), ("--remote-program", &program)] {
        if let Some(value) = value {
            command.push_str(&format!(" {option} {}", shell::word(value)));
        }
    }
    command
}

fn start(args: &RunArgs) -> Result<(Request, LocalSide)> {
    let source = plan::source(args.study())?;
    // A mistake in the plan is reported before ssh asks for a password.
    let plan = source.plan()?;
    study::check(args, &plan)?;
    arguments::check_paths(args, &plan)?;
    let command = arguments::command()?;
    let request = Request {
        arguments: arguments::board_arguments(&command),
        text: source.text.into_owned(),
        origin: source.origin,
        properties: properties::texts(&args.properties)?,
        command,
        ..Request::default()
    };
    Ok((request, LocalSide { out: args.out.clone(), folder: None, known: KnownTrials::default() }))
}

fn resume(path: PathBuf) -> Result<(Request, LocalSide)> {
    let ResumedRun { folder, run, notes } = RunFolder::resume(&path)?;
    runs::print_notes(&notes);
    if host_of(&run.header).is_none() {
        let message = format!("{} is a run on this machine: resume it without --remote", path.display());
        return Err(Error::bad_value(message));
    }
    let mut known = KnownTrials::default();
    for trial in &run.trials {
        known.add(trial);
    }
    let request = Request {
        resume: Some(Box::new(run.header)),
        results: folder.results()?.len(),
        ..Request::default()
    };
    Ok((request, LocalSide { out: PathBuf::new(), folder: Some(folder), known }))
}

struct LocalSide {
    /// The directory for a new run's folder.
    out: PathBuf,
    /// The run's folder, once it has a header.
    folder: Option<RunFolder>,
    known: KnownTrials,
}

impl LocalSide {
    /// Processes the board's messages until the run has ended.
    fn follow(&mut self, connection: &mut Connection, interrupted: &AtomicBool) -> Result<RunEnd> {
        let mut listener = progress::listener();
        let mut stop_deadline = None;
        loop {
            if interrupted.load(Ordering::Relaxed) && stop_deadline.is_none() {
                stop_deadline = Instant::now().checked_add(END_TIMEOUT);
                connection.send(&BoardSignal::Stop)?;
            }
            if stop_deadline.is_some_and(|deadline| Instant::now() > deadline) {
                return Err(Error::new(
                    Exit::Interrupted,
                    "interrupted, but the other machine does not answer",
                ));
            }
            connection.beat();
            let Some(message) = connection.next()? else { continue };
            if let Some(end) = self.process(message, listener.as_mut())? {
                if self.folder.is_some() {
                    listener.handle_event(&Event::Ended { interrupted: end.interrupted });
                }
                return Ok(end);
            }
        }
    }

    /// Processes a message; the last one returns how the run ended.
    fn process(&mut self, message: Message, listener: &mut dyn Listener) -> Result<Option<RunEnd>> {
        match message {
            Message::Hello { .. } => {}
            Message::Header(header) => self.create_folder(&header)?,
            Message::Started { total, done } => listener.handle_event(&Event::Started { total, done }),
            Message::Extended { by } => listener.handle_event(&Event::Extended { by }),
            Message::Trial { cell, position, left_s } => {
                let left = left_s.and_then(|left| Duration::try_from_secs_f64(left).ok());
                listener.handle_event(&Event::TrialStarted { cell: &cell, position, left });
            }
            Message::Loading { loading } => {
                let loading = loading.and_then(|(doing, done, all, took_s)| {
                    Some(LoadProgress { doing, done, all, took: Duration::try_from_secs_f64(took_s).ok()? })
                });
                listener.handle_event(&Event::Loading { loading });
            }
            Message::Left { why } => listener.handle_event(&Event::Left { why: &why }),
            Message::Log { name, text } => self.folder()?.keep_log(&name, &text)?,
            Message::Result(line) => self.result(&line, listener)?,
            Message::Text(text) => print(&text)?,
            Message::Client(_) => return Err(unexpected("what is of no run")),
            Message::Ended { interrupted, failed } => return Ok(Some(RunEnd { interrupted, failed })),
            Message::Failed { exit, message } => return Err(remote_error(exit, message)),
        }
        Ok(None)
    }

    fn create_folder(&mut self, header: &RunHeader) -> Result<()> {
        if self.folder.is_some() {
            return Err(unexpected("a second run"));
        }
        let name: String =
            header.study.chars().map(|letter| if letter.is_alphanumeric() { letter } else { '-' }).collect();
        runs::make_directory("making the runs' directory", &self.out)?;
        self.folder = Some(RunFolder::create(&self.out, &launch::dated_name(&format!("{name}-")), header)?);
        Ok(())
    }

    fn folder(&mut self) -> Result<&mut RunFolder> {
        self.folder.as_mut().ok_or_else(|| unexpected("a result before its run"))
    }

    /// Keeps a result, unless it is here already.
    fn result(&mut self, line: &str, listener: &mut dyn Listener) -> Result<()> {
        let result: TrialResult = serde_json::from_slice(&plain_json(line.as_bytes()))
            .map_err(|error| unexpected(&format!("what is no result ({error})")))?;
        if line.contains('\n') {
            return Err(unexpected("a result of several lines"));
        }
        if self.known.add(&result) {
            self.folder()?.append_line(line)?;
            listener.handle_event(&Event::TrialEnded { result: &result });
        }
        Ok(())
    }
}

/// The error with which the board's side ended.
fn remote_error(exit: u8, message: String) -> Error {
    let exit = Exit::ALL.into_iter().find(|known| known.code() == exit);
    Error::new(exit.unwrap_or(Exit::Failure), message)
}

fn unexpected(thing: &str) -> Error {
    Error::new(Exit::Failure, format!("the other machine sent {thing}"))
}
