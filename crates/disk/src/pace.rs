//! Requests in a closed loop, with a number under way at once: how long a device takes for them in virtual time.

use crate::device::Device;
use crate::request::{Nanos, Request, SECOND};

/// Sends requests to a device, always `depth` at once; returns the time until the last reply is due.
pub fn run_closed_loop(
    device: &mut dyn Device,
    depth: u32,
    mut requests: impl Iterator<Item = Request>,
) -> Nanos {
    let (mut now, mut id, mut under_way) = (0, 0, 0);
    loop {
        while under_way < depth {
            let Some(request) = requests.next() else { break };
            device.arrive(id, &request, now);
            id += 1;
            under_way += 1;
        }
        let Some(wakes) = device.next_event() else { return now };
        now = now.max(wakes);
        while device.take(now).is_some() {
            under_way -= 1;
        }
    }
}

pub fn per_second(events: u64, time: Nanos) -> f64 {
    events as f64 * SECOND as f64 / (time as f64).max(1.0)
}
