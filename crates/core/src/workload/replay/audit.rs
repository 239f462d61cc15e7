//! Reads the store's records back when every figure has been taken: each followed key, against its last write. The trace, read
//! once more, has the keys.

use std::sync::Mutex;
use std::time::Instant;

use storebench_model::result::Audit;
use storebench_model::sanitize::quoted;
use storebench_model::store::StoreError;

use crate::trace::{Reader, TraceOperation, key_hash};
use crate::workload::bench::Bench;
use crate::workload::worker_pool::lock_worker;
use crate::workload::workload_error::WorkloadError;

use super::feed::player_index;
use super::followed_keys::ABSENT;
use super::key_fitter::KeyFitter;
use super::player::Player;
use super::values::Values;

/// Reads the followed keys of a store with so many records back; if `anew`, after closing and opening it again. Closes it. Fails at
/// the first key whose value is missing, wrong, or there though it was removed.
pub fn audit(
    bench: &mut Bench<'_>,
    anew: bool,
    records: u64,
    reader: Reader,
    (fitter, values, players): (&mut KeyFitter, &Values, &[Mutex<Player<'_>>]),
) -> Result<Audit, WorkloadError> {
    let (start, reopened) = (Instant::now(), u32::from(anew));
    let mut audit = Audit { records, read_back: 0, seen_gone: 0, removed: 0, reopened, took_ns: 0 };
    if anew {
        bench.reopen()?;
    }
    let store_error = |error: StoreError| WorkloadError::store("reading the store back", &error);
    let mut reader = reader.rewind().map_err(WorkloadError::harness)?;
    let mut session = bench.store()?.session().map_err(store_error)?;
    let (mut found, mut scratch) = (Vec::new(), Vec::new());
    while let Some(entry) = reader.next_entry().map_err(WorkloadError::harness)? {
        if matches!(entry.word.does, TraceOperation::Skip | TraceOperation::Scan) {
            continue;
        }
        let key = fitter.fit_key(entry.key);
        let hash = key_hash(key);
        let mut player = lock_worker(&players[player_index(hash, players.len())]);
        let Some(written) = player.followed.start_read_back(hash) else { continue };
        found.clear();
        let is_there = session.get(key, &mut |value| found.extend_from_slice(value)).map_err(store_error)?;
        let is_right = match (is_there, written) {
            (is_there, ABSENT) => !is_there,
            (false, _) => false,
            // A value that is too short does not show which write it is from.
            (true, written) => {
                let position = values.check(hash, &found, &mut scratch);
                position.is_ok_and(|position| position.is_none_or(|position| position == written))
            }
        };
        if !is_right {
            return Err(wrong_data(key, is_there, written));
        }
        if written == ABSENT { audit.seen_gone += 1 } else { audit.read_back += 1 }
    }
    drop(session);
    bench.close()?;
    audit.took_ns = start.elapsed().as_nanos() as u64;
    Ok(audit)
}

fn wrong_data(key: &[u8], is_there: bool, written: u64) -> WorkloadError {
    let fault = match (is_there, written) {
        (_, ABSENT) => "is there, though it was removed or never written".to_owned(),
        (false, _) => "is missing".to_owned(),
        (true, written) => format!("is not what operation {written} of the trace wrote"),
    };
    let key = quoted(&String::from_utf8_lossy(key).chars().take(80).collect::<String>());
    let message = format!("the value of key {key} {fault}, when the store was read back after the trial");
    WorkloadError::wrong_data(message)
}
