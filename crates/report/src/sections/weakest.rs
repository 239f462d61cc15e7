//! The weakest side of each store in a set's life: the property in which it is furthest behind the others.

use std::collections::BTreeMap;

use storebench_core::result::{Measured, OVERALL, Round};
use storebench_core::units::three_digits;

use crate::column::Unit;
use crate::column::checks::{FILES_GIVEN_BACK, FILES_LEFT, SCAN_AGED};
use crate::data::matrix::Sorted;
use crate::data::merge::{Group, Merged, measured};
use crate::data::names::joined;
use crate::layout::words::position_among;
use crate::section::{Block, Cell, Column, Place, Section, Seen, Shape, Stands, Table};
use crate::stats;

/// The section.
pub const SECTION: Section = Section {
    name: "weakest",
    title: "Weakest sides: what each store is furthest behind the others in",
    link: "Weakest sides",
    stands: Stands::Above,
    at_end: true,
    shapes: &[&WEAKEST],
    blocks,
};

const WEAKEST: Shape = Shape {
    name: "weakest",
    columns: &[
        Column::text("hardware"),
        Column::text("title").at(Place::Group, ""),
        Column::text("store").at(Place::Line, ""),
        Column::text("property").at(Place::Line, "weakest in"),
        Column::real("value", Unit::Count).at(Place::Line, "value"),
        Column::real("times_median", Unit::Count).at(Place::Line, "the median"),
        Column::whole("stores"),
        Column::text("at").at(Place::Line, "at"),
    ],
};

const LEGEND: &str = "\
Of all properties and positions the one in which the store's median over its trials is the most times that of the median store there. latency: the mean of \
all calls. pause: the longest call. slowing down: operations per second in the first tenth over those in the last. \
files: while all is there, over the values. after removing: the files when nine tenths of the records are gone, over those before; after giving \
back: the same when the engine has given space back, or could not. scan: of the aged set over the fresh one. A store that is 1.2 times behind in \
nothing has no line. Few trials name candidates: a pause, above all, need not come again.";

/// Stores that it takes for a median.
const LEAST_STORES: usize = 3;
/// A store that is less behind is not behind.
const LEAST_TIMES: f64 = 1.2;

/// A property: more of it is worse.
struct Property {
    name: &'static str,
    unit: Unit,
    of: fn(&Measured) -> Option<f64>,
}

const PROPERTIES: [Property; 7] = [
    Property {
        name: "latency",
        unit: Unit::Nanoseconds,
        of: |m| m.operation(OVERALL)?.per_second().map(|rate| 1e9 / rate),
    },
    Property {
        name: "pause",
        unit: Unit::Nanoseconds,
        of: |m| Some(m.operation(OVERALL)?.latency.max_ns as f64),
    },
    Property { name: "slowing down", unit: Unit::Count, of: slowing_down },
    Property { name: "files", unit: Unit::Share, of: |m| m.known_disk().and(m.space_amplification()) },
    Property { name: "after removing", unit: Unit::Share, of: |m| FILES_LEFT.of_trial(m) },
    Property { name: "after giving back", unit: Unit::Share, of: given_back },
    Property { name: "scan", unit: Unit::Count, of: |m| SCAN_AGED.of_trial(m) },
];

fn slowing_down(measured: &Measured) -> Option<f64> {
    let [first, .., last] = measured.rounds.as_slice() else { return None };
    let rate = |round: &Round| round.operation(OVERALL)?.per_second();
    Some(rate(first)? / rate(last)?)
}

/// The files at last: where the engine has no way to give space back, as they were left.
fn given_back(measured: &Measured) -> Option<f64> {
    FILES_GIVEN_BACK.of_trial(measured).or_else(|| FILES_LEFT.of_trial(measured))
}

fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    stats::median(&values.collect::<Vec<_>>()).map(|estimate| estimate.value)
}

/// The property and position in which a store is furthest behind.
struct Weakest {
    property: &'static Property,
    at: String,
    value: f64,
    times: f64,
    stores: usize,
}

fn blocks(merged: &Merged<'_>) -> Vec<Block> {
    let mut table = Table::new(&WEAKEST);
    for group in &merged.groups {
        let at = merged.label(&group.key);
        for (store, weakest) in of_group(merged, group) {
            table.push(
                Seen::Always,
                [
                    ("hardware", Cell::text(&group.key.hardware)),
                    ("title", Cell::text(&at).shown(joined([group.key.hardware.as_str(), &at]))),
                    ("store", Cell::store(&store, merged.readable.name(&store))),
                    ("property", Cell::text(weakest.property.name)),
                    ("value", Cell::real(weakest.value).shown(weakest.property.unit.show(weakest.value))),
                    (
                        "times_median",
                        Cell::real(weakest.times).shown(format!("×{}", three_digits(weakest.times))),
                    ),
                    ("stores", Cell::whole(weakest.stores)),
                    ("at", Cell::text(&weakest.at)),
                ],
            );
        }
    }
    if table.rows.is_empty() {
        return Vec::new();
    }
    vec![Block::Table(table), Block::Note(LEGEND.into())]
}

fn of_group(merged: &Merged<'_>, group: &Group<'_>) -> BTreeMap<String, Weakest> {
    let mut all: BTreeMap<String, Weakest> = BTreeMap::new();
    let sorted = Sorted::new(merged, group);
    let positions: Vec<_> = sorted.entries.keys().collect();
    for (position, here) in &sorted.entries {
        for property in &PROPERTIES {
            let of_store = |(store, entries): (_, &Vec<_>)| {
                let trials = measured(entries);
                // Only what lives a life has all of them.
                let values = trials.iter().filter(|(_, measured)| measured.giving_back.is_some());
                let values = values.filter_map(|(_, measured)| (property.of)(measured));
                Some((store, median(values)?))
            };
            let values: Vec<_> = here.iter().filter_map(of_store).collect();
            let middle = median(values.iter().map(|(_, value)| *value));
            let Some(middle) = middle.filter(|middle| values.len() >= LEAST_STORES && *middle > 0.0) else {
                continue;
            };
            for (store, value) in &values {
                let times = value / middle;
                let is_weaker = all.get(store.as_ref()).is_none_or(|weakest| times > weakest.times);
                if times >= LEAST_TIMES && is_weaker {
                    let at = position_among(position, &positions);
                    all.insert(
                        store.to_string(),
                        Weakest { property, at, value: *value, times, stores: values.len() },
                    );
                }
            }
        }
    }
    all
}
