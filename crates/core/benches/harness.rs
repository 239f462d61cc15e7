//! The cost of the harness itself: the store `null` is driven for some millions of operations, wall time over
//! operations, with the choice of keys, the making of values and the recording of latencies; and what is added to a
//! single latency. `STOREBENCH_BENCH_LIBRARIES` names libraries with stores that do nothing either, separated by colons: what the
//! boundary to a library costs.

#![allow(
    missing_docs,
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a benchmark prints, and may give up"
)]

use std::time::Instant;

use storebench_core::measure::clock::Clock;
use storebench_core::record::Records;
use storebench_core::record::pool::Pool;
use storebench_core::workload::choose::Chooser;
use storebench_core::workload::driver::{Driver, QUANTUM_OPERATIONS, Quantum, Visit};
use storebench_core::workload::operation::Operation;
use storebench_core::workload::parameter::Parameters;
use storebench_core::workload::spec::{Spec, TrialContext};
use storebench_model::cell::{Axis, Cell, Data};
use storebench_model::library;
use storebench_model::result::OVERALL;
use storebench_model::store::{OpenOptions, StoreDef};
use storebench_model::stores::NULL;
use storebench_model::units::SizeRange;

const OPERATIONS: u64 = 5_000_000;
const RECORDS: u64 = 1_000_000;
const ROUNDS: usize = 7;

fn main() {
    let clock = Clock::new();
    println!("clock: {}, {:.1} ns a reading", clock.kind(), clock.cost_ns());
    println!(
        "store null, values of 100 B, {RECORDS} records by Zipf's law, {OPERATIONS} operations, {ROUNDS} rounds"
    );
    println!("{:8} {:>12} {:>12} {:>12}   {:>16}", "", "median", "least", "most", "latency shown");
    for operation in [Operation::Get, Operation::Update] {
        show(operation.name(), || round(&clock, &NULL, operation), "");
    }
    for (workload, like) in [("C", "   (compare get)"), ("A", "   (compare get and update)")] {
        show(&format!("ycsb {workload}"), || ycsb(workload), like);
    }
    boundary(&clock);
    println!(
        "\"latency shown\" is the mean of the latencies recorded: what the harness adds to a single one."
    );
}

fn show(label: &str, round: impl Fn() -> (f64, f64), like: &str) {
    let mut rounds: Vec<(f64, f64)> = (0..ROUNDS).map(|_| round()).collect();
    rounds.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (median, latency) = rounds[ROUNDS / 2];
    let (least, most) = (rounds[0].0, rounds[ROUNDS - 1].0);
    println!("{label:8} {median:>9.1} ns {least:>9.1} ns {most:>9.1} ns   {latency:>13.1} ns{like}");
}

/// Calls that go through libraries and the same calls that don't, in turn: the median of the differences of the mean latencies.
fn boundary(clock: &Clock) {
    let paths = std::env::var_os("STOREBENCH_BENCH_LIBRARIES").unwrap_or_default();
    for path in std::env::split_paths(&paths) {
        let library = library::find(&path).expect("the library is there");
        let [store] =
            library::load(&library).expect("the library can be loaded").try_into().expect("it has one store");
        for operation in [Operation::Get, Operation::Update] {
            let difference = || round(clock, &store, operation).1 - round(clock, &NULL, operation).1;
            let mut differences: Vec<f64> = (0..ROUNDS).map(|_| difference()).collect();
            differences.sort_by(f64::total_cmp);
            println!(
                "{} {:8} {:+.1} ns a call more than null ({:+.1} to {:+.1})",
                store.name,
                operation.name(),
                differences[ROUNDS / 2],
                differences[0],
                differences[ROUNDS - 1]
            );
        }
    }
}

/// Wall time per operation, and the mean latency recorded, in nanoseconds.
fn round(clock: &Clock, store: &StoreDef, operation: Operation) -> (f64, f64) {
    let size = SizeRange { from: 100, to: 101 };
    let records = Records::new(1, size, Pool::generate(Data::Incompressible, 1, size));
    let options = OpenOptions::new(std::path::Path::new("."));
    let store = store.open.expect("the store is built")(&options).expect("it always opens");
    let mut session = store.session().expect("it always has a session");
    let mut driver =
        Driver::new(clock, &records, Visit::Copy, false).expect("the histogram's bounds are good");
    let mut chooser = Chooser::zipfian(1, RECORDS, 0.99).expect("the law's parameters are good");
    let mut versions = vec![0_u8; RECORDS as usize];
    let mut quantum = Quantum::new(records.largest_value());
    let start = Instant::now();
    let mut remaining = OPERATIONS;
    while remaining > 0 {
        quantum.clear();
        let mut chosen = [0; QUANTUM_OPERATIONS];
        chooser.fill(&mut chosen, &versions);
        for index in chosen.into_iter().take(remaining as usize) {
            let version = &mut versions[index as usize];
            *version = version.wrapping_add(u8::from(operation == Operation::Update));
            quantum.plan(&records, operation, index, *version, true);
            remaining -= 1;
        }
        driver.run(session.as_mut(), &mut quantum).expect("null never fails");
    }
    let wall = start.elapsed().as_nanos() as f64 / OPERATIONS as f64;
    let recorder = driver.finish();
    let latencies = &recorder.kind_record(operation as usize).latencies;
    assert_eq!(latencies.count(), OPERATIONS, "every operation is recorded");
    (wall, latencies.sum_ns() as f64 / latencies.count() as f64)
}

/// The same of one of YCSB's workloads, with one field of 100 bytes: a whole trial, of which the requests count.
fn ycsb(workload: &str) -> (f64, f64) {
    let axes =
        [("store", "null"), ("workload", workload), ("records", "1000000"), ("data", "incompressible")];
    let find_axis = |name: &str| Axis::find(name).expect("the axis is in the table");
    let cell = axes.into_iter().fold(Cell::default(), |cell, (axis, text)| {
        cell.with(find_axis(axis), find_axis(axis).read(text).expect("the value is good"))
    });
    let parameters = [("operations", OPERATIONS.to_string()), ("properties", "fieldcount=1".into())];
    let parameters = parameters.into_iter().fold(Parameters::default(), |parameters, (name, text)| {
        parameters.with(name, &text).expect("the value is good")
    });
    let folder = tempfile::tempdir().expect("a folder can be made");
    let spec = Spec::unwatched(
        cell,
        folder.path().into(),
        "ycsb".parse().expect("the workload is in the table"),
        parameters,
    );
    let context = TrialContext { stores: &[NULL], spec: &spec, reach: None };
    let measured = (spec.workload.def().run)(&context).expect("null never fails");
    let overall = measured.operation(OVERALL).expect("requests were sent");
    assert_eq!(overall.count, OPERATIONS, "every request is recorded");
    let per_operation = |ns: u64| ns as f64 / OPERATIONS as f64;
    (per_operation(overall.wall_ns), per_operation(overall.sum_ns))
}
