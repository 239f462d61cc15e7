//! The weakest side of each store in a set's life: the property in which it is furthest behind the others.

use std::collections::BTreeMap;

use storebench_figures::column::Unit;
use storebench_figures::column::checks::{FILES_AFTER_RECLAIM, FILES_LEFT, LITTLE_DISK, SCAN_AGED};
use storebench_figures::data::contention;
use storebench_figures::data::matrix::SortedTrials;
use storebench_figures::data::merge::{BlockKey, Entry, Group, Merged, measured};
use storebench_figures::data::names::join_parts;
use storebench_figures::judge::Verdict;
use storebench_figures::judge::standing::{Terms, decide_on};
use storebench_figures::layout::words::position_among;
use storebench_figures::stats::{self, Better, Series};
use storebench_model::result::{Measurements, OVERALL, Recovery, Round};
use storebench_model::units::three_digits;

use super::store_rows::head_cells;
use crate::section::{Block, Cell, Column, FoldState, PagePosition, Section, Shape, Table, Visibility};

pub const SECTION: Section = Section {
    name: "weakest",
    title: "Weakest sides: what each store is furthest behind the others in",
    link: "Weakest sides",
    stands: PagePosition::First,
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
        Column::integer("stores"),
        Column::text("at"),
    ],
};

const LEGEND: &str = "\
Of all properties and positions the one in which the store is worse than the best, as trials tell, and its median over its trials is the \
most times the median of the other stores there, and at least 1.2 times. Beside other programs no times are compared. The properties: the \
mean time of all calls; the longest call; the times that creating and opening it take; operations per second in the first tenth over those in \
the last; the files while all is there, over the values; the files when nine tenths of the records are gone, and when the engine has \
reclaimed space, or could not, over those before; a scan of the aged set over one of the fresh set. Files below 1 MiB count as 1 MiB, and what is \
left of them counts where more than 1 MiB of values was removed. A longest call need not come again.";

/// A smaller factor does not count as behind.
const LEAST_TIMES: f64 = 1.2;

/// A property of which less is better: its name, its unit, its value, and a sentence's words before the value and after it.
struct Property(&'static str, Unit, fn(&Measurements) -> Option<f64>, (&'static str, &'static str));

const PAUSE: &str = "pause";

const PROPERTIES: [Property; 9] = [
    Property("latency", Unit::Nanoseconds, mean_latency, ("a call takes", "in the mean")),
    Property(PAUSE, Unit::Nanoseconds, longest_call, ("the longest call took", "")),
    Property("creation", Unit::Nanoseconds, |m| positive(recovery(m)?.created_ns), ("creating it takes", "")),
    Property(
        "opening",
        Unit::Nanoseconds,
        |m| positive(recovery(m)?.closed.open_ns),
        ("opening it takes", ""),
    ),
    Property(
        "slowing down",
        Unit::Count,
        slowing_down,
        ("it was", "times as fast in the first tenth as in the last"),
    ),
    Property("files", Unit::Share, files, ("the files take", "of the bytes of the values")),
    Property(
        "after removing",
        Unit::Share,
        |m| FILES_LEFT.trial_value(m).filter(|_| has_removed_much(m)),
        ("with nine tenths of the records removed the files take", "of what they took"),
    ),
    Property(
        "after space reclaim",
        Unit::Share,
        |m| after_reclaim(m).filter(|_| has_removed_much(m)),
        ("at last, with a tenth of the records, the files take", "of what they took"),
    ),
    Property(
        "scan",
        Unit::Count,
        |m| SCAN_AGED.trial_value(m),
        ("a scan of the aged set takes", "times as long as one of the fresh set"),
    ),
];

fn mean_latency(measured: &Measurements) -> Option<f64> {
    measured.operation(OVERALL)?.per_second().map(|rate| 1e9 / rate)
}

fn longest_call(measured: &Measurements) -> Option<f64> {
    Some(measured.operation(OVERALL)?.latency.max_ns as f64)
}

fn recovery(measured: &Measurements) -> Option<&Recovery> {
    measured.recovery_check.as_ref()?.sizes.last()
}

fn positive(ns: u64) -> Option<f64> {
    (ns > 0).then_some(ns as f64)
}

/// Files that take less than [`LITTLE_DISK`] count as that.
fn files(measured: &Measurements) -> Option<f64> {
    let share = measured.known_disk().and(measured.space_amplification())?;
    Some(share.max(LITTLE_DISK / measured.stored.value_bytes as f64))
}

/// Whether enough was removed that the files show more than an engine's logs and minimum sizes.
fn has_removed_much(measured: &Measurements) -> bool {
    let left_bytes = measured.space_reclaim.as_ref().map_or(0, |reclaim| reclaim.value_bytes);
    measured.stored.value_bytes.saturating_sub(left_bytes) as f64 > LITTLE_DISK
}

fn slowing_down(measured: &Measurements) -> Option<f64> {
    let [first, .., last] = measured.rounds.as_slice() else { return None };
    let rate = |round: &Round| round.operation(OVERALL)?.per_second();
    Some(rate(first)? / rate(last)?)
}

/// The final files: without a way to reclaim space, as they were left.
fn after_reclaim(measured: &Measurements) -> Option<f64> {
    FILES_AFTER_RECLAIM.trial_value(measured).or_else(|| FILES_LEFT.trial_value(measured))
}

fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    stats::median(&values.collect::<Vec<_>>()).map(|estimate| estimate.value)
}

struct Weakest {
    property: &'static Property,
    label: String,
    value: f64,
    times: f64,
    stores: usize,
    is_candidate: bool,
}

impl Weakest {
    fn sentence(&self, store: &str) -> String {
        let (prefix, suffix) = self.property.3;
        let value = self.property.1.show(self.value);
        let words = [prefix, value.as_str(), suffix].into_iter().filter(|words| !words.is_empty());
        let words = words.collect::<Vec<_>>().join(" ");
        let others = match self.stores - 1 {
            1 => "that of the only other store".to_owned(),
            others => format!("the median of the {others} others"),
        };
        let name = join_parts([store, &self.label]);
        let note = if self.is_candidate { ": a candidate, of too few trials" } else { "" };
        format!("{name}: {words}, {} times {others}{note}.", three_digits(self.times))
    }
}

fn blocks(merged: &Merged<'_>) -> Vec<Block> {
    let (mut table, mut parts) = (Table::new(&WEAKEST), Vec::new());
    for group in &merged.groups {
        let label = merged.label(&group.key);
        let title = join_parts([group.key.hardware.as_str(), &label]);
        let mut lines = Vec::new();
        for (store, weakest) in weakest_of_group(merged, group) {
            let name = merged.readable.name(&store);
            lines.push(Block::Note(weakest.sentence(&name)));
            let cells = [
                ("property", Cell::text(weakest.property.0)),
                ("value", Cell::real(weakest.value)),
                ("times_median", Cell::real(weakest.times)),
                ("stores", Cell::from_count(weakest.stores)),
                ("at", Cell::text(&weakest.label)),
            ];
            let head = head_cells(group, Cell::text(&label), Cell::text(&store));
            table.push(Visibility::InFiles, head.into_iter().chain(cells));
        }
        if !lines.is_empty() {
            parts.push(Block::fold(title, FoldState::Part(parts.len()), lines));
        }
    }
    if !parts.is_empty() {
        parts.extend([Block::Table(table), Block::Note(LEGEND.into())]);
    }
    parts
}

pub fn answer(merged: &Merged<'_>) -> Option<String> {
    let weakest_sides = merged.groups.iter().flat_map(|group| weakest_of_group(merged, group));
    let (store, most) = weakest_sides.max_by(|(_, a), (_, b)| a.times.total_cmp(&b.times))?;
    Some(format!("Furthest behind: {}", most.sentence(&merged.readable.name(&store))))
}

/// A property of a store by block: only a set's life has all of them.
fn series(property: &Property, entries: &[Entry<'_>]) -> Series<BlockKey> {
    let trials = measured(entries).into_iter().filter(|(_, measured)| measured.space_reclaim.is_some());
    trials.filter_map(|(block, measured)| Some((block, (property.2)(measured)?))).collect()
}

fn weakest_of_group(merged: &Merged<'_>, group: &Group<'_>) -> BTreeMap<String, Weakest> {
    let mut by_store: BTreeMap<String, Weakest> = BTreeMap::new();
    let sorted = SortedTrials::new(merged, group);
    let positions: Vec<_> = sorted.entries.keys().collect();
    let headers: Vec<_> = merged.runs.iter().map(|run| &run.header).collect();
    for (position, tested) in &sorted.entries {
        let contention = contention::find_contention(&headers, tested.values().flatten());
        for property in &PROPERTIES {
            let figures = tested.iter().map(|(store, entries)| (store, series(property, entries)));
            let (stores, figures): (Vec<_>, Vec<_>) = figures.filter(|(_, s)| !s.is_empty()).unzip();
            let medians: Vec<f64> =
                figures.iter().filter_map(|values| median(values.values().copied())).collect();
            let terms = Terms::default().during(contention, property.1 != Unit::Share);
            for standing in decide_on(&figures, Better::Lower, terms) {
                let (index, is_candidate) =
                    (standing.index, matches!(standing.verdict, Verdict::Candidate(_)));
                let others = medians.iter().enumerate().filter(|(other, _)| *other != index);
                let median_of_others = median(others.map(|(_, median)| *median));
                let Some(others) = median_of_others.filter(|median| *median > 0.0) else { continue };
                let times = medians[index] / others;
                let is_weaker = by_store.get(&**stores[index]).is_none_or(|weakest| times > weakest.times);
                let is_clear = is_candidate || matches!(standing.verdict, Verdict::Worse(_));
                if times >= LEAST_TIMES && is_weaker && is_clear {
                    let label = position_among(position, &positions);
                    // The longest call is the longest of all trials, as everywhere.
                    let longest = figures[index].values().copied().reduce(f64::max);
                    let value = longest.filter(|_| property.0 == PAUSE).unwrap_or(medians[index]);
                    let (name, stores) = (stores[index].to_string(), stores.len());
                    by_store.insert(name, Weakest { property, label, value, times, stores, is_candidate });
                }
            }
        }
    }
    by_store
}
