//! Runs the races behind a tuning, until the search or the time is over.

use std::time::Duration;

use storebench_core::measure::probe::Probe;
use storebench_core::workload::crud::parameters::CrudParameters;
use storebench_figures::data::merge::Merged;
use storebench_figures::judge::interim;
use storebench_host::plan::Plan;
use storebench_host::runner::rehearsal;
use storebench_host::runner::run_request::RunRequest;
use storebench_model::cell::Cell;
use storebench_model::error::{Error, Exit, Result};
use storebench_model::result::{LeftOutCell, LeftOutReason, Outcome, TrialResult};
use storebench_model::store::{Setting, StoreDef};
use storebench_model::units::{plural, with_commas};
use storebench_report::advice::question::Question;
use storebench_report::tuning::judge::{Judge, changes, races, reads_back_alike, settings_of};
use storebench_report::tuning::race::{Kind, RaceResult, Settings};
use storebench_report::tuning::search::{self, Change, Race, SCREEN_UNTIL, Time};
use storebench_report::tuning::{TunedSettings, is_settled};

use super::super::launch;
use super::super::output::print_note;
use super::super::question::records_of;
use super::super::runs::TUNING_PREFIX;
use super::super::stages::Stages;
use super::plans::TrialLength;
use super::{TuneRequest, plans};

/// Blocks of the first race that there should be time for; and the number if more would need other records.
const SCREEN_BLOCKS: f64 = 8.0;
const FEWEST_SCREEN_BLOCKS: f64 = 4.0;
/// The most trials of the default to find the number of operations of a trial.
const MAX_PILOTS: usize = 4;
/// The time of a race before its first trial, in seconds, until one was run.
const RACE_S: f64 = 1.5;
/// How often the best and the default are compared in fresh trials, however late it is: an interval needs this many.
const FEWEST_PAIRS: u32 = 3;
/// How often the two are compared with other records.
const BESIDE_BLOCKS: u32 = 3;

pub struct TuneCampaign<'a> {
    request: &'a TuneRequest<'a>,
    pub stages: Stages<'a>,
    probe: Probe,
    /// The default alone, as in each trial.
    plan: Plan,
    changes: Vec<Change>,
    /// The settings that were rejected before the first race.
    refused: Vec<LeftOutCell>,
    /// Blocks whose seeds are used up.
    blocks: u32,
}

impl<'a> TuneCampaign<'a> {
    pub fn new(stores: &'a [StoreDef], request: &'a TuneRequest<'a>) -> Result<TuneCampaign<'a>> {
        let plan = plans::plan(request)?;
        let stages =
            Stages::new(stores, (request.out, TUNING_PREFIX), request.directory, request.budget, &plan)?;
        let plan = plans::initial(&plan, request, request.directory.unwrap_or(request.out))?;
        let probe = stages.probe()?;
        let changes = changes(request.store);
        Ok(TuneCampaign { request, stages, probe, plan, changes, refused: Vec::new(), blocks: 0 })
    }

    /// Measures; returns whether it was interrupted.
    pub fn measure(&mut self) -> Result<bool> {
        if self.rehearse()? || self.choose_size()? {
            return Ok(true);
        }
        while let Some(race) = search::next(&self.changes, &self.race_results(), self.time()) {
            self.print_race(&race);
            let number = self.stages.runs.len() + 1;
            let name = format!("{number}-{}", race.kind.name().trim_start_matches("tune-"));
            let plan = plans::race(&self.plan, race.kind, self.request.store.name, &race.arms);
            if self.carry_out(&name, &plan, &race)? {
                return Ok(true);
            }
            if self.stages.runs.len() < number {
                // There is no room for it any more, nor for the same race again.
                break;
            }
        }
        self.race_other_records()
    }

    /// Tries each value in a short trial: values that fail, promise less, or change nothing are left out. A value equal to the default
    /// is not mentioned.
    fn rehearse(&mut self) -> Result<bool> {
        let arms: Vec<Settings> = self.changes.iter().map(Change::as_settings).collect();
        let plan = plans::race(&self.plan, Kind::Screen, self.request.store.name, &arms);
        let launch = self.stages.launch(&plan)?;
        launch.check_cells()?;
        for omitted in launch.header.left_out.iter().filter(|left| !settings_of(&left.cell).is_empty()) {
            self.refused.push(omitted.clone());
        }
        let Some(trials) = rehearsal::try_each(&launch.job(&self.stages.interrupted))? else {
            return Ok(true);
        };
        let default = trials.iter().find(|trial| settings_of(&trial.cell).is_empty());
        let Some(default) = default.and_then(TrialResult::ok) else {
            let why = trials.iter().find_map(|trial| match &trial.outcome {
                Outcome::Failed { message, .. } | Outcome::Unsupported { message } => Some(message.clone()),
                Outcome::Ok => None,
            });
            let message = format!("the default settings fail: {}", why.unwrap_or_default());
            return Err(Error::new(Exit::TrialsFailed, message));
        };
        // Memory is judged by real trials.
        let question = Question { max_memory_bytes: None, ..self.request.question.clone() };
        let judge = Judge::new(&question, self.request.store, trials.iter());
        let mut unchanged = Vec::new();
        for trial in &trials {
            let settings = settings_of(&trial.cell);
            let is_alike = || {
                trial
                    .ok()
                    .is_some_and(|measurement| reads_back_alike(&measurement.settings, &default.settings))
            };
            if settings.is_empty() {
                continue;
            }
            if let Some(why) = judge.why_out(trial) {
                self.refused
                    .push(LeftOutCell { cell: trial.cell.clone(), reason: LeftOutReason::Refused { why } });
            } else if settings.iter().all(|(name, value)| is_read_back(&default.settings, name, value)) {
                unchanged.push(settings);
            } else if is_alike() {
                self.refused
                    .push(LeftOutCell { cell: trial.cell.clone(), reason: LeftOutReason::OpensAsByDefault });
            }
        }
        let refused: Vec<Settings> = self.refused.iter().map(|left| settings_of(&left.cell)).collect();
        self.changes.retain(|change| {
            !refused.contains(&change.as_settings()) && !unchanged.contains(&change.as_settings())
        });
        print_note(&format!(
            "{} of {} values can be tried; {} left out",
            self.changes.len(),
            self.changes.len() + self.refused.len(),
            self.refused.len()
        ));
        Ok(false)
    }

    /// Finds the number of records and operations of a trial, by trials of the default.
    fn choose_size(&mut self) -> Result<bool> {
        let left_s = self.budget_s() * SCREEN_UNTIL - self.stages.spent_s() - RACE_S;
        let block_s = |blocks: f64| left_s / (blocks * (self.changes.len() + 1) as f64);
        let length = TrialLength { aim_s: block_s(SCREEN_BLOCKS), most_s: block_s(FEWEST_SCREEN_BLOCKS) };
        let most_s = length.most_s * MAX_PILOTS as f64;
        self.plan = plans::reduce(self.plan.clone(), self.stages.stores, &self.probe, most_s)?;
        for _ in 0..MAX_PILOTS {
            let launch = self.stages.launch(&self.plan)?;
            let Some(cell) = launch.cells.first() else {
                return Err(launch::nothing_to_run(&launch.header.left_out));
            };
            let Some(trial) = rehearsal::pilot(&launch.job(&self.stages.interrupted), cell)? else {
                return Ok(true);
            };
            match plans::correct(&self.plan, &trial, length)? {
                Some(plan) => self.plan = plan,
                None => break,
            }
        }
        let records = records_of(&self.plan).from;
        if records < self.request.question.records {
            print_note(&format!(
                "{} instead of {}: a longer --budget would allow more",
                plural(records, "record"),
                with_commas(self.request.question.records)
            ));
        }
        let operations = CrudParameters::from_parameters(&self.plan.parameters).operations;
        print_note(&format!(
            "each trial loads {} and does {}",
            plural(records, "record"),
            plural(operations, "operation")
        ));
        Ok(false)
    }

    fn budget_s(&self) -> f64 {
        self.request.budget.as_secs_f64()
    }

    fn judge<'t>(&'t self, trials: &'t [TrialResult]) -> Judge<'t> {
        let all_trials = self.stages.runs.iter().flat_map(|run| &run.trials).chain(trials);
        Judge::new(self.request.question, self.request.store, all_trials)
    }

    fn race_results(&self) -> Vec<RaceResult> {
        races(&self.stages.runs, &self.judge(&[])).into_iter().map(|(_, result)| result).collect()
    }

    /// The time used so far, and the times of a trial and a race.
    fn time(&self) -> Time {
        let spent_s = self.stages.spent_s();
        let trials: Vec<f64> =
            self.stages.runs.iter().flat_map(|run| &run.trials).map(|trial| trial.wall_s).collect();
        let trial_s = match trials.len() {
            0 => plans::estimate_s(&self.plan, self.stages.stores, &self.probe),
            count => trials.iter().sum::<f64>() / count as f64,
        };
        Time { budget_s: self.budget_s(), spent_s, trial_s: trial_s * OVERHEAD, race_s: RACE_S }
    }

    /// Runs a race; returns whether it was interrupted.
    fn carry_out(&mut self, name: &str, plan: &Plan, race: &Race) -> Result<bool> {
        let mut launch = self.stages.launch(plan)?;
        if launch.cells.len() < 2 && !self.stages.runs.is_empty() {
            return Ok(false);
        }
        launch.header.interim_analyses = race.looks.clone();
        launch.header.blocks_before = self.blocks;
        if self.stages.runs.is_empty() {
            launch.header.left_out.append(&mut self.refused);
        }
        let run = self.stages.runs.len();
        let race_result =
            |trials: &[TrialResult]| self.judge(trials).raced(race.kind, &race.arms, run, trials);
        let enough = |trials: &[TrialResult]| is_enough(&race_result(trials), race);
        let continued_cells = |trials: &[TrialResult]| -> Vec<bool> {
            let race_result = race_result(trials);
            launch.cells.iter().map(|cell| is_continued(&race_result, cell)).collect()
        };
        let until = self.stages.moment(Duration::from_secs_f64(self.budget_s() * race.until));
        let job = RunRequest {
            precision_rule: Some(&enough),
            continue_rule: Some(&continued_cells),
            deadline: until,
            certain_blocks: certain_blocks(race.kind),
            ..launch.job(&self.stages.interrupted)
        };
        let (run, interrupted) = self.stages.carry_out(name, &launch, &job)?;
        self.blocks += run.trials.iter().map(|trial| trial.block + 1).max().unwrap_or(0);
        self.stages.runs.push(run);
        Ok(interrupted)
    }

    /// The settings that are reported as a gain, if any.
    fn best(&self) -> Option<Settings> {
        let merged = Merged::new(&self.stages.runs, self.stages.stores);
        let tuned = TunedSettings::from_runs(self.request.question, &merged, self.request.store).ok()?;
        Some(tuned.changes()?.changes.iter().flat_map(Change::as_settings).collect())
    }

    /// Compares the best and the default with other records, as time allows.
    fn race_other_records(&mut self) -> Result<bool> {
        let Some(best) = self.best() else { return Ok(false) };
        let estimate_s = plans::estimate_s(&self.plan, self.stages.stores, &self.probe);
        let mut is_announced = false;
        for (name, plan) in plans::with_other_records(&self.plan) {
            let Time { budget_s, spent_s, trial_s, race_s } = self.time();
            let factor =
                plans::estimate_s(&plan, self.stages.stores, &self.probe) / estimate_s.max(f64::MIN_POSITIVE);
            let needed_s = trial_s * factor.max(1.0) * f64::from(BESIDE_BLOCKS) * 2.0 + race_s;
            if spent_s + needed_s > budget_s {
                continue;
            }
            let arms = vec![Settings::new(), best.clone()];
            let race = Race { kind: Kind::Beside, arms, looks: vec![BESIDE_BLOCKS], until: 1.0 };
            if !is_announced {
                self.print_race(&race);
                is_announced = true;
            }
            let number = self.stages.runs.len() + 1;
            let plan = plans::race(&plan, Kind::Beside, self.request.store.name, &race.arms);
            if self.carry_out(&format!("{number}-{name}"), &plan, &race)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Shows a race, and the rest of the budget.
    fn print_race(&self, race: &Race) {
        let rivals = race.arms.len() - 1;
        let stage = match race.kind {
            Kind::Screen => format!("{rivals} values, each alone against the default"),
            Kind::Combine => format!("{rivals} combinations of what looks helpful"),
            Kind::Near if rivals == 2 => "the best so far and a neighbour".into(),
            Kind::Near => format!("the best so far and {} neighbours", rivals - 1),
            Kind::Proof => "the best against the default, in fresh trials".into(),
            Kind::Beside => "the best against the default, with other records".into(),
        };
        self.stages.print_stage(&stage);
    }
}

/// Whether a setting was read back with a value, ignoring case.
fn is_read_back(settings: &[Setting], name: &str, value: &str) -> bool {
    settings.iter().any(|setting| setting.name == name && setting.value.eq_ignore_ascii_case(value))
}

/// The factor between the time of trials with and without the time between them.
const OVERHEAD: f64 = 1.1;

/// The blocks of a race that are run even if the budget is too short.
fn certain_blocks(kind: Kind) -> u32 {
    match kind {
        Kind::Screen => 1,
        Kind::Proof => FEWEST_PAIRS,
        Kind::Combine | Kind::Near | Kind::Beside => 0,
    }
}

/// Whether a race needs no further block.
fn is_enough(result: &RaceResult, race: &Race) -> bool {
    let blocks = result.blocks();
    match race.kind {
        Kind::Proof => interim::is_over(&race.looks, blocks, || is_settled(result, race.looks.len())),
        Kind::Beside => blocks >= BESIDE_BLOCKS,
        Kind::Screen | Kind::Combine | Kind::Near => result.is_over(),
    }
}

/// Whether a cell is measured in further blocks.
fn is_continued(result: &RaceResult, cell: &Cell) -> bool {
    let settings = settings_of(cell);
    let arm = result.arms.iter().position(|arm| arm.settings == settings);
    arm.is_some_and(|arm| result.is_continued(arm))
}
