//! Estimates the rest of a run's time.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::plan::Plan;
use crate::runner::run_request::RunRequest;
use storebench_core::measure::probe::Probe;
use storebench_model::cell::{Cell, LocationOnDisk};
use storebench_model::store::StoreDef;

/// The rest of a run's time: estimates of the cells, scaled by their accuracy so far.
pub struct Pace<'a> {
    plan: &'a Plan,
    stores: &'a [StoreDef],
    probes: BTreeMap<LocationOnDisk, Probe>,
    estimated_left_s: f64,
    estimated_done_s: f64,
    took_s: f64,
}

impl<'a> Pace<'a> {
    /// The pace of a job whose places were probed, by name.
    pub fn new(job: &RunRequest<'a>, probes: BTreeMap<LocationOnDisk, Probe>) -> Pace<'a> {
        let (plan, stores) = (job.plan, job.stores);
        let mut pace =
            Pace { plan, stores, probes, estimated_left_s: 0.0, estimated_done_s: 0.0, took_s: 0.0 };
        let total: f64 = job.cells.iter().map(|cell| pace.estimate(cell)).sum();
        let done: f64 = job.earlier_results.iter().map(|result| pace.estimate(&result.cell)).sum();
        pace.estimated_left_s = (total * f64::from(job.plan.trials) - done).max(0.0);
        pace
    }

    fn estimate(&self, cell: &Cell) -> f64 {
        let seconds = |probe| self.plan.time(cell, self.stores, probe).trial_s;
        self.probes.get(&cell.location_on_disk()).map_or(1.0, seconds)
    }

    /// Takes into account that a trial of `cell` took `took_s` seconds.
    pub fn count_trial(&mut self, cell: &Cell, took_s: f64) {
        let estimate = self.estimate(cell);
        self.estimated_left_s = (self.estimated_left_s - estimate).max(0.0);
        self.estimated_done_s += estimate;
        self.took_s += took_s;
    }

    pub fn time_left(&self) -> Option<Duration> {
        let scale = if self.estimated_done_s > 0.0 { self.took_s / self.estimated_done_s } else { 1.0 };
        Duration::try_from_secs_f64(self.estimated_left_s * scale).ok()
    }
}
