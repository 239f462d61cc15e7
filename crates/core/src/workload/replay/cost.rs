//! Whether a replay can run on a store, and what it costs: rough, to plan by.

use storebench_model::axis::file_system::FileSystem;
use storebench_model::result::LeftOutReason;
use storebench_model::store::{Guarantee, StoreKind};
use storebench_model::units::SizeRange;

use crate::measure::probe::Probe;
use crate::record::pool::pool_bytes;
use crate::workload::case::{Case, SpaceEstimate, TimeEstimate};

use super::chunk::{CHUNK_BYTES, chunk_count};
use super::parameters::ReplayParameters;

/// Starting a process, opening, settling and closing a store, in seconds.
const OVERHEAD_S: f64 = 0.3;
/// Seconds of an operation, with reading its line and making its value.
const CALL_S: f64 = 10e-6;
/// Reading a line, in seconds.
const LINE_S: f64 = 1e-6;
/// Peak disk space as a multiple of what the store holds, and of what is overwritten.
const PEAK: f64 = 2.0;
/// Bytes of key tables, histograms, and reading the trace.
const TABLES_BYTES: f64 = (64_u64 << 20) as f64;

pub fn check(case: &Case<'_>) -> Result<(), LeftOutReason> {
    let (store, capabilities) = case.store_for_threads()?;
    let work = ReplayParameters::from_parameters(case.parameters).ok_or(LeftOutReason::NoTrace)?;
    if work.facts.scan > 0 && !capabilities.order {
        return Err(LeftOutReason::NoOrder { store: store.name.into() });
    }
    case.check_size(held_bytes(&work))
}

/// Bytes that the store holds at its fullest: at most what is loaded and written, and about what is there at the end or the start.
fn held_bytes(work: &ReplayParameters) -> f64 {
    let facts = &work.facts;
    let loaded = if work.loads { facts.load_key_bytes + facts.load_value_bytes } else { 0 };
    let kept_bytes = if work.loads { facts.kept_key_bytes + facts.kept_value_bytes } else { 0 };
    (kept_bytes + facts.written_key_bytes + facts.written_value_bytes).max(loaded) as f64
}

pub fn held_value_bytes(case: &Case<'_>) -> f64 {
    ReplayParameters::from_parameters(case.parameters).map_or(0.0, |work| held_bytes(&work))
}

pub fn space(case: &Case<'_>) -> SpaceEstimate {
    let Some(work) = ReplayParameters::from_parameters(case.parameters) else {
        return SpaceEstimate { peak_bytes: 0.0, required_bytes: 0.0 };
    };
    let fullest_bytes = held_bytes(&work);
    let written = work.facts.write_bytes as f64;
    // Logs and tables hold what was replaced until it is compacted away.
    let file_bytes = FileSystem::file_bytes(case.cell.location_name());
    let blocks = if case.kind() == StoreKind::Folder { work.facts.keys as f64 * file_bytes } else { 0.0 };
    let peak_bytes = fullest_bytes * PEAK + written.min(fullest_bytes * 4.0) + blocks;
    SpaceEstimate { peak_bytes, required_bytes: peak_bytes * 2.0 }
}

/// Bytes of fixed tables, chunks, and all records if the store has nowhere else to keep them.
pub fn memory(case: &Case<'_>) -> f64 {
    let Some(work) = ReplayParameters::from_parameters(case.parameters) else { return TABLES_BYTES };
    let largest = work.facts.largest_value;
    let pool = pool_bytes(case.cell.data(), SizeRange { from: 1, to: largest + 1 }) as f64;
    let thread =
        chunk_count(largest as usize) as f64 * (CHUNK_BYTES as f64 + largest as f64) + 2.0 * largest as f64;
    let records_bytes = 2.0 * case.bytes_in_memory(held_bytes(&work));
    TABLES_BYTES + pool + f64::from(case.cell.threads()) * thread + records_bytes
}

pub fn time(case: &Case<'_>, probe: &Probe) -> TimeEstimate {
    let Some(work) = ReplayParameters::from_parameters(case.parameters) else {
        return TimeEstimate::with_audit(OVERHEAD_S, 0.0);
    };
    let facts = &work.facts;
    let syncs = case.guarantee() >= Some(Guarantee::Power);
    let sync_s = if syncs { probe.sync_ns as f64 / 1e9 } else { 0.0 };
    let file_s = if case.kind() == StoreKind::Folder { probe.file_creation_ns as f64 / 1e9 } else { 0.0 };
    let byte_s = 1.0 / probe.write_bytes_per_s;
    let write_s = CALL_S + file_s + sync_s;
    let writes = (facts.writes() + facts.remove) as f64;
    let work_s = facts.played() as f64 * CALL_S + writes * write_s + facts.write_bytes as f64 * byte_s;
    let duration_s = work.duration().map_or(0.0, |duration| duration.as_secs_f64());
    let lines_s = (facts.played() + facts.skip) as f64 * LINE_S;
    let loading_s = facts.load_keys as f64 * (CALL_S + file_s) + facts.load_value_bytes as f64 * byte_s;
    let load_s = if work.loads { lines_s + loading_s } else { 0.0 };
    let audit_s = lines_s + facts.keys.min(u64::from(case.cell.threads()) << 14) as f64 * CALL_S;
    TimeEstimate::with_audit(OVERHEAD_S + load_s + work_s.max(duration_s) + audit_s, audit_s)
}
