//! What the parent tells a trial's process, and what that tells back: two JSON files.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::cell::Cell;
use crate::guard;
use crate::measure::cgroup::Group;
use crate::measure::device::DeviceSpec;
use crate::measure::limit::Order;
use crate::result::{Failure, Measured};
use crate::store::StoreDef;
use crate::workload::driver::Stop;
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
    /// The block's, of data and choices.
    pub seed: u64,
    /// The block device under the folder, or why there is none whose counters can be read.
    pub device: Result<DeviceSpec, String>,
    /// The cgroup that it is to join, or why there is none.
    pub group: Result<Group, String>,
    /// The limits that it is held to.
    #[serde(default)]
    pub limits: Option<Order>,
}

impl Spec {
    /// Puts this process under the trial's limits, if it has any, and writes down for the parent what took effect: it may
    /// not live to tell.
    ///
    /// # Errors
    /// When a limit does not hold: what is measured would be of another machine.
    pub fn enter_limits(&self) -> Result<(), Ended> {
        let Some(order) = &self.limits else { return Ok(()) };
        let told = order.enter().map_err(Ended::Unsupported)?;
        let text = serde_json::to_string(&told).map_err(Ended::harness)?;
        let (Some(folder), Some(name)) = (order.told.parent(), order.told.file_name()) else {
            return Err(Ended::harness("there is no file for the limits"));
        };
        let mut file = guard::rewrite(folder, &name.to_string_lossy()).map_err(Ended::harness)?;
        file.write_all(text.as_bytes()).map_err(Ended::harness)
    }
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

/// What a workload is asked to do in the trial's process.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The table of stores.
    pub stores: &'a [StoreDef],
    /// The trial.
    pub spec: &'a Spec,
}

/// Why a trial ended without a result.
#[derive(Debug)]
pub enum Ended {
    /// It failed.
    Failed(Stop),
    /// What is measured can't do this, and why.
    Unsupported(String),
}

impl Ended {
    /// The harness failed.
    pub fn harness(message: impl std::fmt::Display) -> Ended {
        Ended::Failed(Stop::harness(message.to_string()))
    }
}

impl From<Stop> for Ended {
    fn from(stop: Stop) -> Ended {
        Ended::Failed(stop)
    }
}
