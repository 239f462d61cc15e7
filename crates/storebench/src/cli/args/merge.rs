//! The arguments of `merge`.

use std::path::PathBuf;

use clap::{Parser, ValueHint};

const EXAMPLES: &str = "\
Examples:
  storebench merge part-1/*/ part-2/*/ --out all
  storebench merge part-*/*/ --out all && storebench report all";

/// Arguments of `merge`.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub struct MergeArgs {
    /// Folders of runs with --shard, of one plan; or what merge made of some of them
    #[arg(required = true, value_name = "RUN", value_hint = ValueHint::DirPath)]
    pub runs: Vec<PathBuf>,
    /// A new directory: the run, or a run for each machine
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
}
