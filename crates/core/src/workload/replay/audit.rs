//! What the store holds is read back when every figure has been taken: each key that is followed, against its last write. The
//! keys are the trace's, which is read once more.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use crate::result::{Audit, Failure};
use crate::shown::quoted;
use crate::trace::{Does, Reader, key_hash};
use crate::workload::bench::Bench;
use crate::workload::driver::Stop;

use super::feed::lane_of;
use super::fit::Fit;
use super::followed::ABSENT;
use super::player::Player;
use super::values::Values;

/// Reads the followed keys back; `anew`, after the store was closed and opened again. Closes it. `records` are those that it
/// should hold.
///
/// # Errors
/// [`Failure::WrongData`] at the first key whose value is missing, wrong, or there though it was removed.
pub fn audit(
    bench: &mut Bench<'_>,
    reader: Reader,
    fit: &mut Fit,
    values: &Values,
    players: &mut [Mutex<Player<'_>>],
    (records, anew): (u64, bool),
) -> Result<Audit, Stop> {
    let start = Instant::now();
    let mut audit =
        Audit { records, read_back: 0, seen_gone: 0, removed: 0, reopened: u32::from(anew), took_ns: 0 };
    if anew {
        bench.reopen()?;
    }
    let mut reader = reader.rewind().map_err(Stop::harness)?;
    let mut session = bench.store()?.session();
    let session = session.as_mut().map_err(|error| Stop::store("opening a session to read the store back", error))?;
    let (mut found, mut scratch) = (Vec::new(), Vec::new());
    let lanes = players.len();
    while let Some(entry) = reader.next_entry().map_err(Stop::harness)? {
        if entry.word.does == Does::Skip {
            continue;
        }
        let key = fit.key(entry.key);
        let hash = key_hash(key);
        let player = players[lane_of(hash, lanes)].get_mut().unwrap_or_else(PoisonError::into_inner);
        let Some(written) = player.followed.to_read_back(hash) else { continue };
        found.clear();
        let there = session
            .get(key, &mut |value| found.extend_from_slice(value))
            .map_err(|error| Stop::store("reading the store back", &error))?;
        let right = match (there, written) {
            (there, ABSENT) => !there,
            (false, _) => false,
            (true, written) => {
                values.check(hash, &found, &mut scratch).is_ok_and(|told| told.is_none_or(|told| told == written))
            }
        };
        if !right {
            return Err(wrong(key, there, written));
        }
        match written {
            ABSENT => audit.seen_gone += 1,
            _ => audit.read_back += 1,
        }
    }
    let _ = session;
    bench.close()?;
    audit.took_ns = start.elapsed().as_nanos() as u64;
    Ok(audit)
}

fn wrong(key: &[u8], there: bool, written: u64) -> Stop {
    let what = match (there, written) {
        (_, ABSENT) => "is there, though it was removed or never written".to_owned(),
        (false, _) => "is missing".to_owned(),
        (true, written) => format!("is not what operation {written} of the trace wrote"),
    };
    let key = quoted(&String::from_utf8_lossy(key).chars().take(80).collect::<String>());
    let message = format!("the value of key {key} {what}, when the store was read back after the trial");
    Stop { failure: Failure::WrongData, message, operation: None }
}
