//! The figures of a location without a store, from a run of the workload `device`: floor and ceiling for stores', and in no ranking.

use std::collections::BTreeMap;

use storebench_host::run::Run;
use storebench_model::axis::table::HERE;
use storebench_model::cell::{Axis, Cell};
use storebench_model::result::{LocationInfo, OperationResult, RunHeader};

use super::{moment, planned_trials, spread};
use crate::column::Unit;
use crate::stats;

/// The workload without a store.
const DEVICE: &str = "device";

/// One location of one machine, without a store.
#[derive(Debug, Clone, PartialEq)]
pub struct Floor {
    /// The machine's name, and the location's in the runs of stores.
    location: (String, String),
    /// Its figures, in words: `4KiB random reads past the page cache 85.0 µs`.
    figures: Vec<String>,
    /// The trials behind the figure with the fewest.
    trials: usize,
    day: String,
}

/// A figure shown for a location, if the device run has it with reads that find the file in memory if they can: the words after the
/// size of the blocks, which bandwidths omit; the pattern; how the file is opened and writes are synced; and the unit.
type FloorFigure = (&'static str, &'static str, (&'static str, &'static str), Unit);

const CACHED: (&str, &str) = ("buffered", "none");
const PAST_THE_CACHE: (&str, &str) = ("direct", "none");

const WANTED: [FloorFigure; 5] = [
    ("random reads from the page cache", "rand-read", CACHED, Unit::Nanoseconds),
    ("random reads past the page cache", "rand-read", PAST_THE_CACHE, Unit::Nanoseconds),
    ("synced writes", "rand-write", ("buffered", "fdatasync"), Unit::Nanoseconds),
    ("sequential reads past the page cache", "seq-read", PAST_THE_CACHE, Unit::BytesPerSecond),
    ("sequential writes past the page cache", "seq-write", PAST_THE_CACHE, Unit::BytesPerSecond),
];

/// The block size of latencies: what most file systems and engines use.
const BLOCK: &str = "4KiB";

/// Whether a run is of the workload without a store.
pub fn is_device(run: &Run) -> bool {
    run.workload().is_some_and(|workload| workload.def().name == DEVICE)
}

/// The figures of each location without a store: from the newest complete device run among `runs`, otherwise from the
/// newest one among `other_runs`. Locations that none of them measured are left out.
pub fn floors(runs: &[Run], other_runs: &[Run]) -> Vec<Floor> {
    let mut devices: Vec<(bool, &Run)> = runs.iter().map(|run| (true, run)).collect();
    devices.extend(other_runs.iter().map(|run| (false, run)));
    devices.retain(|(_, run)| is_device(run) && run.header.shard.is_none());
    devices.retain(|(_, run)| planned_trials::unfinished(run).is_none());
    devices.sort_by(|a, b| (b.0, &b.1.header.started).cmp(&(a.0, &a.1.header.started)));
    let mut by_location: BTreeMap<(String, String), Floor> = BTreeMap::new();
    for header in runs.iter().filter(|run| !is_device(run)).map(|run| &run.header) {
        for location in &header.locations {
            let key = (header.hardware.clone(), location.name.clone());
            let floor = devices.iter().find_map(|(_, device)| floor(header, location, device));
            if let Some(floor) = floor {
                by_location.entry(key).or_insert(floor);
            }
        }
    }
    by_location.into_values().collect()
}

/// The figures of a location in a device run; `None` if it is of another machine or location.
fn floor(header: &RunHeader, location: &LocationInfo, device: &Run) -> Option<Floor> {
    let device_header = &device.header;
    let machine_of = |h: &RunHeader| (h.hardware.clone(), h.environment.cpu.clone(), h.environment.cores);
    let device_location = device_header.locations.iter().find(|candidate| is_same(location, candidate));
    let device_location = device_location.filter(|_| machine_of(header) == machine_of(device_header))?;
    let (figures, trials): (Vec<String>, Vec<usize>) =
        WANTED.iter().filter_map(|wanted| figure(wanted, device_location, device)).unzip();
    let day = moment::day(&device_header.started).to_owned();
    let location = (header.hardware.clone(), location.name.clone());
    Some(Floor { location, figures, trials: trials.into_iter().min()?, day })
}

/// Whether two locations are one directory, or in one file system.
fn is_same(a: &LocationInfo, b: &LocationInfo) -> bool {
    let mount_of = |location: &LocationInfo| (location.device.clone(), location.mount_options.clone());
    a.file_system == b.file_system
        && a.image == b.image
        && a.disk == b.disk
        && (a.path == b.path || (a.device.is_some() && mount_of(a) == mount_of(b)))
}

/// A figure in words, with its reach and number of trials; `None` if the run lacks it.
fn figure(wanted: &FloorFigure, location: &LocationInfo, device: &Run) -> Option<(String, usize)> {
    let (words, _, _, unit) = wanted;
    let mut by_cell: BTreeMap<&Cell, Vec<f64>> = BTreeMap::new();
    for trial in device.trials.iter().filter(|trial| fits(wanted, location, &trial.cell)) {
        let operation = trial.ok().and_then(|measured| measured.operations.first());
        let value = operation.and_then(|operation| value(*unit, operation));
        by_cell.entry(&trial.cell).or_default().extend(value);
    }
    let size = |cell: &Cell, axis: Axis| cell.value(axis).map_or(0, |value| value.lower());
    let is_latency = *unit == Unit::Nanoseconds;
    // Latency at the usual block, bandwidth at the largest; with several files the largest.
    let suitability = |cell: &&Cell| {
        let usual = is_latency && cell.text(Axis::BLOCK_SIZE) == BLOCK;
        (usual, size(cell, Axis::BLOCK_SIZE), size(cell, Axis::FILE_SIZE))
    };
    by_cell.retain(|_, values| !values.is_empty());
    let cell = by_cell.keys().copied().max_by_key(suitability)?;
    let (_, mean) = stats::mean(&by_cell[cell])?;
    let block = if is_latency { format!("{} ", cell.text(Axis::BLOCK_SIZE)) } else { String::new() };
    let show = |value| unit.show(value);
    let reach = spread::describe_after(mean.interval, show);
    Some((format!("{block}{words} {}{reach}", show(mean.value)), by_cell[cell].len()))
}

fn fits((_, pattern, io_and_sync, _): &FloorFigure, location: &LocationInfo, cell: &Cell) -> bool {
    cell.text(Axis::PATTERN) == *pattern
        && (cell.text(Axis::IO), cell.text(Axis::SYNC)) == *io_and_sync
        && cell.text(Axis::CACHE) == "warm"
        && location.is_location_of(cell)
        && cell.threads() == 1
        && cell.text(Axis::BACKGROUND) == "none"
        && cell.machine() == HERE
}

fn value(unit: Unit, operation: &OperationResult) -> Option<f64> {
    match unit {
        Unit::BytesPerSecond => operation.bytes_per_second(),
        _ => (operation.count > 0).then(|| operation.sum_ns as f64 / operation.count as f64),
    }
}

/// A sentence for each location with its figures; it names the location if there are several.
pub fn describe_floors(floors: &[Floor]) -> Vec<String> {
    let line = |floor: &Floor| {
        let Floor { location: (hardware, place), figures, trials, day } = floor;
        let place_name = match floors {
            [_] => "This place".to_owned(),
            several if several.iter().all(|floor| floor.location.0 == *hardware) => format!("Place {place}"),
            _ => format!("{hardware}, place {place}"),
        };
        let once = if *trials == 1 { " once" } else { "" };
        format!("{place_name} with no store in the way, measured{once} on {day}: {}.", figures.join(", "))
    };
    floors.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use storebench_samples::{self as samples, Sample};

    use super::*;

    /// A device run of these cells at this time, each with its mean latency.
    fn device(started: &str, cells: &[(&str, &str, &str, &str, f64)]) -> Run {
        let mut run =
            samples::run("box", &cells.iter().map(|cell| Sample::new("x").ns(cell.4)).collect::<Vec<_>>());
        for (trial, (pattern, block, io, sync, ns)) in run.trials.iter_mut().zip(cells) {
            let values = [
                (Axis::PATTERN, *pattern),
                (Axis::BLOCK_SIZE, *block),
                (Axis::FILE_SIZE, "1GiB"),
                (Axis::IO, *io),
                (Axis::SYNC, *sync),
            ];
            let set_axis = |cell: Cell, (axis, text): (Axis, &str)| cell.with(axis, axis.read(text).unwrap());
            trial.cell = values.into_iter().fold(Cell::default(), set_axis);
            let measured = trial.measured.as_mut().unwrap();
            measured.operations.truncate(1);
            measured.operations[0].sum_ns = (ns * 1000.0) as u64;
            measured.operations[0].value_bytes = 1000 * 4096;
        }
        run.header.plan = "workload = \"device\"".into();
        run.header.started = started.into();
        run
    }

    fn read(ns: f64) -> (&'static str, &'static str, &'static str, &'static str, f64) {
        ("rand-read", "4KiB", "direct", "none", ns)
    }

    #[test]
    fn a_place_is_told_in_few_words() {
        let cells = [
            ("rand-read", "64KiB", "direct", "none", 500_000.0),
            read(85_000.0),
            ("rand-write", "4KiB", "buffered", "fdatasync", 1_200_000.0),
            ("rand-write", "4KiB", "buffered", "none", 2_000.0),
            ("seq-write", "4KiB", "direct", "none", 4096.0),
        ];
        let study = samples::run("box", &[Sample::new("lmdb")]);
        let lines = describe_floors(&floors(&[study], &[device("2026-01-02T03:04:05Z", &cells)]));
        let line = "This place with no store in the way, measured once on 2026-01-02: 4KiB random reads past the page cache 85.0 µs, \
                    4KiB synced writes 1.20 ms, sequential writes past the page cache 954 MiB/s.";
        assert_eq!(lines, [line]);
    }

    #[test]
    fn a_given_device_run_counts_before_newer_ones() {
        let study = samples::run("box", &[Sample::new("lmdb")]);
        let (older, newer) =
            (device("2026-01-01T00:00:00Z", &[read(1e3)]), device("2026-02-01T00:00:00Z", &[read(2e3)]));
        let text = |runs: &[Run], others: &[Run]| describe_floors(&floors(runs, others)).join("");
        let others = [older.clone(), newer.clone()];
        assert!(text(std::slice::from_ref(&study), &others).contains("cache 2.00 µs"));
        assert!(text(&[study.clone(), older.clone()], &[newer]).contains("cache 1.00 µs"));
        assert_eq!(floors(&[older], &[]), [], "a device run by itself is no floor of another");
    }

    #[test]
    fn another_machine_place_or_half_a_run_tells_nothing() {
        let study = samples::run("box", &[Sample::new("lmdb")]);
        let hits = |change: fn(&mut Run)| {
            let mut device = device("2026-01-01T00:00:00Z", &[read(1e3)]);
            change(&mut device);
            floors(std::slice::from_ref(&study), &[device]).len()
        };
        assert_eq!(hits(|_| {}), 1);
        assert_eq!(hits(|run| run.header.hardware = "other".into()), 0);
        assert_eq!(hits(|run| run.header.environment.cpu = None), 0);
        assert_eq!(hits(|run| run.header.locations[0].path = "/elsewhere".into()), 1, "the same file system");
        assert_eq!(hits(|run| run.header.locations[0].file_system = Some("xfs".into())), 0);
        let another_device = |run: &mut Run| {
            run.header.locations[0].path = "/elsewhere".into();
            run.header.locations[0].device = Some("sda".into());
        };
        assert_eq!(hits(another_device), 0);
        let half = |run: &mut Run| {
            let plan = storebench_host::plan::find("device").unwrap();
            run.header.plan = plan.to_toml().unwrap();
        };
        assert_eq!(hits(half), 0);
    }
}
