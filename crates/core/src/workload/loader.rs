//! Loading: the records that are there before the first operation, in batches.

use std::time::Instant;

use storebench_model::result::{Load, WrittenRecords};
use storebench_model::store::Session;

use crate::measure::counters::Snapshot;
use crate::workload::batch::Batch;
use crate::workload::load_progress::{ProgressKind, ProgressReporter};
use crate::workload::parameter::AfterLoad;
use crate::workload::sync_check::AcknowledgedWrites;
use crate::workload::workload_error::WorkloadError;

/// Fills batches with records 0 to `count`, in order; `add` adds one.
pub fn numbered(
    count: u64,
    add: impl Fn(&mut Batch, u64),
) -> impl FnMut(&mut Batch) -> Result<(), WorkloadError> {
    let mut next = 0;
    move |batch| {
        while next < count && !batch.is_full() {
            add(batch, next);
            next += 1;
        }
        Ok(())
    }
}

/// Loads the batches that `fill` makes, until an empty one; gives also what was handed to the store. Reports progress if the
/// number of records, `total_records`, is known. `acknowledged` receives the writes that the guarantee `power` is checked by.
/// Then the store rests, unless `after` says otherwise.
pub fn load(
    total_records: Option<u64>,
    batch: &mut Batch,
    session: &mut dyn Session,
    acknowledged: &mut Vec<AcknowledgedWrites>,
    after: AfterLoad,
    mut fill: impl FnMut(&mut Batch) -> Result<(), WorkloadError>,
) -> Result<(Load, WrittenRecords), WorkloadError> {
    let (mut load, mut written) = (Load::default(), WrittenRecords::default());
    if total_records == Some(0) {
        return Ok((load, written));
    }
    let (mut batches, mut progress) =
        (0, total_records.map(|total| ProgressReporter::new(ProgressKind::Loading, total)));
    let before = Snapshot::now();
    loop {
        batch.clear();
        fill(batch)?;
        let records = batch.records();
        if records.is_empty() {
            break;
        }
        let start = Instant::now();
        session.insert_batch(&records).map_err(WorkloadError::during("loading a batch"))?;
        load.store_ns += start.elapsed().as_nanos() as u64;
        batches += 1;
        let (key_bytes, value_bytes) = (batch.key_bytes(), batch.value_bytes());
        written = written.plus(WrittenRecords { records: records.len() as u64, key_bytes, value_bytes });
        if let Some(progress) = &mut progress {
            progress.report(written.records);
        }
    }
    let counters = before.until_now();
    AcknowledgedWrites::new("batches", batches, 1, &counters).note(acknowledged);
    (load.records, load.value_bytes, load.counters) = (written.records, written.value_bytes, Some(counters));
    load.rest = after.wait();
    Ok((load, written))
}
