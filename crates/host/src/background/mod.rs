//! Loads that run during a trial, each in a separate process that reports its work and progress. The parent runs `storebench __background
//! LOAD FOLDER PARENT` and reads [`Message`]s, one JSON object per line, from the load's standard output until it kills the process. A
//! load ends early only after an error.

pub mod available;
mod cpu;
mod disk;
mod memory;
mod message;
mod pace;
mod program;
mod reporter;
pub mod timeline;
mod video;

use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;

pub use disk::file_bytes as disk_file_bytes;
pub use message::{LoadStop, Message, now_ns};
pub use reporter::Reporter;
use storebench_model::cell::Background;
use storebench_model::lifeline;
use video::players;

/// Runs a load until its parent exits or kills it. Its files are put in `folder`, which the next load uses too.
pub fn main(load: Background, folder: &Path, parent: u32) -> Result<(), String> {
    lifeline::die_with_parent(parent)?;
    let reporter = Arc::new(Reporter::new(Box::new(std::io::stdout())));
    reporter.keep_reporting().map_err(|error| format!("starting a thread: {error}"))?;
    let Err(stopped) = run(load, folder, &reporter);
    let (message, ended) = match stopped {
        LoadStop::Unsupported(why) => (Message::Unsupported { why }, Ok(())),
        LoadStop::Failed(why) => (Message::Failed { why: why.clone() }, Err(why)),
    };
    // A parent that no longer listens has killed this load, or will.
    let _ = reporter.send(&message);
    ended
}

fn run(load: Background, folder: &Path, reporter: &Arc<Reporter>) -> Result<Infallible, LoadStop> {
    match load {
        Background::None => Err(LoadStop::Failed("none is no load".into())),
        Background::Cpu(threads) => cpu::run(threads, reporter),
        Background::Disk(bytes_per_s) => disk::run(bytes_per_s, folder, reporter),
        Background::Memory(percent) => memory::run(percent, reporter),
        Background::Video => video::run(folder, reporter),
    }
}

/// What this machine lacks for a load, as far as that shows without starting it.
pub fn missing_need(load: Background) -> Option<String> {
    match load {
        Background::None | Background::Cpu(_) | Background::Disk(_) => None,
        Background::Memory(_) => available::bytes().is_none().then(|| available::UNKNOWN.into()),
        Background::Video => players().is_empty().then(|| video::NO_PLAYER.into()),
    }
}
