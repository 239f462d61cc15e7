//! Measuring: the clock, latencies, the process, its syncs and its cgroup, the disk, the device, the machine. Nothing here prints.

pub mod cgroup;
pub mod children;
pub mod clock;
pub mod counters;
pub mod course;
pub mod device;
pub mod disk;
pub mod disk_requests;
pub mod environment;
pub mod extents;
pub mod latency;
pub mod limit;
pub mod machine_counters;
pub mod others;
pub mod page_cache;
pub mod probe;
pub mod process;
pub mod processors;
pub mod rest;
pub mod series;
pub mod syncs;
pub mod watch;
