//! Arguments of `check`, `findings`, `merge` and `site`, which take folders of runs.

use std::path::PathBuf;

use clap::{Parser, ValueHint};

const CHECK_EXAMPLES: &str = "\
Examples:
  storebench check latest
  storebench check before-run after-run --json

Every line is ok, a hint, or no. With a no the exit code is 25.";

/// Arguments of `check`.
#[derive(Debug, Parser)]
#[command(after_help = CHECK_EXAMPLES)]
pub struct CheckArgs {
    /// Folders of runs, names in the runs' directory, or `latest`
    #[arg(required = true, value_name = "RUN", value_hint = ValueHint::DirPath)]
    pub runs: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Directory of the runs, for `latest` and for names
    #[arg(long, value_name = "DIR", default_value = "storebench-runs", value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
}

const FINDINGS_EXAMPLES: &str = "\
Examples:
  storebench findings storebench-runs --out findings.md

Runs whose results were packed by gzip are read all the same.";

/// Arguments of `findings`.
#[derive(Debug, Parser)]
#[command(after_help = FINDINGS_EXAMPLES)]
pub struct FindingsArgs {
    /// The folder in which the runs are, at any depth
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub directory: PathBuf,
    /// The document; `-` is standard output
    #[arg(long, value_name = "FILE", default_value = "docs/findings.md", value_hint = ValueHint::FilePath)]
    pub out: PathBuf,
}

const MERGE_EXAMPLES: &str = "\
Examples:
  storebench merge part-1/*/ part-2/*/ --out all
  storebench merge part-*/*/ --out all && storebench report all";

/// Arguments of `merge`.
#[derive(Debug, Parser)]
#[command(after_help = MERGE_EXAMPLES)]
pub struct MergeArgs {
    /// Folders of runs with --shard, of one plan; or what merge made of some of them
    #[arg(required = true, value_name = "RUN", value_hint = ValueHint::DirPath)]
    pub runs: Vec<PathBuf>,
    /// A new directory: the run, or a run for each machine
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
}

const SITE_EXAMPLES: &str = "\
Examples:
  storebench site storebench-runs --out site
  storebench merge part-*/*/ --out all && storebench site all --out site

Open site/index.html in a browser: it needs no server and no network.";

/// Arguments of `site`.
#[derive(Debug, Parser)]
#[command(after_help = SITE_EXAMPLES)]
pub struct SiteArgs {
    /// The folder in which the runs are, at any depth
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub directory: PathBuf,
    /// A new directory for the site, or one that an earlier `site` has made
    #[arg(long, value_name = "OUT", value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
}
