//! The workload `shop` of paper 003: customers, products and orders, larger or smaller than memory, and three transactions on
//! them from several client threads. [`schema`] describes the tables, which are SQL tables or records ([`tables`]). Every row
//! follows from the seed and its number ([`rows`]), so only what transactions change is remembered ([`shared_knowledge`]).

mod audit;
mod by_records;
mod by_sql;
mod check;
mod chunk;
pub mod files;
mod ids;
pub(super) mod kind;
mod load;
mod parameters;
mod rows;
mod schema;
mod shared;
mod shared_knowledge;
mod shop_worker;
mod steps;
mod tables;
mod warm;

use std::sync::Mutex;

use crate::cell::Rate;
use crate::measure::clock::Clock;
use crate::result::{Measurements, OVERALL, OperationResult, StoredRecords, WrittenRecords};
use crate::store::{Capabilities, OpenOptions};
use crate::workload::audit::AuditOpening;
use crate::workload::def::{Headline, WorkloadDef, axes};
use crate::workload::spec::{TrialContext, TrialError};
use crate::workload::store_trial::{SettledTrial, StoreTrial, find, offered_guarantee};
use crate::workload::worker_pool::into_worker;
use crate::workload::workload_error::WorkloadError;
use chunk::Makers;
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
    reason: parameters::reason,
    headline: &[Headline::Throughput, Headline::Latency, Headline::Space, Headline::Memory],
    space: parameters::space,
    held: parameters::held_bytes,
    memory: parameters::memory,
    time: parameters::time,
    time_by_rehearsal: None,
    run,
    serve: None,
};

fn run(asked: &TrialContext<'_>) -> Result<Measurements, TrialError> {
    let TrialContext { stores, spec, .. } = *asked;
    let (store, open) = find(stores, spec.cell.store())?;
    let tier = spec.cell.guarantee().tier();
    offered_guarantee(store, &spec.cell)?;
    let work = ShopParameters::from_parameters(&spec.cell, &spec.parameters, spec.memory_limit)
        .map_err(TrialError::Unsupported)?;
    let Capabilities { sql, persists, .. } = store.capabilities;
    let clock = Clock::new();
    let shared = ShopContext::new(work, spec.seed, &clock, sql).map_err(TrialError::harness)?;
    let workers = (0..work.threads).map(|thread| ShopWorker::new(&shared, thread));
    let workers = workers.map(|worker| worker.map(Mutex::new));
    let workers = workers.collect::<Result<Vec<_>, String>>().map_err(TrialError::harness)?;
    let makers = Makers::new(Makers::threads(parameters::MOST_MAKERS), 0);
    let mut acknowledged = Vec::with_capacity(2);
    // With `default`, settings and the transactions decide the tier.
    let options = OpenOptions { transactions: true, ..spec.options(work.threads) };
    let mut trial = StoreTrial::open((store, open), options, tier, spec)?;
    let ran = steps::run(&shared, &trial.bench, &workers, makers, &spec.device, &mut acknowledged)?;
    trial.worked()?;
    let workers: Vec<_> = workers.into_iter().map(into_worker).collect();
    let operations = results(&work, &workers, &ran, &shared)?;
    let purchases: Vec<u64> = workers.iter().map(ShopWorker::purchases).collect();
    let (stored, entries) = stored(&work, &ran, &purchases);
    let mut trial = trial.finish(&acknowledged, (!sql).then_some(stored.records + entries))?;
    // A store that does not persist is read back before it is closed; one that does, when nothing is left to measure.
    let read_back =
        |trial: &mut SettledTrial<'_>, reading| audit::audit(&shared, &mut trial.bench, &purchases, reading);
    let open = (!persists).then(|| read_back(&mut trial, AuditOpening::Open)).transpose()?;
    trial.close()?;
    let anew = persists.then(|| read_back(&mut trial, AuditOpening::Anew)).transpose()?;
    let written = written(&ran, &workers);
    Ok(Measurements {
        load: ran.load,
        operations,
        stored,
        written: Some(written),
        audit: open.or(anew),
        ..trial.measured
    })
}

/// The rows of the tables, and the index's entries.
fn stored(work: &ShopParameters, ran: &ShopRun, purchases: &[u64]) -> (StoredRecords, u64) {
    let (bought, data) = (purchases.iter().sum::<u64>(), &ran.loaded);
    let stored = StoredRecords {
        records: data.records + bought,
        key_bytes: data.key_bytes + bought * ID_BYTES as u64,
        value_bytes: data.value_bytes + bought * (ORDER_BYTES - ID_BYTES) as u64,
    };
    let orders = rows::rows_of(work.data_bytes)[Table::Orders as usize] + bought;
    (stored, if work.indexed { orders } else { 0 })
}

/// The records handed to the store: data, orders, and stock as four bytes.
fn written(ran: &ShopRun, workers: &[ShopWorker<'_>]) -> WrittenRecords {
    let (bought, writes) = workers
        .iter()
        .fold((0, 0), |(bought, writes), worker| (bought + worker.purchases(), writes + worker.writes()));
    // Each transaction that writes changes a stock; a purchase is an order, too.
    let records = bought + writes;
    ran.loaded.plus(WrittenRecords {
        records,
        key_bytes: records * ID_BYTES as u64,
        value_bytes: bought * (ORDER_BYTES - ID_BYTES) as u64 + writes * schema::QUANTITY_BYTES as u64,
    })
}

fn results(
    work: &ShopParameters,
    workers: &[ShopWorker<'_>],
    ran: &ShopRun,
    shared: &ShopContext<'_>,
) -> Result<Vec<OperationResult>, TrialError> {
    let recorder = Recorder::sum(workers.iter().map(|worker| worker.recorder().clone()))?;
    let result = |name: &str, kind: usize| -> Result<OperationResult, WorkloadError> {
        let is_closed = work.rate == Rate::Closed;
        Ok(OperationResult {
            epochs: shared.epochs[kind].finish_epochs(ran.elapsed.wall),
            ..recorder.kind_record(kind).result(name, &ran.elapsed, is_closed, work.threads)?
        })
    };
    let all = OperationResult {
        counters: Some(ran.counters.clone()),
        device_written_bytes: ran.seen.traffic.as_ref().map(|traffic| traffic.written_bytes),
        device_read_bytes: ran.seen.traffic.as_ref().map(|traffic| traffic.read_bytes),
        processors: ran.seen.processors.clone(),
        series: ran.series.clone(),
        ..result(OVERALL, ALL)?
    };
    let mut results = vec![all];
    for kind in Kind::ALL.into_iter().filter(|kind| work.shares.share_of(*kind) > 0.0) {
        results.push(result(kind.name(), kind as usize)?);
    }
    Ok(results)
}

#[cfg(test)]
mod tests;
