//! Arguments for YCSB's properties, as on YCSB's own command line.

use std::path::PathBuf;

use clap::ValueHint;

/// YCSB's properties, from files and one by one, and its text.
#[derive(Debug, clap::Args)]
pub struct PropertyArgs {
    /// Read YCSB's properties from a file; further files change what it says
    #[arg(short = 'P', value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["resume", "properties"])]
    pub property_files: Vec<PathBuf>,
    /// Make each of the files a workload by itself; else they are one, as in YCSB
    #[arg(long, requires = "property_files")]
    pub each_file: bool,
    /// Set one of YCSB's properties: recordcount=100000
    #[arg(short = 'p', value_name = "NAME=VALUE", conflicts_with_all = ["resume", "properties"])]
    pub property: Vec<String>,
    /// Write the figures at the run's end to a new file, in the text that YCSB prints; `-` is standard output
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "dry_run")]
    pub ycsb: Option<PathBuf>,
}

impl PropertyArgs {
    /// Whether no property is given.
    pub fn is_empty(&self) -> bool {
        self.property_files.is_empty() && self.property.is_empty()
    }
}
