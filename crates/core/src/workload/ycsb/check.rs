//! Checks the records at a trial's end: each in a version that it may have, after the store was closed and opened anew, twice. A
//! lost acknowledged write shows here.

use std::time::Instant;

use storebench_model::result::Audit;
use storebench_model::store::Store;

use super::shared::YcsbContext;
use super::versions::KnownVersions;
use crate::workload::audit::{AuditOpening, Sample, most_records};
use crate::workload::bench::Bench;
use crate::workload::workload_error::WorkloadError;

/// Checks the store against what was written. Closes it. Fails at the first missing or wrong record.
pub fn audit(
    shared: &YcsbContext<'_>,
    bench: &mut Bench<'_>,
    seed: u64,
    reading: AuditOpening,
) -> Result<Audit, WorkloadError> {
    let start = Instant::now();
    let records = shared.versions.inserted();
    let is_touched = |record: u64| shared.versions.is_touched(record, shared.work.loaded);
    let sample = Sample::select((0..records).map(is_touched), most_records(shared.fields.mean()), seed);
    let chosen: Vec<u64> =
        (0..records).filter(|record| sample.contains(*record, is_touched(*record))).collect();
    let (first, reopened) = if reading == AuditOpening::Anew { (1, 2) } else { (0, 0) };
    for reopened in first..=reopened {
        if reopened > 0 {
            bench.reopen()?;
        }
        read_back(shared, bench.store()?, &chosen, reopened)?;
    }
    let count = bench.store()?.count().map_err(|error| WorkloadError::store("counting", &error))?;
    if count != records {
        return Err(WorkloadError::wrong_data(format!(
            "the store counts {count} records, but should hold {records}"
        )));
    }
    bench.close()?;
    let took_ns = start.elapsed().as_nanos() as u64;
    Ok(Audit { records, read_back: chosen.len() as u64, seen_gone: 0, removed: 0, reopened, took_ns })
}

fn read_back(
    shared: &YcsbContext<'_>,
    store: &dyn Store,
    chosen: &[u64],
    reopened: u32,
) -> Result<(), WorkloadError> {
    let session_error = |error| WorkloadError::store("opening a session to read the store back", &error);
    let mut session = store.session().map_err(session_error)?;
    let mut floors = vec![0; shared.versions.slots()];
    for record in chosen {
        let key = shared.definition().naming.key(*record);
        shared.versions.copy_floors(*record, &mut floors);
        let known = KnownVersions::from_slots(&floors, shared.versions.newest(*record, &floors));
        let (mut length, mut is_right) = (0, false);
        let result = session.get(key.bytes(), &mut |value| {
            (length, is_right) = (value.len(), shared.fields.is_value(*record, &known, value));
        });
        let key = String::from_utf8_lossy(key.bytes());
        let fault = match result {
            Ok(true) if is_right => continue,
            Ok(true) => format!("is not what was written last: {length} bytes, or other bytes"),
            Ok(false) => "is missing".into(),
            Err(error) => {
                let action = format!("reading back record {record} (key {key}) after the trial");
                return Err(WorkloadError::store(&action, &error));
            }
        };
        let moment = match reopened {
            0 => "at the trial's end",
            1 => "after the trial, when the store had been closed and opened anew",
            _ => "after the trial, when the store had been closed and opened anew once more",
        };
        let message = format!("the value of record {record} (key {key}) {fault}, {moment}");
        return Err(WorkloadError::wrong_data(message));
    }
    Ok(())
}
