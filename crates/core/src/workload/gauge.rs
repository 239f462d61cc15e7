//! Counters that are read before and after a phase: the process's and the machine's, and the series.

use storebench_model::result::{Counters, OperationResult, SeriesPoint};

use crate::measure::clock::Clock;
use crate::measure::counters::Snapshot;
use crate::measure::device::DeviceSpec;
use crate::measure::machine_counters::{MachineCounters, MachineUse};
use crate::measure::series::Series;
use crate::workload::spec::Spec;
use crate::workload::workload_error::WorkloadError;

/// Reads counters over a phase. Its memory is taken before the store is opened.
pub(crate) struct Gauge<'a> {
    pub clock: &'a Clock,
    pub series: Series,
    device: &'a Result<DeviceSpec, String>,
}

pub(crate) struct GaugeReading {
    pub counters: Counters,
    machine_use: MachineUse,
    series: Vec<SeriesPoint>,
}

impl<'a> Gauge<'a> {
    pub fn for_threads(spec: &'a Spec, clock: &'a Clock, threads: u64) -> Result<Gauge<'a>, String> {
        Ok(Gauge { clock, series: Series::new(threads as usize)?, device: &spec.device })
    }

    /// Does a phase's operations, and reads all counters before and after.
    pub fn measure<T>(
        &self,
        work: impl FnOnce() -> Result<T, WorkloadError>,
    ) -> Result<(T, GaugeReading), WorkloadError> {
        self.series.begin();
        let machine = MachineCounters::start(self.device);
        let before = Snapshot::now();
        let result = work()?;
        let counters = before.until_now();
        let machine_use = machine.end();
        Ok((result, GaugeReading { counters, machine_use, series: self.series.finish() }))
    }
}

impl GaugeReading {
    pub(crate) fn add_to(self, result: OperationResult) -> OperationResult {
        OperationResult {
            counters: Some(self.counters),
            device_written_bytes: self.machine_use.traffic.as_ref().map(|traffic| traffic.written_bytes),
            device_read_bytes: self.machine_use.traffic.as_ref().map(|traffic| traffic.read_bytes),
            processors: self.machine_use.processors,
            series: self.series,
            ..result
        }
    }
}
