//! A trial that has no store: what is watched over it, and its result.

use std::time::Duration;

use storebench_model::result::{Load, Measurements, OperationResult};
use storebench_model::store::Guarantee;

use crate::measure::disk;
use crate::measure::latency::Latencies;
use crate::measure::process::{self, ResidentMemory};
use crate::measure::watch::{TrialMeter, TrialUse};
use crate::workload::spec::{Spec, TrialError};

/// A trial without a store, from before its first operation. All of the harness's memory is prepared before it begins.
pub struct BareTrial<'a> {
    spec: &'a Spec,
    watch: TrialMeter<'a>,
    base: ResidentMemory,
    peak: Option<ResidentMemory>,
}

impl<'a> BareTrial<'a> {
    /// Begins. Fails when the process's memory can't be read.
    pub fn begin(spec: &'a Spec) -> Result<BareTrial<'a>, TrialError> {
        BareTrial::begin_with(spec, false)
    }

    /// Begins; a server of the trial's own is measured in place of this process.
    pub(crate) fn begin_with(spec: &'a Spec, has_server: bool) -> Result<BareTrial<'a>, TrialError> {
        let mut watch = TrialMeter::start(&spec.directory, &spec.device);
        process::reset_peak().map_err(TrialError::harness)?;
        let base = process::resident().map_err(TrialError::harness)?;
        if has_server {
            spec.hold_server()?;
            watch.charge_server_to(&spec.group);
        } else {
            spec.enter_limits()?;
            watch.charge_to(&spec.group);
        }
        Ok(BareTrial { spec, watch, base, peak: None })
    }

    /// The last operation has returned. Fails when the process's memory can't be read.
    pub fn worked(&mut self) -> Result<(), TrialError> {
        self.watch.burst();
        self.peak = Some(process::resident().map_err(TrialError::harness)?);
        Ok(())
    }

    /// Ends, while the files are still there: `data_bytes` is their data, and `guarantee` is what a returned operation survives.
    pub fn end(
        self,
        operations: Vec<OperationResult>,
        guarantee: Guarantee,
        data_bytes: u64,
    ) -> Result<Measurements, TrialError> {
        let spec = self.spec;
        let figures = self.figures()?;
        Ok(Measurements {
            load: Load { value_bytes: data_bytes, ..Load::default() },
            operations,
            // No store keeps anything, so nothing is ranked by space.
            disk: disk::usage(&spec.directory).map_err(TrialError::harness)?,
            guarantee,
            ..figures
        })
    }

    /// What was watched, without the rest of a result.
    pub(crate) fn figures(self) -> Result<Measurements, TrialError> {
        let TrialUse { cpu, processors, device, charged_bytes, unknown } = self.watch.finish();
        let peak = self.peak.map_or_else(process::resident, Ok).map_err(TrialError::harness)?;
        let memory = peak.memory_above(&self.base, charged_bytes);
        Ok(Measurements { device, processors, unknown, memory, cpu, ..Measurements::default() })
    }
}

/// An operation's result: its latencies, over `wall` from before the first to after the last.
pub fn operation(name: &str, latencies: &Latencies, wall: Duration) -> Result<OperationResult, TrialError> {
    Ok(OperationResult {
        operation: name.into(),
        count: latencies.count(),
        wall_ns: nanoseconds(wall),
        sum_ns: latencies.sum_ns(),
        latency: latencies.summary().map_err(TrialError::harness)?,
        ..OperationResult::default()
    })
}

/// A time as results hold it.
pub fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
