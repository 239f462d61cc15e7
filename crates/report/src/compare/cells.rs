//! The cells of both sides: their observations, and cells of one side only.

use std::collections::BTreeMap;

use indexmap::{IndexMap, IndexSet};
use serde::Serialize;
use storebench_host::run::Run;
use storebench_model::cell::Cell;
use storebench_model::result::{LeftOutReason, Measurements, Outcome, TrialResult};
use storebench_model::store::Guarantee;
use storebench_model::words::words;

use storebench_figures::column::Column;
use storebench_figures::data::method::{Method, SEED};
use storebench_figures::stats::{self, unpaired::MIN_OBSERVATIONS};

/// The runs of one side.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    /// Their names, run by run, as the user gave them.
    pub names: &'a [String],
    /// The runs.
    pub runs: &'a [Run],
}

/// What one observation of a figure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, strum::VariantNames)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Observations {
    /// A trial: intervals include the scatter of trials within a run, not between runs.
    Trials,
    /// A run, by the mean over its trials: both sides have enough runs to show their scatter.
    Runs,
}

words!(Observations);

impl Observations {
    /// Runs, if both sides have enough of them; otherwise trials.
    pub fn for_runs(base: &[Run], new: &[Run]) -> Observations {
        if base.len().min(new.len()) >= MIN_OBSERVATIONS { Observations::Runs } else { Observations::Trials }
    }
}

/// A cell that BASE measured and NEW can't run, or of whose trials more failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BrokenCell {
    pub(crate) cell: Cell,
    /// Trials of NEW that failed; 0 if the cell is unsupported there.
    pub(crate) failed: usize,
    /// All trials of NEW.
    pub(crate) trials: usize,
    pub(crate) failed_in_base: usize,
    /// The first failure's kind and message, or why the cell is unsupported.
    pub(crate) reason: String,
}

/// A cell that only one side measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OneSidedCell {
    pub(crate) cell: Cell,
    pub(crate) guarantee: Guarantee,
    /// The side that measured it: `BASE` or `NEW`.
    pub side: &'static str,
    /// What happened on the other side, in words.
    pub(crate) other: String,
}

/// A setting that an engine reported differently.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SettingChange {
    pub(crate) store: String,
    pub(crate) name: String,
    /// The value in BASE; `None` if the engine did not report it.
    pub(crate) base: Option<String>,
    pub(crate) new: Option<String>,
    /// The number of cells with this change.
    pub(crate) cells: usize,
}

/// A cell at its guarantee, with its measurements, by the position of the run.
pub struct ObservedCell<'a> {
    pub cell: &'a Cell,
    pub tier: Guarantee,
    /// BASE, then NEW.
    sides: [Vec<Trial<'a>>; 2],
}

struct Trial<'a> {
    /// The position of its run.
    run: usize,
    seed: Seed,
    measured: &'a Measurements,
}

/// The source of a trial's data and choices: its plan's seed, if any, and its block.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Seed(Option<String>, u32);

/// The outcomes of a cell on one side, which explain why it was not measured there.
#[derive(Default)]
struct CellFate<'a> {
    measured: usize,
    failures: Vec<&'a Outcome>,
    unsupported: Option<&'a str>,
    left_out: Option<&'a LeftOutReason>,
}

pub struct Cells<'a> {
    one_tier: bool,
    observed: IndexMap<(&'a Cell, Option<Guarantee>), ObservedCell<'a>>,
    fates: IndexMap<&'a Cell, [CellFate<'a>; 2]>,
}

const SIDES: [&str; 2] = ["BASE", "NEW"];

impl<'a> Cells<'a> {
    /// Sorts the trials of both sides by cell and given guarantee, unless tiers are compared (`one_tier` is false).
    pub fn new(base: &'a [Run], new: &'a [Run], one_tier: bool) -> Cells<'a> {
        let mut cells = Cells { one_tier, observed: IndexMap::new(), fates: IndexMap::new() };
        for (side, runs) in [base, new].into_iter().enumerate() {
            for (index, run) in runs.iter().enumerate() {
                let plan_seed =
                    Method::from_run(run).and_then(|method| method.value(SEED).map(str::to_owned));
                let seed =
                    |trial: &TrialResult| Seed(plan_seed.clone(), run.header.blocks_before + trial.block);
                run.trials.iter().for_each(|trial| cells.add(side, (index, seed(trial)), trial));
                for left_out in &run.header.left_out {
                    cells.fate(side, &left_out.cell).left_out = Some(&left_out.reason);
                }
            }
        }
        cells
    }

    fn fate(&mut self, side: usize, cell: &'a Cell) -> &mut CellFate<'a> {
        &mut self.fates.entry(cell).or_default()[side]
    }

    fn add(&mut self, side: usize, (run, seed): (usize, Seed), trial: &'a TrialResult) {
        let fate = self.fate(side, &trial.cell);
        match &trial.outcome {
            Outcome::Ok => fate.measured += 1,
            failure @ Outcome::Failed { .. } => fate.failures.push(failure),
            Outcome::Unsupported { message } => fate.unsupported = Some(message),
        }
        if let Some(measured) = trial.ok() {
            let tier = measured.guarantee;
            let key = (&trial.cell, self.one_tier.then_some(tier));
            let observed = self.observed.entry(key).or_insert_with(|| ObservedCell {
                cell: &trial.cell,
                tier,
                sides: [Vec::new(), Vec::new()],
            });
            observed.sides[side].push(Trial { run, seed, measured });
        }
    }

    pub fn cells_of_both(&self) -> impl Iterator<Item = &ObservedCell<'a>> {
        self.observed.values().filter(|observed| observed.sides.iter().all(|side| !side.is_empty()))
    }

    pub fn one_sided_cells(&self) -> Vec<OneSidedCell> {
        let one_sided_cell = |observed: &ObservedCell<'a>| {
            let side = observed.sides.iter().position(Vec::is_empty).map(|other| 1 - other)?;
            let fate = self.fates.get(observed.cell).map(|fates| &fates[1 - side]);
            let other = fate.map_or_else(|| "not run".into(), CellFate::describe);
            Some(OneSidedCell {
                cell: observed.cell.clone(),
                guarantee: observed.tier,
                side: SIDES[side],
                other,
            })
        };
        self.observed.values().filter_map(one_sided_cell).collect()
    }

    /// The cells that BASE measured and NEW can't run, or failed more often.
    pub fn broken(&self) -> Vec<BrokenCell> {
        let broken_cell = |(cell, [base, new]): (&&Cell, &[CellFate<'_>; 2])| {
            let is_unsupported = new.measured == 0 && new.failures.is_empty() && new.unsupported.is_some();
            let is_broken = base.measured > 0 && (new.failed_share() > base.failed_share() || is_unsupported);
            is_broken.then(|| BrokenCell {
                cell: (*cell).clone(),
                failed: new.failures.len(),
                trials: new.measured + new.failures.len(),
                failed_in_base: base.failures.len(),
                reason: new.describe_trouble(),
            })
        };
        self.fates.iter().filter_map(broken_cell).collect()
    }

    /// Settings that differ between the first trial of a cell in BASE and the first in NEW.
    pub fn settings(&self) -> Vec<SettingChange> {
        // By store, name and the two values.
        type Changes<'s> = IndexMap<(&'s str, &'s str, [Option<&'s str>; 2]), usize>;
        let mut changes = Changes::new();
        for observed in self.cells_of_both() {
            let read_settings = |side: usize| -> BTreeMap<&str, &str> {
                let first = observed.sides[side].first();
                let settings = first.map_or(&[][..], |trial| trial.measured.settings.as_slice());
                settings.iter().map(|setting| (setting.name.as_str(), setting.value.as_str())).collect()
            };
            let (base, new) = (read_settings(0), read_settings(1));
            let names: IndexSet<&str> = base.keys().chain(new.keys()).copied().collect();
            for name in names.into_iter().filter(|name| base.get(name) != new.get(name)) {
                let values = [base.get(name).copied(), new.get(name).copied()];
                *changes.entry((observed.cell.store(), name, values)).or_default() += 1;
            }
        }
        let owned = |text: Option<&str>| text.map(str::to_owned);
        changes
            .into_iter()
            .map(|((store, name, [base, new]), cells)| SettingChange {
                store: store.into(),
                name: name.into(),
                base: owned(base),
                new: owned(new),
                cells,
            })
            .collect()
    }
}

impl CellFate<'_> {
    fn failed_share(&self) -> f64 {
        self.failures.len() as f64 / (self.measured + self.failures.len()).max(1) as f64
    }

    /// What happened to a cell that only the other side measured, in words.
    fn describe(&self) -> String {
        if self.measured > 0 { "gave another guarantee".into() } else { self.describe_trouble() }
    }

    /// Why it was not measured, or not always.
    fn describe_trouble(&self) -> String {
        if let Some(Outcome::Failed { reason, message, .. }) = self.failures.first() {
            return format!("failed ({}): {message}", reason.name());
        }
        match (self.unsupported, self.left_out) {
            (Some(message), _) => format!("unsupported: {message}"),
            (None, Some(reason)) => format!("left out: {reason}"),
            (None, None) => "not run".into(),
        }
    }
}

impl<'a> ObservedCell<'a> {
    /// The figures that either side has: operations in the order in which they ran, then those of whole trials.
    pub fn figures(&self, columns: &[&'static Column]) -> Vec<(Option<&'a str>, &'static Column)> {
        let trials = self.sides.iter().flatten();
        let operations = trials.flat_map(|trial| &trial.measured.operations);
        let operations: IndexSet<&str> = operations.map(|operation| operation.operation.as_str()).collect();
        let of_operations = operations.into_iter().flat_map(|operation| {
            columns.iter().filter(|c| c.is_of_operation()).map(move |column| (Some(operation), *column))
        });
        let of_trials = columns.iter().filter(|c| !c.is_of_operation()).map(|column| (None, *column));
        let is_known = |(operation, column): &(Option<&str>, &'static Column)| {
            self.sides.iter().flatten().any(|trial| value(trial.measured, *operation, column).is_some())
        };
        of_operations.chain(of_trials).filter(is_known).collect()
    }

    pub fn values(
        &self,
        operation: Option<&str>,
        column: &Column,
        observations: Observations,
    ) -> [Vec<f64>; 2] {
        [0, 1].map(|side| {
            let mut runs: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
            for Trial { run, measured, .. } in &self.sides[side] {
                if let Some(value) = value(measured, operation, column) {
                    runs.entry(*run).or_default().push(value);
                }
            }
            match observations {
                Observations::Trials => runs.into_values().flatten().collect(),
                Observations::Runs => {
                    runs.values().filter_map(|values| Some(stats::mean(values)?.1.value)).collect()
                }
            }
        })
    }

    /// The figure by common seed: the mean of trials with the same seed, in BASE and in NEW.
    pub fn pairs(&self, operation: Option<&str>, column: &Column) -> Vec<(f64, f64)> {
        let [base, new] = [0, 1].map(|side| {
            let mut seeds: BTreeMap<&Seed, Vec<f64>> = BTreeMap::new();
            for Trial { seed, measured, .. } in &self.sides[side] {
                if let Some(value) = value(measured, operation, column) {
                    seeds.entry(seed).or_default().push(value);
                }
            }
            seeds
        });
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let pairs = base.iter().filter_map(|(seed, base)| Some((mean(base), mean(new.get(seed)?))));
        pairs.collect()
    }
}

fn value(measured: &Measurements, operation: Option<&str>, column: &Column) -> Option<f64> {
    column.value_in(measured, operation.and_then(|name| measured.operation(name)))
}
