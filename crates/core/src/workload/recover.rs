//! The recovery check, in the processes that it runs: each opens the store, reads the last acknowledged record, adds more, and is
//! killed. The next process's time of opening is that of a recovery.

use std::ops::Range;
use std::path::Path;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::measure::counters::{Snapshot, fetched_bytes};
use crate::measure::{page_cache, process, syncs};
use crate::result::{Failure, Reopening};
use crate::store::{Session, Store, StoreKind};
use crate::workload::kill;
use crate::workload::kill::steps::{record_key, record_value};
use crate::workload::spec::{RecoverEnd, RecoverPart, TrialContext, TrialError};
use crate::workload::step::Step;
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
pub fn room_bytes(records: u64, kind: StoreKind, file_bytes: f64) -> f64 {
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

/// Does a part, and reports its result. A store that is not closed is killed with this process. `apart` is the folder of the
/// harness's files.
pub fn run(
    asked: &TrialContext<'_>,
    part: RecoverPart,
    apart: &Path,
    tell: impl Fn(&RecoveryMessage) -> Result<(), TrialError>,
) -> Result<(), TrialError> {
    let told = |ended| match ended {
        TrialError::Failed(WorkloadError { failure, message, .. }) => {
            RecoveryMessage::Failed { reason: failure, message }
        }
        TrialError::Unsupported(message) => RecoveryMessage::Failed { reason: Failure::Store, message },
    };
    let journal = match part.end {
        RecoverEnd::Cut => syncs::keep_journal(apart).map_err(str::to_owned),
        RecoverEnd::Closes | RecoverEnd::Killed => Ok(()),
    };
    let (store, opened) = match live(asked, part) {
        Ok(lived) => lived,
        Err(ended) => return tell(&told(ended)),
    };
    match part.end {
        RecoverEnd::Closes => {
            let start = Instant::now();
            let closed =
                store.close().map_err(|error| WorkloadError::store("closing the store", &error).into());
            let close_ns = Some(start.elapsed().as_nanos() as u64);
            tell(&closed.map_or_else(told, |()| RecoveryMessage::Opened(Reopening { close_ns, ..opened })))
        }
        RecoverEnd::Killed => {
            tell(&RecoveryMessage::Opened(opened))?;
            Err(kill::die())
        }
        RecoverEnd::Cut => {
            let seen = journal.and_then(|()| kill::check_journal());
            tell(
                &seen.clone().map_or_else(RecoveryMessage::NotUndone, |()| RecoveryMessage::Opened(opened)),
            )?;
            if seen.is_ok() {
                kill::undo()?;
            }
            Err(kill::die())
        }
    }
}

fn live(asked: &TrialContext<'_>, part: RecoverPart) -> Result<(Box<dyn Store>, Reopening), TrialError> {
    if part.is_cold {
        page_cache::fill_with_program()
            .map_err(|error| TrialError::harness(format!("reading the program into memory: {error}")))?;
    }
    let is_first = part.records == 0;
    let step = if is_first { Step::Opening } else { Step::Reopening };
    let resident = || process::resident().ok().map(|resident| resident.now_bytes);
    let (base, fetched, before) = (resident(), fetched_bytes().ok(), Snapshot::now());
    let start = Instant::now();
    let store = kill::open(asked, step)?;
    let open_ns = start.elapsed().as_nanos() as u64;
    let mut session = kill::session(&*store)?;
    let mut reopened = Reopening { records: part.records, open_ns, ..Reopening::default() };
    if let Some(last) = part.records.checked_sub(1) {
        must_have(&mut *session, last)?;
        reopened.first_read_ns = (start.elapsed().as_nanos() as u64).saturating_sub(open_ns);
        overwrite(&mut *session, last)?;
        let since = open_ns + reopened.first_read_ns;
        reopened.first_write_ns = (start.elapsed().as_nanos() as u64).saturating_sub(since);
    }
    reopened.read_bytes = before.until_now().read_bytes;
    reopened.fetched_bytes = fetched.zip(fetched_bytes().ok()).map(|(then, now)| now.saturating_sub(then));
    reopened.memory_bytes = base.zip(resident()).map(|(base, now)| now.saturating_sub(base));
    add(&mut *session, part.records..part.records + part.adds)?;
    drop(session);
    if part.end == RecoverEnd::Closes {
        let (count, records) = (count(&*store)?, part.records + part.adds);
        if count != records {
            return Err(missing(format!(
                "the store counts {count} records, but {records} were acknowledged"
            )));
        }
    }
    Ok((store, reopened))
}

fn count(store: &dyn Store) -> Result<u64, WorkloadError> {
    store.count().map_err(|error| WorkloadError::store("counting", &error))
}

fn missing(message: String) -> TrialError {
    let message = format!("{message} after its process was killed");
    WorkloadError { failure: Failure::WrongData, message, operation: None }.into()
}

/// Reads an acknowledged record.
fn must_have(session: &mut dyn Session, record: u64) -> Result<(), TrialError> {
    let (key, value) = (record_key(record), record_value(record, 0, MOST_BYTES));
    let mut is_right = false;
    session
        .get(key.as_bytes(), &mut |found| is_right = found == value)
        .map_err(|error| WorkloadError::store(&format!("reading the record {key}"), &error))?;
    is_right
        .then_some(())
        .ok_or_else(|| missing(format!("the acknowledged record {key} is missing or wrong")))
}

fn overwrite(session: &mut dyn Session, record: u64) -> Result<(), WorkloadError> {
    let (key, value) = (record_key(record), record_value(record, 0, MOST_BYTES));
    let written = session.update(key.as_bytes(), &value);
    written.map_err(|error| WorkloadError::store(&format!("overwriting the record {key}"), &error))
}

fn add(session: &mut dyn Session, records: Range<u64>) -> Result<(), WorkloadError> {
    let Range { mut start, end } = records;
    while start < end {
        let upto = (start + BATCH).min(end);
        let owned: Vec<(String, Vec<u8>)> =
            (start..upto).map(|record| (record_key(record), record_value(record, 0, MOST_BYTES))).collect();
        let batch: Vec<(&[u8], &[u8])> =
            owned.iter().map(|(key, value)| (key.as_bytes(), value.as_slice())).collect();
        session.insert_batch(&batch).map_err(|error| WorkloadError::store("adding records", &error))?;
        start = upto;
    }
    Ok(())
}
