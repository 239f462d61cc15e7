//! Whole trials, over the stores without native code.

use storebench_model::axis::Axis;
use storebench_model::axis::ycsb::BUILT_IN;
use storebench_model::cell::Cell;
use storebench_model::store::StoreDef;
use storebench_model::stores::{FLAT_FOLDER, MEMORY, NULL};

use super::*;
use crate::workload::parameter::Parameters;
use crate::workload::spec::Spec;

/// A small trial with these axes and properties.
fn trial(
    store: &StoreDef,
    workload: &str,
    axes: &[(Axis, &str)],
    properties: &str,
) -> Result<Measurements, TrialError> {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("store");
    std::fs::create_dir(&directory).unwrap();
    let defaults = [(Axis::STORE, store.name), (Axis::WORKLOAD, workload), (Axis::RECORDS, "60")];
    let axes = defaults.iter().chain(axes);
    let cell = axes.fold(Cell::default(), |cell, (axis, text)| cell.with(*axis, axis.read(text).unwrap()));
    // Other tests of this process are at work all the time.
    let mut parameters = Parameters::default();
    for (name, text) in [("after_load", "at-once"), ("operations", "150"), ("properties", properties)] {
        parameters.set(name, text).unwrap();
    }
    let spec = Spec::unwatched(cell, directory, WORKLOAD.name.parse().unwrap(), parameters);
    run(&TrialContext { stores: std::slice::from_ref(store), spec: &spec, reach: None })
}

fn counts(measured: &Measurements) -> [u64; 6] {
    let count = |name: &str| measured.operation(name).map_or(0, |operation| operation.count);
    [OVERALL, "read", "update", "insert", "scan", "read-modify-write"].map(count)
}

#[test]
fn every_workload_is_done_and_checked() {
    for store in [MEMORY, FLAT_FOLDER] {
        for workload in BUILT_IN {
            if *workload == "E" && !store.capabilities.order {
                continue;
            }
            let measured =
                trial(&store, workload, &[], "fieldcount=3,fieldlength=20,maxscanlength=20").unwrap();
            let done = counts(&measured);
            let [all, _, update, insert, ..] = done;
            match *workload {
                "A" => assert_eq!(done, [150, 75, 75, 0, 0, 0]),
                "C" => assert_eq!(done, [150, 150, 0, 0, 0, 0]),
                // Its parts count as what they are, too.
                "F" => assert_eq!(done, [150, 150, 75, 0, 0, 75]),
                "U" => assert_eq!(done, [150, 0, 150, 0, 0, 0]),
                "load" => assert_eq!(done, [60, 0, 0, 60, 0, 0]),
                _ => assert!(all == 150 && (6..=9).contains(&(update + insert)), "{workload}: {done:?}"),
            }
            let stored = if *workload == "load" { 60 } else { 60 + insert };
            let audit = measured.audit.unwrap();
            let records = [measured.stored.records, audit.records, audit.read_back];
            assert_eq!(records, [stored; 3], "{workload}");
            assert_eq!(measured.stored.value_bytes, stored * 3 * 24, "{workload}");
        }
    }
}

#[test]
fn every_way_to_choose_name_and_write_is_checked() {
    for (workload, distribution, properties) in [
        ("A", "uniform", "fieldcount=1"),
        ("D", "zipfian", "fieldcount=2,writeallfields=true"),
        ("B", "latest", "insertorder=ordered,zeropadding=12"),
        ("F", "hotspot", "fieldlengthdistribution=uniform"),
        ("A", "exponential", "fieldlengthdistribution=zipfian,fieldcount=4"),
        ("E", "sequential", "insertorder=ordered,scanlengthdistribution=zipfian,maxscanlength=70"),
        (
            "E",
            "default",
            "insertproportion=0.5,scanproportion=0.3,updateproportion=0.2,fieldcount=2,maxscanlength=9",
        ),
        ("C", "default", "insertstart=20,insertcount=40"),
        ("A", "default", "fieldcount=1,fieldlength=1"),
    ] {
        let measured = trial(&MEMORY, workload, &[(Axis::DISTRIBUTION, distribution)], properties);
        let measured = measured.unwrap_or_else(|ended| panic!("{workload} {properties}: {ended:?}"));
        assert_eq!(counts(&measured)[0], 150, "{workload} {properties}");
        assert_eq!(measured.audit.unwrap().records, measured.stored.records);
    }
}

#[test]
fn one_field_of_several_can_be_read() {
    for workload in ["C", "F"] {
        for properties in ["readallfields=false", "readallfields=false,writeallfields=true,fieldcount=3"] {
            let measured = trial(&MEMORY, workload, &[], properties).unwrap();
            let read = measured.operation("read").unwrap();
            // The store shows the whole record.
            let each = read.value_bytes / read.count;
            assert_eq!(each, if properties.contains("fieldcount=3") { 3 * 104 } else { 10 * 104 });
        }
    }
}

#[test]
fn threads_share_all_records() {
    let mixed = "readproportion=2,updateproportion=2,insertproportion=1,scanproportion=1,readmodifywriteproportion=1,\
                 fieldcount=2,maxscanlength=20";
    for (workload, properties) in [
        ("A", "fieldcount=1"),
        ("A", "fieldcount=3,fieldlength=10"),
        ("D", "fieldcount=1"),
        ("own:all", mixed),
    ] {
        let axes = [(Axis::THREADS, "3"), (Axis::RECORDS, "5")];
        for _ in 0..10 {
            let measured = trial(&MEMORY, workload, &axes, properties);
            let measured = measured.unwrap_or_else(|ended| panic!("{workload} {properties}: {ended:?}"));
            assert_eq!(counts(&measured)[0], 150, "{workload}");
            assert!(measured.operation(OVERALL).unwrap().rate_over_ns.is_some());
        }
    }
}

#[test]
fn records_that_grew_old_have_the_values_that_were_loaded() {
    for (store, workload) in [(MEMORY, "A"), (FLAT_FOLDER, "C")] {
        let measured = trial(&store, workload, &[(Axis::AGE, "3")], "fieldcount=3,fieldlength=20").unwrap();
        let updates = counts(&measured)[2];
        assert_eq!(measured.load.aged.map(|aged| aged.times), Some(3));
        assert_eq!((measured.load.records, measured.written.unwrap().records), (60, 240 + updates));
        assert_eq!(measured.audit.unwrap().read_back, 60, "{}", store.name);
    }
}

#[test]
fn what_keeps_nothing_is_not_checked_and_a_rate_is_kept() {
    let measured = trial(&NULL, "A", &[(Axis::RATE, "20000/s")], "").unwrap();
    assert_eq!((counts(&measured)[0], measured.audit.is_none()), (150, true));
    assert!(measured.operation(OVERALL).unwrap().wall_ns >= 7_000_000);
}
