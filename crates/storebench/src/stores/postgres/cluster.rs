//! The files of a server, made by initdb.

use std::path::Path;
use std::process::{Command, Stdio};

use storebench_core::store::{OpenOptions, Result, StoreError};

use super::config::Plan;
use super::installed;
use crate::stores::support::server::{Reached, Template, Way, make_folder, unprivileged};

/// The user of the database, who may do all.
pub const USER: &str = "storebench";
/// The database, which initdb makes.
pub const DATABASE: &str = "postgres";

/// Makes the files of a new server in the store's folder, unless they are there.
///
/// # Errors
/// What PostgreSQL or the system says.
pub fn prepare(options: &OpenOptions<'_>) -> Result<()> {
    let segment_bytes = Plan::new(options)?.segment_bytes();
    let template = Template {
        name: format!("postgres-{}-{segment_bytes}", installed::needed()?.version),
        sign: "PG_VERSION",
        make: &|data| init(data, segment_bytes),
    };
    template.prepare(options)
}

/// Runs initdb for a folder that is not there yet.
fn init(data: &Path, segment_bytes: u64) -> Result<()> {
    let found = installed::needed()?;
    make_folder(data)?;
    let reached = Reached::open(data)?;
    let mut command = Command::new(found.program("initdb"));
    command
        .arg("-D")
        .arg(reached.path())
        .args(["-U", USER, "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"])
        .arg(format!("--wal-segsize={}", segment_bytes >> 20))
        .stdin(Stdio::null());
    unprivileged(&mut command, &[&reached], Way::Held)?;
    let ended = command.output().map_err(StoreError::io("starting initdb"))?;
    if ended.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&ended.stderr);
    let why = said
        .lines()
        .rev()
        .find(|line| line.contains("error:") || line.contains("FATAL"))
        .map_or_else(|| format!("{}: {}", ended.status, said.trim()), str::to_owned);
    Err(StoreError::Engine(format!("initdb failed: {why}")))
}
