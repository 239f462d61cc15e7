use std::fs::{File, OpenOptions as FileOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use storebench_model::axis::Axis;
use storebench_model::cell::Cell;
use storebench_model::result::Failure;
use storebench_model::store::{OpenFn, OpenOptions, Result, Session, StoreDef, StoreError, Upkeep};
use storebench_model::stores::{FLAT_FOLDER, MEMORY, NULL};

use super::*;
use crate::workload::parameter::Parameters;

mod calls_during_reclaim;

fn trial(
    store: &StoreDef,
    churn: &str,
    axes: &[(Axis, &str)],
    settings: &[(&str, &str)],
) -> std::result::Result<Measurements, TrialError> {
    let mut parameters = Parameters::default().with("after_load", "at-once").unwrap();
    settings.iter().for_each(|(name, text)| parameters.set(name, text).unwrap());
    let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    let directory = folder.path().join("store");
    std::fs::create_dir(&directory).unwrap();
    let base_axes = [(Axis::CHURN, churn), (Axis::RECORDS, "50"), (Axis::RECORD_SIZE, "10B..900B")];
    let mut cell = Cell::new(store.name);
    base_axes.iter().chain(axes).for_each(|(axis, text)| cell.set(*axis, axis.read(text).unwrap()));
    let spec = Spec { seed: 7, ..Spec::unwatched(cell, directory, "life".parse().unwrap(), parameters) };
    run(&TrialContext { stores: std::slice::from_ref(store), spec: &spec, reach: None })
}

#[test]
fn a_set_is_written_ten_times_over_and_given_back() {
    for (store, persists) in [(MEMORY, false), (FLAT_FOLDER, true), (NULL, false)] {
        for churn in storebench_model::axis::life::CHURNS {
            let measured = trial(&store, churn, &[], &[]).unwrap();
            let store = store.name;
            let count = |name| measured.operation(name).map_or(0, |operation| operation.count);
            let (updates, pairs) =
                if matches!(*churn, "uniform" | "zipfian" | "waves") { (500, 0) } else { (0, 500) };
            // A log removes the oldest at once, at the end of a tenth for the latest.
            let removals = if *churn == "log" { 10 } else { pairs };
            assert_eq!((count("update"), count("insert"), count("remove")), (updates, pairs, removals));
            let scans = if *churn == "queue" && store == "memory" { 500 } else { 0 };
            let all = updates + pairs + removals + scans;
            assert_eq!((count("scan"), count(OVERALL)), (scans, all), "{store} {churn}");
            assert_eq!(measured.rounds.len(), TENTHS);
            assert!(measured.rounds.iter().all(|round| round.operations[0].count >= 50));
            assert_eq!(measured.stored.records, 50);
            let fragmentation = measured.fragmentation.as_ref().unwrap();
            let scans = [&fragmentation.fresh_scans_ns, &fragmentation.aged_scans_ns].map(Vec::len);
            assert_eq!(scans, if store == "memory" { [3, 3] } else { [0, 0] }, "{store}");
            let is_whole = fragmentation.pieces.is_none_or(|pieces| pieces.pieces >= pieces.files);
            assert!(is_whole, "{fragmentation:?}");
            let reclaim = measured.space_reclaim.as_ref();
            assert_eq!(reclaim.map(|reclaim| reclaim.removed), persists.then_some(45), "{store} {churn}");
            // A file for each record.
            let files = reclaim
                .map(|reclaim| (measured.disk.files - reclaim.disk.files, reclaim.compacted.is_some()));
            assert_eq!(files, persists.then_some((45, false)), "{store} {churn}");
            let audit = measured.audit.map(|audit| (audit.read_back, audit.seen_gone));
            let audited = if persists { Some((5, 45)) } else { (store == "memory").then_some((50, 0)) };
            assert_eq!(audit, audited, "{store} {churn}");
        }
    }
}

/// A store over memory that goes wrong: it stalls at every hundredth write, leaves 4 KiB of each in a file, keeps a record that it says
/// was removed, makes empty backups, or blocks or refuses writers; or one over a folder of files, whose backups have other values.
struct FaultyStore {
    inner: Box<dyn Store>,
    fault: Fault,
    folder: PathBuf,
    writes: AtomicU64,
    /// Writers wait for this lock, and are refused while it is set.
    refuses: Mutex<bool>,
}

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    Stalls,
    Leaks,
    Keeps,
    Backs,
    Alters,
    Waits,
}

const STALL: Duration = Duration::from_millis(30);
const LEAK: usize = 4096;
const LEAKED: &str = "leak";

impl Store for FaultyStore {
    fn session(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(FaultySession { inner: self.inner.session()?, store: self }))
    }
    storebench_model::pass_on!(inner: guarantee, count, settle, settings, close);
    fn back_up(&self, folder: &Path) -> Result<Option<&'static str>> {
        if !matches!(self.fault, Fault::Backs | Fault::Alters) {
            return Ok(None);
        }
        let files: Vec<_> = std::fs::read_dir(&self.folder).unwrap().flatten().collect();
        std::fs::create_dir(folder).unwrap();
        for file in files.iter().filter(|file| file.metadata().unwrap().is_file()) {
            std::fs::write(folder.join(file.file_name()), b"another").unwrap();
        }
        Ok(Some("another folder"))
    }
    fn upkeep(&self) -> Result<Vec<Upkeep>> {
        let stalls = if self.fault == Fault::Stalls { self.writes.load(Ordering::Relaxed) / 100 } else { 0 };
        Ok(vec![Upkeep::done("stall", stalls), Upkeep::done("nothing", 7)])
    }
}

struct FaultySession<'s> {
    inner: Box<dyn Session + 's>,
    store: &'s FaultyStore,
}

impl Session for FaultySession<'_> {
    storebench_model::pass_on!(inner: insert, get, scan, insert_batch);
    fn update(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let writes = self.store.writes.fetch_add(1, Ordering::Relaxed);
        match self.store.fault {
            Fault::Stalls if writes % 100 == 99 => std::thread::sleep(STALL),
            Fault::Leaks => {
                let mut file = FileOptions::new().append(true).open(self.store.folder.join(LEAKED)).unwrap();
                file.write_all(&[b'x'; LEAK]).and_then(|()| file.sync_all()).unwrap();
            }
            _ => {}
        }
        if *self.store.refuses.lock().unwrap() {
            return Err(StoreError::Engine("the file is locked".into()));
        }
        self.inner.update(key, value)
    }
    fn remove(&mut self, key: &[u8]) -> Result<()> {
        if self.store.fault == Fault::Keeps { Ok(()) } else { self.inner.remove(key) }
    }
}

fn faulty(fault: Fault) -> StoreDef {
    let open: OpenFn = Box::leak(Box::new(move |options: &OpenOptions<'_>| {
        FaultyStore::new(fault, options).map(|store| -> Box<dyn Store> { Box::new(store) })
    }));
    StoreDef { open: Ok(open), ..fault.inner() }
}

impl Fault {
    fn inner(self) -> StoreDef {
        if self == Fault::Alters { FLAT_FOLDER } else { MEMORY }
    }
}

impl FaultyStore {
    fn new(fault: Fault, options: &OpenOptions<'_>) -> Result<FaultyStore> {
        let folder = options.directory.to_path_buf();
        if fault == Fault::Leaks {
            File::create(folder.join(LEAKED)).unwrap();
        }
        let inner = fault.inner().open.unwrap()(options)?;
        Ok(FaultyStore { inner, fault, folder, writes: AtomicU64::new(0), refuses: Mutex::new(false) })
    }
}

#[test]
fn a_planted_stall_is_the_longest_pause_of_the_tenths_that_have_it() {
    let measured = trial(&faulty(Fault::Stalls), "uniform", &[], &[]).unwrap();
    let stalled = |round: &Round| round.operations[1].latency.max_ns >= STALL.as_nanos() as u64;
    let stalls: Vec<usize> = (0..TENTHS).filter(|tenth| stalled(&measured.rounds[*tenth])).collect();
    // Every second one at least: another may have stood still for another reason.
    assert!((1..TENTHS).step_by(2).all(|tenth| stalls.contains(&tenth)), "{stalls:?}");
    // What the engine did in a pause is told from what it did not.
    let pauses = measured.pauses.unwrap();
    let stall = STALL.as_nanos() as u64;
    assert_eq!((pauses.over_ns, pauses.calls), (10_000_000, 500));
    // One in a hundred calls; another may have taken long for a reason of the machine's.
    assert!(pauses.count() >= 5 && pauses.after.count >= 5, "{pauses:?}");
    assert_eq!(pauses.by_call.keys().collect::<Vec<_>>(), ["update"]);
    assert!(pauses.longest_ns >= stall && pauses.total_ns >= 5 * stall && pauses.calls_ns >= pauses.total_ns);
    let upkeep_of = |work: &str| pauses.upkeep.iter().find(|upkeep| upkeep.work == work).unwrap();
    let (stall, nothing) = (upkeep_of("stall"), upkeep_of("nothing"));
    assert_eq!((stall.after, nothing.after, nothing.otherwise), (5, 0, 0), "{pauses:?}");
    // It sleeps, and syncs nothing.
    assert_eq!(pauses.sync_ns.unwrap_or(0), 0);
}

#[test]
fn threads_write_the_set_together_and_each_has_its_own_records() {
    for churn in storebench_model::axis::life::CHURNS {
        let threads = [(Axis::THREADS, "3")];
        let bursts = [("bursts", "10%"), ("burst_period", "600ms")];
        let measured = trial(&MEMORY, churn, &threads, &bursts).unwrap();
        let count = |name| measured.operation(name).map_or(0, |operation| operation.count);
        let writes =
            if matches!(*churn, "uniform" | "zipfian" | "waves") { count("update") } else { count("insert") };
        assert_eq!((writes, measured.stored.records), (500, 50), "{churn}");
        assert_eq!(measured.audit.map(|audit| audit.read_back), Some(50), "{churn}");
        let [burst] = measured.bursts.as_slice() else { panic!("{:?}", measured.bursts) };
        assert!(burst.steps > 0 && burst.within_10_ms <= burst.within_100_ms, "{burst:?}");
        assert_eq!(burst.latency.max_ns, burst.latency.max_ns.max(burst.longest_ns));
    }
}

#[test]
fn large_batches_come_and_go_during_the_steps() {
    let measured = trial(&MEMORY, "replace", &[(Axis::WRITER, "batch")], &[]).unwrap();
    let concurrent_work = measured.concurrent_work.unwrap();
    assert_eq!((concurrent_work.by.as_str(), concurrent_work.took_ns.len()), ("a batch of 5", TENTHS));
    assert!(concurrent_work.bytes.is_empty() && measured.stored.records == 50);
    assert_eq!(concurrent_work.during_steps_ns.len(), TENTHS);
    let calls = concurrent_work.during.count + concurrent_work.otherwise.count;
    assert_eq!(calls, measured.pauses.unwrap().calls);
    // 500 steps are handed over, 50 are loaded, and 5 come ten times.
    assert_eq!(measured.written.unwrap().records, 600);
    assert_eq!(measured.audit.unwrap().read_back, 50);
}

#[test]
fn a_backup_without_the_records_is_noticed_and_a_store_without_one_is_left_out() {
    let backups = [(Axis::READER, "backup")];
    let message_of = |fault| match trial(&faulty(fault), "uniform", &backups, &[]) {
        Err(TrialError::Failed(stop)) if stop.failure == Failure::WrongData => stop.message,
        other => panic!("nothing was noticed: {other:?}"),
    };
    assert_eq!(message_of(Fault::Backs), "the backup has 0 records, but the store has 50");
    // As many, and not one as it was.
    let message = message_of(Fault::Alters);
    assert!(message.starts_with("the backup lacks 50 of the records that were read"), "{message}");
    let without_backups = trial(&MEMORY, "uniform", &backups, &[]);
    assert!(matches!(without_backups, Err(TrialError::Unsupported(_))), "{without_backups:?}");
}

#[test]
fn a_stall_makes_the_steps_of_a_burst_wait_for_it() {
    // One of a hundred updates stalls for 30 ms: some 3,000 are made in a second, and at half of that some 300 come in a burst.
    // Bursts last 20 ms, in which some hundreds of steps come.
    let bursts = [("bursts", "50%,5%"), ("burst_period", "1200ms")];
    let measured = trial(&faulty(Fault::Stalls), "uniform", &[], &bursts).unwrap();
    let [half, few] = measured.bursts.as_slice() else { panic!("{:?}", measured.bursts) };
    assert_eq!((half.percent, few.percent, half.period_ns), (50.0, 5.0, 1_200_000_000));
    assert!((half.per_second / few.per_second - 10.0).abs() < 1e-6);
    let stall = STALL.as_nanos() as u64;
    assert!(half.latency.max_ns >= stall && half.longest_ns >= stall, "{half:?}");
    assert!(half.steps > 100 && half.within_10_ms < half.steps, "one of them waits at least: {half:?}");
    assert!(half.within_10_ms <= half.within_100_ms && few.steps < half.steps);
    // They are found with their cause, in each burst apart from the tenths.
    for burst in [half, few] {
        let pauses = burst.pauses.as_ref().unwrap();
        let upkeep_of = |work: &str| pauses.upkeep.iter().find(|upkeep| upkeep.work == work).unwrap();
        assert!(pauses.count() > 0 && pauses.longest_ns >= stall, "{burst:?}");
        assert!(upkeep_of("stall").after > 0 && upkeep_of("nothing").after == 0, "{burst:?}");
    }
    assert!(half.pauses.as_ref().unwrap().calls > few.pauses.as_ref().unwrap().calls);
    assert_eq!(measured.pauses.unwrap().calls, 500);
    // The writes of bursts are there, too, and were audited.
    assert!(measured.written.unwrap().records > 550 + half.steps);
    assert_eq!(measured.audit.unwrap().read_back, 50);
}

#[test]
fn a_planted_leak_has_its_size_in_every_tenth() {
    let measured = trial(&faulty(Fault::Leaks), "zipfian", &[], &[]).unwrap();
    let bytes: Vec<u64> = measured.rounds.iter().map(|round| round.disk.apparent_bytes).collect();
    assert_eq!(bytes, (1..=10).map(|tenth| tenth * 50 * LEAK as u64).collect::<Vec<_>>());
}

#[test]
fn what_grows_is_written_until_the_limit_and_what_does_not_until_it_is_steady() {
    let rounds_until =
        |store: &StoreDef, limit| trial(store, "uniform", &[], &[("until_steady", limit)]).unwrap().rounds;
    assert_eq!(rounds_until(&faulty(Fault::Leaks), "2").len(), 2 * TENTHS);
    // Its speed may rise or fall throughout five tenths by chance, but not for long.
    let rounds = rounds_until(&MEMORY, "10");
    assert!((TENTHS..10 * TENTHS).contains(&rounds.len()), "{}", rounds.len());
    assert!(rounds.iter().all(|round| round.operations[0].count == 50));
}

#[test]
fn a_record_that_is_not_gone_is_noticed() {
    for (churn, phrase) in
        [("queue", "a scan found"), ("replace", "a scan of all records showed 550, but there are 50")]
    {
        let Err(TrialError::Failed(stop)) = trial(&faulty(Fault::Keeps), churn, &[], &[]) else {
            panic!("{churn}: nothing was noticed")
        };
        assert!(stop.failure == Failure::WrongData && stop.message.contains(phrase), "{}", stop.message);
    }
}

#[test]
fn only_five_in_a_row_are_a_trend_and_each_figure_counts() {
    let files = |files: &[f64]| files.iter().map(|bytes| [1000.0, *bytes]).collect::<Vec<_>>();
    let steady = |bytes: &[f64]| is_steady(&files(bytes));
    assert!(!steady(&[1.0, 1.0, 1.0, 1.0]), "too few");
    assert!(steady(&[5.0; 5]));
    assert!(!steady(&[1.0, 2.0, 3.0, 4.0, 5.0]) && !steady(&[5.0, 4.0, 3.0, 2.0, 1.0]));
    // Figures that come and go, as with compactions, and one that grew before.
    assert!(steady(&[1.0, 3.0, 2.0, 4.0, 3.0]) && steady(&[1.0, 2.0, 3.0, 4.0, 5.0, 5.0]));
    let slower: Vec<[f64; 2]> = (0..5).map(|tenth| [1000.0 - f64::from(tenth), 7.0]).collect();
    assert!(!is_steady(&slower));
}
