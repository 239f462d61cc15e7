//! Tries the settings of stores before a run: one short trial for each value. What would fail in every trial is told before the
//! first.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::cell::{Axis, Cell};
use crate::error::{Error, Result};
use crate::place::directory::WorkFolder;
use crate::plan::{Period, Plan};
use crate::result::{Failure, Outcome};
use crate::runner::job::Job;
use crate::runner::trial::Trial;
use crate::workload::table::parameter;

/// The longest that a value is tried.
const TIMEOUT: Duration = Duration::from_secs(30);

/// What the work is made, so that a trial takes a moment.
const PARAMETERS: [(&str, &str); 4] =
    [("operations", "1"), ("warm_up", "0"), ("limit", "20"), ("speed", "max")];
/// The same where the work goes on for a time.
const DURATION: (&str, &str) = ("duration", "1ms");
/// What a cell is made, as far as it has these axes.
const AXES: [(&str, &str); 7] = [
    ("records", "10..20"),
    ("record_size", "100B"),
    ("rate", "closed"),
    ("cache", "warm"),
    ("background", "none"),
    ("rows", "10"),
    ("statements", "1"),
];

/// Settings with which no trial can succeed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The store and its settings, in words: `sqlite page_size=1000`.
    pub what: String,
    /// What went wrong.
    pub why: String,
}

/// Tries each value of each setting that the cells have, with each guarantee, in a folder of its own in the cell's place. `None`
/// when it was interrupted.
///
/// # Errors
/// When a trial can't be started.
pub fn rehearse(job: &Job<'_>) -> Result<Option<Vec<Refused>>> {
    let plan = shortened(job.plan)?;
    let job = Job { plan: &plan, done: &[], until: None, enough: None, ..*job };
    let mut tried = BTreeSet::new();
    let mut refused = Vec::new();
    for cell in job.cells {
        let settings = job.plan.settings_of(cell);
        let fresh = settings.iter().filter(|(name, value)| {
            tried.insert((cell.store().to_owned(), (*name).clone(), (*value).clone(), cell.guarantee()))
        });
        if fresh.count() == 0 {
            continue;
        }
        if job.interrupted.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let Some(outcome) = tried_out(&job, &small(cell)?)? else { return Ok(None) };
        let why = match outcome {
            Outcome::Ok => continue,
            // What the place lacks, the run finds out by itself.
            Outcome::Failed { reason: Failure::DiskFull | Failure::TimedOut, .. } => continue,
            Outcome::Failed { message, .. } | Outcome::Unsupported { message } => message,
        };
        let refusal = Refused { what: in_words(cell, &settings), why };
        if !refused.contains(&refusal) {
            refused.push(refusal);
        }
    }
    Ok(Some(refused))
}

fn in_words(cell: &Cell, settings: &BTreeMap<String, String>) -> String {
    let settings: Vec<String> = settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
    format!("{} {}", cell.store(), settings.join(" "))
}

/// The plan, with as little work as there can be.
fn shortened(plan: &Plan) -> Result<Plan> {
    let mut plan = plan.clone();
    plan.timeout = Period(TIMEOUT.min(plan.timeout.0));
    let has_duration = plan.parameters.names().any(|name| name == DURATION.0);
    for (name, value) in PARAMETERS.into_iter().chain(has_duration.then_some(DURATION)) {
        if let Some(parameter) = parameter(name).filter(|_| plan.workload.has(name)) {
            plan.parameters.set(parameter, value).map_err(ours)?;
        }
    }
    Ok(plan)
}

/// The cell, with as little data as there can be.
fn small(cell: &Cell) -> Result<Cell> {
    let mut small = cell.clone();
    for (axis, value) in AXES {
        if let Some(axis) = Axis::named(axis).filter(|axis| cell.value(*axis).is_some()) {
            small.set(axis, axis.read(value).map_err(ours)?);
        }
    }
    Ok(small)
}

fn ours(message: String) -> Error {
    Error::new(crate::error::Exit::Failure, format!("trying the settings: {message}"))
}

/// Runs one trial, and says how it ended; `None` when it was interrupted.
fn tried_out(job: &Job<'_>, cell: &Cell) -> Result<Option<Outcome>> {
    let Some(place) = job.places.get(cell.place()) else { return Ok(None) };
    let mut work = WorkFolder::create(place)?;
    let mut stage = work.stage();
    let folder = stage.folder("rehearsal")?;
    let directory = stage.folder("store")?;
    let logs = folder.join("logs");
    fs::create_dir(&logs).map_err(Error::io("making", &logs))?;
    let unmeasured = || "nothing is measured".to_owned();
    let trial = Trial {
        job,
        cell,
        position: 0,
        block: 0,
        folder: &folder,
        directory: &directory,
        device: &Err(unmeasured()),
        cgroups: &Err(unmeasured()),
        beside: Path::new(""),
        file_creation_ns: 0,
    };
    Ok(trial.run(&mut stage)?.map(|result| result.outcome))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axis::Value;
    use crate::plan;

    #[test]
    fn what_is_tried_is_as_small_as_can_be() {
        let mut plan = plan::find("crud").unwrap();
        let text =
            |plan: &Plan, name: &str| plan.parameters.text(parameter(name).unwrap()).map(str::to_owned);
        let short = shortened(&plan).unwrap();
        assert_eq!(text(&short, "operations").as_deref(), Some("1"));
        assert_eq!((text(&short, "duration"), short.timeout.0), (None, TIMEOUT));
        plan.parameters.set(parameter("duration").unwrap(), "60s").unwrap();
        plan.timeout = Period(Duration::from_secs(5));
        let short = shortened(&plan).unwrap();
        assert_eq!((text(&short, "duration").as_deref(), short.timeout.0.as_secs()), (Some("1ms"), 5));

        let setting = Axis::named("sqlite.page_size").unwrap();
        let cell = Cell::of("sqlite")
            .with(Axis::RECORDS, Axis::RECORDS.read("1M").unwrap())
            .with(Axis::RATE, Axis::RATE.read("5/s").unwrap())
            .with(setting, Value::word("8192"));
        let small = small(&cell).unwrap();
        assert_eq!(small.id(), "sqlite/10..20/sqlite.page_size=8192");
    }
}
