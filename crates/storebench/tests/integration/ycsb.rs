//! The workload `ycsb` over every store, and over stores that lie.

use std::path::PathBuf;

use storebench_core::axis::Axis;
use storebench_core::axis::ycsb::BUILT_IN;
use storebench_core::cell::Cell;
use storebench_core::error::Exit;
use storebench_core::result::{LeftOutReason, Measurements, OVERALL, OperationResult, Outcome};
use storebench_core::store::{Guarantee, StoreDef, StoreKind, Threads};
use storebench_core::workload::case::Case;
use storebench_core::workload::parameter::Parameters;
use storebench_core::workload::spec::{Spec, TrialContext, TrialError};
use storebench_core::workload::table::Workload;
use storebench_host::plan::Plan;

use crate::cli::support::{Scratch, faulty, outcomes, said};
use crate::tier;

/// The settings of a trial, without its store.
struct How<'a> {
    workload: &'a str,
    axes: &'a [(&'a str, &'a str)],
    parameters: &'a [(&'a str, &'a str)],
}

/// A trial of 150 requests on 60 records, in which a kind at 5 % occurs.
const SMALL: &[(&str, &str)] =
    &[("operations", "150"), ("properties", "fieldcount=3,fieldlength=20,maxscanlength=20")];

fn spec(store: &StoreDef, how: &How<'_>, directory: PathBuf) -> Spec {
    let plain = [
        ("store", store.name),
        ("workload", how.workload),
        ("records", "60"),
        ("data", "incompressible"),
        ("guarantee", "default"),
    ];
    let named = |name: &str| Axis::named(name).unwrap();
    let cell = plain
        .iter()
        .chain(how.axes)
        .fold(Cell::default(), |cell, (axis, text)| cell.with(named(axis), named(axis).read(text).unwrap()));
    let parameters = how
        .parameters
        .iter()
        .chain([&crate::AT_ONCE])
        .fold(Parameters::default(), |all, (name, text)| all.with(name, text).unwrap());
    Spec::alone(cell, directory, "ycsb".parse().unwrap(), parameters)
}

/// Runs a trial; `None` where the workload says itself that the store can't do this, with its reason.
fn trial(store: &StoreDef, how: &How<'_>) -> Result<Result<Measurements, TrialError>, LeftOutReason> {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let directory = folder.path().join("store");
    std::fs::create_dir(&directory).unwrap();
    let spec = spec(store, how, directory);
    let stores = [store.clone()];
    let workload: Workload = "ycsb".parse().unwrap();
    let case = Case::alone(&spec.cell, &spec.parameters, &stores, 1 << 30);
    match (workload.def().reason)(&case) {
        Some(reason) => Err(reason),
        None => Ok((workload.def().run)(&TrialContext { stores: &stores, spec: &spec, reach: None })),
    }
}

fn measured(store: &StoreDef, how: &How<'_>) -> Measurements {
    match trial(store, how) {
        Ok(Ok(measured)) => measured,
        Ok(Err(ended)) => panic!("{}, {}: {ended:?}", store.name, how.workload),
        Err(reason) => panic!("{}, {}: {reason}", store.name, how.workload),
    }
}

fn count(measured: &Measurements, operation: &str) -> u64 {
    measured.operation(operation).map_or(0, |operation| operation.count)
}

fn built() -> impl Iterator<Item = &'static StoreDef> {
    storebench::STORES
        .iter()
        .filter(|store| store.open.is_ok() && store.capabilities.keeps && store.lacks().is_none())
        .filter(|store| tier::asks_for(store))
}

#[test]
fn every_store_does_every_workload() {
    for store in built() {
        for workload in BUILT_IN {
            let how = How { workload, axes: &[], parameters: SMALL };
            if *workload == "E" && !store.capabilities.order {
                assert_eq!(
                    trial(store, &how).unwrap_err(),
                    LeftOutReason::NoOrder { store: store.name.into() }
                );
                continue;
            }
            let measured = measured(store, &how);
            let of = |operation| count(&measured, operation);
            let kinds = ["read", "update", "insert", "scan", "read-modify-write"].map(of);
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
            let all = if *workload == "load" { 60 } else { 150 };
            assert_eq!(of(OVERALL), all, "{} {workload}", store.name);
            let few = match *workload {
                "B" => kinds[1],
                "D" | "E" => kinds[2],
                _ => 7,
            };
            assert!((6..=9).contains(&few), "{} {workload}: {kinds:?}", store.name);
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
        let Some(store) = built().find(|store| store.name == name) else { continue };
        for (workload, axes, properties) in WAYS {
            let parameters = [("operations", "300"), ("properties", properties)];
            let measured = measured(store, &How { workload, axes, parameters: &parameters });
            assert_eq!(count(&measured, OVERALL), 300, "{name} {workload} {properties}");
            assert_eq!(measured.audit.unwrap().records, measured.stored.records);
        }
    }
}

#[test]
fn threads_share_all_records_and_what_they_read_is_checked() {
    for store in built().filter(|store| store.capabilities.threads != Threads::One) {
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
            let how = How { workload, axes: &axes, parameters: &parameters };
            if !store.capabilities.replaces_whole {
                assert_eq!(
                    trial(store, &how).err(),
                    Some(LeftOutReason::TornReads { store: store.name.into() })
                );
                continue;
            }
            let measured = measured(store, &how);
            assert_eq!(count(&measured, OVERALL), 400, "{} {workload}", store.name);
            assert_eq!(measured.audit.as_ref().unwrap().records, measured.stored.records);
            assert!(measured.operation(OVERALL).unwrap().rate_over_ns.is_some());
        }
    }
}

#[test]
fn a_time_ends_it_and_inserts_stay_within_their_bound() {
    let memory = built().find(|store| store.name == "memory").unwrap();
    let timed = |workload: &str, parameters: &[(&str, &str)]| {
        measured(memory, &How { workload, axes: &[("records", "60..90")], parameters })
    };
    let until = timed("C", &[("duration", "50ms")]);
    assert!(count(&until, OVERALL) > 0 && until.operation(OVERALL).unwrap().wall_ns >= 50_000_000);
    let capped = timed("C", &[("operations", "10"), ("max_time", "50s")]);
    assert_eq!(count(&capped, OVERALL), 10);
    let full = timed("D", &[("duration", "20s")]);
    assert_eq!((full.stored.records, count(&full, "insert")), (90, 30), "it ends when there is no more room");
}

#[test]
fn rounds_go_on_with_one_database() {
    for store in built() {
        for between in ["nothing", "close"] {
            let properties = "fieldcount=1,insertproportion=0.1,readproportion=0.4,updateproportion=0.5";
            let parameters = [
                ("operations", "50"),
                ("rounds", "3"),
                ("between_rounds", between),
                ("properties", properties),
            ];
            let how = How { workload: "own:mine", axes: &[], parameters: &parameters };
            if between == "close" && !store.capabilities.persists {
                assert_eq!(
                    trial(store, &how).err(),
                    Some(LeftOutReason::LosesRounds { store: store.name.into() })
                );
                continue;
            }
            if between == "close" && store.kind == StoreKind::Server {
                let reason = trial(store, &how).err().unwrap().to_string();
                assert!(reason.contains("is a server"), "{reason}");
                continue;
            }
            let measured = measured(store, &how);
            let rounds = &measured.rounds;
            let counts = |name: &str| -> Vec<u64> {
                rounds.iter().map(|round| round.operation(name).map_or(0, |one| one.count)).collect()
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
    let memory = built().find(|store| store.name == "memory").unwrap();
    for axes in [&[("threads", "3")][..], &[("rate", "20000/s")]] {
        let parameters = [("operations", "90"), ("rounds", "4"), ("properties", "fieldcount=2")];
        let measured = measured(memory, &How { workload: "A", axes, parameters: &parameters });
        assert_eq!((measured.rounds.len(), count(&measured, OVERALL)), (4, 360));
        let over = |one: &OperationResult| one.rate_over_ns.unwrap();
        let rounds = measured.rounds.iter().map(|round| over(round.operation(OVERALL).unwrap()));
        assert_eq!(
            rounds.sum::<u64>(),
            over(measured.operation(OVERALL).unwrap()),
            "what lies between is in no rate"
        );
    }
}

#[test]
fn a_power_promise_is_held_to_its_syncs() {
    for store in built().filter(|store| store.offer(Guarantee::Power).is_some()) {
        let axes = [("guarantee", "power")];
        let parameters = [("operations", "20"), ("properties", "fieldcount=1")];
        let measured = measured(store, &How { workload: "U", axes: &axes, parameters: &parameters });
        let counters = measured.operation("update").unwrap().counters.clone().unwrap();
        assert!(counters.syncs.is_none_or(|syncs| syncs >= 20), "{}: {counters:?}", store.name);
    }
}

/// Each lie, the workload that brings it to light, and what the message says.
const LIES: &[(&str, &str, &str)] = &[
    ("drops-updates", "--workload A", "that were not written last"),
    ("drops-updates", "--workload U", "is not what was written last"),
    ("drops-updates", "--workload A --threads 2 --operations 500", "not"),
    ("drops-updates", "--workload U --rounds 3", "is not what was written last"),
    ("lies", "--workload C --properties fieldcount=9,readallfields=false", "that were not written last"),
    ("lies", "--workload C", "that were not written last"),
    ("shortens", "--workload C", "that were not written last"),
    ("misses", "--workload B", "is missing"),
    ("lies", "--workload F", "that were not written last"),
    ("miscounts", "--workload C", "counts"),
    ("forgets", "--workload C", "closed and opened anew"),
    ("loses", "--workload U --records 10000", "is missing"),
];

#[test]
fn each_lie_is_noticed_in_its_first_trial() {
    for (store, how, says) in LIES {
        let scratch = Scratch::new();
        let records = if how.contains("--records") { "" } else { "--records 50" };
        let operations = if how.contains("--operations") { "" } else { "--operations 300" };
        let rounds = if how.contains("--rounds") { "" } else { "--rounds 1" };
        let asked = format!(
            "run ycsb --store {store} --guarantee process --trials 1 {records} {operations} {rounds} {how}"
        );
        let said = scratch.faulty(&asked).ends(Exit::TrialsFailed);
        let run = scratch.results();
        assert_eq!(outcomes(&run), [(*store, "wrong-data")], "{said}");
        let Outcome::Failed { message, .. } = &run.trials[0].outcome else { panic!("{said}") };
        assert!(message.contains(says), "{store} {how}: {message}");
    }
}

/// YCSB's six workloads in the form in which it ships them.
const FILES: [(&str, &str); 6] = [
    (
        "workloada",
        "readproportion=0.5\nupdateproportion=0.5\nscanproportion=0\ninsertproportion=0\n\nrequestdistribution=zipfian\n",
    ),
    (
        "workloadb",
        "readproportion=0.95\nupdateproportion=0.05\nscanproportion=0\ninsertproportion=0\n\nrequestdistribution=zipfian\n",
    ),
    (
        "workloadc",
        "readproportion=1\nupdateproportion=0\nscanproportion=0\ninsertproportion=0\n\nrequestdistribution=zipfian\n",
    ),
    (
        "workloadd",
        "readproportion=0.95\nupdateproportion=0\nscanproportion=0\ninsertproportion=0.05\n\nrequestdistribution=latest\n",
    ),
    (
        "workloade",
        "readproportion=0\nupdateproportion=0\nscanproportion=0.95\ninsertproportion=0.05\n\nrequestdistribution=zipfian\n\n\
         maxscanlength=100\n\nscanlengthdistribution=uniform\n",
    ),
    (
        "workloadf",
        "readproportion=0.5\nupdateproportion=0\nscanproportion=0\ninsertproportion=0\nreadmodifywriteproportion=0.5\n\n\
         requestdistribution=zipfian\n",
    ),
];

fn file(scratch: &Scratch, name: &str, text: &str) {
    let head = "# A workload of YCSB\nrecordcount=50\noperationcount=200\nworkload=site.ycsb.workloads.CoreWorkload\n\nreadallfields=true\n\n";
    scratch.write(name, format!("{head}{text}"));
}

#[test]
fn ycsb_s_own_files_do_what_the_built_in_workloads_do() {
    for (name, text) in FILES {
        let scratch = Scratch::new();
        file(&scratch, name, text);
        let run = "run ycsb --store memory --guarantee none --trials 1";
        scratch.faulty(&format!("{run} -P {name} -p fieldlength=50 -p threadcount=1")).ends(Exit::Success);
        let results = scratch.results();
        let [trial] = results.trials.as_slice() else { panic!("{results:?}") };
        assert_eq!(trial.cell.text(Axis::WORKLOAD), format!("own:{name}"));
        let law = if text.contains("=zipfian\n") { "zipfian-ycsb" } else { "latest" };
        assert!(
            results.header.plan.contains(&format!("requestdistribution={law}")),
            "{}",
            results.header.plan
        );
        let measured = trial.ok().unwrap();
        let letter = name.trim_start_matches("workload").to_uppercase();
        let memory = storebench_core::stores::MEMORY;
        let parameters = [("operations", "200"), ("properties", "fieldlength=50")];
        let built_in = self::measured(
            &memory,
            &How { workload: &letter, axes: &[("records", "50")], parameters: &parameters },
        );
        let counts = |measured: &Measurements| -> Vec<(String, u64)> {
            measured.operations.iter().map(|one| (one.operation.clone(), one.count)).collect()
        };
        assert_eq!(counts(measured), counts(&built_in), "{name}");
        assert_eq!(measured.load.value_bytes, 50 * 10 * 54, "ten fields, as YCSB has them");
    }
}

#[test]
fn properties_go_where_the_plan_has_them() {
    let scratch = Scratch::new();
    file(&scratch, "mine", "target=5000\nrocksdb.dir=/tmp/ycsb\nmeasurementtype=hdrhistogram\n");
    let run = "run ycsb --store memory --guarantee none --trials 1";
    let said = scratch
        .faulty(&format!(
            "{run} -P mine -p recordcount=30 -p threadcount=2 -p maxexecutiontime=60 -p dataintegrity=true"
        ))
        .ends(Exit::Success);
    assert!(
        said.err.contains("mine:9: rocksdb.dir changes nothing here: a binding to a store reads it;"),
        "{said}"
    );
    assert!(said.err.contains("mine:10: measurementtype changes nothing here: every latency"), "{said}");
    let results = scratch.results();
    let cell = &results.trials[0].cell;
    assert_eq!((cell.records().from, cell.threads(), cell.rate().to_string()), (30, 2, "5000/s".into()));
    let plan = Plan::parse(&results.header.plan, "run.json").unwrap();
    assert_eq!(plan.parameters.text("max_time").as_deref(), Some("60000ms"));
    assert_eq!(plan.parameters.text("operations").as_deref(), Some("200"));
}

#[test]
fn names_of_the_family_and_zeros_mean_here_what_they_mean_there() {
    let scratch = Scratch::new();
    scratch.write("cpp", "workload=core\nlimit.ops=5000\nfield_len_dist=uniform\nmaxexecutiontime=1\n");
    let run = "run ycsb --store memory --guarantee none --trials 1 --dry-run -P cpp";
    let said = scratch.faulty(&format!("{run} -p updateproportion=0.475")).ends(Exit::Success);
    for told in [
        "own:cpp sends 66.7 % read (default), 33.3 % update (-p updateproportion)",
        "operationcount is 0 or not given: requests are sent until maxexecutiontime",
        "recordcount is not given: 1000..5000, as the plan ycsb has it",
    ] {
        assert!(said.err.contains(told), "{told}\n{said}");
    }
    let counted = scratch.faulty(&format!("{run} --operations 50 --records 60")).ends(Exit::Success);
    assert!(!counted.err.contains("is not given") && !counted.err.contains("until"), "{counted}");
    scratch.faulty(&run.replace("--dry-run", "--operations 50")).ends(Exit::Success);
    let results = scratch.results();
    assert!(results.header.plan.contains("fieldlengthdistribution=uniform"));
    assert_eq!(results.trials[0].cell.rate().to_string(), "5000/s");
}

#[test]
fn later_files_replace_what_earlier_ones_say_and_p_replaces_both() {
    let scratch = Scratch::new();
    file(&scratch, "mixed", "readproportion=0.5\nreadmodifywriteproportion=0.5\nmaxexecutiontime=1\n");
    scratch.write("writes", "readproportion=0\nupdateproportion=1\nmaxexecutiontime=0\nrecordcount=60\n");
    let run = "run ycsb --store memory --guarantee none --trials 1 -P mixed -P writes -p recordcount=70";
    let said = scratch.faulty(run);
    let told = "own:mixed_writes sends 66.7 % update (writes:2), 33.3 % read-modify-write (mixed:9)";
    assert!(said.ends(Exit::Success).err.contains(told), "a mix that is no file's own");
    let results = scratch.results();
    let trial = &results.trials[0];
    assert_eq!(trial.cell.text(Axis::WORKLOAD), "own:mixed_writes");
    assert_eq!(trial.cell.records().from, 70);
    let plan = Plan::parse(&results.header.plan, "run.json").unwrap();
    assert_eq!(plan.parameters.text("max_time").as_deref(), Some("none"));
    let measured = trial.ok().unwrap();
    // One update in each read-modify-write.
    let [updates, both] = ["update", "read-modify-write"].map(|operation| count(measured, operation));
    assert!((66..=67).contains(&both) && updates == 200, "{updates} {both}");
}

#[test]
fn each_file_can_be_a_workload_by_itself() {
    let scratch = Scratch::new();
    file(&scratch, "reads", "readproportion=1\nupdateproportion=0\nfieldcount=1\n");
    file(&scratch, "writes", "readproportion=0\nupdateproportion=1\nfieldcount=2\n");
    let run = "run ycsb --store memory --guarantee none --trials 1";
    scratch.faulty(&format!("{run} -P reads -P writes --each-file -p fieldlength=50")).ends(Exit::Success);
    let results = scratch.results();
    let of = |workload: &str| {
        let found = results.trials.iter().find(|trial| trial.cell.text(Axis::WORKLOAD) == workload);
        found.unwrap_or_else(|| panic!("{workload}: {:?}", results.trials)).ok().unwrap()
    };
    assert_eq!(results.trials.len(), 2);
    let (reads, writes) = (of("own:reads"), of("own:writes"));
    assert_eq!((count(reads, "read"), count(writes, "update")), (200, 200));
    assert_eq!(reads.operations.iter().filter(|one| one.operation == "update").count(), 0);
    // A field by itself is its bytes; of two, each has its length in four bytes before it.
    let size = |measured: &Measurements| measured.load.value_bytes / measured.load.records;
    assert_eq!((size(reads), size(writes)), (50, 2 * 54));

    file(&scratch, "more", "recordcount=61\n");
    scratch.write("bare", "readproportion=1\n");
    file(&scratch, "other/reads", "");
    for (files, says) in [
        ("-P reads -P more", "recordcount: reads says 50, and more says 61"),
        ("-P reads -P bare", "operationcount: reads says 200, and bare says none"),
        ("-P reads -P other/reads", "two files reads"),
    ] {
        scratch.faulty(&format!("{run} {files} --each-file")).complains(Exit::BadValue, &[says]);
    }
    let both = scratch.faulty(&format!("{run} -P reads -P more --each-file -p recordcount=40"));
    both.ends(Exit::Success);
    scratch.faulty(&format!("{run} --each-file")).complains(Exit::Usage, &["-P <FILE>"]);
}

#[test]
fn what_is_not_supported_is_told_with_its_place() {
    let scratch = Scratch::new();
    file(&scratch, "bad", "rocksdbdir=/tmp/x\n");
    file(&scratch, "good", "");
    file(&scratch, "wrong", "updateproportion=much\n");
    let run = "run ycsb --store memory --guarantee none";
    for (asked, says) in [
        ("-P bad", &["bad:8:", "rocksdbdir", "unknown"][..]),
        ("-P nowhere", &["nowhere", "can't be read"]),
        ("-P good -p readallfields=some", &["-p readallfields", "true, false"]),
        ("-P good -p fieldlengthdistribution=histogram", &["a file of lengths is not read"]),
        ("-P wrong -P good", &["wrong:8:", "updateproportion"]),
        ("-p recordcuont=5", &["did you mean recordcount?"]),
        ("-p recordcount=0", &["-p recordcount", "empty"]),
        ("-p recordcount", &["write it like -p recordcount=1000"]),
        ("-p batchsize=5", &["inserts are done one by one"]),
        ("-p deleteproportion=0.2", &["only 0 is", "run crud has"]),
        ("-p recordcount=5 -p recordcount=6", &["-p recordcount: -p gives it twice"]),
        ("-P good -p operationcount=0", &["-p operationcount", "needs maxexecutiontime"]),
        ("--workload Z", &["is not a workload of YCSB"]),
        ("--distribution normal", &["is not a distribution"]),
        ("--properties fieldcount=x", &["fieldcount", "whole number"]),
    ] {
        let said = scratch.faulty(&format!("{run} {asked}"));
        assert!(
            said.code == Some(Exit::BadValue.code().into()) || said.code == Some(Exit::BadPlan.code().into()),
            "{said}"
        );
        for word in says {
            assert!(said.err.contains(word), "{asked}: {word:?} is missing\n{said}");
        }
        assert!(scratch.runs().is_empty());
    }
    scratch
        .faulty("run crud -p recordcount=5")
        .complains(Exit::Usage, &["-p or -P is an option of the study ycsb, not of crud"]);
    scratch.faulty(&format!("{run} --ycsb good")).complains(Exit::NotStorebench, &["good already exists"]);
    scratch
        .faulty(&format!("{run} --between-rounds sleep"))
        .complains(Exit::BadValue, &["use nothing or close"]);
    let rounds = scratch.faulty(&format!("{run} --workload load --rounds 2"));
    rounds.complains(Exit::Nothing, &["fills an empty store"]);
    let left = scratch.faulty(&format!("{run} -p readproportion=0 -p updateproportion=0 --workload C"));
    left.complains(Exit::Nothing, &["all proportions are 0"]);
}

#[test]
fn scripts_for_ycsb_read_a_run() {
    let scratch = Scratch::new();
    let run = "run ycsb --store memory --workload F --guarantee none --trials 1 --rounds 1 --records 50 --operations 200";
    scratch.faulty(run).ends(Exit::Success);
    let text = scratch.faulty("report latest --ycsb").ends(Exit::Success).out;
    let mut found = std::collections::BTreeMap::new();
    for line in text.lines() {
        let [name, figure, value] = line.split(", ").collect::<Vec<_>>().try_into().expect(line);
        let name = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).expect(line);
        found.insert((name, figure), value.parse::<f64>().expect(line));
    }
    for name in ["READ", "UPDATE", "READ-MODIFY-WRITE"] {
        for figure in [
            "Operations",
            "AverageLatency(us)",
            "MinLatency(us)",
            "MaxLatency(us)",
            "95thPercentileLatency(us)",
            "99thPercentileLatency(us)",
            "Return=OK",
        ] {
            assert!(found.contains_key(&(name, figure)), "[{name}], {figure} is missing\n{text}");
        }
    }
    let of = |name| found[&(name, "Operations")];
    // Each is a read and an update, too.
    assert_eq!((of("READ"), of("UPDATE")), (200.0, of("READ-MODIFY-WRITE")));
    assert!(found[&("OVERALL", "Throughput(ops/sec)")] > 0.0 && found[&("OVERALL", "RunTime(ms)")] >= 0.0);
}

#[test]
fn a_run_writes_the_text_of_ycsb_to_a_new_file() {
    let scratch = Scratch::new();
    file(&scratch, "workloada", "readproportion=0.5\nupdateproportion=0.5\n");
    scratch.write("large.dat", "recordcount=70\n");
    let run = "run ycsb --store memory --guarantee none --trials 1 -P workloada -P large.dat";
    scratch.faulty(&format!("{run} --ycsb figures.txt")).ends(Exit::Success);
    let trial = &scratch.results().trials[0];
    assert_eq!(trial.cell.text(Axis::WORKLOAD), "own:workloada", "the file that says what is done");
    assert_eq!(trial.cell.records().from, 70);
    let text = std::fs::read_to_string(scratch.join("figures.txt")).unwrap();
    assert!(text.starts_with("[OVERALL], RunTime(ms), "), "{text}");
    assert_eq!(text, scratch.faulty("report latest --ycsb").ends(Exit::Success).out);
}

#[test]
fn the_same_seed_sends_every_store_the_same_requests() {
    let scratch = Scratch::new();
    let notes = |name: &str| {
        let mut command = scratch.command(faulty(), "run ycsb --store notes --workload D --guarantee process --trials 1 --rounds 1 --records 40 --operations 100");
        let path = scratch.join(name);
        said(command.env("STOREBENCH_TEST_NOTES", &path)).ends(Exit::Success);
        std::fs::read_to_string(path).unwrap()
    };
    let (first, again) = (notes("first"), notes("again"));
    assert!(first.lines().count() > 100 && first == again);
    assert!(first.contains("user6284781860667377211"), "keys are YCSB's");
}
