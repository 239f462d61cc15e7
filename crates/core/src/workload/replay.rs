//! The workload `replay`: plays a trace's operations on a store at their own times, faster, or as fast as it goes. A separate thread reads
//! the trace, makes the values, and hands chunks of operations to the threads that play them, so that nothing of this is timed. All
//! operations of a key go to one thread, and so keep their order. Only these chunks of the trace are in memory.

mod audit;
mod chunk;
mod cost;
mod feed;
mod followed_keys;
mod key_fitter;
mod load;
pub mod parameters;
mod player;
mod trial;
mod values;

use storebench_model::result::OVERALL;

use crate::workload::def::{Headline, WorkloadDef, axes};

/// The statistic that says how late a trace that was played at its times ended, in microseconds.
pub const BEHIND_US: &str = "replay.behind_at_the_end_us";

/// The statistic that says how many times faster than the trace's own times it was played.
pub const SPEED_REACHED: &str = "replay.speed_reached";

/// Plays the operations of a trace.
pub static WORKLOAD: WorkloadDef = WorkloadDef {
    name: "replay",
    help: "play the operations of a trace on a store",
    axes: axes!(STORE DATA GUARANTEE PLACE DISK BACKGROUND THREADS TUNING COMPRESSION MACHINE),
    parameters: &[
        "trace",
        "trace_format",
        "trace_time_unit",
        "speed",
        "load",
        "limit",
        "trace_facts",
        "equal_cache",
        "after_load",
    ],
    operations: &[OVERALL, "get", "miss", "set", "modify", "remove", "scan"],
    reason: |case| cost::check(case).err(),
    headline: &[Headline::Throughput, Headline::Latency, Headline::Space, Headline::Memory],
    space: cost::space,
    stored_bytes: cost::held_value_bytes,
    memory: cost::memory,
    time: cost::time,
    time_by_rehearsal: None,
    run: trial::run,
    serve: None,
};

#[cfg(test)]
mod tests;
