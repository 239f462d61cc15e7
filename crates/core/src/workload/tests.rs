//! Whole trials of every workload of the table: with one seed, exactly the same calls reach the store. If a change is meant to
//! alter them, the failed test prints the new ones.

mod database;
mod tape;

use std::fmt::Write;

use storebench_model::axis::Axis;
use storebench_model::axis::device::values::{Pattern, Sync, SyncCall};
use storebench_model::cell::Cell;
use storebench_model::result::Measurements;
use storebench_model::store::{Capabilities, OpenFn, StoreDef};
use storebench_model::stores::{FLAT_FOLDER, MEMORY};
use xxhash_rust::xxh3::xxh3_64;

use super::device::{self, Amount, PreparedFile};
use super::parameter::Parameters;
use super::spec::{Spec, TrialContext, TrialError};
use super::table::{self, Workload};
use crate::measure::clock::Clock;
use crate::trace::synthetic::{CLUSTER_14, TraceTraits, ZIPPYDB};
use crate::trace::{ReaderOptions, Summary};

/// Trials: the calls' number and digest, the workload, the kind of its store, axes and parameters.
const TRIALS: &str = "\
2291 1130437ea57aec34 crud memory records=100..400 record_size=1B..300B operations=350
2431 9a553d7f97e99f crud memory records=100..400 record_size=1B..300B threads=3 operations=350 warm_up=20
884 25ade59dd81412bc crud memory records=100..400 record_size=1B..300B threads=2 operations=600 mix=get=60,update=20,insert=15,remove=5
1688 e17995d81adaa0b9 crud memory records=50..400 record_size=1B..300B rate=20000/s operations=200 visit=touch
625 3ecb9e8e94fb1009 crud folder records=50..400 record_size=1B..300B guarantee=process cache=cold operations=60
856 c6dcf56f7b44c83e ycsb memory records=100 workload=A operations=500 properties=fieldcount=3,fieldlength=20,maxscanlength=20
632 9d4716e56a749682 ycsb memory records=100 workload=B operations=500 properties=fieldcount=3,fieldlength=20,maxscanlength=20
606 bb50fa861d73b364 ycsb memory records=100 workload=C threads=3 operations=500 properties=fieldcount=3,fieldlength=20,maxscanlength=20
632 d6e762a5bda930ea ycsb memory records=100 workload=D operations=500 properties=fieldcount=3,fieldlength=20,maxscanlength=20
630 78ed2c914dc1416b ycsb memory records=100 workload=E operations=500 properties=fieldcount=3,fieldlength=20,maxscanlength=20
1106 4dded719be8f4fd2 ycsb memory records=100 workload=F rate=20000/s operations=500 properties=fieldcount=3,fieldlength=20,maxscanlength=20
205 454078ec4f1d80c8 ycsb memory records=100 workload=load operations=500 properties=fieldcount=3,fieldlength=20,maxscanlength=20
555 e979a828653a3ee4 ycsb memory records=100 workload=A operations=300 properties=fieldcount=3,writeallfields=false,readallfields=false
736 96ecd3fbe78a4354 ycsb memory records=100 workload=D operations=200 rounds=3 properties=fieldcount=1
314 e1f782369a19718c ycsb folder records=50 workload=A guarantee=process operations=100 rounds=2 between_rounds=close properties=fieldcount=1
2342 9dff7ab6056dc5c8 replay memory trace=twitter
2343 748d959671a1b0e4 replay memory threads=3 trace=twitter
2765 1f2a1e9bd8920eeb replay memory threads=2 trace=rocksdb load=nothing
2757 78c66c45936f493 replay memory trace=rocksdb speed=1000000
4195 ff33ad3b9cecc41 shop memory data_size=64KiB operations=400
3332 b300ee27264954d1 shop memory data_size=64KiB index=none load_order=unsorted rate=20000/s operations=400
3912 1f0eee37638a489c shop sql data_size=64KiB operations=400
1104 a8e2f4efce2f95ac shop sql data_size=64KiB load_order=unsorted threads=2 operations=400 shares=orders=1,restock=3
425 47def57e45fbfe3b androbench sql rows=100 statements=1 operations=50
1925 8eb179dc69c2dc14 androbench sql rows=100 statements=5 rate=20000/s operations=50 body=40B
396 5d95a1a56382f856 batch sql transactions=4 statements=30
24 a5cd753385aa0153 batch sql transactions=4 statements=1
132 36a3b319fdab9ba batch memory transactions=4 statements=30
135 bb8448639d08b4d2 batch folder transactions=4 statements=30 guarantee=process
212 1c0a6aed0e615cef life memory records=50 record_size=1B..300B churn=uniform turnover=3
512 3a95fb4c958ac058 life memory records=50 record_size=1B..300B churn=queue turnover=3
264 1006da25150176db life folder records=50 record_size=1B..300B churn=replace turnover=2";

/// The store of a trial, which writes down its calls, the one under it, and whether it speaks SQL.
fn stores(trial: &str) -> (StoreDef, OpenFn, bool) {
    let inner = if trial.contains(" folder") { FLAT_FOLDER } else { MEMORY };
    let (open, sql) = (inner.open.unwrap(), trial.contains(" sql"));
    let persists = sql || inner.capabilities.persists;
    let capabilities = Capabilities { sql, persists, ..inner.capabilities };
    (StoreDef { capabilities, open: Ok(&tape::open), ..inner }, open, sql)
}

/// A trace as these programs write it, with what it is like.
fn set_trace(parameters: &mut Parameters, form: &str, path: &std::path::Path) {
    let lines = match form {
        "twitter" => TraceTraits { operations: 2_000, ..CLUSTER_14 }.twitter(),
        _ => TraceTraits { operations: 2_000, ..ZIPPYDB }.rocksdb(),
    };
    std::fs::write(path, lines).unwrap();
    let summary = Summary::read(path, ReaderOptions::default(), &|| false).unwrap().unwrap();
    parameters.set("trace", path.to_str().unwrap()).unwrap();
    parameters.set("trace_facts", &summary.facts.to_string()).unwrap();
}

fn run(trial: &str) -> Result<Measurements, TrialError> {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("store");
    std::fs::create_dir(&directory).unwrap();
    let (store, ..) = stores(trial);
    let mut words = trial.split(' ');
    let workload = words.next().unwrap().parse::<Workload>().unwrap();
    let mut cell = Cell::new(store.name);
    // Other tests of this process are at work all the time.
    let mut parameters = Parameters::default().with("after_load", "at-once").unwrap();
    for (name, value) in words.skip(1).map(|word| word.split_once('=').unwrap()) {
        if name == "trace" {
            set_trace(&mut parameters, value, &folder.path().join("trace"));
        } else if Parameters::NAMES.contains(&name) {
            parameters.set(name, value).unwrap();
        } else {
            let axis = Axis::find(name).unwrap();
            cell = cell.with(axis, axis.read(value).unwrap());
        }
    }
    let spec = Spec { seed: 11, ..Spec::unwatched(cell, directory, workload, parameters) };
    (workload.def().run)(&TrialContext { stores: &[store], spec: &spec, reach: None })
}

#[test]
fn with_one_seed_the_same_calls_reach_the_store() {
    let mut differences = String::new();
    for line in TRIALS.lines() {
        let trial = line.splitn(3, ' ').last().unwrap();
        let (_, inner, sql) = stores(trial);
        let (count, digest) = tape::recorded(inner, sql, || {
            run(trial).unwrap_or_else(|error| panic!("{trial}: {error:?}"));
        });
        let found = format!("{count} {digest:x} {trial}");
        if found != line {
            writeln!(differences, "{found}").unwrap();
        }
    }
    assert!(differences.is_empty(), "other calls than before:\n{differences}");
    for workload in table::all() {
        let is_recorded = TRIALS.lines().any(|line| line.split(' ').nth(2) == Some(workload.name));
        assert!(is_recorded || workload.name == "device", "{}", workload.name);
    }
}

#[test]
fn with_one_seed_the_same_blocks_are_written() {
    let mut differences = String::new();
    for (pattern, threads, sync, operations, expected) in [
        (Pattern::SeqWrite, 1, Sync::None, 40, 0xcae3_09fe_83e2_fdbf),
        (Pattern::SeqWrite, 3, Sync::None, 100, 0xc92e_e61d_908a_b024),
        (Pattern::RandWrite, 1, Sync::Each(SyncCall::Fdatasync, 16), 50, 0xf002_9a6b_da31_a9fa),
        (Pattern::RandWrite, 1, Sync::None, 150, 0x5369_f89a_c190_83e1),
    ] {
        let amount = Amount::Operations(operations);
        let spec = device::Spec { sync, threads, amount, ..device::Spec::small(pattern) };
        let folder = tempfile::tempdir().unwrap();
        let prepared = PreparedFile::new(&spec, folder.path()).unwrap();
        prepared.measure(&Clock::new()).unwrap();
        let found = xxh3_64(&std::fs::read(folder.path().join("device.data")).unwrap());
        prepared.finish().unwrap();
        if found != expected {
            writeln!(differences, "{} by {threads}, {operations}: {found:#x}", pattern.name()).unwrap();
        }
    }
    assert!(differences.is_empty(), "other blocks than before:\n{differences}");
}

#[test]
fn a_panic_in_one_thread_ends_the_trial_at_once() {
    // Each would go on for an hour.
    for trial in [
        "crud memory records=100..400 threads=3 duration=1h order=get",
        "crud memory records=100..400 threads=3 rate=1/s duration=1h order=get",
        "ycsb memory records=100 workload=A threads=3 duration=1h",
        "ycsb memory records=100 workload=A threads=2 rate=1/s duration=1h",
        "replay memory threads=3 trace=twitter speed=0.001",
        "shop sql data_size=64KiB threads=3 duration=1h",
    ] {
        // By then all are at work: rates begin with one operation of each thread.
        let calls_before = if trial.contains(" rate=") { 0 } else { 30 };
        let (_, inner, sql) = stores(trial);
        match tape::panicking(inner, sql, calls_before, || run(trial)) {
            Err(TrialError::Failed(stop)) => {
                assert_eq!(stop.message, "a thread panicked: a fault that was planted", "{trial}");
            }
            other => panic!("{trial}: {other:?}"),
        }
    }
}
