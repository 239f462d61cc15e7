//! Options of `crash pull-the-plug`.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use storebench_core::store::Guarantee;

use super::number::whole;
use super::{BoardArgs, SettingArg};

/// The store that writes, where, and how often its power is cut.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct PlugArgs {
    #[command(flatten)]
    pub board: BoardArgs,
    /// The store, by name
    #[arg(long, value_name = "NAME")]
    pub store: String,
    /// The guarantee that it is held to: process, power
    #[arg(long, value_name = "NAME", default_value = "power", value_parser = guarantee)]
    pub guarantee: Guarantee,
    /// A setting of the store, by its own name
    #[arg(long = "set", value_name = "STORE.NAME=VALUE")]
    pub settings: Vec<SettingArg>,
    /// An existing directory of the board for the store's files, on the disk that you care about [default: storebench's folder there]
    #[arg(long, value_name = "DIR")]
    pub at: Option<PathBuf>,
    /// Cuts, one after the other
    #[arg(long, value_name = "N", default_value = "1", value_parser = whole::<u64>)]
    pub pulls: u64,
    /// Directory here in which findings are kept, in pulls.jsonl
    #[arg(long, value_name = "DIR", default_value = "storebench-runs", value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  storebench crash pull-the-plug --remote pi@board --store sqlite --at /mnt/sd
  storebench crash pull-the-plug --remote pi@board --store lmdb --guarantee process --pulls 5
  storebench crash pull-the-plug --remote pi@board --store sqlite --set sqlite.synchronous=NORMAL";

fn guarantee(text: &str) -> Result<Guarantee, String> {
    let known = text.parse::<Guarantee>().ok().filter(|tier| *tier != Guarantee::None);
    known.ok_or_else(|| "process or power: with none nothing is promised".into())
}
