//! Plans the measurements for an answer: which stores, with how many records and operations, within how much time.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use storebench_core::measure::probe::Probe;
use storebench_core::workload::crud::parameters::CrudParameters;
use storebench_host::plan::{Axes, Bytes, Changes, Period, Plan};
use storebench_host::run::Run;
use storebench_host::schedule::{self, LocationRoom};
use storebench_model::axis::{Axis, Value};
use storebench_model::cell::{Cell, DEFAULT_PLACE};
use storebench_model::error::Result;
use storebench_model::result::TrialResult;
use storebench_model::store::StoreDef;
use storebench_model::units::{CountRange, Sizes};
use storebench_report::advice::aged::{CHURN, STUDY, TIMES};
use storebench_report::advice::question::Question;

use super::super::args::AdviseArgs;
use super::super::question::{self, FEWEST, most_records, names, records_of, sized};
use super::super::stages::Stages;

/// Operations of the mix in a trial, unless that takes too long.
const OPERATIONS: u64 = 2000;
pub struct Plans<'a> {
    stores: &'a [StoreDef],
    probe: Probe,
    /// Every store, with as many records as time allows.
    pub screen: Plan,
    /// The most records that fit onto the disk.
    most_records: u64,
    /// Whether reads are cold, so that no record should be read often.
    cold: bool,
}

impl<'a> Plans<'a> {
    /// Plans a look at every store whose blocks take about `block_s` seconds; an error if the values alone do not fit onto the disk.
    pub fn new(
        stages: &Stages<'a>,
        plan: Plan,
        question: &Question,
        place: &Path,
        block_s: f64,
    ) -> Result<Plans<'a>> {
        let most_records = most_records(question, place)?;
        let (stores, probe) = (stages.stores, stages.probe()?);
        let mut plans = Plans { stores, probe, screen: plan, most_records, cold: question.cold };
        plans.fit(question, block_s)?;
        Ok(plans)
    }

    /// Gives the look as many records and operations as fit into a block of `block_s` seconds, by the estimates.
    pub fn fit(&mut self, question: &Question, block_s: f64) -> Result<()> {
        let (mut records, mut operations) = (question.records.min(self.most_records), OPERATIONS);
        self.screen = self.sized(&self.screen, records, operations)?;
        while self.estimate_s(&self.screen) > block_s
            && let Some(fewer) = halved(records, operations)
        {
            (records, operations) = fewer;
            self.screen = self.sized(&self.screen, records, operations)?;
        }
        Ok(())
    }

    /// The look with the fewest records and operations, and this limit for each trial.
    pub fn smallest_plan(&self, limit: Duration) -> Result<Plan> {
        let mut plan = self.sized(&self.screen, FEWEST, FEWEST)?;
        plan.timeout = Period(limit);
        Ok(plan)
    }

    fn sized(&self, plan: &Plan, records: u64, operations: u64) -> Result<Plan> {
        sized(plan, records, if self.cold { operations.min(records) } else { operations })
    }

    /// These stores with the question's own number of records, or as many as fit onto the disk.
    pub fn plan_in_full(&self, question: &Question, stores: &[String]) -> Result<Plan> {
        let mut plan = self.screen.clone();
        plan.apply(Changes::single(Axis::STORE, names(stores)))?;
        let min_records = records_of(&plan).from;
        self.sized(&plan, question.records.min(self.most_records).max(min_records), self.operations())
    }

    /// The same with as many records as fit into a block of `block_s` seconds, judging by the first look, and no fewer than that had.
    pub fn reduced_plan(&self, full_plan: &Plan, look: &Run, block_s: f64) -> Result<Plan> {
        let min_records = records_of(&self.screen).from;
        let mut plan = full_plan.clone();
        while records_of(&plan).from > min_records && self.predicted_s(&plan, look) > block_s {
            plan = self.sized(&plan, (records_of(&plan).from / 2).max(min_records), self.operations())?;
        }
        Ok(plan)
    }

    /// The plan to age these stores, or the first of them, with as many of the question's records as fit into a block
    /// of `block_s` seconds, by the estimates: a quarter of them with as many stores as possible, or fewer with the first alone.
    /// `None` without enough time.
    pub fn aged_plan(&self, stores: &[String], shape: (Sizes, u64), block_s: f64) -> Result<Option<Plan>> {
        let quarter = (shape.1 / 4).max(FEWEST);
        let several = (1..=stores.len()).rev().map(|count| (&stores[..count], quarter));
        for (stores, min_records) in several.chain(stores.get(..1).map(|first| (first, FEWEST))) {
            let plan = self.aged_in_time(stores, shape, min_records, block_s)?;
            if plan.is_some() {
                return Ok(plan);
            }
        }
        Ok(None)
    }

    /// The plan to age these stores, with no fewer records than `min_records`.
    fn aged_in_time(
        &self,
        stores: &[String],
        (size, mut records): (Sizes, u64),
        min_records: u64,
        block_s: f64,
    ) -> Result<Option<Plan>> {
        let screen = &self.screen.axes;
        let copy_axis = |axes: Axes, axis: Axis| match screen.names(axis) {
            true => axes.with(axis, screen.values(axis).iter().cloned()),
            false => axes,
        };
        let copied = [Axis::DATA, Axis::GUARANTEE, Axis::MACHINE, Axis::DISK].into_iter();
        let axes = copied.fold(Axes::single(Axis::STORE, names(stores)), copy_axis);
        let axes = axes.with(Axis::RECORD_SIZE, [size]).with(Axis::CHURN, [Value::word(CHURN)]);
        let changes = Changes {
            trials: Some(1),
            seed: Some(self.screen.seed),
            size_limit: Some(Bytes(u64::MAX)),
            timeout: Some(self.screen.timeout),
            axes,
            ..Changes::default()
        };
        let title = format!("{}, as they grow old", self.screen.title);
        let mut plan = question::plan_of_study(STUDY, ("advise-aged", title), changes)?;
        loop {
            plan.apply(Changes::single(Axis::RECORDS, [CountRange::starting_at(records)]))?;
            match self.estimate_s(&plan) {
                seconds if seconds <= block_s => return Ok(Some(plan)),
                _ if records <= min_records => return Ok(None),
                _ => records = (records / 2).max(min_records),
            }
        }
    }

    fn operations(&self) -> u64 {
        CrudParameters::from_parameters(&self.screen.parameters).operations
    }

    /// The estimated time of a block of a plan, in seconds.
    pub fn estimate_s(&self, plan: &Plan) -> f64 {
        self.estimates(plan).values().sum()
    }

    /// The time to start a server, in seconds, by its store's name.
    pub fn start_s(&self, server: &str) -> f64 {
        let store = self.stores.iter().find(|store| store.name == server);
        store.and_then(|store| store.server).map_or(0.0, |server| server.start_s)
    }

    /// The estimates of a plan's trials, by store.
    fn estimates(&self, plan: &Plan) -> BTreeMap<String, f64> {
        let cells = schedule::cells(plan, self.stores, &[LocationRoom::unbounded(DEFAULT_PLACE)], &|_| None);
        // One question has few cells, unless a store is named a thousand times; the run reports that.
        let cells = cells.map_or_else(|_| Vec::new(), |(cells, _)| cells);
        let seconds = |cell: &Cell| plan.time(cell, self.stores, &self.probe).trial_s;
        cells.iter().map(|cell| (cell.store().to_owned(), seconds(cell))).collect()
    }

    /// The factor between the trials of a run and the estimates of its plan.
    pub fn slowness(&self, plan: &Plan, run: &Run) -> f64 {
        let estimates = self.estimates(plan);
        let estimated = run.trials.iter().filter_map(|trial| estimates.get(trial.cell.store()));
        let took_s: f64 = run.trials.iter().map(TrialResult::took_s).sum();
        took_s / estimated.sum::<f64>().max(f64::MIN_POSITIVE)
    }

    /// The likely time of a block of a plan, in seconds: its estimate, corrected by those of an earlier run of the same stores.
    pub fn predicted_s(&self, plan: &Plan, earlier: &Run) -> f64 {
        let Some(earlier_plan) = earlier.plan() else { return self.estimate_s(plan) };
        let earlier_estimates = self.estimates(earlier_plan);
        let predict_store = |(store, estimate): (&String, &f64)| {
            let trials = earlier.trials.iter().filter(|trial| trial.cell.store() == store.as_str());
            let times: Vec<f64> = trials.map(TrialResult::took_s).collect();
            let mean = times.iter().sum::<f64>() / times.len().max(1) as f64;
            match earlier_estimates.get(store).filter(|_| !times.is_empty()) {
                Some(earlier_s) => estimate * mean / earlier_s.max(f64::MIN_POSITIVE),
                None => *estimate,
            }
        };
        self.estimates(plan).iter().map(predict_store).sum()
    }
}

/// Half as many operations, or records if these take most of the time; `None` if both are at their minimum.
pub fn halved(records: u64, operations: u64) -> Option<(u64, u64)> {
    match records.max(operations) > FEWEST {
        true if operations > FEWEST && (records < 10 * FEWEST || operations * 10 > records) => {
            Some((records, (operations / 2).max(FEWEST)))
        }
        true => Some(((records / 2).max(FEWEST), operations)),
        false => None,
    }
}

/// The plan of the question, without its numbers of records and operations.
pub fn plan(stores: &[StoreDef], args: &AdviseArgs, question: &Question) -> Result<Plan> {
    let store_names = look_stores(stores, args, question);
    let title = format!("Advice: {question}");
    let mut plan =
        question::plan(("advise", title), &store_names, (args.answer.seed, args.measuring()), question)?;
    if question.overwritten.is_some() {
        plan.apply(Changes::single(Axis::AGE, [Value::word(&TIMES.to_string())]))?;
    }
    Ok(plan)
}

/// The stores of the look: those that are named, or all with the guarantee or a stronger one.
fn look_stores(stores: &[StoreDef], args: &AdviseArgs, question: &Question) -> Vec<String> {
    let candidates = stores.iter().filter(|store| store.runs_by_default());
    let candidates =
        candidates.filter(|store| store.offers.iter().any(|offer| offer.guarantee >= question.guarantee));
    args.store.clone().unwrap_or_else(|| candidates.map(|store| store.name.to_owned()).collect())
}
