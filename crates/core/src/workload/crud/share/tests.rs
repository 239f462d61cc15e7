//! Costs that threads, sessions and schedules must not add to measurements: seen with memory stores that do something before each call.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use storebench_model::cell::Rate;
use storebench_model::store::{OpenOptions, Result, Session, Store, StoreDef};
use storebench_model::stores::MEMORY;

use super::super::tests::{crud, run};
use crate::workload::crud::Crud;
use crate::workload::operation::Operation;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    Insert,
    Update,
    Get,
    /// Asks for a copied value, outside the timed region.
    Copied,
    Remove,
}

/// A store's behaviour, and its counts of openings and sessions.
struct Behaviour {
    before_call: fn(Call),
    copies: bool,
    opened: AtomicU64,
    sessions: AtomicU64,
}

impl Behaviour {
    const fn new(before_call: fn(Call)) -> Behaviour {
        Behaviour { before_call, copies: false, opened: AtomicU64::new(0), sessions: AtomicU64::new(0) }
    }
}

fn open(options: &OpenOptions<'_>, behaviour: &'static Behaviour) -> Result<Box<dyn Store>> {
    behaviour.opened.fetch_add(1, Ordering::Relaxed);
    let StoreDef { open, .. } = MEMORY;
    Ok(Box::new(SlowedStore { inner: open.unwrap()(options)?, behaviour }))
}

struct SlowedStore {
    inner: Box<dyn Store>,
    behaviour: &'static Behaviour,
}

struct SlowedSession<'a> {
    inner: Box<dyn Session + 'a>,
    behaviour: &'static Behaviour,
    value: Vec<u8>,
}

impl Store for SlowedStore {
    fn session(&self) -> Result<Box<dyn Session + '_>> {
        self.behaviour.sessions.fetch_add(1, Ordering::Relaxed);
        let (inner, behaviour) = (self.inner.session()?, self.behaviour);
        Ok(Box::new(SlowedSession { inner, behaviour, value: Vec::new() }))
    }
    storebench_model::pass_on!(inner: guarantee, count, settle, settings, close);
}

impl Session for SlowedSession<'_> {
    fn insert(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        (self.behaviour.before_call)(Call::Insert);
        self.inner.insert(key, value)
    }
    fn update(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        (self.behaviour.before_call)(Call::Update);
        self.inner.update(key, value)
    }
    fn get(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        (self.behaviour.before_call)(Call::Get);
        let buffer = &mut self.value;
        self.inner.get(key, &mut |value| {
            buffer.clear();
            buffer.extend_from_slice(value);
            visit(value);
        })
    }
    fn copied(&self) -> Option<&[u8]> {
        (self.behaviour.before_call)(Call::Copied);
        self.behaviour.copies.then_some(&self.value)
    }
    fn remove(&mut self, key: &[u8]) -> Result<()> {
        (self.behaviour.before_call)(Call::Remove);
        self.inner.remove(key)
    }
    storebench_model::pass_on!(inner: scan, insert_batch);
}

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn paced(operation: Operation, operations: u64, per_second: u32) -> Crud {
    Crud { order: vec![operation], operations, rate: Rate::PerSecond(per_second), ..crud(1) }
}

#[test]
fn each_thread_has_one_session_for_as_long_as_the_store_is_open() {
    static COUNTED: Behaviour = Behaviour::new(|_| {});
    let mut opened = 0;
    for threads in [1, 3] {
        let sessions_before = COUNTED.sessions.load(Ordering::Relaxed);
        run(&crud(threads), &|options| open(options, &COUNTED)).unwrap();
        // 1,000 inserts are 400, 400 and 200: the store is made anew twice.
        opened += 3;
        assert_eq!(COUNTED.opened.load(Ordering::Relaxed), opened);
        assert_eq!(COUNTED.sessions.load(Ordering::Relaxed) - sessions_before, 3 * threads);
    }
}

#[test]
fn a_warm_up_leaves_an_open_loop_no_backlog() {
    static SLOW: Behaviour = Behaviour::new(|call| {
        if call == Call::Update {
            sleep(ms(10));
        }
    });
    for threads in [1, 2] {
        let plan = Crud { warm_up: 40, threads, ..paced(Operation::Update, 10, 50) };
        let result = run(&plan, &|options| open(options, &SLOW)).unwrap();
        let updated = &result.operations[0];
        assert_eq!((updated.count, updated.warm_up), (10, 40));
        // The warm-up takes 200 ms and more; an update has 20 ms, and takes 10.
        assert!(updated.latency.p50_ns < 60_000_000, "{threads} threads: {:?}", updated.latency);
        assert!(updated.wall_ns >= 9 * 20_000_000, "the tenth begins 180 ms after the first");
    }
}

#[test]
fn removing_at_a_rate_is_not_charged_for_putting_back() {
    static SLOW: Behaviour = Behaviour::new(|call| {
        if call == Call::Insert {
            sleep(ms(30));
        }
    });
    let result = run(&paced(Operation::Remove, 20, 100), &|options| open(options, &SLOW)).unwrap();
    let removed = &result.operations[0];
    assert_eq!((removed.count, removed.put_back), (20, 20));
    // A removal has 10 ms, and is put back in 30: charged for that, the tenth would be late by 180 ms.
    assert!(removed.latency.p50_ns < 30_000_000, "{:?}", removed.latency);
    assert!(removed.per_second().unwrap() > 50.0, "with the records put back it would be 33: {removed:?}");
}

#[test]
fn a_stall_in_a_removal_shows_in_all_that_had_to_wait() {
    static REMOVED: AtomicU64 = AtomicU64::new(0);
    static STALLING: Behaviour = Behaviour::new(|call| match call {
        Call::Remove if REMOVED.fetch_add(1, Ordering::Relaxed) == 4 => sleep(ms(300)),
        Call::Insert => sleep(ms(15)),
        _ => {}
    });
    let result = run(&paced(Operation::Remove, 40, 100), &|options| open(options, &STALLING)).unwrap();
    // The next is 290 ms late, the one after it 280, ...: 24 of the 40 are late by 60 ms or more.
    assert!(result.operations[0].latency.p50_ns >= 50_000_000, "{:?}", result.operations[0].latency);
}

#[test]
fn threads_together_do_no_more_than_a_lock_allows() {
    static LOCK: Mutex<Duration> = Mutex::new(Duration::ZERO);
    static LOCKED: Behaviour = Behaviour {
        copies: true,
        ..Behaviour::new(|call| match call {
            Call::Get => {
                let mut locked_time = LOCK.lock().unwrap();
                let start = Instant::now();
                sleep(ms(1));
                *locked_time += start.elapsed();
            }
            // The harness's own time, as it is not within a timed call.
            Call::Copied => sleep(ms(1)),
            _ => {}
        })
    };
    let plan = Crud { order: vec![Operation::Get], operations: 100, ..crud(2) };
    let result = run(&plan, &|options| open(options, &LOCKED)).unwrap();
    let got = &result.operations[0];
    let allowed = 100.0 / LOCK.lock().unwrap().as_secs_f64();
    let rate = got.per_second().unwrap();
    assert!(rate <= allowed, "{rate} a second, where the lock lets {allowed} through");
    let share = got.harness_share.unwrap();
    assert!(share > 0.0 && share < 1.0, "{share}");
}

#[test]
fn putting_back_is_no_part_of_a_rate_of_several_threads() {
    static SLOW: Behaviour = Behaviour::new(|call| match call {
        Call::Insert => sleep(ms(4)),
        Call::Remove => sleep(ms(1)),
        _ => {}
    });
    let plan = Crud { order: vec![Operation::Remove], operations: 100, ..crud(2) };
    let result = run(&plan, &|options| open(options, &SLOW)).unwrap();
    let removed = &result.operations[0];
    let put_back_ns = removed.wall_ns - removed.rate_over_ns.unwrap();
    assert!(put_back_ns >= 50 * 4_000_000, "each thread put 50 back: {removed:?}");
    assert!(removed.rate_over_ns.unwrap() >= 50 * 1_000_000, "and removed 50: {removed:?}");
}
