//! Arguments of `tune`.

use std::path::PathBuf;

use clap::{Parser, ValueHint};
use storebench_host::plan::{Bytes, Period};

use super::question::{AnswerArgs, QuestionArgs};

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
    /// The store; `storebench settings STORE` lists the values that are tried
    pub store: String,
    #[command(flatten)]
    pub work: QuestionArgs,
    /// Rule out settings with a larger peak of memory, page cache included where known; they may run in less
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<Bytes>,
    /// About how long to measure
    #[arg(long, value_name = "TIME", default_value = "3m")]
    pub budget: Period,
    /// Measure nothing; answer from an earlier tuning, which says its question. `latest` is the newest
    #[arg(long, value_name = "RUN", value_hint = ValueHint::DirPath, conflicts_with_all = ["at", "budget", "seed"])]
    pub from: Option<PathBuf>,
    #[command(flatten)]
    pub answer: AnswerArgs,
}
