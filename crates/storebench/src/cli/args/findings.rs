//! Arguments of `findings`.

use std::path::PathBuf;

use clap::{Parser, ValueHint};

const EXAMPLES: &str = "\
Examples:
  storebench findings storebench-runs --out findings.md

Runs whose results were packed by gzip are read all the same.";

/// Arguments of `findings`.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub struct FindingsArgs {
    /// The folder in which the runs are, at any depth
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub directory: PathBuf,
    /// The document; `-` is standard output
    #[arg(long, value_name = "FILE", default_value = "docs/findings.md", value_hint = ValueHint::FilePath)]
    pub out: PathBuf,
}
