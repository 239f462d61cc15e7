//! The audit at a trial's end, after every figure was taken: reads the store back against what was written. A store is first
//! closed and opened anew, then read; then some records are removed for good, the store is closed and opened once more, and read
//! again. Reading before the files were measured would change some of them (LevelDB compacts what is read often), so the audit
//! never sees the store as the workload left it open: the workload's own reads, all checked, do.

use std::time::{Duration, Instant};

use storebench_model::cell::Data;
use storebench_model::result::{Audit, Disk, SPACE, StoredRecords, Warning};
use storebench_model::store::{Session, Store, StoreError};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::record::{Key, Records};
use crate::workload::bench::Bench;
use crate::workload::workload_error::WorkloadError;

/// Records read back at most; of more, a sample.
const MOST_RECORDS: u64 = 100_000;
/// Mean value bytes read back at most; of more, a sample.
const MOST_BYTES: f64 = (256_u64 << 20) as f64;
/// Records read back whatever their size.
const FEWEST_RECORDS: u64 = 100;
/// One in this many of a sample is of records untouched since loading.
const UNTOUCHED_SHARE: u64 = 10;
/// Records removed for good, if removing is part of the workload.
const REMOVED: usize = 16;

/// Records of a mean size in bytes that are read back at most, each time.
pub fn most_records(mean_bytes: f64) -> u64 {
    ((MOST_BYTES / mean_bytes.max(1.0)) as u64).clamp(FEWEST_RECORDS, MOST_RECORDS)
}

/// A record's index, and the version that its value must have.
pub type Record = (u64, u8);

/// The records that the store must hold.
#[derive(Debug)]
pub struct ExpectedRecords {
    /// Chooses a sample.
    pub seed: u64,
    /// The number of loaded records: those with higher indexes were inserted.
    pub loaded: u64,
    /// The versions of the records by thread and position: that at `position` of `thread` has the index `position * threads + thread`.
    pub versions: Vec<Vec<u8>>,
    /// Whether the workload removes records.
    pub removes: bool,
    /// Removed keys that were looked for at once, and were gone.
    pub seen_gone: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AuditOpening {
    /// Open, as it does not persist.
    Open,
    /// After closing and opening it anew, twice.
    Anew,
}

/// The records to read back: all, or a seeded sample of about as many as asked for, inserted and updated ones first.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    seed: u64,
    /// Touched records, and how many of them are wanted.
    touched: (u64, u64),
    /// Untouched records, and how many of them are wanted.
    untouched: (u64, u64),
}

impl Sample {
    /// About `most` of all records, of each of which it is known whether it was touched.
    pub fn select(are_touched: impl Iterator<Item = bool>, most: u64, seed: u64) -> Sample {
        let (mut live, mut touched) = (0, 0);
        for is_touched in are_touched {
            live += 1;
            touched += u64::from(is_touched);
        }
        let untouched = live - touched;
        if live <= most {
            return Sample { seed, touched: (touched, touched), untouched: (untouched, untouched) };
        }
        let for_untouched = most.saturating_sub(touched).max(most / UNTOUCHED_SHARE).min(untouched);
        let for_touched = (most - for_untouched.min(most)).min(touched);
        Sample { seed, touched: (touched, for_touched), untouched: (untouched, for_untouched) }
    }

    /// Whether a record is one of them.
    pub fn contains(&self, index: u64, is_touched: bool) -> bool {
        let (total, wanted) = if is_touched { self.touched } else { self.untouched };
        wanted >= total || seeded_hash(self.seed, index) % total < wanted
    }
}

impl ExpectedRecords {
    /// Checks the open store, and closes it. Fails at the first record that is missing, wrong, or there after it was removed.
    pub(crate) fn audit(
        &self,
        bench: &mut Bench<'_>,
        records: &Records,
        opening: AuditOpening,
    ) -> Result<Audit, WorkloadError> {
        let start = Instant::now();
        let chosen = self.choose(most_records(records.mean_value()));
        let mut audit = Audit {
            records: self.live(),
            read_back: chosen.len() as u64,
            seen_gone: self.seen_gone,
            ..Audit::default()
        };
        if opening == AuditOpening::Anew {
            bench.reopen()?;
            audit.reopened += 1;
        }
        read_back(bench.store()?, records, &chosen, moment(audit.reopened))?;
        let (removed, kept) = if self.removes { self.split_removed(chosen) } else { (Vec::new(), chosen) };
        remove(bench.store()?, records, &removed)?;
        audit.removed = removed.len() as u64;
        if opening == AuditOpening::Anew {
            bench.reopen()?;
            audit.reopened += 1;
            read_back(bench.store()?, records, &kept, moment(audit.reopened))?;
            check_removed(bench.store()?, records, &removed, moment(audit.reopened))?;
        }
        count(bench.store()?, audit.records - audit.removed, moment(audit.reopened))?;
        bench.close()?;
        audit.took_ns = start.elapsed().as_nanos() as u64;
        Ok(audit)
    }

    fn live(&self) -> u64 {
        self.versions.iter().map(|share| share.len() as u64).sum()
    }

    /// The records to read back, by index and version, in index order, in which they were loaded.
    fn choose(&self, most: u64) -> Vec<Record> {
        let sample = Sample::select(self.all().map(|record| self.is_touched(record)), most, self.seed);
        self.all().filter(|record| sample.contains(record.0, self.is_touched(*record))).collect()
    }

    /// In index order.
    fn all(&self) -> impl Iterator<Item = Record> {
        let threads = self.versions.len();
        let longest = self.versions.iter().map(Vec::len).max().unwrap_or(0);
        let record_at = move |position: usize, thread: usize| {
            let version = self.versions[thread].get(position)?;
            Some(((position * threads + thread) as u64, *version))
        };
        (0..longest)
            .flat_map(move |position| (0..threads).filter_map(move |thread| record_at(position, thread)))
    }

    /// Versions are counted modulo 256: a record updated 256 times looks untouched.
    fn is_touched(&self, (index, version): Record) -> bool {
        version != 0 || index >= self.loaded
    }

    /// Takes the records to remove for good, some of each part of the set, at most half.
    fn split_removed(&self, mut chosen: Vec<Record>) -> (Vec<Record>, Vec<Record>) {
        let count = REMOVED.min(chosen.len() / 2);
        let Some(step) = chosen.len().checked_div(count) else { return (Vec::new(), chosen) };
        let offset = (seeded_hash(self.seed, 0) % step as u64) as usize;
        let mut position = 0;
        let removed = chosen
            .extract_if(.., |_| {
                position += 1;
                (position - 1) % step == offset && (position - 1) / step < count
            })
            .collect();
        (removed, chosen)
    }
}

/// Checks some of the store's `live` records, and that others are gone, after all measurements; closes the open store.
pub(crate) fn check_records(
    bench: &mut Bench<'_>,
    records: &Records,
    (kept, gone, live): (&[Record], &[Record], u64),
    opening: AuditOpening,
) -> Result<Audit, WorkloadError> {
    let start = Instant::now();
    let reopened = u32::from(opening == AuditOpening::Anew);
    if reopened > 0 {
        bench.reopen()?;
    }
    let (store, moment) = (bench.store()?, moment(reopened));
    read_back(store, records, kept, moment)?;
    check_removed(store, records, gone, moment)?;
    count(store, live, moment)?;
    bench.close()?;
    Ok(Audit {
        records: live,
        read_back: kept.len() as u64,
        seen_gone: gone.len() as u64,
        reopened,
        took_ns: start.elapsed().as_nanos() as u64,
        ..Audit::default()
    })
}

fn moment(reopened: u32) -> &'static str {
    match reopened {
        0 => "at the trial's end",
        1 => "after the trial, when the store had been closed and opened anew",
        _ => "after the trial, when the store had been closed and opened anew once more",
    }
}

fn seeded_hash(seed: u64, index: u64) -> u64 {
    xxh3_64_with_seed(&index.to_le_bytes(), seed)
}

fn session(store: &dyn Store) -> Result<Box<dyn Session + '_>, WorkloadError> {
    store.session().map_err(WorkloadError::during("opening a session to read the store back"))
}

fn read_back(
    store: &dyn Store,
    records: &Records,
    chosen: &[Record],
    moment: &str,
) -> Result<(), WorkloadError> {
    let mut session = session(store)?;
    for (index, version) in chosen {
        let key = records.key(*index);
        let (mut found, mut is_right) = (0, false);
        let get = session.get(&key, &mut |value| {
            (found, is_right) = (value.len(), records.is_value(*index, *version, value));
        });
        match get {
            Ok(true) if is_right => {}
            Ok(true) => {
                let written = records.value_length(*index, *version);
                let fault = format!(
                    "is not what was written last: {found} bytes, but {written} were written, or other bytes"
                );
                return Err(wrong_data(*index, &key, &fault, moment));
            }
            Ok(false) => return Err(wrong_data(*index, &key, "is missing", moment)),
            Err(error) => return Err(store_error("reading back", *index, &key, &error)),
        }
    }
    Ok(())
}

fn remove(store: &dyn Store, records: &Records, removed: &[Record]) -> Result<(), WorkloadError> {
    if removed.is_empty() {
        return Ok(());
    }
    let mut session = session(store)?;
    for (index, _) in removed {
        let key = records.key(*index);
        session.remove(&key).map_err(|error| store_error("removing", *index, &key, &error))?;
    }
    drop(session);
    check_removed(store, records, removed, moment(0))
}

fn check_removed(
    store: &dyn Store,
    records: &Records,
    removed: &[Record],
    moment: &str,
) -> Result<(), WorkloadError> {
    let mut session = session(store)?;
    for (index, _) in removed {
        let key = records.key(*index);
        match session.get(&key, &mut |_| ()) {
            Ok(false) => {}
            Ok(true) => {
                return Err(wrong_data(*index, &key, "is still there, though it was removed", moment));
            }
            Err(error) => return Err(store_error("looking for", *index, &key, &error)),
        }
    }
    Ok(())
}

fn count(store: &dyn Store, expected: u64, moment: &str) -> Result<(), WorkloadError> {
    let count = store.count().map_err(WorkloadError::during("counting"))?;
    if count == expected {
        return Ok(());
    }
    Err(WorkloadError::wrong_data(format!(
        "the store counts {count} records, but should hold {expected}, {moment}"
    )))
}

fn wrong_data(index: u64, key: &Key, fault: &str, moment: &str) -> WorkloadError {
    let key = String::from_utf8_lossy(key);
    WorkloadError::wrong_data(format!("the value of record {index} (key {key}) {fault}, {moment}"))
}

fn store_error(doing: &str, index: u64, key: &Key, error: &StoreError) -> WorkloadError {
    let key = String::from_utf8_lossy(key);
    WorkloadError::store(&format!("{doing} record {index} (key {key}) after the trial"), error)
}

/// About how many seconds an audit takes: of a store in the page cache, whose every call takes `call_s`, and each of whose
/// removals waits `sync_s` for the disk.
pub fn seconds(records: u64, mean_bytes: f64, call_s: f64, sync_s: f64) -> f64 {
    const OPEN_S: f64 = 0.02;
    const BYTES_PER_S: f64 = 1e9;
    let read = records.min(most_records(mean_bytes)) as f64;
    2.0 * (OPEN_S + read * (call_s + mean_bytes / BYTES_PER_S)) + REMOVED as f64 * (call_s + sync_s)
}

/// The time beyond its limit that a trial may take to be audited.
pub fn time_beyond_limit(estimate_s: f64) -> Duration {
    const TIMES: f64 = 10.0;
    Duration::try_from_secs_f64(estimate_s * TIMES).unwrap_or(Duration::MAX)
}

/// Warnings about a trial's figures, though nothing that was read back was wrong.
pub fn warnings(data: Data, stored: &StoredRecords, disk: &Disk) -> Vec<Warning> {
    // Keys don't count: they follow from a number. A folder takes some bytes itself, unless the data are elsewhere.
    let has_files = disk.allocated_bytes > 0 || disk.files > 0;
    if !has_files || data != Data::Incompressible || disk.allocated_bytes >= stored.value_bytes {
        return Vec::new();
    }
    let reason = format!(
        "{} bytes of incompressible values can't lie in the {} bytes that the store's folder takes",
        stored.value_bytes, disk.allocated_bytes
    );
    vec![Warning { figure: SPACE.into(), reason }]
}

#[cfg(test)]
mod tests;
