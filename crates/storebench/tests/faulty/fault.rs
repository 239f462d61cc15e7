//! The faults of the faulty store.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use storebench_model::store::{Result, StoreError};

use crate::compaction;

/// The variable that names the file in which [`Fault::Notes`] writes down its calls.
const NOTES: &str = "STOREBENCH_TEST_NOTES";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    Aborts,
    Panics,
    Hangs,
    Errs,
    Hoards,
    Fills,
    Lies,
    Shortens,
    Misses,
    Miscounts,
    Weakens,
    Refuses,
    Chatters,
    Dawdles,
    Notes,
    Compacts,
}

impl Fault {
    /// Strikes in the middle of a trial: loading, the inserts and the gets that come before the updates have worked.
    pub fn strike(self, operation: &str, key: &[u8], value: &[u8], directory: &Path) -> Result<()> {
        match self {
            Fault::Chatters => chatter(),
            Fault::Dawdles if operation != "load" => std::thread::sleep(Duration::from_millis(8)),
            Fault::Compacts if operation == "load" => compaction::begin(),
            Fault::Compacts => compaction::slow_down(),
            Fault::Notes => note(operation, key, value).map_err(StoreError::io("noting"))?,
            _ if operation == "update" => self.strike_hard(directory)?,
            _ => {}
        }
        Ok(())
    }

    fn strike_hard(self, directory: &Path) -> Result<()> {
        match self {
            Fault::Aborts => std::process::abort(),
            #[allow(clippy::panic, reason = "it is what this store is for")]
            Fault::Panics => panic!("the engine is in an impossible state"),
            Fault::Hangs => hang().map_err(StoreError::io("hanging")),
            Fault::Errs => Err(StoreError::Engine("page 7 is damaged".into())),
            Fault::Hoards => hoard(),
            Fault::Fills => fill(directory).map_err(StoreError::io("writing a page")),
            _ => Ok(()),
        }
    }
}

/// Output such as some engines print.
fn chatter() {
    let noise = [b"\x1b[31mWARNING: ".as_slice(), &[0xFF, 0x00, b'\n']].concat();
    // Whether anybody reads it does not matter to engines either.
    let _ = io::stdout().write_all(&noise);
    let _ = io::stderr().write_all(&noise);
}

/// Waits for ever, as does a helper process, whose number is on standard output.
fn hang() -> io::Result<()> {
    let mut helper = Command::new("sleep")
        .arg("600")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    writeln!(io::stdout(), "helper {}", helper.id())?;
    helper.wait()?;
    Ok(())
}

fn hoard() -> ! {
    let mut held = Vec::new();
    loop {
        held.push(std::hint::black_box(vec![1_u8; 16 << 20]));
    }
}

fn fill(directory: &Path) -> io::Result<()> {
    for number in 0.. {
        fs::write(directory.join(format!("page-{number}")), vec![1; 64 << 10])?;
    }
    Ok(())
}

fn note(operation: &str, key: &[u8], value: &[u8]) -> io::Result<()> {
    let Some(name) = std::env::var_os(NOTES) else { return Ok(()) };
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    let line = format!("{operation} {} {} {:016x}\n", key.escape_ascii(), value.len(), hasher.finish());
    File::options().append(true).create(true).open(name)?.write_all(line.as_bytes())
}
