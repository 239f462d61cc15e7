//! A run as it is read from its folder.

use std::sync::OnceLock;

use storebench_core::result::{RunHeader, TrialResult};
use toml::Table;

use crate::plan::Plan;

/// A run. Its plan is parsed once, when it is first asked for; the header's text must not change after that.
#[derive(Debug)]
pub struct Run {
    /// `run.json`.
    pub header: RunHeader,
    /// `results.jsonl`, in the order in which trials ended.
    pub trials: Vec<TrialResult>,
    plan: OnceLock<Option<Plan>>,
    keys: OnceLock<Option<Table>>,
}

impl Run {
    /// A run of these trials.
    pub fn new(header: RunHeader, trials: Vec<TrialResult>) -> Run {
        Run { header, trials, plan: OnceLock::new(), keys: OnceLock::new() }
    }

    /// The plan; `None` if this program does not know all of its keys.
    pub fn plan(&self) -> Option<&Plan> {
        self.plan.get_or_init(|| Plan::parse(&self.header.plan, "of the run").ok()).as_ref()
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
