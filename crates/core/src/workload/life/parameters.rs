//! The work of a trial, and the time and room that it takes.

use std::time::Duration;

use storebench_model::axis::Axis;
use storebench_model::axis::file_system::FileSystem;
use storebench_model::cell::Cell;
use storebench_model::result::LeftOutReason;
use storebench_model::store::{Guarantee, StoreKind, Threads};
use storebench_model::units::SizeRange;

use super::bursts::BurstLoad;
use super::concurrent_calls;
use super::concurrent_work::WorkKind;
use super::set::Churn;
use crate::measure::probe::Probe;
use crate::record::KEY_BYTES;
use crate::record::pool::pool_bytes;
use crate::workload::audit;
use crate::workload::batch::BATCH_BYTES;
use crate::workload::case::{Case, SpaceEstimate, TimeEstimate};
use crate::workload::parameter::{AfterLoad, Parameters};

/// Parts of a trial with separate figures.
pub(crate) const TENTHS: usize = 10;

/// Seconds of starting a process, filling its buffers, opening, settling and closing a store.
const OVERHEAD_S: f64 = 0.15;
/// Seconds of making a value, calling an engine, checking.
const CALL_S: f64 = 8e-6;
/// Seconds to remove a record in a batch, or to move it when space is reclaimed.
const MOVED_S: f64 = 4e-6;
/// Disk space as a multiple of values' bytes, with what engines keep of overwritten values.
const ROOM_FACTOR: f64 = 6.0;
/// Bytes of the histograms of a tenth.
const HISTOGRAMS_BYTES: f64 = 1e6;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LifeParameters {
    pub churn: Churn,
    pub records: u64,
    /// Each has its own records.
    pub threads: u64,
    /// In a tenth.
    pub steps: u64,
    /// The most that is written until the set is steady, as a multiple of the turnover.
    pub until_steady: usize,
    /// Also of removals.
    pub batch: usize,
    pub after_load: AfterLoad,
    /// Whether others read and write while space is reclaimed.
    pub reclaims_concurrently: bool,
    pub bursts: Vec<BurstLoad>,
    pub burst_period: Duration,
}

impl LifeParameters {
    pub fn from_parameters(cell: &Cell, parameters: &Parameters) -> LifeParameters {
        let (records, turnover) = (cell.records().from, parameters.turnover.map_or(10, |times| times.0));
        LifeParameters {
            churn: Churn::from_cell(cell),
            records,
            threads: cell.threads().into(),
            steps: (records * turnover).div_ceil(TENTHS as u64),
            until_steady: parameters.until_steady.map_or(1, |times| times.0 as usize),
            batch: parameters.batch() as usize,
            after_load: parameters.after_load(),
            reclaims_concurrently: reclaims_concurrently(cell),
            bursts: parameters.bursts.as_ref().map_or(Vec::new(), |loads| loads.0.clone()),
            burst_period: parameters.burst_period.map_or(Duration::from_secs(60), |time| time.0),
        }
    }

    pub(crate) fn most_tenths(&self) -> usize {
        TENTHS * self.until_steady
    }
}

pub(crate) fn has_held_reader(cell: &Cell) -> bool {
    cell.text(Axis::READER) == "held"
}

fn reclaims_concurrently(cell: &Cell) -> bool {
    cell.text(Axis::SPACE_RECLAIM) == "concurrent"
}

/// Open sessions: the threads', and one for large batches; or the two that read and write while space is reclaimed.
pub fn sessions(cell: &Cell) -> u64 {
    let steps = u64::from(cell.threads()) + u64::from(WorkKind::from_cell(cell) == Some(WorkKind::Batch));
    if reclaims_concurrently(cell) { steps.max(concurrent_calls::SESSIONS) } else { steps }
}

pub fn check(case: &Case<'_>) -> Result<(), LeftOutReason> {
    let (cell, (store, capabilities)) = (case.cell, case.store_for_threads()?);
    let (threads, store) = (sessions(cell), || store.name.to_owned());
    if threads > 1 && capabilities.threads == Threads::One {
        return Err(LeftOutReason::OneSession { store: store(), threads: threads as u32 });
    }
    let work = WorkKind::from_cell(cell);
    let is_long = |sizes: SizeRange| sizes.to - sizes.from > 1;
    let contradictions = [
        (cell.records().from < u64::from(cell.threads()), "a thread would have no record"),
        (
            is_in_waves(cell) && !cell.record_size().single_range().is_some_and(is_long),
            "values that grow and shrink have a shortest and a longest length: name them, such as --record-size 100B..1KiB",
        ),
        (
            is_in_waves(cell) && case.parameters.until_steady.is_some(),
            "a set whose values grow and shrink is never steady: ask for waves without until_steady",
        ),
        (
            work == Some(WorkKind::Backup) && cell.text(Axis::WRITER) == "batch",
            "a backup and large batches are not looked at together",
        ),
        (
            (has_held_reader(cell) || work.is_some()) && case.parameters.bursts.is_some(),
            "bursts come when the reader, the backups and the large batches have ended: ask for them without these",
        ),
    ];
    if let Some((_, why)) = contradictions.into_iter().find(|(is_so, _)| *is_so) {
        return Err(LeftOutReason::Contradiction { why: why.into() });
    }
    if work == Some(WorkKind::Backup) && !capabilities.backup {
        return Err(LeftOutReason::NoBackup { store: store() });
    }
    if has_held_reader(cell) && !capabilities.held_reader {
        return Err(LeftOutReason::NoHeldReader { store: store() });
    }
    if reclaims_concurrently(cell) && !capabilities.compacts_beside {
        return Err(LeftOutReason::NoConcurrentReclaim { store: store() });
    }
    case.check_size(held_bytes(case))
}

fn is_in_waves(cell: &Cell) -> bool {
    Churn::from_cell(cell) == Churn::Waves
}

pub fn space(case: &Case<'_>) -> SpaceEstimate {
    let work = LifeParameters::from_parameters(case.cell, case.parameters);
    let file_bytes = FileSystem::file_bytes(case.cell.location_name());
    let blocks = if case.kind() == StoreKind::Folder { work.records as f64 * file_bytes } else { 0.0 };
    let extra = WorkKind::from_cell(case.cell).map_or(0, |kind| kind.records(work.records));
    let bytes = (held_bytes(case) + (work.records * KEY_BYTES as u64) as f64)
        * (1.0 + extra as f64 / work.records.max(1) as f64);
    let peak_bytes = (bytes * ROOM_FACTOR / 2.0).max(blocks) + f64::from(1 << 20);
    SpaceEstimate { peak_bytes, required_bytes: (bytes * ROOM_FACTOR).max(peak_bytes) }
}

/// Bytes of values at the fullest.
pub fn held_bytes(case: &Case<'_>) -> f64 {
    let sizes = case.cell.record_size();
    let value_bytes = if is_in_waves(case.cell) { sizes.largest() as f64 } else { sizes.mean() };
    case.cell.records().from as f64 * value_bytes
}

/// Bytes of the set, values, and all records if the store has nowhere else to keep them.
pub fn memory(case: &Case<'_>) -> f64 {
    let work = LifeParameters::from_parameters(case.cell, case.parameters);
    let (size, records) = (case.cell.record_size().span(), case.cell.records().from as f64);
    let largest = size.to as f64;
    let batch = (largest * work.batch as f64).min(BATCH_BYTES as f64 + largest);
    let parts = work.most_tenths() + work.bursts.len();
    let histograms = HISTOGRAMS_BYTES * parts as f64 * work.threads as f64;
    let own_bytes = pool_bytes(case.cell.data(), size) as f64 + 5.0 * records + histograms;
    let batch_records_bytes = match WorkKind::from_cell(case.cell) {
        Some(WorkKind::Batch) => {
            WorkKind::Batch.records(work.records) as f64 * (KEY_BYTES as f64 + case.cell.record_size().mean())
        }
        _ => 0.0,
    };
    own_bytes + batch_records_bytes + batch + case.bytes_in_memory(held_bytes(case))
}

pub fn time(case: &Case<'_>, probe: &Probe) -> TimeEstimate {
    let work = LifeParameters::from_parameters(case.cell, case.parameters);
    let syncs = case.guarantee() >= Some(Guarantee::Power);
    let sync_s = if syncs { probe.sync_ns as f64 / 1e9 } else { 0.0 };
    let folder = case.kind() == StoreKind::Folder;
    let per_file_s = if folder { probe.file_creation_ns as f64 / 1e9 } else { 0.0 };
    let mean = case.cell.record_size().mean();
    let record_s = CALL_S + per_file_s + mean / probe.write_bytes_per_s;
    let records = work.records as f64;
    let batches = (records / work.batch as f64).ceil();
    let load_s = records * record_s + batches * sync_s;
    let calls = if work.churn.replaces() { 2.0 } else { 1.0 };
    let step_s = calls * (record_s + sync_s * if folder { 2.0 } else { 1.0 });
    let reclaim_s = records * (MOVED_S + per_file_s) + batches * sync_s;
    let audit_s = audit::seconds(work.records, mean, CALL_S, 0.0);
    let extra = WorkKind::from_cell(case.cell).map_or(0, |kind| kind.records(work.records));
    let extra_s = (extra * work.most_tenths() as u64) as f64 * MOVED_S;
    let steps_s = (work.steps * work.most_tenths() as u64) as f64 * step_s + extra_s;
    // The steps after the pause last as long as it.
    let bursts_s = work.bursts.len() as f64 * work.burst_period.as_secs_f64() * 7.0 / 6.0;
    TimeEstimate::with_audit(OVERHEAD_S + load_s + steps_s + bursts_s + reclaim_s + audit_s, audit_s)
}

#[cfg(test)]
mod tests {
    use storebench_model::store::{Capabilities, StoreDef};
    use storebench_model::stores::MEMORY;

    use super::*;

    fn cell(records: &str, axes: &[(Axis, &str)]) -> Cell {
        let start = Cell::new("memory").with(Axis::RECORDS, Axis::RECORDS.read(records).unwrap());
        axes.iter().fold(start, |cell, (axis, text)| cell.with(*axis, axis.read(text).unwrap()))
    }

    #[test]
    fn more_turnover_takes_longer_and_writes_what_was_asked_for() {
        let axes = [(Axis::CHURN, "queue"), (Axis::RECORD_SIZE, "100B"), (Axis::GUARANTEE, "power")];
        let cell = cell("1000", &axes);
        let probe = Probe { file_creation_ns: 30_000, sync_ns: 1_000_000, write_bytes_per_s: 1e9 };
        let estimate = |turnover: &str| {
            let parameters = Parameters::default().with("turnover", turnover).unwrap();
            let case = Case::with_defaults(&cell, &parameters, &[MEMORY], 1 << 20);
            assert!(held_bytes(&case) == 100_000.0 && memory(&case) > 100_000.0);
            (LifeParameters::from_parameters(&cell, &parameters).steps, time(&case, &probe).trial_s)
        };
        let (once, ten) = (estimate("1"), estimate("10"));
        assert_eq!((once.0, ten.0), (100, 1_000));
        assert!(once.1 > 2.0 && ten.1 > 20.0, "{once:?} {ten:?}");
    }

    #[test]
    fn a_store_is_left_out_if_it_lacks_what_goes_on_during_the_steps() {
        let check = |axes: &[(Axis, &str)], store: StoreDef| {
            check(&Case::with_defaults(&cell("9", axes), &Parameters::default(), &[store], 1 << 40))
        };
        let capabilities = Capabilities { threads: Threads::One, ..MEMORY.capabilities };
        let one_session = StoreDef { capabilities, ..MEMORY };
        let (store, concurrent) = (|| "memory".to_owned(), (Axis::SPACE_RECLAIM, "concurrent"));
        for (axis, store, reason) in [
            ((Axis::READER, "held"), MEMORY, LeftOutReason::NoHeldReader { store: store() }),
            ((Axis::READER, "backup"), MEMORY, LeftOutReason::NoBackup { store: store() }),
            (concurrent, MEMORY, LeftOutReason::NoConcurrentReclaim { store: store() }),
            ((Axis::WRITER, "batch"), one_session, LeftOutReason::OneSession { store: store(), threads: 2 }),
        ] {
            assert_eq!(check(&[axis], store), Err(reason));
        }
        for (axes, left_out) in [
            (&[(Axis::READER, "backup"), (Axis::WRITER, "batch")][..], true),
            (&[(Axis::THREADS, "10")], true),
            (&[(Axis::THREADS, "9"), (Axis::WRITER, "none")], false),
            (&[(Axis::CHURN, "waves"), (Axis::RECORD_SIZE, "100B..1KiB")], false),
            (&[(Axis::CHURN, "waves"), (Axis::RECORD_SIZE, "1KiB")], true),
            (&[(Axis::CHURN, "waves"), (Axis::RECORD_SIZE, "90%:1KiB..10KiB+10%:1MiB")], true),
        ] {
            let is_left_out = matches!(check(axes, MEMORY), Err(LeftOutReason::Contradiction { .. }));
            assert_eq!(is_left_out, left_out, "{axes:?}");
        }
        assert_eq!(check(&[], MEMORY), Ok(()));
    }
}
