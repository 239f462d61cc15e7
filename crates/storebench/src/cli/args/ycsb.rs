//! Properties as YCSB's own command line takes them.

use std::path::PathBuf;

use clap::ValueHint;

/// YCSB's properties, from files and one by one.
#[derive(Debug, clap::Args)]
pub struct PropertyArgs {
    /// Read YCSB's properties from a file; of several, later ones count
    #[arg(short = 'P', value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["resume", "properties"])]
    pub property_files: Vec<PathBuf>,
    /// Set one of YCSB's properties: recordcount=100000
    #[arg(short = 'p', value_name = "NAME=VALUE", conflicts_with_all = ["resume", "properties"])]
    pub property: Vec<String>,
}
