//! The findings that hold over several machines.

use storebench_core::units::three_digits;

use crate::column::Unit;
use crate::data::fleet::{Pair, pairs};
use crate::data::merge::Merged;
use crate::data::names::joined;
use crate::data::spread;
use crate::layout::words::position_in_full;
use crate::section::{Block, Cell, Column, Place, Section, Seen, Shape, Stands, Table};

/// The section.
pub const SECTION: Section = Section {
    name: "machines",
    title: "Over several machines: the fastest store against the others",
    link: "Machines",
    stands: Stands::Above,
    at_end: true,
    shapes: &[&MACHINES],
    blocks,
};

const MACHINES: Shape = Shape {
    name: "machines",
    columns: &[
        Column::text("title").at(Place::Group, ""),
        Column::text("operation").at(Place::Line, ""),
        Column::text("store").at(Place::Line, "fastest"),
        Column::text("other").at(Place::Line, "against"),
        Column::whole("machines"),
        Column::whole("faster").at(Place::Line, "faster on"),
        Column::whole("slower").at(Place::Line, "slower on"),
        Column::whole("not_told"),
        Column::real("least", Unit::Count).at(Place::Line, "from"),
        Column::real("greatest", Unit::Count).at(Place::Line, "to"),
        Column::estimate("times", Unit::Count).at(Place::Line, "mean"),
        Column::text("goes_with"),
    ],
};

/// Remarks on properties that are shown.
const REMARKS: usize = 8;

/// Rivals of the fastest that are always shown.
const SHOWN: usize = 3;

const LEGEND: &str = "\
from, to, mean: how many times as long the other store's operation takes as the fastest's, of the machines that have both; fastest by the \
geometric mean of its latencies over all machines. faster on, slower on: the machines whose own trials tell that, \
at 95 % for all stores together. The mean is over \
machines, each of which counts once, with Student's interval of 95 % from three on, which speaks of other machines like these; of two it is \
their range. The hardware's name tells machines apart: the host's, or that of --hardware. \
--table shows all stores.";

fn blocks(merged: &Merged<'_>) -> Vec<Block> {
    let mut table = Table::new(&MACHINES);
    let pairs = pairs(merged);
    for of_one in pairs.chunk_by(|one, next| one.at == next.at) {
        for (rank, pair) in of_one.iter().enumerate() {
            let seen = if rank < SHOWN { Seen::Always } else { Seen::Closer };
            table.push(seen, row(merged, pair));
        }
    }
    if table.rows.is_empty() {
        return Vec::new();
    }
    let notes = remarks(merged, &pairs).into_iter().map(Block::Note);
    [Block::Table(table)].into_iter().chain(notes).chain([Block::Note(LEGEND.into())]).collect()
}

/// The properties of machines that go with a ratio, a sentence each.
fn remarks(merged: &Merged<'_>, pairs: &[Pair]) -> Vec<String> {
    let of_pair = |pair: &Pair| {
        let with = goes_with(pair);
        let (operation, store, other) = (&pair.at.operation, &pair.store, &pair.other);
        let place = place(merged, pair);
        (!with.is_empty()).then(|| {
            format!(
                "{operation}, {other} against {store}, {place}: {with}. Over five machines or more, by Kendall's test at 5 %; one such \
                 remark in twenty comes by chance."
            )
        })
    };
    pairs.iter().filter_map(of_pair).take(REMARKS).collect()
}

fn goes_with(pair: &Pair) -> String {
    let one = pair.decides.iter().map(|(property, rises)| {
        format!("{}, the {}", property.more(), if *rises { "more" } else { "less" })
    });
    one.collect::<Vec<_>>().join("; ")
}

/// The place of a comparison in words, without the machine.
fn place(merged: &Merged<'_>, pair: &Pair) -> String {
    joined([merged.label(&pair.at.key).as_str(), &position_in_full(&pair.at.position)])
}

fn row(merged: &Merged<'_>, pair: &Pair) -> Vec<(&'static str, Cell)> {
    let at = &pair.at;
    let [faster, slower, not_told] = pair.told();
    let (least, greatest) = pair.range();
    let of_all = |some: usize| format!("{some} of {}", pair.machines.len());
    let times = |value: f64| format!("{}x", three_digits(value));
    let mean = format!("{}{}", times(pair.times.value), spread::after(pair.times.interval, three_digits));
    vec![
        ("title", Cell::text(place(merged, pair))),
        ("operation", Cell::text(&at.operation)),
        ("store", Cell::store(&pair.store, merged.readable.name(&pair.store))),
        ("other", Cell::store(&pair.other, merged.readable.name(&pair.other))),
        ("machines", Cell::whole(pair.machines.len())),
        ("faster", Cell::whole(faster).shown(of_all(faster))),
        ("slower", Cell::whole(slower).shown(of_all(slower))),
        ("not_told", Cell::whole(not_told)),
        ("least", Cell::real(least).shown(times(least))),
        ("greatest", Cell::real(greatest).shown(times(greatest))),
        ("times", Cell::estimate(pair.times).shown(mean)),
        ("goes_with", Cell::text(goes_with(pair))),
    ]
}
