//! Figures computed from the trials: every figure of every cell with its intervals, and the winners, by the code of all reports.

use storebench_figures::column::{COLUMNS, Column};
use storebench_figures::data::by_cell::{CellTrials, cells};
use storebench_figures::data::matrix::{Contest, Matrix, Row, SortedTrials};
use storebench_figures::data::merge::{Group, Merged};
use storebench_figures::judge::Rule;
use storebench_figures::layout::Position;
use storebench_figures::stats::{Better, Interval, MeanKind, Summary};

use super::{Field, SqlValue, Tables, boolean, integer, optional, real, text};
use crate::report::Report;

type Result = std::result::Result<(), super::SqlError>;

pub fn write(report: &Report<'_>, tables: &mut Tables<'_>) -> Result {
    let merged = report.merged;
    COLUMNS.iter().try_for_each(|column| describe(column, tables))?;
    for of_cell in cells(merged) {
        write_trials(&of_cell, tables)?;
    }
    let matrices = merged.groups.iter().zip(report.matrices());
    let mut drawn = matrices.filter_map(|(group, matrix)| Some((group, matrix.as_ref()?)));
    drawn.try_for_each(|(group, matrix)| contests(merged, group, matrix, tables))
}

fn describe(column: &Column, tables: &mut Tables<'_>) -> Result {
    let better = match column.better {
        Better::Lower => "lower",
        Better::Higher => "higher",
        Better::Neither => "neither",
    };
    let fields = vec![
        ("figure", text(column.id)),
        ("title", text(column.title)),
        ("unit", text(column.unit.name())),
        ("better", text(better)),
        ("of", text(if column.is_of_operation() { "operation" } else { "trial" })),
    ];
    tables.insert("columns", fields)
}

fn write_trials(of_cell: &CellTrials<'_>, tables: &mut Tables<'_>) -> Result {
    let operations = of_cell.operations();
    COLUMNS.iter().try_for_each(|column| match column.is_of_operation() {
        true => operations.iter().try_for_each(|operation| figure(of_cell, Some(operation), column, tables)),
        false => figure(of_cell, None, column, tables),
    })
}

fn figure(
    of_cell: &CellTrials<'_>,
    operation: Option<&str>,
    column: &Column,
    tables: &mut Tables<'_>,
) -> Result {
    let Some(summary) = of_cell.summary(operation.unwrap_or_default(), column) else { return Ok(()) };
    let Summary { trials, mean_kind, mean, median } = summary;
    let kind = match mean_kind {
        MeanKind::Geometric => "geometric",
        MeanKind::Arithmetic => "arithmetic",
    };
    let [mean_low, mean_high] = ends(mean.interval);
    let [median_low, median_high] = ends(median.interval);
    let fields = vec![
        ("hardware", text(of_cell.hardware)),
        ("cell", tables.cell(of_cell.cell)?),
        ("guarantee_given", optional(of_cell.tier.map(|tier| tier.name()), text)),
        ("method", text(of_cell.method)),
        ("operation", optional(operation, text)),
        ("figure", text(column.id)),
        ("trials", integer(trials as u64)),
        ("mean_kind", text(kind)),
        ("mean", real(mean.value)),
        ("mean_low", mean_low),
        ("mean_high", mean_high),
        ("median", real(median.value)),
        ("median_low", median_low),
        ("median_high", median_high),
    ];
    tables.insert("figures", fields)
}

fn ends(interval: Option<Interval>) -> [SqlValue; 2] {
    [interval.map(|interval| interval.low), interval.map(|interval| interval.high)]
        .map(|end| optional(end, real))
}

fn contests(merged: &Merged<'_>, group: &Group<'_>, matrix: &Matrix, tables: &mut Tables<'_>) -> Result {
    let sorted = SortedTrials::new(merged, group);
    for row in &matrix.rows {
        for (place, contest) in matrix.columns.iter().zip(&row.contests) {
            write_figure(&sorted, group, row, (place, contest), tables)?;
        }
    }
    Ok(())
}

fn write_figure(
    sorted: &SortedTrials<'_, '_>,
    group: &Group<'_>,
    row: &Row,
    (place, contest): (&Position, &Contest),
    tables: &mut Tables<'_>,
) -> Result {
    let stores = sorted.entries.get(&row.at.merged_with(place));
    for (rank, contender) in contest.contenders.iter().chain(&contest.riskier).enumerate() {
        let entries = stores.and_then(|stores| stores.get(contender.store.as_str()));
        let Some(entry) = entries.and_then(|entries| entries.first()) else { continue };
        let worse = contender.times_worse;
        let [low, high] = ends(worse.and_then(|ratio| ratio.ratio.interval));
        let rule = contender.verdict.rule().map(|rule| match rule {
            Rule::Interval => "interval",
            Rule::Scatter => "scatter",
            Rule::Open => "open",
            Rule::Crowded => "crowded",
            Rule::Threshold => "threshold",
            Rule::Clock => "clock",
            Rule::Little => "little",
        });
        let fields: Vec<Field<'_>> = vec![
            ("hardware", text(&group.key.hardware)),
            ("cell", tables.cell(&entry.trial.cell)?),
            ("guarantee_given", optional(group.key.tier.map(|tier| tier.name()), text)),
            ("method", text(&group.key.method)),
            ("contest", text(&row.figure.name)),
            ("figure", text(row.figure.column)),
            ("rank", integer(rank as u64 + 1)),
            ("wins", boolean(contender.verdict.wins())),
            ("rule", optional(rule, text)),
            ("mean", real(contender.figure.mean.value)),
            ("times_worse", optional(worse.map(|ratio| ratio.ratio.value), real)),
            ("times_worse_low", low),
            ("times_worse_high", high),
            ("blocks", optional(worse.map(|ratio| ratio.blocks as u64), integer)),
        ];
        tables.insert("contests", fields)?;
    }
    Ok(())
}
