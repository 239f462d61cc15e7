//! Estimates of operations' times on other disks, from the requests to a simulated disk.

use std::collections::BTreeMap;

use super::merge::Entry;
use super::requests::{Part, requests_by_part};

/// The largest relative error of the estimate for the recorded disk.
pub const MOST_OFF: f64 = 0.2;

/// The time of an operation, or of another part of a trial, over all trials of a cell.
#[derive(Debug, Clone, PartialEq)]
pub struct PartTime {
    pub part: Part,
    pub times: u64,
    /// The disk of the trials, and the time there, in nanoseconds from the beginning to the end.
    pub recorded_on: String,
    pub recorded_ns: f64,
    /// The time on other disks, by name.
    pub on_ns: BTreeMap<String, f64>,
    /// The estimate for the disk that the trials were on over the time there.
    pub own_ratio: f64,
    /// The share of the time there that its requests took in sequence.
    pub disk_share: f64,
}

/// The time between two ticks of the kernel's clock, as distributions build it (CONFIG_HZ=250), in nanoseconds. A file's modification time
/// changes only with a tick: a quicker operation requests less, if a commit of a new time is all that there is to write.
pub const TICK_NS: f64 = 4e6;

/// The share of the time that requests must take for the disk to decide.
pub const LEAST_SHARE: f64 = 0.5;

impl PartTime {
    /// Whether the disk decides, and not the machine.
    pub fn is_of_disk(&self) -> bool {
        self.disk_share >= LEAST_SHARE
    }

    /// Whether the time on a disk is known: the estimate for the recorded disk is near, and the kernel's clock would tick no less often.
    pub fn is_known(&self, on_ns: f64) -> bool {
        let calls = if matches!(self.part, Part::Operation { puts_back: true, .. }) { 2.0 } else { 1.0 };
        let takes_a_tick = |ns: f64| ns / calls >= TICK_NS;
        (self.own_ratio - 1.0).abs() <= MOST_OFF && (takes_a_tick(on_ns) || !takes_a_tick(self.recorded_ns))
    }
}

/// The estimates of a cell's trials, part by part; empty if none were asked for.
pub fn estimated(entries: &[Entry<'_>]) -> Vec<PartTime> {
    let disk = entries.iter().find_map(|entry| entry.trial.disk.as_ref());
    let Some(recorded_on) = disk.map(|disk| disk.name.clone()) else { return Vec::new() };
    let estimate = |part_requests: super::requests::PartRequests| {
        let clocks = part_requests.requests.clocks.as_ref()?;
        let mut on_ns: BTreeMap<String, f64> =
            clocks.on_ns.iter().map(|(name, ns)| (name.clone(), part_requests.per_operation(*ns))).collect();
        let recorded_ns = part_requests.per_operation(clocks.here_ns);
        let own_ratio = on_ns.remove(&recorded_on)? / recorded_ns;
        let disk_share = part_requests.per_operation(part_requests.requests.modelled_ns) / recorded_ns;
        let (part, times, recorded_on) = (part_requests.part, part_requests.times, recorded_on.clone());
        Some(PartTime { part, times, recorded_on, recorded_ns, on_ns, own_ratio, disk_share })
    };
    let parts = requests_by_part(entries).into_iter().filter(|part| part.part != Part::Rest);
    parts.filter_map(estimate).collect()
}
