use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use storebench_model::axis::Axis;
use storebench_model::cell::Cell;
use storebench_model::result::{Failure, Measurements};
use storebench_model::store::{
    Capabilities, OpenFn, OpenOptions, Result as StoreResult, Session, Store, StoreDef, StoreError,
};
use storebench_model::stores::{FLAT_FOLDER, MEMORY, NESTED_FOLDER, NULL};

use super::*;
use crate::trace::Summary;
use crate::trace::synthetic::{CLUSTER_14, TraceTraits, ZIPPYDB};
use crate::workload::parameter::Parameters;
use crate::workload::spec::{Spec, TrialContext, TrialError};

fn play(
    store: StoreDef,
    text: &str,
    threads: &str,
    parameters: &[(&str, &str)],
) -> Result<Measurements, TrialError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace");
    std::fs::write(&path, text).unwrap();
    let directory = folder.path().join("store");
    std::fs::create_dir(&directory).unwrap();
    // Other tests of this process are at work all the time.
    let mut all_parameters = Parameters::default().with("after_load", "at-once").unwrap();
    for (name, value) in [("trace", path.to_str().unwrap())].iter().chain(parameters) {
        all_parameters.set(name, value).unwrap();
    }
    let options = parameters::reader_options(&all_parameters);
    let summary = Summary::read(&path, options, &|| false).unwrap().unwrap();
    all_parameters.set("trace_facts", &summary.facts.to_string()).unwrap();
    let cell = Cell::new(store.name).with(Axis::THREADS, Axis::THREADS.read(threads).unwrap());
    let spec = Spec::unwatched(cell, directory, "replay".parse().unwrap(), all_parameters);
    let spec = Spec { seed: 3, ..spec };
    (WORKLOAD.run)(&TrialContext { stores: &[store], spec: &spec, reach: None })
}

fn counts(measured: &Measurements) -> Vec<(&str, u64)> {
    measured.operations.iter().map(|operation| (operation.operation.as_str(), operation.count)).collect()
}

fn played(measured: &Measurements) -> u64 {
    let counted = counts(measured);
    let (all, each) = counted.split_first().unwrap();
    assert_eq!(*all, ("overall", each.iter().map(|(_, count)| count).sum()));
    all.1
}

fn statistic(measured: &Measurements, name: &str) -> u64 {
    let name = format!("replay.{name}");
    measured.statistics.iter().find(|setting| setting.name == name).unwrap().value.parse().unwrap()
}

const SMALL: &str = "time,operation,key,size\n\
    0,get,alpha,300\n0,set,beta/1,100\n0.01,get,beta/1,\n0.01,modify,gamma,50\n0.02,remove,alpha,\n0.02,get,alpha,\n\
    0.03,set,delta,8\n0.03,get,delta,\n0.04,skip,epsilon,\n0.05,set,beta/1,20\n";

#[test]
fn what_is_read_first_is_loaded_or_missed() {
    for store in [MEMORY, FLAT_FOLDER, NESTED_FOLDER] {
        for threads in ["1", "3"] {
            let name = store.name;
            let measured = play(store.clone(), SMALL, threads, &[]).unwrap();
            let expected =
                [("overall", 9), ("get", 3), ("miss", 1), ("set", 3), ("modify", 1), ("remove", 1)];
            assert_eq!(counts(&measured), expected, "{name}");
            assert_eq!((measured.load.records, measured.stored.records), (2, 3), "{name}");
            assert_eq!(measured.stored.value_bytes, 50 + 8 + 20);
            let audit = measured.audit.as_ref().unwrap();
            assert_eq!((audit.records, audit.read_back, audit.seen_gone), (3, 3, 1), "{name}");
            assert_eq!(statistic(&measured, "operations_not_played"), 1);
            let changed = if store.capabilities.any_byte_in_keys { 0 } else { 3 };
            assert_eq!(statistic(&measured, "operations_with_a_key_made_to_fit"), changed, "{name}");
            let measured = play(store.clone(), SMALL, threads, &[("load", "nothing")]).unwrap();
            assert_eq!(counts(&measured)[1..3], [("get", 2), ("miss", 2)], "{name}");
            assert_eq!((measured.load.records, measured.stored.records), (0, 3), "{name}");
        }
    }
}

#[test]
fn a_scan_begins_in_its_place_and_ends_with_its_family() {
    let short =
        StoreDef { capabilities: Capabilities { max_key_bytes: 511, ..MEMORY.capabilities }, ..MEMORY };
    let scan_beyond =
        format!("operation,key,size\nset,{0}0001,100\nscan,{0}{1},1\n", "p".repeat(500), "p".repeat(20));
    for (text, bytes, records) in [
        ("operation,key,size\nset,0001,1000\nscan,,1\n", 1000, 1),
        ("0x0000000000000000 1 0 1000 1\n0x 6 0 0 2\n", 1000, 1),
        ("0x01 1 0 100 1\n0x41 1 2 7000 2\n0x00 6 0 0 3\n", 100, 2),
        ("0x41 1 2 10 1\n0x42 1 0 999 2\n0x50 6 2 0 3\n", 0, 2),
        ("0x41 1 0 10 1\n0x41 1 2 999 2\n0x 6 2 0 3\n", 999, 2),
        ("operation,key,size\nset,user:1,100\nremove,user:1,\nscan,user:,1\n", 0, 0),
        ("operation,key,size\nset,user:1,100\nset,user:2,100\nset,user:3,100\nscan,user:1,3\n", 300, 3),
        (scan_beyond.as_str(), 0, 1),
    ] {
        for load in ["read-first", "nothing"] {
            let measured = play(short.clone(), text, "1", &[("load", load)]).unwrap();
            let scan = measured.operation("scan").unwrap();
            assert_eq!((scan.count, scan.value_bytes), (1, bytes), "{text}");
            assert_eq!((measured.load.records, measured.stored.records), (0, records), "{text}");
        }
    }
}

#[test]
fn made_traces_are_played_whole_and_read_back() {
    let traits = TraceTraits { operations: 20_000, ..CLUSTER_14 };
    let measured = play(MEMORY, &traits.twitter(), "2", &[]).unwrap();
    assert_eq!(played(&measured), 20_000);
    assert!(measured.audit.unwrap().read_back > 100);
    let traits = TraceTraits { operations: 20_000, ..ZIPPYDB };
    let measured = play(MEMORY, &traits.rocksdb(), "2", &[]).unwrap();
    let scans = measured.operation("scan").unwrap();
    assert!(scans.count > 400 && scans.value_bytes > 0, "{}", scans.count);
    let measured = play(MEMORY, &traits.rocksdb(), "1", &[("limit", "77")]).unwrap();
    assert_eq!(played(&measured), 77);
}

/// `memory`, with a fault.
struct FaultyStore {
    inner: Box<dyn Store>,
    fault: Fault,
    writes: AtomicU64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    Stalls,
    LosesAWrite,
    KeepsRemoved,
    MixesUp,
}

const STALL: Duration = Duration::from_millis(300);

fn faulty_store(fault: Fault) -> StoreDef {
    let open: OpenFn = Box::leak(Box::new(move |options: &OpenOptions<'_>| open_faulty(options, fault)));
    StoreDef { open: Ok(open), ..MEMORY }
}

fn open_faulty(options: &OpenOptions<'_>, fault: Fault) -> StoreResult<Box<dyn Store>> {
    let inner = (MEMORY.open.unwrap())(options)?;
    Ok(Box::new(FaultyStore { inner, fault, writes: AtomicU64::new(0) }))
}

impl Store for FaultyStore {
    fn session(&self) -> StoreResult<Box<dyn Session + '_>> {
        Ok(Box::new(FaultySession { inner: self.inner.session()?, store: self }))
    }
    storebench_model::pass_on!(inner: guarantee, count, settle, settings, close);
}

struct FaultySession<'a> {
    inner: Box<dyn Session + 'a>,
    store: &'a FaultyStore,
}

impl Session for FaultySession<'_> {
    storebench_model::pass_on!(inner: insert, insert_batch);
    fn update(&mut self, key: &[u8], value: &[u8]) -> StoreResult<()> {
        let writes = self.store.writes.fetch_add(1, Ordering::Relaxed);
        let is_lost = self.store.fault == Fault::LosesAWrite && writes == 5;
        if is_lost { Ok(()) } else { self.inner.update(key, value) }
    }
    fn get(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> StoreResult<bool> {
        match self.store.fault {
            Fault::Stalls if key == b"stall" => std::thread::sleep(STALL),
            Fault::MixesUp if key == b"mixed" => return self.inner.get(b"other", visit),
            _ => {}
        }
        self.inner.get(key, visit)
    }
    fn remove(&mut self, key: &[u8]) -> StoreResult<()> {
        if self.store.fault == Fault::KeepsRemoved { Ok(()) } else { self.inner.remove(key) }
    }
    fn scan(&mut self, _: &[u8], _: usize, _: &mut dyn FnMut(&[u8], &[u8])) -> StoreResult<usize> {
        Err(StoreError::Unsupported("it scans nothing".into()))
    }
}

#[test]
fn a_planted_stall_shows_in_all_that_was_due_meanwhile() {
    // Twenty sets, each ten milliseconds after the one before; the first operation stalls.
    let sets: String = (1..=20).map(|n| format!("{:.3},set,key{n},100\n", f64::from(n) / 100.0)).collect();
    let text = format!("0,get,stall,100\n{sets}");
    let measured = play(faulty_store(Fault::Stalls), &text, "1", &[("speed", "1")]).unwrap();
    let set = measured.operation("set").unwrap();
    let stood_still_ns = 1_000 * statistic(&measured, "schedule_stood_still_us");
    // The n-th was due after 10 n ms and had to wait until the stall was over: 290 + 280 + ... + 100 ms, without the harness's
    // own lateness.
    let waited_ns: u64 = (1..=20).map(|n| (300 - 10 * n) * 1_000_000).sum();
    assert!(set.sum_ns + 20 * stood_still_ns >= waited_ns, "{} {stood_still_ns}", set.sum_ns);
    assert!(set.latency.max_ns + stood_still_ns >= 290_000_000);
    // As fast as it goes, nothing waits for another.
    let measured = play(faulty_store(Fault::Stalls), &text, "1", &[]).unwrap();
    assert!(measured.operation("get").unwrap().sum_ns >= STALL.as_nanos() as u64);
    let set = measured.operation("set").unwrap();
    assert_eq!((set.count, set.rate_over_ns), (20, None));
}

#[test]
fn operations_never_begin_before_they_are_due() {
    let text: String = (0..40).map(|n| format!("{:.3},set,key{n},100\n", f64::from(n) / 200.0)).collect();
    let slow = play(NULL, &text, "2", &[("speed", "0.5")]).unwrap();
    // The last is due 195 ms after the first, at half speed 390.
    assert!(slow.operations[0].wall_ns >= 390_000_000, "{}", slow.operations[0].wall_ns);
    assert!(slow.operations[0].rate_over_ns.is_some());
    // Twitter's whole seconds are spread: the third of three is due two thirds of a second after the first.
    let text: String = (0..3).map(|n| format!("5,key{n:08},11,10,1,set,0\n")).collect();
    let spread = play(NULL, &text, "1", &[("speed", "2")]).unwrap();
    assert!(spread.operations[0].wall_ns >= 333_000_000, "{}", spread.operations[0].wall_ns);
}

#[test]
fn planted_faults_are_found() {
    let never_read: String = (0..10).map(|n| format!("{n},set,key{n},100\n")).collect();
    let lost = format!("{never_read}20,get,key5,\n");
    let stale: String = (0..10).map(|n| format!("{n},set,key{},100\n", n % 5)).collect();
    let mixed = "0,set,other,100\n1,set,mixed,100\n2,get,mixed,\n";
    let removed = "0,set,a,100\n1,remove,a,\n2,get,a,\n";
    for (fault, text, words) in [
        (Fault::LosesAWrite, lost.as_str(), ["is missing", "of the trace"]),
        (Fault::MixesUp, mixed, ["is not what was written under this key", "of the trace"]),
        (Fault::KeepsRemoved, removed, ["is there, though it was removed", "of the trace"]),
        // A lost write that is never read shows in the count at the end.
        (Fault::LosesAWrite, never_read.as_str(), ["the store counts", "were written"]),
        // A lost update shows when it is read back.
        (Fault::LosesAWrite, stale.as_str(), ["", "operation 6 of the trace"]),
    ] {
        let Err(TrialError::Failed(stop)) = play(faulty_store(fault), text, "1", &[]) else {
            panic!("{fault:?} passed")
        };
        assert_eq!(stop.failure, Failure::WrongData, "{fault:?}");
        assert!(words.iter().all(|words| stop.message.contains(words)), "{}", stop.message);
    }
}
