//! The arguments of every command that answers from measurements.

use std::path::PathBuf;

use clap::ValueHint;

use storebench_core::units::parse_whole;

/// Where an answer is written, where it is measured, and with which seed.
#[derive(Debug, Clone, clap::Args)]
pub struct AnswerArgs {
    /// Also write the answer and all figures to a page for the browser; `-` is standard output
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub html: Option<PathBuf>,
    /// Language of the code on the terminal; the page has both [default: the engine's own]
    #[arg(long, value_name = "LANGUAGE")]
    pub code: Option<Code>,
    /// Directory for the stores' files [default: the runs' directory]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub at: Option<PathBuf>,
    /// Directory for the folders of runs
    #[arg(long, value_name = "DIR", default_value = "storebench-runs", value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
    /// Seed for keys, values, record choice and trial order
    #[arg(long, value_name = "N", default_value = "136", value_parser = parse_whole::<u64>)]
    pub seed: u64,
}

/// Another language of the code than the store's own.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub enum Code {
    /// Python 3
    Python,
}
