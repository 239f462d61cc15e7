//! Measuring: the clock, latencies, the process, its syncs and its cgroup, the disk, the device, the machine. Nothing here prints.

pub mod cgroup;
pub mod children;
pub mod clock;
pub(crate) mod counters;
pub mod device;
pub(crate) mod disk;
pub mod disk_requests;
pub mod environment;
pub mod extents;
pub mod latency;
pub mod limit;
pub(crate) mod machine_counters;
pub mod other_load;
pub mod page_cache;
pub mod probe;
pub(crate) mod process;
pub(crate) mod processors;
pub mod resources;
pub(crate) mod rest;
pub(crate) mod series;
pub mod syncs;
pub(crate) mod watch;
