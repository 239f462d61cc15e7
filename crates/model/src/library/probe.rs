//! Asks a library for its table in a separate process, so that a crash or hang there is an error here, and nothing of the library
//! is in the process that runs the trials.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use rustix::process::{WaitId, WaitIdOptions, waitid};

use super::described::DescribedStore;
use super::find;
use super::loaded::LoadedLibrary;
use crate::lifeline;
use crate::sanitize::message;

/// The command that such a process is given.
pub const COMMAND: &str = "__library";

/// A library must list its stores within this time.
const TIME_LIMIT: Duration = Duration::from_secs(10);

const POLL_INTERVAL: Duration = Duration::from_millis(1);

/// No table is longer.
const MOST_BYTES: u64 = 16 << 20;

/// Asks a library for its stores. The error names it.
pub fn ask(path: &Path) -> Result<Vec<DescribedStore>, String> {
    let describe_error =
        |error: io::Error| format!("asking the library {} for its stores: {error}", path.display());
    let (mut child, pipe) = start(path).map_err(describe_error)?;
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let content = pipe.take(MOST_BYTES).read_to_end(&mut bytes).map(|_| bytes);
        // Nobody listens any more if it took too long.
        let _ = sender.send(content);
    });
    let (deadline, mut is_over) = (Instant::now() + TIME_LIMIT, false);
    while !is_over && Instant::now() < deadline {
        is_over = has_ended(&child).map_err(describe_error)?;
        if !is_over {
            std::thread::sleep(POLL_INTERVAL);
        }
    }
    // Also ends what it has forked, which could still answer.
    let status = lifeline::end_group(&child).and_then(|()| child.wait()).map_err(describe_error)?;
    let (Ok(reply), true) = (receiver.recv_timeout(TIME_LIMIT), is_over) else {
        let path = path.display();
        return Err(format!("the library {path} did not describe its stores within {TIME_LIMIT:?}"));
    };
    match serde_json::from_slice::<Result<Vec<DescribedStore>, String>>(&reply.map_err(describe_error)?) {
        // It was checked where the library is loaded, which may have answered itself.
        Ok(answer) => check_stores(path, answer.map_err(|why| message(&why))?),
        Err(_) => {
            let ending = match (status.signal(), status.code()) {
                (Some(signal), _) => format!("crashed with signal {signal}"),
                (None, Some(code)) => format!("ended its process with exit code {code}"),
                (None, None) => "ended its process".into(),
            };
            Err(format!("the library {} {ending} when it was asked for its stores", path.display()))
        }
    }
}

fn check_stores(path: &Path, stores: Vec<DescribedStore>) -> Result<Vec<DescribedStore>, String> {
    let checked = if stores.is_empty() { Err("it describes 0 stores".into()) } else { Ok(()) };
    let checked = checked.and_then(|()| stores.iter().try_for_each(DescribedStore::check));
    checked.map_err(|why: String| message(&format!("the library {}: {why}", path.display())))?;
    Ok(stores)
}

/// Whether a process has ended, without reaping it.
fn has_ended(child: &Child) -> io::Result<bool> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    Ok(waitid(WaitId::Pid(lifeline::pid(child)?), options)?.is_some())
}

/// Starts the process. It answers on its standard input, which no library writes to; what the library prints goes to standard error.
fn start(path: &Path) -> io::Result<(Child, io::PipeReader)> {
    let (reader, writer) = io::pipe()?;
    let output = io::stderr().as_fd().try_clone_to_owned()?;
    let mut command = Command::new(lifeline::this_program()?);
    command.arg0(lifeline::NAME).arg(COMMAND).arg(path).process_group(0);
    command.stdin(Stdio::from(writer)).stdout(Stdio::from(output));
    Ok((lifeline::tie_to_parent(&mut command).spawn()?, reader))
}

/// Answers as that process.
pub fn answer_probe(path: &Path) -> io::Result<()> {
    let stores = find(path).and_then(|library| LoadedLibrary::new(library).describe_stores());
    let text = serde_json::to_vec(&stores)?;
    let mut out = std::fs::File::from(io::stdin().as_fd().try_clone_to_owned()?);
    out.write_all(&text)
}
