//! Arguments of `tune`.

use std::path::PathBuf;

use clap::{Parser, ValueHint};
use storebench_core::plan::{Bytes, Period};

use super::QuestionArgs;

const TUNE_EXAMPLES: &str = "\
Examples:
  storebench tune sqlite --records 5000 --size 200B
  storebench tune rocksdb --records 100k --size 1KiB --mix insert=50,update=50
  storebench tune sqlite --like ./thumbnails --guarantee power --memory 64MiB

By default, 80 of 100 operations get, 15 update and 5 insert; the guarantee is
process; there is one thread; values are incompressible.";

/// Arguments of `tune`.
#[derive(Debug, Parser)]
#[command(after_help = TUNE_EXAMPLES)]
pub struct TuneArgs {
    /// The store (see `storebench stores`; `storebench settings STORE` lists the values that are tried)
    pub store: String,
    #[command(flatten)]
    pub work: QuestionArgs,
    /// Rule out settings with which the store takes more memory than this, including the page cache where it is known
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<Bytes>,
    /// About how long to measure
    #[arg(long, value_name = "TIME", default_value = "3m")]
    pub budget: Period,
    /// Measure nothing; answer from an earlier tuning. `latest` is the newest
    #[arg(long, value_name = "RUN", value_hint = ValueHint::DirPath, conflicts_with_all = ["at", "budget", "seed"])]
    pub from: Option<PathBuf>,
    /// Also write the answer and all figures to a page for the browser
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub html: Option<PathBuf>,
    /// Directory for the store's files [default: the runs' directory]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub at: Option<PathBuf>,
    /// Directory for the folder with the results
    #[arg(long, value_name = "DIR", default_value = "storebench-runs", value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
    /// Seed for keys, values, record choice and trial order
    #[arg(long, value_name = "N", default_value = "136", value_parser = super::whole::<u64>)]
    pub seed: u64,
}
