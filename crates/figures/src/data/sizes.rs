//! Data against memory: how a store's throughput and latency change as its data outgrow memory, where they
//! fall, and how much. Servers and libraries appear together: each is compared with itself.

pub mod words;

use std::collections::BTreeMap;

use indexmap::{IndexMap, IndexSet};
use serde::Serialize;
use storebench_model::axis::shop::DataSize;
use storebench_model::cell::Axis;
use storebench_model::result::{LimitKind, OVERALL};

use super::matrix::{ByPosition, SortedTrials, competing_series, judging_terms, operations, ranked_stores};
use super::merge::{BlockKey, Entry, GroupKey, Merged};
use super::names::join_parts;
use crate::column::{Column, MEAN_LATENCY, P99, THROUGHPUT};
use crate::judge::standing::{Terms, decide_on};
use crate::layout::Position;
use crate::stats::cliff::{self, Cliff};
use crate::stats::{Better, Ratio, Resolution, Series, Summary, compare};

/// Sizes are distinguished by thousandths of the memory.
const SCALE: f64 = 1000.0;

/// The stores of one machine, one guarantee, one number of threads, with growing data.
#[derive(Debug, Serialize)]
pub struct Sizes {
    pub hardware: String,
    /// The common values of its trials: machine, guarantee, threads.
    pub title: String,
    /// Its groups, by their positions among the merged ones.
    #[serde(skip)]
    pub groups: Vec<usize>,
    /// Their position in matrices, without the size.
    #[serde(skip)]
    pub rest: Position,
    /// The smallest size, if it is no more than the memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inside: Option<f64>,
    /// The largest size, if it is more than the memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outside: Option<f64>,
    /// All operations together, then each.
    pub operations: Vec<StoreFalls>,
}

/// The falls of stores in one operation: the stores that do not fall, then the last to fall first, then the unknown ones.
#[derive(Debug, Serialize)]
pub struct StoreFalls {
    pub operation: String,
    pub stores: Vec<Fall>,
}

#[derive(Debug, Serialize)]
pub struct Fall {
    /// Its name, with ranked settings.
    pub store: String,
    pub sizes: Vec<AtSize>,
    /// The sizes between which throughput falls, as multiples of the memory.
    pub cliff: Cliff,
    /// Throughput with the largest data over that with the smallest, paired by block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<Ratio>,
    /// Whether it is the last to fall, or tied with the last.
    pub falls_last: bool,
    /// Whether it keeps the most of its throughput, or is tied with the one that does.
    pub falls_least: bool,
}

#[derive(Debug, Serialize)]
pub struct AtSize {
    pub times: f64,
    pub per_second: Summary,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_ns: Option<Summary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_ns: Option<Summary>,
}

impl Fall {
    /// Where it falls, on a scale; `None` if it does not, or that is unknown.
    fn falling_point(&self) -> Option<f64> {
        match self.cliff {
            Cliff::At { low, high } => Some((low * high).sqrt()),
            Cliff::None | Cliff::Unknown => None,
        }
    }

    fn order(&self) -> (u8, f64) {
        match (self.cliff, self.falling_point()) {
            (Cliff::None, _) => (0, 0.0),
            (_, Some(point)) => (1, -point),
            (_, None) => (2, 0.0),
        }
    }
}

impl Sizes {
    /// The machine, and the common values of its trials.
    pub fn name(&self) -> String {
        join_parts([self.hardware.as_str(), &self.title])
    }

    /// All operations together, or the only one.
    pub fn headline(&self) -> Option<&StoreFalls> {
        self.operations.first()
    }
}

/// The size of a trial's data over its memory; `None` for other work, or without a limit of memory.
pub fn times(entry: &Entry<'_>) -> Option<f64> {
    match entry.trial.cell.text(Axis::DATA_SIZE).parse().ok()? {
        DataSize::Times(times) => Some(times),
        DataSize::Bytes(bytes) => {
            let limits = &entry.trial.machine.as_ref()?.limits;
            let memory = limits.iter().find(|limit| limit.limit == LimitKind::Memory)?.in_force?;
            Some((bytes as f64 / memory as f64 * SCALE).round() / SCALE).filter(|times| *times > 0.0)
        }
    }
}

/// Trials that differ only in data size and store: by store and by thousandths of the memory.
#[derive(Default)]
struct SizeTrials<'a> {
    groups: Vec<usize>,
    operations: IndexSet<String>,
    stores: IndexMap<String, BTreeMap<u64, Vec<Entry<'a>>>>,
}

/// Whether a store ran with several data sizes relative to memory.
pub fn has_several_sizes(merged: &Merged<'_>) -> bool {
    let mut first_sizes: BTreeMap<&str, u64> = BTreeMap::new();
    let entries = merged.groups.iter().flat_map(|group| &group.trials);
    let is_measured =
        |entry: &&Entry<'_>| entry.trial.ok().is_some() && !merged.is_harness(entry.trial.cell.store());
    entries.filter(is_measured).any(|entry| {
        let parts = times(entry).map(|times| (times * SCALE).round() as u64);
        parts.is_some_and(|parts| *first_sizes.entry(entry.trial.cell.store()).or_insert(parts) != parts)
    })
}

pub fn sizes(merged: &Merged<'_>) -> Vec<Sizes> {
    if !has_several_sizes(merged) {
        return Vec::new();
    }
    let mut by_key: IndexMap<(GroupKey, Position), SizeTrials<'_>> = IndexMap::new();
    for (index, group) in merged.groups.iter().enumerate() {
        let sorted: ByPosition<'_> = SortedTrials::new(merged, group).entries;
        for (position, contestants) in &sorted {
            if position.value(Axis::DATA_SIZE).is_none() {
                continue;
            }
            let rest = position.without_axis(Axis::DATA_SIZE);
            for (store, entries) in ranked_stores(contestants) {
                let is_harness = entries.iter().any(|entry| merged.is_harness(entry.trial.cell.store()));
                let Some(times) = entries.iter().find_map(times).filter(|_| !is_harness) else { continue };
                let size_trials = by_key.entry((group.key.without_server_words(), rest.clone())).or_default();
                if !size_trials.groups.contains(&index) {
                    size_trials.groups.push(index);
                    size_trials.operations.extend(operations(group));
                }
                let sizes = size_trials.stores.entry(store.into_owned()).or_default();
                sizes.entry((times * SCALE).round() as u64).or_default().extend(entries);
            }
        }
    }
    let has_several = |size_trials: &SizeTrials<'_>| size_trials.stores.values().any(|sizes| sizes.len() > 1);
    let varied = by_key.into_iter().filter(|(_, size_trials)| has_several(size_trials));
    let tables = varied.map(|((key, rest), size_trials)| build_sizes(merged, (key, rest), size_trials));
    // If all failed, there is nothing to report.
    tables.filter(|sizes| sizes.operations.iter().any(|falls| !falls.stores.is_empty())).collect()
}

fn build_sizes(
    merged: &Merged<'_>,
    (key, rest): (GroupKey, Position),
    mut size_trials: SizeTrials<'_>,
) -> Sizes {
    let measured_sizes = || size_trials.stores.values().flat_map(BTreeMap::keys);
    let times = |parts: &u64| *parts as f64 / SCALE;
    let inside = measured_sizes().min().map(times).filter(|least| *least <= 1.0);
    let outside = measured_sizes().max().map(times).filter(|most| *most > 1.0);
    // All together come first.
    size_trials.operations.sort_by_key(|name| name != OVERALL);
    let operation_falls = |name: &String| StoreFalls {
        operation: name.clone(),
        stores: find_falls(merged, &size_trials.stores, name, (inside, outside)),
    };
    let other_values = rest.values().filter(|(axis, value)| axis.default_value() != Some(value.text()));
    let words: Vec<String> = other_values.map(|(axis, value)| (axis.def().words)(value)).collect();
    let title = join_parts([merged.label(&key).as_str(), &words.join(", ")]);
    Sizes {
        operations: size_trials.operations.iter().map(operation_falls).collect(),
        hardware: key.hardware,
        title,
        groups: size_trials.groups,
        rest,
        inside,
        outside,
    }
}

fn find_falls(
    merged: &Merged<'_>,
    stores: &IndexMap<String, BTreeMap<u64, Vec<Entry<'_>>>>,
    name: &str,
    (inside, outside): (Option<f64>, Option<f64>),
) -> Vec<Fall> {
    let mut falls = Vec::new();
    let mut kept_shares: Vec<Series<BlockKey>> = Vec::new();
    for (store, sizes) in stores {
        let series = |(parts, entries): (&u64, &Vec<Entry<'_>>)| {
            (*parts as f64 / SCALE, competing_series(entries, name, &THROUGHPUT))
        };
        let mut curve: Vec<(f64, Series<BlockKey>)> = sizes.iter().map(series).collect();
        curve.retain(|(_, series)| !series.is_empty());
        if curve.is_empty() {
            continue;
        }
        let series_at =
            |times: Option<f64>| curve.iter().find(|(key, _)| Some(*key) == times).map(|(_, series)| series);
        let ends = series_at(outside).zip(series_at(inside));
        kept_shares.push(ends.map(|(outside, inside)| quotients(outside, inside)).unwrap_or_default());
        let at_size = |(times, series): &(f64, Series<BlockKey>)| {
            let entries = sizes.get(&((times * SCALE).round() as u64))?;
            let summarise = |column: &Column| Summary::from_series(&competing_series(entries, name, column));
            Some(AtSize {
                times: *times,
                per_second: Summary::from_series(series)?,
                latency_ns: summarise(&MEAN_LATENCY),
                p99_ns: summarise(&P99),
            })
        };
        falls.push(Fall {
            store: store.clone(),
            sizes: curve.iter().filter_map(at_size).collect(),
            cliff: cliff::find(&curve),
            kept: ends.and_then(|(outside, inside)| compare(outside, inside)),
            falls_last: false,
            falls_least: false,
        });
    }
    let entries = stores.values().flat_map(BTreeMap::values).flatten();
    let headers: Vec<_> = merged.runs.iter().map(|run| &run.header).collect();
    // Both are rates of long work: the clock does not matter.
    let terms =
        Terms { resolution: Resolution::default(), ..judging_terms(&headers, entries, name, &THROUGHPUT) };
    let standings = decide_on(&kept_shares, Better::Higher, terms);
    if standings.len() > 1 {
        standings.iter().for_each(|standing| falls[standing.index].falls_least = standing.verdict.wins());
    }
    mark_last(&mut falls);
    falls.sort_by(|a, b| {
        let (a, b) = (a.order(), b.order());
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
    });
    falls
}

fn quotients(numerator: &Series<BlockKey>, denominator: &Series<BlockKey>) -> Series<BlockKey> {
    let pair = |(block, value): (&BlockKey, &f64)| {
        let denominator = denominator.get(block).filter(|denominator| **denominator > 0.0)?;
        Some((*block, value / denominator))
    };
    numerator.iter().filter_map(pair).collect()
}

/// Marks what falls last: the latest, and whatever may fall as late.
fn mark_last(falls: &mut [Fall]) {
    let latest = falls.iter().filter_map(|fall| Some((fall.falling_point()?, fall.cliff)));
    let Some((_, Cliff::At { low: latest, .. })) = latest.max_by(|a, b| a.0.total_cmp(&b.0)) else { return };
    let has_several = falls.len() > 1;
    for fall in falls {
        fall.falls_last = has_several && matches!(fall.cliff, Cliff::At { high, .. } if high > latest);
    }
}

#[cfg(test)]
mod tests {
    use storebench_model::result::LimitReport;
    use storebench_samples::{Sample, blocks, machine, outgrown};

    use super::*;

    #[test]
    fn stores_are_told_by_where_they_fall_and_how_much() {
        let runs = [outgrown()];
        let [all] = sizes(&Merged::new(&runs, &[])).try_into().unwrap();
        assert_eq!(all.name(), "box, process, incompressible, 1B..1KiB, 100 records");
        assert_eq!((all.inside, all.outside), (Some(0.25), Some(4.0)));
        let falls = all.headline().unwrap();
        assert_eq!(falls.operation, "insert");
        let names: Vec<&str> = falls.stores.iter().map(|fall| fall.store.as_str()).collect();
        assert_eq!(names, ["sqlite", "redb", "lmdb"]);
        let [sqlite, redb, lmdb] = falls.stores.as_slice() else { panic!() };
        assert_eq!(sqlite.cliff, Cliff::None);
        for (fall, low, high, kept) in [(redb, 1.5, 2.0, 0.5), (lmdb, 0.75, 1.0, 0.1)] {
            assert_eq!(fall.cliff, Cliff::At { low, high });
            assert!((fall.kept.unwrap().ratio.value / kept - 1.0).abs() < 0.05, "{fall:?}");
        }
        assert_eq!([sqlite, redb, lmdb].map(|fall| fall.falls_last), [false, true, false]);
        assert_eq!([sqlite, redb, lmdb].map(|fall| fall.falls_least), [true, false, false]);
        let per_second: Vec<f64> = lmdb.sizes.iter().map(|size| size.per_second.mean.value).collect();
        assert!(per_second.len() == 7 && per_second[6] < per_second[0] / 9.0, "{per_second:?}");
    }

    #[test]
    fn absolute_sizes_take_the_limit_that_was_in_force() {
        let sample = |text: &str| Sample::new("lmdb").data_size(text);
        let block = || vec![sample("32MiB"), sample("96MiB")];
        let mut run = blocks("box", &[block(), block()]);
        let runs = [run.clone()];
        assert!(sizes(&Merged::new(&runs, &[])).is_empty(), "there is no limit");
        let limit = LimitReport {
            limit: LimitKind::Memory,
            asked: 64 << 20,
            in_force: Some(64 << 20),
            by: Some("cgroup v2".into()),
            remark: None,
        };
        for trial in &mut run.trials {
            trial.machine = Some(machine(vec![limit.clone()]));
        }
        let runs = [run];
        let [all] = sizes(&Merged::new(&runs, &[])).try_into().unwrap();
        assert_eq!((all.inside, all.outside), (Some(0.5), Some(1.5)));
        let fall = &all.headline().unwrap().stores[0];
        assert_eq!((fall.cliff, fall.falls_last, fall.falls_least), (Cliff::Unknown, false, false));
    }

    #[test]
    fn one_size_and_other_work_have_no_such_section() {
        for sample in [Sample::new("lmdb").data_size("1x"), Sample::new("lmdb")] {
            assert!(sizes(&Merged::new(&[blocks("box", &[vec![sample]])], &[])).is_empty());
        }
    }
}
