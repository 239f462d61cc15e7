//! Counters over a whole trial: processor time of the process and the machine, the block device, the trial's cgroup.

use std::path::Path;

use storebench_model::result::{Cpu, Device, Processors, Traffic, UnknownFigure};

use crate::measure::cgroup::TrialCgroup;
use crate::measure::device::{self, BlockDevice, DeviceSpec};
use crate::measure::{counters, process, processors};

/// What can't be watched is unknown, and the trial goes on.
pub struct TrialMeter<'a> {
    folder: &'a Path,
    cpu: Cpu,
    processors: Result<processors::Snapshot, String>,
    device: Result<DeviceMeter<'a>, String>,
    /// The cgroup of the process, or of its private server.
    group: Result<&'a TrialCgroup, String>,
    /// The cgroup's peak in bytes when the last operation returned.
    charged: Result<u64, String>,
}

struct DeviceMeter<'a> {
    spec: &'a DeviceSpec,
    device: BlockDevice,
    before: Traffic,
    burst: Traffic,
}

pub(crate) struct TrialUse {
    pub cpu: Cpu,
    pub processors: Option<Processors>,
    pub device: Option<Device>,
    /// The peak of the trial's cgroup.
    pub charged_bytes: Option<u64>,
    pub unknown: Vec<UnknownFigure>,
}

impl<'a> TrialMeter<'a> {
    /// Begins just before the store is opened in `folder`. Syncs first, so that the store is not charged for what is dirty.
    pub fn start(folder: &'a Path, device: &'a Result<DeviceSpec, String>) -> TrialMeter<'a> {
        TrialMeter {
            folder,
            device: device.as_ref().map_err(String::clone).and_then(|spec| DeviceMeter::start(spec, folder)),
            processors: processors::Snapshot::now().map_err(|error| error.to_string()),
            cpu: process::cpu(),
            group: Err("the process joined none".into()),
            charged: Err("the trial ended early".into()),
        }
    }

    /// From now on a cgroup, if there is one, is charged for this process.
    pub(crate) fn charge_to(&mut self, group: &'a Result<TrialCgroup, String>) {
        self.group = group.as_ref().map_err(String::clone).and_then(|group| group.join().map(|()| group));
    }

    /// From now on that cgroup is charged for the server that joins it in place of this process.
    pub(crate) fn charge_server_to(&mut self, group: &'a Result<TrialCgroup, String>) {
        self.group = group.as_ref().map_err(String::clone);
    }

    /// To be called when the last operation has returned.
    pub fn burst(&mut self) {
        let read_burst = |meter: &mut DeviceMeter<'_>| {
            meter.device.traffic().map(|now| meter.burst = now.since(&meter.before))
        };
        if let Some(Err(error)) = self.device.as_mut().ok().map(read_burst) {
            self.device = Err(error.to_string());
        }
        self.charged = self.group.clone().and_then(TrialCgroup::peak_bytes);
    }

    /// To be called when the store has settled. Syncs what it left to the system, which only the device is charged for.
    pub fn finish(self) -> TrialUse {
        let cpu = process::cpu().since(&self.cpu);
        let processors = self.processors.and_then(|before| {
            let now = processors::Snapshot::now().map_err(|error| error.to_string())?;
            now.since(&before).ok_or_else(|| "the trial was shorter than the kernel's clock tick".into())
        });
        let device = self.device.and_then(|meter| meter.finish(self.folder));
        let mut unknown = counters::unknown();
        let reasons = [
            ("processors", processors.as_ref().err()),
            ("device", device.as_ref().err()),
            ("peak_with_page_cache_bytes", self.charged.as_ref().err()),
        ];
        unknown.extend(reasons.into_iter().filter_map(|(figure, reason)| {
            Some(UnknownFigure { figure: figure.into(), reason: reason?.clone() })
        }));
        let charged_bytes = self.charged.ok();
        TrialUse { cpu, processors: processors.ok(), device: device.ok(), charged_bytes, unknown }
    }
}

impl<'a> DeviceMeter<'a> {
    fn start(spec: &'a DeviceSpec, folder: &Path) -> Result<DeviceMeter<'a>, String> {
        let start = || {
            let device = BlockDevice::open(&spec.name)?;
            device::sync_file_system(folder)?;
            let before = device.traffic()?;
            Ok(DeviceMeter { spec, device, before, burst: Traffic::default() })
        };
        start().map_err(|error: std::io::Error| error.to_string())
    }

    fn finish(self, folder: &Path) -> Result<Device, String> {
        let traffic = device::sync_file_system(folder).and_then(|()| self.device.traffic());
        let now = traffic.map_err(|error| error.to_string())?;
        Ok(Device {
            name: self.device.name,
            shared: self.spec.shared,
            settled: now.since(&self.before),
            burst: self.burst,
            idle_written_bytes_per_s: self.spec.idle_written_bytes_per_s,
        })
    }
}
