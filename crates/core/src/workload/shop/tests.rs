//! Small trials over a map in memory, honest and not.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use storebench_model::axis::Axis;
use storebench_model::cell::Cell;
use storebench_model::result::{Failure, Measurements};
use storebench_model::store::{
    OpenFn, OpenOptions, Result, Session, Store, StoreDef, StoreError, Transaction, TransactionBody,
};
use storebench_model::stores::MEMORY;

use super::schema::INDEX_PREFIX;
use crate::workload::parameter::Parameters;
use crate::workload::spec::{Spec, TrialContext, TrialError};

fn trial(
    store: StoreDef,
    axes: &[(Axis, &str)],
    parameters: &[(&str, &str)],
) -> std::result::Result<Measurements, TrialError> {
    let defaults = [(Axis::DATA_SIZE, "64KiB"), (Axis::GUARANTEE, "default")];
    let mut cell = Cell::new(store.name);
    defaults.iter().chain(axes).for_each(|(axis, text)| cell.set(*axis, axis.read(text).unwrap()));
    // Other tests of this process are at work all the time.
    let mut given = Parameters::default().with("after_load", "at-once").unwrap();
    parameters.iter().for_each(|(name, text)| given.set(name, text).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let spec = Spec::unwatched(cell, folder.path().to_path_buf(), "shop".parse().unwrap(), given);
    (super::WORKLOAD.run)(&TrialContext { stores: &[store], spec: &spec, reach: None })
}

#[test]
fn every_transaction_is_counted_and_every_row_read_back() {
    for threads in ["1", "3"] {
        for index in ["customer", "none"] {
            for order in ["sorted", "unsorted"] {
                let axes = [(Axis::THREADS, threads), (Axis::INDEX, index), (Axis::LOAD_ORDER, order)];
                let measured = trial(MEMORY, &axes, &[("operations", "400")]).unwrap();
                let count = |name| measured.operation(name).map_or(0, |operation| operation.count);
                let counts = ["overall", "orders", "buy", "restock"].map(count);
                assert_eq!(counts[0], 400);
                assert!(counts[1].abs_diff(100) < 9 && counts[2].abs_diff(200) < 9, "{counts:?}");
                assert_eq!(counts[1..].iter().sum::<u64>(), 400);
                let loaded = measured.load.records;
                assert_eq!(loaded, super::rows::rows_of(64 << 10).iter().sum::<u64>());
                assert_eq!(measured.stored.records, loaded + counts[2]);
                let audit = measured.audit.unwrap();
                assert_eq!([audit.records, audit.read_back], [loaded + counts[2]; 2]);
                assert_eq!(audit.reopened, 0);
                let writes = 2 * counts[2] + counts[3];
                assert_eq!(measured.written.unwrap().records, loaded + writes);
            }
        }
    }
}

#[test]
fn shares_and_epochs_are_as_was_said() {
    let parameters = [("duration", "450ms"), ("shares", "restock=1"), ("epoch", "100ms")];
    let measured = trial(MEMORY, &[], &parameters).unwrap();
    let names: Vec<&str> = measured.operations.iter().map(|operation| operation.operation.as_str()).collect();
    assert_eq!(names, ["overall", "restock"]);
    for operation in &measured.operations {
        assert_eq!(operation.epochs.iter().map(|epoch| epoch.count).sum::<u64>(), operation.count);
        assert!(operation.epochs.iter().all(|epoch| epoch.lasted_ms <= 100 && epoch.at_ms % 100 == 0));
        assert_eq!(operation.epochs[0].at_ms, 0);
    }
    assert_eq!(measured.stored.records, measured.load.records, "nothing was ordered");
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lie {
    Nothing,
    /// One write in ten thousand is lost.
    Loses,
    /// A new order has no entry in the index.
    TearsIndex,
    /// An order is kept without its change of stock.
    TearsStock,
    /// Now and then a product is read as it was first.
    Stale,
    /// A customer's newest order is not found.
    StaleIndex,
    /// Every third transaction meets a conflict.
    Conflicts,
    /// A transaction with a conflict is kept all the same.
    KeepsConflicts,
}

#[test]
fn a_store_that_does_what_it_says_passes_and_conflicts_are_counted() {
    let honest = trial(liar(Lie::Nothing), &[], &[("operations", "300")]).unwrap();
    assert!(honest.operations.iter().all(|operation| operation.conflicts == 0));
    let measured = trial(liar(Lie::Conflicts), &[], &[("operations", "300")]).unwrap();
    let conflicts = |name| measured.operation(name).map_or(0, |operation| operation.conflicts);
    assert!(conflicts("buy") > 50 && conflicts("restock") > 20);
    assert_eq!((conflicts("overall"), conflicts("orders")), (conflicts("buy") + conflicts("restock"), 0));
}

#[test]
fn a_planted_loss_a_torn_transaction_and_a_stale_read_are_found() {
    for (lie, operations, expected) in [
        // More than 10,000 writes.
        (Lie::Loses, "6000", ""),
        (Lie::TearsIndex, "2000", "is shown with"),
        (Lie::TearsStock, "2000", "is shown with a stock of"),
        (Lie::Stale, "2000", "is shown with a stock of"),
        (Lie::StaleIndex, "2000", "is shown with"),
        (Lie::KeepsConflicts, "2000", "is shown with a stock of"),
    ] {
        let message = find_failure(lie, &[("operations", operations)]);
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn the_audit_finds_what_no_transaction_reads() {
    let purchases = [("operations", "100"), ("shares", "buy=1")];
    let deliveries = [("operations", "10010"), ("shares", "restock=1")];
    let index = find_failure(Lie::TearsIndex, &purchases);
    assert!(index.contains("the index has") && index.contains("after the trial"), "{index}");
    let lost = find_failure(Lie::Loses, &deliveries);
    assert!(lost.contains("but its orders and deliveries leave"), "{lost}");
    // The ten-thousandth write of purchases alone is an order: each has three.
    let lost = find_failure(Lie::Loses, &[("operations", "3334"), ("shares", "buy=1")]);
    assert!(lost.contains("of 3334 orders that thread 0 was acknowledged, 3333 are there"), "{lost}");
}

fn find_failure(lie: Lie, parameters: &[(&str, &str)]) -> String {
    match trial(liar(lie), &[], parameters) {
        Err(TrialError::Failed(stop)) if stop.failure == Failure::WrongData => stop.message,
        other => panic!("{lie:?}: {other:?}"),
    }
}

fn liar(lie: Lie) -> StoreDef {
    let open: OpenFn = Box::leak(Box::new(move |options: &OpenOptions<'_>| open_as(lie, options)));
    StoreDef { name: "liar", open: Ok(open), ..MEMORY }
}

fn open_as(lie: Lie, options: &OpenOptions<'_>) -> Result<Box<dyn Store>> {
    let (inner, old) = (MEMORY.open.unwrap()(options)?, Mutex::default());
    Ok(Box::new(Liar { inner, lie, writes: AtomicU64::new(0), missing: AtomicU64::new(0), old }))
}

struct Liar {
    inner: Box<dyn Store>,
    lie: Lie,
    writes: AtomicU64,
    missing: AtomicU64,
    old: Mutex<BTreeMap<Vec<u8>, Vec<u8>>>,
}

impl Store for Liar {
    fn session(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(LiarSession { inner: self.inner.session()?, store: self }))
    }
    storebench_model::pass_on!(inner: guarantee, settle, settings, close);
    /// Reports what it should hold: a lying store does so here, too.
    fn count(&self) -> Result<u64> {
        Ok(self.inner.count()? + self.missing.load(Ordering::Relaxed))
    }
}

struct LiarSession<'a> {
    inner: Box<dyn Session + 'a>,
    store: &'a Liar,
}

impl Session for LiarSession<'_> {
    storebench_model::pass_on!(inner: insert, update, get, remove, insert_batch);
    fn scan(&mut self, start: &[u8], limit: usize, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize> {
        let hides = self.store.lie == Lie::StaleIndex && start.first() == Some(&INDEX_PREFIX);
        self.inner.scan(start, limit, &mut |key, value| {
            // Clients' orders have larger ids than the data.
            let newest = key.len() > 9 && key[9..11] != [0, 0];
            if !(hides && newest) {
                visit(key, value);
            }
        })
    }
    fn transact(&mut self, work: &mut TransactionBody<'_>) -> Result<()> {
        let store = self.store;
        let conflicts = matches!(store.lie, Lie::Conflicts | Lie::KeepsConflicts)
            && store.writes.fetch_add(1, Ordering::Relaxed).is_multiple_of(3);
        let conflict = || StoreError::Conflict("another was first".into());
        let result = self.inner.transact(&mut |transaction| {
            let mut lying = LyingTransaction { inner: transaction, store, ordered: false };
            work(&mut lying)?;
            if conflicts && store.lie == Lie::Conflicts { Err(conflict()) } else { Ok(()) }
        });
        if conflicts { Err(conflict()) } else { result }
    }
}

struct LyingTransaction<'a> {
    inner: &'a mut dyn Transaction,
    store: &'a Liar,
    ordered: bool,
}

impl Transaction for LyingTransaction<'_> {
    fn get(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        if self.store.lie != Lie::Stale {
            return self.inner.get(key, visit);
        }
        let mut old = self.store.old.lock().unwrap_or_else(PoisonError::into_inner);
        let mut current = Vec::new();
        let found = self.inner.get(key, &mut |value| current = value.to_vec())?;
        visit(old.entry(key.to_vec()).or_insert(current));
        Ok(found)
    }
    fn get_to_change(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        self.inner.get_to_change(key, visit)
    }
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let lost = match self.store.lie {
            Lie::Loses => (self.store.writes.fetch_add(1, Ordering::Relaxed) + 1).is_multiple_of(10_000),
            Lie::TearsIndex => key.first() == Some(&INDEX_PREFIX),
            Lie::TearsStock => self.ordered && key.first() == Some(&b'p'),
            _ => false,
        };
        self.ordered = self.ordered || key.first() == Some(&b'o');
        if !lost {
            return self.inner.put(key, value);
        }
        // A product is there already.
        self.store.missing.fetch_add(u64::from(key.first() != Some(&b'p')), Ordering::Relaxed);
        Ok(())
    }
}
