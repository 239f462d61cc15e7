//! Arguments of `check`.

use std::path::PathBuf;

use clap::{Parser, ValueHint};

const EXAMPLES: &str = "\
Examples:
  storebench check latest
  storebench check before-run after-run --json

Every line is ok, a hint, or no. With a no the exit code is 25.";

/// Arguments of `check`.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub struct CheckArgs {
    /// Folders of runs, names in the runs' directory, or `latest`
    #[arg(required = true, value_name = "RUN", value_hint = ValueHint::DirPath)]
    pub runs: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Directory of the runs, for `latest` and for names
    #[arg(long, value_name = "DIR", default_value = "storebench-runs", value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
}
