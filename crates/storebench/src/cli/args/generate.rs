//! The arguments of `generate`.

use std::path::PathBuf;

use clap::{Parser, ValueEnum, ValueHint};
use storebench_core::workload::shop::files::MOST_SAMPLED;
use storebench_model::units::{Bytes, exact_bytes, parse_count, with_commas};

const EXAMPLES: &str = "\
Examples:
  storebench generate shop --size 3GiB --out shop-3g
  storebench generate shop --size 200MiB --out shop-200m --unsorted";

/// Arguments of `generate`.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub struct GenerateArgs {
    /// The workload whose data are made
    pub workload: GeneratedWorkload,
    /// The data in all tables, as their rows count: 3GiB
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub size: u64,
    /// Folder for the files; it is made if it is missing
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
    /// Seed that all rows follow from
    #[arg(long, value_name = "N", default_value = "136")]
    pub seed: u64,
    /// Do not sort rows by primary key
    #[arg(long)]
    pub unsorted: bool,
    /// Ids of each table in sample.json
    #[arg(long, value_name = "N", default_value = "1000", value_parser = sample)]
    pub sample: u64,
    /// Threads that make rows [default: as many as there are processors]
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<u64>,
}

/// Workloads whose data can be made as files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GeneratedWorkload {
    /// Customers, products and orders
    Shop,
}

/// The least and the most data.
const BYTES: std::ops::RangeInclusive<u64> = 1 << 10..=1 << 40;
/// The most threads.
const MOST_THREADS: u64 = 256;

fn size(text: &str) -> Result<u64, String> {
    match text.parse::<Bytes>()?.0 {
        bytes if BYTES.contains(&bytes) => Ok(bytes),
        bytes => Err(format!(
            "{} of data: it must be from {} to {}",
            exact_bytes(bytes),
            exact_bytes(*BYTES.start()),
            exact_bytes(*BYTES.end())
        )),
    }
}

fn sample(text: &str) -> Result<u64, String> {
    match parse_count(text)? {
        many if many > MOST_SAMPLED => Err(format!("it must be at most {}", with_commas(MOST_SAMPLED))),
        many => Ok(many),
    }
}

fn threads(text: &str) -> Result<u64, String> {
    match parse_count(text)? {
        threads @ 1..=MOST_THREADS => Ok(threads),
        _ => Err(format!("it must be from 1 to {MOST_THREADS}")),
    }
}
