//! Builds rows about each store at each position, from all of its trials there.

use storebench_figures::data::matrix::SortedTrials;
use storebench_figures::data::merge::{Group, Merged, measured};
use storebench_figures::data::names::join_parts;
use storebench_figures::layout::words::position_in_full;
use storebench_model::result::Measurements;

use crate::section::{Block, Cell, Shape, Table, Visibility};

/// The cells of a row, by column.
pub type Row = Vec<(&'static str, Cell)>;

pub fn head(group: &Group<'_>, title: Cell, store: Cell) -> [(&'static str, Cell); 3] {
    [("hardware", Cell::text(&group.key.hardware)), ("title", title), ("store", store)]
}

/// A table of the rows that `rows` makes of a store's trials, after their heads, with its legend; empty without rows.
pub fn blocks(
    merged: &Merged<'_>,
    (shape, legend): (&'static Shape, &str),
    rows: impl Fn(&[&Measurements]) -> Vec<Row>,
) -> Vec<Block> {
    let mut table = Table::new(shape);
    for group in &merged.groups {
        let sorted = SortedTrials::new(merged, group);
        for (position, stores) in &sorted.entries {
            let label = join_parts([merged.label(&group.key).as_str(), &position_in_full(position)]);
            let title = join_parts([group.key.hardware.as_str(), &label]);
            for (store, entries) in stores {
                let trials: Vec<_> = measured(entries).into_iter().map(|(_, measured)| measured).collect();
                for row in rows(&trials) {
                    let title = Cell::text(&label).with_text(title.clone());
                    let head = head(group, title, Cell::store(store, merged.readable.name(store)));
                    table.push(Visibility::Always, head.into_iter().chain(row));
                }
            }
        }
    }
    if table.rows.is_empty() {
        return Vec::new();
    }
    vec![Block::Table(table), Block::Note(legend.into())]
}
