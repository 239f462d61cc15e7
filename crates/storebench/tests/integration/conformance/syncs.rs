//! The promises of stores about power cuts, checked against the syncs that they make. Counts are a whole process's, and tests
//! of one binary run in parallel, so each store is measured by the program itself, in a separate run.

use std::path::Path;
use std::process::{Command, Stdio};

use storebench::STORES;
use storebench_model::error::Exit;
use storebench_model::result::{Counters, Measurements, Outcome, TrialResult};
use storebench_model::store::{Guarantee, StoreDef, StoreKind};
use storebench_model::test_hooks;
use tempfile::TempDir;

use super::subject::{Subject, chosen, for_each_private, is_installed};
use crate::cli::support::{Scratch, outcomes};
use crate::{in_memory, tier};

const LOADED: u64 = 200;
const BATCH: u64 = 50;
const WRITES: [&str; 3] = ["insert", "update", "remove"];

/// Below `power`, stores make durable what they hold now and then, as logs fill up or files are made, and never with each write.
const OCCASIONAL: f64 = 0.1;

#[test]
fn power_syncs_each_write_and_the_rest_do_not() {
    for_each_private(|subject| {
        let operations = subject.operations(200);
        let measured = measure(subject.def, subject.tier, operations, None);
        assert_eq!(measured.guarantee, subject.guarantee());
        if subject.def.kind == StoreKind::Server || !subject.can().calls_are_seen {
            return of_itself(subject, &measured, operations);
        }
        let mut syncs = 0;
        for name in WRITES {
            let counters = measured.operation(name).unwrap().counters.as_ref().unwrap();
            if subject.guarantee() == Guarantee::Power {
                assert!(durable(counters) >= operations, "{operations} {name}s: {counters:?}");
            }
            syncs += durable(counters);
        }
        let load = measured.load.counters.as_ref().unwrap();
        if subject.guarantee() == Guarantee::Power {
            assert!(durable(load) >= LOADED / BATCH, "{} batches: {load:?}", LOADED / BATCH);
        } else if subject.tier.is_some() {
            // As shipped a store may do more than its tier asks for: SQLite syncs its journal and still gives `process`,
            // because it does not sync the journal's removal.
            let per_write = syncs as f64 / (operations * WRITES.len() as u64) as f64;
            assert!(per_write < OCCASIONAL, "{per_write} syncs per write");
            assert!(durable(load) < LOADED / BATCH, "{load:?}");
        }
    });
}

/// Checks the count of a server, or of a library with invisible calls, over the whole trial; the loads and the operations make at least this many.
fn of_itself(subject: &Subject, measured: &Measurements, operations: u64) {
    let unknown = |figure: &str| measured.unknown.iter().any(|unknown| unknown.figure == figure);
    assert!(measured.operations.iter().all(|one| one.counters.as_ref().unwrap().syncs.is_none()));
    assert!(unknown("syncs"), "{:?}", measured.unknown);
    let is_count = |name: &str| ["wal_syncs", "syncs", "syncs, as the library counts them"].contains(&name);
    let counted = measured.statistics.iter().find(|statistic| is_count(&statistic.name));
    // A count of all syncs includes syncs of pages, of making the table and of settling, too.
    let occasional = if counted.is_some_and(|count| count.name != "wal_syncs") { 0.25 } else { OCCASIONAL };
    let Some(syncs) = counted.map(|syncs| syncs.value.parse::<u64>().unwrap()) else {
        let of = if subject.def.kind == StoreKind::Server {
            "syncs of the server"
        } else {
            "syncs of the library"
        };
        assert_eq!(unknown(of), subject.guarantee() >= Guarantee::Power);
        return;
    };
    let writes = operations * WRITES.len() as u64 + LOADED / BATCH;
    match subject.guarantee() {
        Guarantee::Power | Guarantee::Node => assert!(syncs >= writes, "{syncs} syncs for {writes} writes"),
        _ => assert!((syncs as f64) < writes as f64 * occasional, "{syncs} syncs for {writes} writes"),
    }
}

/// Engines in C, in Rust and in shared libraries, and calls of every kind that they make here.
#[test]
fn known_calls_are_counted_under_their_names() {
    let known: [(&str, &[&str]); 8] = [
        ("sqlite", &["fsync"]),
        ("leveldb", &["fdatasync"]),
        ("rocksdb", &["fdatasync"]),
        ("berkeleydb", &["fdatasync"]),
        // The pages are synced, and then the page is written that names them.
        ("lmdb", &["fdatasync", "synchronous write"]),
        ("redb", &["fdatasync"]),
        ("fjall", &["fdatasync"]),
        // The file and its directory, which is two calls.
        ("flat-folder", &["fsync"]),
    ];
    let operations = 20;
    std::thread::scope(|scope| {
        for def in chosen().filter(|def| def.open.is_ok()) {
            let Some((_, calls)) = known.iter().find(|(name, _)| *name == def.name) else { continue };
            scope.spawn(move || {
                let measured = measure(def, Some(Guarantee::Power), operations, None);
                let counters = measured.operation("insert").unwrap().counters.as_ref().unwrap();
                let times = if def.name == "flat-folder" { 2 } else { 1 };
                for call in *calls {
                    // A log that fills up is one more.
                    let counted = counters.syncs_by_call.get(*call).copied().unwrap_or_default();
                    let expected = operations * times..=operations * times + 2;
                    assert!(expected.contains(&counted), "{}: {counters:?}", def.name);
                }
                assert_eq!(counters.syncs_by_call.len(), calls.len(), "{}: {counters:?}", def.name);
                assert!(counters.sync_ns.unwrap() > 0);
            });
        }
    });
}

#[test]
fn a_store_that_does_nothing_counts_nothing() {
    let measured = measure(null(), None, 200, None);
    for operation in &measured.operations {
        let counters = operation.counters.as_ref().unwrap();
        let seen = (counters.syncs, counters.sync_ns, counters.written_bytes, counters.read_bytes);
        assert_eq!(seen, (Some(0), Some(0), Some(0), Some(0)), "{}", operation.operation);
        assert!(counters.syncs_by_call.is_empty());
    }
    let load = measured.load.counters.as_ref().unwrap();
    assert_eq!((load.syncs, load.written_bytes, load.read_bytes), (Some(0), Some(0), Some(0)));
    assert_eq!(measured.written.unwrap().records, LOADED + 3 * 200, "loaded, inserted, updated, put back");
    assert_eq!(measured.operation("remove").unwrap().put_back, 200);
}

#[test]
fn what_is_not_known_has_a_reason() {
    let memory = Path::new("/dev/shm");
    let mut places = vec![None];
    places.extend(memory.is_dir().then_some(Some(memory)));
    for place in places {
        let measured = measure(null(), None, 200, place);
        for (figure, known) in
            [("device", measured.device.is_some()), ("processors", measured.processors.is_some())]
        {
            let unknown = measured.unknown.iter().find(|unknown| unknown.figure == figure);
            assert_ne!(known, unknown.is_some(), "{figure} in {place:?}: {:?}", measured.unknown);
            assert!(unknown.is_none_or(|unknown| !unknown.reason.is_empty()));
        }
        if let Some(device) = &measured.device {
            assert!(device.shared && device.idle_written_bytes_per_s.is_some(), "{device:?}");
            assert!(device.burst.written_bytes <= device.settled.written_bytes, "{device:?}");
        }
    }
}

fn null() -> &'static StoreDef {
    STORES.iter().find(|def| def.name == "null").unwrap()
}

/// Calls after which what was written survives a power cut.
fn durable(counters: &Counters) -> u64 {
    let all = counters.syncs.expect("syncs are counted here");
    all - counters.syncs_by_call.get("sync_file_range").copied().unwrap_or_default()
}

/// What a server counted before the page cache was emptied, and it was opened anew, counts too.
#[test]
fn every_guarantee_of_a_server_holds_warm_and_cold() {
    let asked =
        |def: &&StoreDef| def.kind == StoreKind::Server && (tier::is_whole() || def.name == "postgres");
    for def in STORES.iter().filter(asked).filter(|def| def.open.is_ok() && is_installed(def)) {
        let scratch = Scratch::new();
        let tiers: Vec<&str> = def.offers.iter().map(|offer| offer.guarantee.name()).collect();
        let small = "--records 20 --record-size 100B --data incompressible --operations 20 --trials 1";
        let asked = format!("--store {} --guarantee {} --cache warm,cold", def.name, tiers.join(","));
        let said = scratch.storebench(&format!("run crud {asked} {small}")).ends(Exit::Success);
        assert_eq!(outcomes(&scratch.results()), vec![(def.name, "ok"); 2 * tiers.len()], "{said}");
    }
}

fn measure(def: &StoreDef, tier: Option<Guarantee>, operations: u64, place: Option<&Path>) -> Measurements {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    // etcd gives a request up when its disk holds it up for 7 s, as a busy one may. It counts its syncs itself.
    let work = match place {
        None if def.name == "etcd" => Some(in_memory::folder("etcd-")),
        _ => place.map(|place| tempfile::tempdir_in(place).unwrap()),
    };
    let plan = folder.path().join("syncs.toml");
    let guarantee = tier.map_or("default", Guarantee::name);
    std::fs::write(&plan, plan_text(def.name, guarantee, operations)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_storebench"));
    command.arg("run").arg(&plan).arg("--out").arg(folder.path().join("runs"));
    command.arg("--at").arg(work.as_ref().map_or(folder.path(), TempDir::path));
    if def.kind == StoreKind::Harness {
        command.env(test_hooks::VARIABLE, test_hooks::MEMORY_KEEPS);
    }
    if let Some(library) = def.library {
        command.arg("--store-library").arg(&library.path);
    }
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    match only_trial(&folder.path().join("runs")) {
        TrialResult { outcome: Outcome::Ok, measured: Some(measured), .. } => measured,
        other => panic!("{} {guarantee}: {:?}", def.name, other.outcome),
    }
}

fn only_trial(runs: &Path) -> TrialResult {
    let run = std::fs::read_dir(runs).unwrap().next().unwrap().unwrap().path();
    let mut trials = storebench_host::folder::read(&run).unwrap().trials;
    assert_eq!(trials.len(), 1);
    trials.remove(0)
}

fn plan_text(store: &str, guarantee: &str, operations: u64) -> String {
    format!(
        r#"
        format = 1
        name = "syncs"
        title = "Syncs per operation"
        workload = "crud"
        trials = 1
        operations = {operations}
        order = ["insert", "get", "update", "remove"]
        batch = {BATCH}
        visit = "copy"
        compression = "off"
        seed = 1
        size_limit = "1GiB"
        timeout = "5m"

        [axes]
        store = ["{store}"]
        record_size = ["1B..1KiB"]
        records = ["{LOADED}..1000"]
        data = ["incompressible"]
        guarantee = ["{guarantee}"]
        "#
    )
}
