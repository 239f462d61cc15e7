//! Options of a run on another machine.

use std::path::PathBuf;

use clap::ValueHint;

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
