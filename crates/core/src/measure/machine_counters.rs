//! Counters of the machine while an operation goes on: the processors that this process may use, and the block device under the place.

use storebench_model::result::{Processors, Traffic};

use super::device::{BlockDevice, DeviceSpec};
use super::limit::allowed_processors;
use super::processors::Snapshot;

#[derive(Debug)]
pub(crate) struct MachineCounters {
    device: Option<(BlockDevice, Traffic)>,
    /// The processors' numbers, and their times at the start.
    processors: Option<(Vec<usize>, Snapshot)>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct MachineUse {
    /// Whoever caused it.
    pub traffic: Option<Traffic>,
    /// Of the processors that the trial may use, whoever used them.
    pub processors: Option<Processors>,
}

impl MachineCounters {
    pub fn start(device: &Result<DeviceSpec, String>) -> MachineCounters {
        let device = device.as_ref().ok().and_then(|spec| BlockDevice::open(&spec.name).ok());
        let device = device.and_then(|device| device.traffic().ok().map(|traffic| (device, traffic)));
        let processors = allowed_processors().ok();
        let processors = processors
            .and_then(|numbers| Snapshot::read_numbered(&numbers).ok().map(|earlier| (numbers, earlier)));
        MachineCounters { device, processors }
    }

    pub fn end(self) -> MachineUse {
        let share_since = |(numbers, earlier): (Vec<usize>, Snapshot)| {
            Snapshot::read_numbered(&numbers).ok()?.since(&earlier)
        };
        MachineUse {
            processors: self.processors.and_then(share_since),
            traffic: self.device.and_then(|(device, before)| Some(device.traffic().ok()?.since(&before))),
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn processors_are_told_and_what_is_no_device_is_not() {
        let counters = MachineCounters::start(&Err("no device".into()));
        let deadline = Instant::now() + Duration::from_millis(50);
        while Instant::now() < deadline {
            std::hint::black_box(deadline);
        }
        let MachineUse { traffic, processors } = counters.end();
        let idle = processors.unwrap().idle_share;
        assert!(traffic.is_none() && (0.0..1.0).contains(&idle), "{idle}");
    }
}
