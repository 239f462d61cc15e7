//! Loading the data: rows made in parallel, handed to the store in its best way.

use std::time::Instant;

use super::chunk::{Chunks, Makers};
use super::schema::ID_BYTES;
use super::shared::ShopContext;
use super::tables::Tables;
use crate::measure::counters::Snapshot;
use crate::result::{Load, WrittenRecords};
use crate::workload::load_progress::{ProgressKind, ProgressReporter};
use crate::workload::sync_check::AcknowledgedWrites;
use crate::workload::workload_error::WorkloadError;

/// Loads all rows, makes the index, and lets the store rest. Waiting for rows is not counted. Fails also when it did not take all.
pub fn load(
    shared: &ShopContext<'_>,
    makers: Makers,
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
    let batches = result.map_err(|error| WorkloadError::store("loading the tables", &error))?;
    tables.make_index().map_err(|error| WorkloadError::store("making the index", &error))?;
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
