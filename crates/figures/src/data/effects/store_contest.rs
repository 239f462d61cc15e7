//! Trials sorted by the actual settings of their store: the plan's, overridden by the cell's axes.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;
use serde::Serialize;
use storebench_host::plan::Plan;
use storebench_model::cell::{Axis, Cell, GuaranteeChoice, Rate};
use storebench_model::result::{Measurements, OperationResult, TrialResult};
use storebench_model::store::{Guarantee, Loss};

use crate::data::merge::{BlockKey, Entry, Group, Merged};
use crate::data::names::join_parts;
use crate::data::saturation;
use crate::layout::Position;
use crate::stats::Series;

pub type Settings = BTreeMap<String, String>;

/// What all combinations of a contest share: machine, store, position and method.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ContestScope {
    /// In words: `box, sqlite, 10,000 rows`.
    pub title: String,
    pub hardware: String,
    pub store: String,
    /// The rest, in words: `10,000 rows, threads 4`.
    pub at: String,
    /// How the method of its runs differs from that of the other runs; empty if it doesn't.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub method: String,
}

/// The trials that differ only in the settings of one store.
pub struct StoreContest<'a> {
    pub place: ContestScope,
    pub combinations: IndexMap<Settings, SettingsTrials<'a>>,
    base: Settings,
    /// The shipped value of each setting, if it is a value.
    shipped: BTreeMap<&'static str, &'static str>,
    /// Settings with a name in the plan.
    named: Vec<(String, Settings)>,
}

/// The trials of one combination of settings.
pub struct SettingsTrials<'a> {
    pub name: String,
    /// Its cell; the first, if there are several.
    pub cell: &'a Cell,
    trials: Vec<(BlockKey, &'a Measurements)>,
}

/// What comparable combinations share. A guarantee that was asked for brings settings with it.
type ContestKey<'a> = (&'a str, Option<GuaranteeChoice>, Vec<(Axis, String)>, &'a str, Position, &'a str);

/// One contest for each store and position at which runs vary its settings.
pub fn contests<'m>(merged: &'m Merged<'_>) -> Vec<StoreContest<'m>> {
    let varied_stores: BTreeSet<&str> =
        merged.cells().filter(|cell| cell.settings().next().is_some()).map(Cell::store).collect();
    let mut contests: IndexMap<ContestKey<'m>, StoreContest<'m>> = IndexMap::new();
    for group in &merged.groups {
        for entry in &group.trials {
            let cell = &entry.trial.cell;
            let Some(plan) = merged.runs.get(entry.run).and_then(|run| run.plan()) else { continue };
            let Some(measured) = comparable(entry.trial).filter(|_| entry.not_ranked().is_none()) else {
                continue;
            };
            if !varied_stores.contains(cell.store()) {
                continue;
            }
            let contest = contests
                .entry(key(merged, group, entry))
                .or_insert_with(|| build_contest(merged, group, cell, plan));
            let combination = contest.combinations.entry(plan.settings_of(cell)).or_insert_with(|| {
                SettingsTrials { name: merged.layout.contestant(cell).into_owned(), cell, trials: Vec::new() }
            });
            combination.trials.push((entry.block(), measured));
        }
    }
    contests.into_values().collect()
}

/// The measurements of a trial, unless it did not keep up with its rate: its latency depends on the length of the trial.
fn comparable(trial: &TrialResult) -> Option<&Measurements> {
    let is_behind = |measured: &&Measurements| {
        measured.operations.iter().any(|operation| saturation::fell_behind(&trial.cell, measured, operation))
    };
    trial.ok().filter(|measured| !is_behind(measured))
}

fn key<'m>(merged: &Merged<'_>, group: &'m Group<'_>, entry: &Entry<'m>) -> ContestKey<'m> {
    let cell = &entry.trial.cell;
    let facets = other_facets(group);
    let asked = group.key.asked;
    (&group.key.hardware, asked, facets, &group.key.method, merged.layout.position(cell), cell.store())
}

/// The values that distinguish a group, without settings.
fn other_facets(group: &Group<'_>) -> Vec<(Axis, String)> {
    group.key.facets.iter().filter(|(axis, _)| axis.setting().is_none()).cloned().collect()
}

fn build_contest<'m>(merged: &Merged<'_>, group: &Group<'_>, cell: &Cell, plan: &Plan) -> StoreContest<'m> {
    let base = plan.settings.get(cell.store()).cloned().unwrap_or_default();
    let with_base = |overrides: &Settings| {
        let mut settings = base.clone();
        settings.extend(overrides.clone());
        settings
    };
    let named_points = plan.points.iter();
    let named_points = named_points
        .filter_map(|point| Some((point.name.clone(), with_base(point.settings.get(cell.store())?))));
    let facets =
        other_facets(group).into_iter().filter(|(axis, value)| axis.default_value() != Some(value.as_str()));
    let asked = group.key.asked.filter(|asked| *asked != GuaranteeChoice::Default);
    let asked = asked.map(|asked| format!("guarantee {asked}"));
    let facets = facets.map(|(axis, value)| format!("{axis} {value}"));
    let conditions: Vec<String> = asked.into_iter().chain(facets).collect();
    let at = join_parts([merged.layout.position(cell).to_string().as_str(), &conditions.join(", ")]);
    let (hardware, method) = (group.key.hardware.clone(), group.key.method.clone());
    let title = join_parts([hardware.as_str(), cell.store(), &at, &method]);
    let place = ContestScope { title, hardware, store: cell.store().to_owned(), at, method };
    let shipped = merged.readable.defaults(cell.store());
    StoreContest { place, combinations: IndexMap::new(), named: named_points.collect(), base, shipped }
}

impl StoreContest<'_> {
    /// The value that others are compared with: the plan's own, or none if it gives none; otherwise the shipped one; otherwise the first.
    pub fn base_of(&self, setting: &str, values: &BTreeSet<String>) -> String {
        let plan_value = self.base.get(setting).map_or(super::AS_SHIPPED, String::as_str);
        let shipped = || self.shipped.get(setting).and_then(|shipped| values.get(*shipped));
        let base =
            values.get(plan_value).or_else(shipped).or_else(|| super::sort_values(values).into_iter().next());
        base.cloned().unwrap_or_default()
    }

    pub fn plan_names(&self, settings: &Settings) -> Vec<String> {
        let base = (*settings == self.base).then(|| "the base".to_owned());
        let names = self.named.iter().filter(|(_, point)| point == settings).map(|(name, _)| name.clone());
        base.into_iter().chain(names).collect()
    }

    pub fn operations(&self) -> Vec<String> {
        let trials = self.combinations.values().flat_map(|combination| &combination.trials);
        let first =
            trials.map(|(_, measured)| &measured.operations).max_by_key(|operations| operations.len());
        first.into_iter().flatten().map(|operation| operation.operation.clone()).collect()
    }
}

impl SettingsTrials<'_> {
    /// The weakest guarantee that its trials reported.
    pub fn weakest_guarantee(&self) -> (Guarantee, Option<Loss>) {
        let given = self.trials.iter().map(|(_, measured)| (measured.guarantee, measured.power_cut));
        given.min().unwrap_or((Guarantee::None, None))
    }

    /// Mean latency by block, in nanoseconds: of one operation, or of all together.
    pub fn series(&self, operation: Option<&str>) -> Series<BlockKey> {
        let latency = |measured: &Measurements| {
            let operations =
                measured.operations.iter().filter(|o| operation.is_none_or(|name| o.operation == name));
            let (sum, count) = operations.fold((0, 0), |(sum, count), o| (sum + o.sum_ns, count + o.count));
            (count > 0).then(|| sum as f64 / count as f64)
        };
        self.trials.iter().filter_map(|(block, measured)| Some((*block, latency(measured)?))).collect()
    }

    /// Operations per second of each trial, over all operations; empty at a fixed rate.
    pub fn per_second(&self) -> Vec<f64> {
        if self.cell.rate() != Rate::Closed {
            return Vec::new();
        }
        let rate_of = |measured: &Measurements| {
            let seconds_of = |o: &OperationResult| Some(o.count as f64 / o.per_second()?);
            let count: u64 = measured.operations.iter().map(|operation| operation.count).sum();
            let seconds: f64 = measured.operations.iter().filter_map(seconds_of).sum();
            (count > 0 && seconds > 0.0).then(|| count as f64 / seconds)
        };
        self.trials.iter().filter_map(|(_, measured)| rate_of(measured)).collect()
    }

    /// Syncs of an operation, over all operations and trials; `None` if they can't be counted.
    pub fn syncs_per_operation(&self) -> Option<f64> {
        let operations = self.trials.iter().flat_map(|(_, measured)| &measured.operations);
        let (mut syncs, mut count) = (0, 0);
        for operation in operations {
            syncs += operation.counters.as_ref()?.syncs?;
            count += operation.count;
        }
        (count > 0).then(|| syncs as f64 / count as f64)
    }
}
