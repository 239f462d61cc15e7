//! Completion scripts and man pages, made from the arguments themselves.

use std::path::Path;

use clap::builder::PossibleValuesParser;
use clap::{Command, CommandFactory};
use clap_complete::Shell;

use super::args::Args;
use super::print;
use crate::cell::{Cache, Data, Tuning};
use crate::error::{Error, Exit, Result};
use crate::store::StoreDef;
use crate::workload::driver::Operation;

/// Prints the completion script for `shell`.
pub fn completions(stores: &[StoreDef], shell: Shell) -> Result<Exit> {
    let mut script = Vec::new();
    let mut command = Args::command();
    for name in ["run", "advise"] {
        command = command.mut_subcommand(name, |command| with_values(command, stores));
    }
    clap_complete::generate(shell, &mut command, "storebench", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Success)
}

/// Tells the values that arguments can have, where they are words. Parsing needs no such list: each type knows its own.
fn with_values(mut command: Command, stores: &[StoreDef]) -> Command {
    let stores: Vec<&'static str> = stores.iter().map(|store| store.name).collect();
    let words: [(&str, Vec<&'static str>); 9] = [
        ("store", stores),
        ("data", [Data::Incompressible, Data::Compressible].map(Data::name).into()),
        ("guarantee", vec!["default", "none", "process", "power"]),
        ("tuning", [Tuning::Default, Tuning::Equal].map(Tuning::name).into()),
        ("cache", [Cache::Warm, Cache::Cold].map(Cache::name).into()),
        ("background", vec!["none", "cpu", "disk", "memory", "video"]),
        ("order", Operation::ALL.map(Operation::name).into()),
        ("compression", vec!["auto", "on", "off"]),
        ("optimize", vec!["speed", "space", "memory", "balance"]),
    ];
    for (name, mut values) in words {
        let Some(argument) = command.get_arguments().find(|argument| argument.get_id() == name) else {
            continue;
        };
        if name == "guarantee" && !argument.get_default_values().is_empty() {
            // An answer is about one tier.
            values.retain(|value| *value != "default");
        }
        command = command.mut_arg(name, |argument| argument.value_parser(PossibleValuesParser::new(values)));
    }
    command
}

/// Writes the man pages to `directory`, which is made if it is missing.
pub fn pages(directory: &Path) -> Result<Exit> {
    std::fs::create_dir_all(directory).map_err(Error::io("making", directory))?;
    clap_mangen::generate_to(Args::command(), directory)
        .map_err(Error::io("writing man pages to", directory))?;
    Ok(Exit::Success)
}
