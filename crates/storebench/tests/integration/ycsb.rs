//! The workload `ycsb` over every store. Its command line, and stores that lie: cases/ycsb.txt.

use storebench_core::workload::case::Case;
use storebench_core::workload::spec::TrialError;
use storebench_model::axis::ycsb::BUILT_IN;
use storebench_model::result::{LeftOutReason, Measurements, OVERALL, OperationResult};
use storebench_model::store::{Guarantee, StoreDef, StoreKind, Threads};

use crate::tier;
use crate::trial::with_trial;

struct TrialSettings<'a> {
    workload: &'a str,
    axes: &'a [(&'a str, &'a str)],
    parameters: &'a [(&'a str, &'a str)],
}

/// A trial of 150 requests on 60 records, in which a kind at 5 % occurs.
const SMALL: &[(&str, &str)] =
    &[("operations", "150"), ("properties", "fieldcount=3,fieldlength=20,maxscanlength=20")];

/// What became of a trial; why there is none where the workload says itself that the store can't do this.
fn trial(
    store: &StoreDef,
    settings: &TrialSettings<'_>,
) -> Result<Result<Measurements, TrialError>, LeftOutReason> {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (records, data) = (("records", "60"), ("data", "incompressible"));
    let common = [("workload", settings.workload), records, data, ("guarantee", "default")];
    let axes = [&common[..], settings.axes].concat();
    with_trial("ycsb", store.clone(), &folder, [&axes, settings.parameters, &[]], |trial| {
        let (spec, def) = (trial.spec, trial.spec.workload.def());
        let case = Case::with_defaults(&spec.cell, &spec.parameters, trial.stores, 1 << 30);
        match (def.reason)(&case) {
            Some(reason) => Err(reason),
            None => Ok((def.run)(trial)),
        }
    })
}

fn measure(store: &StoreDef, settings: &TrialSettings<'_>) -> Measurements {
    match trial(store, settings) {
        Ok(Ok(measured)) => measured,
        Ok(Err(error)) => panic!("{}, {}: {error:?}", store.name, settings.workload),
        Err(reason) => panic!("{}, {}: {reason}", store.name, settings.workload),
    }
}

fn count(measured: &Measurements, operation: &str) -> u64 {
    measured.operation(operation).map_or(0, |operation| operation.count)
}

fn built_stores() -> impl Iterator<Item = &'static StoreDef> {
    storebench::STORES
        .iter()
        .filter(|store| store.open.is_ok() && store.capabilities.keeps && store.missing_need().is_none())
        .filter(|store| tier::asks_for(store))
}

#[test]
fn every_store_does_every_workload() {
    for store in built_stores() {
        for workload in BUILT_IN {
            let settings = TrialSettings { workload, axes: &[], parameters: SMALL };
            if *workload == "E" && !store.capabilities.order {
                assert_eq!(
                    trial(store, &settings).unwrap_err(),
                    LeftOutReason::NoOrder { store: store.name.into() }
                );
                continue;
            }
            let measured = measure(store, &settings);
            let count_of = |operation| count(&measured, operation);
            let kinds = ["read", "update", "insert", "scan", "read-modify-write"].map(count_of);
            let expected = match *workload {
                "A" => [75, 75, 0, 0, 0],
                "C" => [150, 0, 0, 0, 0],
                // Its parts count as what they are, too.
                "F" => [150, 75, 0, 0, 75],
                "U" => [0, 150, 0, 0, 0],
                "load" => [0, 0, 60, 0, 0],
                // Of shares of 5 %, one more or less.
                _ => kinds,
            };
            assert_eq!(kinds, expected, "{} {workload}", store.name);
            let total = if *workload == "load" { 60 } else { 150 };
            assert_eq!(count_of(OVERALL), total, "{} {workload}", store.name);
            let rare_count = match *workload {
                "B" => kinds[1],
                "D" | "E" => kinds[2],
                _ => 7,
            };
            assert!((6..=9).contains(&rare_count), "{} {workload}: {kinds:?}", store.name);
            let inserted = if ["D", "E"].contains(workload) { kinds[2] } else { 0 };
            let audit = measured.audit.unwrap();
            assert_eq!(
                (measured.stored.records, audit.records, audit.read_back),
                (60 + inserted, 60 + inserted, 60 + inserted)
            );
            assert_eq!(measured.stored.value_bytes, (60 + inserted) * 3 * 24, "{} {workload}", store.name);
        }
    }
}

/// A workload, its axes and its properties.
type Way = (&'static str, &'static [(&'static str, &'static str)], &'static str);

/// Ways to choose, to name, to write and to be at work.
const WAYS: &[Way] = &[
    ("A", &[("distribution", "uniform")], "fieldcount=1"),
    ("D", &[("distribution", "zipfian")], "fieldcount=2,writeallfields=true"),
    ("B", &[("distribution", "latest")], "insertorder=ordered,zeropadding=12"),
    ("F", &[("distribution", "hotspot")], "fieldlengthdistribution=uniform"),
    ("A", &[("distribution", "exponential")], "fieldlengthdistribution=zipfian,fieldcount=4"),
    (
        "E",
        &[("distribution", "sequential")],
        "insertorder=ordered,scanlengthdistribution=zipfian,maxscanlength=70",
    ),
    ("E", &[], "insertproportion=0.5,scanproportion=0.3,updateproportion=0.2,fieldcount=2,maxscanlength=9"),
    (
        "own:mine",
        &[],
        "readproportion=1,updateproportion=1,scanproportion=1,insertproportion=1,readmodifywriteproportion=1,maxscanlength=30",
    ),
    ("C", &[("rate", "20000/s")], "insertstart=20,insertcount=40"),
    ("A", &[], "fieldcount=1,fieldlength=1"),
    ("F", &[], "readallfields=false,fieldcount=5"),
    ("F", &[], "readallfields=false,writeallfields=true,fieldlengthdistribution=uniform"),
];

#[test]
fn every_way_to_choose_name_and_write_is_checked() {
    for name in ["memory", "sqlite", "lmdb"] {
        let Some(store) = built_stores().find(|store| store.name == name) else { continue };
        for (workload, axes, properties) in WAYS {
            let parameters = [("operations", "300"), ("properties", properties)];
            let measured = measure(store, &TrialSettings { workload, axes, parameters: &parameters });
            assert_eq!(count(&measured, OVERALL), 300, "{name} {workload} {properties}");
            assert_eq!(measured.audit.unwrap().records, measured.stored.records);
        }
    }
}

#[test]
fn threads_share_all_records_and_what_they_read_is_checked() {
    for store in built_stores().filter(|store| store.capabilities.threads != Threads::One) {
        for (workload, properties) in [
            ("A", "fieldcount=1"),
            ("A", "fieldcount=3,fieldlength=10"),
            ("D", "fieldcount=1"),
            (
                "own:all",
                "readproportion=2,updateproportion=2,insertproportion=1,scanproportion=1,readmodifywriteproportion=1,fieldcount=2,maxscanlength=20",
            ),
        ] {
            if workload == "own:all" && !store.capabilities.order {
                continue;
            }
            let axes = [("threads", "3"), ("records", "5")];
            let parameters = [("operations", "400"), ("properties", properties)];
            let settings = TrialSettings { workload, axes: &axes, parameters: &parameters };
            if !store.capabilities.replaces_whole {
                assert_eq!(
                    trial(store, &settings).err(),
                    Some(LeftOutReason::TornReads { store: store.name.into() })
                );
                continue;
            }
            let measured = measure(store, &settings);
            assert_eq!(count(&measured, OVERALL), 400, "{} {workload}", store.name);
            assert_eq!(measured.audit.as_ref().unwrap().records, measured.stored.records);
            assert!(measured.operation(OVERALL).unwrap().rate_over_ns.is_some());
        }
    }
}

#[test]
fn a_time_ends_it_and_inserts_stay_within_their_bound() {
    let memory = built_stores().find(|store| store.name == "memory").unwrap();
    let measure_memory = |workload: &str, parameters: &[(&str, &str)]| {
        measure(memory, &TrialSettings { workload, axes: &[("records", "60..90")], parameters })
    };
    let timed = measure_memory("C", &[("duration", "50ms")]);
    assert!(count(&timed, OVERALL) > 0 && timed.operation(OVERALL).unwrap().wall_ns >= 50_000_000);
    let capped = measure_memory("C", &[("operations", "10"), ("max_time", "50s")]);
    assert_eq!(count(&capped, OVERALL), 10);
    let full = measure_memory("D", &[("duration", "20s")]);
    assert_eq!((full.stored.records, count(&full, "insert")), (90, 30), "it ends when there is no more room");
}

#[test]
fn rounds_go_on_with_one_database() {
    for store in built_stores() {
        for between in ["nothing", "close"] {
            let properties = "fieldcount=1,insertproportion=0.1,readproportion=0.4,updateproportion=0.5";
            let parameters = [
                ("operations", "50"),
                ("rounds", "3"),
                ("between_rounds", between),
                ("properties", properties),
            ];
            let settings = TrialSettings { workload: "own:mine", axes: &[], parameters: &parameters };
            if between == "close" && !store.capabilities.persists {
                assert_eq!(
                    trial(store, &settings).err(),
                    Some(LeftOutReason::LosesRounds { store: store.name.into() })
                );
                continue;
            }
            if between == "close" && store.kind == StoreKind::Server {
                let reason = trial(store, &settings).err().unwrap().to_string();
                assert!(reason.contains("is a server"), "{reason}");
                continue;
            }
            let measured = measure(store, &settings);
            let rounds = &measured.rounds;
            let counts = |name: &str| -> Vec<u64> {
                rounds
                    .iter()
                    .map(|round| round.operation(name).map_or(0, |operation| operation.count))
                    .collect()
            };
            assert_eq!(counts(OVERALL), [50, 50, 50], "{} {between}", store.name);
            for name in [OVERALL, "read", "update", "insert"] {
                assert_eq!(counts(name).iter().sum::<u64>(), count(&measured, name), "{} {name}", store.name);
                let sums = rounds.iter().map(|round| round.operation(name).unwrap().sum_ns);
                assert_eq!(sums.sum::<u64>(), measured.operation(name).unwrap().sum_ns, "{}", store.name);
            }
            // Records that one round wrote the next one reads.
            let inserted = count(&measured, "insert");
            assert!((12..=18).contains(&inserted), "{inserted}");
            assert_eq!(measured.audit.unwrap().records, 60 + inserted, "{} {between}", store.name);
            let files = rounds.iter().all(|round| round.disk.files > 0 && round.disk.apparent_bytes > 0);
            assert!(files || between == "nothing", "{}: {rounds:?}", store.name);
        }
    }
    let memory = built_stores().find(|store| store.name == "memory").unwrap();
    for axes in [&[("threads", "3")][..], &[("rate", "20000/s")]] {
        let parameters = [("operations", "90"), ("rounds", "4"), ("properties", "fieldcount=2")];
        let measured = measure(memory, &TrialSettings { workload: "A", axes, parameters: &parameters });
        assert_eq!((measured.rounds.len(), count(&measured, OVERALL)), (4, 360));
        let rate_time_ns = |operation: &OperationResult| operation.rate_over_ns.unwrap();
        let rounds = measured.rounds.iter().map(|round| rate_time_ns(round.operation(OVERALL).unwrap()));
        assert_eq!(
            rounds.sum::<u64>(),
            rate_time_ns(measured.operation(OVERALL).unwrap()),
            "what lies between is in no rate"
        );
    }
}

#[test]
fn a_power_promise_is_held_to_its_syncs() {
    for store in built_stores().filter(|store| store.offer(Guarantee::Power).is_some()) {
        let axes = [("guarantee", "power")];
        let parameters = [("operations", "20"), ("properties", "fieldcount=1")];
        let measured = measure(store, &TrialSettings { workload: "U", axes: &axes, parameters: &parameters });
        let counters = measured.operation("update").unwrap().counters.clone().unwrap();
        assert!(counters.syncs.is_none_or(|syncs| syncs >= 20), "{}: {counters:?}", store.name);
    }
}
