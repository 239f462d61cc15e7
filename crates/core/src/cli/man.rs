//! Completion scripts and man pages, made from the arguments themselves.

use std::path::Path;

use clap::CommandFactory;
use clap_complete::Shell;

use super::args::Args;
use super::print;
use crate::error::{Error, Exit, Result};

/// Prints the completion script for `shell`.
pub fn completions(shell: Shell) -> Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "storebench", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Success)
}

/// Writes the man pages to `directory`, which is made if it is missing.
pub fn pages(directory: &Path) -> Result<Exit> {
    std::fs::create_dir_all(directory).map_err(Error::io("making", directory))?;
    clap_mangen::generate_to(Args::command(), directory)
        .map_err(Error::io("writing man pages to", directory))?;
    Ok(Exit::Success)
}
