//! The steps of a trial: the data are loaded and read; then all client threads do their transactions at once.

use std::sync::Mutex;

use super::chunk::Makers;
use super::shared::ShopContext;
use super::shop_worker::{ShopWorker, check_settings};
use super::tables::Tables;
use super::{load, warm};
use crate::measure::counters::Snapshot;
use crate::measure::device::DeviceSpec;
use crate::measure::machine_counters::{MachineCounters, MachineUse};
use crate::result::{Counters, Load, Second, WrittenRecords};
use crate::store::Store;
use crate::workload::bench::Bench;
use crate::workload::elapsed::Elapsed;
use crate::workload::sync_check::AcknowledgedWrites;
use crate::workload::worker_pool::{self, lock_worker};
use crate::workload::workload_error::WorkloadError;

/// The work before it is summed up.
pub struct ShopRun {
    pub load: Load,
    pub loaded: WrittenRecords,
    pub elapsed: Elapsed,
    pub counters: Counters,
    pub machine_use: MachineUse,
    pub series: Vec<Second>,
}

/// Loads the tables, warms the store, and does all transactions. `acknowledged` receives what a promise of `power` is held to.
/// Stops at the first thing that goes wrong.
pub fn run(
    shared: &ShopContext<'_>,
    bench: &Bench<'_>,
    workers: &[Mutex<ShopWorker<'_>>],
    makers: Makers,
    device: &Result<DeviceSpec, String>,
    acknowledged: &mut Vec<AcknowledgedWrites>,
) -> Result<ShopRun, WorkloadError> {
    let store = bench.store()?;
    let (load, loaded) = load::load(shared, makers, shared.make(store)?.as_mut(), acknowledged)?;
    warm::warm(shared, bench)?;
    let (elapsed, counters, machine_use) = worker_pool::run(
        shared.clock,
        workers,
        || open(shared, store),
        |_| Ok(()),
        |pool| {
            let machine = MachineCounters::start(device);
            shared.seconds.begin();
            shared.epochs.iter().for_each(|epochs| epochs.begin());
            let before = Snapshot::now();
            let elapsed = pool.round(())?;
            Ok((elapsed, before.until_now(), machine.end()))
        },
    )?;
    let writes = workers.iter().map(|worker| lock_worker(worker).writes()).sum();
    AcknowledgedWrites::new("transactions that write", writes, shared.work.threads, &counters)
        .note(acknowledged);
    Ok(ShopRun { load, loaded, elapsed, counters, machine_use, series: shared.seconds.finish() })
}

/// Opens a thread's tables, and checks their settings.
fn open<'s>(shared: &ShopContext<'_>, store: &'s dyn Store) -> Result<Box<dyn Tables + 's>, WorkloadError> {
    let mut tables = shared.open(store)?;
    check_settings(tables.as_mut())?;
    Ok(tables)
}
