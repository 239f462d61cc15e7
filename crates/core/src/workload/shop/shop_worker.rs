//! One client thread: it draws a transaction, times it from just before its first call to just after its last, and checks reads
//! when the clock has stopped.

use super::check::Check;
use super::kind::Kind;
use super::rows::{LOOKED_AT, Purchase};
use super::schema::{ORDER_BYTES, Table};
use super::shared::ShopContext;
use super::shared_knowledge::EndedChanges;
use super::tables::{PurchaseRequest, ReadBuffer, Tables};
use crate::measure::series::Seconds;
use crate::store::{self, StoreError};
use crate::workload::elapsed::TimedPart;
use crate::workload::pacer::Pacer;
use crate::workload::recorder;
use crate::workload::start_barrier::BarrierGuard;
use crate::workload::worker_pool;
use crate::workload::workload_error::WorkloadError;

/// A transaction with this number of conflicts is given up.
const MOST_ATTEMPTS: u64 = 10_000;

/// For each kind of transaction, then for all.
pub(crate) type Recorder = recorder::Recorder<{ ALL + 1 }>;

/// One thread's work, with all of its memory.
pub(crate) struct ShopWorker<'a> {
    thread: u64,
    shared: &'a ShopContext<'a>,
    drawn: [u64; Kind::ALL.len()],
    buying: PurchaseRequest,
    seen: ReadBuffer,
    check: Check<'a>,
    recorder: Recorder,
    pacer: Option<Pacer>,
}

/// The index of all kinds together.
pub const ALL: usize = Kind::ALL.len();

struct Parts<'a> {
    seconds: Seconds<'a>,
    epochs: [Seconds<'a>; Kind::ALL.len() + 1],
}

impl<'a> ShopWorker<'a> {
    pub fn new(shared: &'a ShopContext<'a>, thread: u64) -> Result<ShopWorker<'a>, String> {
        Ok(ShopWorker {
            thread,
            shared,
            drawn: [0; Kind::ALL.len()],
            buying: PurchaseRequest { order: Vec::with_capacity(ORDER_BYTES), ..PurchaseRequest::default() },
            seen: ReadBuffer::new(),
            check: Check::new(shared),
            recorder: Recorder::new()?,
            pacer: None,
        })
    }

    pub fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// Acknowledged purchases: all drawn ones, as no transaction fails.
    pub(crate) fn purchases(&self) -> u64 {
        self.drawn[Kind::Buy as usize]
    }

    pub fn writes(&self) -> u64 {
        Kind::ALL.into_iter().filter(|kind| kind.writes()).map(|kind| self.drawn[kind as usize]).sum()
    }

    fn parts(&self) -> Result<Parts<'a>, String> {
        let (shared, thread) = (self.shared, self.thread as usize);
        let epoch = |kind: usize| shared.epochs[kind].thread(thread, self.recorder.latencies(kind));
        Ok(Parts {
            seconds: shared.seconds.thread(thread, self.recorder.latencies(ALL))?,
            epochs: [epoch(0)?, epoch(1)?, epoch(2)?, epoch(3)?],
        })
    }

    fn finish(&self, parts: Parts<'_>) -> Result<(), String> {
        parts.seconds.finish(self.recorder.latencies(ALL))?;
        let mut epochs = parts.epochs.into_iter().zip(self.recorder.all());
        epochs.try_for_each(|(epoch, measure)| epoch.finish(&measure.latencies))
    }

    /// Does transactions while `goes_on`.
    fn all(
        &mut self,
        tables: &mut dyn Tables,
        goes_on: impl Fn() -> bool,
        parts: &mut Parts<'_>,
    ) -> Result<(), WorkloadError> {
        let shared = self.shared;
        // Each begins elsewhere, so that they don't all do the same at once.
        let first = self.thread << 32;
        for turn in 0..shared.work.operations_of(self.thread) {
            if !goes_on() {
                break;
            }
            let kind = Kind::ALL[shared.turns.choose(first.wrapping_add(turn))];
            let number = self.drawn[kind as usize];
            let ticks = match kind {
                Kind::Orders => self.orders(tables, number),
                Kind::Buy => self.buy(tables, number),
                Kind::Restock => self.restock(tables, number),
            }?;
            self.drawn[kind as usize] += 1;
            let ns = shared.clock.nanoseconds(0, ticks).max(1);
            for place in [kind as usize, ALL] {
                self.recorder.record(place, ns);
            }
            parts.seconds.add_latencies(self.recorder.latencies(ALL)).map_err(WorkloadError::harness)?;
            for (epoch, measure) in parts.epochs.iter_mut().zip(self.recorder.all()) {
                epoch.add_latencies(&measure.latencies).map_err(WorkloadError::harness)?;
            }
        }
        Ok(())
    }

    /// Does a transaction, again on conflicts. Gives its result and clock ticks.
    #[inline(always)]
    fn timed<T>(
        &mut self,
        kind: Kind,
        mut attempt: impl FnMut(&PurchaseRequest, &mut ReadBuffer) -> store::Result<T>,
    ) -> Result<(T, u64), WorkloadError> {
        let ShopWorker { shared, buying, seen, pacer, .. } = self;
        seen.clear();
        let start = match pacer {
            Some(pacer) => pacer.wait(shared.clock),
            None => shared.clock.now(),
        };
        let mut conflicts = 0;
        let done = loop {
            match attempt(buying, seen) {
                Err(StoreError::Conflict(_)) if conflicts < MOST_ATTEMPTS => {
                    conflicts += 1;
                    seen.clear();
                }
                done => break done,
            }
        };
        let end = shared.clock.now();
        for place in [kind as usize, ALL] {
            self.recorder.kind_record_mut(place).conflicts += conflicts;
        }
        let doing = || {
            format!("the transaction {} {} of thread {}", kind.name(), self.drawn[kind as usize], self.thread)
        };
        let done = done.map_err(|error| WorkloadError::store(&doing(), &error))?;
        Ok((done, end.saturating_sub(start)))
    }

    fn moved(&mut self, kind: Kind, written: usize) {
        for place in [kind as usize, ALL] {
            self.recorder.kind_record_mut(place).value_bytes += self.seen.bytes() + written as u64;
        }
    }

    fn orders(&mut self, tables: &mut dyn Tables, number: u64) -> Result<u64, WorkloadError> {
        let shared = self.shared;
        let customer = shared.data.customer_asked_for(self.thread, number);
        let id = shared.data.ids(Table::Customers).id_of_row(customer);
        let before = shared.known.orders_before(customer);
        let ((), ticks) = self.timed(Kind::Orders, |_, seen| tables.orders(id, seen))?;
        let most = shared.known.order_count(customer, before);
        self.check.orders(customer, &self.seen, most)?;
        self.moved(Kind::Orders, 0);
        Ok(ticks)
    }

    fn buy(&mut self, tables: &mut dyn Tables, number: u64) -> Result<u64, WorkloadError> {
        let shared = self.shared;
        let purchase = shared.data.purchase(self.thread, number);
        self.draw(&purchase);
        let mut before = [EndedChanges::default(); LOOKED_AT];
        for (before, product) in before.iter_mut().zip(purchase.looked_at) {
            *before = shared.known.state_before_read(product);
        }
        shared.known.begin_order(&purchase.order);
        let (done, ticks) = self.timed(Kind::Buy, |buying, seen| tables.buy(buying, seen))?;
        self.check.purchase(&purchase, &self.seen, &before)?;
        self.check.changed(done, purchase.order.product)?;
        shared.known.end_order(&purchase.order);
        self.moved(Kind::Buy, ORDER_BYTES);
        Ok(ticks)
    }

    /// Fills in a purchase's ids and row.
    fn draw(&mut self, purchase: &Purchase) {
        let data = &self.shared.data;
        let PurchaseRequest { customer, looked_at, chosen, order, amount } = &mut self.buying;
        *customer = data.ids(Table::Customers).id_of_row(purchase.order.customer);
        *looked_at = purchase.looked_at.map(|product| data.ids(Table::Products).id_of_row(product));
        *chosen = purchase.chosen;
        *amount = purchase.order.amount as i32;
        order.clear();
        data.append_order(&purchase.order, order);
    }

    fn restock(&mut self, tables: &mut dyn Tables, number: u64) -> Result<u64, WorkloadError> {
        let shared = self.shared;
        let (product, amount) = shared.data.delivery(self.thread, number);
        let id = shared.data.ids(Table::Products).id_of_row(product);
        shared.known.begin_delivery(product, amount);
        let (done, ticks) = self.timed(Kind::Restock, |_, _| tables.restock(id, amount as i32))?;
        self.check.changed(done, product)?;
        shared.known.end_delivery(product, amount);
        self.moved(Kind::Restock, size_of::<i32>());
        Ok(ticks)
    }
}

impl worker_pool::Worker<dyn Tables + '_, ()> for ShopWorker<'_> {
    type Failed = WorkloadError;

    fn round(
        &mut self,
        tables: &mut (dyn Tables + '_),
        (): (),
        approach: BarrierGuard<'_>,
    ) -> Result<TimedPart, WorkloadError> {
        let shared = self.shared;
        let mut parts = self.parts().map_err(WorkloadError::harness)?;
        let started = approach.cross()?;
        parts.seconds.restart();
        parts.epochs.iter_mut().for_each(Seconds::restart);
        let (begin, pacer) = started.start_work(shared.work.rate);
        self.pacer = pacer;
        self.all(tables, || started.can_continue(begin, shared.work.until), &mut parts)?;
        let end = shared.clock.now();
        self.finish(parts).map_err(WorkloadError::harness)?;
        check_settings(tables)?;
        Ok(TimedPart { begin, end, calls_ns: self.recorder.latencies(ALL).sum_ns(), ..TimedPart::default() })
    }
}

/// Whether the settings still hold in a session.
pub fn check_settings(tables: &mut dyn Tables) -> Result<(), WorkloadError> {
    tables
        .check_settings()
        .map_err(|error| WorkloadError::store("reading the session's settings back", &error))
}
