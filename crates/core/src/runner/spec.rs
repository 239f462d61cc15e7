//! What the parent tells a trial's process, and what that tells back: two JSON files.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::cell::Cell;
use crate::measure::cgroup::Group;
use crate::result::{Failure, Measured};
use crate::workload::parameter::Parameters;
use crate::workload::table::Workload;

/// What a trial is to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    /// The parent's process number: a trial whose parent has gone must not start.
    pub parent: u32,
    /// The cell.
    pub cell: Cell,
    /// The empty folder for the store's files.
    pub directory: PathBuf,
    /// What is done, and to what.
    pub workload: Workload,
    /// Its parameters.
    pub parameters: Parameters,
    /// The store's settings.
    pub settings: BTreeMap<String, String>,
    /// The block's: [`crate::schedule::seed`].
    pub seed: u64,
    /// The block device under the folder, or why there is none whose counters can be read.
    pub device: Result<DeviceSpec, String>,
    /// The cgroup that it is to join, or why there is none.
    pub group: Result<Group, String>,
}

/// The block device under a place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeviceSpec {
    /// Its name in /sys/block.
    pub name: String,
    /// Whether others may write to it too.
    pub shared: bool,
    /// What was written to it during an idle second before the first trial, in bytes per second.
    pub idle_written_bytes_per_s: Option<f64>,
}

/// What a trial tells back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "lowercase")]
pub enum Report {
    /// It succeeded.
    Ok {
        /// What was measured.
        measured: Box<Measured>,
    },
    /// It failed.
    Failed {
        /// What kind of failure.
        reason: Failure,
        /// What happened.
        message: String,
    },
    /// The store can't do this.
    Unsupported {
        /// Why not.
        message: String,
    },
}
