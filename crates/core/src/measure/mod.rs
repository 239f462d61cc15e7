//! Measuring: the clock, latencies, the process and its syncs, the disk, the device, the machine. Nothing here prints.

pub mod clock;
pub mod counters;
pub mod device;
pub mod disk;
pub mod environment;
pub mod latency;
pub mod page_cache;
pub mod process;
pub mod processors;
pub mod series;
pub mod syncs;
