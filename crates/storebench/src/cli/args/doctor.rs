//! Arguments of `doctor`.

use std::path::PathBuf;

use clap::{Parser, ValueHint};

const EXAMPLES: &str = "\
Examples:
  storebench doctor                      every study, and all that there is here
  storebench doctor crud device          fails if one can't be run in full
  storebench doctor --at /mnt/ssd --json";

/// Arguments of `doctor`.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub struct DoctorArgs {
    /// Studies, or plans of your own [default: every study]
    #[arg(value_name = "STUDY", value_hint = ValueHint::FilePath)]
    pub studies: Vec<String>,
    /// Directory in which the stores' files would be
    #[arg(long, value_name = "DIR", default_value = ".", value_hint = ValueHint::DirPath)]
    pub at: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
