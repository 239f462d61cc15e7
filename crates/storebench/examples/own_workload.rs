//! A user's own workload, with a new axis: a file is replaced again and again, in place or by a rename.
//! `cargo run --release -p storebench --no-default-features --example own_workload -- run my-plan.toml`

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use storebench_core::measure::clock::Clock;
use storebench_core::measure::latency::Latencies;
use storebench_core::measure::probe::Probe;
use storebench_core::workload::bare::{BareTrial, operation};
use storebench_core::workload::case::{Case, SpaceEstimate, TimeEstimate};
use storebench_core::workload::spec::{TrialContext, TrialError};
use storebench_core::workload::table::{self, Headline, WorkloadDef};
use storebench_model::axis::words::WORDS;
use storebench_model::axis::{Axis, AxisDef, Presence, Role, Value, added_axes};
use storebench_model::result::Measurements;
use storebench_model::store::Guarantee;
use storebench_model::units::parse_count;

fn main() -> ExitCode {
    added_axes::add(&[&WAY, &LINES]);
    table::add(&[&REPLACE]);
    storebench::cli::main_with(storebench::STORES, storebench::EXTRAS)
}

/// The axis that is compared: the ways to replace a file.
static WAY: AxisDef = AxisDef {
    name: "way",
    order: 3000,
    help: "How the file is replaced: in-place, rename",
    many: "ways",
    presence: Presence::Always(21),
    role: Role::Contestant,
    known: &["in-place", "rename"],
    read: |text| match text {
        "in-place" | "rename" => Ok(Value::word(text)),
        _ => Err(format!("{text:?} is no way to replace a file: say in-place or rename")),
    },
    ..WORDS
};

/// The rows of its tables.
static LINES: AxisDef = AxisDef {
    name: "lines",
    order: 3010,
    value_name: "COUNT,...",
    help: "How many lines of 80 bytes the file has",
    many: "numbers of lines",
    presence: Presence::Always(22),
    role: Role::Row,
    read: |text| parse_count(text).map(Value::from),
    words: |value| format!("{value} lines"),
    ..WORDS
};

static REPLACE: WorkloadDef = WorkloadDef {
    name: "replace",
    help: "replace a small file, as applications do when they save their settings",
    axes: &[Axis::from_def(&WAY), Axis::from_def(&LINES), Axis::PLACE, Axis::BACKGROUND],
    parameters: &["operations"],
    operations: &["replace"],
    reason: |_| None,
    headline: &[Headline::Latency],
    space: |case| SpaceEstimate {
        peak_bytes: 2.0 * bytes(case) as f64,
        required_bytes: 2.0 * bytes(case) as f64,
    },
    stored_bytes: |_| 0.0,
    memory: |case| bytes(case) as f64,
    time: |case, probe: &Probe| {
        let each_s = probe.file_creation_ns as f64 / 1e9 + bytes(case) as f64 / probe.write_bytes_per_s;
        let operations: u64 = case.parameters.operations();
        TimeEstimate::with_audit(0.05 + operations as f64 * each_s, 0.0)
    },
    time_by_rehearsal: None,
    run,
    serve: None,
};

fn bytes(case: &Case<'_>) -> u64 {
    80 * case.cell.typed::<u64>(Axis::from_def(&LINES)).unwrap_or(1)
}

/// The trial: everything is prepared before it begins; only the calls are timed.
fn run(context: &TrialContext<'_>) -> Result<Measurements, TrialError> {
    let spec = context.spec;
    let lines: u64 = spec.cell.typed(Axis::from_def(&LINES)).unwrap_or(1);
    let by_rename = spec.cell.text(Axis::from_def(&WAY)) == "rename";
    let count: u64 = spec.parameters.operations();
    let content = vec![b'x'; 80 * lines as usize];
    let (clock, mut latencies) = (Clock::new(), Latencies::new().map_err(TrialError::harness)?);
    let mut trial = BareTrial::begin(spec)?;
    let start = Instant::now();
    for _ in 0..count {
        let before = clock.now();
        replace(&spec.directory, &content, by_rename).map_err(TrialError::harness)?;
        latencies.record(clock.nanoseconds(before, clock.now()));
    }
    let wall = start.elapsed();
    trial.worked()?;
    trial.end(vec![operation("replace", &latencies, wall)?], Guarantee::Process, content.len() as u64)
}

fn replace(folder: &Path, content: &[u8], by_rename: bool) -> std::io::Result<()> {
    let (file, new) = (folder.join("settings"), folder.join("settings.new"));
    let mut open = File::create(if by_rename { &new } else { &file })?;
    open.write_all(content)?;
    if by_rename { fs::rename(new, file) } else { Ok(()) }
}
