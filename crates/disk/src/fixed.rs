//! A disk that takes the same time for every request of a kind, one after the other or all at once. No real device does; but
//! nothing in it is random, and its times don't depend on the host.

use serde::{Deserialize, Serialize};

use crate::device::Model;
use crate::request::{Kind, MICROSECOND, Nanos, Request};

/// The times of its kinds of request.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FixedTimes {
    /// A read, in microseconds.
    pub read_us: f64,
    /// A write.
    pub write_us: f64,
    /// A flush.
    pub flush_us: f64,
    /// Requests don't wait for each other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_once: Option<bool>,
}

#[derive(Debug)]
pub(crate) struct Steady {
    fixed: FixedTimes,
    busy_until: Nanos,
}

impl Steady {
    pub fn new(fixed: FixedTimes) -> Steady {
        Steady { fixed, busy_until: 0 }
    }
}

impl Model for Steady {
    fn reply_due(&mut self, request: &Request, now: Nanos) -> Nanos {
        let time = match request.kind {
            Kind::Read => self.fixed.read_us,
            Kind::Write => self.fixed.write_us,
            Kind::Flush => self.fixed.flush_us,
            Kind::Discard => 0.0,
        };
        let time = (time * MICROSECOND as f64) as Nanos;
        if self.fixed.at_once == Some(true) {
            return now + time;
        }
        self.busy_until = self.busy_until.max(now) + time;
        self.busy_until
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::InOrderDevice;
    use crate::pace::run_closed_loop;
    use crate::request::MILLISECOND;

    #[test]
    fn requests_take_their_time_one_after_the_other_at_every_depth_or_at_once() {
        let fixed = FixedTimes { read_us: 1000.0, write_us: 2000.0, flush_us: 3000.0, at_once: None };
        for depth in [1, 2, 32] {
            let kinds = [
                Request::read(0, 4096),
                Request::write(0, 1 << 20),
                Request::flush(),
                Request::discard(0, 9),
            ];
            let mut device = InOrderDevice::new(Steady::new(fixed));
            let time = run_closed_loop(&mut device, depth, kinds.into_iter().cycle().take(400));
            assert_eq!(time, 600 * MILLISECOND, "{depth}");
            let mut device = InOrderDevice::new(Steady::new(FixedTimes { at_once: Some(true), ..fixed }));
            let reads = (0..320).map(|number| Request::read(number * 4096, 4096));
            let time = run_closed_loop(&mut device, depth, reads);
            assert_eq!(time, 320 * MILLISECOND / u64::from(depth), "{depth}");
        }
    }
}
