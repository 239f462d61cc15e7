//! Measuring: the clock, latencies, the process, the disk, the machine. Nothing here prints.

pub mod clock;
pub mod disk;
pub mod environment;
pub mod latency;
pub mod page_cache;
pub mod process;
pub mod series;
