//! What the machine does while an operation goes on: its processors, and the block device under the place.

use super::device::{BlockDevice, DeviceSpec};
use super::processors::Snapshot;
use crate::result::{Processors, Traffic};

/// The counters when it began.
#[derive(Debug)]
pub struct Meanwhile {
    device: Option<(BlockDevice, Traffic)>,
    processors: Option<Snapshot>,
}

/// What came of it, as far as it is known.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Observed {
    /// What the device did, whoever caused it.
    pub traffic: Option<Traffic>,
    /// What all processors did.
    pub processors: Option<Processors>,
}

impl Meanwhile {
    /// Begins.
    pub fn begin(device: &Result<DeviceSpec, String>) -> Meanwhile {
        let device = device.as_ref().ok().and_then(|spec| BlockDevice::named(&spec.name).ok());
        let device = device.and_then(|device| device.traffic().ok().map(|traffic| (device, traffic)));
        Meanwhile { device, processors: Snapshot::now().ok() }
    }

    /// Ends.
    pub fn end(self) -> Observed {
        let processors = self.processors.zip(Snapshot::now().ok());
        Observed {
            processors: processors.and_then(|(before, now)| now.since(&before)),
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
        let meanwhile = Meanwhile::begin(&Err("no device".into()));
        let until = Instant::now() + Duration::from_millis(50);
        while Instant::now() < until {
            std::hint::black_box(until);
        }
        let Observed { traffic, processors } = meanwhile.end();
        let idle = processors.unwrap().idle_share;
        assert!(traffic.is_none() && (0.0..1.0).contains(&idle), "{idle}");
    }
}
