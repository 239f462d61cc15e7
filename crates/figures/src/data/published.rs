//! Compares published tables of winners with the matrices of the runs: cell by cell, and the share of cells that agree.

use indexmap::IndexSet;
use serde::Serialize;
use storebench_model::cell::{Axis, Data};
use storebench_model::units::{CountRange, SizeRange};

use super::findings::{label, pools};
use super::merge::{BlockKey, Merged};
use crate::claims::{Evidence, Figure, Outcome, Pool, Scope, StoreComparison, Winner};
use crate::column::Unit;
use crate::judge::standing::{FewBlocksRule, Terms};
use crate::layout::Position;
use crate::published::{Cell, Row, Table};
use crate::stats::Series;

/// A published table compared with one group of a run.
#[derive(Debug)]
pub struct TableComparison<'a> {
    pub table: &'a Table,
    pub scope: Scope,
    /// The table's cells, each with the run's own.
    pub places: Vec<PublishedCell<'a>>,
}

/// One cell of a published table, and the same comparison in the run.
#[derive(Debug)]
pub struct PublishedCell<'a> {
    pub row: &'a Row,
    pub data: Data,
    pub records: CountRange,
    pub published: &'a Cell,
    /// The run's own evidence; `None` if it has no such comparison.
    pub found: Option<Evidence>,
}

/// A table's cells counted by outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Agreement {
    /// The published winner is the run's only one.
    pub same: usize,
    /// It is too close to call with the run's best.
    pub close: usize,
    /// Another store wins in the run.
    pub other: usize,
    /// The run lacks a figure that would decide.
    pub lacking: usize,
    /// The run has no such comparison.
    pub absent: usize,
}

impl Agreement {
    pub fn compared(self) -> usize {
        self.same + self.close + self.other
    }

    pub fn total(self) -> usize {
        self.compared() + self.lacking + self.absent
    }

    /// The share of cells whose published winner is the run's best, or too close to call with it. `None` if less than half of
    /// the table can be compared: that says too little of the rest.
    pub fn share(self) -> Option<f64> {
        (self.compared() > 0 && 2 * self.compared() >= self.total())
            .then(|| (self.same + self.close) as f64 / self.compared() as f64)
    }
}

/// The share that agrees, and the cells that can't be compared.
pub fn describe_agreement(agreement: Agreement) -> String {
    let Agreement { same, close, other, lacking, absent } = agreement;
    let compared = agreement.compared();
    let agree = same + close;
    let details =
        format!("{same} with the same winner, {close} too close to call with it; {other} have another");
    let mut words = match agreement.share() {
        Some(share) => {
            format!("{agree} of {compared} combinations agree ({}): {details}.", Unit::Share.show(share))
        }
        None if compared > 0 => format!(
            "So far, {agree} of {compared} combinations agree (too few of the table's {} for a share): {details}.",
            agreement.total()
        ),
        None => "No combination can be compared.".into(),
    };
    let skipped = [(absent, "that this run does not have"), (lacking, "in which a store lacks a figure")];
    let skipped = skipped.iter().filter(|(number, _)| *number > 0);
    let skipped: Vec<String> = skipped.map(|(number, reason)| format!("{number} {reason}")).collect();
    if !skipped.is_empty() {
        words.push_str(&format!(" Not compared: {}.", skipped.join(", ")));
    }
    words
}

impl TableComparison<'_> {
    pub fn agreement(&self) -> Agreement {
        let mut counts = Agreement::default();
        for place in &self.places {
            *match place.found.as_ref().map(|found| found.outcome) {
                None => &mut counts.absent,
                Some(Outcome::Agrees) => &mut counts.same,
                Some(Outcome::Close) => &mut counts.close,
                Some(Outcome::Disagrees) => &mut counts.other,
                Some(Outcome::Missing) => &mut counts.lacking,
            } += 1;
        }
        counts
    }
}

/// Compares each table with each group that was measured under the same load; one that is asked for by name with all.
pub fn compare_tables<'a>(merged: &'a Merged<'_>, name: Option<&str>) -> Vec<TableComparison<'a>> {
    let tables: Vec<&Table> =
        merged.tables.iter().filter(|table| name.is_none_or(|name| table.name == name)).collect();
    let names: IndexSet<&str> =
        tables.iter().flat_map(|table| &table.rows).map(|row| row.figure.as_str()).collect();
    let figures: Vec<Figure> = names.into_iter().map(Figure::from_row).collect();
    let pools = pools(merged, &figures);
    let figures: Vec<FigurePools> = figures.into_iter().zip(pools).collect();
    let Some((_, groups)) = figures.first() else { return Vec::new() };
    let mut comparisons = Vec::new();
    for (group, pool) in groups.iter().enumerate() {
        for table in &tables {
            let is_same_load = pool.scope.value(Axis::BACKGROUND) == Some(table.background.to_string());
            if is_same_load || name.is_some() {
                comparisons.push(TableComparison {
                    table,
                    scope: pool.scope.clone(),
                    places: compare_cells(table, &figures, group),
                });
            }
        }
    }
    comparisons
}

/// A figure, in every group.
type FigurePools = (Figure, Vec<Pool<BlockKey>>);

fn compare_cells<'a>(table: &'a Table, figures: &[FigurePools], group: usize) -> Vec<PublishedCell<'a>> {
    let mut cells = Vec::new();
    for row in &table.rows {
        let row_figure = Figure::from_row(&row.figure);
        let pools = figures.iter().find(|(figure, _)| *figure == row_figure).map(|(_, pools)| pools);
        for data in [Data::Incompressible, Data::Compressible] {
            for (records, published) in table.records.iter().zip(row.cells(data)) {
                let Some(published) = published else { continue };
                let position = Position::from_values([
                    (Axis::DATA, data.into()),
                    (Axis::RECORD_SIZE, row.record_size.into()),
                    (Axis::RECORDS, (*records).into()),
                ]);
                let compare_in = |pool| find_winner(&table.stores, published, &row_figure, pool, &position);
                let found = pools.and_then(|pools| compare_in(&pools[group]));
                cells.push(PublishedCell { row, data, records: *records, published, found });
            }
        }
    }
    cells
}

/// The winner among the table's stores in the run.
fn find_winner(
    stores: &[String],
    published: &Cell,
    figure: &Figure,
    pool: &Pool<BlockKey>,
    position: &Position,
) -> Option<Evidence> {
    let cells = pool.cells.get(position)?;
    let series = stores.iter().map(|store| cells.get(store).cloned().unwrap_or_else(Series::new)).collect();
    let (spot, terms) = (position.clone(), Terms { few: FewBlocksRule::Threshold, ..pool.terms });
    let contest =
        StoreComparison { figure, spot, averaged: None, stores, series, terms, missing: Vec::new() };
    Some(contest.winner(&Winner { stores: vec![published.store.clone()], within: None }))
}

/// A comparison of a table with a group in JSON.
#[derive(Serialize)]
pub struct TableDocument<'a> {
    table: &'a str,
    title: &'a str,
    source: &'a str,
    hardware: &'a str,
    group: String,
    agreement: Agreement,
    agreeing_share: Option<f64>,
    comparisons: Vec<CellDocument<'a>>,
}

#[derive(Serialize)]
struct CellDocument<'a> {
    figure: &'a str,
    record_size: SizeRange,
    records: CountRange,
    data: Data,
    store: &'a str,
    value: Option<f64>,
    found: Option<&'a Evidence>,
}

/// The tables in JSON that share any comparison with the run.
pub fn documents<'a>(merged: &Merged<'_>, comparisons: &'a [TableComparison<'a>]) -> Vec<TableDocument<'a>> {
    let place = |place: &'a PublishedCell<'a>| CellDocument {
        figure: &place.row.figure,
        record_size: place.row.record_size,
        records: place.records,
        data: place.data,
        store: &place.published.store,
        value: place.published.value,
        found: place.found.as_ref(),
    };
    let document = |comparison: &'a TableComparison<'a>| TableDocument {
        table: &comparison.table.name,
        title: &comparison.table.title,
        source: &comparison.table.source,
        hardware: &comparison.scope.hardware,
        group: label(merged, &comparison.scope),
        agreement: comparison.agreement(),
        agreeing_share: comparison.agreement().share(),
        comparisons: comparison.places.iter().map(place).collect(),
    };
    let matched = comparisons.iter().filter(|table| table.places.iter().any(|place| place.found.is_some()));
    matched.map(document).collect()
}
