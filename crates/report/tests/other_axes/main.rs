//! Reports of a workload of one's own, which has neither stores nor records nor guarantees: all that reports say of axes comes from
//! these axes' own table. Stored runs of the built-in studies hold each output to the byte.
//!
//! It is a separate process, because axes are added to the table for a whole process.

#![allow(clippy::unwrap_used, reason = "a test that can't go on fails")]

mod claims;

use std::io::Read;
use std::sync::Once;

use base64::Engine as _;
use serde_json::{Value as Json, json};
use storebench_figures::data::findings;
use storebench_figures::data::merge::Merged;
use storebench_host::run::Run;
use storebench_model::axis::words::{WORDS, read};
use storebench_model::axis::{Axis, AxisDef, Form, Presence, Role, added_axes};
use storebench_model::cell::Cell;
use storebench_model::result::{
    FORMAT_VERSION, LeftOutCell, LeftOutReason, Measurements, OperationResult, RunHeader, TrialResult,
};
use storebench_model::store::Guarantee;
use storebench_model::units::SizeRange;
use storebench_report::compare::{self, Comparison};
use storebench_report::files::sql::{self, SqlError, SqlValue, SqlWriter};
use storebench_report::page;
use storebench_report::report::Report;
use storebench_report::terminal::{self, Style};

static MOTION: AxisDef = AxisDef {
    name: "motion",
    order: 2_000,
    many: "motions",
    presence: Presence::Always(20),
    role: Role::Contestant,
    ..WORDS
};

static CHUNK_SIZE: AxisDef = AxisDef {
    name: "chunk_size",
    order: 2_010,
    many: "chunk sizes",
    presence: Presence::Always(21),
    role: Role::Row,
    form: Form::Range,
    unit: "bytes",
    read: read::<SizeRange>,
    ..WORDS
};

static EXTENT: AxisDef = AxisDef {
    name: "extent",
    order: 2_020,
    many: "extents",
    presence: Presence::Always(22),
    role: Role::Column,
    form: Form::Range,
    unit: "bytes",
    read: read::<SizeRange>,
    words: |value| format!("extent {value}"),
    ..WORDS
};

static FLUSH: AxisDef = AxisDef {
    name: "flush",
    order: 1_990,
    many: "flush modes",
    presence: Presence::Off("no"),
    role: Role::Half,
    words: |value| format!("flush {value}"),
    ..WORDS
};

static QUEUE: AxisDef =
    AxisDef { name: "queue", order: 1_980, many: "queues", presence: Presence::Off("1"), ..WORDS };

static OWN: [&AxisDef; 5] = [&MOTION, &CHUNK_SIZE, &EXTENT, &FLUSH, &QUEUE];

const STYLE: Style = Style { width: 100, colour: false };

fn axis(name: &str) -> Axis {
    static ADDED: Once = Once::new();
    ADDED.call_once(|| added_axes::add(&OWN));
    Axis::find(name).unwrap()
}

fn cell(values: &[(&str, &str)]) -> Cell {
    values.iter().fold(Cell::default(), |cell, (name, value)| {
        let axis = axis(name);
        cell.with(axis, axis.read(value).unwrap())
    })
}

fn at(pattern: &str, block: &str, file: &str, sync: &str) -> Cell {
    cell(&[("motion", pattern), ("chunk_size", block), ("extent", file), ("flush", sync)])
}

fn operation(name: &str, ns: f64) -> OperationResult {
    let json = json!({
        "operation": name, "count": 1000, "errors": 0, "wall_ns": (ns * 1200.0) as u64, "sum_ns": (ns * 1000.0) as u64,
        "value_bytes": 512_000, "warm_up": 0, "put_back": 0,
        "latency": {
            "mean_ns": ns, "stdev_ns": ns / 4.0, "min_ns": 1, "p50_ns": ns as u64, "p90_ns": ns as u64, "p99_ns": ns as u64,
            "p999_ns": ns as u64, "max_ns": ns as u64, "histogram": ""
        },
        "series": []
    });
    serde_json::from_value(json).unwrap()
}

fn measured(ns: f64) -> Measurements {
    let json = json!({
        "guarantee": "none", "store_version": "", "settings": [], "statistics": [],
        "load": { "records": 0, "value_bytes": 0, "store_ns": 0 },
        "operations": [operation("read", ns), operation("write", ns * 2.0)], "settle_ns": 0,
        "memory": { "base_bytes": 4 << 20, "peak_above_base_bytes": 1 << 20 },
        "cpu": { "user_ns": 5_000_000, "system_ns": 1_000_000 },
        "disk": { "allocated_bytes": 1 << 20, "apparent_bytes": 1 << 20, "files": 1 },
        "stored": { "records": 0, "key_bytes": 0, "value_bytes": 0 }
    });
    serde_json::from_value(json).unwrap()
}

fn trial(cell: Cell, block: u32, ns: f64) -> TrialResult {
    let json = json!({
        "format": FORMAT_VERSION, "cell": {}, "block": block, "position": 0, "started": "2025-01-02T03:04:05Z", "wall_s": 1.5,
        "outcome": { "status": "ok" }
    });
    TrialResult { cell, measured: Some(measured(ns)), ..serde_json::from_value(json).unwrap() }
}

fn run(trials: Vec<TrialResult>) -> Run {
    let json = json!({
        "format": FORMAT_VERSION, "storebench": "0.1.0", "study": "device", "title": "How a device takes blocks", "hardware": "box",
        "started": "2025-01-02T03:04:05Z", "command": ["storebench"], "plan": "name = \"device\"\n",
        "environment": { "cores": 2, "kernel": "Linux", "clock_ns": 10.0, "clock": "tsc" },
        "locations": [], "stores": [], "left_out": []
    });
    let cell = at("random", "64KiB", "64MiB", "yes");
    let left_out = vec![LeftOutCell { cell, reason: LeftOutReason::Sentence("too slow".into()) }];
    Run::new(RunHeader { left_out, ..serde_json::from_value(json).unwrap() }, trials)
}

/// Two patterns at two chunk sizes and two extents, synced and not, three times. The random one is the best with small
/// blocks, and is left out with large synced ones of the large file.
fn device() -> Run {
    let mut trials = Vec::new();
    for block in 0..3 {
        let wobble = 1.0 + f64::from(block) / 100.0;
        for (pattern, small, large) in [("sequential", 2000.0, 1000.0), ("random", 1000.0, 4000.0)] {
            for sync in ["no", "yes"] {
                for file in ["1MiB", "64MiB"] {
                    let factor = if sync == "yes" { 50.0 } else { 1.0 };
                    let mut add = |size: &str, ns: f64| {
                        trials.push(trial(at(pattern, size, file, sync), block, ns * factor * wobble));
                    };
                    add("4KiB", small);
                    if (pattern, file, sync) != ("random", "64MiB", "yes") {
                        add("64KiB", large);
                    }
                }
            }
        }
    }
    run(trials)
}

fn bytes(write: impl Fn(&mut Vec<u8>) -> std::io::Result<()>) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut out).unwrap();
    out
}

/// The data in a page for its scripts.
fn data(page: &str) -> Json {
    let (_, rest) = page.split_once("id=\"data\">").unwrap();
    let (text, _) = rest.split_once('<').unwrap();
    let bytes = base64::engine::general_purpose::STANDARD.decode(text).unwrap();
    let mut json = String::new();
    flate2::read::ZlibDecoder::new(bytes.as_slice()).read_to_string(&mut json).unwrap();
    serde_json::from_str(&json).unwrap()
}

/// Writes down the statements.
#[derive(Default)]
struct Listener(String);

impl SqlWriter for Listener {
    fn execute(&mut self, statements: &str) -> Result<(), SqlError> {
        self.0.push_str(statements);
        Ok(())
    }

    fn insert(&mut self, _: &str, _: &[SqlValue]) -> Result<(), SqlError> {
        Ok(())
    }
}

#[test]
fn comparisons_name_what_is_ranked_and_where() {
    let (base, mut new) = (device(), device());
    for trial in new.trials.iter_mut().filter(|trial| trial.cell.text(axis("motion")) == "random") {
        for operation in &mut trial.measured.as_mut().unwrap().operations {
            operation.latency.mean_ns *= 2.0;
            operation.sum_ns *= 2;
        }
    }
    let (base, new, names) = ([base], [new], ["a".to_owned()]);
    let side = |runs| compare::Side { names: &names, runs };
    let columns: Vec<_> = compare::comparable().filter(|column| column.id == "latency_mean").collect();
    let found = Comparison::new(side(&base), side(&new), &columns, &["null"], &[]);
    let stores: Vec<(&str, f64)> =
        found.stores.iter().map(|store| (store.store.as_str(), store.ratio)).collect();
    assert!(stores[0] == ("sequential", 1.0) && stores[1].0 == "random", "{stores:?}");
    assert!((stores[1].1 - 2.0).abs() < 1e-3);
    let text = compare::terminal::text(&found, 0, STYLE);
    assert!(text.contains("random") && text.contains("extent 64MiB") && text.contains("flush yes"), "{text}");
    assert!(!text.contains("none"), "{text}");
}

/// A cell of the workload crud.
fn crud() -> Cell {
    cell(&[
        ("store", "sqlite"),
        ("record_size", "1KiB"),
        ("records", "100..500"),
        ("data", "compressible"),
        ("guarantee", "process"),
    ])
}

#[test]
fn runs_of_several_workloads_stand_beside_each_other() {
    let mut other = run(vec![trial(crud(), 0, 1000.0)]);
    other.trials[0].measured.as_mut().unwrap().guarantee = Guarantee::Process;
    other.header.left_out.clear();
    let runs = [device(), other];
    let merged = Merged::new(&runs, &[]);
    let text = terminal::overview(&Report::new(&merged), STYLE);
    assert!(text.contains("Winners: box\n") && text.contains("Winners: box, process, 1KiB\n"), "{text}");
    let page = String::from_utf8(bytes(|out| page::write(&Report::new(&merged), None, out))).unwrap();
    let data = data(&page);
    let records = data["cells"]["at"]["records"].as_array().unwrap();
    assert_eq!(records.iter().filter(|number| !number.is_null()).count(), 1);
    let group = |number: usize| data["groups"][number]["at"].as_array().unwrap().clone();
    assert_eq!(group(0).len(), data["group_axes"].as_array().unwrap().len());
    assert_eq!(group(0).len(), group(1).len());
    let mut out = Listener::default();
    sql::write(&Report::new(&merged), &mut out).unwrap();
    assert!(out.0.contains("    \"store\" TEXT,\n") && out.0.contains("    \"motion\" TEXT,\n"));
}

#[test]
fn groups_are_named_by_its_axes() {
    let mut run = device();
    let queue = axis("queue");
    let mut deep = run.trials.clone();
    for trial in &mut deep {
        trial.cell.set(queue, queue.read("2").unwrap());
    }
    run.trials.extend(deep);
    let runs = [run];
    let merged = Merged::new(&runs, &[]);
    let titles: Vec<String> = merged.groups.iter().map(|group| merged.label(&group.key)).collect();
    assert_eq!(titles, ["queue 1", "queue 2"]);
    let text = terminal::overview(&Report::new(&merged), STYLE);
    assert!(text.contains("Winners: box, queue 2\n"), "{text}");
}
