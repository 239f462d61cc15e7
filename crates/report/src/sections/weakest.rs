//! The weakest side of each store in a set's life: the property in which it is furthest behind the others.

use std::collections::BTreeMap;

use storebench_core::result::{Measured, OVERALL, Round};
use storebench_core::units::three_digits;

use crate::column::Unit;
use crate::column::checks::{FILES_GIVEN_BACK, FILES_LEFT, LITTLE_DISK, SCAN_AGED};
use crate::data::matrix::Sorted;
use crate::data::merge::{Entry, Group, Merged, measured};
use crate::data::names::joined;
use crate::layout::words::position_among;
use crate::section::{Block, Cell, Column, Open, Section, Seen, Shape, Stands, Table};
use crate::stats;

/// The section.
pub const SECTION: Section = Section {
    name: "weakest",
    title: "Weakest sides: what each store is furthest behind the others in",
    link: "Weakest sides",
    stands: Stands::First,
    at_end: true,
    shapes: &[&WEAKEST],
    blocks,
};

/// For files; people have sentences.
const WEAKEST: Shape = Shape {
    name: "weakest",
    columns: &[
        Column::text("hardware"),
        Column::text("title"),
        Column::text("store"),
        Column::text("property"),
        Column::real("value", Unit::Count),
        Column::real("times_median", Unit::Count),
        Column::whole("stores"),
        Column::text("at"),
    ],
};

const LEGEND: &str = "\
Of all properties and positions the one in which the store's median over its trials is the most times the median of the other stores there, \
and at least 1.2 times. The properties: the mean time of all calls; the longest call; operations per second in the first tenth over those in \
the last; the files while all is there, over the values; the files when nine tenths of the records are gone, and when the engine has given \
space back, or could not, over those before; a scan of the aged set over one of the fresh set. Files below 1 MiB count as 1 MiB, and what is \
left of them counts where more than 1 MiB of values was removed. A longest call need not come again: few trials name candidates.";

/// A store that is less behind is not behind.
const LEAST_TIMES: f64 = 1.2;

/// A property: more of it is worse.
struct Property {
    name: &'static str,
    unit: Unit,
    of: fn(&Measured) -> Option<f64>,
    /// As much as a value is taken for, to compare it.
    least: fn(&Measured) -> f64,
    /// A sentence's words before the value and after it.
    says: (&'static str, &'static str),
}

const PROPERTIES: [Property; 7] = [
    Property {
        name: "latency",
        unit: Unit::Nanoseconds,
        of: |m| m.operation(OVERALL)?.per_second().map(|rate| 1e9 / rate),
        least: |_| 0.0,
        says: ("a call takes", "in the mean"),
    },
    Property {
        name: "pause",
        unit: Unit::Nanoseconds,
        of: |m| Some(m.operation(OVERALL)?.latency.max_ns as f64),
        least: |_| 0.0,
        says: ("the longest call took", ""),
    },
    Property {
        name: "slowing down",
        unit: Unit::Count,
        of: slowing_down,
        least: |_| 0.0,
        says: ("it was", "times as fast in the first tenth as in the last"),
    },
    Property {
        name: "files",
        unit: Unit::Share,
        of: |m| m.known_disk().and(m.space_amplification()),
        least: |m| LITTLE_DISK / m.stored.value_bytes as f64,
        says: ("the files take", "of the bytes of the values"),
    },
    Property {
        name: "after removing",
        unit: Unit::Share,
        of: |m| FILES_LEFT.of_trial(m).filter(|_| removed_much(m)),
        least: |_| 0.0,
        says: ("with nine tenths of the records removed the files take", "of what they took"),
    },
    Property {
        name: "after giving back",
        unit: Unit::Share,
        of: |m| given_back(m).filter(|_| removed_much(m)),
        least: |_| 0.0,
        says: ("at last, with a tenth of the records, the files take", "of what they took"),
    },
    Property {
        name: "scan",
        unit: Unit::Count,
        of: |m| SCAN_AGED.of_trial(m),
        least: |_| 0.0,
        says: ("a scan of the aged set takes", "times as long as one of the fresh set"),
    },
];

/// Whether so much was removed that the files tell more of it than of an engine's logs and least sizes.
fn removed_much(measured: &Measured) -> bool {
    let left = measured.giving_back.as_ref().map_or(0, |back| back.value_bytes);
    measured.stored.value_bytes.saturating_sub(left) as f64 > LITTLE_DISK
}

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

impl Weakest {
    /// In a sentence.
    fn sentence(&self, store: &str) -> String {
        let (before, after) = self.property.says;
        let value = self.property.unit.show(self.value);
        let words = [before, value.as_str(), after].into_iter().filter(|words| !words.is_empty());
        let words = words.collect::<Vec<_>>().join(" ");
        let others = match self.stores - 1 {
            1 => "that of the only other store".to_owned(),
            others => format!("the median of the {others} others"),
        };
        let name = joined([store, self.at.as_str()]);
        format!("{name}: {words}, {} times {others}.", three_digits(self.times))
    }
}

fn blocks(merged: &Merged<'_>) -> Vec<Block> {
    let (mut table, mut parts) = (Table::new(&WEAKEST), Vec::new());
    for group in &merged.groups {
        let at = merged.label(&group.key);
        let title = joined([group.key.hardware.as_str(), &at]);
        let mut lines = Vec::new();
        for (store, weakest) in of_group(merged, group) {
            let name = merged.readable.name(&store);
            lines.push(Block::Note(weakest.sentence(&name)));
            table.push(
                Seen::InFiles,
                [
                    ("hardware", Cell::text(&group.key.hardware)),
                    ("title", Cell::text(&at)),
                    ("store", Cell::text(&store)),
                    ("property", Cell::text(weakest.property.name)),
                    ("value", Cell::real(weakest.value)),
                    ("times_median", Cell::real(weakest.times)),
                    ("stores", Cell::whole(weakest.stores)),
                    ("at", Cell::text(&weakest.at)),
                ],
            );
        }
        if !lines.is_empty() {
            parts.push(Block::fold(title, Open::Part(parts.len()), lines));
        }
    }
    if parts.is_empty() {
        return Vec::new();
    }
    parts.into_iter().chain([Block::Table(table), Block::Note(LEGEND.into())]).collect()
}

/// A store's value at a position, and what it is taken for.
struct Standing<'a> {
    store: &'a str,
    value: f64,
    compared: f64,
}

fn of_group(merged: &Merged<'_>, group: &Group<'_>) -> BTreeMap<String, Weakest> {
    let mut all: BTreeMap<String, Weakest> = BTreeMap::new();
    let sorted = Sorted::new(merged, group);
    let positions: Vec<_> = sorted.entries.keys().collect();
    for (position, here) in &sorted.entries {
        for property in &PROPERTIES {
            let here = here.iter().filter_map(|(store, entries)| standing(property, store, entries));
            let here: Vec<Standing<'_>> = here.collect();
            for one in &here {
                let others = here.iter().filter(|other| other.store != one.store);
                let middle = median(others.map(|other| other.compared)).filter(|middle| *middle > 0.0);
                let Some(times) = middle.map(|middle| one.compared / middle) else { continue };
                let is_weaker = all.get(one.store).is_none_or(|weakest| times > weakest.times);
                if times >= LEAST_TIMES && is_weaker {
                    let at = position_among(position, &positions);
                    let weakest = Weakest { property, at, value: one.value, times, stores: here.len() };
                    all.insert(one.store.to_owned(), weakest);
                }
            }
        }
    }
    all
}

fn standing<'a>(property: &Property, store: &'a str, entries: &[Entry<'_>]) -> Option<Standing<'a>> {
    // Only what lives a life has all of them.
    let trials = measured(entries).into_iter().map(|(_, measured)| measured);
    let trials: Vec<&Measured> = trials.filter(|measured| measured.giving_back.is_some()).collect();
    let values = || trials.iter().filter_map(|one| Some((*one, (property.of)(one)?)));
    let value = median(values().map(|(_, value)| value))?;
    let compared = median(values().map(|(one, value)| value.max((property.least)(one))))?;
    Some(Standing { store, value, compared })
}
