//! Times on other disks, estimated from the trials' requests to a simulated one.

use std::collections::BTreeMap;

use indexmap::IndexSet;
use storebench_figures::column::Unit;
use storebench_figures::data::merge::{Entry, Merged};
use storebench_figures::data::names::join_parts;
use storebench_figures::data::requests::{Part, PartRequests, requests_by_part};
use storebench_model::units::rough_ns;

use super::store_rows::{group_positions, head_cells};
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

/// The largest relative error of the estimate for the recorded disk.
const MOST_OFF: f64 = 0.2;

/// The time of an operation, or of another part of a trial, over all trials of a cell.
#[derive(Debug, Clone, PartialEq)]
struct PartTime {
    part: Part,
    times: u64,
    /// The disk of the trials, and the time there, in nanoseconds from the beginning to the end.
    recorded_on: String,
    recorded_ns: f64,
    /// The time on other disks, by name.
    on_ns: BTreeMap<String, f64>,
    /// The estimate for the disk that the trials were on over the time there.
    own_ratio: f64,
    /// The share of the time there that its requests took in sequence.
    disk_share: f64,
}

/// The time between two ticks of the kernel's clock, as distributions build it (CONFIG_HZ=250), in nanoseconds. A file's modification time
/// changes only with a tick: a quicker operation requests less, if a commit of a new time is all that there is to write.
const TICK_NS: f64 = 4e6;

/// The share of the time that requests must take for the disk to decide.
const LEAST_SHARE: f64 = 0.5;

impl PartTime {
    /// Whether the disk decides, and not the machine.
    fn is_of_disk(&self) -> bool {
        self.disk_share >= LEAST_SHARE
    }

    /// Whether the time on a disk is known: the estimate for the recorded disk is near, and the kernel's clock would tick no less often.
    fn is_known(&self, on_ns: f64) -> bool {
        let calls = if matches!(self.part, Part::Operation { puts_back: true, .. }) { 2.0 } else { 1.0 };
        let takes_a_tick = |ns: f64| ns / calls >= TICK_NS;
        (self.own_ratio - 1.0).abs() <= MOST_OFF && (takes_a_tick(on_ns) || !takes_a_tick(self.recorded_ns))
    }
}

/// The estimates of a cell's trials, part by part; empty if none were asked for.
fn estimated(entries: &[Entry<'_>]) -> Vec<PartTime> {
    let disk = entries.iter().find_map(|entry| entry.trial.disk.as_ref());
    let Some(recorded_on) = disk.map(|disk| disk.name.clone()) else { return Vec::new() };
    let estimate = |part_requests: PartRequests| {
        let clocks = part_requests.requests.clocks.as_ref()?;
        let mut on_ns: BTreeMap<String, f64> =
            clocks.on_ns.iter().map(|(name, ns)| (name.clone(), part_requests.per_operation(*ns))).collect();
        let recorded_ns = part_requests.per_operation(clocks.here_ns);
        let own_ratio = on_ns.remove(&recorded_on)? / recorded_ns;
        let disk_share = part_requests.per_operation(part_requests.requests.modelled_ns) / recorded_ns;
        let (part, times, recorded_on) = (part_requests.part, part_requests.times, recorded_on.clone());
        Some(PartTime { part, times, recorded_on, recorded_ns, on_ns, own_ratio, disk_share })
    };
    let parts = requests_by_part(entries).into_iter().filter(|part| part.part != Part::Rest);
    parts.filter_map(estimate).collect()
}

fn blocks(merged: &Merged<'_>) -> Vec<Block> {
    let mut folds = Vec::new();
    for (group, label, stores) in group_positions(merged) {
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
                    let head = head_cells(group, Cell::text(&label), store);
                    let trials = ("trials", Cell::from_count(*trials));
                    table.push(Visibility::Always, head.into_iter().chain([trials]).chain(row(part, disk)));
                }
            }
        }
        let title = join_parts([group.key.hardware.as_str(), &label]);
        folds.push(Block::fold(title, FoldState::Part(folds.len()), vec![Block::Table(table)]));
    }
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
