//! Tidy CSV with everything: one row per operation and trial, with every axis, every column of [`COLUMNS`], versions and
//! outcome; and one per operation and round, where a trial has several rounds. Failed and unsupported trials, and combinations left out, have one row each, without figures.

use std::io::{self, Write};

use storebench_core::axis::{Form, Value};
use storebench_core::cell::{Axis, Cell};
use storebench_core::result::{Disk, Measured, OperationResult, Outcome, Round, Run, TrialResult};
use storebench_core::store::Setting;

use crate::column::{COLUMNS, Column};
use crate::data::method::Methods;
use crate::files::harmless::put;
use crate::layout::{Layout, words};

/// The columns before the axes, which are of the run.
const RUN: [&str; 5] = ["run", "study", "hardware", "storebench", "run_started"];

/// The columns of the trial, after the axes and the bounds of their ranges.
const TRIAL: [&str; 14] = [
    "method",
    "cell",
    "block",
    "position",
    "started",
    "wall_s",
    "load_1min",
    "background_at_work_share",
    "background_progress",
    "background_unit",
    "outcome",
    "reason",
    "message",
    "log",
];

/// The columns of the store, known once it is open, of the operation and of its round, before the figures.
const STORE: [&str; 7] =
    ["guarantee_given", "store_version", "settings", "statistics", "operation", "round", "count"];

/// The columns of the machine.
const MACHINE: [&str; 11] = [
    "cpu",
    "cores",
    "memory_bytes",
    "kernel",
    "distribution",
    "virtualisation",
    "governor",
    "clock",
    "clock_ns",
    "file_system",
    "device",
];

/// Writes the rows of all runs; `run` is the position of the run among those given, from 0.
///
/// # Errors
/// The writer's errors.
pub fn write(runs: &[Run], out: &mut dyn Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    let shared = Shared { methods: Methods::new(runs), axes: Layout::of(runs).axes().to_vec() };
    writer.write_record(shared.header())?;
    for (index, run) in runs.iter().enumerate() {
        for trial in &run.trials {
            let whats: Vec<What<'_>> = trial.ok().map(What::all).unwrap_or_default();
            for what in &whats {
                put(&mut writer, row(index, run, trial, what, &shared))?;
            }
            if whats.is_empty() {
                let nothing = What { measured: trial.ok(), ..What::default() };
                put(&mut writer, row(index, run, trial, &nothing, &shared))?;
            }
        }
        for left_out in &run.header.left_out {
            let mut row = of_run(index, run);
            row.extend(shared.of_cell(&left_out.cell));
            row.push(shared.methods.of(index, &left_out.cell));
            row.push(left_out.cell.id());
            row.extend(std::iter::repeat_n(String::new(), 8));
            row.extend(["left-out".into(), String::new(), left_out.reason.clone(), String::new()]);
            row.extend(of_store(&What::default()));
            row.extend(figures(&What::default()));
            row.extend(of_machine(run, None));
            put(&mut writer, row)?;
        }
    }
    writer.flush()
}

/// The subject of a row.
#[derive(Default)]
struct What<'a> {
    /// The measurements of the trial.
    measured: Option<&'a Measured>,
    operation: Option<&'a OperationResult>,
    /// The round and its number from 0; `None` where it is of all rounds.
    round: Option<(usize, &'a Round)>,
}

impl<'a> What<'a> {
    /// Every row of a trial: its operations; then those of its rounds.
    fn all(measured: &'a Measured) -> Vec<What<'a>> {
        let of = move |operation, round| What { measured: Some(measured), operation: Some(operation), round };
        let of_all = measured.operations.iter().map(|operation| of(operation, None));
        let rounds = measured.rounds.iter().enumerate();
        let of_rounds = rounds.flat_map(|(number, round)| {
            round.operations.iter().map(move |one| of(one, Some((number, round))))
        });
        of_all.chain(of_rounds).collect()
    }
}

/// The methods and the axes, which all rows share.
struct Shared {
    methods: Methods,
    /// The axes that the runs have.
    axes: Vec<Axis>,
}

impl Shared {
    fn header(&self) -> Vec<String> {
        let bounds = self.axes.iter().filter_map(|axis| words::bounds(*axis)).flatten();
        let cell = self.axes.iter().map(|axis| axis.name().to_owned()).chain(bounds);
        let trial = TRIAL.iter().chain(&STORE).map(|name| (*name).to_owned());
        let figures = COLUMNS.iter().map(|column| column.csv_name());
        let run = RUN.map(str::to_owned).into_iter();
        run.chain(cell).chain(trial).chain(figures).chain(MACHINE.map(str::to_owned)).collect()
    }

    /// The axes, and the bounds of its ranges; empty where it has no value on an axis.
    fn of_cell(&self, cell: &Cell) -> Vec<String> {
        let ranges = self.axes.iter().filter(|axis| axis.def().form == Form::Range);
        let bounds = ranges.flat_map(|axis| {
            let value = words::value(cell, *axis);
            [value.as_ref().map(Value::lower), value.as_ref().map(Value::upper)]
        });
        self.axes.iter().map(|axis| cell.text(*axis).to_owned()).chain(bounds.map(optional)).collect()
    }
}

fn row(index: usize, run: &Run, trial: &TrialResult, what: &What<'_>, shared: &Shared) -> Vec<String> {
    let mut row = of_run(index, run);
    row.extend(shared.of_cell(&trial.cell));
    row.push(shared.methods.of(index, &trial.cell));
    row.push(trial.cell.id());
    row.extend([trial.block.to_string(), trial.position.to_string(), trial.started.clone()]);
    row.extend([trial.wall_s.to_string(), optional(trial.load_1min)]);
    let background = trial.background.as_ref();
    row.push(optional(background.map(|load| load.at_work_share)));
    row.push(optional(background.map(|load| load.progress)));
    row.push(optional(background.map(|load| &load.unit)));
    row.extend(outcome(&trial.outcome));
    row.extend(of_store(what));
    row.extend(figures(what));
    row.extend(of_machine(run, Some(&trial.cell)));
    row
}

fn of_run(index: usize, run: &Run) -> Vec<String> {
    let header = &run.header;
    let texts = [&header.study, &header.hardware, &header.storebench, &header.started];
    std::iter::once(index.to_string()).chain(texts.into_iter().cloned()).collect()
}

fn outcome(outcome: &Outcome) -> [String; 4] {
    match outcome {
        Outcome::Ok => ["ok".into(), String::new(), String::new(), String::new()],
        Outcome::Failed { reason, message, log } => {
            ["failed".into(), reason.name().into(), message.clone(), log.clone()]
        }
        Outcome::Unsupported { message } => {
            ["unsupported".into(), String::new(), message.clone(), String::new()]
        }
    }
}

fn of_store(what: &What<'_>) -> [String; 7] {
    let What { measured, operation, round } = *what;
    [
        measured.map_or_else(String::new, |m| m.guarantee.to_string()),
        measured.map_or_else(String::new, |m| m.store_version.clone()),
        measured.map_or_else(String::new, |m| settings(&m.settings)),
        measured.map_or_else(String::new, |m| settings(&m.statistics)),
        operation.map_or_else(String::new, |o| o.operation.clone()),
        optional(round.map(|(number, _)| number + 1)),
        optional(operation.map(|o| o.count)),
    ]
}

fn settings(settings: &[Setting]) -> String {
    let pairs: Vec<String> = settings.iter().map(|s| format!("{}={}", s.name, s.value)).collect();
    pairs.join("; ")
}

fn figures(what: &What<'_>) -> Vec<String> {
    let figure = |column: &Column| match what.round {
        _ if column.is_of_operation() => column.of_operation(what.operation?),
        None => column.of_trial(what.measured?),
        Some((_, round)) => of_files(column.id, &round.disk),
    };
    COLUMNS.iter().map(|column| optional(figure(column))).collect()
}

/// A figure of the files after a round, which has no other figures of trials.
fn of_files(column: &str, disk: &Disk) -> Option<f64> {
    match column {
        "disk_allocated" => Some(disk.allocated_bytes as f64),
        "disk_apparent" => Some(disk.apparent_bytes as f64),
        "files" => Some(disk.files as f64),
        _ => None,
    }
}

fn of_machine(run: &Run, cell: Option<&Cell>) -> [String; 11] {
    let machine = &run.header.environment;
    let place = run.header.places.iter().find(|place| cell.is_some_and(|cell| place.is_of(cell)));
    [
        optional(machine.cpu.as_ref()),
        machine.cores.to_string(),
        optional(machine.memory_bytes),
        machine.kernel.clone(),
        optional(machine.distribution.as_ref()),
        optional(machine.virtualisation.as_ref()),
        optional(machine.governor.as_ref()),
        machine.clock.clone(),
        machine.clock_ns.to_string(),
        optional(place.and_then(|place| place.file_system.as_ref())),
        optional(place.and_then(|place| place.device.as_ref())),
    ]
}

/// An unknown value is an empty field.
fn optional<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::data::samples::{self, Sample, run};

    fn rows(runs: &[Run]) -> Vec<HashMap<String, String>> {
        let mut out = Vec::new();
        write(runs, &mut out).unwrap();
        csv::Reader::from_reader(out.as_slice()).deserialize().map(Result::unwrap).collect()
    }

    #[test]
    fn a_background_load_says_what_it_did() {
        let disturbed = Sample::new("lmdb").background(storebench_core::cell::Background::Video);
        let rows = rows(&[run("box", &[Sample::new("lmdb"), disturbed])]);
        let of_row = |row: &HashMap<String, String>| {
            ["background", "background_at_work_share", "background_progress", "background_unit"]
                .map(|name| row[name].clone())
        };
        assert_eq!(of_row(&rows[0]), ["none", "", "", ""]);
        assert_eq!(of_row(&rows[4]), ["video", "1", "45", "frames"]);
    }

    #[test]
    fn every_operation_has_a_row_with_every_column() {
        let rows = rows(&[run("box", &[Sample::new("lmdb"), Sample::new("null")])]);
        assert_eq!(rows.len(), 8);
        let get = &rows[1];
        for (name, value) in [
            ("operation", "get"),
            ("latency_mean_ns", "500"),
            ("throughput_per_s", "2000000"),
            ("memory_peak_above_base_bytes", "1024000"),
            ("guarantee", "process"),
            ("guarantee_given", "process"),
            ("record_size_to_bytes", "1024"),
            ("settings", "page_size=4096"),
            ("file_system", "ext4"),
            ("outcome", "ok"),
        ] {
            assert_eq!(get[name], value, "{name}");
        }
    }

    #[test]
    fn what_was_not_measured_has_rows_too() {
        let runs = [samples::study()];
        let rows = rows(&runs);
        let count = |outcome: &str| rows.iter().filter(|row| row["outcome"] == outcome).count();
        let failed = |trial: &&TrialResult| matches!(trial.outcome, Outcome::Failed { .. });
        assert_eq!(count("failed"), runs[0].trials.iter().filter(failed).count());
        assert_eq!(count("left-out"), runs[0].header.left_out.len());
        assert_eq!(count("ok"), 4 * runs[0].trials.iter().filter(|trial| trial.ok().is_some()).count());
        let failed = rows.iter().find(|row| row["outcome"] == "failed").unwrap();
        assert_eq!(failed["reason"], "store");
        assert!(!failed["message"].is_empty() && !failed["log"].is_empty());
        assert!(failed["latency_mean_ns"].is_empty());
        let left_out = rows.iter().find(|row| row["outcome"] == "left-out").unwrap();
        assert_eq!((left_out["records_from"].as_str(), left_out["block"].as_str()), ("1000000", ""));
        assert!(left_out["message"].contains("size limit"));
    }

    #[test]
    fn each_round_has_rows_of_its_own() {
        let rows = rows(&[run("box", &[Sample::new("lmdb").rounds(3), Sample::new("redb")])]);
        let of = |round: &str| rows.iter().filter(|row| row["round"] == round).collect::<Vec<_>>();
        assert_eq!(["", "1", "3", "4"].map(|round| of(round).len()), [8, 4, 4, 0]);
        let last = of("3")[0];
        assert_eq!((last["operation"].as_str(), last["latency_mean_ns"].as_str()), ("insert", "1200"));
        assert_eq!((last["disk_allocated_bytes"].as_str(), last["files"].as_str()), ("84930", "3"));
        assert!(last["memory_peak_above_base_bytes"].is_empty() && last["disk_growth_share"].is_empty());
        let whole = of("")[0];
        assert!(whole["disk_growth_share"].starts_with("1.666") && !whole["load_time_ns"].is_empty());
    }

    #[test]
    fn odd_text_comes_back_whole() {
        let rows = rows(&[run("my, \"box\"", &[Sample::new("lmdb").failed("line 1\nline 2, \"quoted\"")])]);
        assert_eq!(rows[0]["hardware"], "my, \"box\"");
        assert_eq!(rows[0]["message"], "line 1\nline 2, \"quoted\"");
        let formula = self::rows(&[run("=1+1", &[Sample::new("lmdb").failed("@SUM(A1)")])]);
        assert_eq!((formula[0]["hardware"].as_str(), formula[0]["message"].as_str()), ("'=1+1", "'@SUM(A1)"));
    }
}
