//! Times on other disks, estimated from the trials' requests to a simulated one.

use std::collections::BTreeMap;

use indexmap::IndexSet;
use storebench_figures::column::Unit;
use storebench_figures::data::estimates::{LEAST_SHARE, MOST_OFF, PartTime, TICK_NS, estimated};
use storebench_figures::data::matrix::SortedTrials;
use storebench_figures::data::merge::{Group, Merged};
use storebench_figures::data::names::join_parts;
use storebench_figures::layout::words::position_in_full;
use storebench_model::units::rough_ns;

use super::store_rows::head;
use crate::section::{Block, Cell, Column, ColumnRole, FoldState, Section, Shape, Table, Tone, Visibility};

pub const SECTION: Section = Section {
    name: "estimates",
    title: "Estimated on other disks: the time of an operation, not measured there",
    link: "Estimates",
    shapes: &[&ESTIMATES],
    blocks,
    ..Section::ABOVE
};

const ESTIMATES: Shape = Shape {
    name: "disk_estimates",
    columns: &[
        Column::text("hardware"),
        Column::text("title"),
        Column::text("store").role(ColumnRole::Group, ""),
        Column::text("part").role(ColumnRole::Line, ""),
        Column::integer("trials"),
        Column::integer("times"),
        Column::text("recorded_on"),
        Column::real("recorded", Unit::Nanoseconds).role(ColumnRole::Line, "measured"),
        Column::text("disk").role(ColumnRole::Across, ""),
        // Empty if the estimate for the recorded disk is too far from its measurement.
        Column::real("estimated", Unit::Nanoseconds).role(ColumnRole::Spread, ""),
        // For the recorded disk: the estimate over the measurement.
        Column::real("own_ratio", Unit::Count),
        Column::real("disk_share", Unit::Count),
    ],
};

fn blocks(merged: &Merged<'_>) -> Vec<Block> {
    let mut folds = Vec::new();
    merged.groups.iter().for_each(|group| group_estimates(merged, group, &mut folds));
    if folds.is_empty() {
        return Vec::new();
    }
    folds.push(Block::Note(format!(
        "What the trials asked of their simulated disk is repeated on models of the others, without waiting: each request comes as \
         long after the reply before it as it did in the trial. Times are of an operation with all that the trial does for it. \
         measured: on the disk of the trial. not its disk: requests took less than {:.0} % of the time there, so that the machine decides. \
         not known: on that disk the estimate is off by more than {:.0} %, or the operation would take less than a tick of the kernel's clock \
         ({:.0} ms) where it took more in the trial: files have fewer new times to commit then. Estimates don't know what else a store, its threads or the kernel would ask of a disk that is faster or slower: \
         how many requests would overlap, what would be read ahead, what would be written back by the clock.",
        LEAST_SHARE * 100.0,
        MOST_OFF * 100.0,
        TICK_NS / 1e6
    )));
    folds
}

fn group_estimates(merged: &Merged<'_>, group: &Group<'_>, folds: &mut Vec<Block>) {
    let sorted = SortedTrials::new(merged, group);
    for (position, stores) in &sorted.entries {
        let label = join_parts([merged.label(&group.key).as_str(), &position_in_full(position)]);
        let all = stores.iter().map(|(store, entries)| (store, entries.len(), estimated(entries)));
        let estimated_stores: Vec<_> = all.filter(|(.., estimates)| !estimates.is_empty()).collect();
        if estimated_stores.is_empty() {
            continue;
        }
        let disks = disks_by_time(estimated_stores.iter().flat_map(|(.., estimates)| estimates));
        let mut table =
            Table::new(&ESTIMATES).with_columns(disks.iter().map(|name| (*name).to_owned()).collect());
        for (store, trials, estimates) in &estimated_stores {
            for part in estimates {
                for disk in &disks {
                    let store = Cell::store(store, merged.readable.name(store));
                    let head = head(group, Cell::text(&label), store);
                    let trials = ("trials", Cell::from_count(*trials));
                    table.push(Visibility::Always, head.into_iter().chain([trials]).chain(row(part, disk)));
                }
            }
        }
        let title = join_parts([group.key.hardware.as_str(), &label]);
        folds.push(Block::fold(title, FoldState::Part(folds.len()), vec![Block::Table(table)]));
    }
}

/// The estimated disks, the fastest first.
fn disks_by_time<'e>(parts: impl Iterator<Item = &'e PartTime>) -> Vec<&'e str> {
    let mut times: BTreeMap<&str, f64> = BTreeMap::new();
    let mut disks: IndexSet<&str> = IndexSet::new();
    for part in parts.filter(|part| part.is_of_disk()) {
        for (name, ns) in &part.on_ns {
            disks.insert(name);
            *times.entry(name).or_default() += ns.max(1.0).ln();
        }
    }
    let mut disks: Vec<&str> = disks.into_iter().collect();
    disks.sort_by(|a, b| times[a].total_cmp(&times[b]));
    disks
}

fn row(part: &PartTime, disk: &str) -> [(&'static str, Cell); 8] {
    let estimate = match part.on_ns.get(disk) {
        _ if !part.is_of_disk() => Cell::none().with_text("not its disk").tone(Tone::Dim),
        Some(ns) if !part.is_known(*ns) => Cell::none().with_text("not known").tone(Tone::Dim),
        ns => Cell::or_none(ns.copied(), Cell::real),
    };
    [
        ("part", Cell::text(part.part.id()).with_text(part.part.name())),
        ("times", Cell::count(part.times)),
        ("recorded_on", Cell::text(&part.recorded_on)),
        ("recorded", Cell::real(part.recorded_ns).with_text(rough_ns(part.recorded_ns))),
        ("disk", Cell::text(disk)),
        ("estimated", estimate),
        ("own_ratio", Cell::real(part.own_ratio)),
        ("disk_share", Cell::real(part.disk_share)),
    ]
}
