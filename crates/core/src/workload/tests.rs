//! Whole trials of every workload of the table: with one seed, exactly the same calls reach the store. If a change is meant to
//! alter them, the failed test prints the new ones.

mod database;
mod tape;

use std::fmt::Write;

use xxhash_rust::xxh3::xxh3_64;

use super::device::{Amount, PreparedFile};
use super::parameter::Parameters;
use super::spec::{Spec, TrialContext, TrialError};
use super::table::{self, Workload};
use crate::axis::Axis;
use crate::axis::device::values::{Io, Pattern, Sync, SyncCall};
use crate::cell::Cell;
use crate::measure::clock::Clock;
use crate::result::Measurements;
use crate::store::{Capabilities, StoreDef};
use crate::stores::{FLAT_FOLDER, MEMORY};
use crate::trace::synthetic::{CLUSTER_14, TraceTraits, ZIPPYDB};
use crate::trace::{ReaderOptions, Summary};

#[derive(Clone, Copy)]
enum Base {
    Memory,
    Folder,
    Sql,
}

impl Base {
    fn store(self) -> StoreDef {
        let inner = match self {
            Base::Memory => MEMORY,
            Base::Folder => FLAT_FOLDER,
            Base::Sql => {
                let capabilities = Capabilities { sql: true, persists: true, ..MEMORY.capabilities };
                StoreDef { capabilities, ..MEMORY }
            }
        };
        StoreDef { open: Ok(&tape::open), ..inner }
    }

    fn inner(self) -> crate::store::OpenFn {
        match self {
            Base::Folder => FLAT_FOLDER.open.unwrap(),
            Base::Memory | Base::Sql => MEMORY.open.unwrap(),
        }
    }
}

/// A trial's workload, store, axes and parameters, as `axis=value` and `parameter=value`, separated by blanks.
struct Trial {
    workload: &'static str,
    base: Base,
    axes: &'static str,
    parameters: &'static str,
    /// The calls' number and digest.
    calls: (u64, u64),
}

const fn trial(
    workload: &'static str,
    base: Base,
    axes: &'static str,
    parameters: &'static str,
    calls: (u64, u64),
) -> Trial {
    Trial { workload, base, axes, parameters, calls }
}

const YCSB: &str = "operations=500 properties=fieldcount=3,fieldlength=20,maxscanlength=20";

const TRIALS: &[Trial] = &[
    trial(
        "crud",
        Base::Memory,
        "records=100..400 record_size=1B..300B",
        "operations=350",
        (2291, 0x1130_437e_a57a_ec34),
    ),
    trial(
        "crud",
        Base::Memory,
        "records=100..400 record_size=1B..300B threads=3",
        "operations=350 warm_up=20",
        (2431, 0x9a_553d_7f97_e99f),
    ),
    trial(
        "crud",
        Base::Memory,
        "records=100..400 record_size=1B..300B threads=2",
        "operations=600 mix=get=60,update=20,insert=15,remove=5",
        (884, 0x25ad_e59d_d814_12bc),
    ),
    trial(
        "crud",
        Base::Memory,
        "records=50..400 record_size=1B..300B rate=20000/s",
        "operations=200 visit=touch",
        (1688, 0xe179_95d8_1ada_a0b9),
    ),
    trial(
        "crud",
        Base::Folder,
        "records=50..400 record_size=1B..300B guarantee=process cache=cold",
        "operations=60",
        (625, 0x3ecb_9e8e_94fb_1009),
    ),
    trial("ycsb", Base::Memory, "records=100 workload=A", YCSB, (856, 0xc6dc_f56f_7b44_c83e)),
    trial("ycsb", Base::Memory, "records=100 workload=B", YCSB, (632, 0x9d47_16e5_6a74_9682)),
    trial("ycsb", Base::Memory, "records=100 workload=C threads=3", YCSB, (606, 0xbb50_fa86_1d73_b364)),
    trial("ycsb", Base::Memory, "records=100 workload=D", YCSB, (632, 0xd6e7_62a5_bda9_30ea)),
    trial("ycsb", Base::Memory, "records=100 workload=E", YCSB, (630, 0x78ed_2c91_4dc1_416b)),
    trial("ycsb", Base::Memory, "records=100 workload=F rate=20000/s", YCSB, (1106, 0x4dde_d719_be8f_4fd2)),
    trial("ycsb", Base::Memory, "records=100 workload=load", YCSB, (205, 0x4540_78ec_4f1d_80c8)),
    trial(
        "ycsb",
        Base::Memory,
        "records=100 workload=A",
        "operations=300 properties=fieldcount=3,writeallfields=false,readallfields=false",
        (555, 0xe979_a828_653a_3ee4),
    ),
    trial(
        "ycsb",
        Base::Memory,
        "records=100 workload=D",
        "operations=200 rounds=3 properties=fieldcount=1",
        (736, 0x96ec_d3fb_e78a_4354),
    ),
    trial(
        "ycsb",
        Base::Folder,
        "records=50 workload=A guarantee=process",
        "operations=100 rounds=2 between_rounds=close properties=fieldcount=1",
        (314, 0xe1f7_8236_9a19_718c),
    ),
    trial("replay", Base::Memory, "", "trace=twitter", (2342, 0x9dff_7ab6_056d_c5c8)),
    trial("replay", Base::Memory, "threads=3", "trace=twitter", (2343, 0x748d_9596_71a1_b0e4)),
    trial("replay", Base::Memory, "threads=2", "trace=rocksdb load=nothing", (2765, 0x1f2a_1e9b_d892_0eeb)),
    trial("replay", Base::Memory, "", "trace=rocksdb speed=1000000", (2757, 0x078c_66c4_5936_f493)),
    trial("shop", Base::Memory, "data_size=64KiB", "operations=400", (4195, 0xff3_3ad3_b9ce_cc41)),
    trial(
        "shop",
        Base::Memory,
        "data_size=64KiB index=none load_order=unsorted rate=20000/s",
        "operations=400",
        (3332, 0xb300_ee27_2649_54d1),
    ),
    trial("shop", Base::Sql, "data_size=64KiB", "operations=400", (3912, 0x1f0e_ee37_638a_489c)),
    trial(
        "shop",
        Base::Sql,
        "data_size=64KiB load_order=unsorted threads=2",
        "operations=400 shares=orders=1,restock=3",
        (1104, 0xa8e2_f4ef_ce2f_95ac),
    ),
    trial("androbench", Base::Sql, "rows=100 statements=1", "operations=50", (425, 0x47de_f57e_45fb_fe3b)),
    trial(
        "androbench",
        Base::Sql,
        "rows=100 statements=5 rate=20000/s",
        "operations=50 body=40B",
        (1925, 0x8eb1_79dc_69c2_dc14),
    ),
    trial("batch", Base::Sql, "transactions=4 statements=30", "", (396, 0x5d95_a1a5_6382_f856)),
    trial("batch", Base::Sql, "transactions=4 statements=1", "", (24, 0xa5cd_7533_85aa_0153)),
    trial("batch", Base::Memory, "transactions=4 statements=30", "", (132, 0x36a_3b31_9fda_b9ba)),
    trial(
        "batch",
        Base::Folder,
        "transactions=4 statements=30 guarantee=process",
        "",
        (135, 0xbb84_4863_9d08_b4d2),
    ),
    trial(
        "life",
        Base::Memory,
        "records=50 record_size=1B..300B churn=uniform",
        "turnover=3",
        (212, 0x1c0a_6aed_0e61_5cef),
    ),
    trial(
        "life",
        Base::Memory,
        "records=50 record_size=1B..300B churn=queue",
        "turnover=3",
        (512, 0x3a95_fb4c_958a_c058),
    ),
    trial(
        "life",
        Base::Folder,
        "records=50 record_size=1B..300B churn=replace",
        "turnover=2",
        (264, 0x1006_da25_1501_76db),
    ),
];

fn settings(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split_whitespace().map(|word| word.split_once('=').unwrap())
}

/// A trial's parameters; `folder` holds its trace.
fn parameters(text: &str, folder: &std::path::Path) -> Parameters {
    // Other tests of this process are at work all the time.
    let mut parameters = Parameters::default().with("after_load", "at-once").unwrap();
    for (name, value) in settings(text) {
        if name != "trace" {
            parameters = parameters.with(name, value).unwrap();
            continue;
        }
        let path = folder.join("trace");
        let lines = match value {
            "twitter" => TraceTraits { operations: 2_000, ..CLUSTER_14 }.twitter(),
            _ => TraceTraits { operations: 2_000, ..ZIPPYDB }.rocksdb(),
        };
        std::fs::write(&path, lines).unwrap();
        let summary = Summary::read(&path, ReaderOptions::default(), &|| false).unwrap().unwrap();
        parameters = parameters.with("trace", path.to_str().unwrap()).unwrap();
        parameters = parameters.with("trace_facts", &summary.facts.to_string()).unwrap();
    }
    parameters
}

fn calls(trial: &Trial) -> (u64, u64) {
    tape::recorded(trial.base.inner(), matches!(trial.base, Base::Sql), || {
        let settings = (trial.workload, trial.axes, trial.parameters);
        run(trial).unwrap_or_else(|error| panic!("{settings:?}: {error:?}"));
    })
}

fn run(trial: &Trial) -> Result<Measurements, TrialError> {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("store");
    std::fs::create_dir(&directory).unwrap();
    let store = trial.base.store();
    let cell = settings(trial.axes).fold(Cell::new(store.name), |cell, (name, text)| {
        let axis = Axis::find(name).unwrap();
        cell.with(axis, axis.read(text).unwrap())
    });
    let workload = trial.workload.parse::<Workload>().unwrap();
    let spec = Spec {
        seed: 11,
        ..Spec::unwatched(cell, directory, workload, parameters(trial.parameters, folder.path()))
    };
    (workload.def().run)(&TrialContext { stores: std::slice::from_ref(&store), spec: &spec, reach: None })
}

#[test]
fn with_one_seed_the_same_calls_reach_the_store() {
    let mut differences = String::new();
    for trial in TRIALS {
        let found = calls(trial);
        if found != trial.calls {
            writeln!(
                differences,
                "{} {} {}: {}, {:#x}",
                trial.workload, trial.axes, trial.parameters, found.0, found.1
            )
            .unwrap();
        }
    }
    assert!(differences.is_empty(), "other calls than before:\n{differences}");
    for workload in table::all() {
        let is_recorded = TRIALS.iter().any(|trial| trial.workload == workload.name);
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
        let spec = super::device::Spec {
            pattern,
            block: 4096,
            file: 64 * 4096,
            io: Io::Buffered,
            sync,
            cold: false,
            threads,
            amount: Amount::Operations(operations),
            seed: 3,
        };
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
    const NO_CALLS: (u64, u64) = (0, 0);
    // Each would go on for an hour.
    for trial in [
        trial("crud", Base::Memory, "records=100..400 threads=3", "duration=1h order=get", NO_CALLS),
        trial("crud", Base::Memory, "records=100..400 threads=3 rate=1/s", "duration=1h order=get", NO_CALLS),
        trial("ycsb", Base::Memory, "records=100 workload=A threads=3", "duration=1h", NO_CALLS),
        trial("ycsb", Base::Memory, "records=100 workload=A threads=2 rate=1/s", "duration=1h", NO_CALLS),
        trial("replay", Base::Memory, "threads=3", "trace=twitter speed=0.001", NO_CALLS),
        trial("shop", Base::Sql, "data_size=64KiB threads=3", "duration=1h", NO_CALLS),
    ] {
        // By then all are at work: rates begin with one operation of each thread.
        let calls_before = if trial.axes.contains("rate") { 0 } else { 30 };
        let sql = matches!(trial.base, Base::Sql);
        match tape::panicking(trial.base.inner(), sql, calls_before, || run(&trial)) {
            Err(TrialError::Failed(stop)) => {
                assert_eq!(stop.message, "a thread panicked: a fault that was planted", "{}", trial.workload);
            }
            other => panic!("{} {}: {other:?}", trial.workload, trial.axes),
        }
    }
}
