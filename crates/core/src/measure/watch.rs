//! Counters over a whole trial, beside the store itself: processor time of the process, the machine's processors, the
//! block device under the place, the charge of the trial's cgroup.

use std::path::Path;

use crate::measure::cgroup::Group;
use crate::measure::device::DeviceSpec;
use crate::measure::device::{self, BlockDevice};
use crate::measure::{counters, process, processors};
use crate::result::{Cpu, Device, Processors, Traffic, Unknown};

/// A watch over a trial. What can't be watched is unknown, and the trial goes on.
pub struct Watch<'a> {
    folder: &'a Path,
    cpu: Cpu,
    processors: Result<processors::Snapshot, String>,
    device: Result<OnDevice<'a>, String>,
    /// The cgroup that the process, or in its place a server of the trial's own, has joined.
    group: Result<&'a Group, String>,
    /// The most, in bytes, that it was charged for until the last operation had returned.
    charged: Result<u64, String>,
}

/// The device and its counters so far.
struct OnDevice<'a> {
    spec: &'a DeviceSpec,
    device: BlockDevice,
    before: Traffic,
    burst: Traffic,
}

/// The figures of a trial that has ended.
pub(crate) struct TrialUse {
    /// Processor time of the process.
    pub cpu: Cpu,
    /// The time of the machine's processors.
    pub processors: Option<Processors>,
    /// The activity of the block device.
    pub device: Option<Device>,
    /// The most that the trial's cgroup was charged for, in bytes.
    pub charged_bytes: Option<u64>,
    /// The figures that could not be watched.
    pub unknown: Vec<Unknown>,
}

impl<'a> Watch<'a> {
    /// Begins, just before the store is opened in `folder`. What is dirty there goes to the device first, so that the store
    /// is not charged for it.
    pub fn start(folder: &'a Path, device: &'a Result<DeviceSpec, String>) -> Watch<'a> {
        Watch {
            folder,
            device: device.as_ref().map_err(String::clone).and_then(|spec| OnDevice::start(spec, folder)),
            processors: processors::Snapshot::now().map_err(|error| error.to_string()),
            cpu: process::cpu(),
            group: Err("the process joined none".into()),
            charged: Err("the trial ended early".into()),
        }
    }

    /// From now on, what the process takes is charged to a cgroup of its own, if there is one.
    pub(crate) fn charge_to(&mut self, group: &'a Result<Group, String>) {
        self.group = group.as_ref().map_err(String::clone).and_then(|group| group.join().map(|()| group));
    }

    /// From now on, what a server takes that joins that cgroup in place of this process.
    pub(crate) fn charge_server_to(&mut self, group: &'a Result<Group, String>) {
        self.group = group.as_ref().map_err(String::clone);
    }

    /// The last operation has returned.
    pub fn burst(&mut self) {
        let burst = |on: &mut OnDevice<'_>| on.device.traffic().map(|now| on.burst = now.since(&on.before));
        if let Some(Err(error)) = self.device.as_mut().ok().map(burst) {
            self.device = Err(error.to_string());
        }
        self.charged = self.group.clone().and_then(Group::peak_bytes);
    }

    /// The store has settled. What it left to the system goes to the device now, which nobody is charged for but the device.
    pub fn settled(self) -> TrialUse {
        let cpu = process::cpu().since(&self.cpu);
        let processors = self.processors.and_then(|before| {
            let now = processors::Snapshot::now().map_err(|error| error.to_string())?;
            now.since(&before).ok_or_else(|| "the trial was shorter than the kernel's clock tick".into())
        });
        let device = self.device.and_then(|on| on.settled(self.folder));
        let mut unknown = counters::unknown();
        let reasons = [
            ("processors", processors.as_ref().err()),
            ("device", device.as_ref().err()),
            ("peak_with_page_cache_bytes", self.charged.as_ref().err()),
        ];
        unknown.extend(
            reasons.into_iter().filter_map(|(figure, reason)| {
                Some(Unknown { figure: figure.into(), reason: reason?.clone() })
            }),
        );
        TrialUse {
            cpu,
            processors: processors.ok(),
            device: device.ok(),
            charged_bytes: self.charged.ok(),
            unknown,
        }
    }
}

impl<'a> OnDevice<'a> {
    fn start(spec: &'a DeviceSpec, folder: &Path) -> Result<OnDevice<'a>, String> {
        let start = || {
            let device = BlockDevice::named(&spec.name)?;
            device::sync_file_system(folder)?;
            let before = device.traffic()?;
            Ok(OnDevice { spec, device, before, burst: Traffic::default() })
        };
        start().map_err(|error: std::io::Error| error.to_string())
    }

    fn settled(self, folder: &Path) -> Result<Device, String> {
        let synced = device::sync_file_system(folder).and_then(|()| self.device.traffic());
        let now = synced.map_err(|error| error.to_string())?;
        Ok(Device {
            name: self.device.name().into(),
            shared: self.spec.shared,
            settled: now.since(&self.before),
            burst: self.burst,
            idle_written_bytes_per_s: self.spec.idle_written_bytes_per_s,
        })
    }
}
