//! Maps of file systems by cluster size: how locations compare in every figure of a store, whether a plan ranks them or not.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::{IndexMap, IndexSet};
use storebench_model::axis::Role;
use storebench_model::axis::file_system::FileSystem;
use storebench_model::axis::file_system::kind::KINDS;
use storebench_model::cell::{Axis, Cell};
use storebench_model::result::{LeftOutReason, OVERALL, Outcome};

use super::matrix::{AbsenceReason, competing_series, judging_terms, operations, ranked};
use super::merge::{BlockKey, Entry, GroupKey, Merged};
use super::names::join_parts;
use crate::column::{BEYOND_LENGTHS, Column, MEAN_LATENCY, Unit};
use crate::judge::combinations::is_won_mostly;
use crate::judge::standing::decide_on;
use crate::layout::Position;
use crate::stats::Series;

/// The name of the map of the space that files take beyond their lengths.
pub const SPACE_BEYOND: &str = "space beyond lengths";

/// The locations of one store under one guarantee.
#[derive(Debug)]
pub struct Clusters {
    pub hardware: String,
    /// The values that the trials have in common.
    pub at: String,
    pub store: String,
    /// The names of the rows: file systems with their options, or directories; with the store's settings.
    pub rows: Vec<String>,
    /// Cluster sizes in bytes, rising; 0, the last, for locations without a choice.
    pub columns: Vec<u32>,
    pub maps: Vec<FigureMap>,
    /// Why locations were left out, each reason with its locations.
    pub left_out: Vec<String>,
}

impl Clusters {
    /// The machine, the trials' common values and the store, for a heading.
    pub fn title(&self) -> String {
        join_parts([self.hardware.as_str(), &self.at, &self.store])
    }
}

/// One figure in every location.
#[derive(Debug)]
pub struct FigureMap {
    /// The subject: an operation, or [`SPACE_BEYOND`].
    pub name: String,
    pub unit: Unit,
    /// The number of combinations of the other axes that a figure averages.
    pub combinations: usize,
    /// By rows and columns; `None` if the plan has no such location.
    pub spots: Vec<Vec<Option<MapSpot>>>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MapSpot {
    Found(ClusterFigure),
    Missing(AbsenceReason),
}

/// A figure compared with the best of its map.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClusterFigure {
    /// The figure: the geometric mean of several combinations, for bytes the arithmetic one.
    pub mean: f64,
    /// The figure over the least of the map.
    pub times: f64,
    /// Whether it is the best, or too close to call with it, in at least half of the combinations.
    pub wins: bool,
}

/// A row and a column. Rows follow the table of file systems, then options and settings.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct MapLocation {
    kind: usize,
    row: String,
    settings: Vec<(String, u64)>,
    cluster: u32,
}

impl MapLocation {
    fn from_cell(merged: &Merged<'_>, cell: &Cell) -> MapLocation {
        let location = cell.text(Axis::PLACE);
        let settings = cell.values().filter_map(|(axis, value)| Some((axis.setting()?.1, value.text())));
        let shown = |name: &str, text: &str| format!("{name}={}", merged.readable.value(name, text));
        let settings: Vec<(String, u64)> =
            settings.map(|(name, text)| (shown(name, text), text.parse().unwrap_or(0))).collect();
        match location.parse::<FileSystem>() {
            Ok(system) => MapLocation {
                kind: KINDS.iter().position(|kind| kind == system.kind()).unwrap_or(KINDS.len()),
                row: system.without_cluster(),
                settings,
                cluster: system.cluster,
            },
            Err(_) => MapLocation { kind: KINDS.len(), row: location.to_owned(), settings, cluster: 0 },
        }
    }

    fn row(&self) -> (usize, String, Vec<(u64, String)>) {
        let settings = self.settings.iter().map(|(text, number)| (*number, text.clone())).collect();
        (self.kind, self.row.clone(), settings)
    }

    fn is_file_system(&self) -> bool {
        self.kind < KINDS.len()
    }
}

/// The trials of one store by location, and the locations that were left out.
#[derive(Default)]
struct ClusterTrials<'a> {
    ran: BTreeMap<MapLocation, BTreeMap<Position, Vec<Entry<'a>>>>,
    left_out: BTreeMap<MapLocation, &'a LeftOutReason>,
    operations: IndexSet<String>,
}

/// The maps of every store that ran in several locations, at least two of them file systems.
pub fn clusters(merged: &Merged<'_>) -> Vec<Clusters> {
    let mut by_store: IndexMap<(GroupKey, String), ClusterTrials<'_>> = IndexMap::new();
    for group in &merged.groups {
        let key = |cell: &Cell| (without_location(&group.key), contestant_without_settings(cell));
        let names: Vec<String> = operations(group).into_iter().filter(|name| name != OVERALL).collect();
        for entry in group.trials.iter().filter(|entry| !merged.is_harness(entry.trial.cell.store())) {
            let cell = &entry.trial.cell;
            let trials = by_store.entry(key(cell)).or_default();
            let entries = trials.ran.entry(MapLocation::from_cell(merged, cell)).or_default();
            entries.entry(merged.layout.position(cell)).or_default().push(*entry);
            trials.operations.extend(names.iter().cloned());
        }
        for omitted in &group.left_out {
            let trials = by_store.entry(key(&omitted.cell)).or_default();
            trials.left_out.entry(MapLocation::from_cell(merged, &omitted.cell)).or_insert(&omitted.reason);
        }
    }
    let has_several =
        |trials: &ClusterTrials<'_>| trials.ran.keys().filter(|key| key.is_file_system()).count() > 1;
    let compared = by_store.into_iter().filter(|(_, trials)| has_several(trials));
    compared.map(|((key, store), trials)| lay_out(merged, &key, &store, &trials)).collect()
}

/// The part of a key that all locations of a store share: locations, stores and their settings make the map.
fn without_location(key: &GroupKey) -> GroupKey {
    let mut key = key.clone();
    key.facets.retain(|(axis, _)| *axis != Axis::PLACE && axis.role() != Role::Contestant);
    key
}

/// The store, or another contestant, without its settings.
fn contestant_without_settings(cell: &Cell) -> String {
    let contestant_values =
        cell.values().filter(|(axis, _)| axis.role() == Role::Contestant && axis.setting().is_none());
    join_parts(contestant_values.map(|(_, value)| value.text()))
}

fn lay_out(merged: &Merged<'_>, key: &GroupKey, store: &str, trials: &ClusterTrials<'_>) -> Clusters {
    let locations: BTreeSet<&MapLocation> = trials.ran.keys().chain(trials.left_out.keys()).collect();
    let rows: BTreeSet<_> = locations.iter().map(|location| location.row()).collect();
    let mut columns: Vec<u32> =
        locations.iter().map(|location| location.cluster).collect::<BTreeSet<_>>().into_iter().collect();
    // Locations without a choice of size come last.
    columns.sort_by_key(|cluster| cluster.wrapping_sub(1));
    let latencies = trials.operations.iter().map(|name| (name.as_str(), &MEAN_LATENCY));
    let figures = latencies.chain([(SPACE_BEYOND, &BEYOND_LENGTHS)]);
    let maps = figures.filter_map(|(name, column)| {
        let (combinations, by_location) = compare_locations(merged, trials, name, column)?;
        let map_spot = |location: &MapLocation| match by_location.get(location) {
            Some(figure) => MapSpot::Found(*figure),
            None => MapSpot::Missing(why_absent(trials, location)),
        };
        let row_spots = |row: &_| {
            let find_location =
                |cluster: &u32| locations.iter().find(|spot| spot.row() == *row && spot.cluster == *cluster);
            columns.iter().map(|cluster| find_location(cluster).map(|location| map_spot(location))).collect()
        };
        let spots = rows.iter().map(row_spots).collect();
        Some(FigureMap { name: name.to_owned(), unit: column.unit, combinations, spots })
    });
    let name = |(_, location, settings): &(usize, String, Vec<(u64, String)>)| {
        join_parts(std::iter::once(location.as_str()).chain(settings.iter().map(|(_, text)| text.as_str())))
    };
    Clusters {
        hardware: key.hardware.clone(),
        at: merged.label(key),
        store: store.to_owned(),
        maps: maps.collect(),
        rows: rows.iter().map(name).collect(),
        left_out: describe_left_out(trials),
        columns,
    }
}

/// The figure of every location that has one, over the combinations common to all of them; `None` if there are none.
fn compare_locations<'g>(
    merged: &Merged<'_>,
    trials: &'g ClusterTrials<'_>,
    name: &str,
    column: &Column,
) -> Option<(usize, BTreeMap<&'g MapLocation, ClusterFigure>)> {
    let series_of = |entries: &Vec<Entry<'_>>| competing_series(&ranked(entries), name, column);
    let series_at = |(location, by_position): (&'g MapLocation, &'g BTreeMap<Position, Vec<Entry<'_>>>)| {
        let series = by_position.iter().map(|(position, entries)| (position, series_of(entries)));
        let series: BTreeMap<&Position, Series<BlockKey>> =
            series.filter(|(_, series)| !series.is_empty()).collect();
        (!series.is_empty()).then_some((location, series))
    };
    let locations: Vec<(&MapLocation, BTreeMap<&Position, Series<BlockKey>>)> =
        trials.ran.iter().filter_map(series_at).collect();
    // A single location has no comparison.
    let [(_, first), _, ..] = locations.as_slice() else { return None };
    let is_common =
        |position: &&&Position| locations.iter().all(|(_, series)| series.contains_key(**position));
    let common: Vec<&Position> = first.keys().filter(is_common).copied().collect();
    let headers: Vec<_> = merged.runs.iter().map(|run| &run.header).collect();
    let mut sums = vec![0.0; locations.len()];
    let mut wins = vec![0; locations.len()];
    for position in &common {
        let series: Vec<Series<BlockKey>> =
            locations.iter().filter_map(|(_, series)| series.get(position).cloned()).collect();
        let entries = trials.ran.values().filter_map(|by_position| by_position.get(*position)).flatten();
        let terms = judging_terms(&headers, entries, name, column);
        for standing in decide_on(&series, column.better, terms) {
            let mean = standing.figure.mean.value;
            sums[standing.index] += if column.unit == Unit::Bytes { mean } else { mean.ln() };
            wins[standing.index] += usize::from(standing.verdict.wins());
        }
    }
    let count = common.len() as f64;
    let mean = |sum: &f64| if column.unit == Unit::Bytes { sum / count } else { (sum / count).exp() };
    let means: Vec<f64> = sums.iter().map(mean).collect();
    let least = means.iter().copied().fold(f64::INFINITY, f64::min);
    let figures = locations.iter().zip(means.iter().zip(&wins)).map(|((location, _), (mean, wins))| {
        let times = if least > 0.0 { mean / least } else { 1.0 };
        (*location, ClusterFigure { mean: *mean, times, wins: is_won_mostly(*wins, common.len()) })
    });
    (!common.is_empty()).then(|| (common.len(), figures.collect()))
}

fn why_absent(trials: &ClusterTrials<'_>, location: &MapLocation) -> AbsenceReason {
    let outcomes = trials.ran.get(location).into_iter().flat_map(BTreeMap::values).flatten();
    let reasons = outcomes.map(|entry| match entry.trial.outcome {
        Outcome::Failed { .. } => AbsenceReason::Failed,
        Outcome::Unsupported { .. } => AbsenceReason::Unsupported,
        Outcome::Ok => AbsenceReason::NotMeasured,
    });
    let left_out = trials.left_out.get(location).map(|_| AbsenceReason::LeftOut);
    reasons.chain(left_out).min().unwrap_or(AbsenceReason::NotRun)
}

/// `left out: vfat:512, vfat:1024: the kernel has no vfat`, for each reason.
fn describe_left_out(trials: &ClusterTrials<'_>) -> Vec<String> {
    let mut locations: IndexMap<String, Vec<String>> = IndexMap::new();
    let left_out = trials.left_out.iter().filter(|(location, _)| !trials.ran.contains_key(*location));
    for (location, reason) in left_out {
        let size = if location.cluster > 0 { format!(":{}", location.cluster) } else { String::new() };
        let names = locations.entry(reason.to_string()).or_default();
        let name = format!("{}{size}", location.row);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    locations.iter().map(|(reason, locations)| format!("{}: {reason}", locations.join(", "))).collect()
}

/// A column's heading: `4096`, or a word for no choice of size.
pub fn name_cluster(cluster: u32) -> String {
    if cluster == 0 { "as it is".to_owned() } else { cluster.to_string() }
}

#[cfg(test)]
mod tests {
    use storebench_samples::{Sample, blocks};

    use super::*;

    fn block(factor: f64) -> Vec<Sample> {
        let row = |place: &str, ns: f64| Sample::new("sqlite").place(place).ns(ns * factor);
        vec![row("ext4:1024", 100.0), row("ext4:4096", 200.0), row("ntfs:4096", 800.0), row("here", 300.0)]
    }

    #[test]
    fn places_stand_by_file_system_and_cluster_size() {
        let runs = [blocks("box", &[block(1.0), block(1.01), block(0.99)])];
        let merged = Merged::new(&runs, &[]);
        let [store_maps] = clusters(&merged).try_into().unwrap();
        assert_eq!(store_maps.title(), "box, process, sqlite");
        assert_eq!(store_maps.rows, ["ext4", "ntfs", "here"]);
        assert_eq!(store_maps.columns, [1024, 4096, 0]);
        let names: Vec<&str> = store_maps.maps.iter().map(|map| map.name.as_str()).collect();
        // Files are shorter on disk than they are long.
        assert_eq!(names, ["insert", "update", "get", "remove"]);
        let spots = &store_maps.maps[0].spots;
        let times = |row: usize, column: usize| match spots[row][column] {
            Some(MapSpot::Found(found)) => Some((found.times.round(), found.wins)),
            _ => None,
        };
        assert_eq!((times(0, 0), times(0, 1), times(0, 2)), (Some((1.0, true)), Some((2.0, false)), None));
        assert_eq!((times(1, 0), times(1, 1), times(2, 2)), (None, Some((8.0, false)), Some((3.0, false))));
    }

    #[test]
    fn settings_make_rows_and_one_place_no_map() {
        let sized =
            |place: &str, size: &str| Sample::new("sqlite").place(place).setting("sqlite.page_size", size);
        let samples = ["ext4:1024", "ext4:4096"].map(|place| ["512", "8192"].map(|size| sized(place, size)));
        let runs = [blocks("box", &[samples.concat()])];
        let merged = Merged::new(&runs, &[]);
        let [store_maps] = clusters(&merged).try_into().unwrap();
        assert_eq!(store_maps.rows, ["ext4, page_size=512", "ext4, page_size=8192"]);
        let alone = [blocks("box", &[vec![Sample::new("sqlite").place("ext4"), Sample::new("sqlite")]])];
        assert!(clusters(&Merged::new(&alone, &[])).is_empty());
    }

    #[test]
    fn what_failed_has_a_reason_and_no_part_in_the_means() {
        let failed = Sample::new("sqlite").place("ntfs:512").failed("no room");
        let runs = [blocks("box", &[[block(1.0), vec![failed]].concat()])];
        let merged = Merged::new(&runs, &[]);
        let [store_maps] = clusters(&merged).try_into().unwrap();
        let ntfs = &store_maps.maps[0].spots[1];
        assert_eq!((store_maps.columns[0], ntfs[0]), (512, Some(MapSpot::Missing(AbsenceReason::Failed))));
    }
}
