//! Speed and files by round, as a workload runs repeatedly on one database.

use storebench_figures::column::{MAX, P99, P999, Unit};
use storebench_figures::data::merge::{Entry, Merged};
use storebench_figures::data::names::join_parts;
use storebench_figures::data::rounds::{Figure, last_over_first, most_rounds, values};
use storebench_figures::stats::Summary;
use storebench_model::units::three_digits;

use super::store_rows::{group_positions, head_cells};
use crate::section::{
    Block, Cell, Column, ColumnRole, FoldState, PagePosition, Section, Shape, Table, Visibility,
};

pub const SECTION: Section = Section {
    name: "rounds",
    title: "Round by round",
    link: "Rounds",
    stands: PagePosition::Drawn,
    at_end: true,
    shapes: &[&ROUNDS],
    blocks,
};

const MOST_SHOWN: usize = 5;

const ROUNDS: Shape = Shape {
    name: "round_figures",
    columns: &[
        Column::text("hardware"),
        Column::text("title").role(ColumnRole::Group, ""),
        Column::text("store").role(ColumnRole::Line, ""),
        Column::text("figure").role(ColumnRole::Line, ""),
        Column::integer("round").role(ColumnRole::Across, ""),
        Column::integer("trials"),
        Column::estimate("throughput", Unit::PerSecond).role(ColumnRole::Spread, ""),
        Column::estimate("disk_allocated", Unit::Bytes).role(ColumnRole::Spread, ""),
        Column::estimate("written", Unit::Bytes).role(ColumnRole::Spread, ""),
        Column::estimate(P99.id, P99.unit).role(ColumnRole::Spread, ""),
        Column::estimate(P999.id, P999.unit).role(ColumnRole::Spread, ""),
        Column::estimate(MAX.id, MAX.unit).role(ColumnRole::Spread, ""),
        Column::estimate("last_over_first", Unit::Count).role(ColumnRole::Line, "last/first"),
    ],
};

fn blocks(merged: &Merged<'_>) -> Vec<Block> {
    let rounds = most_rounds(merged.groups.iter().flat_map(|group| &group.trials));
    if rounds < 2 {
        return Vec::new();
    }
    let mut table = Table::new(&ROUNDS).with_columns((0..rounds).map(name_round).collect());
    for (group, label, stores) in group_positions(merged) {
        for (store, entries) in stores.iter().filter(|(_, entries)| most_rounds(*entries) > 1) {
            let title = Cell::text(&label).with_text(join_parts([group.key.hardware.as_str(), &label]));
            let store_cells = head_cells(group, title, Cell::store(store, merged.readable.name(store)));
            for figure in Figure::ALL {
                push_figure(&store_cells, entries, figure, rounds, &mut table);
            }
        }
    }
    let more = if rounds > MOST_SHOWN { "all rounds, " } else { "" };
    let note = format!(
        "The same work again and again on one database. Geometric means over trials. last/first: how many times the last round's figure is \
         the first's. --table shows {more}latencies and the bytes that were written by calls, too."
    );
    let title = "Operations per second, and the space of the files after each round";
    vec![
        Block::Chart("rounds", 0),
        Block::fold(title, FoldState::Figures, vec![Block::Table(table)]),
        Block::Note(note),
    ]
}

fn name_round(round: usize) -> String {
    format!("round {}", round + 1)
}

/// Whether a round is shown: the first, the last, and an even selection between them.
fn is_picked(round: usize, rounds: usize) -> bool {
    rounds <= MOST_SHOWN || (0..MOST_SHOWN).any(|step| step * (rounds - 1) / (MOST_SHOWN - 1) == round)
}

fn push_figure(
    store_cells: &[(&'static str, Cell)],
    entries: &[Entry<'_>],
    figure: Figure,
    rounds: usize,
    table: &mut Table,
) {
    let (name, column, unit) = match figure {
        Figure::Speed => ("ops/s", "throughput", Unit::PerSecond),
        Figure::Files => ("files", "disk_allocated", Unit::Bytes),
        Figure::Written => ("written", "written", Unit::Bytes),
        Figure::P99 => (P99.title, P99.id, P99.unit),
        Figure::P999 => (P999.title, P999.id, P999.unit),
        Figure::Longest => (MAX.title, MAX.id, MAX.unit),
    };
    let growth = last_over_first(entries, figure).map(|growth| growth.mean);
    let growth = Cell::or_none(growth, |growth| {
        Cell::estimate(growth).with_text(format!("×{}", three_digits(growth.value)))
    });
    for round in 0..rounds {
        let Some(summary) = Summary::from_values(&values(entries, figure, round)) else { continue };
        let cells = [
            ("figure", Cell::text(column).with_text(name)),
            ("round", Cell::from_count(round + 1).with_text(name_round(round))),
            ("trials", Cell::from_count(summary.trials)),
            (column, Cell::estimate(summary.mean).with_text(unit.show(summary.mean.value))),
            ("last_over_first", growth.clone()),
        ];
        let is_shown = is_picked(round, rounds) && matches!(figure, Figure::Speed | Figure::Files);
        let visibility = if is_shown { Visibility::Always } else { Visibility::Closer };
        table.push(visibility, store_cells.iter().cloned().chain(cells));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_the_last_and_some_between_are_shown() {
        let picked =
            |rounds: usize| (0..rounds).filter(|round| is_picked(*round, rounds)).collect::<Vec<_>>();
        assert_eq!((picked(10), picked(3)), (vec![0, 2, 4, 6, 9], vec![0, 1, 2]));
    }
}
