//! Builds rows about each store at each position, from all of its trials there.

use storebench_figures::data::matrix::{ContestantTrials, by_position};
use storebench_figures::data::merge::{Group, Merged, measured};
use storebench_figures::data::names::join_parts;
use storebench_figures::layout::Position;
use storebench_figures::layout::words::position_in_full;
use storebench_model::result::Measurements;

use crate::section::{Block, Cell, Shape, Table, Visibility};

/// The cells of a row, by column.
pub type Row = Vec<(&'static str, Cell)>;

pub fn head_cells(group: &Group<'_>, title: Cell, store: Cell) -> [(&'static str, Cell); 3] {
    [("hardware", Cell::text(&group.key.hardware)), ("title", title), ("store", store)]
}

/// The trials of each group at each position, by contestant; with the label of the group and the position.
pub fn group_positions<'m>(
    merged: &'m Merged<'m>,
) -> impl Iterator<Item = (&'m Group<'m>, String, ContestantTrials<'m>)> {
    merged.groups.iter().flat_map(move |group| {
        let group_name = merged.label(&group.key);
        let label = move |position: &Position| join_parts([group_name.as_str(), &position_in_full(position)]);
        let by_position = by_position(&merged.layout, group).into_iter();
        by_position.map(move |(position, contestants)| (group, label(&position), contestants))
    })
}

/// A table of the rows that `rows` makes of a store's trials, after their heads, with its legend; empty without rows.
pub fn blocks(
    merged: &Merged<'_>,
    (shape, legend): (&'static Shape, &str),
    rows: impl Fn(&[&Measurements]) -> Vec<Row>,
) -> Vec<Block> {
    let mut table = Table::new(shape);
    for (group, label, stores) in group_positions(merged) {
        let title = join_parts([group.key.hardware.as_str(), &label]);
        for (store, entries) in &stores {
            let trials: Vec<_> = measured(entries).into_iter().map(|(_, measured)| measured).collect();
            for row in rows(&trials) {
                let title = Cell::text(&label).with_text(title.clone());
                let head = head_cells(group, title, Cell::store(store, merged.readable.name(store)));
                table.push(Visibility::Always, head.into_iter().chain(row));
            }
        }
    }
    if table.rows.is_empty() {
        return Vec::new();
    }
    vec![Block::Table(table), Block::Note(legend.into())]
}
