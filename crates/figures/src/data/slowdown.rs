//! The cost of a background load: operations with it against the same without. An open loop that fell behind has no latency.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexSet;
use serde::Serialize;
use storebench_model::cell::{Axis, Background};

use super::matrix::{SortedTrials, competing_series, operations};
use super::merge::{BlockKey, Group, GroupKey, Merged};
use crate::column::MEAN_LATENCY;
use crate::layout::Position;
use crate::stats::{Ratio, Series, compare, geometric_mean};

/// The slow-downs of stores by one background load, compared with the same cells without it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Slowdowns {
    pub hardware: String,
    /// The values that distinguish the disturbed group from the others, including its background load.
    pub title: String,
    pub background: String,
    /// By store, in the order of appearance, then by operation.
    pub slowdowns: Vec<Slowdown>,
}

/// The slow-down of one store at one operation, over all cells measured both ways.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Slowdown {
    pub store: String,
    pub operation: String,
    #[serde(flatten)]
    pub found: LoadedLatencies,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LoadedLatencies {
    pub cells: usize,
    /// Geometric mean over the cells of the mean latency without the load, in nanoseconds.
    pub undisturbed_ns: f64,
    pub disturbed_ns: f64,
    /// The latency with it over that without, paired by block.
    pub ratio: Ratio,
}

/// The slow-downs by every load that the runs have together with undisturbed trials.
pub fn slowdowns(merged: &Merged<'_>) -> Vec<Slowdowns> {
    let disturbed = merged.groups.iter().filter(|group| background_of(&group.key) != NONE);
    disturbed.filter_map(|group| find_slowdowns(merged, group)).collect()
}

const NONE: &str = "none";

fn background_of(key: &GroupKey) -> &str {
    key.facet(Axis::BACKGROUND).unwrap_or(NONE)
}

fn key_without_load(key: &GroupKey) -> GroupKey {
    let mut key = key.clone();
    for (axis, value) in &mut key.facets {
        if *axis == Axis::BACKGROUND {
            *value = Background::None.to_string();
        }
    }
    key
}

fn find_slowdowns(merged: &Merged<'_>, group: &Group<'_>) -> Option<Slowdowns> {
    let undisturbed_key = key_without_load(&group.key);
    let undisturbed_group = merged.groups.iter().find(|candidate| candidate.key == undisturbed_key)?;
    let (loaded, unloaded) = (SortedTrials::new(merged, group), SortedTrials::new(merged, undisturbed_group));
    let stores: IndexSet<&str> =
        loaded.entries.values().flat_map(|stores| stores.keys().map(|store| &**store)).collect();
    let operations = operations(group);
    let mut slowdowns = Vec::new();
    for store in stores {
        for operation in &operations {
            if let Some(found) = compare_blocks(paired_latencies(&loaded, &unloaded, store, operation)) {
                let (store, operation) = (store.to_owned(), operation.clone());
                slowdowns.push(Slowdown { store, operation, found });
            }
        }
    }
    (!slowdowns.is_empty()).then(|| Slowdowns {
        hardware: group.key.hardware.clone(),
        title: merged.label(&group.key),
        background: background_of(&group.key).to_owned(),
        slowdowns,
    })
}

/// A cell's latencies with and without the load, by the blocks measured both ways.
type Pairs = BTreeMap<BlockKey, (f64, f64)>;

fn paired_latencies(
    loaded: &SortedTrials<'_, '_>,
    unloaded: &SortedTrials<'_, '_>,
    store: &str,
    operation: &str,
) -> Vec<Pairs> {
    let latencies = |sorted: &SortedTrials<'_, '_>, position: &Position| -> Series<BlockKey> {
        let entries = sorted.entries.get(position).and_then(|stores| stores.get(store));
        entries.map_or_else(Series::new, |entries| competing_series(entries, operation, &MEAN_LATENCY))
    };
    let pairs = |position: &Position| -> Pairs {
        let unloaded = latencies(unloaded, position);
        let loaded = latencies(loaded, position).into_iter();
        loaded
            .filter_map(|(block, loaded)| unloaded.get(&block).map(|unloaded| (block, (loaded, *unloaded))))
            .filter(|(_, (loaded, unloaded))| *loaded > 0.0 && *unloaded > 0.0)
            .collect()
    };
    loaded.entries.keys().map(pairs).filter(|pairs| !pairs.is_empty()).collect()
}

/// The mean over cells within each block, then the comparison of the blocks: cells of one block share its noise, so
/// an interval may count only blocks, not cells. Blocks can be compared only if they hold the same cells; a cell
/// that lacks a block of the others is excluded.
fn compare_blocks(cells: Vec<Pairs>) -> Option<LoadedLatencies> {
    let blocks: BTreeSet<BlockKey> = cells.iter().flat_map(|pairs| pairs.keys().copied()).collect();
    let (complete, incomplete): (Vec<Pairs>, Vec<Pairs>) =
        cells.into_iter().partition(|pairs| pairs.len() == blocks.len());
    if complete.is_empty() {
        return without_interval(&incomplete);
    }
    let mean = |block: &BlockKey, side: fn(&(f64, f64)) -> f64| {
        let values = complete.iter().filter_map(|pairs| pairs.get(block).map(side));
        mean_of(values).map(|mean| (*block, mean))
    };
    let loaded: Series<BlockKey> = blocks.iter().filter_map(|block| mean(block, |pair| pair.0)).collect();
    let unloaded: Series<BlockKey> = blocks.iter().filter_map(|block| mean(block, |pair| pair.1)).collect();
    Some(LoadedLatencies {
        cells: complete.len(),
        undisturbed_ns: mean_of(unloaded.values().copied())?,
        disturbed_ns: mean_of(loaded.values().copied())?,
        ratio: compare(&loaded, &unloaded)?,
    })
}

/// If no cell has every block: the means over all pairs, with equal weight for each cell, and no interval.
fn without_interval(cells: &[Pairs]) -> Option<LoadedLatencies> {
    let mean = |side: fn(&(f64, f64)) -> f64| {
        mean_of(cells.iter().filter_map(|pairs| mean_of(pairs.values().map(side))))
    };
    let (disturbed_ns, undisturbed_ns) = (mean(|pair| pair.0)?, mean(|pair| pair.1)?);
    let ratio = crate::stats::Estimate { value: disturbed_ns / undisturbed_ns, interval: None };
    let (cells, ratio) = (cells.len(), Ratio { blocks: 0, ratio });
    Some(LoadedLatencies { cells, undisturbed_ns, disturbed_ns, ratio })
}

fn mean_of(values: impl Iterator<Item = f64>) -> Option<f64> {
    geometric_mean(&values.collect::<Vec<_>>()).map(|mean| mean.value)
}

#[cfg(test)]
mod tests {
    use storebench_host::run::Run;
    use storebench_model::stores::NULL;
    use storebench_model::units::CountRange;
    use storebench_samples::{Sample, blocks};

    use super::*;

    fn only_slowdowns(runs: &[Run]) -> Slowdowns {
        let mut found = slowdowns(&Merged::new(runs, &[NULL]));
        assert_eq!(found.len(), 1);
        found.remove(0)
    }

    fn latencies_of(found: &Slowdowns, store: &str, operation: &str) -> LoadedLatencies {
        let mut slowdowns = found.slowdowns.iter();
        slowdowns.find(|slowdown| slowdown.store == store && slowdown.operation == operation).unwrap().found
    }

    /// A store without and with a load, which makes it `times` slower.
    fn pair(store: &str, records: u64, ns: f64, times: f64) -> [Sample; 2] {
        let sample = Sample::new(store).records(CountRange::starting_at(records));
        [sample.clone().ns(ns), sample.background(Background::Cpu(2)).ns(ns * times)]
    }

    #[test]
    fn the_ratio_is_over_cells_and_paired_by_block() {
        // Blocks differ tenfold and cells a hundredfold; the load makes one cell 2 and the other 8 times slower: 4 on average.
        let samples: Vec<Vec<Sample>> = [1.0, 10.0, 3.0]
            .map(|weather| {
                [pair("lmdb", 100, 1e3 * weather, 2.0), pair("lmdb", 1_000, 1e5 * weather, 8.0)].concat()
            })
            .into();
        let found = only_slowdowns(&[blocks("box", &samples)]);
        assert_eq!((found.background.as_str(), found.title.as_str()), ("cpu:2", "process, background cpu:2"));
        let insert = latencies_of(&found, "lmdb", "insert");
        assert_eq!((insert.cells, insert.ratio.blocks), (2, 3));
        assert!((insert.ratio.ratio.value - 4.0).abs() < 1e-3, "{insert:?}");
        let interval = insert.ratio.ratio.interval.unwrap();
        assert!(interval.contains(4.0) && interval.high - interval.low < 0.01, "{interval:?}");
        assert!((insert.disturbed_ns / insert.undisturbed_ns - 4.0).abs() < 1e-3);
    }

    #[test]
    fn only_cells_measured_both_ways_count() {
        let [without, with] = pair("lmdb", 100, 1e3, 2.0);
        let [unloaded, _] = pair("lmdb", 1_000, 9e9, 1.0);
        let [_, failed] = pair("lmdb", 10_000, 9e9, 1.0);
        let [redb, _] = pair("redb", 100, 1e3, 1.0);
        let block = vec![without, with, unloaded, failed.failed("the load ended"), redb];
        let found = only_slowdowns(&[blocks("box", &[block])]);
        assert!(found.slowdowns.iter().all(|slowdown| slowdown.store == "lmdb"), "{found:?}");
        let get = latencies_of(&found, "lmdb", "get");
        assert_eq!((get.cells, get.ratio.ratio.interval), (1, None));
        assert!((get.ratio.ratio.value - 2.0).abs() < 1e-3);
    }

    #[test]
    fn a_cell_that_lacks_a_block_does_not_shift_the_others() {
        let whole = |times| pair("lmdb", 100, 1e3, times);
        let [_, failed] = pair("lmdb", 1_000, 1e5, 1.0);
        let mut second: Vec<Sample> = [whole(2.0), pair("lmdb", 1_000, 1e5, 50.0)].concat();
        second[3] = failed.failed("broken");
        let samples = [[whole(2.0), pair("lmdb", 1_000, 1e5, 50.0)].concat(), second];
        let get = latencies_of(&only_slowdowns(&[blocks("box", &samples)]), "lmdb", "get");
        assert_eq!((get.cells, get.ratio.blocks), (1, 2));
        assert!((get.ratio.ratio.value - 2.0).abs() < 1e-3, "{get:?}");
        // If no cell has every block, there is a mean but no interval.
        let first = [whole(2.0).to_vec(), pair("lmdb", 1_000, 1e5, 50.0)[..1].to_vec()].concat();
        let second = [whole(2.0)[..1].to_vec(), pair("lmdb", 1_000, 1e5, 8.0).to_vec()].concat();
        let get = latencies_of(&only_slowdowns(&[blocks("box", &[first, second])]), "lmdb", "get");
        assert_eq!((get.cells, get.ratio.ratio.interval), (2, None));
        assert!((get.ratio.ratio.value - 4.0).abs() < 1e-3, "{get:?}");
    }

    #[test]
    fn without_an_undisturbed_twin_there_is_nothing_to_say() {
        let [without, with] = pair("lmdb", 100, 1e3, 2.0);
        let alone = [blocks("box", &[vec![with.clone()]])];
        let elsewhere = [blocks("box", &[vec![with, without.place("ssd")]])];
        for runs in [alone, elsewhere] {
            let merged = Merged::new(&runs, &[]);
            assert!(slowdowns(&merged).is_empty());
        }
    }
}
