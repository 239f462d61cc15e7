//! The matrix of winners as data: for each group, which contestant is best at what, where, by how much, and why a comparison is
//! empty. Contestants are stores, unless the runs compare something else. A store's figure is the geometric mean over trials, as ratios decide ([`crate::stats`]).

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use indexmap::{IndexMap, IndexSet};
use serde::{Serialize, Serializer};
use storebench_core::workload::table::{Headline, Workload};
use storebench_model::axis::Role;
use storebench_model::cell::{Cell, GuaranteeChoice};
use storebench_model::result::{
    LeftOutReason, Measurements, OVERALL, Outcome, RunHeader, SPACE, TrialResult,
};
use storebench_model::store::Guarantee;
use storebench_model::words::words;

use super::clock;
use super::contention;
use super::danger;
use super::merge::{BlockKey, Entry, Group, Merged, measured};
use super::names::join_parts;
use super::readable::Readable;
use super::saturation;
use crate::column::{ClockLimit, Column, MEAN_LATENCY, SPACE_AMPLIFICATION, THROUGHPUT, Unit};
use crate::judge::interim::{self, AnalysisLevels};
use crate::judge::standing::{Contender, FewBlocksRule, Standing, Terms, is_decided, is_judged, winners};
use crate::judge::{Rule, Verdict};
use crate::layout::{Layout, Position};
use crate::stats::{Better, Resolution, Scatter, Series, Summary, compare_at};

/// The operations of paper 000, in the order of reports; others follow.
pub const OPERATIONS: [&str; 4] = ["insert", "update", "get", "remove"];

pub const MEMORY: &str = "memory";

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Matrix {
    pub hardware: String,
    /// The values that distinguish it from the other matrices.
    pub title: String,
    /// The guarantee asked for; `None` if cells have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guarantee_asked: Option<GuaranteeChoice>,
    /// The tier given, if any trial got far enough to report it.
    pub guarantee: Option<Guarantee>,
    /// The group's common values, by the axes' names.
    pub facets: BTreeMap<&'static str, String>,
    /// How the method of its runs differs from that of the other runs; empty if it doesn't.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub method: String,
    /// The columns, left to right: values of the axes of columns and halves.
    #[serde(serialize_with = "serialize_by_axis")]
    pub columns: Vec<Position>,
    pub rows: Vec<Row>,
    /// Stores that an accident can destroy, a line for each accident.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dangers: Vec<String>,
}

/// A row of a matrix: one figure at one value of the axes that make rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    #[serde(flatten)]
    pub figure: Figure,
    /// The values of the axes of rows, such as the record size.
    #[serde(flatten)]
    pub at: Position,
    pub contests: Vec<Contest>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figure {
    /// The operation's name, or `space` or `memory`.
    pub name: String,
    pub column: &'static str,
    pub unit: Unit,
    pub better: Better,
}

impl Figure {
    pub fn is_of_operations(&self) -> bool {
        self.name != SPACE && self.name != MEMORY
    }

    /// The range of its values in words; `None` without values.
    pub fn range<'a>(&self, contenders: impl Iterator<Item = &'a Contender>) -> Option<String> {
        let values: Vec<f64> = contenders.map(|contender| contender.figure.mean.value).collect();
        let (low, high) =
            (values.iter().copied().reduce(f64::min)?, values.iter().copied().reduce(f64::max)?);
        Some(match (self.unit.show(low), self.unit.show(high)) {
            (low, high) if low == high => low,
            (low, high) => format!("{low} to {high}"),
        })
    }
}

/// One comparison of the matrix: the ranked stores, and those without a figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Contest {
    /// The best first, then by the figure. Empty if no store has a figure.
    pub contenders: Vec<Contender>,
    /// Stores that are not ranked, as a power cut can cost more than the guarantee allows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub riskier: Vec<Contender>,
    /// Stores of this matrix that have no figure here, and why.
    pub absent: Vec<AbsentStore>,
    /// Failed trials, including trials of stores that succeeded in others.
    pub failed_trials: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AbsentStore {
    pub store: String,
    pub why: AbsenceReason,
}

/// Why a store has no figure, in order of precedence for an empty contest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, strum::VariantNames)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "lowercase")]
pub enum AbsenceReason {
    Failed,
    Unsupported,
    /// It has figures, but its engine was compiled differently from its authors' release ([`storebench_model::store::StoreBuild`]).
    #[strum(serialize = "not ranked")]
    NotRanked,
    /// It did not keep up with the required rate, so that its latency means nothing.
    Saturated,
    /// The work has no such operation, or needs what the store lacks by its nature.
    #[strum(serialize = "not applicable")]
    NotApplicable,
    #[strum(serialize = "left out")]
    LeftOut,
    Warning,
    /// It ran, but has no such figure.
    #[strum(serialize = "not measured")]
    NotMeasured,
    #[strum(serialize = "not run")]
    NotRun,
}

words!(AbsenceReason);

impl AbsenceReason {
    fn from_left_out(reason: &LeftOutReason) -> AbsenceReason {
        if reason.is_not_applicable() { AbsenceReason::NotApplicable } else { AbsenceReason::LeftOut }
    }
}

impl Contest {
    pub fn winners(&self) -> impl Iterator<Item = &Contender> {
        winners(&self.contenders)
    }

    /// Whether stores were compared here under conditions that allow no verdict.
    pub fn is_not_judged(&self) -> bool {
        self.contenders.len() > 1 && !is_judged(&self.contenders)
    }

    pub fn is_decided(&self) -> bool {
        is_decided(&self.contenders)
    }

    /// Why no store has a figure; `None` if one has.
    pub fn why_empty(&self) -> Option<AbsenceReason> {
        let is_empty = self.contenders.is_empty() && self.riskier.is_empty();
        is_empty.then(|| self.absent.iter().map(|absent| absent.why).min().unwrap_or(AbsenceReason::NotRun))
    }
}

impl Matrix {
    /// Its name: the machine, and the values that distinguish it from the other matrices.
    pub fn name(&self) -> String {
        join_parts([self.hardware.as_str(), &self.title])
    }

    pub fn contestants(&self) -> usize {
        let first = self.rows.first().and_then(|row| row.contests.first());
        first.map_or(0, |contest| contest.contenders.len() + contest.riskier.len() + contest.absent.len())
    }

    /// The contestants without any figure at a position, with the reason of the last row there.
    pub fn absent(&self) -> Vec<(Position, &AbsentStore)> {
        let mut absences = Vec::new();
        let positions: BTreeSet<&Position> = self.rows.iter().map(|row| &row.at).collect();
        for position in positions {
            let rows: Vec<&Row> = self.rows.iter().filter(|row| row.at == *position).collect();
            for (index, column) in self.columns.iter().enumerate() {
                let is_absent =
                    |row: &Row, store: &str| row.contests[index].absent.iter().any(|a| a.store == store);
                let last = rows.last().into_iter().flat_map(|row| &row.contests[index].absent);
                let everywhere = last.filter(|store| rows.iter().all(|row| is_absent(row, &store.store)));
                absences.extend(everywhere.map(|absent| (position.merged_with(column), absent)));
            }
        }
        absences
    }

    pub fn readable<'m>(&'m self, readable: &Readable) -> Cow<'m, Matrix> {
        if !readable.is_any() {
            return Cow::Borrowed(self);
        }
        let mut matrix = self.clone();
        for contest in matrix.rows.iter_mut().flat_map(|row| &mut row.contests) {
            let contenders = contest.contenders.iter_mut().chain(&mut contest.riskier);
            let contenders = contenders.map(|contender| &mut contender.store);
            for store in contenders.chain(contest.absent.iter_mut().map(|absent| &mut absent.store)) {
                *store = readable.name(store).into_owned();
            }
        }
        Cow::Owned(matrix)
    }

    /// Its machine, and the shortest mean latency in it, in nanoseconds.
    pub fn clocked(&self) -> (&str, Option<f64>) {
        let rows = self.rows.iter().filter(|row| row.figure.column == MEAN_LATENCY.id);
        let contenders = rows.flat_map(|row| &row.contests).flat_map(|contest| &contest.contenders);
        let shortest = contenders.map(|contender| contender.figure.mean.value).reduce(f64::min);
        (&self.hardware, shortest)
    }

    pub fn rules(&self) -> BTreeSet<Rule> {
        let contests = self.rows.iter().flat_map(|row| &row.contests);
        let contenders = contests.flat_map(|contest| &contest.contenders);
        contenders.filter_map(|contender| contender.verdict.rule()).collect()
    }
}

/// The matrices of all groups. Groups in which only the harness's own stores ran have none.
pub fn matrices(merged: &Merged<'_>) -> Vec<Matrix> {
    merged.groups.iter().filter_map(|group| matrix(merged, group)).collect()
}

/// Columns in JSON, each with its values in the order of the axes.
fn serialize_by_axis<S: Serializer>(columns: &[Position], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(columns.iter().map(|column| {
        column.values().map(|(axis, value)| (axis.name(), value.text())).collect::<IndexMap<_, _>>()
    }))
}

pub type ContestantTrials<'a> = IndexMap<Cow<'a, str>, Vec<Entry<'a>>>;

pub type ByPosition<'a> = BTreeMap<Position, ContestantTrials<'a>>;

/// Sorts a group's trials by position and contestant, contestants in the order of appearance.
pub fn by_position<'a>(layout: &Layout, group: &Group<'a>) -> ByPosition<'a> {
    let mut by_position = ByPosition::new();
    for entry in &group.trials {
        let cell = &entry.trial.cell;
        let contestants = by_position.entry(layout.position(cell)).or_default();
        contestants.entry(layout.contestant(cell)).or_default().push(*entry);
    }
    // Two builds of an engine are never one figure: if one of them is ranked, the other is excluded.
    for entries in by_position.values_mut().flat_map(IndexMap::values_mut) {
        if entries.iter().any(|entry| entry.trial.ok().is_some() && entry.not_ranked().is_none()) {
            entries.retain(|entry| entry.not_ranked().is_none());
        }
    }
    by_position
}

/// What `read` finds in the trials of each store of a group, in the order of its tables; stores without any are left out.
pub fn collect_by_store<'a, T>(
    merged: &Merged<'_>,
    group: &Group<'a>,
    read: impl Fn(&'a TrialResult) -> Option<T>,
) -> IndexMap<String, Vec<T>> {
    let mut by_store: IndexMap<String, Vec<T>> = IndexMap::new();
    for (store, entries) in by_position(&merged.layout, group).into_values().flatten() {
        let found: Vec<T> = entries.iter().filter_map(|entry| read(entry.trial)).collect();
        if !found.is_empty() {
            by_store.entry(store.into_owned()).or_default().extend(found);
        }
    }
    by_store
}

/// The operations of a group, the paper's first.
pub fn operations(group: &Group<'_>) -> Vec<String> {
    let measured = group.trials.iter().filter_map(|entry| entry.trial.ok());
    let names: IndexSet<&str> =
        measured.flat_map(|m| &m.operations).map(|operation| operation.operation.as_str()).collect();
    let paper_names = OPERATIONS.into_iter().filter(|name| names.contains(name));
    let other_names = names.iter().copied().filter(|name| !OPERATIONS.contains(name));
    paper_names.chain(other_names).map(str::to_owned).collect()
}

pub struct SortedTrials<'g, 'a> {
    /// Trials by position and contestant, including the harness's own.
    pub entries: ByPosition<'a>,
    /// The contestants left out at a position, and whether the store lacks something by its nature.
    left_out: BTreeMap<(Position, Cow<'g, str>), AbsenceReason>,
    headers: Vec<&'g RunHeader>,
    pub stores: IndexSet<Cow<'g, str>>,
    /// Competing stores that are not ranked, as a power cut can cost more than the guarantee allows.
    pub avoided: BTreeSet<Cow<'g, str>>,
    /// The scatter of figures that were asked for, by operation and column.
    scatters: RefCell<HashMap<(String, &'static str), Option<Scatter>>>,
}

impl<'g, 'a> SortedTrials<'g, 'a> {
    pub fn new(merged: &'g Merged<'_>, group: &'g Group<'a>) -> SortedTrials<'g, 'a> {
        let key = |cell: &'g Cell| (merged.layout.position(cell), merged.layout.contestant(cell));
        let left_out = group.left_out.iter();
        SortedTrials {
            headers: merged.runs.iter().map(|run| &run.header).collect(),
            entries: by_position(&merged.layout, group),
            left_out: left_out
                .map(|omitted| (key(&omitted.cell), AbsenceReason::from_left_out(&omitted.reason)))
                .collect(),
            stores: competing(merged, group).map(|cell| merged.layout.contestant(cell)).collect(),
            avoided: danger::find_avoided(merged, group),
            scatters: RefCell::default(),
        }
    }

    /// Ranks the contestants at a position by a figure. A store that an early interim analysis separated from the others is judged by it,
    /// the others by the analysis that ended the measuring.
    pub fn contest(&self, position: &Position, name: &str, column: &Column) -> Contest {
        self.contest_by(self.levels(position), (position, name, column))
    }

    /// Ranks them by an early interim analysis alone.
    pub fn early_contest(&self, position: &Position, name: &str, column: &Column) -> Contest {
        let early = self.levels(position).early;
        self.contest_by(AnalysisLevels { early, end: early }, (position, name, column))
    }

    fn levels(&self, position: &Position) -> AnalysisLevels {
        interim::levels(&headers_of(&self.headers, self.entries_at(position)))
    }

    fn contest_by(
        &self,
        levels: AnalysisLevels,
        (position, name, column): (&Position, &str, &Column),
    ) -> Contest {
        let no_trials = IndexMap::new();
        let contestants = self.entries.get(position).unwrap_or(&no_trials);
        let entries = |store: &str| contestants.get(store).map_or(&[] as &[Entry<'_>], Vec::as_slice);
        let series: Vec<Series<BlockKey>> =
            self.stores.iter().map(|store| competing_series(&ranked(entries(store)), name, column)).collect();
        let few = FewBlocksRule::Scatter(self.scatter(name, column));
        let terms = Terms { few, ..judging_terms(&self.headers, self.entries_at(position), name, column) };
        let is_avoided =
            |index: &usize| self.stores.get_index(*index).is_some_and(|store| self.avoided.contains(store));
        let mut ranked_series = series.clone();
        (0..series.len()).filter(is_avoided).for_each(|index| ranked_series[index].clear());
        let contenders = interim::decide(&ranked_series, column.better, terms, levels);
        let best = contenders.first().map(|best| &series[best.index]);
        let find_riskier = |index: usize| {
            let figures = &series[index];
            let ratio = |best| match column.better {
                Better::Higher => compare_at(best, figures, levels.end),
                Better::Lower | Better::Neither => compare_at(figures, best, levels.end),
            };
            let figure = Summary::from_series(figures)?;
            let standing =
                Standing { index, figure, times_worse: best.and_then(ratio), verdict: Verdict::Dangerous };
            Some(to_contender(&self.stores, standing))
        };
        let absent = self.stores.iter().zip(&series).filter(|(_, series)| series.is_empty());
        let all_entries = self.stores.iter().flat_map(|store| entries(store));
        Contest {
            riskier: (0..series.len()).filter(is_avoided).filter_map(find_riskier).collect(),
            contenders: contenders.into_iter().map(|standing| to_contender(&self.stores, standing)).collect(),
            absent: absent
                .map(|(store, _)| AbsentStore {
                    store: store.to_string(),
                    why: why_absent(
                        entries(store),
                        (name, column),
                        self.left_out.get(&(position.clone(), store.clone())).copied(),
                    ),
                })
                .collect(),
            failed_trials: all_entries.filter(|e| matches!(e.trial.outcome, Outcome::Failed { .. })).count(),
        }
    }

    /// The scatter of trials of the same cells in this group, from cells that ran more than once.
    fn scatter(&self, name: &str, column: &Column) -> Option<Scatter> {
        let key = (name.to_owned(), column.id);
        if let Some(known) = self.scatters.borrow().get(&key) {
            return *known;
        }
        let cells = self.entries.values().flat_map(IndexMap::values);
        let series: Vec<Series<BlockKey>> =
            cells.map(|entries| competing_series(&ranked(entries), name, column)).collect();
        let scatter = Scatter::from_cells(&series);
        self.scatters.borrow_mut().insert(key, scatter);
        scatter
    }

    /// The clock's resolution of a figure, over all runs here.
    pub fn resolution(&self, operation: &str, column: &Column) -> Resolution {
        let threads =
            self.entries.values().flat_map(IndexMap::values).flatten().map(|e| e.trial.cell.threads());
        let environments = self.headers.iter().map(|header| &header.environment);
        clock::resolution(environments, column, operation, threads.max().unwrap_or(1))
    }

    fn entries_at(&self, position: &Position) -> impl Iterator<Item = &Entry<'a>> + Clone {
        self.entries.get(position).into_iter().flat_map(IndexMap::values).flatten()
    }
}

pub fn headers_of<'h, 'e>(
    headers: &[&'h RunHeader],
    entries: impl Iterator<Item = &'e Entry<'e>>,
) -> Vec<&'h RunHeader> {
    let runs: BTreeSet<usize> = entries.map(|entry| entry.run).collect();
    runs.into_iter().filter_map(|run| headers.get(run).copied()).collect()
}

/// The terms on which figures of these entries are compared, given the headers of their runs.
pub fn judging_terms<'e>(
    headers: &[&RunHeader],
    entries: impl Iterator<Item = &'e Entry<'e>> + Clone,
    name: &str,
    column: &Column,
) -> Terms {
    let contention = contention::find_contention(headers, entries.clone());
    let headers = headers_of(headers, entries.clone());
    let analyses = interim::count_analyses(headers.iter().map(|header| header.interim_analyses.len()));
    let threads = entries.clone().next().map_or(1, |entry| entry.trial.cell.threads());
    let environments = headers.iter().map(|header| &header.environment);
    let resolution = clock::resolution(environments, column, name, threads);
    let terms = Terms { confidence: interim::confidence(analyses), resolution, ..Terms::default() };
    terms.during(contention, column.clocked != ClockLimit::No)
}

pub fn ranked<'a>(entries: &[Entry<'a>]) -> Vec<Entry<'a>> {
    entries.iter().filter(|entry| entry.not_ranked().is_none()).copied().collect()
}

/// The stores at a position, each with its ranked entries; stores without any are left out.
pub fn ranked_stores<'a>(contestants: &ContestantTrials<'a>) -> ContestantTrials<'a> {
    let ranked_entries = contestants.iter().map(|(store, entries)| (store.clone(), ranked(entries)));
    ranked_entries.filter(|(_, entries)| !entries.is_empty()).collect()
}

pub fn series(entries: &[Entry<'_>], name: &str, column: &Column) -> Series<BlockKey> {
    let trials = measured(entries).into_iter();
    let value = |m: &Measurements| column.value_in(m, m.operation(name));
    trials.filter_map(|(block, m)| value(m).map(|value| (block, value))).collect()
}

/// A ranked figure of one store by block: without the latency of operations that did not keep up with their rate.
pub fn competing_series(entries: &[Entry<'_>], name: &str, column: &Column) -> Series<BlockKey> {
    match column.clocked == ClockLimit::Latency && saturation::reached_rate(entries, name).is_some() {
        true => Series::default(),
        false => series(entries, name, column),
    }
}

/// The cells of a group, run or left out, whose stores compete.
fn competing<'g>(merged: &Merged<'_>, group: &'g Group<'_>) -> impl Iterator<Item = &'g Cell> {
    let run_cells = group.trials.iter().map(|entry| &entry.trial.cell);
    let cells = run_cells.chain(group.left_out.iter().map(|omitted| &omitted.cell));
    cells.filter(|cell| !merged.is_harness(cell.store()))
}

pub fn matrix(merged: &Merged<'_>, group: &Group<'_>) -> Option<Matrix> {
    let sorted = SortedTrials::new(merged, group);
    let cells = || competing(merged, group);
    if sorted.stores.is_empty() {
        return None;
    }
    let positions: BTreeSet<Position> = cells().map(|cell| merged.layout.position(cell)).collect();
    let columns: BTreeSet<Position> = positions.iter().map(Position::column).collect();
    let row_positions: BTreeSet<Position> =
        positions.iter().map(|position| position.values_by_role(Role::Row)).collect();
    let mut rows = Vec::new();
    for (name, column) in figures(merged, group) {
        let figure = Figure { name, column: column.id, unit: column.unit, better: column.better };
        for row in &row_positions {
            let contest = |at: &Position| sorted.contest(&row.merged_with(at), &figure.name, column);
            let contests = columns.iter().map(contest).collect();
            rows.push(Row { figure: figure.clone(), at: row.clone(), contests });
        }
    }
    let facets = group.key.facets.iter();
    Some(Matrix {
        hardware: group.key.hardware.clone(),
        title: merged.label(&group.key),
        guarantee_asked: group.key.asked,
        guarantee: group.key.tier,
        facets: facets.map(|(axis, value)| (axis.name(), value.clone())).collect(),
        method: group.key.method.clone(),
        columns: columns.into_iter().collect(),
        rows,
        dangers: danger::describe_dangers(merged, group),
    })
}

/// The figures of the rows: the headline figures of the group's workload.
pub fn figures(merged: &Merged<'_>, group: &Group<'_>) -> Vec<(String, &'static Column)> {
    let workload = workload(merged, group);
    let measured = || group.trials.iter().filter_map(|entry| entry.trial.ok());
    let keeps_values = |measured: &Measurements| measured.stored.value_bytes > 0;
    let headline_figures = |headline: &Headline| -> Vec<(String, &'static Column)> {
        match headline {
            // Replays of older versions reported only each kind of operation.
            Headline::Throughput
                if measured().all(|m| m.operation(OVERALL).is_none()) && measured().next().is_some() =>
            {
                Vec::new()
            }
            Headline::Throughput => vec![(OVERALL.into(), &THROUGHPUT)],
            Headline::Latency => {
                let mut operations = operations(group);
                if operations.is_empty() {
                    // Nothing succeeded: rows are needed all the same, to show that; for crud in the order of the paper.
                    let is_crud = workload == Workload::CRUD;
                    let planned = if is_crud { OPERATIONS.as_slice() } else { workload.def().operations };
                    operations = planned.iter().copied().map(str::to_owned).collect();
                }
                // The time of all operations together is shown as operations per second.
                operations.retain(|name| name != OVERALL);
                operations.into_iter().map(|name| (name, &MEAN_LATENCY)).collect()
            }
            // Work that leaves no values takes no space for any.
            Headline::Space if measured().next().is_none() || measured().any(keeps_values) => {
                vec![(SPACE.into(), &SPACE_AMPLIFICATION)]
            }
            Headline::Space => Vec::new(),
            Headline::Memory => vec![(MEMORY.into(), merged.memory.column())],
        }
    };
    workload.def().headline.iter().flat_map(headline_figures).collect()
}

/// The workload of a group: its first run's.
fn workload(merged: &Merged<'_>, group: &Group<'_>) -> Workload {
    let run = group.trials.first().map_or(0, |entry| entry.run);
    merged.workloads.get(run).copied().unwrap_or(Workload::CRUD)
}

fn to_contender(stores: &IndexSet<Cow<'_, str>>, standing: Standing) -> Contender {
    Contender::new(stores.get_index(standing.index).map_or_else(String::new, ToString::to_string), standing)
}

fn why_absent(
    entries: &[Entry<'_>],
    (name, column): (&str, &Column),
    left_out: Option<AbsenceReason>,
) -> AbsenceReason {
    let is_saturated = saturation::reached_rate(entries, name).is_some();
    let has_warning = |measured: &Measurements| measured.warning(name).is_some();
    // A successful trial has all operations of its workload.
    let is_missing = |measured: &Measurements| column.is_of_operation() && measured.operation(name).is_none();
    let outcomes = entries.iter().map(|entry| match (&entry.trial.outcome, entry.trial.ok()) {
        (Outcome::Failed { .. }, _) => AbsenceReason::Failed,
        (Outcome::Unsupported { .. }, _) => AbsenceReason::Unsupported,
        _ if entry.not_ranked().is_some() => AbsenceReason::NotRanked,
        (_, Some(measured)) if has_warning(measured) => AbsenceReason::Warning,
        (_, Some(measured)) if is_missing(measured) => AbsenceReason::NotApplicable,
        _ if is_saturated => AbsenceReason::Saturated,
        _ => AbsenceReason::NotMeasured,
    });
    outcomes.chain(left_out).min().unwrap_or(AbsenceReason::NotRun)
}

#[cfg(test)]
mod tests;
