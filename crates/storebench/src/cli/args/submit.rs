//! Arguments of `submit`.

use std::path::PathBuf;

use clap::{Parser, ValueHint};

const EXAMPLES: &str = "\
Examples:
  storebench submit latest --by \"Ada Lovelace\" --into submission

Nothing is sent: the folder and the text are for a pull request of your own.";

/// Arguments of `submit`.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub struct SubmitArgs {
    /// The folder of a run, its name in the runs' directory, or `latest`
    #[arg(value_name = "RUN", value_hint = ValueHint::DirPath)]
    pub run: PathBuf,
    /// The name under which it is published: yours, or your team's
    #[arg(long, value_name = "NAME")]
    pub by: String,
    /// A new directory for the folder and the text
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub into: PathBuf,
    /// Directory of the runs, for `latest` and for names
    #[arg(long, value_name = "DIR", default_value = "storebench-runs", value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
}
