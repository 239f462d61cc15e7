//! The figures that claims are checked against, and their averages.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;
use storebench_model::axis::file_system::FileSystem;
use storebench_model::axis::table::HERE;
use storebench_model::cell::{Axis, GuaranteeChoice};
use storebench_model::store::Guarantee;

use crate::judge::standing::{FewBlocksRule, Terms};
use crate::layout::Position;
use crate::stats::{CONFIDENCE, Scatter, Series};

/// The scope of comparable figures: everything that they share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    pub hardware: String,
    /// The guarantee asked for, and the tier given; `None` if a claim compares guarantees, and without guarantees.
    pub guarantee: Option<(GuaranteeChoice, Option<Guarantee>)>,
    /// The axes outside a matrix, except one whose values a claim compares.
    pub facets: Vec<(Axis, String)>,
    /// How the method of its runs differs from that of the other runs; empty if it doesn't.
    pub method: String,
}

impl Scope {
    /// The value on an axis outside a matrix.
    pub fn value(&self, axis: Axis) -> Option<String> {
        match axis {
            guarantee if guarantee == Axis::GUARANTEE => self.guarantee.map(|(asked, _)| asked.to_string()),
            _ => self.facets.iter().find(|(facet, _)| *facet == axis).map(|(_, value)| value.clone()),
        }
    }

    /// Whether it has a value on an axis. A file system in a named directory has both names, and a simulated disk
    /// has each part of its name: `hdd-7200` is an `hdd`.
    pub fn is_at(&self, axis: Axis, wanted: &str) -> bool {
        let value = self.value(axis);
        value.is_some_and(|value| match axis {
            place if place == Axis::PLACE => {
                let disk = self.value(Axis::DISK).filter(|disk| disk != HERE);
                FileSystem::names_of(&value).iter().any(|name| name == wanted)
                    || disk.is_some_and(|disk| disk.split('-').any(|part| part == wanted))
            }
            _ => value == wanted,
        })
    }

    /// The same without an axis. Of a file system in a named directory the file system stays; the disk is part of the place.
    pub fn without_axis(&self, axis: Axis) -> Scope {
        let facets = self.facets.iter().filter(|(facet, _)| axis != Axis::PLACE || *facet != Axis::DISK);
        let facets = facets.filter_map(|(facet, value)| Some((*facet, value_without(*facet, value, axis)?)));
        let guarantee = self.guarantee.filter(|_| axis != Axis::GUARANTEE);
        Scope { guarantee, facets: facets.collect(), ..self.clone() }
    }
}

/// The rest of a facet's value without an axis.
fn value_without(facet: Axis, value: &str, removed: Axis) -> Option<String> {
    if facet != removed {
        return Some(value.to_owned());
    }
    FileSystem::names_of(value).into_iter().nth(1).filter(|_| facet == Axis::PLACE)
}

/// A figure by position and store, including positions without a figure.
pub type Cells<K> = BTreeMap<Position, IndexMap<String, Series<K>>>;

/// One figure of everything comparable: one machine, one guarantee, one location of files, one load and so on.
#[derive(Debug, Clone)]
pub struct Pool<K> {
    pub scope: Scope,
    pub stores: Vec<String>,
    /// The terms of comparisons: the interim analyses that its runs planned, and the clock's resolution.
    pub terms: Terms,
    /// Stores that are unavailable on this machine or in this program, with reasons: none of their combinations could run.
    pub cannot: Vec<(String, String)>,
    /// Stores that fell behind a rate somewhere, and how far: they have no figure there.
    pub behind: Vec<(String, String)>,
    pub cells: Cells<K>,
}

/// The strictest terms of several pools. Few trials are judged by the scatter of trials of the same cells.
pub(super) fn strictest_terms<K: Ord>(pools: &[&Pool<K>]) -> Terms {
    let pool_terms = || pools.iter().map(|pool| pool.terms);
    let resolution = pool_terms().map(|terms| terms.resolution);
    let cells = pools.iter().flat_map(|pool| pool.cells.values()).flat_map(IndexMap::values);
    Terms {
        confidence: pool_terms().map(|terms| terms.confidence).fold(CONFIDENCE, f64::max),
        resolution: resolution.max_by(|a, b| a.fixed_ns.total_cmp(&b.fixed_ns)).unwrap_or_default(),
        few: FewBlocksRule::Scatter(Scatter::from_cells(cells)),
        crowded: pool_terms().any(|terms| terms.crowded),
    }
}

/// Averages over comparisons of columns of figures, such as one for each store.
pub(super) struct AveragedColumns<C, K> {
    pub series: BTreeMap<C, Series<K>>,
    pub positions: Vec<Position>,
    /// Missing columns of other comparisons, which were excluded for all columns.
    pub missing: Vec<(Position, C)>,
}

/// The arithmetic mean over comparisons, block by block. Columns without any figure are left out; for the others only
/// comparisons and blocks with all of them count.
pub(super) fn average<C: Ord + Clone, K: Ord + Copy>(
    places: &BTreeMap<Position, BTreeMap<C, &Series<K>>>,
) -> AveragedColumns<C, K> {
    let columns: BTreeSet<&C> = places.values().flat_map(|place| place.keys()).collect();
    let (complete, incomplete): (Vec<_>, Vec<_>) =
        places.iter().partition(|(_, place)| columns.iter().all(|column| place.contains_key(*column)));
    let missing_columns = |(position, place): &(&Position, &BTreeMap<C, &Series<K>>)| {
        let missing = columns.iter().filter(|column| !place.contains_key(**column));
        missing.map(|column| ((*position).clone(), (*column).clone())).collect::<Vec<_>>()
    };
    let all_series = || complete.iter().flat_map(|(_, place)| place.values());
    let is_shared = |block: &&K| all_series().all(|series| series.contains_key(*block));
    let blocks: Vec<K> =
        all_series().next().into_iter().flat_map(|series| series.keys()).filter(is_shared).copied().collect();
    let mean = |column: &C, block: &K| {
        let values = complete.iter().filter_map(|(_, place)| place.get(column)?.get(block));
        values.sum::<f64>() / complete.len() as f64
    };
    let series = |column: &C| blocks.iter().map(|block| (*block, mean(column, block))).collect();
    let filled = columns.iter().filter(|_| !blocks.is_empty());
    AveragedColumns {
        series: filled.map(|column| ((*column).clone(), series(column))).collect(),
        positions: complete.into_iter().map(|(position, _)| position.clone()).collect(),
        missing: incomplete.iter().flat_map(missing_columns).collect(),
    }
}

#[cfg(test)]
mod tests {
    use storebench_model::units::CountRange;

    use super::*;

    fn position(records: u64) -> Position {
        Position::from_values([(Axis::RECORDS, CountRange::starting_at(records).into())])
    }

    #[test]
    fn only_whole_places_and_blocks_are_averaged() {
        let series = |values: &[(u32, f64)]| values.iter().copied().collect::<Series<u32>>();
        let (a, b) = (series(&[(0, 1.0), (1, 2.0), (2, 3.0)]), series(&[(0, 10.0), (1, 20.0)]));
        let (c, d) = (series(&[(0, 3.0), (1, 4.0), (2, 5.0)]), series(&[(0, 30.0), (1, 40.0), (2, 50.0)]));
        let places = [
            (position(100), [("x", &a), ("y", &b)].into()),
            (position(1000), [("x", &c), ("y", &d)].into()),
            (position(10_000), [("x", &a)].into()),
        ];
        let averages = average(&places.into());
        assert_eq!(averages.positions, [position(100), position(1000)]);
        assert_eq!(averages.missing, vec![(position(10_000), "y")]);
        assert_eq!(averages.series["x"], series(&[(0, 2.0), (1, 3.0)]));
        assert_eq!(averages.series["y"], series(&[(0, 20.0), (1, 30.0)]));
        assert!(average::<&str, u32>(&BTreeMap::new()).series.is_empty());
    }
}
