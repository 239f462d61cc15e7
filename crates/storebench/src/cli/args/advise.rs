//! Arguments of `advise`.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Parser, ValueHint};
use storebench_core::axis::table::HERE;
use storebench_core::plan::{Bytes, Period};
use storebench_core::store::Guarantee;
use storebench_core::units::Sizes;
use storebench_report::advice::question::{Goal, Mix};

const ADVISE_EXAMPLES: &str = "\
Examples:
  storebench advise --records 100k --size 4KiB..40KiB
  storebench advise --records 50,000 --size 5KB..40KB --guarantee power
  storebench advise --records 100k --size 4KiB --mix get=80,update=20
  storebench advise --like ./thumbnails --optimize balance --html answer.html
  storebench advise --like data.csv:body --mix get=1 --max-memory 256MiB
  storebench advise --records 10k --size 1KiB --machine raspberry-pi-zero-2
  storebench advise --records 1000 --size 1KiB --from latest   (measure nothing)

By default, 80 of 100 operations get, 15 update and 5 insert; the guarantee is
process; there is one thread; values are incompressible; the goal is speed.";

/// Arguments of `advise`.
#[derive(Debug, Parser)]
#[command(after_help = ADVISE_EXAMPLES)]
pub struct AdviseArgs {
    /// Number of records
    #[arg(long, value_name = "COUNT", value_parser = storebench_core::units::parse_count, required_unless_present = "like")]
    pub records: Option<u64>,
    /// Size of their values: a size, a range, or parts like 90%:1KiB..10KiB+10%:1MiB
    #[arg(long, value_name = "RANGE", required_unless_present = "like")]
    pub size: Option<Sizes>,
    /// Take count, sizes and compressibility from your data, which are only read: a folder of files, a column of a CSV file
    /// (data.csv:column), or a table or column of a SQLite file (app.db:table, app.db:table.column)
    #[arg(long, value_name = "DATA")]
    pub like: Option<String>,
    /// Operations by weight
    #[arg(long, value_name = "NAME=WEIGHT,...", default_value = "get=80,update=15,insert=5")]
    pub mix: Mix,
    /// Measure reads that find nothing in memory: the store reopened, the page cache emptied
    #[arg(long)]
    pub cold: bool,
    /// What an acknowledged write must survive: none, process (a killed process), power (a power cut)
    #[arg(long, value_name = "TIER", default_value = "process", value_parser = parse_guarantee)]
    pub guarantee: Guarantee,
    /// Threads that use the store at once
    #[arg(long, value_name = "N", default_value = "1", value_parser = threads)]
    pub threads: u32,
    /// Measure under limits that stand in for a machine: one of `storebench machines`
    #[arg(long, value_name = "NAME", default_value = HERE)]
    pub machine: String,
    /// The values compress like text
    #[arg(long)]
    pub compressible: bool,
    /// Rule out stores that take more memory than this, including the page cache where it is known
    #[arg(long, value_name = "SIZE")]
    pub max_memory: Option<Bytes>,
    /// What matters most
    #[arg(long, value_name = "GOAL", default_value = "speed", value_parser = goals())]
    pub optimize: Goal,
    /// Stores to choose from [default: all that offer the guarantee or a stronger one]
    #[arg(long, value_delimiter = ',', value_name = "NAME,...")]
    pub store: Option<Vec<String>>,
    /// About how long to measure
    #[arg(long, value_name = "TIME", default_value = "2m")]
    pub budget: Period,
    /// Measure nothing; answer from earlier runs. `latest` is the newest
    #[arg(long, value_name = "RUN", value_hint = ValueHint::DirPath, conflicts_with_all = ["at", "budget", "seed"])]
    pub from: Vec<PathBuf>,
    /// Also write the answer and all figures to a page for the browser
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub html: Option<PathBuf>,
    /// Directory for the stores' files [default: the runs' directory]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub at: Option<PathBuf>,
    /// Directory for the folder with the results
    #[arg(long, value_name = "DIR", default_value = "storebench-runs", value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
    /// Seed for keys, values, record choice and trial order
    #[arg(long, value_name = "N", default_value = "136", value_parser = super::whole::<u64>)]
    pub seed: u64,
}

fn threads(text: &str) -> Result<u32, String> {
    match super::whole(text)? {
        0 => Err("it must be at least 1".into()),
        threads => Ok(threads),
    }
}

fn parse_guarantee(text: &str) -> Result<Guarantee, String> {
    text.parse().map_err(|()| "use none, process or power".into())
}

/// The goals, each with what it means, for the help.
fn goals() -> impl TypedValueParser<Value = Goal> {
    let values = Goal::ALL.map(|goal| PossibleValue::new(goal.name()).help(goal.what()));
    PossibleValuesParser::new(values).try_map(|name| name.parse())
}
