//! The workload `device`: what it is asked, what it costs, and its trial.

use storebench_model::axis::Axis;
use storebench_model::axis::device::values::{Io, Pattern, Sync};
use storebench_model::cell::{Cache, Cell};
use storebench_model::result::{Failure, LeftOutReason, Measurements, OperationResult, PhaseRequests};
use storebench_model::store::Guarantee;
use storebench_model::units::parse_bytes;

use super::{Amount, DeviceError, PreparedFile, Spec};
use crate::measure::clock::Clock;
use crate::measure::probe::Probe;
use crate::workload::bare::{BareTrial, nanoseconds, operation};
use crate::workload::case::{Case, SpaceEstimate, TimeEstimate};
use crate::workload::def::{Headline, WorkloadDef, axes};
use crate::workload::parameter::Parameters;
use crate::workload::spec::{TrialContext, TrialError};
use crate::workload::workload_error::WorkloadError;

pub static WORKLOAD: WorkloadDef = WorkloadDef {
    name: "device",
    help: "read and write one file, in sequence or at random: what a place gives with no store in the way",
    axes: axes!(PATTERN BLOCK_SIZE FILE_SIZE IO SYNC PLACE DISK MACHINE BACKGROUND THREADS CACHE),
    parameters: &["operations", "duration"],
    operations: &["read", "write", "sync"],
    reason,
    headline: &[Headline::Latency],
    space,
    stored_bytes: |_| 0.0,
    memory,
    time,
    time_by_rehearsal: None,
    run,
    serve: None,
};

/// For estimates, if each operation waits for the device.
const GUESSED_PER_S: f64 = 5_000.0;

/// Seconds of starting and ending a process.
const OVERHEAD_S: f64 = 0.05;

fn spec(cell: &Cell, parameters: &Parameters, seed: u64) -> Spec {
    let bytes = |axis: Axis| parse_bytes(cell.text(axis)).unwrap_or_default();
    let duration = parameters.duration().map(Amount::Duration);
    let pattern = Pattern::ALL.into_iter().find(|pattern| pattern.name() == cell.text(Axis::PATTERN));
    let io = Io::ALL.into_iter().find(|io| io.name() == cell.text(Axis::IO));
    Spec {
        pattern: pattern.unwrap_or(Pattern::SeqRead),
        block: bytes(Axis::BLOCK_SIZE),
        file: bytes(Axis::FILE_SIZE),
        io: io.unwrap_or(Io::Buffered),
        sync: cell.typed(Axis::SYNC).unwrap_or(Sync::None),
        cold: cell.cache() == Cache::Cold,
        threads: cell.threads(),
        amount: duration.unwrap_or(Amount::Operations(parameters.operations())),
        seed,
    }
}

fn reason(case: &Case<'_>) -> Option<LeftOutReason> {
    let spec = spec(case.cell, case.parameters, 0);
    let (bytes, limit_bytes) = (spec.file_bytes() as f64, case.size_limit);
    if spec.cold && spec.io.is_direct() {
        return Some(LeftOutReason::BypassesCache);
    }
    let too_large = LeftOutReason::TooLarge { bytes, limit_bytes };
    let too_large = (bytes >= limit_bytes as f64).then_some(too_large);
    spec.unsupported().map(LeftOutReason::Device).or(too_large)
}

fn space(case: &Case<'_>) -> SpaceEstimate {
    let bytes = spec(case.cell, case.parameters, 0).file_bytes() as f64;
    SpaceEstimate { peak_bytes: bytes, required_bytes: bytes }
}

fn memory(case: &Case<'_>) -> f64 {
    let spec = spec(case.cell, case.parameters, 0);
    f64::from(spec.threads) * super::buffer::pool_bytes(spec.block as usize) as f64
}

fn time(case: &Case<'_>, probe: &Probe) -> TimeEstimate {
    let spec = spec(case.cell, case.parameters, 0);
    let laid_out_s = spec.file_bytes() as f64 / probe.write_bytes_per_s;
    let work_s = match spec.amount {
        Amount::Duration(time) => time.as_secs_f64(),
        Amount::Operations(count) => {
            let each_s = if spec.io.is_dsync() || spec.sync != Sync::None {
                probe.sync_ns as f64 / 1e9
            } else {
                1.0 / GUESSED_PER_S
            };
            count as f64 * (each_s + spec.block as f64 / probe.write_bytes_per_s)
        }
    };
    TimeEstimate::with_audit(OVERHEAD_S + laid_out_s + work_s, 0.0)
}

fn run(context: &TrialContext<'_>) -> Result<Measurements, TrialError> {
    let trial_spec = context.spec;
    let spec = spec(&trial_spec.cell, &trial_spec.parameters, trial_spec.seed);
    let clock = Clock::new();
    let prepared = PreparedFile::new(&spec, &trial_spec.directory).map_err(into_trial_error)?;
    let mut trial = BareTrial::begin(trial_spec)?;
    let measured = prepared.measure(&clock).map_err(into_trial_error)?;
    trial.worked()?;
    let is_durable = spec.io.is_dsync() || matches!(spec.sync, Sync::Each(_, 0 | 1));
    let guarantee = if is_durable { Guarantee::Power } else { Guarantee::Process };
    let result = trial.end(operations(&spec, &measured)?, guarantee, spec.file_bytes())?;
    prepared.finish().map_err(into_trial_error)?;
    Ok(Measurements { settle_ns: measured.final_sync.map_or(0, nanoseconds), ..result })
}

/// Reads or writes, each with its sync; and syncs alone.
fn operations(spec: &Spec, measured: &super::DeviceMeasurements) -> Result<Vec<OperationResult>, TrialError> {
    let name = if spec.pattern.writes() { "write" } else { "read" };
    let phase = |requests| PhaseRequests { operations: measured.operations, requests };
    let mut operations = vec![OperationResult {
        rate_over_ns: Some(nanoseconds(measured.wall)),
        harness_share: Some(measured.harness_share),
        value_bytes: measured.bytes,
        series: measured.series.clone(),
        // The phase includes syncs between writes.
        phase_disk: measured.disk.clone().map(phase),
        ..operation(name, &measured.latencies, measured.wall)?
    }];
    if let Some(syncs) = &measured.syncs {
        operations.push(operation("sync", syncs, measured.wall)?);
    }
    Ok(operations)
}

fn into_trial_error(error: DeviceError) -> TrialError {
    let failure = match &error {
        DeviceError::Unsupported(unsupported) => return TrialError::Unsupported(unsupported.to_string()),
        error if error.is_disk_full() => Failure::DiskFull,
        DeviceError::Harness(_) => Failure::Harness,
        _ => Failure::Store,
    };
    TrialError::Failed(WorkloadError { failure, message: error.to_string(), operation: None })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn cell(values: &[(Axis, &str)]) -> Cell {
        let defaults = [
            (Axis::PATTERN, "rand-write"),
            (Axis::BLOCK_SIZE, "4KiB"),
            (Axis::FILE_SIZE, "1MiB"),
            (Axis::IO, "buffered"),
        ];
        let axes = defaults.iter().chain(values);
        axes.fold(Cell::default(), |cell, (axis, text)| cell.with(*axis, axis.read(text).unwrap()))
    }

    #[test]
    fn a_cell_says_how_the_file_is_used() {
        let parameters = Parameters::default().with("duration", "2s").unwrap();
        let cell = cell(&[(Axis::SYNC, "fdatasync/16"), (Axis::THREADS, "3"), (Axis::CACHE, "cold")]);
        assert_eq!(cell.id(), "rand-write/4KiB/1MiB/buffered/threads=3/cache=cold/sync=fdatasync/16");
        let spec = spec(&cell, &parameters, 7);
        assert_eq!(
            (spec.pattern, spec.block, spec.file, spec.threads),
            (Pattern::RandWrite, 4096, 1 << 20, 3)
        );
        assert_eq!((spec.sync.to_string().as_str(), spec.cold), ("fdatasync/16", true));
        assert_eq!(spec.amount, Amount::Duration(Duration::from_secs(2)));
    }

    #[test]
    fn what_can_t_be_measured_has_a_reason() {
        let parameters = Parameters::default();
        let reason = |values: &[(Axis, &str)], size_limit| {
            let cell = cell(values);
            super::reason(&Case::with_defaults(&cell, &parameters, &[], size_limit))
        };
        assert_eq!(reason(&[], 1 << 30), None);
        assert!(matches!(reason(&[], 1 << 20), Some(LeftOutReason::TooLarge { .. })));
        let syncs = [(Axis::PATTERN, "seq-read"), (Axis::SYNC, "fsync")];
        assert_eq!(reason(&syncs, 1 << 30).unwrap().to_string(), "a read has nothing to sync");
    }
}
