//! Arguments of `advise`.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Parser, ValueHint};
use storebench_host::plan::{Bytes, Period};
use storebench_report::advice::question::Goal;

use super::question::{AnswerArgs, QuestionArgs};

const ADVISE_EXAMPLES: &str = "\
Examples:
  storebench advise --records 100k --size 4KiB..40KiB
  storebench advise --records 50,000 --size 5KB..40KB --guarantee power
  storebench advise --records 100k --size 4KiB --mix get=80,update=20
  storebench advise --like ./thumbnails --optimize balance --html answer.html
  storebench advise --like data.csv:body --mix get=1 --max-memory 256MiB
  storebench advise --records 5000 --size 200B --budget 4m --tune
  storebench advise --records 10k --size 1KiB --machine raspberry-pi-zero-2
  storebench advise --records 2000 --size 1KiB --disk hdd-5400
  storebench advise --records 20k --size 1KiB --overwritten 1d
  storebench advise --records 1000 --size 1KiB --guarantee power --network 500us
  storebench advise --records 1000 --size 1KiB --from latest   (measure nothing)

By default, 80 of 100 operations get, 15 update and 5 insert; the guarantee is
process; there is one thread; values are incompressible; the goal is speed.";

/// Arguments of `advise`.
#[derive(Debug, Clone, Parser)]
#[command(after_help = ADVISE_EXAMPLES)]
pub struct AdviseArgs {
    #[command(flatten)]
    pub work: QuestionArgs,
    /// Rule out stores with a larger peak of memory, page cache included where known; they may run in less
    #[arg(long, value_name = "SIZE")]
    pub max_memory: Option<Bytes>,
    /// The goal that matters most
    #[arg(long, value_name = "GOAL", default_value = "speed", value_parser = goals())]
    pub optimize: Goal,
    /// Stores to choose from; libraries and servers get an answer each [default: all libraries that offer the guarantee or a stronger
    /// one]
    #[arg(long, value_delimiter = ',', value_name = "NAME,...")]
    pub store: Option<Vec<String>>,
    /// Time in which all records are overwritten once: rank by that, and measure how the best grow old
    #[arg(long, value_name = "TIME")]
    pub overwritten: Option<Period>,
    /// Then measure the recommended store against etcd: one server, and a cluster of three with this round trip
    #[arg(long, value_name = "TIME", conflicts_with = "from")]
    pub network: Option<Period>,
    /// About how long to measure
    #[arg(long, value_name = "TIME", default_value = "2m")]
    pub budget: Period,
    /// List the first trials and estimates; measure nothing
    #[arg(long, conflicts_with_all = ["from", "tune"])]
    pub dry_run: bool,
    /// Then tune the recommended store, for half of the budget
    #[arg(long, conflicts_with = "from")]
    pub tune: bool,
    /// Measure nothing; answer from earlier runs. `latest` is the newest. Earlier `advise` runs supply the question
    #[arg(long, value_name = "RUN", value_hint = ValueHint::DirPath, conflicts_with_all = ["at", "budget", "seed"])]
    pub from: Vec<PathBuf>,
    #[command(flatten)]
    pub answer: AnswerArgs,
}

impl AdviseArgs {
    /// The time to measure stores: half of the budget if the other half is for tuning the best.
    pub fn measuring(&self) -> Period {
        if self.tune { Period(self.budget.0 / 2) } else { self.budget }
    }
}

/// The goals with their meanings, for the help.
fn goals() -> impl TypedValueParser<Value = Goal> {
    let values = Goal::ALL.map(|goal| PossibleValue::new(goal.name()).help(goal.figure_name()));
    PossibleValuesParser::new(values).try_map(|name| name.parse())
}
