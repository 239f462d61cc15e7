//! Arguments of `site`.

use std::path::PathBuf;

use clap::{Parser, ValueHint};

const EXAMPLES: &str = "\
Examples:
  storebench site storebench-runs --out site
  storebench merge part-*/*/ --out all && storebench site all --out site

Open site/index.html in a browser: it needs no server and no network.";

/// Arguments of `site`.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub struct SiteArgs {
    /// The folder in which the runs are, at any depth
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub directory: PathBuf,
    /// A new directory for the site, or one that an earlier `site` has made
    #[arg(long, value_name = "OUT", value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
}
