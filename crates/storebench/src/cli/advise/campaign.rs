//! Measures for an answer: a look at every store, the best again with the question's own records, then what might change the answer.

mod clusters;

use std::cell::RefCell;
use std::time::{Duration, Instant};

use storebench_core::workload::crud::parameters::CrudParameters;
use storebench_core::workload::parameter::{Count, Parameters};
use storebench_figures::data::merge::Merged;
use storebench_figures::judge::interim::{self, ALIKE};
use storebench_host::plan::{Axes, Changes, Period, Plan};
use storebench_host::run::Run;
use storebench_host::runner::run_request::{ContinueRule, PrecisionRule, RunRequest};
use storebench_model::axis::Axis;
use storebench_model::axis::table::HERE;
use storebench_model::cell::Cache;
use storebench_model::error::Result;
use storebench_model::result::{RunHeader, TrialResult};
use storebench_model::store::StoreDef;
use storebench_model::units::{MOST_RECORDS, plural, three_digits, with_commas};
use storebench_report::advice::clusters::ClusterRuns;
use storebench_report::advice::question::Question;
use storebench_report::advice::ranking::Candidate;
use storebench_report::advice::settling_budget::budget;
use storebench_report::advice::{Advice, SizesAndCounts};

use super::super::args::AdviseArgs;
use super::super::launch::Launch;
use super::super::output::print_note;
use super::super::prepare::{StartOutcome, prepare};
use super::super::question::{SHORTEST_LIMIT, counts, names, records_of, size_of};
use super::super::runs::{ANSWER_PREFIX, PROBE_STAGE};
use super::super::stages::Stages;
use super::plans::{self, Plans};

/// The share of the budget planned for a look at every store.
const LOOK_SHARE: f64 = 0.3;
/// The share of the budget that the look may take if it is slower than estimated.
const LONGEST_LOOK: f64 = 0.5;
/// The share of the budget for trying a simulated disk or a machine profile, for which there are no estimates.
const PROBE_SHARE: f64 = 0.15;
/// The longest trial of a look, as a share of the budget: other stores lack the time that one uses.
const TRIAL_SHARE: f64 = 1.0 / 6.0;
/// The share of the budget by which there must be an answer, if the look gave none.
const LATEST_SHARE: f64 = 1.5;
/// Blocks of that look: a single trial is too unstable to give a store up.
const LOOK_BLOCKS: u32 = 2;
/// The share of the budget after which time goes to what might change the answer instead of the best stores.
const BEST_SHARE: f64 = 0.85;
/// The same if the best are also aged, or compared with clusters; and the shares after which ageing ends, without
/// clusters and with them.
const FRESH_SHARE: f64 = 0.6;
const AGED_SHARE: (f64, f64) = (0.9, 0.7);
/// The share of the budget after which cold reads are not repeated.
const COLD_SHARE: f64 = 0.93;
/// The smallest factor between a budget that was too short and the advised one.
const BUDGET_STEP: f64 = 1.5;
/// Blocks that an interval needs.
const FEWEST_BLOCKS: f64 = 3.0;
/// Stores that are measured again, and the maximum if more are close to the best.
const FINALISTS: (usize, usize) = (4, 6);
/// A store worse by this factor, unless it is the second, is not measured again.
const HOPELESS: f64 = 3.0;
/// A store worse by less than this factor is close to the best.
const CLOSE: f64 = 1.4;
/// Stores that are measured with other records.
const VARIATION_STORES: usize = 3;
/// The factor to smaller and larger record sizes.
const SIZE_STEP: u64 = 8;
/// The factor to smaller and larger record counts.
const COUNT_STEP: u64 = 10;

/// Returns the stores that are left out of the next block, from the trials so far.
type StoppingRule<'t> = &'t dyn Fn(&[TrialResult]) -> Vec<String>;

pub struct AdviseCampaign<'a> {
    question: &'a Question,
    pub stages: Stages<'a>,
    budget: Duration,
    plans: Plans<'a>,
    /// A trial of each store with the fewest records, if there was time.
    probed: Option<(Plan, Run)>,
    /// The plan of the answer: the look's, until the best are measured again.
    plan: Plan,
    /// The factor between a stage's time, including clean-up, and the sum of its trials.
    slowness: f64,
    /// The share of the budget after which the best are measured no further.
    best_share: f64,
    /// The run in which the best are aged.
    aged: Option<Run>,
    /// The store that is measured as a cluster, if the user asks for that.
    server: Option<String>,
    /// The runs that compare the best with a server and a cluster, and why there are no more.
    pub clusters: ClusterRuns,
    /// The budget for measuring the question's own number of records, in seconds, if there was no time for it.
    pub own_count_s: Option<f64>,
}

/// The largest plausible [`AdviseCampaign::slowness`].
const SLOWEST: f64 = 10.0;

impl<'a> AdviseCampaign<'a> {
    pub fn new(
        stores: &'a [StoreDef],
        args: &'a AdviseArgs,
        question: &'a Question,
    ) -> Result<AdviseCampaign<'a>> {
        let budget = args.measuring().0;
        let answer = &args.answer;
        let server = question.network.map(|_| clusters::cluster_store(stores, question)).transpose()?;
        let plan = plans::plan(stores, args, question)?;
        let directory = answer.at.as_deref();
        let stages = Stages::new(stores, (&answer.out, ANSWER_PREFIX), directory, budget, &plan)?;
        let block_s = budget.as_secs_f64() * LOOK_SHARE / f64::from(LOOK_BLOCKS);
        let plans = Plans::new(&stages, plan, question, directory.unwrap_or(&answer.out), block_s)?;
        let plan = plans.screen.clone();
        Ok(AdviseCampaign {
            question,
            stages,
            budget,
            plans,
            probed: None,
            plan,
            slowness: 1.0,
            best_share: match question.overwritten.is_some() || question.network.is_some() {
                true => FRESH_SHARE,
                false => BEST_SHARE,
            },
            aged: None,
            server,
            clusters: ClusterRuns::default(),
            own_count_s: None,
        })
    }

    /// The look as `--dry-run` lists it.
    pub fn list(&self) -> Result<StartOutcome<()>> {
        let mut plan = self.plans.screen.clone();
        (plan.trials, plan.budget) = (LOOK_BLOCKS, Some(Period(self.budget)));
        prepare(&self.stages.launch(&plan)?, true, &self.stages.interrupted)
    }

    /// Measures; returns whether it was interrupted.
    pub fn measure(&mut self) -> Result<bool> {
        if self.question.machine != HERE || self.question.disk.is_some() {
            if self.probe(PROBE_SHARE)? {
                return Ok(true);
            }
            self.shrink_look()?;
        }
        if self.screen_stores()? || (!self.has_result() && self.answer_from_probe()?) {
            return Ok(true);
        }
        self.report_missing_stores();
        let finalists = self.finalists();
        if !finalists.is_empty() && self.measure_finalists(finalists)? {
            return Ok(true);
        }
        let Some(advice) = self.advice() else { return Ok(false) };
        let ranking = advice.verdict.ranking.iter().take(VARIATION_STORES);
        let best: Vec<String> = ranking.map(|store| store.store.clone()).collect();
        if self.question.overwritten.is_some() && self.age_best(&best)? {
            return Ok(true);
        }
        if let (Some(network), Some(server), Some(best)) =
            (self.question.network, self.server.clone(), best.first())
            && self.measure_clusters(best, &server, network)?
        {
            return Ok(true);
        }
        // If there was no time to settle the question, other questions don't help.
        if self.is_settled(&advice) { self.measure_variations(&best) } else { Ok(false) }
    }

    /// All runs, in order: the question's, and the one with ageing.
    pub fn take_runs(&mut self) -> Vec<Run> {
        let mut runs = std::mem::take(&mut self.stages.runs);
        runs.extend(self.aged.take());
        runs
    }

    /// Overwrites the records of the best repeatedly, as time allows; returns whether that was interrupted.
    fn age_best(&mut self, stores: &[String]) -> Result<bool> {
        let (size, records) = self.asked_shapes();
        let share = if self.question.network.is_some() { AGED_SHARE.1 } else { AGED_SHARE.0 };
        let left_s = self.stages.left_s(share);
        let Some(plan) = self.plans.aged_plan(stores, (size, records.from), left_s / self.slowness)? else {
            return Ok(false);
        };
        let records = plural(records_of(&plan).from, "record");
        let stores = plan.axes.texts(Axis::STORE).join(", ");
        self.stages.print_stage(&format!("as they grow old: {stores}, with {records}"));
        let start = Instant::now();
        let enough = |trials: &[TrialResult]| {
            f64::from(blocks(trials)) >= FEWEST_BLOCKS
                || block_took(start, trials).as_secs_f64() > self.stages.left_s(share)
        };
        let outcome = self.run_plan("aged", &plan, (&[], 0), Some(&enough), None, 1.0)?;
        let interrupted = outcome.as_ref().is_some_and(|(_, interrupted)| *interrupted);
        self.aged = outcome.map(|(run, _)| run);
        Ok(interrupted)
    }

    /// The records with which the question itself is measured.
    pub fn asked_shapes(&self) -> SizesAndCounts {
        (size_of(&self.plan).unwrap_or(self.question.size), records_of(&self.plan))
    }

    fn operations(&self) -> u64 {
        CrudParameters::from_parameters(&self.plan.parameters).operations
    }

    /// Tries every store with the fewest records, until a share of the budget is used; returns whether that was interrupted.
    fn probe(&mut self, share: f64) -> Result<bool> {
        let plan = self.plans.smallest_plan(self.trial_limit())?;
        let records = plural(records_of(&plan).from, "record");
        self.stages.print_stage(&format!("first, how slow it is here: each store with {records}"));
        let outcome = self.run_plan(PROBE_STAGE, &plan, (&[], 0), None, None, share)?;
        let Some((run, interrupted)) = outcome else { return Ok(false) };
        self.probed = Some((plan, run));
        Ok(interrupted)
    }

    /// Plans the look again, given how much slower the probe was than estimated.
    fn shrink_look(&mut self) -> Result<()> {
        let Some((plan, run)) = &self.probed else { return Ok(()) };
        let slowness = self.plans.slowness(plan, run).max(1.0);
        let block_s = self.budget.as_secs_f64() * (LOOK_SHARE - PROBE_SHARE) / f64::from(LOOK_BLOCKS);
        let before = records_of(&self.plans.screen).from;
        self.plans.fit(self.question, block_s / slowness)?;
        self.plan = self.plans.screen.clone();
        let after = records_of(&self.plan).from;
        if after < before {
            let (before, after) = (with_commas(before), plural(after, "record"));
            print_note(&format!(
                "{} times slower than estimated: a look with {after} instead of {before}",
                three_digits(slowness)
            ));
        }
        Ok(())
    }

    /// The time after which a trial of a look fails.
    fn trial_limit(&self) -> Duration {
        self.budget.mul_f64(TRIAL_SHARE).max(SHORTEST_LIMIT)
    }

    fn has_result(&self) -> bool {
        self.stages.runs.iter().flat_map(|run| &run.trials).any(|trial| trial.ok().is_some())
    }

    /// Answers by the probe, which is made now if necessary: the look was too large for every store. Returns whether it was interrupted.
    fn answer_from_probe(&mut self) -> Result<bool> {
        if self.probed.is_none() && self.probe(LATEST_SHARE)? {
            return Ok(true);
        }
        if let Some((plan, run)) = self.probed.take() {
            self.plan = plan;
            self.stages.runs.push(run);
        }
        Ok(false)
    }

    fn screen_stores(&mut self) -> Result<bool> {
        let mut plan = self.plans.screen.clone();
        plan.timeout = Period(self.trial_limit());
        let stores = plan.axes.texts(Axis::STORE).len();
        let records = records_of(&plan).from;
        let stores = plural(stores, "store");
        self.stages.print_stage(&format!("1 of 3: a look at {stores}, with {}", plural(records, "record")));
        let start = Instant::now();
        let enough = |trials: &[TrialResult]| {
            blocks(trials) >= LOOK_BLOCKS
                || start.elapsed() + block_took(start, trials) > self.budget.mul_f64(LONGEST_LOOK)
        };
        let outcome = self.run_plan("look", &plan, (&[], 0), Some(&enough), None, 1.0)?;
        let is_single = outcome.as_ref().is_some_and(|(run, _)| blocks(&run.trials) < LOOK_BLOCKS);
        let interrupted = self.keep(start, outcome);
        if is_single && !interrupted {
            print_note("the look was slower than planned: each store was looked at once, not twice");
        }
        Ok(interrupted)
    }

    /// The stores that are measured again: the best, those that are close, and the quickest of the riskier ones if it is better.
    fn finalists(&self) -> Vec<String> {
        let Some(advice) = self.advice() else { return Vec::new() };
        let worse = |store: &Candidate| store.times_worse.map_or(1.0, |ratio| ratio.ratio.value);
        let verdict = &advice.verdict;
        let mut safe: Vec<&Candidate> = verdict.ranking.iter().chain(&verdict.given_up).collect();
        safe.sort_by(|a, b| worse(a).total_cmp(&worse(b)));
        let is_worth = |rank: usize, store: &Candidate| {
            let worse = worse(store);
            rank < 2 || (rank < FINALISTS.0 && worse < HOPELESS) || (rank < FINALISTS.1 && worse < CLOSE)
        };
        let safe =
            safe.iter().enumerate().filter(|(rank, store)| is_worth(*rank, store)).map(|(_, store)| *store);
        let riskier = verdict.riskier.first().filter(|store| worse(store) < 1.0);
        safe.chain(riskier).map(|store| store.store.clone()).collect()
    }

    /// Measures the best with the question's own records, until a planned look finds a clear best, or time is up.
    fn measure_finalists(&mut self, mut finalists: Vec<String>) -> Result<bool> {
        let Some(plan) = self.best_plan(&mut finalists)? else { return Ok(false) };
        let predicted_s = self.predicted_s(&plan);
        let is_asked_count = records_of(&plan) == self.asked_shapes().1;
        if predicted_s > self.stages.left_s(1.0) || (is_asked_count && finalists.len() < 2) {
            return Ok(false);
        }
        let records = records_of(&plan).from;
        self.stages.print_stage(&format!(
            "2 of 3: {}, with {}",
            finalists.join(", "),
            plural(records, "record")
        ));
        let look_blocks = self.stages.runs.first().map_or(0, |run| blocks(&run.trials));
        let blocks_before = if is_asked_count { look_blocks } else { 0 };
        let analyses = interim::plan_analyses(
            (self.stages.left_s(self.best_share) / predicted_s) as u32 + blocks_before,
        );
        let old_plan = std::mem::replace(&mut self.plan, plan.clone());
        let start = Instant::now();
        // The stores that there is time for in the next block.
        let choose_stores = |trials: &[TrialResult]| {
            // An interval needs three blocks: these may use the whole budget.
            let is_too_few = f64::from(blocks(trials) + blocks_before) < FEWEST_BLOCKS;
            let left_s = self.stages.left_s(if is_too_few { 1.0 } else { self.best_share });
            let time_s = |stores: &[String]| block_time_s(start, trials, stores);
            let is_active = |store: &&String| count_trials(trials, store) >= blocks(trials);
            let active: Vec<String> = finalists.iter().filter(is_active).cloned().collect();
            if trials.is_empty() || time_s(&active) <= left_s {
                return Some(active);
            }
            let advice = self.advice_with(&plan, trials, analyses)?;
            let ranking = advice.verdict.ranking.into_iter().map(|store| store.store);
            let leaders: Vec<String> = ranking.filter(|store| active.contains(store)).take(2).collect();
            (leaders.len() == 2 && time_s(&leaders) <= left_s).then_some(leaders)
        };
        // The stores of the next block, chosen once: the answer changes as time passes.
        let next_stores = RefCell::new(finalists.clone());
        let enough = |trials: &[TrialResult]| {
            let blocks = blocks(trials);
            let is_alone = finalists.len() < 2 && f64::from(blocks) >= FEWEST_BLOCKS;
            let Some(stores) = choose_stores(trials).filter(|_| !is_alone) else { return true };
            *next_stores.borrow_mut() = stores;
            interim::is_over(analyses, blocks + blocks_before, || self.is_over_with(&plan, trials, analyses))
        };
        // The remaining time goes to the pairs that it can decide.
        let stopped_stores = |trials: &[TrialResult]| {
            let done = blocks(trials);
            let next_stores = next_stores.borrow();
            let mut stopped: Vec<String> =
                finalists.iter().filter(|store| !next_stores.contains(store)).cloned().collect();
            if analyses.contains(&(done + blocks_before)) {
                let advice = self.advice_with(&plan, trials, analyses);
                stopped.extend(advice.iter().flat_map(|advice| advice.beyond_deciding(ALIKE, analyses)));
            }
            stopped
        };
        let outcome =
            self.run_plan("best", &plan, (analyses, LOOK_BLOCKS), Some(&enough), Some(&stopped_stores), 1.0)?;
        if outcome.is_none() {
            self.plan = old_plan;
        }
        Ok(self.keep(start, outcome))
    }

    /// The plan to measure the best again, with as many of them as there is time for. The question's own
    /// number of records comes first: two stores with all of them, measured once, say more than many with fewer, as
    /// another may be best there.
    fn best_plan(&mut self, finalists: &mut Vec<String>) -> Result<Option<Plan>> {
        let full_plan = |finalists: &[String]| self.plans.plan_in_full(self.question, finalists);
        let plan_of_two = full_plan(&finalists[..finalists.len().min(2)])?;
        for blocks in [FEWEST_BLOCKS, 1.0] {
            let block_s = self.stages.left_s(if blocks > 1.0 { self.best_share } else { 1.0 }) / blocks;
            for stores in (2.min(finalists.len())..=finalists.len()).rev() {
                let plan = full_plan(&finalists[..stores])?;
                if self.predicted_s(&plan) <= block_s {
                    finalists.truncate(stores);
                    self.report_fewer_records(&plan, &plan_of_two);
                    return Ok(Some(plan));
                }
            }
        }
        let Some(look) = self.stages.runs.first() else { return Ok(None) };
        let block_s = self.stages.left_s(self.best_share) / FEWEST_BLOCKS;
        let plan = self.plans.reduced_plan(&full_plan(finalists)?, look, block_s / self.slowness)?;
        self.report_fewer_records(&plan, &plan_of_two);
        Ok(Some(plan))
    }

    /// Reports that a plan has fewer records than the question, and the budget for `whole`.
    fn report_fewer_records(&mut self, plan: &Plan, full_plan: &Plan) {
        let (asked, full_count, plan_count) =
            (self.question.records, records_of(full_plan).from, records_of(plan).from);
        if plan_count >= asked {
            return;
        }
        let seconds = self.predicted_s(full_plan) * FEWEST_BLOCKS / (self.best_share - LONGEST_LOOK);
        self.own_count_s =
            (full_count == asked).then_some(seconds.max(self.budget.as_secs_f64() * BUDGET_STEP));
        let why = match self.own_count_s {
            Some(seconds) => format!("--budget {} would allow all", budget(seconds)),
            None => "the disk has no room for more".to_owned(),
        };
        print_note(&format!("{} instead of {}: {why}", plural(plan_count, "record"), with_commas(asked)));
    }

    /// The likely time of a block of a plan, from the time of the look, in seconds.
    fn predicted_s(&self, plan: &Plan) -> f64 {
        let Some(look) = self.stages.runs.first() else { return f64::INFINITY };
        self.plans.predicted_s(plan, look) * self.slowness
    }

    /// Whether the question is settled as far as time allows: the answer is clear, or its stores were measured often enough.
    fn is_settled(&self, advice: &Advice) -> bool {
        let best = advice.verdict.ranking.first();
        let is_measured_often = best.is_some_and(|best| best.speed.trials as f64 >= FEWEST_BLOCKS);
        advice.verdict.ranking.len() > 1 && (is_measured_often || advice.is_clear(ALIKE))
    }

    /// Keeps the result of a stage, if it was run, and its slowness; returns whether it was interrupted.
    fn keep(&mut self, start: Instant, outcome: Option<(Run, bool)>) -> bool {
        let Some((run, interrupted)) = outcome else { return false };
        let trials_s: f64 = run.trials.iter().map(TrialResult::took_s).sum();
        self.slowness = (start.elapsed().as_secs_f64() / trials_s.max(f64::MIN_POSITIVE)).clamp(1.0, SLOWEST);
        self.stages.runs.push(run);
        interrupted
    }

    /// Runs a plan; returns its result, and whether it was interrupted. `looks` is recorded with it; `blocks_before` is the number of
    /// blocks whose seeds are used up. `stopping_rule` names the stores that are left out of the next block. No trial begins after this `share` of the
    /// budget.
    fn run_plan(
        &self,
        name: &str,
        plan: &Plan,
        (looks, blocks_before): (&[u32], u32),
        enough: Option<PrecisionRule<'_>>,
        stopping_rule: Option<StoppingRule<'_>>,
        share: f64,
    ) -> Result<Option<(Run, bool)>> {
        let launch = self.stages.launch(plan)?;
        if launch.cells.is_empty() && !self.stages.runs.is_empty() {
            // Larger records, or more of them, than fit onto the disk: only a look at them is lost.
            return Ok(None);
        }
        self.run(name, launch, (looks, blocks_before), enough, stopping_rule, share).map(Some)
    }

    /// The same for a plan that is ready to run.
    fn run(
        &self,
        name: &str,
        mut launch: Launch<'_>,
        (looks, blocks_before): (&[u32], u32),
        enough: Option<PrecisionRule<'_>>,
        stopping_rule: Option<StoppingRule<'_>>,
        share: f64,
    ) -> Result<(Run, bool)> {
        launch.header.interim_analyses = looks.to_vec();
        launch.header.blocks_before = blocks_before;
        let goes_on = |trials: &[TrialResult]| {
            let stopped = stopping_rule.map_or_else(Vec::new, |rule| rule(trials));
            launch.cells.iter().map(|cell| !stopped.iter().any(|store| store == cell.store())).collect()
        };
        let goes_on: Option<ContinueRule<'_>> = stopping_rule.is_some().then_some(&goes_on);
        let until = self.stages.moment(self.budget.mul_f64(share));
        let job = RunRequest {
            precision_rule: enough,
            continue_rule: goes_on,
            deadline: until,
            ..launch.job(&self.stages.interrupted)
        };
        self.stages.carry_out(name, &launch, &job)
    }

    fn advice(&self) -> Option<Advice> {
        let merged = Merged::new(&self.stages.runs, self.stages.stores);
        Advice::from_runs(self.question, &merged, Some(self.asked_shapes()), self.stages.stores).ok()
    }

    /// Reports the stores that were not reached before the budget was spent.
    fn report_missing_stores(&self) {
        let Some(run) = self.stages.runs.first() else { return };
        let was_reached = |store: &str| {
            run.trials.iter().any(|trial| trial.cell.store() == store)
                || run.header.left_out.iter().any(|left| left.cell.store() == store)
        };
        let stores = self.plan.axes.texts(Axis::STORE);
        let missing: Vec<&str> =
            stores.iter().map(String::as_str).filter(|store| !was_reached(store)).collect();
        if !missing.is_empty() {
            let names = missing.join(", ");
            print_note(&format!("the budget is spent; not reached: {names}. --budget gives more time"));
        }
    }

    /// Whether the best store is clear, or no remaining look is likely to decide, with these trials of a plan and the earlier ones.
    fn is_over_with(&self, plan: &Plan, trials: &[TrialResult], looks: &[u32]) -> bool {
        self.advice_with(plan, trials, looks).is_some_and(|advice| {
            let undecidable = advice.beyond_deciding(ALIKE, looks).len();
            advice.is_clear(ALIKE) || undecidable + 1 >= advice.verdict.ranking.len()
        })
    }

    /// The answer with these trials of a plan and the earlier ones.
    fn advice_with(&self, plan: &Plan, trials: &[TrialResult], looks: &[u32]) -> Option<Advice> {
        let mut runs = self.stages.runs.clone();
        let add_trials = |run: &Run| {
            let plan = plan.to_toml().unwrap_or_default();
            let header = RunHeader { interim_analyses: looks.to_vec(), plan, ..run.header.clone() };
            Run::new(header, trials.to_vec())
        };
        runs.extend(self.stages.runs.first().map(add_trials));
        let merged = Merged::new(&runs, self.stages.stores);
        Advice::from_runs(self.question, &merged, Some(self.asked_shapes()), self.stages.stores).ok()
    }

    /// Measures with an empty page cache, and with smaller, larger, fewer and more records, as time allows.
    fn measure_variations(&mut self, stores: &[String]) -> Result<bool> {
        self.stages.print_stage("3 of 3: what would change the answer");
        for (name, changes) in self.variations() {
            let Some(plan) = self.plan_in_time(changes, stores) else { continue };
            let start = Instant::now();
            let enough = |trials: &[TrialResult]| {
                let next_s = block_took(start, trials).as_secs_f64();
                name != COLD
                    || f64::from(blocks(trials)) >= FEWEST_BLOCKS
                    || next_s > self.stages.left_s(COLD_SHARE)
            };
            let outcome = self.run_plan(name, &plan, (&[], 0), Some(&enough), None, 1.0)?;
            if self.keep(start, outcome) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The plan with these changes, for these stores or the first two, if there is time for it and its records are not too large.
    fn plan_in_time(&self, changes: Changes, stores: &[String]) -> Option<Plan> {
        let mut plan = self.plan.clone();
        plan.apply(changes).ok()?;
        let earlier = self.stages.runs.last()?;
        for stores in [stores, &stores[..stores.len().min(2)]] {
            plan.apply(Changes::single(Axis::STORE, names(stores))).ok()?;
            if self.plans.predicted_s(&plan, earlier) * self.slowness <= self.stages.left_s(1.0) {
                return Some(plan);
            }
        }
        None
    }

    /// The changes that might change the answer, by name.
    fn variations(&self) -> Vec<(&'static str, Changes)> {
        let (size, records) = self.asked_shapes();
        let operations = self.operations();
        let (smaller, larger) =
            (size.scaled(|bytes| bytes / SIZE_STEP), size.scaled(|bytes| bytes.saturating_mul(SIZE_STEP)));
        let scaled = |from: u64| counts(from.max(1), operations);
        let (fewer, more) =
            (scaled(records.from / COUNT_STEP), scaled(records.from.saturating_mul(COUNT_STEP)));
        let change_axes = |axes: Axes| Changes { axes, ..Changes::default() };
        let mut variations = Vec::new();
        if self.question.reads() && !self.question.cold {
            // No more reads than records: beyond that, most would repeat an earlier read.
            let (operations, mix) = (Some(Count(operations.min(records.from))), "get=1".parse().ok());
            let parameters = Parameters { mix, operations, ..Parameters::default() };
            let axes = Axes::single(Axis::CACHE, [Cache::Cold]);
            variations.push((COLD, Changes { parameters, axes, ..Changes::default() }));
        }
        let shapes = [
            ("smaller", smaller, records),
            ("fewer", size, fewer),
            ("larger", larger, records),
            ("more", size, more),
        ];
        for (name, other_size, other_records) in shapes {
            if (other_size, other_records) != (size, records) && other_records.to <= MOST_RECORDS {
                let axes = Axes::single(Axis::RECORD_SIZE, [other_size]).with(Axis::RECORDS, [other_records]);
                variations.push((name, change_axes(axes)));
            }
        }
        variations
    }
}

const COLD: &str = "cold";

fn blocks(trials: &[TrialResult]) -> u32 {
    trials.iter().map(|trial| trial.block + 1).max().unwrap_or(0)
}

fn count_trials(trials: &[TrialResult], store: &str) -> u32 {
    trials.iter().filter(|trial| trial.cell.store() == store).count() as u32
}

/// The likely time of a block of these stores in seconds, by their last trials and the time between trials since `start`.
fn block_time_s(start: Instant, trials: &[TrialResult], stores: &[String]) -> f64 {
    let trials_s: f64 = trials.iter().map(TrialResult::took_s).sum();
    let last = |store: &String| trials.iter().rev().find(|trial| trial.cell.store() == store);
    let stores_s: f64 = stores.iter().filter_map(last).map(TrialResult::took_s).sum();
    start.elapsed().as_secs_f64() * stores_s / trials_s.max(f64::MIN_POSITIVE)
}

/// The time of a block with these trials, in a stage that began at `start`.
fn block_took(start: Instant, trials: &[TrialResult]) -> Duration {
    start.elapsed() / blocks(trials).max(1)
}
