//! The workload `shop` of paper 003: customers, products and orders, larger or smaller than memory, and three transactions on
//! them from several client threads. [`schema`] describes the tables, which are SQL tables or records ([`tables`]). Every row
//! follows from the seed and its number ([`rows`]), so only what transactions change is remembered ([`shared_knowledge`]).

mod audit;
mod check;
mod chunk;
pub mod files;
mod ids;
pub(super) mod kind;
mod parameters;
mod record_tables;
mod rows;
mod schema;
mod shared;
mod shared_knowledge;
mod shop_worker;
mod sql_tables;
mod steps;
mod tables;

use std::sync::Mutex;

use storebench_model::cell::Rate;
use storebench_model::result::{Measurements, OVERALL, OperationResult, StoredRecords, WrittenRecords};
use storebench_model::store::{Capabilities, OpenOptions};

use crate::measure::clock::Clock;
use crate::workload::audit::AuditOpening;
use crate::workload::def::{Headline, WorkloadDef, axes};
use crate::workload::elapsed::Elapsed;
use crate::workload::gauge::GaugeReading;
use crate::workload::spec::{TrialContext, TrialError};
use crate::workload::store_trial::{StoreTrial, find, offered_guarantee};
use crate::workload::worker_pool::into_worker;
use crate::workload::workload_error::WorkloadError;
use chunk::RowMakers;
use kind::Kind;
use parameters::ShopParameters;
use schema::{ID_BYTES, ORDER_BYTES, Table};
use shared::ShopContext;
use shop_worker::{ALL, Recorder, ShopWorker};
use steps::ShopRun;

/// Customers who buy products, and stock that changes.
pub static WORKLOAD: WorkloadDef = WorkloadDef {
    name: "shop",
    help: "a shop's transactions on customers, products and orders, inside memory and outside it",
    axes: axes!(STORE DATA_SIZE INDEX LOAD_ORDER GUARANTEE PLACE DISK MACHINE BACKGROUND THREADS RATE TUNING),
    parameters: &["operations", "duration", "shares", "epoch", "equal_cache", "after_load"],
    operations: &[OVERALL, Kind::Orders.name(), Kind::Buy.name(), Kind::Restock.name()],
    reason: |case| parameters::check(case).err(),
    headline: &[Headline::Throughput, Headline::Latency, Headline::Space, Headline::Memory],
    space: parameters::space,
    stored_bytes: parameters::held_bytes,
    memory: parameters::memory,
    time: parameters::time,
    time_by_rehearsal: None,
    run,
    serve: None,
};

fn run(context: &TrialContext<'_>) -> Result<Measurements, TrialError> {
    let TrialContext { stores, spec, .. } = *context;
    let (store, opener) = find(stores, spec.cell.store())?;
    let promised = spec.cell.guarantee().tier();
    offered_guarantee(store, &spec.cell)?;
    let work = ShopParameters::from_parameters(&spec.cell, &spec.parameters, spec.memory_limit)
        .map_err(TrialError::Unsupported)?;
    let Capabilities { sql, persists, .. } = store.capabilities;
    let clock = Clock::new();
    let shared = ShopContext::new(work, spec, &clock, sql).map_err(TrialError::harness)?;
    let workers = (0..work.threads).map(|thread| ShopWorker::new(&shared, thread));
    let workers = workers.map(|worker| worker.map(Mutex::new));
    let workers = workers.collect::<Result<Vec<_>, String>>().map_err(TrialError::harness)?;
    let makers = RowMakers::new(RowMakers::thread_count(parameters::MOST_MAKERS), 0);
    let mut acknowledged = Vec::with_capacity(2);
    // With `default`, settings and the transactions decide the guarantee.
    let options = OpenOptions { transactions: true, ..spec.options(work.threads) };
    let mut trial = StoreTrial::open((store, opener), options, promised, spec)?;
    let ShopRun { load, loaded, elapsed, gauge_reading } =
        steps::run(&shared, &trial.bench, &workers, makers, &mut acknowledged)?;
    trial.worked()?;
    let workers: Vec<_> = workers.into_iter().map(into_worker).collect();
    let operations = results(&shared, &workers, &elapsed, gauge_reading)?;
    let purchases: Vec<u64> = workers.iter().map(ShopWorker::purchases).collect();
    let (stored, entries) = count_stored(&work, &loaded, &purchases);
    let mut trial = trial.finish(&acknowledged, (!sql).then_some(stored.records + entries))?;
    // A store that does not persist is read back before it is closed; one that does, when nothing is left to measure.
    if persists {
        trial.close()?;
    }
    let opening = if persists { AuditOpening::Anew } else { AuditOpening::Open };
    let audit = audit::audit(&shared, &mut trial.bench, &purchases, opening)?;
    if !persists {
        trial.close()?;
    }
    Ok(Measurements {
        load,
        operations,
        stored,
        written: Some(loaded.plus(count_written(&workers))),
        audit: Some(audit),
        ..trial.measured
    })
}

/// The rows of the tables, and the index's entries.
fn count_stored(work: &ShopParameters, loaded: &WrittenRecords, purchases: &[u64]) -> (StoredRecords, u64) {
    let new_orders = purchases.iter().sum::<u64>();
    let stored = StoredRecords {
        records: loaded.records + new_orders,
        key_bytes: loaded.key_bytes + new_orders * ID_BYTES as u64,
        value_bytes: loaded.value_bytes + new_orders * (ORDER_BYTES - ID_BYTES) as u64,
    };
    let orders = rows::rows_of(work.data_bytes)[Table::Orders as usize] + new_orders;
    (stored, if work.indexed { orders } else { 0 })
}

/// What transactions handed to the store: orders, and stock as four bytes.
fn count_written(workers: &[ShopWorker<'_>]) -> WrittenRecords {
    let new_orders: u64 = workers.iter().map(ShopWorker::purchases).sum();
    let writes: u64 = workers.iter().map(ShopWorker::writes).sum();
    // Each transaction that writes changes a stock; a purchase is an order, too.
    let records = new_orders + writes;
    WrittenRecords {
        records,
        key_bytes: records * ID_BYTES as u64,
        value_bytes: new_orders * (ORDER_BYTES - ID_BYTES) as u64 + writes * schema::QUANTITY_BYTES as u64,
    }
}

fn results(
    shared: &ShopContext<'_>,
    workers: &[ShopWorker<'_>],
    elapsed: &Elapsed,
    gauge_reading: GaugeReading,
) -> Result<Vec<OperationResult>, TrialError> {
    let work = &shared.work;
    let recorder = Recorder::sum(workers.iter().map(|worker| worker.recorder.clone()))?;
    let result = |name: &str, kind: usize| -> Result<OperationResult, WorkloadError> {
        let is_closed = work.rate == Rate::Closed;
        Ok(OperationResult {
            epochs: shared.epochs[kind].finish_epochs(elapsed.wall),
            ..recorder.kind_record(kind).result(name, elapsed, is_closed, work.threads)?
        })
    };
    let mut results = vec![gauge_reading.add_to(result(OVERALL, ALL)?)];
    for kind in Kind::ALL.into_iter().filter(|kind| work.shares.share_of(*kind) > 0.0) {
        results.push(result(kind.name(), kind as usize)?);
    }
    Ok(results)
}

#[cfg(test)]
mod tests;
