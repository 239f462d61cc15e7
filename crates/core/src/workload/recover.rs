//! The recovery check, in the processes that it runs: each opens the store, reads the last acknowledged record, adds more, and is
//! killed. The next process's time of opening is that of a recovery.

use std::ops::Range;
use std::path::Path;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use storebench_model::result::{Failure, Reopening};
use storebench_model::store::{Session, Store, StoreKind};

use crate::measure::counters::{Snapshot, fetched_bytes};
use crate::measure::{page_cache, process, syncs};
use crate::workload::kill;
use crate::workload::kill::steps::{record_key, record_value};
use crate::workload::spec::{RecoverEnd, RecoverPart, TrialContext, TrialError};
use crate::workload::step::TrialStep;
use crate::workload::worker_pool;
use crate::workload::workload_error::WorkloadError;

const BATCH: u64 = 1_000;
/// In bytes; the mean is half of it.
const MOST_BYTES: usize = 400;
const KEY_BYTES: u64 = 32;
/// Records at a check's end for each at its start: a tenth is added seven times.
const GROWTH: f64 = 1.7;
/// Disk space as a multiple of the records' bytes: logs that a kill has left, tables and compaction at once.
const ROOM_FACTOR: f64 = 4.0;

/// The disk space of a recovery check, in bytes; `file_bytes` is the least that a file takes, and a folder has a file for each record.
pub fn required_bytes(records: u64, kind: StoreKind, file_bytes: f64) -> f64 {
    let records = records as f64 * GROWTH;
    let bytes = records * (MOST_BYTES as u64 / 2 + KEY_BYTES) as f64 * ROOM_FACTOR;
    if kind == StoreKind::Folder { bytes.max(records * file_bytes) } else { bytes }
}

/// The report of such a process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecoveryMessage {
    /// It was opened, and did its work.
    Opened(Reopening),
    /// It was killed without its writes being undone, for this reason.
    NotUndone(String),
    /// The store did not do what it should.
    Failed {
        /// The kind of failure.
        reason: Failure,
        /// The failure, in words.
        message: String,
    },
}

/// Does a part, and reports its result; an open store is killed with this process. `harness_folder` has the harness's files.
pub fn run(
    context: &TrialContext<'_>,
    part: RecoverPart,
    harness_folder: &Path,
    report: impl Fn(&RecoveryMessage) -> Result<(), TrialError>,
) -> Result<(), TrialError> {
    let failure_message = |error| match error {
        TrialError::Failed(WorkloadError { failure, message, .. }) => {
            RecoveryMessage::Failed { reason: failure, message }
        }
        TrialError::Unsupported(message) => RecoveryMessage::Failed { reason: Failure::Store, message },
    };
    let journal = match part.end {
        RecoverEnd::Cut => syncs::keep_journal(harness_folder).map_err(str::to_owned),
        RecoverEnd::Closes | RecoverEnd::Killed => Ok(()),
    };
    let (store, reopening) = match open_and_work(context, part) {
        Ok(opened_store) => opened_store,
        Err(error) => return report(&failure_message(error)),
    };
    match part.end {
        RecoverEnd::Closes => {
            let start = Instant::now();
            let result =
                store.close().map_err(|error| WorkloadError::store("closing the store", &error).into());
            let close_ns = Some(start.elapsed().as_nanos() as u64);
            report(&result.map_or_else(failure_message, |()| {
                RecoveryMessage::Opened(Reopening { close_ns, ..reopening })
            }))
        }
        RecoverEnd::Killed => {
            report(&RecoveryMessage::Opened(reopening))?;
            Err(kill::die())
        }
        RecoverEnd::Cut => {
            match journal.and_then(|()| kill::check_journal()) {
                Ok(()) => {
                    report(&RecoveryMessage::Opened(reopening))?;
                    kill::undo()?;
                }
                Err(why) => report(&RecoveryMessage::NotUndone(why))?,
            }
            Err(kill::die())
        }
    }
}

fn open_and_work(
    context: &TrialContext<'_>,
    part: RecoverPart,
) -> Result<(Box<dyn Store>, Reopening), TrialError> {
    if part.is_cold {
        page_cache::fill_with_program()
            .map_err(|error| TrialError::harness(format!("reading the program into memory: {error}")))?;
    }
    let is_first = part.records == 0;
    let step = if is_first { TrialStep::Opening } else { TrialStep::Reopening };
    let resident = || process::resident().ok().map(|resident| resident.now_bytes);
    let (base, fetched_before, before) = (resident(), fetched_bytes().ok(), Snapshot::now());
    let start = Instant::now();
    let store = kill::open(context, step)?;
    let open_ns = start.elapsed().as_nanos() as u64;
    let mut session = worker_pool::session(&*store)?;
    let mut reopening = Reopening { records: part.records, open_ns, ..Reopening::default() };
    if let Some(last_record) = part.records.checked_sub(1) {
        check_record(&mut *session, last_record)?;
        reopening.first_read_ns = (start.elapsed().as_nanos() as u64).saturating_sub(open_ns);
        overwrite(&mut *session, last_record)?;
        let write_start_ns = open_ns + reopening.first_read_ns;
        reopening.first_write_ns = (start.elapsed().as_nanos() as u64).saturating_sub(write_start_ns);
    }
    reopening.read_bytes = before.until_now().read_bytes;
    reopening.fetched_bytes = fetched_before
        .zip(fetched_bytes().ok())
        .map(|(fetched_before, after)| after.saturating_sub(fetched_before));
    reopening.memory_bytes = base.zip(resident()).map(|(base, after)| after.saturating_sub(base));
    add_records(&mut *session, part.records..part.records + part.adds)?;
    drop(session);
    if part.end == RecoverEnd::Closes {
        let count = store.count().map_err(WorkloadError::during("counting"))?;
        let records = part.records + part.adds;
        if count != records {
            return Err(wrong_data(format!(
                "the store counts {count} records, but {records} were acknowledged"
            )));
        }
    }
    Ok((store, reopening))
}

fn wrong_data(message: String) -> TrialError {
    WorkloadError::wrong_data(format!("{message} after its process was killed")).into()
}

/// Reads an acknowledged record.
fn check_record(session: &mut dyn Session, record: u64) -> Result<(), TrialError> {
    let (key, value) = (record_key(record), record_value(record, 0, MOST_BYTES));
    let mut is_right = false;
    session
        .get(key.as_bytes(), &mut |bytes| is_right = bytes == value)
        .map_err(|error| WorkloadError::store(&format!("reading the record {key}"), &error))?;
    is_right
        .then_some(())
        .ok_or_else(|| wrong_data(format!("the acknowledged record {key} is missing or wrong")))
}

fn overwrite(session: &mut dyn Session, record: u64) -> Result<(), WorkloadError> {
    let (key, value) = (record_key(record), record_value(record, 0, MOST_BYTES));
    let result = session.update(key.as_bytes(), &value);
    result.map_err(|error| WorkloadError::store(&format!("overwriting the record {key}"), &error))
}

fn add_records(session: &mut dyn Session, records: Range<u64>) -> Result<(), WorkloadError> {
    for start in records.clone().step_by(BATCH as usize) {
        let owned: Vec<(String, Vec<u8>)> = (start..records.end.min(start + BATCH))
            .map(|record| (record_key(record), record_value(record, 0, MOST_BYTES)))
            .collect();
        let batch: Vec<(&[u8], &[u8])> =
            owned.iter().map(|(key, value)| (key.as_bytes(), value.as_slice())).collect();
        session.insert_batch(&batch).map_err(WorkloadError::during("adding records"))?;
    }
    Ok(())
}
