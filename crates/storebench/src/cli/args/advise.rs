//! Arguments of `advise`.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Parser, ValueHint};
use storebench_core::plan::{Bytes, Period};
use storebench_core::store::Guarantee;
use storebench_core::units::SizeRange;
use storebench_report::advice::question::{Goal, Mix};

const ADVISE_EXAMPLES: &str = "\
Examples:
  storebench advise --records 100k --size 4KiB..40KiB
  storebench advise --records 100k --size 4KiB..40KiB --mix get=80,update=20 --guarantee power
  storebench advise --like ./thumbnails --optimize balance --html answer.html
  storebench advise --like data.csv:body --mix get=1 --max-memory 256MiB
  storebench advise --records 1000 --size 1KiB --from latest   from results that are there

Unless told otherwise: of 100 operations 80 get, 15 update and 5 insert; guarantee process; one
thread; incompressible values; the fastest store is wanted.";

/// Arguments of `advise`.
#[derive(Debug, Parser)]
#[command(after_help = ADVISE_EXAMPLES)]
pub struct AdviseArgs {
    /// How many records there are
    #[arg(long, value_name = "COUNT", value_parser = storebench_core::units::parse_count, required_unless_present = "like")]
    pub records: Option<u64>,
    /// How large their values are: a size or a range
    #[arg(long, value_name = "RANGE", required_unless_present = "like")]
    pub size: Option<SizeRange>,
    /// Take count, sizes and compressibility from data like yours, which are only read: a folder of files, a column of a CSV
    /// file (data.csv:column), a table of a SQLite file or one of its columns (app.db:table.column)
    #[arg(long, value_name = "DATA")]
    pub like: Option<String>,
    /// What is done to them, by weight: get=80,update=15,insert=5
    #[arg(long, value_name = "NAME=WEIGHT,...", default_value = "get=80,update=15,insert=5")]
    pub mix: Mix,
    /// Reads find nothing in memory: the store was reopened, and the page cache emptied
    #[arg(long)]
    pub cold: bool,
    /// What an acknowledged write must survive at least: none, process (a killed process), power (a power cut)
    #[arg(long, value_name = "TIER", default_value = "process", value_parser = parse_guarantee)]
    pub guarantee: Guarantee,
    /// Threads at work at once
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub threads: u32,
    /// The values are text, or compress like it
    #[arg(long)]
    pub compressible: bool,
    /// Rule out stores that take more memory than this: with the page cache, where it is known
    #[arg(long, value_name = "SIZE")]
    pub max_memory: Option<Bytes>,
    /// What the best store is best at
    #[arg(long, value_name = "GOAL", default_value = "speed", value_parser = goals())]
    pub optimize: Goal,
    /// The stores to choose from [default: all that offer the guarantee or a stronger one]
    #[arg(long, value_delimiter = ',', value_name = "NAME,...")]
    pub store: Option<Vec<String>>,
    /// How long to measure, about
    #[arg(long, value_name = "TIME", default_value = "2m")]
    pub budget: Period,
    /// Measure nothing: answer from earlier runs; `latest` is the newest
    #[arg(long, value_name = "RUN", value_hint = ValueHint::DirPath, conflicts_with_all = ["at", "budget", "seed"])]
    pub from: Vec<PathBuf>,
    /// Write the answer and all figures to a page for the browser, too
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub html: Option<PathBuf>,
    /// Directory in which the stores' files are put [default: the directory of the runs]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub at: Option<PathBuf>,
    /// Directory in which the folder with the results is made
    #[arg(long, value_name = "DIR", default_value = "storebench-runs", value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
    /// Seed for keys, values, record choice and trial order
    #[arg(long, value_name = "N", default_value_t = 136)]
    pub seed: u64,
}

fn parse_guarantee(text: &str) -> Result<Guarantee, String> {
    text.parse().map_err(|()| "say none, process or power".into())
}

/// The goals, each with what it means, for the help.
fn goals() -> impl TypedValueParser<Value = Goal> {
    let values = Goal::ALL.map(|goal| PossibleValue::new(goal.name()).help(goal.what()));
    PossibleValuesParser::new(values).try_map(|name| name.parse())
}
