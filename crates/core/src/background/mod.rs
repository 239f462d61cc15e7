//! Loads that run beside a trial, each in a process of its own, which tells what it does and how far it is.
//!
//! The parent runs `storebench __background LOAD FOLDER PARENT` and reads [`Message`]s, one JSON object a line, from its
//! standard output until it ends the process. A load never ends by itself unless something is wrong.

pub mod available;
mod cpu;
mod disk;
mod memory;
mod pace;
mod program;
mod reporter;
pub mod timeline;
mod video;

use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::cell::Background;
use crate::lifeline;
pub use disk::file_bytes as disk_file_bytes;
pub use reporter::Reporter;
use video::players;

/// A message from a load to its parent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "message", rename_all = "kebab-case")]
pub enum Message {
    /// It has prepared what it needs and is at work; progress counts from here.
    AtWork {
        /// The work that it does, in words.
        description: String,
        /// The unit of its progress.
        unit: String,
    },
    /// Its progress; sent about twenty times a second, also while it prepares.
    Progress {
        /// When: [`now_ns`].
        at_ns: u64,
        /// The amount done so far, in its unit.
        done: f64,
        /// Whether the disk has yet to answer it: a load that waits for the disk keeps it busy.
        #[serde(default)]
        waiting: bool,
    },
    /// This machine lacks what it needs.
    Unsupported {
        /// The missing need, and what to do.
        why: String,
    },
    /// It can't go on.
    Failed {
        /// Why.
        why: String,
    },
}

/// Why a load does not go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// This machine lacks what it needs.
    Unsupported(String),
    /// Something went wrong.
    Failed(String),
}

impl Stop {
    /// Something went wrong while `doing` something; for `map_err`.
    fn failed<E: std::fmt::Display>(doing: &str) -> impl FnOnce(E) -> Stop {
        move |error| Stop::Failed(format!("{doing}: {error}"))
    }
}

/// Runs a load until its parent ends, or ends it. Its files are put in `folder`, where they serve the next load too.
///
/// # Errors
/// Why it can't go on; its parent is told as well.
pub fn main(load: Background, folder: &Path, parent: u32) -> Result<(), String> {
    lifeline::die_with_parent(parent)?;
    let reporter = Arc::new(Reporter::new(Box::new(std::io::stdout())));
    reporter.keep_reporting().map_err(|error| format!("starting a thread: {error}"))?;
    let stopped = match run(load, folder, &reporter) {
        Err(stop) => stop,
        Ok(never) => match never {},
    };
    let (message, ended) = match stopped {
        Stop::Unsupported(why) => (Message::Unsupported { why }, Ok(())),
        Stop::Failed(why) => (Message::Failed { why: why.clone() }, Err(why)),
    };
    // A parent that no longer listens has ended this load, or will.
    let _ = reporter.tell(&message);
    ended
}

fn run(load: Background, folder: &Path, reporter: &Arc<Reporter>) -> Result<Infallible, Stop> {
    match load {
        Background::None => Err(Stop::Failed("none is no load".into())),
        Background::Cpu(threads) => cpu::run(threads, reporter),
        Background::Disk(bytes_per_s) => disk::run(bytes_per_s, folder, reporter),
        Background::Memory(percent) => memory::run(percent, reporter),
        Background::Video => video::run(folder, reporter),
    }
}

/// The missing need of a load on this machine, as far as that shows without starting the load.
pub fn lacking(load: Background) -> Option<String> {
    match load {
        Background::None | Background::Cpu(_) | Background::Disk(_) => None,
        Background::Memory(_) => available::bytes().is_none().then(|| available::UNKNOWN.into()),
        Background::Video => players().is_empty().then(|| video::NO_PLAYER.into()),
    }
}

/// Nanoseconds on a clock that all processes of this machine share.
pub fn now_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
