//! Plans the measurements of a tuning: the number of records and operations of a trial, and the settings of a race.

use std::path::Path;

use storebench_core::measure::probe::Probe;
use storebench_core::workload::crud::parameters::CrudParameters;
use storebench_host::plan::{Period, Plan, SettingsPoint};
use storebench_host::schedule::{self, LocationRoom};
use storebench_model::axis::Axis;
use storebench_model::cell::{Cache, DEFAULT_PLACE};
use storebench_model::error::Result;
use storebench_model::result::TrialResult;
use storebench_model::store::StoreDef;
use storebench_model::units::{MOST_RECORDS, Sizes};
use storebench_report::tuning::race::{Kind, Settings};

use super::super::question::{self, counts, most_records, records_of, size_of, sized};
use super::TuneRequest;

/// Operations of a trial without earlier knowledge; a number below which records are reduced as well; the fewest, and the most: more
/// add little.
const OPERATIONS: u64 = 2000;
const FEW_OPERATIONS: u64 = 500;
const FEWEST: u64 = 100;
const MOST_OPERATIONS: u64 = 20_000;
/// The factor to smaller and larger record sizes.
const SIZE_STEP: u64 = 8;
/// The factor to smaller and larger record counts.
const COUNT_STEP: u64 = 10;
/// The factor by which a trial may exceed its planned time.
const TIME_TOLERANCE: f64 = 1.3;

/// The plan of the default alone, without its numbers of records and operations.
pub fn plan(request: &TuneRequest<'_>) -> Result<Plan> {
    let title = format!("Settings of {}: {}", request.store.name, request.question);
    let names = [request.store.name.to_owned()];
    question::plan(("tune", title), &names, (request.seed, Period(request.budget)), request.question)
}

/// The plan with the question's records, or as many as fit onto the disk.
pub fn initial(plan: &Plan, request: &TuneRequest<'_>, place: &Path) -> Result<Plan> {
    let records = request.question.records.min(most_records(request.question, place)?);
    plan_with_counts(plan, records, OPERATIONS)
}

/// The planned time of a trial, in seconds.
#[derive(Debug, Clone, Copy)]
pub struct TrialLength {
    /// Short enough for enough blocks: operations are added up to this.
    pub aim_s: f64,
    /// Records are reduced only if a trial would take longer: it leaves time for the fewest blocks.
    pub most_s: f64,
}

/// The plan with fewer operations and records, so that a trial likely takes at most `most_s` seconds.
pub fn reduce(mut plan: Plan, stores: &[StoreDef], probe: &Probe, most_s: f64) -> Result<Plan> {
    while estimate_s(&plan, stores, probe) > most_s {
        let Some(smaller) = reduce_once(
            &plan,
            CrudParameters::from_parameters(&plan.parameters).operations > FEW_OPERATIONS,
        )?
        else {
            break;
        };
        plan = smaller;
    }
    Ok(plan)
}

/// A plan whose trials take the planned time, judging by a trial of this one; `None` if this one does.
pub fn correct(plan: &Plan, trial: &TrialResult, length: TrialLength) -> Result<Option<Plan>> {
    let operations = CrudParameters::from_parameters(&plan.parameters).operations;
    let timed_ns: u64 =
        trial.ok().map_or(0, |measured| measured.operations.iter().map(|operation| operation.sum_ns).sum());
    let timed_s = timed_ns as f64 / 1e9;
    if trial.wall_s > length.most_s * TIME_TOLERANCE {
        return reduce_once(plan, timed_s > trial.wall_s / 2.0 || operations > FEW_OPERATIONS);
    }
    // The time of a trial outside its operations does not depend on their number.
    let room_s = length.aim_s - (trial.wall_s - timed_s);
    let fitting = (operations as f64 * room_s / timed_s.max(1e-9)) as u64;
    let new_operations = fitting.min(if is_cold(plan) { records_of(plan).from } else { MOST_OPERATIONS });
    (new_operations > operations + operations / 2)
        .then(|| plan_with_counts(plan, records_of(plan).from, new_operations))
        .transpose()
}

/// With half of the operations or of the records, as wished, if there are enough; `None` if both are at their minimum.
fn reduce_once(plan: &Plan, fewer_operations: bool) -> Result<Option<Plan>> {
    let (records, operations) =
        (records_of(plan).from, CrudParameters::from_parameters(&plan.parameters).operations);
    let (records, operations) = match (fewer_operations, operations > FEWEST, records > FEWEST) {
        (_, false, false) => return Ok(None),
        (true, true, _) | (_, true, false) => (records, (operations / 2).max(FEWEST)),
        _ => ((records / 2).max(FEWEST), operations),
    };
    plan_with_counts(plan, records, operations).map(Some)
}

fn is_cold(plan: &Plan) -> bool {
    plan.axes.list::<Cache>(Axis::CACHE) == [Cache::Cold]
}

/// A plan with these numbers of records and operations; no more cold reads than records, as most would repeat an earlier read.
fn plan_with_counts(plan: &Plan, records: u64, operations: u64) -> Result<Plan> {
    sized(plan, records, if is_cold(plan) { operations.min(records) } else { operations })
}

/// The estimated time of a trial of the default, in seconds.
pub fn estimate_s(plan: &Plan, stores: &[StoreDef], probe: &Probe) -> f64 {
    let cells = schedule::cells(plan, stores, &[LocationRoom::unbounded(DEFAULT_PLACE)], &|_| None);
    let cell = cells.ok().and_then(|(cells, _)| cells.into_iter().next());
    cell.map_or(0.0, |cell| plan.time(&cell, stores, probe).trial_s)
}

/// The plan of a race: the default, which every plan has, and its rivals as points.
pub fn race(plan: &Plan, kind: Kind, store: &str, arms: &[Settings]) -> Plan {
    let point = |settings: &Settings| {
        let name: Vec<String> = settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
        SettingsPoint { name: name.join(" "), settings: [(store.to_owned(), settings.clone())].into() }
    };
    let points = arms.iter().filter(|settings| !settings.is_empty()).map(point).collect();
    Plan { name: kind.name().into(), points, one_at_a_time: true, ..plan.clone() }
}

/// The same work with other records, each with a name: more and larger first, as most work grows.
pub fn with_other_records(plan: &Plan) -> Vec<(&'static str, Plan)> {
    let (Some(size), records) = (size_of(plan), records_of(plan)) else { return Vec::new() };
    let operations = CrudParameters::from_parameters(&plan.parameters).operations;
    let plan_with = |size: Sizes, from: u64| {
        let records = counts(from.max(1), operations);
        let mut plan = plan.clone();
        plan.axes.set(Axis::RECORD_SIZE, [size]);
        plan.axes.set(Axis::RECORDS, [records]);
        (records.to <= MOST_RECORDS).then_some(plan)
    };
    let plans = [
        ("more", plan_with(size, records.from.saturating_mul(COUNT_STEP))),
        ("larger", plan_with(size.scaled(|bytes| bytes.saturating_mul(SIZE_STEP)), records.from)),
        ("fewer", plan_with(size, records.from / COUNT_STEP)),
        ("smaller", plan_with(size.scaled(|bytes| bytes / SIZE_STEP), records.from)),
    ];
    plans.into_iter().filter_map(|(name, plan)| Some((name, plan?))).collect()
}
