//! Arguments of `compare`.

use std::path::PathBuf;

use clap::{Parser, ValueHint};
use storebench_host::plan::Percent;
use storebench_report::compare::across::Across;

const COMPARE_EXAMPLES: &str = "\
Examples:
  storebench compare before-run after-run
  storebench compare before-run after-run --fail-above 5%   (for CI)
  storebench compare before-run after-run --exact   requests to simulated disks
  storebench compare before-run latest --markdown > comment.md
  storebench compare before-run latest --html compare.html
  storebench compare base/*/crud-* --to new/*/crud-*      sets of runs
  storebench compare latest latest --across store=sqlite,flat-folder

Use five or more trials on each side (storebench run --trials 5). An interval
needs three; with fewer, no change counts as significant.";

/// Arguments of `compare`.
#[derive(Debug, Parser)]
#[command(after_help = COMPARE_EXAMPLES)]
pub struct CompareArgs {
    /// The run to compare with, and the run to compare; commas separate several of a side. With --to all are BASE. `latest` is the
    /// newest
    #[arg(required = true, value_names = ["BASE", "NEW"], num_args = 1.., value_hint = ValueHint::DirPath)]
    pub runs: Vec<PathBuf>,
    /// Runs to compare with those before it: a/*/crud-* --to b/*/crud-*
    #[arg(long, value_name = "NEW", num_args = 1.., value_hint = ValueHint::DirPath)]
    pub to: Vec<PathBuf>,
    /// Compare runs of different machines or plans, as far as they have cells in common
    #[arg(long)]
    pub unlike: bool,
    /// Compare across two values of an axis: cells of BASE at the first with cells of NEW at the second, also of one run
    #[arg(long, value_name = "AXIS=A,B")]
    pub across: Vec<Across>,
    /// End with exit code 22 if a figure is significantly worse by more than this, or a cell fails that did not before
    #[arg(long, value_name = "SHARE")]
    pub fail_above: Option<Percent>,
    /// End with exit code 19 if a change by this much could go unseen in any figure
    #[arg(long, value_name = "SHARE")]
    pub max_undetectable: Option<Percent>,
    /// Figures to compare, by their names in the table `columns` of `report --sqlite` [default: latency_mean, latency_p99, load_time,
    /// disk_allocated, memory_peak_above_base]
    #[arg(long, value_delimiter = ',', value_name = "NAME,...")]
    pub figure: Vec<String>,
    /// Compare also requests, bytes and flushes of a simulated disk, block by block
    #[arg(long)]
    pub exact: bool,
    /// List every figure, not only the most important
    #[arg(long, conflicts_with_all = ["markdown", "json"])]
    pub all: bool,
    /// Markdown, for a pull request
    #[arg(long, conflicts_with = "json")]
    pub markdown: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Write a page for the browser, one file that needs no network; `-` is standard output
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub html: Option<PathBuf>,
    /// Directory of the runs, for `latest` and for names
    #[arg(long, value_name = "DIR", default_value = "storebench-runs", value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
}
