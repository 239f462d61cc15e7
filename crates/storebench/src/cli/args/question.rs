//! Arguments that say what is kept and what is done with it, of `advise` and `tune`.

use storebench_core::axis::table::HERE;
use storebench_core::store::Guarantee;
use storebench_core::units::Sizes;
use storebench_report::advice::question::Mix;

use super::number::whole;

/// The records, and the work on them.
#[derive(Debug, clap::Args)]
pub struct QuestionArgs {
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
    /// The accident that an acknowledged write must survive: none, process (a killed process), power (a power cut)
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
}

fn threads(text: &str) -> Result<u32, String> {
    match whole(text)? {
        0 => Err("it must be at least 1".into()),
        threads => Ok(threads),
    }
}

fn parse_guarantee(text: &str) -> Result<Guarantee, String> {
    text.parse().map_err(|()| "use none, process or power".into())
}
