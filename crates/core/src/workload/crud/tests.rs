//! The workload over the memory store: what it leaves behind, and how loops and stalls show in what is measured.

use std::sync::OnceLock;
use std::time::Instant;

use storebench_model::cell::Data;
use storebench_model::store::{OpenFn, OpenOptions, Result as StoreResult, Session, Store, StoreDef};
use storebench_model::stores::MEMORY;
use storebench_model::units::SizeRange;

use super::*;
use crate::record::pool::Pool;

pub(crate) fn crud(threads: u64) -> Crud {
    Crud {
        records: CountRange { from: 100, to: 500 },
        operations: 1000,
        order: Operation::ALL.to_vec(),
        mix: None,
        batch: 30,
        after_load: AfterLoad::AtOnce,
        age: 0,
        visit: Visit::Copy,
        seed: 3,
        threads,
        rate: Rate::Closed,
        duration: None,
        warm_up: 0,
        cold: false,
    }
}

pub(super) fn run(plan: &Crud, open: OpenFn) -> Result<CrudResult, WorkloadError> {
    let size = SizeRange { from: 1, to: 300 };
    let records = Records::new(5, size, Pool::generate(Data::Incompressible, 5, size));
    let clock = Clock::new();
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("store");
    std::fs::create_dir(&directory).unwrap();
    let options = OpenOptions { sessions: plan.threads as usize, ..OpenOptions::new(&directory) };
    let mut bench = Bench::open(open, options).unwrap();
    let mut prepared = plan.prepare(&records, &clock, true).unwrap();
    let run_outcome = prepared.run(&mut bench)?;
    let result = prepared.into_result(run_outcome)?;
    assert_eq!(bench.store()?.count().unwrap(), result.stored.records);
    Ok(result)
}

#[test]
fn every_operation_is_timed_and_the_store_holds_what_was_written() {
    for threads in [1, 3] {
        let result = run(&crud(threads), MEMORY.open.unwrap()).unwrap();
        let counts = result.operations.iter().map(|kind| (kind.operation.as_str(), kind.count, kind.errors));
        assert!(counts.eq(["insert", "get", "update", "remove"].map(|name| (name, 1000, 0))));
        // 100 and 400 more, twice; then 100 and the last 200.
        assert_eq!(result.stored.records, 300);
        assert!(result.operations[1].value_bytes > 100_000 && result.operations[3].value_bytes == 0);
    }
}

#[test]
fn a_set_that_grows_old_is_overwritten_before_the_operations_and_has_its_values_then() {
    let old = Crud { age: 3, operations: 50, order: vec![Operation::Get], ..crud(1) };
    let result = run(&old, MEMORY.open.unwrap()).unwrap();
    assert_eq!(result.load.aged.map(|aged| aged.times), Some(3));
    assert_eq!((result.load.records, result.written.records, result.stored.records), (100, 400, 100));
    // Reads are checked.
    assert_eq!((result.operations[0].count, result.operations[0].errors), (50, 0));
    let fresh = run(&Crud { age: 0, ..old }, MEMORY.open.unwrap()).unwrap();
    assert_eq!((fresh.load.aged, fresh.written.records), (None, 100));
}

#[test]
fn threads_that_have_no_records_have_nothing_to_do() {
    let few = Crud { records: CountRange { from: 2, to: 2 }, operations: 30, ..crud(5) };
    let mix: Mix = "get=70,update=30".parse().unwrap();
    for plan in [Crud { order: vec![Operation::Get], ..few.clone() }, Crud { mix: Some(mix), ..few }] {
        let result = run(&plan, MEMORY.open.unwrap()).unwrap();
        // Two of five have a record each, and six operations.
        assert_eq!(result.operations.iter().map(|operation| operation.count).sum::<u64>(), 12);
        assert_eq!(result.stored.records, 2);
    }
}

#[test]
fn a_mix_is_one_phase_in_which_operations_alternate_by_their_shares() {
    let mix: Mix = "get=70,update=15,insert=10,remove=5".parse().unwrap();
    for threads in [1, 3] {
        let plan = Crud { mix: Some(mix), operations: 900, warm_up: 90, ..crud(threads) };
        let result = run(&plan, MEMORY.open.unwrap()).unwrap();
        let total: u64 = result.operations.iter().map(|operation| operation.count).sum();
        assert_eq!(total, 900);
        for (operation, share) in mix.shares() {
            let name = operation.name();
            let measured = result.operations.iter().find(|measured| measured.operation == name).unwrap();
            for (count, all) in [(measured.count, 900.0), (measured.warm_up, 90.0)] {
                assert!((count as f64 - all * share).abs() <= 12.0, "{name}: {count} of {all}");
            }
            assert_eq!(measured.errors, 0);
            // Only the main one has a course.
            assert!(measured.series.is_empty() || *operation == Operation::Get);
        }
        let removed = result.operations.iter().find(|operation| operation.operation == "remove").unwrap();
        assert_eq!(removed.put_back, removed.count + removed.warm_up);
        // All that was inserted is there: 10 % of 990, on each thread but for one or two.
        assert!((192..=208).contains(&result.stored.records), "{}", result.stored.records);
    }
}

#[test]
fn a_mix_never_passes_the_most_records() {
    let mix: Mix = "get=10,insert=90".parse().unwrap();
    let plan =
        Crud { mix: Some(mix), records: CountRange { from: 100, to: 130 }, operations: 300, ..crud(2) };
    let result = run(&plan, MEMORY.open.unwrap()).unwrap();
    assert_eq!(result.operations.iter().map(|operation| operation.count).sum::<u64>(), 300);
    assert!(result.stored.records <= 130);
}

#[test]
fn a_warm_up_is_not_measured_and_a_cold_store_is_opened_anew() {
    let result = run(&Crud { warm_up: 100, operations: 50, ..crud(2) }, MEMORY.open.unwrap()).unwrap();
    assert!(result.operations.iter().all(|operation| operation.count == 50));
    assert_eq!(result.stored.records, 250);
    // A store in memory forgets when it is opened anew.
    let stop = run(&Crud { cold: true, ..crud(1) }, MEMORY.open.unwrap()).unwrap_err();
    assert_eq!(stop.failure, storebench_model::result::Failure::WrongData);
}

/// A map whose calls stall for 100 ms at the start of each second.
struct Stalling(Box<dyn Store>);

struct StallingSession<'a>(Box<dyn Session + 'a>);

fn stall() {
    static START: OnceLock<Instant> = OnceLock::new();
    let into_the_second = START.get_or_init(Instant::now).elapsed().subsec_millis();
    if into_the_second < 100 {
        std::thread::sleep(Duration::from_millis(u64::from(100 - into_the_second)));
    }
}

fn open_stalling(options: &OpenOptions<'_>) -> StoreResult<Box<dyn Store>> {
    let StoreDef { open, .. } = MEMORY;
    Ok(Box::new(Stalling(open.unwrap()(options)?)))
}

impl Store for Stalling {
    fn session(&self) -> StoreResult<Box<dyn Session + '_>> {
        Ok(Box::new(StallingSession(self.0.session()?)))
    }
    storebench_model::pass_on!(0: guarantee, count, settle, settings, close);
}

impl Session for StallingSession<'_> {
    storebench_model::pass_on!(0: insert, get, remove, scan, insert_batch);
    fn update(&mut self, key: &[u8], value: &[u8]) -> StoreResult<()> {
        stall();
        self.0.update(key, value)
    }
}

#[test]
fn a_stall_lands_in_the_tail_of_an_open_loop_and_hides_in_a_closed_one() {
    let plan =
        Crud { order: vec![Operation::Update], duration: Some(Duration::from_millis(2_200)), ..crud(1) };
    let closed = run(&plan, &open_stalling).unwrap();
    let open = run(&Crud { rate: Rate::PerSecond(2_000), ..plan }, &open_stalling).unwrap();
    let (closed, open) = (&closed.operations[0], &open.operations[0]);
    // A tenth of the open loop's operations were to begin during a stall; of the closed loop's, one in each second did.
    assert!(open.latency.p99_ns > 20_000_000, "open: {:?}", open.latency);
    let is_hidden = closed.latency.p99_ns < 20_000_000 && closed.latency.max_ns > 20_000_000;
    assert!(is_hidden, "closed: {:?}", closed.latency);
    assert!(closed.series.len() >= 2 && closed.series.iter().any(|second| second.max_ns > 20_000_000));
    assert_eq!(closed.series.iter().map(|second| second.count).sum::<u64>(), closed.count);
}

#[test]
fn which_records_are_chosen_does_not_depend_on_how_quick_the_store_is() {
    let size = SizeRange { from: 200_000, to: 200_001 };
    let records = Records::new(5, size, Pool::generate(Data::Incompressible, 5, size));
    let (clock, plan) = (Clock::new(), crud(1));
    let versions_with = |quantum_limit, doing: PhaseWork| {
        let mut share = plan.share(0, &records, &clock, true).unwrap();
        share.versions.resize(100, 0);
        let mut planned = 0;
        while planned < 20 {
            // Two such values fill a quantum.
            planned += share.fill_quantum(&records, doing, quantum_limit, true);
        }
        share.versions
    };
    for doing in
        [PhaseWork::One(Operation::Update), PhaseWork::Mix("update=70,insert=20,remove=10".parse().unwrap())]
    {
        assert_eq!(versions_with(1, doing), versions_with(2, doing));
        assert_eq!(versions_with(1, doing), versions_with(8, doing));
    }
}
