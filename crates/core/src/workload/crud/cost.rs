//! How long a cell of crud will take and how much disk it needs: rough, to plan by and not to rely on.

use super::BATCH_BYTES;
use super::work::Work;
use crate::cell::{Cache, Cell};
use crate::place::probe::Probe;
use crate::record::pool::pool_bytes;
use crate::store::{Guarantee, Kind, Threads};
use crate::workload::audit;
use crate::workload::case::{Case, Space, Time};
use crate::workload::reason::Reason;

/// Starting a process, filling its buffers, opening, settling, closing and deleting a store.
const OVERHEAD_S: f64 = 0.15;
/// Making a value, calling an engine, checking, without the bytes.
const CALL_S: f64 = 8e-6;
/// Records loaded with one sync.
const BATCH: f64 = 500.0;

/// Room that a cell needs on its disk, as a multiple of its values' bytes: log, tables and compaction side by side.
const ROOM_FACTOR: f64 = 3.0;

/// Why a cell can't be run, whatever the place.
pub fn reason(case: &Case<'_>) -> Option<Reason> {
    let cell = case.cell;
    let Some(store) = case.store() else { return Some(Reason::UnknownStore) };
    if let Err(why) = store.open {
        return Some(Reason::NotBuilt(why));
    }
    if let Some(guarantee) = cell.guarantee().tier()
        && store.offer(guarantee).is_none()
    {
        return Some(Reason::NotOffered { store: store.name, guarantee });
    }
    if cell.threads() > 1 && store.capabilities.threads == Threads::One {
        return Some(Reason::OneSession { store: store.name, threads: cell.threads() });
    }
    if cell.cache() == Cache::Cold && store.capabilities.keeps && !store.capabilities.persists {
        return Some(Reason::KeepsNothing { store: store.name });
    }
    let bytes = cell.expected_bytes(Work::of(case.parameters).most_inserts());
    (bytes >= case.size_limit as f64).then_some(Reason::TooLarge { bytes, limit_bytes: case.size_limit })
}

/// Bytes of disk.
pub fn space(case: &Case<'_>) -> Space {
    let work = Work::of(case.parameters);
    let bytes = case.cell.expected_bytes(work.most_inserts());
    let peak_bytes = disk_bytes(case.cell, case.kind(), work.operations);
    Space { peak_bytes, room_bytes: (bytes * ROOM_FACTOR).max(peak_bytes) }
}

/// Bytes of memory: what is made ahead, and all records where the store has nowhere else to keep them.
pub fn memory(case: &Case<'_>) -> f64 {
    let (cell, work) = (case.cell, Work::of(case.parameters));
    let size = cell.record_size();
    let largest = size.to as f64;
    let ahead = pool_bytes(cell.data(), size) as f64 + largest * f64::from(cell.threads());
    let batch = (largest * BATCH).min(BATCH_BYTES as f64 + largest);
    let in_memory =
        case.store().is_some_and(|store| store.capabilities.keeps && !store.capabilities.persists);
    let kept = if in_memory { cell.expected_bytes(work.most_inserts()) } else { 0.0 };
    ahead + batch + kept
}

/// Seconds.
pub fn time(case: &Case<'_>, probe: &Probe) -> Time {
    let operations = Work::of(case.parameters).operations;
    Time {
        trial_s: seconds(case.cell, case.kind(), operations, probe),
        audit_s: audit_seconds(case.cell, operations, probe.sync_ns as f64 / 1e9),
    }
}

/// Seconds that a trial of `cell`, whose store is of this `kind`, may take with `operations` of each kind.
fn seconds(cell: &Cell, kind: Kind, operations: u64, probe: &Probe) -> f64 {
    let folder = kind == Kind::Folder;
    let syncs = cell.guarantee().tier() == Some(Guarantee::Power);
    let sync_s = probe.sync_ns as f64 / 1e9;
    let per_file_s = if folder { probe.file_creation_ns as f64 / 1e9 } else { 0.0 };
    let value_s = cell.record_size().mean() / probe.write_bytes_per_s;
    let records = cell.records().from as f64;
    let operations = operations as f64;
    let load = records * (CALL_S + per_file_s + value_s)
        + if syncs { (records / BATCH).ceil() * sync_s * 2.0 } else { 0.0 };
    // Insert, update, remove and its undoing write; a folder syncs its directory too.
    let writes = operations
        * 4.0
        * (CALL_S + per_file_s + value_s + if syncs { sync_s * if folder { 2.0 } else { 1.0 } } else { 0.0 });
    OVERHEAD_S + load + writes + 2.0 * operations * CALL_S + audit_seconds(cell, operations as u64, sync_s)
}

/// Seconds that reading back what a trial of `cell` left may take, where a sync takes `sync_s`.
fn audit_seconds(cell: &Cell, operations: u64, sync_s: f64) -> f64 {
    let records = cell.records().from.saturating_add(operations).min(cell.records().to);
    let sync_s = if cell.guarantee().tier() == Some(Guarantee::Power) { sync_s } else { 0.0 };
    audit::seconds(records, cell.record_size().mean(), CALL_S, sync_s)
}

/// Bytes of disk that a trial of `cell`, whose store is of this `kind`, may take at its peak.
fn disk_bytes(cell: &Cell, kind: Kind, operations: u64) -> f64 {
    let records = (cell.records().from + operations).min(cell.records().to) as f64;
    let blocks = if kind == Kind::Folder { records * 4096.0 } else { 0.0 };
    (cell.expected_bytes(operations) * 1.5).max(blocks) + f64::from(1 << 20)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::{Axis, GuaranteeChoice};

    #[test]
    fn more_work_takes_longer() {
        let probe = Probe { file_creation_ns: 30_000, sync_ns: 1_000_000, write_bytes_per_s: 1e9 };
        let cell = |store: &str, records: &str, tier| {
            Cell::of(store)
                .with(Axis::RECORD_SIZE, Axis::RECORD_SIZE.read("1B..1KiB").unwrap())
                .with(Axis::RECORDS, Axis::RECORDS.read(records).unwrap())
                .with(Axis::GUARANTEE, GuaranteeChoice::Tier(tier).into())
        };
        let engine = |cell: &Cell| seconds(cell, Kind::Engine, 1000, &probe);
        let small = engine(&cell("sqlite", "100", Guarantee::Process));
        assert!(engine(&cell("sqlite", "100000", Guarantee::Process)) > small);
        assert!(engine(&cell("sqlite", "100", Guarantee::Power)) > small + 3.0);
        let (small, large) =
            (cell("lmdb", "100", Guarantee::Process), cell("lmdb", "1000000", Guarantee::Process));
        let audit = |cell: &Cell| audit_seconds(cell, 1000, 0.001);
        assert!(audit(&small) < 0.2 && audit(&large) > 1.0 && audit(&large) < 10.0, "of many only a sample");
        assert!(audit(&cell("lmdb", "100", Guarantee::Power)) > audit(&small));
        assert!(engine(&large) > audit(&large));
        // By the store's kind, whatever it is called.
        let records = cell("mine", "1000", Guarantee::Process);
        assert!(seconds(&records, Kind::Folder, 1000, &probe) > engine(&records) + 0.05);
        assert!(disk_bytes(&records, Kind::Folder, 0) >= 4_096_000.0);
        assert!(disk_bytes(&records, Kind::Engine, 0) < 4_096_000.0);
    }
}
