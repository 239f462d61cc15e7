//! A run as it is read from its folder.

use std::sync::OnceLock;

use storebench_core::workload::table::Workload;
use storebench_model::result::{RunHeader, TrialResult};
use toml::Table;

use crate::plan::{Plan, unusable};

/// A run. Its plan is parsed once, when it is first asked for; the header's text must not change after that.
#[derive(Debug)]
pub struct Run {
    /// `run.json`.
    pub header: RunHeader,
    /// `results.jsonl`, in the order in which trials ended.
    pub trials: Vec<TrialResult>,
    plan: OnceLock<Result<Plan, String>>,
    keys: OnceLock<Option<Table>>,
}

impl Run {
    /// A run of these trials.
    pub fn new(header: RunHeader, trials: Vec<TrialResult>) -> Run {
        Run { header, trials, plan: OnceLock::new(), keys: OnceLock::new() }
    }

    /// The plan; `None` if this program does not know all of its keys.
    pub fn plan(&self) -> Option<&Plan> {
        self.parsed_plan().as_ref().ok()
    }

    /// The plan, of a run that is in `origin`. Else says what is wrong with it, with the place in the text.
    pub fn usable_plan(&self, origin: &str) -> storebench_model::error::Result<&Plan> {
        self.parsed_plan().as_ref().map_err(|reason| unusable(origin, reason))
    }

    fn parsed_plan(&self) -> &Result<Plan, String> {
        self.plan.get_or_init(|| Plan::read(&self.header.plan))
    }

    /// The workload, if this program knows it, whatever else the plan says.
    pub fn workload(&self) -> Option<Workload> {
        self.plan_keys()?.get("workload")?.as_str()?.parse().ok()
    }

    /// The plan's keys and values, even if this program does not know all of them; `None` if it is no TOML.
    pub fn plan_keys(&self) -> Option<&Table> {
        self.keys.get_or_init(|| self.header.plan.parse().ok()).as_ref()
    }
}

impl Clone for Run {
    fn clone(&self) -> Run {
        Run::new(self.header.clone(), self.trials.clone())
    }
}

impl PartialEq for Run {
    fn eq(&self, other: &Run) -> bool {
        self.header == other.header && self.trials == other.trials
    }
}
