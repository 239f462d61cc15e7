//! Turns trials into races: the time of an operation by settings and block, and which settings can't be used.

use std::collections::BTreeMap;

use storebench_figures::data::memory::Basis;
use storebench_figures::data::merge::BlockKey;
use storebench_figures::judge::danger::costs_no_more;
use storebench_host::run::Run;
use storebench_model::cell::Cell;
use storebench_model::result::{Measurements, Outcome, TrialResult};
use storebench_model::store::{Danger, Guarantee, Setting, StoreDef};
use storebench_model::units::rough_bytes;

use super::race::{Arm, Kind, RaceResult, Settings};
use super::search::Change;
use crate::advice::figures::time_ns;
use crate::advice::question::Question;

/// The judge of settings: the question, the store and the default's promise.
pub struct Judge<'j> {
    question: &'j Question,
    store: &'j StoreDef,
    /// The figure by which memory is compared.
    pub(super) basis: Basis,
    /// The promise of the default; `None` until a trial of it has succeeded.
    pub(super) promise: Option<GivenSafety>,
}

/// A guarantee, and the cost of accidents at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GivenSafety {
    pub(crate) guarantee: Guarantee,
    /// With the settings as read back.
    pub(crate) danger: Option<&'static Danger>,
}

impl GivenSafety {
    /// Whether another promises as much: the same guarantee, and no accident that costs more.
    fn is_kept_by(&self, other: &GivenSafety) -> bool {
        self.guarantee == other.guarantee && costs_no_more(other.danger, self.danger)
    }
}

impl<'j> Judge<'j> {
    /// Judges by the question, and by what the default promises in these trials.
    pub fn new<'t>(
        question: &'j Question,
        store: &'j StoreDef,
        trials: impl Iterator<Item = &'t TrialResult> + Clone,
    ) -> Judge<'j> {
        let mut ended = trials.filter_map(|trial| Some((&trial.cell, trial.ok()?)));
        let mut judge = Judge {
            question,
            store,
            basis: Basis::fairest(ended.clone().map(|(_, measured)| &measured.memory)),
            promise: None,
        };
        let default = ended.find(|(cell, _)| cell.settings().next().is_none());
        judge.promise = default.map(|(_, measured)| judge.safety_of(measured));
        judge
    }

    fn safety_of(&self, measured: &Measurements) -> GivenSafety {
        let offer = self.store.offer(measured.guarantee);
        let danger = offer.and_then(|offer| offer.danger(&measured.settings));
        GivenSafety { guarantee: measured.guarantee, danger }
    }

    /// Why settings can't be used, by one of their trials.
    pub fn why_out(&self, trial: &TrialResult) -> Option<String> {
        let measured = match (&trial.outcome, trial.ok()) {
            (Outcome::Failed { message, .. } | Outcome::Unsupported { message }, _) => {
                return Some(message.clone());
            }
            (Outcome::Ok, measured) => measured?,
        };
        self.breaks_promise(measured).or_else(|| self.takes_too_much(measured))
    }

    fn breaks_promise(&self, measured: &Measurements) -> Option<String> {
        let given = self.safety_of(measured);
        let promise = self.promise.filter(|promise| !promise.is_kept_by(&given))?;
        if given.guarantee != promise.guarantee {
            return Some(format!("gives the guarantee {}, not {}", given.guarantee, promise.guarantee));
        }
        let cost = |danger: Option<&Danger>| danger.map_or("what is not known".to_owned(), Danger::to_string);
        Some(format!("risks more than the default. {}", cost(given.danger)))
    }

    fn takes_too_much(&self, measured: &Measurements) -> Option<String> {
        let most = self.question.max_memory_bytes?;
        let peak = self.basis.bytes(&measured.memory).filter(|peak| *peak > most)?;
        Some(format!("took {} of memory {}", rough_bytes(peak as f64), self.basis.describe()))
    }

    /// The race in these trials. Cells that are none of its arms are skipped.
    pub fn raced(&self, kind: Kind, arms: &[Settings], run: usize, trials: &[TrialResult]) -> RaceResult {
        let mut arms: Vec<Arm> = arms.iter().cloned().map(Arm::new).collect();
        for trial in trials {
            let settings = settings_of(&trial.cell);
            let Some(arm) = arms.iter_mut().find(|arm| arm.settings == settings) else { continue };
            if arm.out.is_none() {
                arm.out = self.why_out(trial);
            }
            let time = trial.ok().and_then(|measured| time_ns(measured, &self.question.mix));
            arm.times.extend(time.map(|time| (BlockKey { run, block: trial.block }, time)));
        }
        RaceResult { kind, arms }
    }
}

/// The settings of a cell that differ from its store's default.
pub fn settings_of(cell: &Cell) -> Settings {
    cell.settings().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// A run's race: its kind and settings, the default first. `None` for any other run.
fn race_of(run: &Run, store: &str) -> Option<(Kind, Vec<Settings>)> {
    let kind = Kind::from_study(&run.header.study)?;
    let plan = run.plan()?;
    plan.axes.texts(storebench_model::cell::Axis::STORE).contains(&store.to_owned()).then_some(())?;
    let points = plan.points.iter().filter_map(|point| point.settings.get(store).cloned());
    Some((kind, std::iter::once(Settings::new()).chain(points).collect()))
}

/// All races among some runs, each with the index of its run.
pub fn races(runs: &[Run], judge: &Judge<'_>) -> Vec<(usize, RaceResult)> {
    let read_race = |(index, run): (usize, &Run)| {
        let (kind, arms) = race_of(run, judge.store.name)?;
        Some((index, judge.raced(kind, &arms, index, &run.trials)))
    };
    runs.iter().enumerate().filter_map(read_race).collect()
}

/// The changes worth a trial, from the store's table.
pub fn changes(store: &StoreDef) -> Vec<Change> {
    let changes = store.settings.iter().flat_map(|def| def.tune.iter().map(move |value| (def.name, *value)));
    changes.map(|(name, value)| Change { setting: name.into(), value: value.into() }).collect()
}

/// Whether settings read back equal, so that both are the same.
pub fn reads_back_alike(a: &[Setting], b: &[Setting]) -> bool {
    let by_name = |settings: &[Setting]| -> BTreeMap<String, String> {
        settings.iter().map(|setting| (setting.name.clone(), setting.value.clone())).collect()
    };
    by_name(a) == by_name(b)
}
