//! The machine's memory, from `/proc/meminfo`.

use procfs_core::{FromRead, Meminfo};

/// What the kernel says of it; `None` on a system that does not tell.
pub fn told() -> Option<Meminfo> {
    Meminfo::from_file("/proc/meminfo").ok()
}
