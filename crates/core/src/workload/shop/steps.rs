//! The steps of a trial: the data are loaded and read; then all client threads do their transactions at once.

use std::sync::Mutex;
use std::time::Instant;

use storebench_model::result::{Load, WrittenRecords};
use storebench_model::store::Store;

use super::chunk::{Chunks, RowMakers};
use super::schema::{ID_BYTES, Table};
use super::shared::ShopContext;
use super::shop_worker::{ShopWorker, check_settings};
use super::tables::Tables;
use crate::measure::counters::Snapshot;
use crate::measure::device;
use crate::workload::bench::Bench;
use crate::workload::elapsed::Elapsed;
use crate::workload::gauge::GaugeReading;
use crate::workload::load_progress::{ProgressKind, ProgressReporter};
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

/// Loads the tables, warms the store, and does all transactions. `acknowledged` receives what the guarantee `power` is held to.
/// Stops at the first thing that goes wrong.
pub fn run(
    shared: &ShopContext<'_>,
    bench: &Bench<'_>,
    workers: &[Mutex<ShopWorker<'_>>],
    makers: RowMakers,
    acknowledged: &mut Vec<AcknowledgedWrites>,
) -> Result<ShopRun, WorkloadError> {
    let store = bench.store()?;
    let (load, loaded) = load(shared, makers, shared.make(store)?.as_mut(), acknowledged)?;
    warm(shared, bench)?;
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

/// Loads all rows, makes the index, and lets the store rest. Waiting for rows is not counted. Fails also when it did not take all.
fn load(
    shared: &ShopContext<'_>,
    makers: RowMakers,
    tables: &mut dyn Tables,
    acknowledged: &mut Vec<AcknowledgedWrites>,
) -> Result<(Load, WrittenRecords), WorkloadError> {
    let chunks = Chunks::new(&shared.data, shared.work.sorted);
    let all_rows = shared.data.all_rows();
    let before = Snapshot::now();
    let start = Instant::now();
    let make = |number, chunk: &mut _| chunks.make(number, chunk);
    let reporter = ProgressReporter::new(ProgressKind::Loading, all_rows);
    let (result, taken) = makers.run(chunks.count(), make, |mut source| {
        source.reporter = Some(reporter);
        (tables.load(&mut source), source.taken)
    });
    let batches = result.map_err(WorkloadError::during("loading the tables"))?;
    tables.make_index().map_err(WorkloadError::during("making the index"))?;
    let store = start.elapsed().saturating_sub(taken.waited);
    let counters = before.until_now();
    let records = taken.rows;
    if records != all_rows {
        let message = format!("{records} rows were loaded, but there are {all_rows}");
        return Err(WorkloadError::harness(message));
    }
    AcknowledgedWrites::new("loads", batches, 1, &counters).note(acknowledged);
    let key_bytes = records * ID_BYTES as u64;
    let value_bytes = taken.bytes - key_bytes;
    let written = WrittenRecords { records, key_bytes, value_bytes };
    let store_ns = store.as_nanos() as u64;
    let (rest, counters) = (shared.work.after_load.wait(), Some(counters));
    Ok((Load { records, value_bytes, store_ns, counters, rest, ..Load::default() }, written))
}

/// The most read tables come last: if not all fit, these stay.
const TABLES: [Table; 3] = [Table::Orders, Table::Customers, Table::Products];

/// Flushes the store, and reads every row and index entry once, so that as much as fits is in memory: engines end their loading in
/// different states. Some have the newest rows cached, others have put files aside that no cache has seen.
fn warm(shared: &ShopContext<'_>, bench: &Bench<'_>) -> Result<(), WorkloadError> {
    if bench.outside_location().is_none() {
        let synced = device::sync_file_system(bench.folder());
        synced.map_err(|error| WorkloadError::harness(error.to_string()))?;
    }
    let mut tables = shared.open(bench.store()?)?;
    let read_error = WorkloadError::during("reading the tables before the transactions");
    if shared.work.indexed {
        tables.visit_entries(&mut |_, _| ()).map_err(read_error)?;
    }
    TABLES.into_iter().try_for_each(|table| tables.visit_rows(table, &mut |_| ())).map_err(read_error)
}
