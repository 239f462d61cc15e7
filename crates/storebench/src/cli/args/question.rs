//! Arguments about the records, the work and the answer, for `advise` and `tune`.

use std::path::PathBuf;

use clap::ValueHint;
use storebench_model::store::Guarantee;
use storebench_model::units::{Sizes, parse_whole};
use storebench_report::advice::question::Mix;

/// The records, and the work on them.
#[derive(Debug, Clone, PartialEq, clap::Args)]
pub struct QuestionArgs {
    /// Number of records
    #[arg(long, value_name = "COUNT", value_parser = storebench_model::units::parse_count, required_unless_present_any = ["like", "from"])]
    pub records: Option<u64>,
    /// Size of their values: a size, a range, or parts like 90%:1KiB..10KiB+10%:1MiB
    #[arg(long, value_name = "RANGE", required_unless_present_any = ["like", "from"])]
    pub size: Option<Sizes>,
    /// Take count, sizes and compressibility from your data: a folder of files, data.csv:column, app.db:table or
    /// app.db:table.column
    #[arg(long, value_name = "DATA")]
    pub like: Option<String>,
    /// Operations by weight [default: get=80,update=15,insert=5]
    #[arg(long, value_name = "NAME=WEIGHT,...")]
    pub mix: Option<Mix>,
    /// Measure reads that find nothing in memory: the store reopened, the page cache emptied
    #[arg(long)]
    pub cold: bool,
    /// The accident that an acknowledged write must survive: none, process (a killed process), power (a power cut), node (a lost
    /// machine, too) [default: process]
    #[arg(long, value_name = "GUARANTEE", value_parser = parse_guarantee)]
    pub guarantee: Option<Guarantee>,
    /// Threads that use the store at once [default: 1]
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<u32>,
    /// Measure under limits that stand in for a machine: one of `storebench machines` [default: here]
    #[arg(long, value_name = "NAME")]
    pub machine: Option<String>,
    /// Measure on a simulated disk: one of `storebench disks` [default: the disk under the directory]
    #[arg(long, value_name = "NAME")]
    pub disk: Option<String>,
    /// The values compress like text
    #[arg(long)]
    pub compressible: bool,
}

impl QuestionArgs {
    /// These arguments, completed from an earlier question.
    pub fn or(&self, earlier: QuestionArgs) -> QuestionArgs {
        let now = self.clone();
        QuestionArgs {
            records: now.records.or(earlier.records),
            size: now.size.or(earlier.size),
            like: now.like.or(earlier.like),
            mix: now.mix.or(earlier.mix),
            cold: now.cold || earlier.cold,
            guarantee: now.guarantee.or(earlier.guarantee),
            threads: now.threads.or(earlier.threads),
            machine: now.machine.or(earlier.machine),
            disk: now.disk.or(earlier.disk),
            compressible: now.compressible || earlier.compressible,
        }
    }
}

fn threads(text: &str) -> Result<u32, String> {
    match parse_whole(text)? {
        0 => Err("it must be at least 1".into()),
        threads => Ok(threads),
    }
}

fn parse_guarantee(text: &str) -> Result<Guarantee, String> {
    text.parse().map_err(|_: String| "use none, process, power or node".into())
}

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
