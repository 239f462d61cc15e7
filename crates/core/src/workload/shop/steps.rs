//! The steps of a trial: the data are loaded and read; then all client threads do their transactions at once.

use std::sync::Mutex;

use super::chunk::Makers;
use super::shared::ShopContext;
use super::shop_worker::{ShopWorker, check_settings};
use super::tables::Tables;
use super::{load, warm};
use crate::result::{Load, WrittenRecords};
use crate::store::Store;
use crate::workload::bench::Bench;
use crate::workload::elapsed::Elapsed;
use crate::workload::gauge::GaugeReading;
use crate::workload::sync_check::AcknowledgedWrites;
use crate::workload::worker_pool::{self, lock_worker};
use crate::workload::workload_error::WorkloadError;

/// The work before it is summed up.
pub struct ShopRun {
    pub load: Load,
    pub loaded: WrittenRecords,
    pub elapsed: Elapsed,
    pub(crate) gauge_reading: GaugeReading,
}

/// Loads the tables, warms the store, and does all transactions. `acknowledged` receives what a promise of `power` is held to.
/// Stops at the first thing that goes wrong.
pub fn run(
    shared: &ShopContext<'_>,
    bench: &Bench<'_>,
    workers: &[Mutex<ShopWorker<'_>>],
    makers: Makers,
    acknowledged: &mut Vec<AcknowledgedWrites>,
) -> Result<ShopRun, WorkloadError> {
    let store = bench.store()?;
    let (load, loaded) = load::load(shared, makers, shared.make(store)?.as_mut(), acknowledged)?;
    warm::warm(shared, bench)?;
    let (elapsed, gauge_reading) = worker_pool::run(
        shared.clock,
        workers,
        || open(shared, store),
        |_| Ok(()),
        |pool| {
            shared.epochs.iter().for_each(|epochs| epochs.begin());
            shared.gauge.measure(|| pool.round(()))
        },
    )?;
    let writes = workers.iter().map(|worker| lock_worker(worker).writes()).sum();
    let counters = &gauge_reading.counters;
    AcknowledgedWrites::new("transactions that write", writes, shared.work.threads, counters)
        .note(acknowledged);
    Ok(ShopRun { load, loaded, elapsed, gauge_reading })
}

/// Opens a thread's tables, and checks their settings.
fn open<'s>(shared: &ShopContext<'_>, store: &'s dyn Store) -> Result<Box<dyn Tables + 's>, WorkloadError> {
    let mut tables = shared.open(store)?;
    check_settings(tables.as_mut())?;
    Ok(tables)
}
