//! The measurements behind an answer: every store once, the best again, then what might change the answer.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use storebench_core::axis::{Axis, Value};
use storebench_core::cell::{Cell, DEFAULT_PLACE, GuaranteeChoice};
use storebench_core::error::{Error, Result};
use storebench_core::place::directory::WorkFolder;
use storebench_core::place::probe::Probe;
use storebench_core::plan::{self, Axes, Bytes, Changes, Period, Plan};
use storebench_core::result::{Run, RunHeader, TrialResult};
use storebench_core::runner::job::Enough;
use storebench_core::schedule::{self, Room};
use storebench_core::store::StoreDef;
use storebench_core::units::{CountRange, MOST_RECORDS, SizeRange, grouped, rough_duration};
use storebench_core::workload::crud::work::{self, Work};
use storebench_core::workload::parameter::Parameters;
use storebench_report::advice::question::Question;
use storebench_report::advice::{Advice, Here};
use storebench_report::data::looks;
use storebench_report::data::merge::Merged;

use super::super::args::{AdviseArgs, PlaceArg};
use super::super::launch::{self, Launch, Places};
use super::super::runs::{self, ANSWER};
use super::super::{report, signals, tell};

/// Operations of each kind in a trial, unless that takes too long.
const OPERATIONS: u64 = 1000;
/// The fewest operations, and the fewest records, that a trial is cut down to.
const FEWEST: u64 = 100;
/// The share of the budget in which every store is to be measured once.
const FIRST_SHARE: f64 = 0.4;
/// The share of the budget after which no more time is spent on the best stores, but on what might change the answer.
const BEST_SHARE: f64 = 0.7;
/// Stores that are measured again.
const FINALISTS: usize = 4;
/// What a trial may take at least before it has failed, however short the budget; else half of the budget.
const SHORTEST_LIMIT: Duration = Duration::from_secs(10);
/// A store that is more times worse than this, and not the second, is not measured again.
const HOPELESS: f64 = 3.0;
/// How well the ratio of the second to the best is to be known.
const PRECISION: f64 = 0.03;
/// Stores that are measured with other records.
const ELSEWHERE: usize = 3;
/// Other record sizes are so many times smaller and larger.
const SIZE_STEP: u64 = 8;
/// Other record counts are so many times smaller and larger.
const COUNT_STEP: u64 = 10;

/// Measures what a question asks, in stages: every store once; the best again, until it is clear which is best; then what
/// might change the answer, as far as time allows.
pub struct Measuring<'a> {
    stores: &'a [StoreDef],
    question: &'a Question,
    interrupted: Arc<AtomicBool>,
    places: Places,
    pub folder: PathBuf,
    start: Instant,
    budget: Duration,
    plan: Plan,
    pub runs: Vec<Run>,
}

impl<'a> Measuring<'a> {
    pub fn new(
        stores: &'a [StoreDef],
        args: &'a AdviseArgs,
        question: &'a Question,
    ) -> Result<Measuring<'a>> {
        let interrupted = signals::listen()?;
        runs::make_directory("making the runs' directory", &args.out)?;
        let at = args.at.iter().map(|path| PlaceArg { name: DEFAULT_PLACE.into(), path: path.clone() });
        let places = launch::places(&at.collect::<Vec<_>>(), &args.out)?;
        let plan = first_plan(stores, args, question, &places[DEFAULT_PLACE])?;
        Ok(Measuring {
            stores,
            question,
            interrupted,
            places,
            folder: storebench_core::folder::make_unused(&args.out, &launch::dated(ANSWER))?,
            start: Instant::now(),
            budget: args.budget.0,
            plan,
            runs: Vec::new(),
        })
    }

    /// Measures; says whether it was interrupted.
    pub fn measure(&mut self) -> Result<bool> {
        let records = self.here().1.from;
        if records < self.question.records {
            tell(&format!(
                "{} records in place of {}, so that every store is measured within {}: --budget gives more time",
                grouped(records),
                grouped(self.question.records),
                rough_duration(self.budget.mul_f64(FIRST_SHARE)),
            ));
        }
        tell("1 of 3: every store, once");
        if self.stage("all", &self.plan.clone())? {
            return Ok(true);
        }
        self.tell_who_is_missing();
        let ranking = self.ranking();
        let worth = ranking.iter().enumerate().filter(|(rank, (_, worse))| *rank < 2 || *worse < HOPELESS);
        let finalists: Vec<String> = worth.map(|(_, (store, _))| store.clone()).take(FINALISTS).collect();
        if finalists.len() > 1 && self.time_for(&finalists, 1.0, BEST_SHARE) {
            tell(&format!("2 of 3: {}, again", finalists.join(", ")));
            if self.again(&finalists)? {
                return Ok(true);
            }
        }
        let others: Vec<String> =
            self.ranking().into_iter().map(|(store, _)| store).take(ELSEWHERE).collect();
        if others.len() > 1 {
            tell("3 of 3: other records, for what would change the answer");
            return self.elsewhere(&others);
        }
        Ok(false)
    }

    /// Where the question itself is measured.
    pub fn here(&self) -> Here {
        let axes = &self.plan.axes;
        let (sizes, counts) = (axes.list(Axis::RECORD_SIZE), axes.list(Axis::RECORDS));
        let (size, records) = (sizes.first().copied(), counts.first().copied());
        (
            size.unwrap_or(self.question.size),
            records.unwrap_or(CountRange::starting_at(self.question.records)),
        )
    }

    /// Runs a plan; says whether it was interrupted.
    fn stage(&mut self, name: &str, plan: &Plan) -> Result<bool> {
        let ended = self.carry_out(name, plan, &[], None)?;
        Ok(self.keep(ended))
    }

    /// Keeps what came of a stage, if it was run; says whether it was interrupted.
    fn keep(&mut self, ended: Option<(Run, bool)>) -> bool {
        let Some((run, interrupted)) = ended else { return false };
        self.runs.push(run);
        interrupted
    }

    /// Runs a plan; says what came of it, and whether it was interrupted. `looks` is written down with it.
    fn carry_out(
        &self,
        name: &str,
        plan: &Plan,
        looks: &[u32],
        enough: Option<Enough<'_>>,
    ) -> Result<Option<(Run, bool)>> {
        let mut launch = Launch::new(self.stores, plan, &self.places, None)?;
        if launch.cells.is_empty() && !self.runs.is_empty() {
            // Larger records, or more of them, than the disk holds: nothing is lost but a look at them.
            return Ok(None);
        }
        launch.header.looks = looks.to_vec();
        launch.header.blocks_before = if looks.is_empty() { 0 } else { 1 };
        let folder = launch.folder(&self.folder, name)?;
        let (path, ended) =
            launch.carry_out(&[], folder, enough, self.start.checked_add(self.budget), &self.interrupted)?;
        Ok(Some((storebench_core::folder::read(&path)?, ended.interrupted)))
    }

    /// The stores so far, the best first, each with how many times worse it is.
    fn ranking(&self) -> Vec<(String, f64)> {
        let harness = report::harness(self.stores);
        let merged = Merged::new(&self.runs, &harness);
        let Ok(advice) = Advice::from_runs(self.question, &merged, Some(self.here()), self.stores) else {
            return Vec::new();
        };
        let ranking = advice.verdict.ranking.into_iter();
        ranking.map(|store| (store.store, store.times_worse.map_or(1.0, |ratio| ratio.ratio.value))).collect()
    }

    /// Tells which stores had no turn, if the budget was spent before all had theirs.
    fn tell_who_is_missing(&self) {
        let Some(run) = self.runs.first() else { return };
        let had_turn = |store: &str| {
            run.trials.iter().any(|trial| trial.cell.store() == store)
                || run.header.left_out.iter().any(|left| left.cell.store() == store)
        };
        let stores = self.plan.axes.texts(Axis::STORE);
        let missing: Vec<&str> = stores.iter().map(String::as_str).filter(|store| !had_turn(store)).collect();
        if !missing.is_empty() {
            let names = missing.join(", ");
            tell(&format!("the budget is spent, and no turn was left for {names}: --budget gives more time"));
        }
    }

    /// Whether a block of these stores, `factor` times as long as the first, ends within a share of the budget.
    fn time_for(&self, stores: &[String], factor: f64, share: f64) -> bool {
        self.took_s(stores) * factor <= self.left_s(share)
    }

    /// How long these stores took in the first block, in seconds.
    fn took_s(&self, stores: &[String]) -> f64 {
        self.runs.first().map_or(0.0, |run| {
            let trials =
                run.trials.iter().filter(|trial| stores.iter().any(|store| store == trial.cell.store()));
            trials.map(|trial| trial.wall_s).sum()
        })
    }

    /// What is left of a share of the budget, in seconds; negative when it is used up.
    fn left_s(&self, share: f64) -> f64 {
        self.budget.as_secs_f64() * share - self.start.elapsed().as_secs_f64()
    }

    /// Adds blocks of the best stores until it is clear which is best at one of the planned looks, or time is up.
    fn again(&mut self, finalists: &[String]) -> Result<bool> {
        let mut plan = self.plan.clone();
        plan.apply(Changes::on(Axis::STORE, names(finalists)))?;
        let blocks = self.left_s(BEST_SHARE) / self.took_s(finalists).max(f64::MIN_POSITIVE);
        // The first block is there already.
        let planned = looks::planned((blocks as u32).saturating_add(1));
        let enough = |trials: &[TrialResult]| {
            let blocks = 2 + trials.iter().map(|trial| trial.block).max().unwrap_or(0);
            !self.time_for(finalists, 1.0, BEST_SHARE)
                || looks::is_over(planned, blocks, || self.is_clear_with(trials, planned))
        };
        let ended = self.carry_out("best", &plan, planned, Some(&enough))?;
        Ok(self.keep(ended))
    }

    /// Whether it is clear which store is best, with these trials besides those that are kept.
    fn is_clear_with(&self, trials: &[TrialResult], looks: &[u32]) -> bool {
        let mut runs = self.runs.clone();
        let again = |run: &Run| {
            let header = RunHeader { looks: looks.to_vec(), ..run.header.clone() };
            Run { header, trials: trials.to_vec() }
        };
        runs.extend(self.runs.first().map(again));
        let harness = report::harness(self.stores);
        let merged = Merged::new(&runs, &harness);
        let advice = Advice::from_runs(self.question, &merged, Some(self.here()), self.stores);
        advice.is_ok_and(|advice| advice.is_clear(PRECISION))
    }

    /// Smaller and larger records, fewer and more of them.
    fn elsewhere(&mut self, stores: &[String]) -> Result<bool> {
        let (size, records) = self.here();
        let sizes = |scale: fn(u64) -> u64| SizeRange {
            from: scale(size.from).max(1),
            to: scale(size.to - 1).max(1).saturating_add(1),
        };
        let (smaller, larger) =
            (sizes(|bytes| bytes / SIZE_STEP), sizes(|bytes| bytes.saturating_mul(SIZE_STEP)));
        let counts = |from: u64| counts(from.max(1), Work::of(&self.plan.parameters).operations);
        let (fewer, more) =
            (counts(records.from / COUNT_STEP), counts(records.from.saturating_mul(COUNT_STEP)));
        let all = [
            ("smaller", smaller, records, 1.0),
            ("fewer", size, fewer, 1.0),
            ("larger", larger, records, SIZE_STEP as f64),
            ("more", size, more, COUNT_STEP as f64),
        ];
        for (name, other_size, other_records, factor) in all {
            let same = (other_size, other_records) == (size, records);
            if same || other_records.to > MOST_RECORDS || !self.time_for(stores, factor, 1.0) {
                continue;
            }
            let mut plan = self.plan.clone();
            let axes = Axes::of(Axis::STORE, names(stores))
                .with(Axis::RECORD_SIZE, [other_size])
                .with(Axis::RECORDS, [other_records]);
            if plan.apply(Changes { axes, ..Changes::default() }).is_err() {
                // Larger records than a plan can have.
                continue;
            }
            if self.stage(name, &plan)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// A count that a trial's inserts do not outgrow.
fn counts(from: u64, operations: u64) -> CountRange {
    let more = (from / 4).max(operations);
    CountRange { from, to: from.saturating_add(more).min(MOST_RECORDS.max(from.saturating_add(1))) }
}

/// Every store that offers the guarantee or a stronger one, once, with as many records and operations as there is time for.
fn first_plan(stores: &[StoreDef], args: &AdviseArgs, question: &Question, place: &Path) -> Result<Plan> {
    let mut plan = plan::find("crud")?;
    plan.presets.clear();
    plan.claims.clear();
    plan.at_least = true;
    plan.name = "advise".into();
    plan.title = format!("Advice: {question}");
    plan.source = String::new();
    let able = stores.iter().filter(|store| store.runs_by_default());
    let able = able.filter(|store| store.offers.iter().any(|offer| offer.guarantee >= question.guarantee));
    let named = args.store.clone().unwrap_or_else(|| able.map(|store| store.name.to_owned()).collect());
    let order: Vec<&str> = question.mix.shares().iter().map(|(operation, _)| operation.name()).collect();
    let work = Parameters::default().with(&work::ORDER, &order.join(",")).map_err(Error::bad_value)?;
    let changes = |records: u64, operations: u64| Changes {
        trials: Some(1),
        parameters: work.clone().with(&work::OPERATIONS, &operations.to_string()).unwrap_or_default(),
        seed: Some(args.seed),
        // What does not fit onto the disk is left out; what takes too long has been cut down.
        size_limit: Some(Bytes(u64::MAX)),
        timeout: Some(Period((args.budget.0 / 2).max(SHORTEST_LIMIT))),
        axes: Axes::of(Axis::STORE, names(&named))
            .with(Axis::RECORD_SIZE, [question.size])
            .with(Axis::RECORDS, [counts(records, operations)])
            .with(Axis::DATA, [question.data])
            .with(Axis::GUARANTEE, [GuaranteeChoice::Tier(question.guarantee)])
            .with(Axis::THREADS, [Value::from(u64::from(question.threads))]),
        ..Changes::default()
    };
    let limit = args.budget.0.as_secs_f64() * FIRST_SHARE;
    let (mut records, mut operations) = (question.records, OPERATIONS);
    plan.apply(changes(records, operations))?;
    let probe = WorkFolder::create(place)?.probe()?;
    while estimate_s(&plan, stores, &probe) > limit && records.max(operations) > FEWEST {
        if operations > FEWEST && (records < 10 * FEWEST || operations * 10 > records) {
            operations = (operations / 2).max(FEWEST);
        } else {
            records = (records / 2).max(FEWEST);
        }
        plan.apply(changes(records, operations))?;
    }
    Ok(plan)
}

fn names(stores: &[String]) -> impl Iterator<Item = Value> {
    stores.iter().map(|store| Value::word(store))
}

/// How long a block of a plan may take, in seconds.
fn estimate_s(plan: &Plan, stores: &[StoreDef], probe: &Probe) -> f64 {
    let cells = schedule::cells(plan, stores, &[Room::unbounded(DEFAULT_PLACE)], &|_| None);
    // One question has few cells, if the stores are not named a thousand times; then the run says so.
    let cells = cells.map_or_else(|_| Vec::new(), |(cells, _)| cells);
    let seconds = |cell: &Cell| (plan.workload.def().time)(&plan.case(cell, stores), probe).trial_s;
    cells.iter().map(seconds).sum()
}
