//! The messages of the parent to a trial's process, and of that back: two JSON files.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use storebench_model::cell::{Axis, Cell, Tuning};
use storebench_model::result::{Failure, LimitReport, Measurements};
use storebench_model::store::{Library, OpenOptions, StoreDef};

use crate::guard;
use crate::measure::cgroup::TrialCgroup;
use crate::measure::device::DeviceSpec;
use crate::measure::limit::LimitValues;
use crate::workload::clients::link::ClientConnector;
use crate::workload::def::Workload;
use crate::workload::parameter::Parameters;
use crate::workload::workload_error::WorkloadError;
use storebench_model::server::processes;

/// The task of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    /// The parent's process number: a trial whose parent has gone must not start.
    pub parent: u32,
    /// The cell.
    pub cell: Cell,
    /// The empty folder for the store's files.
    pub directory: PathBuf,
    /// A folder of the run for what servers need in addition to their data; `None` without a server.
    #[serde(default)]
    pub run_folder: Option<PathBuf>,
    /// The work that is done, and the thing that it is done to.
    pub workload: Workload,
    /// Its parameters.
    pub parameters: Parameters,
    /// The store's settings.
    pub settings: BTreeMap<String, String>,
    /// The block's, of data and choices.
    pub seed: u64,
    /// The block device under the folder, or why there is none whose counters can be read.
    pub device: Result<DeviceSpec, String>,
    /// The folder in which the simulated disk under it is mounted, if there is one.
    #[serde(default)]
    pub disk: Option<PathBuf>,
    /// The cgroup that it is to join, or why there is none.
    pub group: Result<TrialCgroup, String>,
    /// The limit on its machine's memory, in bytes, if any: data can be made relative to it.
    #[serde(default)]
    pub memory_limit: Option<u64>,
    /// The limits that it is held to.
    #[serde(default)]
    pub limits: Option<LimitValues>,
    /// Whether its settings may give less than the guarantee that is asked for: they are judged by states after power cuts.
    #[serde(default)]
    pub judged: bool,
    /// The part of a check that it does in place of the workload.
    #[serde(default)]
    pub part: Option<CheckPart>,
    /// The library that its store comes from, if any: the process loads it.
    #[serde(default)]
    pub library: Option<Library>,
    /// The hosts of the clients that have its sessions; empty if this process has them.
    #[serde(default)]
    pub clients: Vec<String>,
}

/// The part of a check that a process does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckPart {
    /// Of a kill check.
    Kill(KillPart),
    /// Of a cut check, or of one of faults.
    Cut(CutPart),
    /// Of a recovery check.
    Recover(RecoverPart),
}

/// The part of a kill check that a process does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KillPart {
    /// Writes until it is killed.
    Write,
    /// Reads what was acknowledged.
    ReadBack {
        /// The steps that were.
        steps: u64,
        /// Whether what had not been synced was undone.
        undone: bool,
    },
}

/// The part of a recovery check that a process does: it opens the store, adds records, and ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecoverPart {
    /// The records that the store has.
    pub records: u64,
    /// The number of records that it adds.
    pub adds: u64,
    /// Whether the kernel's memory was emptied before it.
    pub is_cold: bool,
    /// Its end.
    pub end: RecoverEnd,
}

/// The end of a process of a recovery check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecoverEnd {
    /// It closes the store.
    Closes,
    /// It is killed.
    Killed,
    /// It is killed when its writes that were not synced are undone.
    Cut,
}

/// The part of a cut check that a process does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CutPart {
    /// Takes a number of steps, and is gone without closing its store.
    Record {
        /// The steps.
        steps: u64,
        /// The sessions that share them.
        sessions: u64,
        /// Whether it is the made store that writes in place.
        made: bool,
    },
    /// Takes a number of steps, whatever fails, and is gone without closing its store.
    Endure {
        /// The steps.
        steps: u64,
    },
    /// Looks at what such steps have left.
    LookAfter {
        /// Whether each step was acknowledged.
        acknowledged: Vec<bool>,
    },
    /// Looks at a state.
    Look {
        /// Steps of each session that were begun before the cut.
        begun: Vec<u64>,
        /// Whether it is the made store that writes in place.
        made: bool,
    },
}

impl Spec {
    /// The task of a trial that nobody watches, without limits and without checks; its sessions are in this process.
    pub fn unwatched(cell: Cell, directory: PathBuf, workload: Workload, parameters: Parameters) -> Spec {
        Spec {
            parent: 0,
            cell,
            directory,
            run_folder: None,
            workload,
            parameters,
            settings: BTreeMap::new(),
            seed: 1,
            device: Err("not looked at".into()),
            disk: None,
            group: Err("none".into()),
            memory_limit: None,
            limits: None,
            judged: false,
            part: None,
            library: None,
            clients: Vec::new(),
        }
    }

    /// The store's options for this number of sessions, without transactions over records, unless the workload asks for them.
    pub fn options(&self, sessions: u64) -> OpenOptions<'_> {
        OpenOptions {
            directory: &self.directory,
            guarantee: self.cell.guarantee().tier(),
            judged: self.judged,
            compression: self.workload.def().axes.contains(&Axis::COMPRESSION)
                && self.cell.compression().is_on(self.cell.data()),
            cache_bytes: (self.cell.tuning() == Tuning::Equal).then(|| self.parameters.equal_cache()),
            settings: &self.settings,
            sessions: usize::try_from(sessions).unwrap_or(usize::MAX),
            transactions: false,
            run_folder: self.run_folder.as_deref(),
        }
    }

    /// Puts this process under the trial's limits, if any, and writes down for the parent what took effect: it may not live to
    /// report it. Fails when a limit does not hold: what is measured would be of another machine.
    pub(crate) fn enter_limits(&self) -> Result<(), TrialError> {
        let Some(order) = &self.limits else { return Ok(()) };
        self.report_limits(order, &order.enter().map_err(TrialError::Unsupported)?)
    }

    /// Has the next server join the cgroups that hold the trial, in place of this process.
    pub(crate) fn hold_server(&self) -> Result<(), TrialError> {
        let mut groups = Vec::new();
        if let Some(order) = &self.limits {
            self.report_limits(order, &order.hold_server().map_err(TrialError::Unsupported)?)?;
            groups.clone_from(&order.groups);
        }
        let counting_group = self.group.as_ref().ok().filter(|group| !groups.contains(group));
        groups.extend(counting_group.cloned());
        processes::set_cgroups(groups.iter().map(|group| group.folder.clone()).collect());
        Ok(())
    }

    fn report_limits(&self, order: &LimitValues, reports: &[LimitReport]) -> Result<(), TrialError> {
        let text = serde_json::to_string(reports).map_err(TrialError::harness)?;
        let (Some(folder), Some(name)) = (order.report_file.parent(), order.report_file.file_name()) else {
            return Err(TrialError::harness("there is no file for the limits"));
        };
        let mut file = guard::rewrite(folder, &name.to_string_lossy()).map_err(TrialError::harness)?;
        file.write_all(text.as_bytes())
            .map_err(|error| TrialError::harness(format!("writing {}: {error}", order.report_file.display())))
    }
}

/// The report of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "lowercase")]
pub enum Report {
    /// It succeeded.
    Ok {
        /// The measurements.
        measured: Box<Measurements>,
    },
    /// It failed.
    Failed {
        /// The kind of failure.
        reason: Failure,
        /// A sentence that says what happened.
        message: String,
    },
    /// The store can't do this.
    Unsupported {
        /// Why not.
        message: String,
    },
}

/// The task of a workload in the trial's process.
#[derive(Debug, Clone, Copy)]
pub struct TrialContext<'a> {
    /// The table of stores.
    pub stores: &'a [StoreDef],
    /// The trial.
    pub spec: &'a Spec,
    /// The way to clients; `None` where this program knows none.
    pub reach: Option<ClientConnector>,
}

/// Why a trial ended without a result.
#[derive(Debug)]
pub enum TrialError {
    /// It failed.
    Failed(WorkloadError),
    /// The reason why the thing that is measured can't do this.
    Unsupported(String),
}

impl TrialError {
    /// The harness failed.
    pub fn harness(message: impl std::fmt::Display) -> TrialError {
        TrialError::Failed(WorkloadError::harness(message.to_string()))
    }
}

impl From<WorkloadError> for TrialError {
    fn from(stop: WorkloadError) -> TrialError {
        TrialError::Failed(stop)
    }
}
