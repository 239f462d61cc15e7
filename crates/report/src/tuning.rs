//! Finds the best settings of a store for a user's work: [`search`] decides what to measure next, [`TunedSettings`] is the answer. A
//! reported gain comes from trials that took no part in the choice, with an interval that allows for every planned look.

mod elsewhere;
mod html;
pub mod judge;
pub mod race;
pub mod search;
mod sentences;
mod terminal;
#[cfg(test)]
mod tests;
mod worth;

use std::fmt;

use storebench_core::workload::operation::Operation;
use storebench_figures::column::MEAN_LATENCY;
use storebench_figures::data::contention;
use storebench_figures::data::memory::Basis;
use storebench_figures::data::merge::{BlockKey, Entry, Merged};
use storebench_figures::data::method::{MIX, Method};
use storebench_figures::judge::contention::Contention;
use storebench_figures::judge::interim;
use storebench_figures::judge::settings::{self, Verdict};
use storebench_figures::layout::Position;
use storebench_figures::stats::{Ratio, Series, Summary, compare_at};
use storebench_host::run::Run;
use storebench_model::axis::table::HERE;
use storebench_model::cell::Axis;
use storebench_model::result::{LocationInfo, Measurements, RunHeader};
use storebench_model::store::{Setting, StoreDef};
use storebench_model::units::{CountRange, Sizes, plural};

use self::elsewhere::OtherMeasurements;
use self::judge::{GivenSafety, Judge, races};
use self::race::{DEFAULT, Kind, RaceResult, Settings};
use self::search::Change;
use self::worth::ValueWorth;
use crate::advice::figures::Figures;
use crate::advice::question::{Mix, Question};
use crate::advice::settings::describe_setting;
use crate::markup::Html;
use crate::page::{self, Lead};
use crate::terminal::grid::Style;

#[cfg(test)]
pub(crate) use self::tests::{STORE as MADE_STORE, question as made_question, run as made_run};

/// Settings for a user's work, with their measurements.
#[derive(Debug, Clone, PartialEq)]
pub struct TunedSettings {
    pub(crate) question: Question,
    /// The store's name and version.
    pub store: (String, String),
    pub(crate) hardware: String,
    pub(crate) place: Option<LocationInfo>,
    /// The records of the measurements.
    pub records: (Sizes, CountRange),
    /// The promise of the default, which reported settings keep.
    pub(crate) promise: Option<GivenSafety>,
    pub(crate) memory: Basis,
    /// The settings to change, with the gain; `None` if nothing looked better than the default.
    pub gain: Option<Gain>,
    pub(crate) worth: Vec<ValueWorth>,
    /// The default: its settings as read back.
    pub(crate) default: Vec<Setting>,
    /// The recommended settings that were read back or given, in words: `synchronous = NORMAL`.
    pub(crate) described: Vec<String>,
    pub(crate) default_out: Option<String>,
    /// Other programs' load, if it left too few processors: then nothing is called faster.
    pub(crate) contention: Option<Contention>,
    pub(crate) tried: TriedCounts,
    pub(crate) start: String,
}

/// The gain of the best settings, measured in trials that took no part in the choice.
#[derive(Debug, Clone, PartialEq)]
pub struct Gain {
    /// The settings that differ from the default.
    pub changes: Vec<Change>,
    /// The time of an operation as a multiple of the default's, with the interval that allows for all looks.
    pub(crate) times: Ratio,
    pub(crate) looks: usize,
    /// The same by operation, each with a separate interval.
    pub(crate) operations: Vec<(Operation, Option<Ratio>)>,
    /// The default's figures, then these settings'.
    pub(crate) figures: [Side; 2],
    pub(crate) settings: Vec<Setting>,
    pub(crate) out: Option<String>,
    pub(crate) elsewhere: OtherMeasurements,
}

/// The figures of the default, or of the tuned settings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Side {
    pub(crate) time_ns: f64,
    /// Bytes on disk over bytes of values.
    pub(crate) space: f64,
    pub(crate) memory_bytes: f64,
}

/// The numbers of trials, values and combinations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TriedCounts {
    pub(crate) values: usize,
    pub(crate) combinations: usize,
    /// Failed ones included.
    pub(crate) trials: usize,
}

const MOST_SCREENED: usize = 2;

/// Whether the proof needs no further trials: the gain is known well, or there is none.
pub fn is_settled(proof: &RaceResult, looks: usize) -> bool {
    let is_out = proof.arms.iter().skip(DEFAULT + 1).any(|arm| arm.out.is_some());
    let times = proof.ratio(DEFAULT + 1, interim::confidence(looks));
    is_out || times.is_some_and(|times| settings::is_settled(&times))
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoAnswer {
    /// None of these runs was made to tune the store.
    NotTuned(String),
    /// The runs were made for other work, or have several answers.
    OtherWork(String),
    /// The default never completed a trial, with the reason.
    NoDefault(String),
    /// Neither the default nor any other settings can be used; the reason for the default.
    NothingFits(String),
}

impl fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoAnswer::NotTuned(store) => write!(f, "the runs were not made to tune {store}"),
            NoAnswer::OtherWork(what) => write!(f, "the runs were made for other work: {what}"),
            NoAnswer::NoDefault(why) => write!(f, "no trial with the default settings succeeded: {why}"),
            NoAnswer::NothingFits(why) => {
                write!(f, "no settings that were tried can be taken, nor the default: it {why}")
            }
        }
    }
}

impl TunedSettings {
    /// The answer from the runs that were made for it.
    pub fn from_runs(
        question: &Question,
        merged: &Merged<'_>,
        store: &StoreDef,
    ) -> Result<TunedSettings, NoAnswer> {
        let runs = merged.runs;
        let judge = Judge::new(question, store, runs.iter().flat_map(|run| &run.trials));
        let races = races(runs, &judge);
        let screen: Vec<&(usize, RaceResult)> =
            races.iter().filter(|(_, race)| race.kind == Kind::Screen).collect();
        let Some((first, _)) = screen.first() else {
            return Err(NoAnswer::NotTuned(store.name.to_owned()));
        };
        if let Some(other) = other_work(&runs[*first], question, screen.len()) {
            return Err(NoAnswer::OtherWork(other));
        }
        let results: Vec<RaceResult> = races.iter().map(|(_, race)| race.clone()).collect();
        let default = default_measurements(&runs[*first]).ok_or_else(|| no_default(&runs[*first], &judge))?;
        let screened = search::screened(&results);
        let default_out = screened.as_ref().and_then(|screened| screened.arms.first()?.out.clone());
        if let Some(why) = default_out.clone().filter(|_| search::best(&results).is_none()) {
            return Err(NoAnswer::NothingFits(why));
        }
        let header = &runs[*first].header;
        let cell = runs[*first].trials.iter().map(|trial| &trial.cell).next();
        let mut tuned = TunedSettings {
            question: question.clone(),
            store: (store.name.to_owned(), default.store_version.clone()),
            hardware: header.hardware.clone(),
            place: header.locations.first().cloned(),
            records: cell.map_or_else(
                || (question.size, CountRange::starting_at(question.records)),
                |cell| (cell.record_size(), cell.records()),
            ),
            promise: judge.promise,
            memory: judge.basis,
            gain: measure_gain(runs, &races, &judge, question),
            worth: worth::value_worths(screened.as_ref(), store, &default.settings, &runs[*first]),
            default: default.settings.clone(),
            described: Vec::new(),
            default_out,
            contention: measure_contention(runs, &races),
            tried: count_tried(runs, &races),
            start: start_address(merged, &races),
        };
        let find_def = |setting: &Setting| store.settings.iter().find(|def| def.name == setting.name);
        let changed = tuned.settings().iter().filter(|setting| !setting.is_as_shipped());
        tuned.described = changed.map(|setting| describe_setting(setting, find_def(setting))).collect();
        Ok(tuned)
    }

    /// The settings to change, because they are faster, or because the default can't be used.
    pub fn changes(&self) -> Option<&Gain> {
        let gain = self.gain.as_ref().filter(|gain| gain.out.is_none())?;
        let is_faster = self.contention.is_none() && Verdict::judge(&gain.times) == Verdict::Faster;
        (is_faster || self.default_out.is_some()).then_some(gain)
    }

    /// Whether the trials can't decide if other settings are faster, which is not the same as that none are.
    pub fn is_open(&self) -> bool {
        let is_open = |gain: &Gain| gain.out.is_none() && Verdict::judge(&gain.times) == Verdict::Open;
        self.changes().is_none() && (self.contention.is_some() || self.gain.as_ref().is_some_and(is_open))
    }

    /// The settings that are recommended, all of them, as read back.
    pub fn settings(&self) -> &[Setting] {
        self.changes().map_or(&self.default, |gain| &gain.settings)
    }

    /// The answer for a terminal; `snippet` opens the store. Each line is ended.
    pub fn text(&self, snippet: Option<&str>, style: Style) -> String {
        terminal::text(self, snippet, style)
    }

    /// The answer as the beginning of a page.
    pub fn lead(&self, snippet: Option<&str>) -> Lead {
        Lead { html: self.html(snippet), start: self.start.clone() }
    }

    /// The answer as a section of the page.
    pub fn html(&self, snippet: Option<&str>) -> Html {
        html::section(self, snippet)
    }
}

fn default_measurements(run: &Run) -> Option<&Measurements> {
    let default = run.trials.iter().filter(|trial| trial.cell.settings().next().is_none());
    default.filter_map(|trial| trial.ok()).next()
}

fn no_default(run: &Run, judge: &Judge<'_>) -> NoAnswer {
    let why = run.trials.iter().find_map(|trial| judge.why_out(trial));
    NoAnswer::NoDefault(why.unwrap_or_else(|| "none was finished".into()))
}

fn measure_contention(runs: &[Run], races: &[(usize, RaceResult)]) -> Option<Contention> {
    let headers: Vec<&RunHeader> = runs.iter().map(|run| &run.header).collect();
    let trials_of_run = |(run, _): &(usize, RaceResult)| {
        let run = *run;
        runs[run].trials.iter().map(move |trial| Entry { run, trial })
    };
    let entries: Vec<Entry<'_>> = races.iter().flat_map(trials_of_run).collect();
    contention::find_contention(&headers, entries.iter())
}

fn count_tried(runs: &[Run], races: &[(usize, RaceResult)]) -> TriedCounts {
    let arms = races.iter().flat_map(|(_, race)| &race.arms);
    let arms = arms.filter(|arm| !arm.times.is_empty() || arm.out.is_some()).map(|arm| &arm.settings);
    let arms: std::collections::BTreeSet<&Settings> = arms.collect();
    TriedCounts {
        values: arms.iter().filter(|settings| settings.len() == 1).count(),
        combinations: arms.iter().filter(|settings| settings.len() > 1).count(),
        trials: races.iter().map(|(run, _)| runs[*run].trials.len()).sum(),
    }
}

fn measure_gain(
    runs: &[Run],
    races: &[(usize, RaceResult)],
    judge: &Judge<'_>,
    question: &Question,
) -> Option<Gain> {
    let (index, proof) = races.iter().find(|(_, raced)| raced.kind == Kind::Proof)?;
    let tuned = proof.arms.get(DEFAULT + 1)?;
    let run = &runs[*index];
    let looks = run.header.interim_analyses.len().max(1);
    let confidence = interim::confidence(looks);
    let measured = |settings: &Settings| -> Vec<(BlockKey, &Measurements)> {
        let trials = run.trials.iter().filter(|trial| judge::settings_of(&trial.cell) == *settings);
        let key = |block| BlockKey { run: *index, block };
        trials.filter_map(|trial| Some((key(trial.block), trial.ok()?))).collect()
    };
    let sides = [measured(&proof.arms[DEFAULT].settings), measured(&tuned.settings)];
    let operations: Vec<Operation> = question.mix.shares().iter().map(|(operation, _)| *operation).collect();
    let latencies = |operation: Operation| [0, 1].map(|side| latency_by_block(&sides[side], operation));
    let ratio = |operation: Operation| {
        let [default, tuned] = latencies(operation);
        compare_at(&tuned, &default, interim::confidence(looks * operations.len()))
    };
    let by_operation: Vec<(Operation, [Series<BlockKey>; 2])> =
        operations.iter().map(|operation| (*operation, latencies(*operation))).collect();
    let changes = tuned.settings.clone().into_iter();
    Some(Gain {
        changes: changes.map(|(setting, value)| Change { setting, value }).collect(),
        times: proof.ratio(DEFAULT + 1, confidence)?,
        looks,
        operations: operations.iter().map(|operation| (*operation, ratio(*operation))).collect(),
        figures: [
            side_figures(&sides[0], &question.mix, judge.basis)?,
            side_figures(&sides[1], &question.mix, judge.basis)?,
        ],
        settings: sides[1].last().map(|(_, measured)| measured.settings.clone())?,
        out: tuned.out.clone(),
        elsewhere: elsewhere::measure_elsewhere(runs, races, &by_operation, &question.mix, confidence),
    })
}

fn latency_by_block(trials: &[(BlockKey, &Measurements)], operation: Operation) -> Series<BlockKey> {
    let latency =
        |measured: &Measurements| MEAN_LATENCY.operation_value(measured.operation(operation.name())?);
    trials.iter().filter_map(|(block, measured)| Some((*block, latency(measured)?))).collect()
}

fn side_figures(trials: &[(BlockKey, &Measurements)], mix: &Mix, basis: Basis) -> Option<Side> {
    let figures: Vec<Figures> =
        trials.iter().filter_map(|(_, measured)| Figures::from_trial(measured, mix, basis)).collect();
    let mean = |value: fn(&Figures) -> f64| {
        Some(Summary::from_values(&figures.iter().map(value).collect::<Vec<_>>())?.mean.value)
    };
    Some(Side {
        time_ns: mean(|figures| figures.speed_ns)?,
        space: mean(|figures| figures.space)?,
        memory_bytes: mean(|figures| figures.memory_bytes)?,
    })
}

fn start_address(merged: &Merged<'_>, races: &[(usize, RaceResult)]) -> String {
    let latest = races.iter().map(|(run, _)| *run).next_back();
    let found = merged.groups.iter().find_map(|group| {
        let trial =
            group.trials.iter().find(|entry| Some(entry.run) == latest && entry.trial.ok().is_some())?;
        let position: Position = merged.layout.position(&trial.trial.cell);
        Some(page::address(&group.key, &position))
    });
    found.unwrap_or_default()
}

/// How the work of a run differs from a question's; also detects runs of several tunings.
fn other_work(run: &Run, question: &Question, screened: usize) -> Option<String> {
    let cell = run.trials.iter().map(|trial| &trial.cell).next()?;
    let mix = Method::from_run(run).and_then(|method| method.value(MIX)?.parse::<Mix>().ok());
    let parts = [
        (screened > MOST_SCREENED).then(|| "an answer to several tunings; name one".to_owned()),
        (cell.record_size() != question.size)
            .then(|| format!("records of {}", cell.record_size().describe())),
        (cell.records().from > question.records).then(|| plural(cell.records().from, "record")),
        (cell.data() != question.data).then(|| format!("{} records", cell.data().name())),
        (cell.guarantee().tier() < Some(question.guarantee))
            .then(|| format!("guarantee {}", cell.guarantee())),
        (cell.threads() != question.threads).then(|| plural(cell.threads(), "thread")),
        (cell.text(Axis::MACHINE) != question.machine)
            .then(|| format!("machine {}", cell.text(Axis::MACHINE))),
        (!question.may_have_own_disk() && cell.disk() != question.disk.as_deref().unwrap_or(HERE))
            .then(|| format!("disk {}", cell.disk())),
        (mix.as_ref() != Some(&question.mix)).then(|| match &mix {
            Some(mix) => format!("a mix of {}", mix.describe()),
            None => "operations one after the other".into(),
        }),
    ];
    let other: Vec<String> = parts.into_iter().flatten().collect();
    (!other.is_empty()).then(|| other.join(", "))
}

/// The record size and count that a run measured.
pub fn record_shape(run: &Run) -> Option<(Sizes, CountRange)> {
    let cell = run.trials.iter().map(|trial| &trial.cell).next()?;
    (!cell.text(Axis::RECORD_SIZE).is_empty()).then(|| (cell.record_size(), cell.records()))
}
