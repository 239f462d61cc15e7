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
    title: "Opening: how long a store takes after its process was killed, and after it was closed",
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
        Column::whole("kills"),
        Column::real("open_p50", Unit::Nanoseconds).at(Place::Line, "killed"),
        Column::real("open_most", Unit::Nanoseconds).at(Place::Line, "longest"),
        Column::real("first_read_p50", Unit::Nanoseconds).at(Place::Line, "read"),
        Column::real("first_write_p50", Unit::Nanoseconds).at(Place::Line, "write"),
        Column::real("closed_p50", Unit::Nanoseconds).at(Place::Line, "closed"),
        Column::real("cold_killed_p50", Unit::Nanoseconds).at(Place::Line, "killed, cold"),
        Column::real("cold_closed_p50", Unit::Nanoseconds).at(Place::Line, "closed, cold"),
        Column::real("created_p50", Unit::Nanoseconds),
        Column::real("closing_p50", Unit::Nanoseconds),
        Column::real("read_p50", Unit::Bytes),
        Column::real("memory_p50", Unit::Bytes),
        Column::text("not_made"),
    ],
};

const LEGEND: &str = "\
Each store was filled in batches of 1,000 records of up to 400 bytes, killed, opened by a new process, given up to a tenth as many more, killed \
again, five times in all, then closed and opened once more. Its files were in the memory of the kernel. killed, longest: from the call that opens \
it until it returns, in the median and at most; a server is started in it. read: from there until the record that was acknowledged last had \
been read; write: from there until it had been overwritten, both in the median. closed: the call that opens it, after the store was closed. \
killed, cold; closed, cold: the same once more each, when the kernel's memory had been emptied of its files.";

/// Openings of one store with so many records.
#[derive(Default)]
struct Opened {
    open_ns: Vec<u64>,
    first_read_ns: Vec<u64>,
    first_write_ns: Vec<u64>,
    closed_ns: Vec<u64>,
    cold_killed_ns: Vec<u64>,
    cold_closed_ns: Vec<u64>,
    created_ns: Vec<u64>,
    closing_ns: Vec<u64>,
    read_bytes: Vec<u64>,
    memory_bytes: Vec<u64>,
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
        let label = merged.label(&group.key);
        let title = joined([group.key.hardware.as_str(), &label]);
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
            let named = joined([name.as_str(), &label]);
            notes.extend(one.not_made.iter().map(|why| {
                let more = if one.sizes.is_empty() { "" } else { " with more records" };
                Block::Note(format!("{named}: not measured{more}: {why}."))
            }));
            notes.extend(grown(&named, &one).map(Block::Note));
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
        let killed = || recovery.killed.iter();
        // Earlier versions have measured neither writing nor creating.
        let known = |ns: u64| Some(ns).filter(|ns| *ns > 0);
        opened.open_ns.extend(killed().map(|reopened| reopened.open_ns));
        opened.first_read_ns.extend(killed().map(|reopened| reopened.first_read_ns));
        opened.first_write_ns.extend(killed().filter_map(|reopened| known(reopened.first_write_ns)));
        opened.closed_ns.push(recovery.closed.open_ns);
        opened.cold_killed_ns.extend(recovery.cold_killed.map(|reopened| reopened.open_ns));
        opened.cold_closed_ns.extend(recovery.cold_closed.map(|reopened| reopened.open_ns));
        opened.created_ns.extend(known(recovery.created_ns));
        opened.closing_ns.extend(killed().chain([&recovery.closed]).filter_map(|reopened| reopened.close_ns));
        opened.read_bytes.extend(killed().filter_map(|reopened| reopened.read_bytes));
        opened.memory_bytes.extend(killed().filter_map(|reopened| reopened.memory_bytes));
    }
}

fn row(records: u64, opened: &Opened) -> Vec<(&'static str, Cell)> {
    let ns = |values: &[u64], share: f64| Cell::or_none(quantile(values, share), |ns| Cell::real(ns as f64));
    vec![
        ("records", Cell::count(records)),
        ("kills", Cell::whole(opened.open_ns.len())),
        ("open_p50", ns(&opened.open_ns, 0.5)),
        ("open_most", ns(&opened.open_ns, 1.0)),
        ("first_read_p50", ns(&opened.first_read_ns, 0.5)),
        ("first_write_p50", ns(&opened.first_write_ns, 0.5)),
        ("closed_p50", ns(&opened.closed_ns, 0.5)),
        ("cold_killed_p50", ns(&opened.cold_killed_ns, 0.5)),
        ("cold_closed_p50", ns(&opened.cold_closed_ns, 0.5)),
        ("created_p50", ns(&opened.created_ns, 0.5)),
        ("closing_p50", ns(&opened.closing_ns, 0.5)),
        ("read_p50", ns(&opened.read_bytes, 0.5)),
        ("memory_p50", ns(&opened.memory_bytes, 0.5)),
    ]
}

/// From so many times on the times of opening are told to grow.
const TOLD_TO_GROW: f64 = 2.0;

/// A store whose recovery grows with its size, in a sentence; `None` where two sizes don't tell.
fn grown(name: &str, one: &OfStore) -> Option<String> {
    let median = |opened: &Opened| quantile(&opened.open_ns, 0.5);
    let (fewest, few) = one.sizes.first_key_value()?;
    let (most, many) = one.sizes.last_key_value()?;
    let (least, median) = (median(few)?, median(many)?);
    let all_longer = many.open_ns.iter().min()? > few.open_ns.iter().max()?;
    let times = median as f64 / least.max(1) as f64;
    (most > fewest && all_longer && times >= TOLD_TO_GROW).then(|| {
        format!(
            "{name}: each opening after a kill took longer with {} than with {}: {:.1} times as long in the median, with {:.0} times the records.",
            counted(*most, "record"),
            counted(*fewest, "record"),
            times,
            *most as f64 / *fewest as f64,
        )
    })
}
