//! Arguments of `compare`.

use std::path::PathBuf;

use clap::{Parser, ValueHint};
use storebench_core::plan::Percent;

const COMPARE_EXAMPLES: &str = "\
Examples:
  storebench compare before-run after-run
  storebench compare before-run after-run --fail-above 5%     for CI: exit code 22 where it is worse
  storebench compare before-run latest --markdown > comment.md    for a pull request
  storebench compare before-run latest --html compare.html
  storebench compare a1-run,a2-run,a3-run b1-run,b2-run,b3-run    sets of runs, made alternately

Five trials or more on each side (storebench run --trials 5) find what is worth finding; fewer
than three claim nothing.";

/// Arguments of `compare`.
#[derive(Debug, Parser)]
#[command(after_help = COMPARE_EXAMPLES)]
pub struct CompareArgs {
    /// What to compare with: a run's folder, or several, separated by commas; `latest` is the newest
    #[arg(value_hint = ValueHint::DirPath)]
    pub base: PathBuf,
    /// What is compared with it, in the same way
    #[arg(value_hint = ValueHint::DirPath)]
    pub new: PathBuf,
    /// Compare what machines and plans have in common though they are unlike
    #[arg(long)]
    pub unlike: bool,
    /// End with exit code 22 where a figure is significantly worse by more than this, or a cell fails that did not
    #[arg(long, value_name = "SHARE")]
    pub fail_above: Option<Percent>,
    /// Which figures, by their names in --csv-long without the unit [default: latency_mean, latency_p99, load_time,
    /// disk_allocated, memory_peak_above_base]
    #[arg(long, value_delimiter = ',', value_name = "NAME,...")]
    pub figure: Vec<String>,
    /// List every figure, not only those of most weight
    #[arg(long, conflicts_with_all = ["markdown", "json", "html"])]
    pub all: bool,
    /// Markdown, for a pull request
    #[arg(long, conflicts_with_all = ["json", "html"])]
    pub markdown: bool,
    /// Everything as JSON
    #[arg(long, conflicts_with = "html")]
    pub json: bool,
    /// A page for the browser, in one file that needs no network
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub html: Option<PathBuf>,
    /// Directory of the runs, for `latest` and for names
    #[arg(long, value_name = "DIR", default_value = "storebench-runs", value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
}
