//! The trials of a run by cell, for outputs without a matrix.

use indexmap::{IndexMap, IndexSet};
use storebench_model::cell::Cell;
use storebench_model::store::Guarantee;

use super::matrix::series;
use super::merge::{Entry, Group, Merged, measured};
use crate::column::Column;
use crate::stats::Summary;

/// A cell on one machine, at its given guarantee, by one method.
pub struct CellTrials<'a> {
    pub hardware: &'a str,
    pub cell: &'a Cell,
    /// The tier given; `None` if no trial got far enough to report it.
    pub tier: Option<Guarantee>,
    /// How its runs' method differs from that of the other runs; empty if it doesn't.
    pub method: &'a str,
    /// Its trials, failed ones included.
    pub entries: Vec<Entry<'a>>,
}

/// Every cell that was run, by group, then in running order.
pub fn cells<'m>(merged: &'m Merged<'m>) -> Vec<CellTrials<'m>> {
    merged.groups.iter().flat_map(cells_of_group).collect()
}

fn cells_of_group<'m>(group: &'m Group<'m>) -> Vec<CellTrials<'m>> {
    let mut cells: IndexMap<&Cell, Vec<Entry<'m>>> = IndexMap::new();
    for entry in &group.trials {
        cells.entry(&entry.trial.cell).or_default().push(*entry);
    }
    let (hardware, tier, method) = (group.key.hardware.as_str(), group.key.tier, group.key.method.as_str());
    cells.into_iter().map(|(cell, entries)| CellTrials { hardware, cell, tier, method, entries }).collect()
}

impl<'a> CellTrials<'a> {
    /// The operations, in the order in which they ran.
    pub fn operations(&self) -> IndexSet<&'a str> {
        let results = measured(&self.entries).into_iter().flat_map(|(_, measured)| &measured.operations);
        results.map(|result| result.operation.as_str()).collect()
    }

    /// A figure over the trials; `operation` is empty for figures of whole trials.
    pub fn summary(&self, operation: &str, column: &Column) -> Option<Summary> {
        Summary::from_series(&series(&self.entries, operation, column))
    }
}
