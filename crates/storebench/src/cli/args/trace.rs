//! The arguments of `trace`.

use std::path::PathBuf;

use clap::{Parser, ValueHint};
use storebench_core::trace::{Form, TimeUnit};
use storebench_model::units::parse_count;

const EXAMPLES: &str = "\
Examples:
  storebench trace requests.csv
  storebench trace cluster12.zst --limit 10M     its first 10 million operations
  storebench trace requests.csv --json";

/// Arguments of `trace`.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub struct TraceArgs {
    /// The trace, plain or compressed by zstd: CSV, Twitter's cache traces, or RocksDB's trace_analyzer
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// The form of the file: csv, twitter, rocksdb [default: read from the file]
    #[arg(long, value_name = "FORMAT", value_parser = str::parse::<Form>)]
    pub format: Option<Form>,
    /// The unit of the times of CSV: s, ms, us, ns [default: read from the column's name]
    #[arg(long, value_name = "UNIT")]
    pub time_unit: Option<TimeUnit>,
    /// Read only the first operations
    #[arg(long, value_name = "N", value_parser = limit)]
    pub limit: Option<u64>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

fn limit(text: &str) -> Result<u64, String> {
    match parse_count(text)? {
        0 => Err("it must be at least 1".into()),
        limit => Ok(limit),
    }
}
