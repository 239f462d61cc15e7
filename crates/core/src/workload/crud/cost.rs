//! The time that a cell of crud will take and the disk that it needs: rough, to plan by and not to rely on.

use storebench_model::axis::file_system::FileSystem;
use storebench_model::axis::table::HERE;
use storebench_model::cell::{Cache, Cell, Rate};
use storebench_model::result::LeftOutReason;
use storebench_model::store::StoreKind;
use storebench_model::stores::NESTED_FOLDER;

use super::parameters::CrudParameters;
use crate::measure::probe::Probe;
use crate::record::pool::pool_bytes;
use crate::workload::batch::BATCH_BYTES;
use crate::workload::case::{Case, SpaceEstimate, TimeEstimate};
use crate::workload::operation::Operation;
use crate::workload::{aging, audit};

/// Seconds of starting a process, filling its buffers, opening, settling, closing and deleting a store.
const OVERHEAD_S: f64 = 0.15;
/// Seconds of making a value, calling an engine, checking, without the bytes.
const CALL_S: f64 = 8e-6;
/// Making a directory takes as long as making this many files.
const FILES_OF_DIRECTORY: f64 = 3.0;
/// Records loaded with one sync.
const BATCH: f64 = 500.0;

const TEXT_FILES: &str = "values are made from files of this machine (--text), which clients have not: leave that out, as compressible values can be \
     made without";

/// Disk space as a multiple of values' bytes: log, tables and compaction at once.
const ROOM_FACTOR: f64 = 3.0;

pub fn check(case: &Case<'_>) -> Result<(), LeftOutReason> {
    let (store, _) = case.store_for_threads()?;
    case.check_clients()?;
    if case.clients > 0 && CrudParameters::for_cell(case.parameters, case.cell).text.is_some() {
        return Err(LeftOutReason::Contradiction { why: TEXT_FILES.into() });
    }
    if case.cell.cache() == Cache::Cold && store.capabilities.keeps && !store.capabilities.persists {
        return Err(LeftOutReason::KeepsNothing { store: store.name.into() });
    }
    case.check_size(held_bytes(case))
}

pub fn space(case: &Case<'_>) -> SpaceEstimate {
    let inserts = CrudParameters::for_cell(case.parameters, case.cell).most_inserts();
    let bytes = held_bytes(case) * aging::space_factor(case.cell.age());
    let peak_bytes = disk_bytes(case.cell, case.kind(), inserts);
    SpaceEstimate { peak_bytes, required_bytes: (bytes * ROOM_FACTOR).max(peak_bytes) }
}

pub fn held_bytes(case: &Case<'_>) -> f64 {
    case.cell.expected_bytes(CrudParameters::for_cell(case.parameters, case.cell).most_inserts())
}

/// Bytes of what is made ahead, and of all records if the store has nowhere else to keep them.
pub fn memory(case: &Case<'_>) -> f64 {
    let cell = case.cell;
    let size = cell.record_size().span();
    let largest = size.to as f64;
    let prepared_bytes = pool_bytes(cell.data(), size) as f64 + largest * f64::from(cell.threads());
    let batch = (largest * BATCH).min(BATCH_BYTES as f64 + largest);
    prepared_bytes + batch + case.bytes_in_memory(held_bytes(case))
}

pub fn time(case: &Case<'_>, probe: &Probe) -> TimeEstimate {
    let work = CrudParameters::for_cell(case.parameters, case.cell);
    let wait_s = case.syncs() * probe.sync_ns as f64 / 1e9;
    let audit_s = audit_seconds(case.cell, work.most_inserts(), wait_s);
    let clearing_s = clearing_seconds(case.cell, case.kind(), work.most_inserts(), probe);
    let work_s = seconds((case.cell, wait_s), case.kind(), &work, probe);
    TimeEstimate::with_audit(work_s + audit_s + clearing_s, audit_s)
}

/// Seconds of a trial whose writes wait so long for the disk, without its audit.
fn seconds((cell, wait_s): (&Cell, f64), kind: StoreKind, work: &CrudParameters, probe: &Probe) -> f64 {
    let folder = kind == StoreKind::Folder;
    let file_s = probe.file_creation_ns as f64 / 1e9;
    let (per_file_s, file_bytes) =
        if folder { (file_s, FileSystem::file_bytes(cell.location_name())) } else { (0.0, 0.0) };
    let record_s = CALL_S + per_file_s + cell.record_size().mean().max(file_bytes) / probe.write_bytes_per_s;
    let records = cell.records().from as f64;
    let directories_s = directories(cell) * FILES_OF_DIRECTORY * file_s;
    let load_s = records * record_s + (records / BATCH).ceil() * wait_s + directories_s;
    let write_s = record_s + wait_s;
    let load_s = load_s + f64::from(cell.age()) * records * write_s;
    let call_s = |operation: Operation| match operation {
        Operation::Get => 2.0 * CALL_S,
        Operation::Insert | Operation::Update => write_s,
        // It puts its record back.
        Operation::Remove => 2.0 * write_s,
    };
    if let Some(mix) = work.mix {
        let call_s: f64 = mix.shares().iter().map(|(operation, share)| share * call_s(*operation)).sum();
        return OVERHEAD_S + load_s + stretch_seconds(cell, work, call_s) + work.warm_up as f64 * call_s;
    }
    let phase_s = |operation: &Operation| {
        let call_s = call_s(*operation);
        let reloads = if *operation == Operation::Insert { reloads(cell, work, call_s) } else { 0.0 };
        stretch_seconds(cell, work, call_s) + work.warm_up as f64 * call_s + reloads * load_s
    };
    OVERHEAD_S + load_s + work.order.iter().map(phase_s).sum::<f64>()
}

/// The directories that loading makes: two levels, each of two hexadecimal digits of the key.
fn directories(cell: &Cell) -> f64 {
    const MOST: f64 = 65_536.0;
    let directories = MOST * -(-(cell.records().from as f64) / MOST).exp_m1();
    if cell.store() == NESTED_FOLDER.name { directories } else { 0.0 }
}

/// Seconds to delete a trial's files: for a folder of files about as long as making them. An image goes as one file.
fn clearing_seconds(cell: &Cell, kind: StoreKind, inserts: u64, probe: &Probe) -> f64 {
    let records = most_records(cell, inserts);
    let is_image = cell.disk() != HERE || cell.location_name().parse::<FileSystem>().is_ok();
    let files = kind == StoreKind::Folder && !is_image;
    if files { (records as f64 + directories(cell)) * probe.file_creation_ns as f64 / 1e9 } else { 0.0 }
}

/// Seconds of a phase's timed part.
fn stretch_seconds(cell: &Cell, work: &CrudParameters, call_s: f64) -> f64 {
    let operation_s = match cell.rate() {
        Rate::Closed => call_s,
        Rate::PerSecond(rate) => call_s.max(1.0 / f64::from(rate)),
    };
    work.duration.map_or(work.operations as f64 * operation_s, |duration| duration.as_secs_f64())
}

/// How often inserts fill the store, so that it is made anew and loaded again.
fn reloads(cell: &Cell, work: &CrudParameters, call_s: f64) -> f64 {
    let inserts = match work.duration {
        None => (work.operations + work.warm_up) as f64,
        Some(duration) => match cell.rate() {
            Rate::Closed => duration.as_secs_f64() / call_s,
            Rate::PerSecond(rate) => duration.as_secs_f64() * f64::from(rate),
        },
    };
    let room = cell.records().to.saturating_sub(cell.records().from).max(1);
    (inserts / room as f64).ceil() - 1.0
}

fn most_records(cell: &Cell, inserts: u64) -> u64 {
    cell.records().from.saturating_add(inserts).min(cell.records().to)
}

fn audit_seconds(cell: &Cell, inserts: u64, wait_s: f64) -> f64 {
    audit::seconds(most_records(cell, inserts), cell.record_size().mean(), CALL_S, wait_s)
}

/// A trial's peak bytes on disk.
fn disk_bytes(cell: &Cell, kind: StoreKind, operations: u64) -> f64 {
    let records = most_records(cell, operations) as f64;
    let blocks =
        if kind == StoreKind::Folder { records * FileSystem::file_bytes(cell.location_name()) } else { 0.0 };
    (cell.expected_bytes(operations) * 1.5 * aging::space_factor(cell.age())).max(blocks) + f64::from(1 << 20)
}

#[cfg(test)]
mod tests {
    use storebench_model::cell::{Axis, GuaranteeChoice};
    use storebench_model::store::Guarantee;

    use super::*;
    use crate::workload::parameter::Parameters;

    #[test]
    fn more_work_takes_longer() {
        let probe = Probe { file_creation_ns: 30_000, sync_ns: 1_000_000, write_bytes_per_s: 1e9 };
        let cell = |store: &str, records: &str, guarantee| {
            Cell::new(store)
                .with(Axis::RECORD_SIZE, Axis::RECORD_SIZE.read("1B..1KiB").unwrap())
                .with(Axis::RECORDS, Axis::RECORDS.read(records).unwrap())
                .with(Axis::GUARANTEE, GuaranteeChoice::Tier(guarantee).into())
        };
        let work = CrudParameters::from_parameters(&Parameters::default());
        let wait_s =
            |cell: &Cell| f64::from(u8::from(cell.guarantee().tier() >= Some(Guarantee::Power))) / 1e3;
        let trial_s = |cell: &Cell, kind| seconds((cell, wait_s(cell)), kind, &work, &probe);
        let engine = |cell: &Cell| trial_s(cell, StoreKind::Engine);
        let small = engine(&cell("sqlite", "100", Guarantee::Process));
        assert!(engine(&cell("sqlite", "100000", Guarantee::Process)) > small);
        assert!(engine(&cell("sqlite", "100", Guarantee::Power)) > small + 3.0);
        let (small, large) =
            (cell("lmdb", "100", Guarantee::Process), cell("lmdb", "1000000", Guarantee::Process));
        let audit = |cell: &Cell| audit_seconds(cell, 1000, wait_s(cell));
        assert!(audit(&small) < 0.2 && audit(&large) > 1.0 && audit(&large) < 10.0, "of many only a sample");
        assert!(audit(&cell("lmdb", "100", Guarantee::Power)) > audit(&small));
        // By the store's kind, whatever its name.
        let records = cell("mine", "1000", Guarantee::Process);
        assert!(trial_s(&records, StoreKind::Folder) > engine(&records) + 0.05);
        assert!(clearing_seconds(&records, StoreKind::Folder, 0, &probe) >= 0.03);
        let nested = cell("nested-folder", "1000000", Guarantee::Process);
        let flat = cell("flat-folder", "1000000", Guarantee::Process);
        let directories_s = trial_s(&nested, StoreKind::Folder) - trial_s(&flat, StoreKind::Folder);
        assert!((5.5..6.5).contains(&directories_s), "65,536 directories: {directories_s}");
        let in_image = flat.with(Axis::PLACE, Axis::PLACE.read("ext4:4096").unwrap());
        // An image goes as one file.
        for (cell, kind) in [(&in_image, StoreKind::Folder), (&records, StoreKind::Engine)] {
            assert!(clearing_seconds(cell, kind, 0, &probe) == 0.0);
        }
        assert!(disk_bytes(&records, StoreKind::Folder, 0) >= 4_096_000.0);
        assert!(disk_bytes(&records, StoreKind::Engine, 0) < 4_096_000.0);
    }

    fn estimate(rate: &str, parameters: &[(&str, &str)]) -> f64 {
        let probe = Probe { file_creation_ns: 30_000, sync_ns: 1_000_000, write_bytes_per_s: 1e9 };
        let cell = Cell::new("sqlite")
            .with(Axis::RECORD_SIZE, Axis::RECORD_SIZE.read("1B..1KiB").unwrap())
            .with(Axis::RECORDS, Axis::RECORDS.read("1000..1000000").unwrap())
            .with(Axis::RATE, Axis::RATE.read(rate).unwrap());
        let mut given = Parameters::default();
        parameters.iter().for_each(|(name, text)| given.set(name, text).unwrap());
        seconds((&cell, 0.0), StoreKind::Engine, &CrudParameters::from_parameters(&given), &probe)
    }

    #[test]
    fn a_duration_and_a_rate_are_counted() {
        let plain = estimate("closed", &[]);
        assert!(plain < 1.0, "{plain}");
        let timed = estimate("closed", &[("duration", "60s")]);
        assert!((240.0..250.0).contains(&timed), "four operations of a minute each: {timed}");
        let two = estimate("closed", &[("duration", "60s"), ("order", "get,update")]);
        assert!((120.0..122.0).contains(&two), "{two}");
        let paced = estimate("5/s", &[]);
        assert!((800.0..801.0).contains(&paced), "four times 1000 at five a second: {paced}");
        assert!(estimate("closed", &[("warm_up", "1M")]) > plain + 20.0);
    }
}
