//! Tries the settings of stores before a run, in short trials: one that would fail in every trial is reported before the first.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::location::Location;
use crate::location::directory::WorkFolder;
use crate::location::image::Template;
use crate::plan::{Period, Plan};
use crate::runner::locations::{TrialFolder, trial_bytes};
use crate::runner::run_request::RunRequest;
use crate::runner::trial::Trial;
use storebench_core::measure::limit::LimitSupport;
use storebench_core::workload::parameter::Count;
use storebench_model::cell::{Axis, Cell};
use storebench_model::error::{Error, Result};
use storebench_model::result::{Failure, Outcome, TrialResult};
use storebench_model::server::identifies_server;

/// The longest that a value is tried.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The parameters of a trial that takes a moment.
const PARAMETERS: [(&str, &str); 7] = [
    ("operations", "1"),
    ("rounds", "1"),
    ("warm_up", "0"),
    ("limit", "20"),
    ("speed", "max"),
    ("rest", "0ms"),
    ("after_load", "at-once"),
];
/// Operations of each kind if their time is of interest: the first ones are slower.
const TIMED_OPERATIONS: u64 = 5;
/// The same for work that runs for a time.
const DURATION: (&str, &str) = ("duration", "1ms");
/// The values that a cell gets on these axes, if it has them.
const AXES: [(&str, &str); 10] = [
    // Whether a setting is accepted depends on the engine, not on the limits.
    ("machine", "here"),
    ("records", "10..20"),
    ("record_size", "100B"),
    ("rate", "closed"),
    ("cache", "warm"),
    ("background", "none"),
    ("rows", "10"),
    ("data_size", "16KiB"),
    ("transactions", "2"),
    ("statements", "1"),
];

/// The findings of short trials.
#[derive(Debug, Default)]
pub struct Rehearsal {
    /// Settings with which no trial can succeed.
    pub refused: Vec<RefusedSettings>,
    /// The results of trials that succeeded, by cell id.
    pub results: BTreeMap<String, TrialResult>,
}

/// Which cells are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RehearsalExtent {
    /// Enough cells to try each value of each setting once.
    EachSetting,
    /// Each cell with settings, with more work, to estimate the time of the run.
    EachCell,
}

/// Settings with which no trial can succeed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedSettings {
    /// The store and its settings, in words: `sqlite page_size=1000`.
    pub what: String,
    /// The error.
    pub why: String,
}

/// Tries each value of each setting of the cells, with each guarantee, in a separate folder in the cell's place. `None`
/// if it was interrupted.
pub fn rehearse(job: &RunRequest<'_>, extent: RehearsalExtent) -> Result<Option<Rehearsal>> {
    let plan = shorten_plan(job.plan, extent)?;
    let job = RunRequest {
        plan: &plan,
        earlier_results: &[],
        deadline: None,
        precision_rule: None,
        continue_rule: None,
        extra_cells: None,
        ..*job
    };
    let mut tried_values = BTreeSet::new();
    let mut rehearsal = Rehearsal::default();
    for cell in job.cells {
        let settings = job.plan.settings_of(cell);
        let new_values = settings.iter().filter(|(name, value)| {
            let store = cell.store().to_owned();
            tried_values.insert((store, (*name).clone(), (*value).clone(), cell.guarantee()))
        });
        if new_values.count() == 0 && (extent == RehearsalExtent::EachSetting || settings.is_empty()) {
            continue;
        }
        if job.interrupted.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let small = shrink(cell)?;
        let Some(result) = run_short_trial(&job, &small, extent)? else { return Ok(None) };
        let has_failed = matches!(result.outcome, Outcome::Failed { .. });
        let why = match result.outcome {
            Outcome::Ok => {
                rehearsal.results.insert(cell.id(), result);
                continue;
            }
            // The run itself finds a lack of room or speed in the place.
            Outcome::Failed { reason: Failure::DiskFull | Failure::TimedOut, .. } => continue,
            Outcome::Failed { message, .. } | Outcome::Unsupported { message } => message,
        };
        // If the store also fails without the settings, the place is at fault, and its trials report that: other stores may work there.
        let has_settings = settings.keys().any(|name| !identifies_server(name));
        if has_failed && has_settings && fails_as_shipped(&job, &small)? {
            continue;
        }
        let words: Vec<String> = settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let refusal = RefusedSettings { what: format!("{} {}", cell.store(), words.join(" ")), why };
        if !rehearsal.refused.contains(&refusal) {
            rehearsal.refused.push(refusal);
        }
    }
    Ok(Some(rehearsal))
}

/// Whether a cell also fails without any setting except those that identify a server.
fn fails_as_shipped(job: &RunRequest<'_>, cell: &Cell) -> Result<bool> {
    let mut plan = job.plan.clone();
    plan.settings.values_mut().for_each(|settings| settings.retain(|name, _| identifies_server(name)));
    let mut cell_as_shipped = cell.clone();
    for (axis, _) in cell.values() {
        if axis.setting().is_some_and(|(_, name)| !identifies_server(name)) {
            cell_as_shipped.remove(axis);
        }
    }
    let result =
        run_short_trial(&RunRequest { plan: &plan, ..*job }, &cell_as_shipped, RehearsalExtent::EachSetting)?;
    Ok(result.is_some_and(|result| matches!(result.outcome, Outcome::Failed { .. })))
}

/// Runs one short trial of each cell, which shows whether it can run, and what it promises. `None` if it was interrupted.
pub fn try_each(job: &RunRequest<'_>) -> Result<Option<Vec<TrialResult>>> {
    let plan = shorten_plan(job.plan, RehearsalExtent::EachSetting)?;
    let job = RunRequest {
        plan: &plan,
        earlier_results: &[],
        deadline: None,
        precision_rule: None,
        continue_rule: None,
        extra_cells: None,
        ..*job
    };
    let mut results = Vec::with_capacity(job.cells.len());
    for cell in job.cells {
        let is_interrupted = || job.interrupted.load(Ordering::Relaxed);
        let Some(result) = run_short_trial(&job, &shrink(cell)?, RehearsalExtent::EachSetting)?
            .filter(|_| !is_interrupted())
        else {
            return Ok(None);
        };
        results.push(TrialResult { cell: cell.clone(), ..result });
    }
    Ok(Some(results))
}

/// Runs one complete trial of a cell without keeping its result: its time decides how large trials may be. `None` if it was interrupted.
pub fn pilot(job: &RunRequest<'_>, cell: &Cell) -> Result<Option<TrialResult>> {
    run_short_trial(job, cell, RehearsalExtent::EachSetting)
}

/// The plan, with the least possible work.
fn shorten_plan(plan: &Plan, extent: RehearsalExtent) -> Result<Plan> {
    let mut plan = plan.clone();
    plan.timeout = Period(TIMEOUT.min(plan.timeout.0));
    // The settings that a server accepts do not depend on the client.
    plan.clients = Vec::new();
    plan.parameters.operations_unsynced = None;
    let has_duration = plan.parameters.names().any(|name| name == DURATION.0);
    for (name, value) in PARAMETERS.into_iter().chain(has_duration.then_some(DURATION)) {
        if plan.workload.has_parameter(name) {
            plan.parameters.set(name, value).map_err(harness_error)?;
        }
    }
    if plan.workload.has_parameter("operations") && extent == RehearsalExtent::EachCell {
        plan.parameters.operations = Some(Count(TIMED_OPERATIONS));
    }
    Ok(plan)
}

/// The cell, with the least possible data.
fn shrink(cell: &Cell) -> Result<Cell> {
    let mut small = cell.clone();
    for (axis, value) in AXES {
        if let Some(axis) = Axis::find(axis).filter(|axis| cell.value(*axis).is_some()) {
            small.set(axis, axis.read(value).map_err(harness_error)?);
        }
    }
    Ok(small)
}

fn harness_error(message: String) -> Error {
    Error::new(storebench_model::error::Exit::Failure, format!("trying the settings: {message}"))
}

/// Runs one trial; `None` if it was interrupted.
fn run_short_trial(
    job: &RunRequest<'_>,
    cell: &Cell,
    extent: RehearsalExtent,
) -> Result<Option<TrialResult>> {
    let Some(place) = job.places.get(&cell.location_on_disk()) else { return Ok(None) };
    let mut work = WorkFolder::create(place.directory())?;
    let template = match place {
        // Its time depends on the file system. The settings that an engine accepts do not.
        Location::Image { file_system, disk, .. } if extent == RehearsalExtent::EachCell => {
            let bytes = trial_bytes(job, [cell].into_iter());
            Some(Template::make(&mut work, file_system, disk.as_ref(), bytes)?)
        }
        _ => None,
    };
    let mut stage = work.stage();
    let folder = stage.folder("rehearsal")?;
    let directory = match &template {
        Some(template) => template.mount(&mut stage, "store", 0)?.0,
        None => stage.folder("store")?,
    };
    let logs = folder.join("logs");
    fs::create_dir(&logs).map_err(Error::io("making", &logs))?;
    let unmeasured = || "nothing is measured".to_owned();
    let trial = Trial {
        job,
        cell,
        position: 0,
        block: 0,
        folder: &folder,
        files: &TrialFolder { directory, file_creation_ns: 0, device: Err(unmeasured()), disk: None },
        transit: None,
        cgroups: &Err(unmeasured()),
        reach: &LimitSupport::detect(),
        load_folder: Path::new(""),
        servers: None,
        passed: None,
        template: None,
        report_loading: &|_| (),
    };
    trial.run(&mut stage)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan;
    use storebench_model::axis::Value;

    #[test]
    fn what_is_tried_is_as_small_as_can_be() {
        let mut plan = plan::find("crud").unwrap();
        let text = |plan: &Plan, name: &str| plan.parameters.text(name);
        let short = shorten_plan(&plan, RehearsalExtent::EachSetting).unwrap();
        assert_eq!(text(&short, "operations").as_deref(), Some("1"));
        assert_eq!((text(&short, "duration"), short.timeout.0), (None, TIMEOUT));
        plan.parameters.set("duration", "60s").unwrap();
        plan.timeout = Period(Duration::from_secs(5));
        let short = shorten_plan(&plan, RehearsalExtent::EachSetting).unwrap();
        assert_eq!((text(&short, "duration").as_deref(), short.timeout.0.as_secs()), (Some("1ms"), 5));

        let timed = shorten_plan(&plan, RehearsalExtent::EachCell).unwrap();
        assert_eq!(timed.parameters.operations(), TIMED_OPERATIONS);

        let setting = Axis::find("sqlite.page_size").unwrap();
        let cell = Cell::new("sqlite")
            .with(Axis::RECORDS, Axis::RECORDS.read("1M").unwrap())
            .with(Axis::RATE, Axis::RATE.read("5/s").unwrap())
            .with(setting, Value::word("8192"));
        let small = shrink(&cell).unwrap();
        assert_eq!(small.id(), "sqlite/10..20/sqlite.page_size=8192");
    }
}
