//! The time that each store takes to open after its process was killed, by the number of its records.

use std::borrow::Cow;
use std::collections::BTreeMap;

use indexmap::IndexMap;
use storebench_core::result::Recovery;
use storebench_core::units::counted;

use crate::column::Unit;
use crate::data::matrix::Sorted;
use crate::data::merge::{Group, Merged};
use crate::data::names::joined;
use crate::section::{Block, Cell, Column, Open, Place, Section, Seen, Shape, Stands, Table};
use crate::stats::quantile;

/// The section.
pub const SECTION: Section = Section {
    name: "recovery",
    title: "Recovery: how long a store takes to open after its process was killed",
    link: "Recovery",
    stands: Stands::Above,
    at_end: true,
    shapes: &[&RECOVERY],
    blocks,
};

const RECOVERY: Shape = Shape {
    name: "recovery",
    columns: &[
        Column::text("hardware"),
        Column::text("title").at(Place::Group, ""),
        Column::text("store").at(Place::Line, ""),
        Column::whole("records").at(Place::Line, "records"),
        Column::whole("kills").at(Place::Line, "kills"),
        Column::real("open_p50", Unit::Nanoseconds).at(Place::Line, "median"),
        Column::real("open_most", Unit::Nanoseconds).at(Place::Line, "longest"),
        Column::real("first_read_p50", Unit::Nanoseconds).at(Place::Line, "first read"),
        Column::real("closed_p50", Unit::Nanoseconds).at(Place::Line, "after closing"),
        Column::text("not_made"),
    ],
};

const LEGEND: &str = "\
Each store was filled in batches of 1,000 records of up to 400 bytes, killed, opened by a new process, given up to a tenth as many more, killed \
again, five times in all, then closed and opened once more. Its files were in the memory of the kernel. median, longest: from the call that opens \
it until it returns; a server is started in it. first read: from there until the record that was acknowledged last had been read, in the median. \
after closing: the same call, after the store was closed.";

/// Openings of one store with so many records.
#[derive(Default)]
struct Opened {
    open_ns: Vec<u64>,
    first_read_ns: Vec<u64>,
    closed_ns: Vec<u64>,
}

/// Those of one store, by number of records, and why there are no others.
#[derive(Default)]
struct OfStore {
    sizes: BTreeMap<u64, Opened>,
    not_made: Option<String>,
}

fn blocks(merged: &Merged<'_>) -> Vec<Block> {
    let (mut table, mut notes) = (Table::new(&RECOVERY), Vec::new());
    for group in &merged.groups {
        let title = joined([group.key.hardware.as_str(), &merged.label(&group.key)]);
        for (store, one) in opened(merged, group) {
            let name = merged.readable.name(&store).into_owned();
            for (records, opened) in &one.sizes {
                let head = [
                    ("hardware", Cell::text(&group.key.hardware)),
                    ("title", Cell::text(&title)),
                    ("store", Cell::store(&store, name.clone())),
                    ("not_made", Cell::or_none(one.not_made.as_deref(), Cell::text)),
                ];
                table.push(Seen::Always, head.into_iter().chain(row(*records, opened)));
            }
            notes.extend(one.not_made.iter().map(|why| {
                let more = if one.sizes.is_empty() { "" } else { " with more records" };
                Block::Note(format!("{name}: not measured{more}: {why}."))
            }));
            notes.extend(grown(&name, &one).map(Block::Note));
        }
    }
    if table.rows.is_empty() {
        return notes;
    }
    vec![Block::Table(table), Block::fold("In words", Open::Part(0), notes), Block::Note(LEGEND.into())]
}

fn opened<'g, 'a: 'g>(merged: &'g Merged<'a>, group: &'g Group<'a>) -> Vec<(String, OfStore)> {
    let sorted = Sorted::new(merged, group);
    let mut all: IndexMap<Cow<'_, str>, OfStore> = IndexMap::new();
    for here in sorted.entries.values() {
        for (store, entries) in here {
            for check in entries.iter().filter_map(|entry| entry.trial.ok()?.recovery_check.as_ref()) {
                let one = all.entry(store.clone()).or_default();
                check.sizes.iter().for_each(|recovery| one.add(recovery));
                one.not_made = check.not_made.clone().or_else(|| one.not_made.take());
            }
        }
    }
    all.into_iter().map(|(store, one)| (store.into_owned(), one)).collect()
}

impl OfStore {
    fn add(&mut self, recovery: &Recovery) {
        let opened = self.sizes.entry(recovery.records).or_default();
        opened.open_ns.extend(recovery.killed.iter().map(|reopened| reopened.open_ns));
        opened.first_read_ns.extend(recovery.killed.iter().map(|reopened| reopened.first_read_ns));
        opened.closed_ns.push(recovery.closed.open_ns);
    }
}

fn row(records: u64, opened: &Opened) -> Vec<(&'static str, Cell)> {
    let whole = |number: u64| Cell::whole(usize::try_from(number).unwrap_or(usize::MAX));
    let ns = |values: &[u64], share: f64| Cell::or_none(quantile(values, share), |ns| Cell::real(ns as f64));
    vec![
        ("records", whole(records)),
        ("kills", Cell::whole(opened.open_ns.len())),
        ("open_p50", ns(&opened.open_ns, 0.5)),
        ("open_most", ns(&opened.open_ns, 1.0)),
        ("first_read_p50", ns(&opened.first_read_ns, 0.5)),
        ("closed_p50", ns(&opened.closed_ns, 0.5)),
    ]
}

/// A store whose recovery grows with its size, in a sentence; `None` where two sizes don't tell.
fn grown(name: &str, one: &OfStore) -> Option<String> {
    let median = |opened: &Opened| quantile(&opened.open_ns, 0.5);
    let (fewest, few) = one.sizes.first_key_value()?;
    let (most, many) = one.sizes.last_key_value()?;
    let (least, median) = (median(few)?, median(many)?);
    let all_longer = many.open_ns.iter().min()? > few.open_ns.iter().max()?;
    (most > fewest && all_longer && least > 0).then(|| {
        format!(
            "{name}: each opening after a kill took longer with {} than with {}: {:.1} times as long in the median, with {:.0} times the records.",
            counted(*most, "record"),
            counted(*fewest, "record"),
            median as f64 / least as f64,
            *most as f64 / *fewest as f64,
        )
    })
}
