//! The arguments, and the help that teaches them.

mod advise;
mod axes;
mod compare;
mod doctor;
mod folders;
mod generate;
mod question;
pub mod study;
mod trace;
mod tune;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Parser, Subcommand, ValueHint};
use clap_complete::Shell;
use storebench_host::plan::{Axes, Changes, Settings};
use storebench_host::shard::Shard;
use storebench_model::axis::{Axis, Value};
use storebench_model::cell::{Background, DEFAULT_PLACE};
use storebench_model::error::{Error, Exit, Result};
use storebench_model::library;
use storebench_model::server::relay;
use storebench_model::server::running::{self, URL};
use storebench_model::simulated;
use storebench_model::units::{parse_count, split_list};

pub use self::advise::AdviseArgs;
pub use self::axes::AxisArgs;
pub use self::compare::CompareArgs;
pub use self::doctor::DoctorArgs;
pub use self::folders::{CheckArgs, FindingsArgs, MergeArgs, SiteArgs};
pub use self::generate::{GenerateArgs, GeneratedWorkload};
pub use self::question::QuestionArgs;
pub use self::trace::TraceArgs;
pub use self::tune::TuneArgs;
use super::output::WIDTH;

const ABOUT: &str = "Measures where an application should keep its records";

const LONG_ABOUT: &str = "\
Measures, on your own machine, where an application should keep its records: in plain files or in an \
embedded database, and which one. For every choice it shows speed, latency, space, memory, and what an \
acknowledged write survives.";

const EXAMPLES: &str = "\
Examples:
  storebench run crud --quick               a first answer in 2.5 minutes
  storebench run crud --store sqlite,lmdb --records 1000 --record-size 4KiB
  storebench advise --records 100k --size 1KiB..4KiB      recommend a store
  storebench tune sqlite --records 5000 --size 200B       find good settings
  storebench report latest                  the answer and tables again
  storebench report latest --table          every figure
  storebench compare before-run after-run   what changed significantly
  storebench stores                         the stores and their guarantees
  storebench doctor                         what this machine can run";

/// The examples, and all exit codes.
fn examples_and_codes() -> String {
    let code = |exit: &Exit| format!("\n  {:>3}  {}", exit.code(), exit.describe());
    format!("{EXAMPLES}\n\nExit codes:{}", Exit::ALL.iter().map(code).collect::<String>())
}

/// The command line.
#[derive(Debug, Parser)]
#[command(name = "storebench", version, about = ABOUT, long_about = LONG_ABOUT, after_help = EXAMPLES, after_long_help = examples_and_codes(), max_term_width = WIDTH)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
    /// Add the stores of a library of your own, built with storebench_store.h (see docs/store-library.md); may be given several times
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Stores of your own")]
    pub store_library: Vec<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a study, or resume a run
    Run(Box<RunArgs>),
    /// Show or export the results of one or several runs
    Report(ReportArgs),
    /// Put the parts of a plan that machines have run together
    Merge(MergeArgs),
    /// Turn a folder of runs into a static site: stores, pairs, findings
    Site(SiteArgs),
    /// Write which published sentences hold in a folder of runs, and why
    Findings(FindingsArgs),
    /// Check that a run is complete and unchanged
    Check(CheckArgs),
    /// Recommend a store for your records, from measurements
    Advise(Box<AdviseArgs>),
    /// Find good settings of a store for your records, by measuring
    Tune(Box<TuneArgs>),
    /// Compare two runs, or two sets of runs, and show what changed significantly
    Compare(CompareArgs),
    /// List the stores: kind, version, guarantees, order, threads, compression
    Stores {
        /// The store; all if none is named
        store: Option<String>,
    },
    /// List what can be set of a store: values, default, what it does, the guarantee that results
    Settings {
        /// The store; all if none is named
        store: Option<String>,
    },
    /// List machines that limits stand in for, the source of each figure, what can be limited here
    Machines {
        /// The machine; all if none is named
        machine: Option<String>,
    },
    /// List simulated disks: what each does under common loads, the source of each parameter, what it is not
    Disks {
        /// The disk; all if none is named
        disk: Option<String>,
    },
    /// List the studies and their presets
    Studies {
        /// The study; all if none is named
        study: Option<String>,
    },
    /// Show or export states after power cuts in which a store lost more than it may
    #[command(subcommand)]
    Crash(CrashCommand),
    /// Check what this machine can run, what to install, and what may disturb figures
    Doctor(DoctorArgs),
    /// Summarize a trace of operations: mix, rate, sizes, skew, working set
    Trace(TraceArgs),
    /// Make a workload's data as files, with a sample of their ids
    Generate(GenerateArgs),
    /// Delete work folders that killed runs left behind; results are kept
    Clean {
        /// Directories in which runs put the stores' files [default: the runs' directory]
        #[arg(value_hint = ValueHint::DirPath)]
        directories: Vec<PathBuf>,
    },
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Write the manual pages to a directory
    Man {
        /// The directory
        #[arg(value_hint = ValueHint::DirPath)]
        directory: PathBuf,
    },
    #[command(flatten)]
    Hidden(HiddenCommand),
}

/// Ways to see a state after a power cut.
#[derive(Debug, Subcommand)]
pub enum CrashCommand {
    /// Show what is missing in a state, and what the store made of it
    Show {
        /// The run's folder; `latest` is the newest in the runs' directory
        #[arg(value_hint = ValueHint::DirPath)]
        run: PathBuf,
        /// The state, such as 3.17; all that were kept if none is named
        state: Option<String>,
        /// Directory of the runs, for `latest` and for names
        #[arg(long, value_name = "DIR", default_value = "storebench-runs", value_hint = ValueHint::DirPath)]
        out: PathBuf,
    },
    /// Write a state's disk, its history and a script that mounts it to a folder
    Export {
        /// The run's folder; `latest` is the newest in the runs' directory
        #[arg(value_hint = ValueHint::DirPath)]
        run: PathBuf,
        /// The state, such as 3.17
        state: String,
        /// A new directory
        #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
        to: PathBuf,
        /// Directory of the runs, for `latest` and for names
        #[arg(long, value_name = "DIR", default_value = "storebench-runs", value_hint = ValueHint::DirPath)]
        out: PathBuf,
    },
}

/// Commands that the program gives itself.
#[derive(Debug, Subcommand)]
pub enum HiddenCommand {
    /// Runs one trial
    #[command(name = "__trial", hide = true)]
    Trial { spec: PathBuf, out: PathBuf },
    /// Runs a load during a trial until it is ended
    #[command(name = "__background", hide = true)]
    Background { load: Background, folder: PathBuf, parent: u32 },
    /// Serves a simulated disk, mounted in a folder, from the image on its standard input until it is unmounted
    #[command(name = simulated::COMMAND, hide = true)]
    Disk { name: String, folder: PathBuf, parent: u32, order: String },
    /// Hands on what servers in the working folder send one another, so long after it was sent
    #[command(name = relay::WORD, hide = true)]
    Relay { parent: u32, one_way_ns: u64, names: Vec<String> },
    /// Drops what the store of a folder has made on a running server
    #[command(name = running::DROP_COMMAND, hide = true)]
    Drop { folder: PathBuf },
    /// Reports the stores of a library
    #[command(name = library::COMMAND, hide = true)]
    Library { path: PathBuf },
    /// Writes what the program knows as pages of the documentation
    #[command(name = "reference", hide = true)]
    Reference {
        #[arg(long)]
        out: PathBuf,
    },
    /// Runs what another machine asks for, in a folder
    #[command(name = "__board", hide = true)]
    Board { folder: PathBuf },
}

const RUN_EXAMPLES: &str = "\
Examples:
  storebench run crud --quick
  storebench run crud --quick --operations 10 --trials 2      on a slow disk
  storebench run crud --dry-run       list the cells, and estimate time and disk
  storebench run crud --store sqlite,lmdb --record-size 100KiB --guarantee power
  storebench run crud --at ssd=/mnt/ssd --at hdd=/mnt/hdd --hardware laptop
  storebench run crud --place here,ext4:4096,ntfs:4096
  storebench run crud --threads 1,4 --rate 5000/s --duration 30s
  storebench run crud --store sqlite --set sqlite.page_size=8192 --trials 10
  storebench run ycsb --store rocksdb -P workloada -p recordcount=100000
  storebench run crud --quick --store lmdb --threads 1,2,4 --one-at-a-time
  storebench run life --like ./thumbnails --records 5000      records like yours
  storebench run my-plan.toml
  storebench run --resume storebench-runs/crud-20260102-030405
  storebench run crud --quick --remote user@board
  storebench run crud --store etcd --url etcd=etcd://s --threads 2 --clients a,b
  storebench run crud --quick --shard 3/8     one of eight parts

Sizes: 512B, 4KiB (1024 bytes each), 4KB (1000 bytes each), 1.5GiB.
Ranges exclude their end: 1KiB..10KiB.
Counts: 50000, 50,000, 50k, 1M, 1e6. Times: 500ms, 30s, 10m, 1h30m.
Commas separate the values of a list. 12,500 could be one number or two values:
write 12500, or \"12, 500\".";

/// Arguments of `run`.
#[derive(Debug, Parser)]
#[command(after_help = RUN_EXAMPLES)]
pub struct RunArgs {
    /// A study (see `storebench studies`) or a plan of your own (a TOML file). `storebench run STUDY --help` lists the options that
    /// it alone has
    #[arg(required_unless_present = "resume", conflicts_with = "resume", value_hint = ValueHint::FilePath)]
    pub study: Option<String>,

    /// Apply a preset of the study
    #[arg(long, conflicts_with = "resume")]
    pub preset: Option<String>,
    /// Same as --preset quick: a coarse look, in minutes
    #[arg(long, conflicts_with_all = ["resume", "preset"])]
    pub quick: bool,
    /// List the cells, estimate time and disk, and run nothing
    #[arg(long, conflicts_with = "resume")]
    pub dry_run: bool,
    /// Resume a run where it stopped, with the plan that it started with
    #[arg(long, value_name = "RUN", value_hint = ValueHint::DirPath, conflicts_with = "Parameters")]
    pub resume: Option<PathBuf>,
    /// Run the third of eight parts of the plan, one for each machine (see docs/fleet.md). A part that --out has is resumed
    #[arg(long, value_name = "3/8", conflicts_with_all = ["resume", "remote"])]
    pub shard: Option<Shard>,

    #[command(flatten, next_help_heading = "Narrowing the axes")]
    pub axes: AxisArgs,
    /// Take sizes and kind of the records from your data: a folder of files, data.csv:column, app.db:table or app.db:table.column
    #[arg(long, value_name = "DATA", help_heading = "Narrowing the axes", value_hint = ValueHint::AnyPath, conflicts_with_all = ["resume", "record_size", "data"])]
    pub like: Option<String>,
    #[command(flatten, next_help_heading = "How cells are run")]
    pub how: PlanArgs,
    #[command(flatten, next_help_heading = "YCSB's properties")]
    pub properties: PropertyArgs,

    /// Directory for the stores' files; give several with names to compare them [default: the runs' directory]
    #[arg(long, value_name = "[NAME=]DIR", help_heading = "Where", value_hint = ValueHint::DirPath, conflicts_with = "resume")]
    pub at: Vec<LocationArg>,
    /// Directory for the folders of runs
    #[arg(long, value_name = "DIR", default_value = "storebench-runs", help_heading = "Where", value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
    /// Name of this machine or disk in reports, which merge runs of one name [default: the host's name]
    #[arg(long, value_name = "NAME", help_heading = "Where", conflicts_with = "resume")]
    pub hardware: Option<String>,

    #[command(flatten, next_help_heading = "On another machine")]
    pub board: BoardArgs,
}

/// The rest of a plan that the command line can change.
#[derive(Debug, clap::Args)]
pub struct PlanArgs {
    #[command(flatten)]
    pub changes: Changes,
    /// Change a setting of a store: sqlite.page_size=8192. Several values make variants to compare: sqlite.page_size=4096,8192
    #[arg(long = "set", value_name = "STORE.NAME=VALUE,...", conflicts_with = "resume")]
    pub settings: Vec<SettingArg>,
    /// Use a running server instead of a private one: postgres=postgresql://user@host/database. Never with a password: see docs/servers.md
    #[arg(long = "url", value_name = "STORE=URL", conflicts_with = "resume")]
    pub urls: Vec<UrlArg>,
}

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

/// Where else a run is made.
#[derive(Debug, clap::Args)]
pub struct BoardArgs {
    /// Run on another machine, over ssh, and bring the results here: user@board, ssh://user@board:2222, or a name of your ssh configuration;
    /// on a phone: adb: or adb:SERIAL
    #[arg(long, value_name = "HOST", value_hint = ValueHint::Hostname)]
    pub remote: Option<String>,
    /// storebench's folder on the other machine [default: ~/.cache/storebench, of a phone /data/local/tmp/storebench]
    #[arg(long, value_name = "DIR", requires = "remote")]
    pub remote_dir: Option<String>,
    /// The program for the other machine [default: this one, or what `make cross` built]
    #[arg(long, value_name = "FILE", requires = "remote", value_hint = ValueHint::FilePath)]
    pub remote_program: Option<PathBuf>,
}

/// The options of `run` that concern this machine, each with a value.
pub const LOCAL_OPTIONS: [&str; 5] = ["--remote", "--remote-dir", "--remote-program", "--out", "--ycsb"];

/// `STORE=URL`.
#[derive(Debug, Clone)]
pub struct UrlArg {
    pub store: String,
    pub url: String,
}

impl FromStr for UrlArg {
    type Err = std::convert::Infallible;

    /// A mistake is reported later: the parser of arguments would repeat a password.
    fn from_str(text: &str) -> std::result::Result<Self, Self::Err> {
        let (store, url) = text.split_once('=').unwrap_or(("", text));
        // Also by its protocol.
        let store = if store == "mysql" { "mariadb" } else { store };
        Ok(UrlArg { store: store.into(), url: url.into() })
    }
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

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let parts = text.split_once('=').and_then(|(name, value)| Some((name.split_once('.')?, value)));
        let ((store, name), values) = parts.ok_or("write it like sqlite.page_size=8192")?;
        let values = split_list(values, |value| !value.is_empty())?;
        let values: Vec<String> = values.iter().map(|value| plain_number(value)).collect();
        if values.len() > 1 && values.iter().any(String::is_empty) {
            return Err("one of its values is empty: write them like sqlite.page_size=4096,8192".into());
        }
        Ok(SettingArg { store: store.into(), name: name.into(), values })
    }
}

/// A value in the engines' form: a number without commas between its thousands.
fn plain_number(value: &str) -> String {
    match parse_count(value) {
        Ok(number) if value.contains(',') => number.to_string(),
        _ => value.to_owned(),
    }
}

/// A place: `NAME=DIR`, or a directory alone.
#[derive(Debug, Clone)]
pub struct LocationArg {
    pub name: String,
    pub path: PathBuf,
}

impl FromStr for LocationArg {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let is_place_name = |name: &str| {
            let mut bytes = name.bytes();
            !name.is_empty() && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
        };
        Ok(match text.split_once('=') {
            Some((name, path)) if is_place_name(name) => LocationArg { name: name.into(), path: path.into() },
            _ => LocationArg { name: DEFAULT_PLACE.into(), path: text.into() },
        })
    }
}

impl RunArgs {
    /// The study's name or file; empty for a resumed run.
    pub fn study(&self) -> &str {
        self.study.as_deref().unwrap_or_default()
    }

    /// The preset that is asked for.
    pub fn preset(&self) -> Option<&str> {
        self.preset.as_deref().or(self.quick.then_some("quick"))
    }

    /// Settings with one value, and those with several, which are axes.
    fn settings(&self) -> Result<(Settings, Axes)> {
        let (mut settings, mut axes) = (Settings::new(), self.axes.axes.clone());
        let names = self.how.settings.iter().map(|setting| format!("{}.{}", setting.store, setting.name));
        let names = names.chain(self.how.urls.iter().map(|url| format!("{}.{URL}", url.store)));
        // Unknown settings are an error later, which does not repeat a password.
        let mut seen = BTreeSet::new();
        if let Some(axis) = names.filter_map(|name| Axis::find(&name)).find(|axis| !seen.insert(*axis)) {
            return Err(Error::bad_value(format!("{axis} is given twice: write several values as A,B")));
        }
        for SettingArg { store, name, values } in &self.how.settings {
            match (values.as_slice(), Axis::find(&format!("{store}.{name}"))) {
                ([_, _, ..], Some(axis)) => axes.set(axis, values.iter().map(|value| Value::word(value))),
                (values, _) => {
                    let value = values.first().cloned().unwrap_or_default();
                    settings.entry(store.clone()).or_default().insert(name.clone(), value);
                }
            }
        }
        for UrlArg { store, url } in &self.how.urls {
            settings.entry(store.clone()).or_default().insert(URL.into(), url.clone());
        }
        Ok((settings, axes))
    }

    /// The changes of the command line to a plan; an error if a setting is given twice.
    pub fn changes(&self) -> Result<Changes> {
        let (settings, axes) = self.settings()?;
        let axes_one_at_a_time = self.how.changes.one_at_a_time;
        Ok(Changes { axes_one_at_a_time, settings, axes, ..self.how.changes.clone() })
    }
}

const REPORT_EXAMPLES: &str = "\
Examples:
  storebench report latest
  storebench report latest --table
  storebench report latest --html report.html    a page for the browser
  storebench report latest --published           with the paper's tables
  storebench report storebench-runs/crud-20260102-030405 --csv > paper.csv
  storebench report latest --sqlite results.db   for questions in SQL
  storebench report latest --html a.html --sqlite a.db --json > a.json
  storebench report ssd-run hdd-run --json > all.json   (several runs)";

/// Arguments of `report`. What goes to files combines with everything; of what is printed, one form at a time.
#[derive(Debug, Parser)]
#[command(after_help = REPORT_EXAMPLES)]
pub struct ReportArgs {
    /// Folders of runs; `latest` is the newest in the runs' directory
    #[arg(value_name = "RUN", default_value = "latest", value_hint = ValueHint::DirPath)]
    pub runs: Vec<PathBuf>,
    /// Every figure of every store, with intervals, and every published finding
    #[arg(long, group = PRINTED)]
    pub table: bool,
    /// CSV in the format of the paper that the study crud follows
    #[arg(long, group = PRINTED)]
    pub csv: bool,
    /// CSV of what settings are worth: combinations, main effects, interactions
    #[arg(long, group = PRINTED)]
    pub csv_effects: bool,
    /// CSV of data against memory: throughput and latency by size, and each store's cliff
    #[arg(long, group = PRINTED)]
    pub csv_sizes: bool,
    /// CSV of one section of the report, such as clusters; an unknown name lists all
    #[arg(long, value_name = "SECTION", group = PRINTED)]
    pub csv_section: Option<String>,
    /// Everything as JSON, with the tables of winners and their intervals
    #[arg(long, group = PRINTED)]
    pub json: bool,
    /// Published tables of winners next to the run's: one by name, or all measured like it
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "", group = PRINTED)]
    pub published: Option<String>,
    /// Write a page for the browser, one file that needs no network; `-` is standard output
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub html: Option<PathBuf>,
    /// Directory of the runs, for `latest` and for names
    #[arg(long, value_name = "DIR", default_value = "storebench-runs", value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
    /// Write all results to one SQLite file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = FOR_OTHER_TOOLS)]
    pub sqlite: Option<PathBuf>,
    /// The text that YCSB prints, for scripts that read it: [READ], AverageLatency(us), 4.2
    #[arg(long, group = PRINTED, help_heading = FOR_OTHER_TOOLS)]
    pub ycsb: bool,
}

/// The heading of the outputs for other tools.
const FOR_OTHER_TOOLS: &str = "For other tools";

/// The group of outputs that go to standard output.
const PRINTED: &str = "printed";

impl ReportArgs {
    /// Whether an output to standard output is asked for.
    pub fn is_printed(&self) -> bool {
        self.is_data() || self.ycsb || self.table || self.published.is_some()
    }

    /// Whether CSV or JSON is asked for.
    pub fn is_data(&self) -> bool {
        self.csv || self.json || self.section().is_some()
    }

    /// The section for CSV.
    pub fn section(&self) -> Option<&str> {
        let shorthand = [(self.csv_effects, "effects"), (self.csv_sizes, "sizes")];
        let shorthand = shorthand.into_iter().find(|(is_set, _)| *is_set).map(|(_, name)| name);
        shorthand.or(self.csv_section.as_deref())
    }

    /// Whether a file is asked for.
    pub fn is_written(&self) -> bool {
        self.html.is_some() || self.sqlite.is_some()
    }
}
