//! The findings that hold over several machines.

use crate::column::Unit;
use crate::data::fleet::words::{goes_with, mean, more_with, place, sentences, times};
use crate::data::fleet::{Faster, Pair, fleet};
use crate::data::merge::Merged;
use crate::section::{Block, Cell, Column, Open, Place, Section, Seen, Shape, Stands, Table};

/// The section.
pub const SECTION: Section = Section {
    name: "machines",
    title: "Over several machines",
    link: "Machines",
    stands: Stands::Above,
    at_end: true,
    shapes: &[&MACHINES, &PAIRS],
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

const PAIRS: Shape = Shape {
    name: "machine_pairs",
    columns: &[
        Column::text("title").at(Place::Group, ""),
        Column::text("operation").at(Place::Line, ""),
        Column::whole("combinations"),
        Column::text("store").at(Place::Line, "store"),
        Column::text("other").at(Place::Line, "against"),
        Column::whole("machines"),
        Column::whole("faster").at(Place::Line, "faster on"),
        Column::whole("slower").at(Place::Line, "slower on"),
        Column::whole("not_told"),
        Column::whole("other_way"),
        Column::real("least", Unit::Count).at(Place::Line, "from"),
        Column::real("greatest", Unit::Count).at(Place::Line, "to"),
        Column::estimate("times", Unit::Count).at(Place::Line, "mean"),
        Column::text("goes_with").at(Place::Line, "more with"),
    ],
};

/// Rivals of the fastest that are always shown.
const SHOWN: usize = 3;

const LEGEND: &str = "\
from, to, mean: how many times as long the other store's operation takes, of the machines that have both; 1/2x is half as long, so that the \
other store is faster. faster on, slower on: the machines whose own trials tell that, at 95 % for every two stores together. The mean is over \
machines, each of which counts once: in square brackets Student's interval of 95 %, from three machines on, which speaks of other machines \
like these; in round ones the range of two. So all machines together may tell what none tells by itself; \
this interval is that of one pair alone, and among many pairs some tell by chance. fastest: by the geometric mean of \
latencies over all machines. The slower a sync (the more cores, the more memory), the more: over five machines or more, by Kendall's test at \
5 %: of twenty comparisons without such an effect one has this remark by chance, for each of the three. The column 'more with' says the same. A sync's time is the median of those of the stores and operations \
that all machines have. Machines are told apart by their names, the host's or that of --hardware, those of one name by an identity, and by the machine that limits \
stand in for, where each run has one and these differ. --table shows all stores.";

fn blocks(merged: &Merged<'_>) -> Vec<Block> {
    let fleet = fleet(merged);
    if fleet.pairs.is_empty() && fleet.fastest.is_empty() {
        return Vec::new();
    }
    let mut fastest = Table::new(&MACHINES);
    for of_one in fleet.fastest.chunk_by(|one, next| one.at == next.at) {
        for (rank, pair) in of_one.iter().enumerate() {
            let seen = if rank < SHOWN { Seen::Always } else { Seen::Closer };
            fastest.push(seen, row(merged, pair));
        }
    }
    let mut every = Table::new(&PAIRS);
    for pair in &fleet.pairs {
        let of_all =
            [("combinations", Cell::whole(pair.combinations)), ("other_way", Cell::whole(pair.other_way))];
        every.push(Seen::Always, row(merged, pair).into_iter().chain(of_all));
    }
    let in_words = sentences(merged, &fleet.pairs).into_iter().map(Block::Note).collect();
    let mut blocks = Vec::new();
    if !fleet.pairs.is_empty() {
        blocks.push(Block::fold("In words", Open::Part(0), in_words));
    }
    blocks.push(Block::Table(fastest));
    blocks.extend(fleet.remarks.into_iter().map(Block::Note));
    blocks.push(Block::Note(LEGEND.into()));
    if !every.rows.is_empty() {
        blocks.push(Block::fold("Every two stores", Open::Closer, vec![Block::Table(every)]));
    }
    blocks
}

fn row(merged: &Merged<'_>, pair: &Pair) -> Vec<(&'static str, Cell)> {
    let at = &pair.at;
    let [faster, slower, not_told] =
        [Faster::First, Faster::Other, Faster::NotTold].map(|faster| pair.count(faster));
    let (least, greatest) = pair.range(|_| true).unzip();
    let of_all = |some: usize| format!("{some} of {}", pair.machines.len());
    let ratio = |value: f64| Cell::real(value).shown(times(value));
    vec![
        ("title", Cell::text(place(merged, pair, true))),
        ("operation", Cell::text(&at.operation)),
        ("store", Cell::store(&pair.store, merged.readable.name(&pair.store))),
        ("other", Cell::store(&pair.other, merged.readable.name(&pair.other))),
        ("machines", Cell::whole(pair.machines.len())),
        ("faster", Cell::whole(faster).shown(of_all(faster))),
        ("slower", Cell::whole(slower).shown(of_all(slower))),
        ("not_told", Cell::whole(not_told)),
        ("least", Cell::or_none(least, ratio)),
        ("greatest", Cell::or_none(greatest, ratio)),
        ("times", Cell::estimate(pair.times).shown(mean(pair))),
        ("goes_with", Cell::or_none(goes_with(pair), |with| Cell::text(with).shown(more_with(pair)))),
    ]
}
