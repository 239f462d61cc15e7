//! The arguments, and the help that teaches them.

mod advise;
mod axes;
mod compare;
mod work;

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Parser, Subcommand, ValueHint};
use clap_complete::Shell;
use storebench_core::axis::{Axis, Value};
use storebench_core::cell::{Background, DEFAULT_PLACE};
use storebench_core::error::Exit;
use storebench_core::plan::{Axes, Bytes, Changes, Percent, Period, Settings};

pub use self::advise::AdviseArgs;
pub use self::axes::AxisArgs;
pub use self::compare::CompareArgs;
pub use self::work::WorkArgs;

const ABOUT: &str = "Measures where an application should keep its records";

const LONG_ABOUT: &str = "\
Measures, on your own machine, where an application should keep its records: in plain files or in an \
embedded database, and which one. For every choice it shows speed, latency, space, memory, and what an \
acknowledged write survives.";

const EXAMPLES: &str = "\
Examples:
  storebench run crud --quick            a first answer in about two minutes
  storebench run crud --store sqlite,lmdb --records 1000 --record-size 1KiB..10KiB
  storebench advise --records 100k --size 1KiB..4KiB   one question, one answer, in two minutes
  storebench report latest               the table of winners again
  storebench report latest --table       every figure
  storebench compare before-run after-run    what changed, and what of it is significant
  storebench stores                      what can be measured, and which guarantees it gives";

/// The examples, and all exit codes.
fn examples_and_codes() -> String {
    let code = |exit: &Exit| format!("\n  {:>3}  {}", exit.code(), exit.meaning());
    format!("{EXAMPLES}\n\nExit codes:{}", Exit::ALL.iter().map(code).collect::<String>())
}

/// The command line.
#[derive(Debug, Parser)]
#[command(name = "storebench", version, about = ABOUT, long_about = LONG_ABOUT, after_help = EXAMPLES, after_long_help = examples_and_codes())]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a study, or go on with one
    Run(Box<RunArgs>),
    /// Show the results of one or several runs
    Report(ReportArgs),
    /// Where should I keep my records? Measures just that, and answers
    Advise(Box<AdviseArgs>),
    /// Compare two runs, or two sets of runs: what changed, and what of it is significant
    Compare(CompareArgs),
    /// List the stores: kind, version, guarantees, order, threads, compression
    Stores,
    /// List what can be set of a store: values, default, what it does, the guarantee that results
    Settings {
        /// The store; all where none is named
        store: Option<String>,
    },
    /// List the studies and their presets
    Studies,
    /// Delete work folders that a killed run left behind; results are never touched
    Clean {
        /// Directories that runs used as a place [default: the runs' directory]
        #[arg(value_hint = ValueHint::DirPath)]
        directories: Vec<PathBuf>,
    },
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Write the man pages to a directory
    Man {
        /// The directory
        #[arg(value_hint = ValueHint::DirPath)]
        directory: PathBuf,
    },
    #[command(flatten)]
    Hidden(Hidden),
}

/// What the program says to itself.
#[derive(Debug, Subcommand)]
pub enum Hidden {
    /// Runs one trial
    #[command(name = "__trial", hide = true)]
    Trial { spec: PathBuf, out: PathBuf },
    /// Writes records until it is killed
    #[command(name = "__write", hide = true)]
    Write { arguments: Vec<String> },
    /// Runs a load beside a trial until it is ended
    #[command(name = "__background", hide = true)]
    Background { load: Background, folder: PathBuf, parent: u32 },
}

const RUN_EXAMPLES: &str = "\
Examples:
  storebench run crud --quick
  storebench run crud --dry-run                 what would run, how long, how much disk
  storebench run crud --store sqlite,lmdb,flat-folder --record-size 100KiB --guarantee power
  storebench run crud --at ssd=/mnt/ssd --at hdd=/mnt/hdd --hardware laptop
  storebench run crud --threads 1,4 --rate 5000/s --duration 30s
  storebench run crud --store sqlite --set sqlite.page_size=8192 --trials 10
  storebench run my-plan.toml
  storebench run --resume storebench-runs/crud-20260102-030405

Sizes are written like 512B, 4KiB, 1MiB; ranges are half-open: 1KiB..10KiB. Counts: 1000, 100k, 1M.";

/// Arguments of `run`.
#[derive(Debug, Parser)]
#[command(after_help = RUN_EXAMPLES)]
pub struct RunArgs {
    /// A study (see `storebench studies`) or a plan of your own (a TOML file)
    #[arg(required_unless_present = "resume", conflicts_with = "resume", value_hint = ValueHint::FilePath)]
    pub study: Option<String>,

    /// Apply a preset of the study
    #[arg(long, conflicts_with = "resume")]
    pub preset: Option<String>,
    /// Short for --preset quick: covers everything coarsely, in about two minutes
    #[arg(long, conflicts_with_all = ["resume", "preset"])]
    pub quick: bool,
    /// List the cells, with an estimate of time and disk, and run nothing
    #[arg(long, conflicts_with = "resume")]
    pub dry_run: bool,
    /// Go on with a run where it stopped, with the plan that it was begun with
    #[arg(long, value_name = "RUN", value_hint = ValueHint::DirPath)]
    pub resume: Option<PathBuf>,

    #[command(flatten, next_help_heading = "Narrowing the axes")]
    pub axes: AxisArgs,
    #[command(flatten, next_help_heading = "How cells are run")]
    pub how: HowArgs,

    /// Directory in which the stores' files are put; several may be given, with names [default: the directory of the runs]
    #[arg(long, value_name = "[NAME=]DIR", help_heading = "Where", value_hint = ValueHint::DirPath, conflicts_with = "resume")]
    pub at: Vec<PlaceArg>,
    /// Directory in which the run's folder is made
    #[arg(long, value_name = "DIR", default_value = "storebench-runs", help_heading = "Where", value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
    /// Name of the machine or disk, under which results are shown and merged [default: the host's name]
    #[arg(long, value_name = "NAME", help_heading = "Where", conflicts_with = "resume")]
    pub hardware: Option<String>,
}

/// The rest of a plan that the command line can change.
#[derive(Debug, clap::Args)]
pub struct HowArgs {
    /// How often each cell is run
    #[arg(long, value_name = "N", conflicts_with = "resume")]
    pub trials: Option<u32>,
    #[command(flatten)]
    pub work: WorkArgs,
    /// Add blocks of trials until every ratio that decides a winner is known this well
    #[arg(long, value_name = "SHARE", conflicts_with = "resume")]
    pub precision: Option<Percent>,
    /// Begin no block after this time (with --precision)
    #[arg(long, value_name = "TIME", requires = "precision", conflicts_with = "resume")]
    pub budget: Option<Period>,
    /// A setting of a store: sqlite.page_size=8192; of several values, each is a variant of the store: sqlite.page_size=4096,8192
    #[arg(long = "set", value_name = "STORE.NAME=VALUE,...", conflicts_with = "resume")]
    pub settings: Vec<SettingArg>,
    /// Everything random comes from it
    #[arg(long, value_name = "N", conflicts_with = "resume")]
    pub seed: Option<u64>,
    /// Combinations with more value bytes than this are left out
    #[arg(long, value_name = "SIZE", conflicts_with = "resume")]
    pub size_limit: Option<Bytes>,
    /// A trial that takes longer has failed
    #[arg(long, value_name = "TIME", conflicts_with = "resume")]
    pub timeout: Option<Period>,
}

/// `STORE.NAME=VALUE,...`.
#[derive(Debug, Clone)]
pub struct SettingArg {
    pub store: String,
    pub name: String,
    /// One or more.
    pub values: Vec<String>,
}

impl FromStr for SettingArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('=').and_then(|(name, value)| Some((name.split_once('.')?, value)));
        let ((store, name), values) = parts.ok_or("write it like sqlite.page_size=8192")?;
        let values: Vec<String> = values.split(',').map(|value| value.trim().to_owned()).collect();
        if values.len() > 1 && values.iter().any(String::is_empty) {
            return Err("one of its values is empty: write them like sqlite.page_size=4096,8192".into());
        }
        Ok(SettingArg { store: store.into(), name: name.into(), values })
    }
}

/// A place: `NAME=DIR`, or a directory alone.
#[derive(Debug, Clone)]
pub struct PlaceArg {
    pub name: String,
    pub path: PathBuf,
}

impl FromStr for PlaceArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let named_well = |name: &str| {
            let mut bytes = name.bytes();
            !name.is_empty() && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
        };
        Ok(match text.split_once('=') {
            Some((name, path)) if named_well(name) => PlaceArg { name: name.into(), path: path.into() },
            _ => PlaceArg { name: DEFAULT_PLACE.into(), path: text.into() },
        })
    }
}

impl RunArgs {
    /// Settings of one value, and those of several, which are axes.
    fn settings(&self) -> (Settings, Axes) {
        let (mut settings, mut axes) = (Settings::new(), self.axes.axes.clone());
        for SettingArg { store, name, values } in &self.how.settings {
            match (values.as_slice(), Axis::named(&format!("{store}.{name}"))) {
                ([_, _, ..], Some(axis)) => axes.set(axis, values.iter().map(|value| Value::word(value))),
                (values, _) => {
                    let value = values.first().cloned().unwrap_or_default();
                    settings.entry(store.clone()).or_default().insert(name.clone(), value);
                }
            }
        }
        (settings, axes)
    }

    /// What the command line changes in a plan.
    pub fn changes(&self) -> Changes {
        let (settings, axes) = self.settings();
        Changes {
            // A plan's own words.
            description: None,
            trials: self.how.trials,
            seed: self.how.seed,
            size_limit: self.how.size_limit,
            timeout: self.how.timeout,
            precision: self.how.precision,
            budget: self.how.budget,
            parameters: self.how.work.parameters.clone(),
            settings,
            axes,
        }
    }
}

const REPORT_EXAMPLES: &str = "\
Examples:
  storebench report latest
  storebench report latest --table
  storebench report latest --html report.html   a page for the browser
  storebench report latest --published          the paper's tables beside the run's
  storebench report storebench-runs/crud-20260102-030405 --csv > paper.csv
  storebench report latest --sqlite results.db     one file for questions in SQL
  storebench report latest --hgrm percentiles      for HdrHistogram's plotter
  storebench report ssd-run hdd-run --csv-long > all.csv   several runs, merged by hardware name";

/// Arguments of `report`.
#[derive(Debug, Parser)]
#[command(after_help = REPORT_EXAMPLES)]
pub struct ReportArgs {
    /// Folders of runs; `latest` is the newest in the runs' directory
    #[arg(required = true, value_name = "RUN", value_hint = ValueHint::DirPath)]
    pub runs: Vec<PathBuf>,
    /// Every figure of every store, with intervals
    #[arg(long, conflicts_with_all = ["csv", "csv_long", "json", "html"])]
    pub table: bool,
    /// The CSV format of the paper that the study crud reproduces
    #[arg(long, conflicts_with_all = ["csv_long", "json", "html"])]
    pub csv: bool,
    /// One tidy row per operation and trial, with everything
    #[arg(long, conflicts_with_all = ["json", "html"])]
    pub csv_long: bool,
    /// Everything, and the matrices with their intervals
    #[arg(long, conflicts_with = "html")]
    pub json: bool,
    /// A page for the browser, in one file that needs no network
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub html: Option<PathBuf>,
    /// Published tables of winners beside the run's; by name, or all that were measured like it
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["table", "csv", "csv_long", "json", "html"])]
    pub published: Option<String>,
    /// Directory of the runs, for `latest`
    #[arg(long, value_name = "DIR", default_value = "storebench-runs", value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
    #[command(flatten, next_help_heading = "For other tools")]
    pub export: ExportArgs,
}

/// What other tools read. Each is a form of its own, which excludes all others.
#[derive(Debug, clap::Args)]
pub struct ExportArgs {
    /// All results as one SQLite file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = FORMS)]
    pub sqlite: Option<PathBuf>,
    /// Latencies as HdrHistogram's percentile text, a file for each cell and operation, in a new directory
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with_all = FORMS, conflicts_with = "sqlite")]
    pub hgrm: Option<PathBuf>,
    /// Bencher Metric Format, for continuous benchmarking
    #[arg(long, conflicts_with_all = FORMS, conflicts_with_all = ["sqlite", "hgrm"])]
    pub bencher: bool,
    /// github-action-benchmark's customSmallerIsBetter
    #[arg(long, conflicts_with_all = FORMS, conflicts_with_all = ["sqlite", "hgrm", "bencher"])]
    pub smaller_is_better: bool,
}

const FORMS: [&str; 6] = ["table", "csv", "csv_long", "json", "html", "published"];
