//! The data of the page: every cell and its figures, as columns of arrays, which compress well. The page decides nothing.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use indexmap::{IndexMap, IndexSet};
use rayon::prelude::*;
use serde::Serialize;
use storebench_figures::column::{COLUMNS, Column, Unit};
use storebench_figures::data::matrix::{Matrix, operations};
use storebench_figures::data::merge::Merged;
use storebench_figures::data::names;
use storebench_figures::data::saturation;
use storebench_figures::layout::words;
use storebench_figures::stats::{Better, MIN_BLOCKS};
use storebench_host::run::Run;
use storebench_model::cell::Axis;
use storebench_model::result::{LocationInfo, Measurements, OperationResult};
use storebench_model::units::rough_bytes;

use super::axes::Axes;
use super::cells::{Cells, Key, Row};
use super::contests::Contests;
use super::curves::{self, Variants};
use super::dots::{Dots, dots};
use super::heats::{Heat, heats};
use super::latencies::Percentiles;
use super::numbers::Figures;
use super::prices::Prices;
use super::rounds::Rounds;
use super::sizes::{self, DrawnSizes};
use super::timeline::Timelines;
use crate::report::Report;

const PALETTE: usize = 16;

/// The version of this layout, for readers of the page's data.
const LAYOUT: u32 = 2;

#[derive(Debug, Serialize)]
pub struct Model<'a> {
    layout: u32,
    storebench: &'static str,
    measured: String,
    /// The noun for the contestants: singular and plural.
    ranked: (String, &'static str),
    stores: Vec<Store>,
    machines: BTreeMap<&'a str, String>,
    group_axes: Vec<GroupAxis>,
    groups: Vec<Group>,
    axes: Axes,
    /// The axes that distinguish contestants and have numbers for values.
    variants: Vec<Variants>,
    operations: Vec<String>,
    columns: Vec<ColumnInfo>,
    /// The column by which stores are ranked by memory.
    memory: &'static str,
    rows: Vec<MatrixRow>,
    cells: Cells,
    reasons: IndexSet<String>,
    /// Figures of trials, by column.
    trial: IndexMap<&'static str, Figures>,
    /// Figures of operations, by operation and column.
    operation: IndexMap<String, IndexMap<&'static str, Figures>>,
    /// The winners, by row.
    contests: IndexMap<String, Contests>,
    /// The reached rates of cells that did not keep up: by operation, then by cell.
    saturated: SaturatedCells,
    prices: Prices,
    dots: Vec<Dots>,
    heats: Vec<Heat>,
    percentiles: Percentiles,
    timelines: Timelines,
    rounds: Rounds,
    sizes: Vec<DrawnSizes>,
    /// From this number of trials figures have intervals; with fewer they have ranges.
    fewest_trials: usize,
    /// The view on which the page opens, as in addresses; empty for the one with the most figures.
    start: &'a str,
}

#[derive(Debug, Serialize)]
struct Store {
    /// The contestant's name: its store's, unless something else is compared.
    name: String,
    version: String,
    /// Whether it belongs to the harness: shown, but never a winner.
    harness: bool,
    colour: usize,
}

#[derive(Debug, Serialize)]
struct GroupAxis {
    id: &'static str,
    values: Vec<String>,
    one: String,
    /// The positions of its values on a scale, for numbers.
    numbers: Vec<Option<f64>>,
    /// Whether these only order the values: they are drawn at even distances, by name.
    ordered: bool,
}

#[derive(Debug, Serialize)]
struct Group {
    title: String,
    /// The index of its value on each axis of `group_axes`.
    at: Vec<usize>,
    /// The rows of its matrix, as indices into the page's rows. Rows of another workload are not here.
    rows: Vec<usize>,
    /// Its operations, as indices into the page's operations.
    operations: Vec<usize>,
    dangers: Vec<String>,
}

#[derive(Debug, Serialize)]
struct ColumnInfo {
    id: &'static str,
    title: &'static str,
    unit: Unit,
    better: Better,
    operation: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct MatrixRow {
    name: String,
    column: &'static str,
}

impl<'a> Model<'a> {
    pub fn new(report: &Report<'a>, start: &'a str) -> Model<'a> {
        let (merged, matrices) = (report.merged, report.matrices());
        let rows = super::cells::rows(merged, matrices);
        let names: IndexSet<&str> = rows.iter().map(|row| &*row.key.store).collect();
        let stores = stores(merged, &names);
        let reasons: IndexSet<String> =
            rows.iter().filter_map(|row| row.reason.as_deref().map(str::to_owned)).collect();
        let all_operations: IndexSet<String> = merged.groups.iter().flat_map(operations).collect();
        let axes = Axes::from_positions(rows.iter().map(|row| &row.key.position));
        let matrix_rows = matrix_rows(matrices);
        let (group_axes, mut groups) = groups(merged);
        for ((group, matrix), source_group) in groups.iter_mut().zip(matrices).zip(&merged.groups) {
            group.rows = positions(&matrix_rows, matrix);
            group.dangers = matrix.as_ref().map(|matrix| matrix.dangers.clone()).unwrap_or_default();
            let operations = operations(source_group);
            group.operations =
                operations.iter().filter_map(|name| all_operations.get_index_of(name)).collect();
        }
        Model {
            layout: LAYOUT,
            storebench: env!("CARGO_PKG_VERSION"),
            measured: days(merged),
            ranked: merged.layout.ranked(merged.cells()),
            machines: machines(merged),
            variants: curves::variants(merged, &names.iter().copied().collect::<Vec<_>>()),
            saturated: saturated_cells(&rows, &all_operations),
            group_axes,
            groups,
            columns: COLUMNS.iter().map(column_info).collect(),
            memory: merged.memory.column().id,
            rows: matrix_rows,
            trial: figures(&rows, "", false),
            operation: all_operations.iter().map(|name| (name.clone(), figures(&rows, name, true))).collect(),
            contests: contests(&rows, matrices),
            prices: Prices::new(merged, &rows, &all_operations),
            dots: dots(merged),
            heats: heats(report),
            fewest_trials: MIN_BLOCKS,
            start,
            percentiles: Percentiles::new(&rows, &all_operations),
            timelines: Timelines::new(&rows, &all_operations),
            rounds: Rounds::new(&rows),
            sizes: sizes::draw_sizes(merged, &rows, &names),
            cells: Cells::new(&rows, &names, &axes, &reasons),
            axes,
            reasons,
            operations: all_operations.into_iter().collect(),
            stores,
        }
    }
}

fn stores(merged: &Merged<'_>, names: &IndexSet<&str>) -> Vec<Store> {
    let infos = || merged.runs.iter().flat_map(|run| &run.header.stores);
    let mut engines: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for cell in merged.cells() {
        engines.entry(merged.layout.contestant(cell).into_owned()).or_default().insert(cell.store());
    }
    let engine = |name: &str| engines.get(name).filter(|stores| stores.len() == 1)?.first().copied();
    let versions = |name: &str| {
        let infos = infos().filter(|info| Some(info.name.as_str()) == engine(name));
        let versions: IndexSet<&str> = infos.map(|info| info.version.as_str()).collect();
        versions.into_iter().collect::<Vec<_>>().join(" and ")
    };
    let store = |name: &&str| Store {
        name: merged.readable.name(name).into_owned(),
        version: versions(name),
        harness: engine(name).is_some_and(|engine| merged.is_harness(engine)),
        colour: names::palette_position(name),
    };
    let mut stores: Vec<Store> = names.iter().map(store).collect();
    recolour_repeated(&mut stores);
    stores
}

/// Assigns another colour to a contestant with the colour of an earlier one, such as a variant of a store, while there are any.
fn recolour_repeated(stores: &mut [Store]) {
    let taken: BTreeSet<usize> = stores.iter().map(|store| store.colour).collect();
    let mut free: BTreeSet<usize> = (0..PALETTE).filter(|colour| !taken.contains(colour)).collect();
    let mut seen: BTreeSet<usize> = BTreeSet::new();
    for store in stores {
        if !seen.insert(store.colour)
            && let Some(colour) = free.pop_first()
        {
            store.colour = colour;
        }
    }
}

fn days(merged: &Merged<'_>) -> String {
    let day = |run: &Run| run.header.started.chars().take_while(|c| *c != 'T').collect::<String>();
    let days: BTreeSet<String> = merged.runs.iter().map(day).collect();
    match (days.first(), days.last()) {
        (Some(first), Some(last)) if first != last => format!("{first} to {last}"),
        (first, _) => first.cloned().unwrap_or_default(),
    }
}

/// The axes in which groups differ, or that name them, and each group's values.
fn groups(merged: &Merged<'_>) -> (Vec<GroupAxis>, Vec<Group>) {
    let mut axes: IndexMap<&'static str, IndexSet<String>> = IndexMap::new();
    let mut groups = Vec::new();
    let methods = merged.groups.iter().any(|group| !group.key.method.is_empty());
    let guarantees = merged.groups.iter().any(|group| group.key.asked.is_some());
    let facets = merged.facets();
    for group in &merged.groups {
        let guarantee = || group.key.guarantee().map_or_else(String::new, |label| label.to_string());
        let facet = |axis: &Axis| (axis.name(), group.key.facet(*axis).unwrap_or_default().to_owned());
        let indices = [("hardware", group.key.hardware.clone())]
            .into_iter()
            .chain(guarantees.then(|| ("guarantee", guarantee())))
            .chain(facets.iter().map(facet))
            .chain(methods.then(|| ("method", group.key.method.clone())))
            .map(|(id, value)| axes.entry(id).or_default().insert_full(value).0);
        let title = merged.label(&group.key);
        let at = indices.collect();
        groups.push(Group { title, at, rows: Vec::new(), operations: Vec::new(), dangers: Vec::new() });
    }
    let axis = |(id, values): (_, IndexSet<_>)| GroupAxis::build(merged, id, values.into_iter().collect());
    (axes.into_iter().map(axis).collect(), groups)
}

impl GroupAxis {
    fn build(merged: &Merged<'_>, id: &'static str, values: Vec<String>) -> GroupAxis {
        let axis = Axis::find(id);
        let ordered = axis == Some(Axis::DISK);
        let number = |value: &String| match ordered {
            true => flushed_ns(merged, value),
            false => curves::number(axis?, value),
        };
        GroupAxis {
            one: axis.map_or_else(|| id.to_owned(), words::value_noun),
            numbers: values.iter().map(number).collect(),
            ordered,
            id,
            values,
        }
    }
}

/// The time of a flushed write on a simulated disk, which orders disks.
fn flushed_ns(merged: &Merged<'_>, disk: &str) -> Option<f64> {
    let places = merged.runs.iter().flat_map(|run| &run.header.locations);
    places.filter_map(|place| place.disk.as_ref()).find(|info| info.name == disk)?.flushed_ns()
}

/// Each machine in words, for the captions of charts: `Example CPU, 2 cores, 8.00 GiB; ext4 on nvme0n1`.
fn machines<'a>(merged: &Merged<'a>) -> BTreeMap<&'a str, String> {
    let describe_run = |run: &'a Run| {
        let machine = &run.header.environment;
        let memory = machine.memory_bytes.map(|bytes| rough_bytes(bytes as f64));
        let cpu = machine.cpu.clone().unwrap_or_else(|| "unknown processor".into());
        let parts: Vec<String> =
            [cpu, format!("{} cores", machine.cores)].into_iter().chain(memory).collect();
        let place = |place: &LocationInfo| {
            let device = place.device.as_ref().map_or_else(String::new, |device| format!(" on {device}"));
            format!("{}{device}", place.file_system.as_deref().unwrap_or("unknown file system"))
        };
        let places: IndexSet<String> = run.header.locations.iter().map(place).collect();
        let places: Vec<String> = places.into_iter().collect();
        (run.header.hardware.as_str(), format!("{}; {}", parts.join(", "), places.join(", ")))
    };
    merged.runs.iter().map(describe_run).collect()
}

type SaturatedCells = IndexMap<String, BTreeMap<usize, String>>;

fn saturated_cells(rows: &[Row<'_>], operations: &IndexSet<String>) -> SaturatedCells {
    let operation_cells = |operation: &String| {
        let rate = |row: &Row<'_>| saturation::reached_rate(&row.entries, operation);
        let cells = rows.iter().enumerate().filter_map(|(number, row)| Some((number, rate(row)?)));
        let cells: BTreeMap<usize, String> = cells.collect();
        (!cells.is_empty()).then(|| (operation.clone(), cells))
    };
    operations.iter().filter_map(operation_cells).collect()
}

fn column_info(column: &Column) -> ColumnInfo {
    ColumnInfo {
        id: column.id,
        title: column.title,
        unit: column.unit,
        better: column.better,
        operation: column.is_of_operation(),
    }
}

fn matrix_rows(matrices: &[Option<Matrix>]) -> Vec<MatrixRow> {
    let mut rows: Vec<MatrixRow> = Vec::new();
    for row in matrices.iter().flatten().flat_map(|matrix| &matrix.rows) {
        let row = MatrixRow { name: row.figure.name.clone(), column: row.figure.column };
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    // Space and memory last, even if another group adds an operation.
    rows.sort_by_key(|row| matches!(row.name.as_str(), "space" | "memory"));
    rows
}

fn positions(rows: &[MatrixRow], matrix: &Option<Matrix>) -> Vec<usize> {
    let has_row = |row: &MatrixRow| {
        matrix.iter().flat_map(|matrix| &matrix.rows).any(|other| other.figure.name == row.name)
    };
    rows.iter().enumerate().filter(|(_, row)| has_row(row)).map(|(number, _)| number).collect()
}

/// A successful trial, and its measurements of one operation.
struct Trial<'a> {
    measured: &'a Measurements,
    operation: Option<&'a OperationResult>,
}

fn trials<'a>(row: &Row<'a>, name: &str) -> Vec<Trial<'a>> {
    let measured = row.entries.iter().filter_map(|entry| entry.trial.ok());
    measured.map(|measured| Trial { measured, operation: measured.operation(name) }).collect()
}

/// The columns of trials, or of operations, with a figure in any cell.
fn figures(rows: &[Row<'_>], name: &str, of_operation: bool) -> IndexMap<&'static str, Figures> {
    let columns = COLUMNS.par_iter().filter(|column| column.is_of_operation() == of_operation);
    // Looked up once for all columns: a large run has hundreds of thousands of figures.
    let trials: Vec<Vec<Trial<'_>>> = rows.par_iter().map(|row| trials(row, name)).collect();
    let named_figures = |column: &'static Column| (column.id, figures_of(&trials, column));
    let by_column: Vec<(&str, Figures)> = columns.map(named_figures).collect();
    by_column.into_iter().filter(|(_, figures)| !figures.is_empty()).collect()
}

fn figures_of(trials: &[Vec<Trial<'_>>], column: &Column) -> Figures {
    let mut values = Vec::new();
    let mut figures = Figures::default();
    for trials in trials {
        values.clear();
        values.extend(trials.iter().filter_map(|trial| column.value_in(trial.measured, trial.operation)));
        figures.push(&values, trials.len());
    }
    figures
}

fn contests(rows: &[Row<'_>], matrices: &[Option<Matrix>]) -> IndexMap<String, Contests> {
    let numbers: BTreeMap<&Key<'_>, usize> = rows.iter().enumerate().map(|(i, row)| (&row.key, i)).collect();
    let mut contests_by_row: IndexMap<String, Contests> = IndexMap::new();
    for (group, matrix) in matrices.iter().enumerate() {
        for row in matrix.iter().flat_map(|matrix| &matrix.rows) {
            let columns = matrix.iter().flat_map(|matrix| &matrix.columns);
            for (place, contest) in columns.zip(&row.contests) {
                let contests = contests_by_row.entry(row.figure.name.clone());
                let contests = contests.or_insert_with(|| Contests::new(rows.len()));
                let position = row.at.merged_with(place);
                for contender in &contest.contenders {
                    let store = Cow::Borrowed(contender.store.as_str());
                    let key = Key { group, position: position.clone(), store };
                    if let Some(number) = numbers.get(&key) {
                        contests.set(*number, contender);
                    }
                }
            }
        }
    }
    contests_by_row
}
