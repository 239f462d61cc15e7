//! One client thread: it draws a transaction, times it from just before its first call to just after its last, and checks reads
//! when the clock has stopped.

use storebench_model::store::{self, StoreError};

use super::check::{RowChecker, check_changed};
use super::kind::Kind;
use super::rows::Purchase;
use super::schema::{ORDER_BYTES, Table};
use super::shared::ShopContext;
use super::tables::{PurchaseRequest, ReadBuffer, Tables};
use crate::measure::series::Seconds;
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
    request: PurchaseRequest,
    read_buffer: ReadBuffer,
    checker: RowChecker<'a>,
    pub recorder: Recorder,
    pacer: Option<Pacer>,
}

/// The index of all kinds together.
pub const ALL: usize = Kind::ALL.len();

struct ThreadSeries<'a> {
    seconds: Seconds<'a>,
    epochs: [Seconds<'a>; Kind::ALL.len() + 1],
}

impl<'a> ShopWorker<'a> {
    pub fn new(shared: &'a ShopContext<'a>, thread: u64) -> Result<ShopWorker<'a>, String> {
        Ok(ShopWorker {
            thread,
            shared,
            drawn: [0; Kind::ALL.len()],
            request: PurchaseRequest { order: Vec::with_capacity(ORDER_BYTES), ..PurchaseRequest::default() },
            read_buffer: ReadBuffer::new(),
            checker: RowChecker::new(shared),
            recorder: Recorder::new()?,
            pacer: None,
        })
    }

    /// Acknowledged purchases: all drawn ones, as no transaction fails.
    pub(crate) fn purchases(&self) -> u64 {
        self.drawn[Kind::Buy as usize]
    }

    pub fn writes(&self) -> u64 {
        self.purchases() + self.drawn[Kind::Restock as usize]
    }

    fn thread_series(&self) -> Result<ThreadSeries<'a>, String> {
        let (shared, thread) = (self.shared, self.thread as usize);
        let epoch = |kind: usize| shared.epochs[kind].thread(thread, self.recorder.latencies(kind));
        Ok(ThreadSeries {
            seconds: shared.gauge.series.thread(thread, self.recorder.latencies(ALL))?,
            epochs: [epoch(0)?, epoch(1)?, epoch(2)?, epoch(3)?],
        })
    }

    fn finish(&self, series: ThreadSeries<'_>) -> Result<(), String> {
        series.seconds.finish(self.recorder.latencies(ALL))?;
        let mut epochs = series.epochs.into_iter().zip(self.recorder.all());
        epochs.try_for_each(|(epoch, record)| epoch.finish(&record.latencies))
    }

    /// Does transactions while `goes_on`.
    fn run_transactions(
        &mut self,
        tables: &mut dyn Tables,
        goes_on: impl Fn() -> bool,
        series: &mut ThreadSeries<'_>,
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
                Kind::Orders => self.read_orders(tables, number),
                Kind::Buy => self.buy(tables, number),
                Kind::Restock => self.restock(tables, number),
            }?;
            self.drawn[kind as usize] += 1;
            let ns = shared.clock.nanoseconds(0, ticks).max(1);
            for slot in [kind as usize, ALL] {
                self.recorder.record(slot, ns);
            }
            series.seconds.add_latencies(self.recorder.latencies(ALL)).map_err(WorkloadError::harness)?;
            for (epoch, record) in series.epochs.iter_mut().zip(self.recorder.all()) {
                epoch.add_latencies(&record.latencies).map_err(WorkloadError::harness)?;
            }
        }
        Ok(())
    }

    /// Does a transaction, again on conflicts. Gives its result and clock ticks.
    #[inline(always)]
    fn time_transaction<T>(
        &mut self,
        kind: Kind,
        mut attempt: impl FnMut(&PurchaseRequest, &mut ReadBuffer) -> store::Result<T>,
    ) -> Result<(T, u64), WorkloadError> {
        let ShopWorker { shared, request, read_buffer, pacer, .. } = self;
        read_buffer.clear();
        let start = match pacer {
            Some(pacer) => pacer.wait(shared.clock),
            None => shared.clock.now(),
        };
        let mut conflicts = 0;
        let result = loop {
            match attempt(request, read_buffer) {
                Err(StoreError::Conflict(_)) if conflicts < MOST_ATTEMPTS => {
                    conflicts += 1;
                    read_buffer.clear();
                }
                result => break result,
            }
        };
        let end = shared.clock.now();
        for slot in [kind as usize, ALL] {
            self.recorder.kind_record_mut(slot).conflicts += conflicts;
        }
        let describe = || {
            format!("the transaction {} {} of thread {}", kind.name(), self.drawn[kind as usize], self.thread)
        };
        let result = result.map_err(|error| WorkloadError::store(&describe(), &error))?;
        Ok((result, end.saturating_sub(start)))
    }

    fn count_bytes(&mut self, kind: Kind, written: usize) {
        for slot in [kind as usize, ALL] {
            self.recorder.kind_record_mut(slot).value_bytes += self.read_buffer.bytes() + written as u64;
        }
    }

    fn read_orders(&mut self, tables: &mut dyn Tables, number: u64) -> Result<u64, WorkloadError> {
        let shared = self.shared;
        let customer = shared.data.customer_to_read(self.thread, number);
        let id = shared.data.ids(Table::Customers).id_of_row(customer);
        let before = shared.knowledge.count_ended_orders(customer);
        let ((), ticks) =
            self.time_transaction(Kind::Orders, |_, read_buffer| tables.read_orders(id, read_buffer))?;
        let bounds = shared.knowledge.order_count_bounds(customer, before);
        let result = self.checker.check_orders(customer, &self.read_buffer, &bounds);
        result.map_err(WorkloadError::wrong_data)?;
        self.count_bytes(Kind::Orders, 0);
        Ok(ticks)
    }

    fn buy(&mut self, tables: &mut dyn Tables, number: u64) -> Result<u64, WorkloadError> {
        let shared = self.shared;
        let purchase = shared.data.purchase(self.thread, number);
        self.fill_request(&purchase);
        let ended_changes = purchase.viewed.map(|product| shared.knowledge.ended_changes(product));
        shared.knowledge.begin_order(&purchase.order);
        let (was_changed, ticks) =
            self.time_transaction(Kind::Buy, |request, read_buffer| tables.buy(request, read_buffer))?;
        let result = self.checker.check_purchase(&purchase, &self.read_buffer, &ended_changes);
        result.map_err(WorkloadError::wrong_data)?;
        check_changed(was_changed, purchase.order.product).map_err(WorkloadError::wrong_data)?;
        shared.knowledge.end_order(&purchase.order);
        self.count_bytes(Kind::Buy, ORDER_BYTES);
        Ok(ticks)
    }

    /// Fills in a purchase's ids and row.
    fn fill_request(&mut self, purchase: &Purchase) {
        let data = &self.shared.data;
        let PurchaseRequest { customer, viewed, chosen, order, amount } = &mut self.request;
        *customer = data.ids(Table::Customers).id_of_row(purchase.order.customer);
        *viewed = purchase.viewed.map(|product| data.ids(Table::Products).id_of_row(product));
        *chosen = purchase.chosen;
        *amount = purchase.order.amount as i32;
        order.clear();
        data.append_order(&purchase.order, order);
    }

    fn restock(&mut self, tables: &mut dyn Tables, number: u64) -> Result<u64, WorkloadError> {
        let shared = self.shared;
        let (product, amount) = shared.data.delivery(self.thread, number);
        let id = shared.data.ids(Table::Products).id_of_row(product);
        shared.knowledge.begin_delivery(product, amount);
        let (was_changed, ticks) =
            self.time_transaction(Kind::Restock, |_, _| tables.restock(id, amount as i32))?;
        check_changed(was_changed, product).map_err(WorkloadError::wrong_data)?;
        shared.knowledge.end_delivery(product, amount);
        self.count_bytes(Kind::Restock, size_of::<i32>());
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
        let mut series = self.thread_series().map_err(WorkloadError::harness)?;
        let started = approach.cross()?;
        series.seconds.restart();
        series.epochs.iter_mut().for_each(Seconds::restart);
        let (begin, pacer) = started.start_work(shared.work.rate);
        self.pacer = pacer;
        self.run_transactions(tables, || started.can_continue(begin, shared.work.time_limit), &mut series)?;
        let end = shared.clock.now();
        self.finish(series).map_err(WorkloadError::harness)?;
        check_settings(tables)?;
        Ok(TimedPart { begin, end, calls_ns: self.recorder.latencies(ALL).sum_ns(), ..TimedPart::default() })
    }
}

/// Whether the settings still hold in a session.
pub fn check_settings(tables: &mut dyn Tables) -> Result<(), WorkloadError> {
    tables.check_settings().map_err(WorkloadError::during("reading the session's settings back"))
}
