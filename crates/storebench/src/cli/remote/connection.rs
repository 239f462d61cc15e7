//! Leads from a host to the program that runs on it: finds or copies it, and greets it.

use std::io::{self, BufReader};
use std::path::Path;
use std::process::ChildStdin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use storebench_model::error::{Error, Exit, Result};
use storebench_model::result::FORMAT_VERSION;
use storebench_model::sanitize::message;
use storebench_model::units::rough_bytes;

use super::host::Host;
use super::program::{self, Program};
use super::shell;
use super::ssh::{self, Ssh};
use super::wire::{self, BEAT, BoardSignal, Message};
use crate::cli::args::BoardArgs;
use crate::cli::output::print_note;

/// The longest time until a program's first message: a slow board reads all of it first.
const HELLO_TIMEOUT: Duration = Duration::from_secs(120);
/// The longest time for a run to end on request, or a program after its last message.
pub const END_TIMEOUT: Duration = Duration::from_secs(30);

/// The other machine: its processor, and storebench's folder there.
#[derive(Debug)]
struct Board {
    machine: String,
    /// The absolute path of storebench's folder there.
    folder: String,
    programs: Vec<String>,
}

impl Board {
    fn inspect(host: &Host, folder: &str, interrupted: &AtomicBool) -> Result<Board> {
        let answers = ssh::answers(host, shell::INSPECT, &[folder], &[], interrupted)?;
        let [system, machine, folder, programs @ ..] = answers.as_slice() else {
            return Err(host.error("it did not say what machine it is"));
        };
        if system != "Linux" {
            return Err(
                host.error(&format!("its system is {system}, and storebench runs remotely on Linux only"))
            );
        }
        let machine = format!("{machine}{}", host.kind());
        Ok(Board { machine, folder: folder.clone(), programs: programs.to_vec() })
    }
}

/// The program on the board, which waits for a request.
#[derive(Debug)]
pub struct Connection {
    host: Host,
    ssh: Ssh,
    input: Option<ChildStdin>,
    messages: Receiver<io::Result<Message>>,
    last_sent: Instant,
}

/// Finds a program that runs there, copies it if necessary, and starts it; [`Exit::Unreachable`] if none does.
pub fn connect(host: &Host, args: &BoardArgs, interrupted: &AtomicBool) -> Result<Connection> {
    let board =
        Board::inspect(host, args.remote_dir.as_deref().unwrap_or(host.default_folder()), interrupted)?;
    let mut reasons = Vec::new();
    for path in program::candidates(&board.machine, args.remote_program.as_deref())? {
        match try_program(host, &board, &path, interrupted)? {
            Ok(connection) => return Ok(connection),
            Err(why) => reasons.push(why),
        }
    }
    let mut text = format!("no program runs there: {}", reasons.join("; "));
    if args.remote_program.is_none() {
        text.push_str(&format!("; {}", program::advice(&board.machine)));
    }
    Err(host.error(&text))
}

/// Starts a program there, or returns why it does not run.
fn try_program(
    host: &Host,
    board: &Board,
    path: &Path,
    interrupted: &AtomicBool,
) -> Result<std::result::Result<Connection, String>> {
    let program = Program::read(path)?;
    let mut is_copied = false;
    if !board.programs.contains(&program.copy()) {
        copy(host, board, &program, interrupted)?;
        is_copied = true;
    }
    loop {
        let arguments = [board.folder.as_str(), &program.digest];
        let mut connection = Connection::start(host, shell::RUN, &arguments)?;
        match connection.greet(interrupted)? {
            Greeting::Hello => return Ok(Ok(connection)),
            Greeting::Changed if !is_copied => {
                copy(host, board, &program, interrupted)?;
                is_copied = true;
            }
            Greeting::Changed => return Err(host.error("the program changes while it is copied")),
            Greeting::Silence(why) => return Ok(Err(format!("{}: {why}", program.name))),
        }
    }
}

fn copy(host: &Host, board: &Board, program: &Program, interrupted: &AtomicBool) -> Result<()> {
    let size = rough_bytes(program.bytes.len() as f64);
    print_note(&format!("copying {} ({size}) to {host}: {}", program.name, board.folder));
    let arguments = [board.folder.as_str(), &program.digest];
    ssh::answers(host, shell::COPY, &arguments, &program.bytes, interrupted).map(drop)
}

/// The first message of a program, or why there was none.
enum Greeting {
    Hello,
    /// The file is not the one that was copied there.
    Changed,
    /// It does not run there, with the reason.
    Silence(String),
}

impl Connection {
    fn start(host: &Host, script: &str, arguments: &[&str]) -> Result<Connection> {
        let (ssh, input, output) = Ssh::start(host, &mut host.command(script, arguments))?;
        let (sender, messages) = mpsc::channel();
        std::thread::spawn(move || {
            let mut reader = BufReader::new(output);
            let mut is_greeted = false;
            loop {
                let message = match wire::read_line(&mut reader) {
                    Ok(None) => return,
                    Ok(Some(line)) => {
                        serde_json::from_str(&line).map_err(|error| match line.strip_prefix(shell::MARK) {
                            Some(word) => io::Error::other(word.to_owned()),
                            None => io::Error::from(error),
                        })
                    }
                    Err(error) => Err(error),
                };
                // The user's own start files may print something first.
                let is_noise =
                    !is_greeted && message.as_ref().is_err_and(|error| error.kind() != io::ErrorKind::Other);
                is_greeted |= message.is_ok();
                if !is_noise && sender.send(message).is_err() {
                    return;
                }
            }
        });
        Ok(Connection { host: host.clone(), ssh, input: Some(input), messages, last_sent: Instant::now() })
    }

    fn greet(&mut self, interrupted: &AtomicBool) -> Result<Greeting> {
        let deadline = Instant::now() + HELLO_TIMEOUT;
        loop {
            if interrupted.load(Ordering::Relaxed) {
                return Err(Error::new(Exit::Interrupted, "interrupted before the run began"));
            }
            match self.messages.recv_timeout(Duration::from_millis(100)) {
                Ok(Ok(Message::Hello { version, format })) => {
                    let ours = env!("CARGO_PKG_VERSION");
                    if version == ours && format == FORMAT_VERSION {
                        self.ssh.speak();
                        return Ok(Greeting::Hello);
                    }
                    return Ok(Greeting::Silence(format!(
                        "it is version {}, and this is {ours}",
                        message(&version)
                    )));
                }
                Ok(Err(error)) if error.to_string() == "changed" => return Ok(Greeting::Changed),
                Err(RecvTimeoutError::Timeout) if Instant::now() < deadline => {}
                _ => {
                    let why = self.ssh.complaint().unwrap_or_else(|| "it says nothing".into());
                    return Ok(Greeting::Silence(message(&why)));
                }
            }
        }
    }

    /// Sends a line; [`Exit::Unreachable`] if the other side is gone.
    pub fn send(&mut self, value: &impl serde::Serialize) -> Result<()> {
        self.last_sent = Instant::now();
        let is_sent = self.input.as_mut().is_some_and(|input| wire::send(input, value).is_ok());
        if is_sent { Ok(()) } else { Err(self.lost_error()) }
    }

    /// Sends a sign of life now and then.
    pub fn beat(&mut self) {
        if self.last_sent.elapsed() >= BEAT {
            // If the other side is gone, the next message will not come.
            let _ = self.send(&BoardSignal::Beat);
        }
    }

    /// The next message, if one comes soon; [`Exit::Unreachable`] if no more can come.
    pub fn next(&mut self) -> Result<Option<Message>> {
        self.next_within(Duration::from_millis(100))
    }

    pub fn next_within(&mut self, timeout: Duration) -> Result<Option<Message>> {
        match self.messages.recv_timeout(timeout) {
            Ok(Ok(message)) => Ok(Some(message)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => Err(self.lost_error()),
        }
    }

    fn lost_error(&mut self) -> Error {
        self.input = None;
        let why = self.ssh.complaint().map_or_else(String::new, |why| format!(" ({})", message(&why)));
        self.host.error(&format!("the connection is lost{why}"))
    }

    /// Ends it after the last message.
    pub fn end(mut self) {
        self.close(END_TIMEOUT);
    }

    /// Sends no more, and waits up to this time for the program there to end.
    pub fn close(&mut self, timeout: Duration) {
        self.input = None;
        self.ssh.wait_within(timeout);
    }
}
